package search

import (
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/packetboat/packetboat/internal/people/contactsearch"
)

// folded is a text without case and accents, with the position of each byte in the original.
type folded struct {
	text string
	at   []int // UTF-16 code units before the character of a byte; one more for the end
}

func fold(s string) folded {
	var b strings.Builder
	var at []int
	units := 0
	for _, r := range s {
		part := contactsearch.Fold(string(r))
		b.WriteString(part)
		for range len(part) {
			at = append(at, units)
		}
		units += max(utf16.RuneLen(r), 1)
	}
	return folded{b.String(), append(at, units)}
}

// find returns the position of a term: at the beginning of a word or, if inside is set, anywhere.
func (f folded) find(term string, inside bool) int {
	from, anywhere := 0, -1
	for {
		i := strings.Index(f.text[from:], term)
		if i < 0 {
			if inside {
				return anywhere
			}
			return -1
		}
		i += from
		if i == 0 || !isWord(f.text, i) {
			return i
		}
		if anywhere < 0 {
			anywhere = i
		}
		from = i + 1
	}
}

// isWord reports whether the character before a position belongs to a word.
func isWord(s string, i int) bool {
	before := []rune(s[max(0, i-4):i]) // a character has at most four bytes
	r := before[len(before)-1]
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// span is the part of a title that matches, in UTF-16 code units.
type span struct{ Start, End int }

// How well a record matches; the smaller, the better.
const (
	begins = iota // the title, or the address of a contact, begins with the first term
	word          // a word of the title begins with it
	other         // it matches elsewhere
	nothing
)

// match compares a record with the terms of a search: each must begin a word of the title or of one of
// the other texts. If inside is set, they may be anywhere. The span is that of the first term in the
// title, nil if it is not there.
func match(terms []string, inside bool, title string, more ...string) (rank int, at *span) {
	f := fold(title)
	others := make([]folded, len(more))
	for i, m := range more {
		others[i] = fold(m)
	}
	rank = other
	for n, term := range terms {
		i := f.find(term, inside)
		found := i >= 0
		for _, o := range others {
			j := o.find(term, inside)
			found = found || j >= 0
			if n == 0 && j == 0 && inside {
				rank = begins // an address
			}
		}
		if !found {
			return nothing, nil
		}
		if n > 0 || i < 0 {
			continue
		}
		at = &span{f.at[i], f.at[min(i+len(term), len(f.text))]}
		if at.End == at.Start { // a part of a character that folds to several
			at.End++
		}
		switch {
		case i == 0:
			rank = begins
		case f.find(term, false) >= 0:
			rank = min(rank, word)
		}
	}
	return rank, at
}
