package transfer

// Defused and Undefused are for tests.
var (
	Defused   = escapeFormula
	Undefused = unescapeFormula
)
