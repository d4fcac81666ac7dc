package imapbox

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// Limits of one response.
const (
	maxLine     = 16 << 10 // bytes between literals
	maxLiterals = 100
)

// wire sends commands and reads responses (RFC 3501 section 2.2). It understands as much of the
// grammar as the few commands of this package need, without recursion and with limits, since the
// server may be hostile.
type wire struct {
	net.Conn
	in   *bufio.Reader
	left int64 // bytes that may be read until the next call of allow
	tags int
}

func newWire(c net.Conn) *wire {
	w := &wire{Conn: c}
	w.in = bufio.NewReader(c)
	return w
}

// allow sets how many bytes the server may send from now on.
func (w *wire) allow(n int64) { w.left = n }

// errTooMuch means that a server sends more than it was asked for.
var errTooMuch = errors.New("the server sends more than it was asked for")

// answer is the tagged response to a command that failed.
type answer struct{ status, text string }

func (a *answer) Error() string { return "the server answered " + a.status + " " + a.text }

// refused reports whether a server understood a command and did not carry it out.
func refused(err error) bool {
	a, ok := errors.AsType[*answer](err)
	return ok && a.status == "NO"
}

// response is one response: lines, and the literals between them.
type response struct {
	lines    []string
	literals [][]byte
}

// line reads a line without its end.
func (w *wire) line() (string, error) {
	var b []byte
	for {
		part, err := w.in.ReadSlice('\n')
		b = append(b, part...)
		switch w.left -= int64(len(part)); {
		case w.left < 0 || len(b) > maxLine:
			return "", errTooMuch
		case err == nil:
			return strings.TrimRight(string(b), "\r\n"), nil
		case err == io.EOF:
			return "", io.ErrUnexpectedEOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		}
	}
}

// read reads a response.
func (w *wire) read() (response, error) {
	var r response
	for {
		line, err := w.line()
		if err != nil {
			return r, err
		}
		r.lines = append(r.lines, line)
		size, ok := literalSize(line)
		if !ok {
			return r, nil
		}
		if w.left -= size; w.left < 0 || len(r.literals) == maxLiterals {
			return r, errTooMuch
		}
		literal := make([]byte, size)
		if _, err := io.ReadFull(w.in, literal); err != nil {
			return r, fmt.Errorf("read a literal: %w", err)
		}
		r.literals = append(r.literals, literal)
	}
}

// literalSize returns the size of the literal that a line announces at its end.
func literalSize(line string) (int64, bool) {
	i := strings.LastIndexByte(line, '{')
	if i < 0 || !strings.HasSuffix(line, "}") {
		return 0, false
	}
	n, err := strconv.ParseUint(line[i+1:len(line)-1], 10, 31)
	return int64(n), err == nil
}

// do sends a command and calls use with each untagged response to it. proceed returns what is sent
// when the server asks for more; it may be nil.
func (w *wire) do(command string, use func(response) error, proceed func() string) error {
	w.tags++
	tag := "p" + strconv.Itoa(w.tags)
	if err := w.send(tag + " " + command); err != nil {
		return err
	}
	for {
		r, err := w.read()
		if err != nil {
			return err
		}
		kind, rest, _ := strings.Cut(r.lines[0], " ")
		switch kind {
		case "*":
			if strings.HasPrefix(strings.ToUpper(rest), "BYE") {
				return &answer{"BYE", strings.TrimSpace(rest[3:])}
			}
			if use != nil {
				if err := use(r); err != nil {
					return err
				}
			}
		case "+":
			if proceed == nil {
				return errors.New("the server asks for something that it was not told")
			}
			if err := w.send(proceed()); err != nil {
				return err
			}
		case tag:
			status, text, _ := strings.Cut(rest, " ")
			if status = strings.ToUpper(status); status == "OK" {
				return nil
			}
			return &answer{status, text}
		default:
			return errors.New("the server does not speak IMAP")
		}
	}
}

