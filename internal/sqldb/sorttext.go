package sqldb

import (
	"strings"
	"unicode"

	"github.com/ncruces/go-sqlite3"
	"golang.org/x/text/unicode/norm"
)

// SortText returns the expression by which a text is sorted as people sort: without regard to case and
// accents, and the same on both databases. It compares byte by byte; in Go it is SortKey.
func (db *DB) SortText(text string) string {
	if db.dialect == Postgres {
		return `(sort_text(` + text + `) COLLATE "C")`
	}
	return "sort_text(" + text + ")"
}

// SortKey returns the key by which a text is sorted. The function sort_text of the PostgreSQL schema returns
// the same.
func SortKey(text string) string {
	if isASCII(text) {
		return strings.ToLower(text)
	}
	var key strings.Builder
	for _, r := range norm.NFKD.String(text) {
		switch letters, special := sortLetters[r]; {
		case special:
			key.WriteString(letters)
		case r >= 0x300 && r <= 0x36f: // an accent
		default:
			key.WriteRune(sortLower(r))
		}
	}
	return key.String()
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}

// sortLower returns the small letter of the Latin, Greek, Cyrillic and Armenian alphabets; others have none,
// or are compared as they are.
func sortLower(r rune) rune {
	if r < 0x250 || r >= 0x370 && r < 0x588 {
		return unicode.ToLower(r)
	}
	return r
}

// sortLetters are the letters that are sorted like others though no accent makes them differ.
var sortLetters = map[rune]string{
	'ß': "ss", 'Æ': "ae", 'æ': "ae", 'Œ': "oe", 'œ': "oe", 'Þ': "th", 'þ': "th", 'Ø': "o", 'ø': "o", 'Đ': "d", 'đ': "d", 'Ð': "d", 'ð': "d",
	'Ł': "l", 'ł': "l", 'Ħ': "h", 'ħ': "h", 'Ŧ': "t", 'ŧ': "t", 'ı': "i", 'ς': "σ",
}

// registerSortText adds sort_text to a connection of SQLite.
func registerSortText(c *sqlite3.Conn) error {
	return c.CreateFunction("sort_text", 1, sqlite3.DETERMINISTIC, func(ctx sqlite3.Context, arg ...sqlite3.Value) {
		if arg[0].Type() == sqlite3.NULL {
			ctx.ResultNull()
			return
		}
		ctx.ResultText(SortKey(arg[0].Text()))
	})
}
