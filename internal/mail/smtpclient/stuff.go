package smtpclient

import (
	"bytes"
	"errors"
)

// ErrBareNewline reports a message with a CR or LF that is not part of a CRLF.
// Servers disagree on what those mean, which lets a message smuggle another.
var ErrBareNewline = errors.New("the message has a line end that is not CRLF")

// terminator ends a message whose last line is complete.
const terminator = ".\r\n"

// stuff appends raw to dst in the form that follows DATA: a dot is put before
// each line that starts with one (RFC 5321 section 4.5.2), the last line is
// completed, and the final dot is added.
func stuff(dst, raw []byte) ([]byte, error) {
	if len(raw) > 0 && raw[0] == '.' {
		dst = append(dst, '.')
	}
	ends, from := 0, 0 // from is where the part not yet appended begins
	for i := 0; ; ends++ {
		n := bytes.IndexByte(raw[i:], '\n')
		if n < 0 {
			break
		}
		i += n
		if i == 0 || raw[i-1] != '\r' {
			return dst, ErrBareNewline
		}
		i++
		if i < len(raw) && raw[i] == '.' {
			dst = append(append(dst, raw[from:i]...), '.')
			from = i
		}
	}
	if bytes.Count(raw, []byte{'\r'}) != ends {
		return dst, ErrBareNewline
	}
	dst = append(dst, raw[from:]...)
	if len(raw) > 0 && raw[len(raw)-1] != '\n' {
		dst = append(dst, "\r\n"...)
	}
	return append(dst, terminator...), nil
}
