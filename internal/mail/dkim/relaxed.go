package dkim

import (
	"bytes"
	"io"
)

// chunk is how much of a canonical body is gathered before it is hashed.
const chunk = 8 << 10

// appendRelaxedHeader appends a header in the relaxed form of RFC 6376 section
// 3.4.2, without CRLF.
func appendRelaxedHeader(dst, name, value []byte) []byte {
	for _, c := range name {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	dst = append(dst, ':')
	start, space := len(dst), false
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == ' ' || c == '\t':
			space = true
		case c == '\r' && i+1 < len(value) && value[i+1] == '\n':
			i++
		default:
			if space && len(dst) > start {
				dst = append(dst, ' ')
			}
			space = false
			dst = append(dst, c)
		}
	}
	return dst
}

// hashBody writes body to w in the relaxed form of RFC 6376 section 3.4.4:
// white space within lines becomes one space, that at their ends and the empty
// lines at the end of the body go. It works in buf, which it returns.
func hashBody(w io.Writer, buf, body []byte) []byte {
	buf = buf[:0]
	empty := 0 // lines that count only if another line follows
	for len(body) > 0 {
		line := body
		if n := bytes.Index(body, []byte("\r\n")); n >= 0 {
			line, body = body[:n], body[n+2:]
		} else {
			body = nil
		}
		line = trimRight(line)
		if len(line) == 0 {
			empty++
			continue
		}
		for ; empty > 0; empty-- {
			buf = flush(w, append(buf, "\r\n"...))
		}
		for len(line) > 0 {
			n := nextRun(line)
			buf = append(buf, line[:n]...)
			line = line[n:]
			if len(line) > 0 {
				buf = append(buf, ' ')
				for len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
					line = line[1:]
				}
			}
			buf = flush(w, buf)
		}
		buf = flush(w, append(buf, "\r\n"...))
	}
	w.Write(buf)
	return buf
}

// nextRun returns where in line white space begins that is not a single space.
func nextRun(line []byte) int {
	for i, c := range line {
		if c == '\t' || c == ' ' && i+1 < len(line) && (line[i+1] == ' ' || line[i+1] == '\t') {
			return i
		}
	}
	return len(line)
}

func trimRight(line []byte) []byte {
	for len(line) > 0 && (line[len(line)-1] == ' ' || line[len(line)-1] == '\t') {
		line = line[:len(line)-1]
	}
	return line
}

// flush writes buf to w when it is full, and returns what is left.
func flush(w io.Writer, buf []byte) []byte {
	if len(buf) < chunk {
		return buf
	}
	w.Write(buf)
	return buf[:0]
}
