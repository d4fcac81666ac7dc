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
	ioTimeout  = 10 * time.Minute
)

// session is one connection. in[r:w] was read and not processed yet; replies are collected in out, and
// written before the session waits for input.
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
	accepted  int // messages
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

// serve processes commands until the connection ends.
func (c *session) serve(tooMany bool) {
	if c.srv.opts.ImplicitTLS {
		if replied, err := c.applyRules(TLS); replied || err != nil || c.encrypt() != nil {
			return
		}
	}
	if tooMany {
		c.reply("421 4.7.0 too many connections")
		c.flush()
		return
	}
	switch replied, err := c.applyRules(Connect); {
	case err != nil:
		return
	case !replied:
		c.reply("220 sink.invalid ESMTP")
	}
	for {
		line, err := c.readLine()
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
		case isVerb(verb, "MAIL"):
			return c.mail(arg)
		case isVerb(verb, "RCPT"):
			return c.rcpt(arg)
		case isVerb(verb, "DATA"):
			return c.data()
		case isVerb(verb, "EHLO"), isVerb(verb, "HELO"):
			return c.greet(isVerb(verb, "EHLO"))
		case isVerb(verb, "RSET"):
			c.resetTransaction()
			c.reply("250 2.0.0 ok")
			return nil
		case isVerb(verb, "NOOP"):
			c.reply("250 2.0.0 ok")
			return nil
		case isVerb(verb, "AUTH"):
			return c.auth(string(arg))
		case isVerb(verb, "QUIT"):
			c.srv.leave(c.raw)
			c.reply("221 2.0.0 bye")
			c.flush()
			return io.EOF
		}
	}
	if isVerb(verb, "STARTTLS") {
		return c.startTLS()
	}
	c.reply("500 5.5.1 unknown command")
	return nil
}

func isVerb(verb []byte, name string) bool {
	return len(verb) == len(name) && strings.EqualFold(string(verb), name)
}

func (c *session) greet(extended bool) error {
	if replied, err := c.applyRules(Hello); replied || err != nil {
		return err
	}
	c.resetTransaction()
	c.helloSaid = true
	switch {
	case !extended:
		c.reply("250 sink.invalid")
	case c.secure:
		c.out = append(c.out, c.srv.secure...)
	default:
		c.out = append(c.out, c.srv.hello...)
	}
	return nil
}

func (c *session) mail(arg []byte) error {
	from, params, ok := parsePath(arg, "FROM:")
	switch {
	case !c.helloSaid || c.mailOpen:
		c.reply("503 5.5.1 not now")
		return nil
	case c.srv.opts.RequireTLS && !c.secure:
		c.reply("530 5.7.0 must issue STARTTLS first")
		return nil
	case c.srv.opts.User != "" && !c.loggedIn:
		c.reply("530 5.7.0 authentication required")
		return nil
	case !ok:
		c.reply("501 5.5.4 no sender")
		return nil
	case c.srv.opts.PerConn > 0 && c.accepted >= c.srv.opts.PerConn:
		c.reply("421 4.7.0 too many messages on this connection")
		c.flush()
		return io.EOF
	}
	c.from = from
	if replied, err := c.applyRules(Mail); replied || err != nil {
		return err
	}
	for p := range bytes.FieldsSeq(params) {
		if v, ok := bytes.CutPrefix(bytes.ToUpper(p), []byte("SIZE=")); ok {
			if n, err := strconv.Atoi(string(v)); err == nil && n > c.srv.opts.MaxSize {
				c.reply("552 5.3.4 message too large")
				return nil
			}
		}
	}
	c.mailOpen = true
	c.reply("250 2.1.0 ok")
	return nil
}

func (c *session) rcpt(arg []byte) error {
	to, _, ok := parsePath(arg, "TO:")
	switch {
	case !c.mailOpen:
		c.reply("503 5.5.1 MAIL first")
		return nil
	case !ok || to == "":
		c.reply("501 5.5.4 no recipient")
		return nil
	}
	c.to = append(c.to, to)
	if replied, err := c.troubleFor(Rcpt, c.to[len(c.to)-1:]); replied || err != nil {
		c.to = c.to[:len(c.to)-1]
		return err
	}
	c.reply("250 2.1.5 ok")
	return nil
}