func (w *wire) send(line string) error {
	_, err := w.Write([]byte(line + "\r\n"))
	return err
}

// until sets when reading and writing fail.
func (w *wire) until(t time.Time) { _ = w.SetDeadline(t) }

// quoted returns a quoted string, if s can be one.
func quoted(s string) (string, bool) {
	for _, c := range []byte(s) {
		if c == 0 || c == '\r' || c == '\n' || c >= 0x80 {
			return "", false
		}
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`, true
}

// item is one name and value of a FETCH response.
type item struct {
	name  string
	value string // an atom or a string; a list is empty
	bytes []byte // of a literal or a string
}

// fetched returns the sequence number and the items of a FETCH response; ok is false for any other
// response.
func fetched(r response) (seq uint32, items []item, ok bool) {
	words := strings.SplitN(r.lines[0], " ", 4)
	if len(words) < 4 || words[0] != "*" || !strings.EqualFold(words[2], "FETCH") {
		return 0, nil, false
	}
	seq, ok = number(words[1])
	if !ok || !strings.HasPrefix(words[3], "(") {
		return 0, nil, false
	}
	s := &scanner{text: words[3][1:], rest: r}
	for {
		name, ok := s.value()
		if !ok || name.value == "" {
			return seq, items, true
		}
		value, ok := s.value()
		if !ok {
			return seq, items, true
		}
		value.name = strings.ToUpper(name.value)
		items = append(items, value)
	}
}

// scanner reads values of a response, across its literals.
type scanner struct {
	text string
	rest response // its first line is the one of text
}

// value reads an atom, a string, a literal or a list, whose content is skipped. It reports false at
// the end of the list that the values are in.
func (s *scanner) value() (item, bool) {
	s.text = strings.TrimLeft(s.text, " ")
	switch {
	case s.text == "" || s.text[0] == ')':
		return item{}, false
	case s.text[0] == '"':
		v := s.quoted()
		return item{value: v, bytes: []byte(v)}, true
	case s.text[0] == '{':
		return s.literal()
	case s.text[0] == '(':
		return item{}, s.skipList()
	}
	end, inside := 0, false
	for end < len(s.text) && (inside || s.text[end] != ' ' && s.text[end] != ')') {
		switch s.text[end] {
		case '[': // BODY[HEADER.FIELDS (TO)]
			inside = true
		case ']':
			inside = false
		}
		end++
	}
	v := s.text[:end]
	s.text = s.text[end:]
	return item{value: v}, true
}

// quoted reads a quoted string.
func (s *scanner) quoted() string {
	var b strings.Builder
	for i := 1; i < len(s.text); i++ {
		switch c := s.text[i]; c {
		case '"':
			s.text = s.text[i+1:]
			return b.String()
		case '\\':
			if i++; i < len(s.text) {
				b.WriteByte(s.text[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	s.text = ""
	return b.String()
}

// literal reads a literal, which is at the end of a line.
func (s *scanner) literal() (item, bool) {
	if len(s.rest.literals) == 0 || len(s.rest.lines) < 2 {
		return item{}, false
	}
	v := item{bytes: s.rest.literals[0]}
	s.rest = response{s.rest.lines[1:], s.rest.literals[1:]}
	s.text = s.rest.lines[0]
	return v, true
}

// skipList skips a list with all that is in it.
func (s *scanner) skipList() bool {
	depth := 0
	for s.text != "" {
		switch s.text[0] {
		case '(':
			depth++
			s.text = s.text[1:]
		case ')':
			depth--
			if s.text = s.text[1:]; depth == 0 {
				return true
			}
		case '"':
			s.quoted()
		case '{':
			if _, ok := s.literal(); !ok {
				return false
			}
		default:
			s.text = s.text[1:]
		}
	}
	return false
}

// number returns a number of 32 bits.
func number(s string) (uint32, bool) {
	n, err := strconv.ParseUint(s, 10, 32)
	return uint32(n), err == nil
}
