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
	plain           // is written as it is
	lineEnd         // CR or LF
	dropIt          // a control character that must not occur in a mail
	sequence        // part of a longer character
)

// class is the class of each byte.
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

// quoter writes quoted-printable text.
//
// Beyond the RFC it escapes a dot and "From " at the start of a line, which
// careless programs alter, and never splits a character between lines.
type quoter struct {
	dst []byte
	col int // width of the line being written
	// left is how many more bytes of the text may need escapes. Those at the start
	// of a line do not count: they follow from where lines break.
	left int
}

// write appends src[from:to], and reports whether left is not used up. It reads what follows in src
// but does not write it.
func (q *quoter) write(src []byte, from, to int) bool {
	dst, col, left := q.dst, q.col, q.left
	for i := from; i < to && left >= 0; {
		run := src[i:min(to, i+lineWidth-1-col)]
		n := 0
		for n < len(run) && class[run[n]] == plain {
			n++
		}
		if j := i + n; n > 0 {
			if col == 0 && startsBadly(src[i:]) {
				dst = appendEscape(dst, src[i])
				col = 3
				i++
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
				left--
			}
			i = j
			if i == to {
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
			left--
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
			left -= size
		}
	}
	q.dst, q.col, q.left = dst, col, left
	return left >= 0
}

// startsBadly reports whether text must be escaped at the start of a line.
func startsBadly(text []byte) bool {
	return text[0] == '.' || text[0] == 'F' && bytes.HasPrefix(text, []byte("From "))
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
	for len(src) > 0 {
		n := 0
		for n < len(src) && class[src[n]] != lineEnd && class[src[n]] != dropIt {
			n++
		}
		if run := src[:n]; utf8.Valid(run) {
			dst = append(dst, run...)
		} else {
			for _, r := range string(run) {
				dst = utf8.AppendRune(dst, r)
			}
		}
		src = src[n:]
		if len(src) == 0 {
			break
		}
		if class[src[0]] == lineEnd {
			dst = append(dst, "\r\n"...)
			src = src[lineEndSize(src):]
		} else {
			src = src[1:]
		}
	}
	return dst
}

// appendBase64 appends src as base64 in lines, each with its line end.
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
