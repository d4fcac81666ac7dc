package links

import (
	"html"
	"slices"
	"strings"
)

// attribute is where one attribute of a start tag stands.
type attribute struct {
	name          string // lower case
	before, after int    // the attribute and the white space before it
	start, end    int    // its value, without quotes
	quote         byte   // ", ', or 0
}

// attributes calls f for each attribute of the start tag at src[start:end],
// as the tokenizer reads it. Liquid tags separate attributes, except inside
// values.
func (s *scan) attributes(start, end int, f func(attribute)) {
	m := s.masked
	if m[end-1] == '>' {
		end--
	}
	i := start + 1
	for i < end && !isSpace(m[i]) && m[i] != '/' {
		i++
	}
	for {
		before := i
		for i < end && (isSpace(m[i]) || m[i] == '/') {
			if m[i] == '/' || s.inTag(i) {
				before = i + 1
			}
			i++
		}
		if i >= end {
			return
		}
		a := attribute{before: before}
		name := i
		for i < end && !isSpace(m[i]) && m[i] != '/' && (m[i] != '=' || i == name) {
			i++
		}
		a.name = strings.ToLower(m[name:i])
		a.start, a.end, a.after = i, i, i
		j := i
		for j < end && isSpace(m[j]) && !s.inTag(j) {
			j++
		}
		if j < end && m[j] == '=' {
			i = s.attributeValue(&a, j+1, end)
		}
		f(a)
	}
}

// attributeValue reads the value of a, which starts at or after i, and returns
// where the attribute ends.
func (s *scan) attributeValue(a *attribute, i, end int) int {
	m := s.masked
	for i < end && isSpace(m[i]) && !s.inTag(i) {
		i++
	}
	if i < end && (m[i] == '"' || m[i] == '\'') {
		a.quote = m[i]
		a.start = i + 1
		a.end = end
		if n := strings.IndexByte(m[a.start:end], a.quote); n >= 0 {
			a.end = a.start + n
		}
		a.after = min(a.end+1, end)
		return a.after
	}
	a.start = i
	for i < end && (!isSpace(m[i]) || s.inTag(i)) {
		i++
	}
	a.end, a.after = i, i
	return i
}

// inTag reports whether offset i lies in a Liquid tag.
func (s *scan) inTag(i int) bool {
	at, found := slices.BinarySearchFunc(s.spans, i, func(p Span, i int) int { return p.Start - i })
	if found {
		return !s.spans[at].Output
	}
	return at > 0 && i < s.spans[at-1].End && !s.spans[at-1].Output
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'
}

// Attribute returns the value of an attribute of a start tag, entities decoded
// and Liquid kept, or nothing. The first one counts, as in HTML.
func Attribute(tag, name string) string {
	s := newScan(tag, nil)
	value, found := "", false
	s.attributes(0, len(tag), func(a attribute) {
		if !found && a.name == name {
			value, found = outside(tag[a.start:a.end], html.UnescapeString), true
		}
	})
	return value
}
