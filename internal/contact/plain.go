package contact

import (
	"strconv"
	"unicode/utf8"
)

// Most JSON that contacts hold is plain: an object or an array whose values are
// texts without escapes, numbers, booleans, null, and arrays of these. It is read here
// in a fraction of the time that encoding/json takes, to the same values; what is not
// plain is left to that.

// plainObject reads a plain object.
func plainObject(text string) (map[string]any, bool) {
	if text == "{}" {
		return map[string]any{}, true
	}
	p := plainText{text: text}
	if !utf8.ValidString(text) || !p.take('{') {
		return nil, false
	}
	m := make(map[string]any, 4)
	for {
		key, ok := p.string()
		if !ok || !p.take(':') {
			return nil, false
		}
		v, ok := p.value(0)
		if !ok {
			return nil, false
		}
		m[key] = v
		if p.take(',') {
			continue
		}
		return m, p.take('}') && p.end()
	}
}

// plainTexts reads a plain array of texts.
func plainTexts(text string) ([]string, bool) {
	list := []string{}
	if text == "[]" {
		return list, true
	}
	p := plainText{text: text}
	if !utf8.ValidString(text) || !p.take('[') {
		return nil, false
	}
	for {
		s, ok := p.string()
		if !ok {
			return nil, false
		}
		list = append(list, s)
		if p.take(',') {
			continue
		}
		return list, p.take(']') && p.end()
	}
}

// plainText is what is left of a text that is read.
type plainText struct {
	text string
	at   int
}

// next skips white space and returns what comes then, 0 at the end.
func (p *plainText) next() byte {
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

func (p *plainText) take(c byte) bool {
	if p.next() != c {
		return false
	}
	p.at++
	return true
}

func (p *plainText) end() bool { p.next(); return p.at == len(p.text) }

func (p *plainText) string() (string, bool) {
	if !p.take('"') {
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

// value reads any plain value; depth is that of the array it is in.
func (p *plainText) value(depth int) (any, bool) {
	switch c := p.next(); {
	case c == '"':
		return p.string()
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	case c == '[' && depth < 8:
		p.at++
		list := []any{}
		if p.take(']') {
			return list, true
		}
		for {
			v, ok := p.value(depth + 1)
			if !ok {
				return nil, false
			}
			list = append(list, v)
			if p.take(',') {
				continue
			}
			return list, p.take(']')
		}
	case c == 't':
		return true, p.word("true")
	case c == 'f':
		return false, p.word("false")
	case c == 'n':
		return nil, p.word("null")
	}
	return nil, false
}

func (p *plainText) word(w string) bool {
	if len(p.text)-p.at < len(w) || p.text[p.at:p.at+len(w)] != w {
		return false
	}
	p.at += len(w)
	return true
}

// number reads a number (RFC 8259 section 6).
func (p *plainText) number() (any, bool) {
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
