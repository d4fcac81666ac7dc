package transfer

// Exported for tests.
var (
	Defused   = escapeFormula
	Undefused = unescapeFormula
)
