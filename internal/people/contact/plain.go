package contact

import (
	"strconv"
	"unicode/utf8"
)

// Most JSON of contacts is plain: an object or an array whose values are strings without
// escapes, numbers, booleans, null, and arrays of these. The parser below is several times
// as fast as encoding/json and returns the same values (FuzzPlainJSON); for JSON that is
// not plain it reports false.

// plainObject parses a plain object.
func plainObject(text string) (map[string]any, bool) {
	if text == "{}" {
		return map[string]any{}, true
	}
	p := plainReader{text: text}
	if !utf8.ValidString(text) || !p.accept('{') {
		return nil, false
	}
	m := make(map[string]any, 4)
	for {
		key, ok := p.string()
		if !ok || !p.accept(':') {
			return nil, false
		}
		v, ok := p.value(0)
		if !ok {
			return nil, false
		}
		m[key] = v
		if p.accept(',') {
			continue
		}
		return m, p.accept('}') && p.atEnd()
	}
}

// plainTexts parses a plain array of strings.
func plainTexts(text string) ([]string, bool) {
	list := []string{}
	if text == "[]" {
		return list, true
	}
	p := plainReader{text: text}
	if !utf8.ValidString(text) || !p.accept('[') {
		return nil, false
	}
	for {
		s, ok := p.string()
		if !ok {
			return nil, false
		}
		list = append(list, s)
		if p.accept(',') {
			continue
		}
		return list, p.accept(']') && p.atEnd()
	}
}

// plainReader is a text and the offset up to which it is parsed.
type plainReader struct {
	text string
	at   int
}

// peek skips white space and returns the next byte, 0 at the end.
func (p *plainReader) peek() byte {
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

func (p *plainReader) accept(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.at++
	return true
}

func (p *plainReader) atEnd() bool { p.peek(); return p.at == len(p.text) }

func (p *plainReader) string() (string, bool) {
	if !p.accept('"') {
		return "", false
	}
	for i := p.at; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '"':
			s := p.text[p.at:i]
			p.at = i + 1
			return s, true
		case c == '\\' || c < ' ':
			return "", false
		}
	}
	return "", false
}

// value parses any plain value; depth is the number of arrays around it.
func (p *plainReader) value(depth int) (any, bool) {
	switch c := p.peek(); {
	case c == '"':
		return p.string()
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	case c == '[' && depth < 8:
		p.at++
		list := []any{}
		if p.accept(']') {
			return list, true
		}
		for {
			v, ok := p.value(depth + 1)
			if !ok {
				return nil, false
			}
			list = append(list, v)
			if p.accept(',') {
				continue
			}
			return list, p.accept(']')
		}
	case c == 't':
		return true, p.literal("true")
	case c == 'f':
		return false, p.literal("false")
	case c == 'n':
		return nil, p.literal("null")
	}
	return nil, false
}

func (p *plainReader) literal(w string) bool {
	if len(p.text)-p.at < len(w) || p.text[p.at:p.at+len(w)] != w {
		return false
	}
	p.at += len(w)
	return true
}

// number parses a number (RFC 8259 section 6).
func (p *plainReader) number() (any, bool) {
	i := p.at
	digits := func() bool {
		from := i
		for i < len(p.text) && p.text[i] >= '0' && p.text[i] <= '9' {
			i++
		}
		return i > from
	}
	at := func(set string) bool {
		for j := range len(set) {
			if i < len(p.text) && p.text[i] == set[j] {
				i++
				return true
			}
		}
		return false
	}
	at("-")
	if !at("0") && !digits() {
		return nil, false
	}
	if at(".") && !digits() {
		return nil, false
	}
	if at("eE") {
		at("+-")
		if !digits() {
			return nil, false
		}
	}
	f, err := strconv.ParseFloat(p.text[p.at:i], 64)
	p.at = i
	return f, err == nil
}
