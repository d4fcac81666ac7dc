package compose

import (
	"bytes"
	"encoding/base64"
	"unicode/utf8"
)

// lineWidth is the width of an encoded line, its soft break included (RFC 2045
// section 6.7, 6.8).
const lineWidth = 76

// Classes of bytes in a quoted-printable body.
const (
	quoteIt  = iota // must be escaped
	plain           // stands for itself
	lineEnd         // CR or LF
	dropIt          // a control that has no place in a mail
	sequence        // part of a longer character
)

// class sorts bytes.
var class = func() (table [256]uint8) {
	for i := range table {
		switch c := byte(i); {
		case c == '\t' || c >= ' ' && c <= '~' && c != '=':
			table[i] = plain
		case c == '\r' || c == '\n':
			table[i] = lineEnd
		case c < ' ' || c == 0x7f:
			table[i] = dropIt
		case c >= utf8.RuneSelf:
			table[i] = sequence
		}
	}
	return table
}()

// appendQuoted appends src as quoted-printable text. It gives up, with false,
// once more than a quarter of src turns out to need escapes; base64 is shorter
// then.
//
// Beyond the RFC it escapes a dot and "From " at the start of a line, which
// careless programs alter, and never splits a character between lines.
func appendQuoted(dst, src []byte) ([]byte, bool) {
	start := len(dst)
	budget := len(src) / 4
	col := 0
	for i := 0; i < len(src); {
		j, end := i, min(len(src), i+lineWidth-1-col)
		for j < end && class[src[j]] == plain {
			j++
		}
		if j > i {
			if col == 0 && (src[i] == '.' || src[i] == 'F' && bytes.HasPrefix(src[i:], []byte("From "))) {
				dst = appendEscape(dst, src[i])
				col = 3
				i++
				budget--
				continue
			}
			keep := j
			if (src[j-1] == ' ' || src[j-1] == '\t') && endsLine(src[j:]) {
				keep--
			}
			dst = append(dst, src[i:keep]...)
			col += keep - i
			if keep < j {
				dst, col = breakFor(dst, col, 3)
				dst = appendEscape(dst, src[keep])
				col += 3
				budget--
			}
			i = j
			if i == len(src) {
				break
			}
		}
		switch class[src[i]] {
		case plain:
			dst, col = breakFor(dst, col, lineWidth)
		case lineEnd:
			dst = append(dst, "\r\n"...)
			col = 0
			i += lineEndSize(src[i:])
		case dropIt:
			i++
		case quoteIt:
			dst, col = breakFor(dst, col, 3)
			dst = appendEscape(dst, src[i])
			col += 3
			i++
			budget--
		case sequence:
			r, size := utf8.DecodeRune(src[i:])
			var b [utf8.UTFMax]byte
			character := src[i : i+size]
			if r == utf8.RuneError && size == 1 {
				character = utf8.AppendRune(b[:0], utf8.RuneError)
			}
			dst, col = breakFor(dst, col, 3*len(character))
			for _, c := range character {
				dst = appendEscape(dst, c)
			}
			col += 3 * len(character)
			i += size
			budget -= size
		}
		if budget < 0 {
			return dst[:start], false
		}
	}
	if budget < 0 {
		return dst[:start], false
	}
	if col > 0 || len(dst) == start {
		dst = append(dst, "\r\n"...)
	}
	return dst, true
}

// endsLine reports whether nothing but controls, which are dropped, comes
// before the end of the line.
func endsLine(rest []byte) bool {
	for _, c := range rest {
		switch class[c] {
		case dropIt:
		case lineEnd:
			return true
		default:
			return false
		}
	}
	return true
}

// breakFor breaks the line softly unless it has room for n more.
func breakFor(dst []byte, col, n int) ([]byte, int) {
	if col == 0 || col+n <= lineWidth-1 {
		return dst, col
	}
	return append(dst, "=\r\n"...), 0
}

func appendEscape(dst []byte, c byte) []byte {
	return append(dst, '=', hexDigits[c>>4], hexDigits[c&15])
}

// lineEndSize returns the length of the line end that rest starts with.
func lineEndSize(rest []byte) int {
	if rest[0] == '\r' && len(rest) > 1 && rest[1] == '\n' {
		return 2
	}
	return 1
}

// appendCanonical appends src with CRLF at line ends, without controls, as
// valid UTF-8.
func appendCanonical(dst, src []byte) []byte {
	for i := 0; i < len(src); {
		switch class[src[i]] {
		case lineEnd:
			dst = append(dst, "\r\n"...)
			i += lineEndSize(src[i:])
		case dropIt:
			i++
		case sequence:
			r, size := utf8.DecodeRune(src[i:])
			dst = utf8.AppendRune(dst, r)
			i += size
		default:
			dst = append(dst, src[i])
			i++
		}
	}
	return dst
}

// appendBase64 appends src as base64 in lines, the last ended too.
func appendBase64(dst, src []byte) []byte {
	const bytesPerLine = lineWidth / 4 * 3
	for len(src) > 0 {
		n := min(len(src), bytesPerLine)
		dst = base64.StdEncoding.AppendEncode(dst, src[:n])
		dst = append(dst, "\r\n"...)
		src = src[n:]
	}
	return dst
}
