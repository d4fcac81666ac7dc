package transfer

import "strings"

// Spreadsheets evaluate a cell that begins with one of these characters, and the data of contacts
// come from untrusted sources.
const formula = "=+-@\t\r"

// escapeFormula returns a text that spreadsheets do not evaluate: with a leading apostrophe, which
// they do not display. A text that already looks escaped is escaped again, so that unescapeFormula
// always restores the original.
func escapeFormula(s string) string {
	if startsFormula(s) {
		return "'" + s
	}
	return s
}

// unescapeFormula reverses escapeFormula.
func unescapeFormula(s string) string {
	if strings.HasPrefix(s, "'") && startsFormula(s) {
		return s[1:]
	}
	return s
}

func startsFormula(s string) bool {
	s = strings.TrimLeft(s, "'")
	return s != "" && strings.IndexByte(formula, s[0]) >= 0
}
