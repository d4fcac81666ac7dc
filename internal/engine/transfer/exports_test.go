package transfer

// Exported for tests.
var (
	EscapeFormula   = escapeFormula
	UnescapeFormula = unescapeFormula
)