func (c *session) data() error {
	if len(c.to) == 0 {
		c.reply("503 5.5.1 no valid recipients")
		return nil
	}
	if replied, err := c.applyRules(Data); replied || err != nil {
		return err
	}
	c.reply("354 go on")
	if c.anyRule(Body) {
		if err := c.readMore(); err != nil {
			return err
		}
		answered, err := c.applyRules(Body)
		if err != nil {
			return err
		}
		if answered {
			defer c.resetTransaction()
			_, _, _, err := c.message()
			return err
		}
	}
	raw, wire, bare, err := c.message()
	if err != nil {
		return err
	}
	defer c.resetTransaction()
	if bare {
		c.reply("554 5.6.0 bare line feeds are not taken")
		return nil
	}
	m := Message{Time: time.Now(), Conn: c.number, Mail: c.from, Rcpt: c.to}
	if replied, err := c.troubleWith(m, raw, wire); replied || err != nil {
		return err
	}
	if err := c.recordMessage(m, raw, wire); err != nil {
		c.reply("451 4.3.0 cannot keep the message")
		return nil
	}
	c.reply("250 2.0.0 taken")
	return nil
}

// recordMessage counts an accepted message, and stores it in the ledger unless messages are discarded.
func (c *session) recordMessage(m Message, raw []byte, wire int) error {
	c.accepted++
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

// resetTransaction ends the transaction.
func (c *session) resetTransaction() { c.mailOpen, c.from, c.to = false, "", c.to[:0] }

func (c *session) startTLS() error {
	if !c.srv.opts.STARTTLS || c.secure {
		c.reply("502 5.5.1 no STARTTLS here")
		return nil
	}
	rule := c.dueRule(TLS, nil)
	if rule != nil && rule.Reply != "" {
		_, err := c.applyRule(rule)
		return err
	}
	c.reply("220 2.0.0 go on")
	if rule != nil {
		if _, err := c.applyRule(rule); err != nil {
			return err
		}
	}
	if c.r < c.w { // commands sent in clear must not count as secure ones
		return errors.New("pipelined after STARTTLS")
	}
	c.flush()
	c.helloSaid = false
	c.resetTransaction()
	return c.encrypt()
}

func (c *session) encrypt() error {
	tc := tls.Server(c.nc, c.srv.tls)
	_ = c.nc.SetDeadline(time.Now().Add(ioTimeout))
	if err := tc.Handshake(); err != nil {
		return err
	}
	c.nc, c.secure = tc, true
	return nil
}

// reply appends a reply to out.
func (c *session) reply(line string) {
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

// readMore reads more input. It writes out first, since the client may wait for replies.
func (c *session) readMore() error {
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
	if err := c.nc.SetReadDeadline(time.Now().Add(ioTimeout)); err != nil {
		return err
	}
	n, err := c.nc.Read(c.in[c.w:])
	c.w += n
	if n > 0 {
		return nil
	}
	return err
}

// readLine returns the next command, without its line end. It is valid until the
// next read.
func (c *session) readLine() ([]byte, error) {
	for {
		if i := bytes.IndexByte(c.in[c.r:c.w], '\n'); i >= 0 {
			line := c.in[c.r : c.r+i]
			c.r += i + 1
			return bytes.TrimSuffix(line, []byte{'\r'}), nil
		}
		if c.w-c.r > maxCommand {
			return nil, fmt.Errorf("a command of %d bytes", c.w-c.r)
		}
		if err := c.readMore(); err != nil {
			return nil, err
		}
	}
}

// parsePath parses the <address> in the argument of MAIL or RCPT, and returns it with the parameters after it.
func parsePath(arg []byte, prefix string) (addr string, params []byte, ok bool) {
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
