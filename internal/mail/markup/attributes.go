package markup

import (
	"iter"
	"slices"
)

// Attribute is the position of an attribute of a tag.
type Attribute struct {
	Name          string // in lower case
	Before, After int    // the attribute and the white space before it
	Start, End    int    // its value, without quotes; empty after the name if it has none
	Quote         byte   // ", ', or 0
	Valued        bool   // there is a =
}

// Attributes returns the attributes of a tag in order. Liquid tags separate attributes, except
// inside values, which may begin and end with them.
func (s *Scanner) Attributes(t Token) iter.Seq[Attribute] {
	return func(yield func(Attribute) bool) {
		m, end := s.Masked, t.End
		if m[end-1] == '>' && t.Kind != Unclosed {
			end--
		}
		i := nameEnd(m[:end], t.Start+1)
		if t.Start+1 < end && m[t.Start+1] == '/' {
			i = nameEnd(m[:end], t.Start+2)
		}
		for {
			before := i
			for i < end && (IsSpace(m[i]) || m[i] == '/') {
				if m[i] == '/' || s.InTag(i) {
					before = i + 1
				}
				i++
			}
			if i >= end {
				return
			}
			a := Attribute{Before: before}
			name := i
			i = attributeNameEnd(m[:end], i, '/')
			a.Name = lower(m[name:i])
			a.Start, a.End, a.After = i, i, i
			j := i
			for j < end && IsSpace(m[j]) && !s.InTag(j) {
				j++
			}
			if j < end && m[j] == '=' {
				i = s.value(&a, j+1, end)
			}
			if !yield(a) {
				return
			}
		}
	}
}

// value sets the value of a, which begins at or after i, and returns the end of the attribute.
func (s *Scanner) value(a *Attribute, i, end int) int {
	m := s.Masked
	a.Valued = true
	for i < end && IsSpace(m[i]) && !s.InTag(i) {
		i++
	}
	if i < end && (m[i] == '"' || m[i] == '\'') {
		a.Quote = m[i]
		a.Start, a.After = i+1, behind(m[:end], i+1, m[i:i+1])
		a.End = a.After
		if a.After > a.Start && m[a.After-1] == a.Quote {
			a.End--
		}
		return a.After
	}
	a.Start = i
	for i < end && (!IsSpace(m[i]) || s.InTag(i)) {
		i++
	}
	a.End, a.After = i, i
	return i
}

// InTag reports whether the byte at an offset belongs to a Liquid tag.
func (s *Scanner) InTag(at int) bool {
	i, found := slices.BinarySearchFunc(s.Spans, at, func(p Span, at int) int { return p.Start - at })
	if found {
		return !s.Spans[i].Output
	}
	return i > 0 && at < s.Spans[i-1].End && !s.Spans[i-1].Output
}

// Within returns the Liquid that begins in the source from start to end.
func (s *Scanner) Within(start, end int) []Span {
	at := func(offset int) int {
		i, _ := slices.BinarySearchFunc(s.Spans, offset, func(p Span, at int) int { return p.Start - at })
		return i
	}
	return s.Spans[at(start):at(end)]
}

// Value returns the value of an attribute, with entities decoded and Liquid kept.
func (s *Scanner) Value(a Attribute) string {
	return DecodeValue(s.Source[a.Start:a.End], nil)
}

// Lookup returns the value of the first attribute of that name in the text of a
// start tag, with entities decoded and Liquid kept, or nothing.
func Lookup(tag, name string) string { return New(tag, Syntax{}).lookup(name) }

// LookupRendered is Lookup for a tag in which nothing is Liquid.
func LookupRendered(tag, name string) string { return Rendered(tag).lookup(name) }

func (s *Scanner) lookup(name string) string {
	tag := s.Source
	for a := range s.Attributes(Token{Kind: StartTag, End: len(tag)}) {
		if a.Name == name {
			return s.Value(a)
		}
	}
	return ""
}
