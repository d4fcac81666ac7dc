package sink

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	bufferSize = 32 << 10
	maxCommand = 12 << 10 // RFC 4954 allows AUTH so much
	patience   = 10 * time.Minute
)

// session is one connection. What it reads lies in in[r:w]; answers gather in
// out and are written when there is nothing left to read.
type session struct {
	srv    *Server
	nc     net.Conn
	raw    net.Conn // below TLS
	number int64

	in   []byte
	r, w int
	out  []byte
	drip time.Duration // between two bytes of the next answers

	helloSaid bool
	secure    bool
	loggedIn  bool
	taken     int // messages
	mailOpen  bool
	from      string
	to        []string
}

func newSession(s *Server, nc net.Conn, number int64) *session {
	return &session{srv: s, nc: nc, raw: nc, number: number, in: make([]byte, bufferSize)}
}

// greeting returns the answer to EHLO.
func greeting(o Options, offerTLS bool) []byte {
	lines := []string{"sink.invalid", "PIPELINING", "SIZE " + strconv.Itoa(o.MaxSize), "8BITMIME", "SMTPUTF8", "ENHANCEDSTATUSCODES"}
	if offerTLS {
		lines = append(lines, "STARTTLS")
	}
	if o.User != "" {
		lines = append(lines, "AUTH PLAIN LOGIN CRAM-MD5")
	}
	lines = append(lines, o.Offer...)
	lines = slices.DeleteFunc(lines, func(l string) bool {
		name, _, _ := strings.Cut(l, " ")
		return slices.Contains(o.Without, name)
	})
	var b []byte
	for i, l := range lines {
		sep := "-"
		if i == len(lines)-1 {
			sep = " "
		}
		b = append(b, "250"+sep+l+"\r\n"...)
	}
	return b
}

// serve leads the conversation until it ends one way or another.
func (c *session) serve(tooMany bool) {
	if c.srv.opts.ImplicitTLS {
		if replied, err := c.trouble(TLS); replied || err != nil || c.encrypt() != nil {
			return
		}
	}
	if tooMany {
		c.say("421 4.7.0 too many connections")
		c.flush()
		return
	}
	switch replied, err := c.trouble(Connect); {
	case err != nil:
		return
	case !replied:
		c.say("220 sink.invalid ESMTP")
	}
	for {
		line, err := c.line()
		if err != nil {
			break
		}
		if c.command(line) != nil {
			return // dropped: what was not flushed is lost, as it should be
		}
	}
	c.flush()
}

// command answers one command; an error ends the session.
func (c *session) command(line []byte) error {
	verb, arg, _ := bytes.Cut(line, []byte(" "))
	if len(verb) == 4 {
		switch {
		case word(verb, "MAIL"):
			return c.mail(arg)
		case word(verb, "RCPT"):
			return c.rcpt(arg)
		case word(verb, "DATA"):
			return c.data()
		case word(verb, "EHLO"), word(verb, "HELO"):
			return c.greet(word(verb, "EHLO"))
		case word(verb, "RSET"):
			c.forget()
			c.say("250 2.0.0 ok")
			return nil
		case word(verb, "NOOP"):
			c.say("250 2.0.0 ok")
			return nil
		case word(verb, "AUTH"):
			return c.auth(string(arg))
		case word(verb, "QUIT"):
			c.say("221 2.0.0 bye")
			c.flush()
			return io.EOF
		}
	}
	if word(verb, "STARTTLS") {
		return c.startTLS()
	}
	c.say("500 5.5.1 unknown command")
	return nil
}

func word(verb []byte, name string) bool {
	return len(verb) == len(name) && strings.EqualFold(string(verb), name)
}

func (c *session) greet(extended bool) error {
	if replied, err := c.trouble(Hello); replied || err != nil {
		return err
	}
	c.forget()
	c.helloSaid = true
	switch {
	case !extended:
		c.say("250 sink.invalid")
	case c.secure:
		c.out = append(c.out, c.srv.secure...)
	default:
		c.out = append(c.out, c.srv.hello...)
	}
	return nil
}

func (c *session) mail(arg []byte) error {
	from, params, ok := path(arg, "FROM:")
	switch {
	case !c.helloSaid || c.mailOpen:
		c.say("503 5.5.1 not now")
		return nil
	case c.srv.opts.RequireTLS && !c.secure:
		c.say("530 5.7.0 must issue STARTTLS first")
		return nil
	case c.srv.opts.User != "" && !c.loggedIn:
		c.say("530 5.7.0 authentication required")
		return nil
	case !ok:
		c.say("501 5.5.4 no sender")
		return nil
	case c.srv.opts.PerConn > 0 && c.taken >= c.srv.opts.PerConn:
		c.say("421 4.7.0 too many messages on this connection")
		c.flush()
		return io.EOF
	}
	c.from = from
	if replied, err := c.trouble(Mail); replied || err != nil {
		return err
	}
	for p := range bytes.FieldsSeq(params) {
		if v, ok := bytes.CutPrefix(bytes.ToUpper(p), []byte("SIZE=")); ok {
			if n, err := strconv.Atoi(string(v)); err == nil && n > c.srv.opts.MaxSize {
				c.say("552 5.3.4 message too large")
				return nil
			}
		}
	}
	c.mailOpen = true
	c.say("250 2.1.0 ok")
	return nil
}

