package reply

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits of what we read. RFC 5321 section 4.5.3.1.5 allows servers 512
// octets a line; real ones exceed it.
const (
	MaxLine  = 4 << 10  // bytes of one line, with its line end
	MaxReply = 64 << 10 // bytes of one reply, all lines together
	MaxText  = 1 << 10  // bytes of text in an Outcome
)

// ErrMalformed is wrapped by the errors of Read if the server sent something that is not an SMTP
// reply. The connection cannot be used after it.
var ErrMalformed = errors.New("malformed SMTP reply")

// Reply is one complete answer of a server. Read may be called again with the
// same Reply, which then reuses its memory.
type Reply struct {
	Code int
	text []byte // lines without code, separated by \n, at most MaxReply bytes
}

// NewReader returns a buffered reader with a buffer large enough for Read.
func NewReader(conn io.Reader) *bufio.Reader {
	return bufio.NewReaderSize(conn, MaxLine)
}

// Read reads one reply, of one line or several, into r. The reader must come from NewReader. Lines
// must agree on the class of the code; the code of the last one is used. A missing space after the
// code and a bare LF are accepted.
func (r *Reply) Read(br *bufio.Reader) error {
	r.Code, r.text = 0, r.text[:0]
	total := 0
	for first := true; ; first = false {
		line, err := br.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return fmt.Errorf("%w: a line is longer than %d bytes", ErrMalformed, MaxLine)
		}
		if err != nil {
			return err
		}
		if total += len(line); total > MaxReply {
			return fmt.Errorf("%w: longer than %d bytes", ErrMalformed, MaxReply)
		}
		line = bytes.TrimRight(line, "\r\n")
		code, ok := codeOf(line)
		if !ok {
			return fmt.Errorf("%w: %q", ErrMalformed, start(line))
		}
		if !first && code/100 != r.Code/100 {
			return fmt.Errorf("%w: codes %d and %d in one reply", ErrMalformed, r.Code, code)
		}
		r.Code = code
		rest, last := line[3:], true
		if len(rest) > 0 {
			last = rest[0] != '-'
			if rest[0] == '-' || rest[0] == ' ' {
				rest = rest[1:]
			}
		}
		if !first {
			r.text = append(r.text, '\n')
		}
		r.text = append(r.text, rest...)
		if last {
			return nil
		}
	}
}

// Parse parses a reply such as "550 5.1.1 no such user". The line end may be missing.
func Parse(text string) (Reply, error) {
	var r Reply
	err := r.Read(NewReader(strings.NewReader(text + "\r\n")))
	return r, err
}

// codeOf returns the code that line begins with, between 200 and 599.
func codeOf(line []byte) (int, bool) {
	if len(line) < 3 || line[0] < '2' || line[0] > '5' {
		return 0, false
	}
	code := 0
	for _, b := range line[:3] {
		if b < '0' || b > '9' {
			return 0, false
		}
		code = code*10 + int(b-'0')
	}
	// A fourth digit means that this is some other number.
	if len(line) > 3 && line[3] >= '0' && line[3] <= '9' {
		return 0, false
	}
	return code, true
}

// start returns the beginning of a line for an error message.
func start(line []byte) []byte { return line[:min(len(line), 60)] }

// Lines yields the text of each line, without code. The slices are valid until
// the next Read.
func (r *Reply) Lines(yield func([]byte) bool) {
	for line := range bytes.SplitSeq(r.text, []byte{'\n'}) {
		if !yield(line) {
			return
		}
	}
}

// Text returns the server's text in a form to be stored and shown: lines joined by a space, without
// the enhanced code and control characters, valid UTF-8, at most MaxText bytes.
func (r *Reply) Text() string {
	var b strings.Builder
	enhanced := r.enhanced()
	for line := range r.Lines {
		if rest, ok := bytes.CutPrefix(line, enhanced); ok && (len(rest) == 0 || rest[0] == ' ') {
			line = rest
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.Write(bytes.TrimSpace(line))
		if b.Len() > 2*MaxText {
			break
		}
	}
	return Clean(b.String())
}

// Enhanced returns the enhanced status code (RFC 3463, RFC 2034) at the start of a line of the
// reply. A code whose class differs from that of the reply is an error of the server and is ignored.
func (r *Reply) Enhanced() string { return string(r.enhanced()) }

func (r *Reply) enhanced() []byte {
	for line := range r.Lines {
		code, ok := leadingEnhanced(line)
		if ok && int(code[0]-'0') == r.Code/100 {
			return code
		}
	}
	return nil
}

// leadingEnhanced returns the class.subject.detail that line begins with.
func leadingEnhanced(line []byte) ([]byte, bool) {
	if len(line) < 5 || line[1] != '.' || (line[0] != '2' && line[0] != '4' && line[0] != '5') {
		return nil, false
	}
	i, ok := digits(line, 2)
	if !ok || i >= len(line) || line[i] != '.' {
		return nil, false
	}
	i, ok = digits(line, i+1)
	if !ok || i < len(line) && line[i] != ' ' {
		return nil, false
	}
	return line[:i], true
}

// digits skips one to three digits at i and returns their end.
func digits(line []byte, i int) (int, bool) {
	from := i
	for i < len(line) && line[i] >= '0' && line[i] <= '9' {
		i++
	}
	return i, i > from && i-from <= 3
}

// Clean returns a server's text in a form that is safe to store and show: valid UTF-8 on one line,
// without control and invisible formatting characters, at most MaxText bytes.
func Clean(s string) string {
	if isClean(s) {
		return s
	}
	var b strings.Builder
	space := true // drops leading spaces
	for _, c := range s {
		switch {
		case unicode.IsSpace(c):
			if space {
				continue
			}
			c, space = ' ', true
		case unicode.Is(unicode.C, c) || c == '\u2028' || c == '\u2029':
			continue
		default:
			space = false
		}
		if b.Len()+utf8.RuneLen(c) > MaxText {
			break
		}
		b.WriteRune(c)
	}
	return strings.TrimSpace(b.String())
}

// isClean reports whether s is short ASCII that needs no cleaning, as most replies
// are.
func isClean(s string) bool {
	if len(s) > MaxText {
		return false
	}
	space := true
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c > '~' || c == ' ' && space {
			return false
		}
		space = c == ' '
	}
	return !space || s == ""
}

// Outcome returns the outcome of the reply at a stage. Accepted is set for a positive answer to the
// final dot.
func (r *Reply) Outcome(stage Stage) Outcome {
	return Outcome{
		Stage:    stage,
		Code:     r.Code,
		Enhanced: r.Enhanced(),
		Text:     r.Text(),
		Accepted: stage == Dot && r.Code/100 == 2,
	}
}
