package smtpclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/packetboat/packetboat/internal/mail/reply"
)

// ErrClosed reports a message for a connection that is no longer usable.
var ErrClosed = errors.New("the connection cannot send any more")

const (
	block          = 64 << 10  // bytes written under one deadline
	keepBody       = 256 << 10 // a larger buffer is not kept after its message
	finalReplyWait = 5 * time.Second
)

// Send tries to send one message, in CRLF lines, and returns the outcome. An error means that the
// message was not sent and that the server did not refuse it: the addresses or the message must not
// be sent (ErrBadAddress, ErrBareNewline), the connection was not usable (ErrClosed), or ctx ended
// before the final dot was written.
func (c *Conn) Send(ctx context.Context, env Envelope, raw []byte) (reply.Outcome, error) {
	none := reply.Outcome{Stage: reply.Mail, Remote: c.remote, TLS: c.tls}
	if err := env.check(); err != nil {
		return none, err
	}
	if err := c.setMessage(raw); err != nil {
		return none, err
	}
	defer c.clearBuffer()
	if !c.Usable() {
		return none, ErrClosed
	}
	if o, refused := c.refuseEarly(env); refused {
		return o, nil
	}
	if !c.watch.begin(ctx, c.raw) {
		return none, fmt.Errorf("send: %w", context.Cause(ctx))
	}
	c.sent++
	o, open := c.openMessage(env)
	if open {
		o, open = c.writeMessage()
	}
	if open {
		return c.awaitResult(), nil
	}
	if !c.watch.end() {
		c.broken = true
	}
	if o.Code == 0 && ctx.Err() != nil {
		c.broken = true
		c.Close()
		return o, fmt.Errorf("send: %w", context.Cause(ctx))
	}
	if c.broken {
		c.Close()
	}
	return o, nil
}

// refuseEarly returns the outcome of a message that exceeds the limits announced by the server.
func (c *Conn) refuseEarly(env Envelope) (reply.Outcome, bool) {
	o := reply.Outcome{Stage: reply.Mail, Remote: c.remote, TLS: c.tls}
	switch {
	case c.ext.size > 0 && c.size > c.ext.size:
		o.Code, o.Enhanced = 552, "5.3.4"
		o.Text = fmt.Sprintf("the message is larger than the %d bytes the server takes", c.ext.size)
	case !c.ext.utf8 && env.international():
		o.Stage, o.Code, o.Enhanced = reply.Rcpt, 553, "5.6.7"
		o.Text = "the server takes no addresses beyond ASCII"
	default:
		return o, false
	}
	return o, true
}

// openMessage sends MAIL, RCPT and DATA. It returns true after a 354 reply, otherwise the outcome.
func (c *Conn) openMessage(env Envelope) (reply.Outcome, bool) {
	mail := c.cmd[:0]
	resets := 0
	if c.reset {
		mail = append(mail, "RSET\r\n"...)
		resets, c.reset = 1, false
	}
	mail = append(append(append(mail, "MAIL FROM:<"...), env.From...), '>')
	if c.ext.size > 0 {
		mail = strconv.AppendInt(append(mail, " SIZE="...), int64(c.size), 10)
	}
	if env.international() {
		mail = append(mail, " SMTPUTF8"...)
	}
	n := len(mail) + len("\r\n")
	all := append(append(append(mail, "\r\nRCPT TO:<"...), env.To...), ">\r\n"...)
	rcpt := len(all)
	all = append(all, "DATA\r\n"...)
	c.cmd = all
	if c.ext.pipelining {
		return c.openPipelined(all, resets)
	}
	if resets > 0 {
		if o, ok := c.sendCommand(reply.Mail, all[:len("RSET\r\n")], 2, c.timeout.Mail); !ok {
			c.broken = true // the server may still wait for the message of the old transaction
			return o, false
		}
		all, n, rcpt = all[len("RSET\r\n"):], n-len("RSET\r\n"), rcpt-len("RSET\r\n")
	}
	if o, ok := c.sendCommand(reply.Mail, all[:n], 2, c.timeout.Mail); !ok {
		return o, false
	}
	c.reset = true
	if o, ok := c.sendCommand(reply.Rcpt, all[n:rcpt], 2, c.timeout.Mail); !ok {
		return o, false
	}
	o, ok := c.sendCommand(reply.Data, all[rcpt:], 3, c.timeout.Data)
	c.reset = !ok
	return o, ok
}

