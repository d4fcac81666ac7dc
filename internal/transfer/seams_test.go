package transfer

// Defused and Undefused are for tests.
var (
	Defused   = defused
	Undefused = undefused
)