func (c *session) rcpt(arg []byte) error {
	to, _, ok := path(arg, "TO:")
	switch {
	case !c.mailOpen:
		c.say("503 5.5.1 MAIL first")
		return nil
	case !ok || to == "":
		c.say("501 5.5.4 no recipient")
		return nil
	}
	c.to = append(c.to, to)
	if replied, err := c.troubleFor(Rcpt, c.to[len(c.to)-1:]); replied || err != nil {
		c.to = c.to[:len(c.to)-1]
		return err
	}
	c.say("250 2.1.5 ok")
	return nil
}

func (c *session) data() error {
	if len(c.to) == 0 {
		c.say("503 5.5.1 no valid recipients")
		return nil
	}
	if replied, err := c.trouble(Data); replied || err != nil {
		return err
	}
	c.say("354 go on")
	if c.anyRule(Body) {
		if err := c.fill(); err != nil {
			return err
		}
		answered, err := c.trouble(Body)
		if err != nil {
			return err
		}
		if answered {
			defer c.forget()
			_, _, _, err := c.message()
			return err
		}
	}
	raw, wire, bare, err := c.message()
	if err != nil {
		return err
	}
	defer c.forget()
	if bare {
		c.say("554 5.6.0 bare line feeds are not taken")
		return nil
	}
	m := Message{Time: time.Now(), Conn: c.number, Mail: c.from, Rcpt: c.to}
	if replied, err := c.troubleWith(m, raw, wire); replied || err != nil {
		return err
	}
	if err := c.enter(m, raw, wire); err != nil {
		c.say("451 4.3.0 cannot keep the message")
		return nil
	}
	c.say("250 2.0.0 taken")
	return nil
}

// enter takes a message into account.
func (c *session) enter(m Message, raw []byte, wire int) error {
	c.taken++
	if !c.srv.opts.Discard && !c.srv.ledger.idle() {
		m.Rcpt = slices.Clone(m.Rcpt)
		if err := c.srv.ledger.add(m, raw); err != nil {
			return err
		}
	}
	c.srv.messages.Add(1)
	c.srv.bytes.Add(int64(wire))
	return nil
}

// forget ends the transaction.
func (c *session) forget() { c.mailOpen, c.from, c.to = false, "", c.to[:0] }

func (c *session) startTLS() error {
	if !c.srv.opts.STARTTLS || c.secure {
		c.say("502 5.5.1 no STARTTLS here")
		return nil
	}
	rule := c.due(TLS, nil)
	if rule != nil && rule.Reply != "" {
		_, err := c.make(rule)
		return err
	}
	c.say("220 2.0.0 go on")
	if rule != nil {
		if _, err := c.make(rule); err != nil {
			return err
		}
	}
	if c.r < c.w { // commands sent in clear must not count as secure ones
		return errors.New("pipelined after STARTTLS")
	}
	c.flush()
	c.helloSaid = false
	c.forget()
	return c.encrypt()
}

func (c *session) encrypt() error {
	tc := tls.Server(c.nc, c.srv.tls)
	_ = c.nc.SetDeadline(time.Now().Add(patience))
	if err := tc.Handshake(); err != nil {
		return err
	}
	c.nc, c.secure = tc, true
	return nil
}

// say adds a line to the answers.
func (c *session) say(line string) {
	if line[0] >= '4' {
		c.srv.refused.Add(1)
	}
	c.out = append(append(c.out, line...), "\r\n"...)
}

func (c *session) flush() {
	if len(c.out) > 0 {
		c.write(c.out)
		c.out = c.out[:0]
	}
}

// fill reads more input. Answers go out first: the client may be waiting.
func (c *session) fill() error {
	c.flush()
	switch {
	case c.r == c.w:
		c.r, c.w = 0, 0
	case c.w == len(c.in) && c.r > 0:
		c.w = copy(c.in, c.in[c.r:c.w])
		c.r = 0
	case c.w == len(c.in):
		c.in = append(c.in, make([]byte, len(c.in))...)
	}
	if err := c.nc.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	n, err := c.nc.Read(c.in[c.w:])
	c.w += n
	if n > 0 {
		return nil
	}
	return err
}

// line returns the next command, without its line end. It is valid until the
// next read.
func (c *session) line() ([]byte, error) {
	for {
		if i := bytes.IndexByte(c.in[c.r:c.w], '\n'); i >= 0 {
			line := c.in[c.r : c.r+i]
			c.r += i + 1
			return bytes.TrimSuffix(line, []byte{'\r'}), nil
		}
		if c.w-c.r > maxCommand {
			return nil, fmt.Errorf("a command of %d bytes", c.w-c.r)
		}
		if err := c.fill(); err != nil {
			return nil, err
		}
	}
}

// path takes <address> from the argument of MAIL or RCPT.
func path(arg []byte, prefix string) (addr string, params []byte, ok bool) {
	if len(arg) < len(prefix) || !strings.EqualFold(string(arg[:len(prefix)]), prefix) {
		return "", nil, false
	}
	rest := bytes.TrimLeft(arg[len(prefix):], " ")
	end := bytes.IndexByte(rest, '>')
	if len(rest) == 0 || rest[0] != '<' || end < 0 {
		return "", nil, false
	}
	return string(rest[1:end]), rest[end+1:], true
}
