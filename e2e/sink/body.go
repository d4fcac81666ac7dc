package sink

import (
	"bytes"
	"errors"
)

// message reads what follows DATA up to the line that is a lone dot, and
// returns it with dots unstuffed, its length on the wire, and whether a line
// ended in a bare line feed. The bytes are valid until the next read.
func (c *session) message() (raw []byte, wire int, bare bool, err error) {
	// Offsets are relative to c.r, because fill may move the bytes.
	at := 0       // where to look next
	start := true // a line starts there: only CRLF ends one
	stuffed := false
	for {
		have := c.in[c.r:c.w]
		for {
			line := have[at:]
			if start && len(line) > 0 && line[0] == '.' {
				if len(line) < len(".\r\n") {
					break
				}
				if line[1] == '\r' && line[2] == '\n' {
					c.r += at + len(".\r\n")
					raw = have[:at]
					if stuffed {
						raw = unstuff(raw)
					}
					return raw, at, bare, nil
				}
				stuffed = true
			}
			n := bytes.IndexByte(line, '\n')
			if n < 0 {
				break
			}
			start = n > 0 && line[n-1] == '\r'
			bare = bare || !start
			at += n + 1
		}
		if len(have) > c.srv.opts.MaxSize+len(".\r\n") {
			return nil, 0, bare, errTooLarge
		}
		if err := c.readMore(); err != nil {
			return nil, 0, bare, err
		}
	}
}

// errTooLarge ends the session of a client that ignores SIZE.
var errTooLarge = errors.New("message too large")

// unstuff takes away, in place, the dot that the client put before each dot at
// the start of a line (RFC 5321 section 4.5.2).
func unstuff(raw []byte) []byte {
	out := raw[:0]
	for line := range bytes.Lines(raw) {
		if line[0] == '.' {
			line = line[1:]
		}
		out = append(out, line...)
	}
	return out
}
