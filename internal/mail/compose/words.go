package compose

import (
	"encoding/base64"
	"unicode/utf8"
)

const (
	hexDigits = "0123456789ABCDEF"
	maxWord   = 75 // length of an encoded-word (RFC 2047 section 2)
	wordMarks = len("=?utf-8?Q?") + len("?=")
)

// encoded writes text as encoded-words (RFC 2047) that are valid in a phrase, too, in the shorter
// encoding. Each word consists of whole characters.
func (h *header) encoded(text []byte) {
	quoted := 0
	for _, c := range text {
		quoted += quotedWidth(c)
	}
	kind := byte('Q')
	if quoted > (len(text)+2)/3*4 {
		kind = 'B'
	}
	for first := true; len(text) > 0; first = false {
		room := min(maxWord, maxWordWidth-h.col)
		n := fit(text, room-wordMarks, kind)
		if n == 0 || !first {
			h.buf = append(h.buf, "\r\n "...)
			h.col = 1
			n = fit(text, maxWord-wordMarks, kind)
		}
		start := len(h.buf)
		h.buf = append(h.buf, "=?utf-8?"...)
		h.buf = append(h.buf, kind, '?')
		if kind == 'B' {
			h.buf = base64.StdEncoding.AppendEncode(h.buf, text[:n])
		} else {
			h.buf = appendQuotedWord(h.buf, text[:n])
		}
		h.buf = append(h.buf, "?="...)
		h.col += len(h.buf) - start
		text = text[n:]
	}
}

// fit returns how many bytes of text, in whole characters, fit into an encoded-word.
func fit(text []byte, room int, kind byte) int {
	if kind == 'B' {
		n := min(len(text), max(room, 0)/4*3)
		for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		return n
	}
	n, width := 0, 0
	for n < len(text) {
		_, size := utf8.DecodeRune(text[n:])
		for _, c := range text[n : n+size] {
			width += quotedWidth(c)
		}
		if width > room {
			break
		}
		n += size
	}
	return n
}

// quotedWidth is the width of c in the Q encoding as a phrase allows it (RFC
// 2047 section 5).
func quotedWidth(c byte) int {
	if isAlnum(c) || c == ' ' || c == '!' || c == '*' || c == '+' || c == '-' || c == '/' {
		return 1
	}
	return 3
}

func appendQuotedWord(dst, text []byte) []byte {
	for _, c := range text {
		switch {
		case c == ' ':
			dst = append(dst, '_')
		case quotedWidth(c) == 1:
			dst = append(dst, c)
		default:
			dst = append(dst, '=', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return dst
}
