package transfer

import "io"

// Exported for tests.
var (
	EscapeFormula   = escapeFormula
	UnescapeFormula = unescapeFormula
)

// UnpackTo writes the rows of an archive.
func UnpackTo(w io.Writer, packed []byte) error { return unpack(&Received{}, w, packed, "") }
