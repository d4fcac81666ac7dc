package smtpclient

import (
	"bytes"
	"errors"
)

// ErrBareNewline reports a message with a CR or LF that is not part of a CRLF. Servers interpret
// those differently, which allows message smuggling.
var ErrBareNewline = errors.New("the message has a line end that is not CRLF")

// terminator ends a message whose last line is complete.
const terminator = ".\r\n"

// isDotReady reports whether raw can follow DATA unchanged: no line starts with a dot, and the last one is
// complete.
func isDotReady(raw []byte) (bool, error) {
	dots := len(raw) > 0 && raw[0] == '.'
	ends := 0
	for i := 0; ; ends++ {
		n := bytes.IndexByte(raw[i:], '\n')
		if n < 0 {
			break
		}
		i += n
		if i == 0 || raw[i-1] != '\r' {
			return false, ErrBareNewline
		}
		i++
		dots = dots || i < len(raw) && raw[i] == '.'
	}
	if bytes.Count(raw, []byte{'\r'}) != ends {
		return false, ErrBareNewline
	}
	return !dots && (len(raw) == 0 || raw[len(raw)-1] == '\n'), nil
}

// dotStuff appends raw, whose line ends are correct, to dst in the form that follows DATA: a dot is put
// before each line that starts with one (RFC 5321 section 4.5.2), and the last line is completed.
func dotStuff(dst, raw []byte) []byte {
	if len(raw) > 0 && raw[0] == '.' {
		dst = append(dst, '.')
	}
	for {
		i := bytes.Index(raw, []byte("\n."))
		if i < 0 {
			break
		}
		dst = append(append(dst, raw[:i+1]...), '.')
		raw = raw[i+1:]
	}
	dst = append(dst, raw...)
	if len(raw) > 0 && raw[len(raw)-1] != '\n' {
		dst = append(dst, "\r\n"...)
	}
	return dst
}