// openPipelined sends MAIL, RCPT and DATA in one write and then reads the replies. The first refusal is
// the outcome, but all replies must be read. If the server nevertheless sends 354, the message is a
// lone dot, which has no recipients (RFC 2920 section 3.1).
func (c *Conn) openPipelined(commands []byte, resets int) (reply.Outcome, bool) {
	if err := c.write(commands, c.timeout.Mail); err != nil {
		return c.readFinalReply(reply.Mail, err), false
	}
	if resets > 0 {
		if o, ok := c.readReply(reply.Mail, 2, c.timeout.Mail); !ok {
			c.broken = true // the other replies are not read
			return o, false
		}
	}
	first, ok := c.readReply(reply.Mail, 2, c.timeout.Mail)
	c.reset = ok
	if c.broken {
		return first, false
	}
	o, rcptOK := c.readReply(reply.Rcpt, 2, c.timeout.Mail)
	if ok && !rcptOK {
		first, ok = o, false
	}
	if c.broken {
		return first, false
	}
	o, dataOK := c.readReply(reply.Data, 3, c.timeout.Data)
	switch {
	case ok && !dataOK:
		return o, false
	case !ok && dataOK:
		if _, took := c.sendCommand(reply.Dot, []byte(terminator), 2, c.timeout.Data); took {
			c.reset = false
		}
		return first, false
	}
	c.reset = c.reset && !dataOK
	return first, ok
}

// sendCommand sends one command and reads the reply.
func (c *Conn) sendCommand(stage reply.Stage, command []byte, class int, within time.Duration) (reply.Outcome, bool) {
	if err := c.write(command, within); err != nil {
		return c.readFinalReply(stage, err), false
	}
	return c.readReply(stage, class, within)
}

// readReply reads a reply and reports whether it is of the given class; if so, there is no outcome yet.
// After a reply that does not fit, and after 421, which announces the end, the connection is broken.
func (c *Conn) readReply(stage reply.Stage, class int, within time.Duration) (reply.Outcome, bool) {
	if err := c.read(within); err != nil {
		c.broken = true
		return c.failure(stage, err), false
	}
	if c.rep.Code == 421 {
		c.broken = true
	}
	switch c.rep.Code / 100 {
	case class:
		return reply.Outcome{}, true
	case 4, 5:
		return c.outcome(stage), false
	}
	c.broken = true
	return c.failure(stage, errOutOfStep{c.rep.Code}), false
}

// setMessage sets the message to be written. It is copied only if it has to be changed, or cannot be
// written together with what follows it.
func (c *Conn) setMessage(raw []byte) error {
	asIs, err := isDotReady(raw)
	if err != nil {
		return err
	}
	if _, joins := c.nc.(*net.TCPConn); asIs && joins {
		c.dot = append(c.dot[:0], terminator...)
		c.message, c.last, c.size = raw, c.dot, len(raw)
		return nil
	}
	c.body = dotStuff(c.body[:0], raw)
	c.size = len(c.body)
	c.body = append(c.body, terminator...)
	c.message, c.last = c.body, nil
	return nil
}

// clearBuffer drops the message.
func (c *Conn) clearBuffer() {
	c.message = nil
	if cap(c.body) > keepBody {
		c.body = nil
	}
}

// writeMessage writes the message and reports whether all of it was written, with the final dot. The
// context is ignored from just before the last part on.
func (c *Conn) writeMessage() (reply.Outcome, bool) {
	rest := c.message
	for {
		var after []byte
		part := rest[:min(len(rest), block)]
		rest = rest[len(part):]
		if len(rest) == 0 {
			if after = c.last; !c.watch.end() {
				c.broken = true
				return c.failure(reply.Data, context.Canceled), false
			}
		}
		// After an error that part was not written completely, so the server cannot have received the
		// final dot.
		if err := c.writeBoth(part, after, c.timeout.Block); err != nil {
			return c.readFinalReply(reply.Data, err), false
		}
		if len(rest) == 0 {
			return reply.Outcome{}, true
		}
	}
}

// readFinalReply returns the outcome of a connection that broke during a write. A server that closes
// the connection often sends the reason first.
func (c *Conn) readFinalReply(stage reply.Stage, err error) reply.Outcome {
	c.broken = true
	if c.read(finalReplyWait) == nil && c.rep.Code >= 400 {
		return c.outcome(stage)
	}
	return c.failure(stage, err)
}

// awaitResult waits for the answer to the message. If there is none, or one that is neither positive nor
// negative, the outcome is uncertain.
func (c *Conn) awaitResult() reply.Outcome {
	o, ok := c.readReply(reply.Dot, 2, c.timeout.Dot)
	if ok {
		o = c.outcome(reply.Dot)
	}
	o.Uncertain = o.Code == 0
	if c.broken {
		c.Close()
	}
	return o
}
