package transfer

import "strings"

// A spreadsheet takes a cell for a formula when it begins with one of these, and
// what contacts are called is for strangers to say.
const formula = "=+-@\t\r"

// defused returns a text so that no spreadsheet computes it: with an apostrophe
// in front, which spreadsheets do not show. A text that looks as if it had been
// defused already gets one more, so that undefused takes away what defused added.
func defused(s string) string {
	if dangerous(s) {
		return "'" + s
	}
	return s
}

// undefused returns what defused was given.
func undefused(s string) string {
	if strings.HasPrefix(s, "'") && dangerous(s) {
		return s[1:]
	}
	return s
}

func dangerous(s string) bool {
	s = strings.TrimLeft(s, "'")
	return s != "" && strings.IndexByte(formula, s[0]) >= 0
}
