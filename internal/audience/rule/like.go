package rule

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// Texts are compared ignoring case, but SQLite, PostgreSQL and Go differ in what that
// means: SQLite folds ASCII, PostgreSQL depends on the database's locale. All three can
// fold ASCII and replace single characters. So a text is folded to ASCII lower case, and
// each other letter of the needle to one member of its orbit (Unicode simple case folding).
// The result is the same as folding all letters, and there is no extra cost if the needle
// is ASCII. Letters outside ASCII never equal ASCII letters (the Kelvin sign is not k).

// fold returns s with each letter replaced by the representative of its orbit.
func fold(s string) string { return strings.Map(foldRune, s) }

func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		if f >= utf8.RuneSelf {
			least = min(least, f)
		}
	}
	return least
}

// variants returns the letters that fold to a letter outside ASCII in the folded texts, and their
// replacements.
func variants(folded []string) (from, to string) {
	var letters []rune
	for _, s := range folded {
		for _, r := range s {
			if r >= utf8.RuneSelf && !slices.Contains(letters, r) {
				letters = append(letters, r)
			}
		}
	}
	var f, t strings.Builder
	for _, r := range letters {
		for v := unicode.SimpleFold(r); v != r; v = unicode.SimpleFold(v) {
			if v >= utf8.RuneSelf {
				f.WriteRune(v)
				t.WriteRune(r)
			}
		}
	}
	return f.String(), t.String()
}

// pattern returns the LIKE pattern of a text operator, with ESCAPE '\'.
func pattern(op Operator, needle string) string {
	needle = sqldb.EscapeLike(needle)
	switch op {
	case StartsWith:
		return needle + "%"
	case EndsWith:
		return "%" + needle
	}
	return "%" + needle + "%"
}

// compare applies a text operator to two folded texts.
func compare(op Operator, s, needle string) bool {
	switch op {
	case Contains:
		return strings.Contains(s, needle)
	case StartsWith:
		return strings.HasPrefix(s, needle)
	case EndsWith:
		return strings.HasSuffix(s, needle)
	}
	return s == needle
}
