package transfer

import "strings"

// A spreadsheet takes a cell for a formula when it begins with one of these, and
// what contacts are called is for strangers to say.
const formula = "=+-@\t\r"

// escapeFormula returns a text so that no spreadsheet computes it: with an apostrophe
// in front, which spreadsheets do not show. A text that looks as if it had been
// defused already gets one more, so that undefused takes away what defused added.
func escapeFormula(s string) string {
	if startsFormula(s) {
		return "'" + s
	}
	return s
}

// unescapeFormula returns what defused was given.
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
