package smtpclient

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/packetboat/packetboat/internal/mail/reply"
)

// Conn is a connection to one server. It must not be used concurrently, except for Close.
type Conn struct {
	raw     net.Conn // TCP
	nc      net.Conn // raw, or TLS over it
	br      *bufio.Reader
	timeout Timeouts
	ext     extensions
	remote  string
	tls     bool

	rep    reply.Reply
	cmd    []byte // commands being written
	sent   int
	reset  bool // a transaction was left open: RSET before the next
	broken bool // nothing can be sent any more
	closed atomic.Bool

	message []byte // the message to write
	last    []byte // written after it
	size    int    // of the message without its final dot
	body    []byte // the copy of a message that had to be changed
	dot     []byte // the terminator
	parts   [2][]byte
	joined  net.Buffers

	watch  watch // of the context of the message being sent
	ending contextWatch
}

// Sent returns how many messages were attempted on the connection.
func (c *Conn) Sent() int { return c.sent }

// Remote returns the address and port of the server.
func (c *Conn) Remote() string { return c.remote }

// Reply returns the last reply of the server: after Dial, its answer to the login or, without one, to EHLO.
func (c *Conn) Reply() reply.Outcome { return c.outcome(reply.Auth) }

// TLS returns the state of TLS, or nil if the connection is not encrypted.
func (c *Conn) TLS() *tls.ConnectionState {
	tc, ok := c.nc.(*tls.Conn)
	if !ok {
		return nil
	}
	state := tc.ConnectionState()
	return &state
}

// Usable reports whether another message can be attempted: the connection is in a defined state and
// the server's limit of messages (RFC 9422) is not reached.
func (c *Conn) Usable() bool {
	return !c.broken && !c.closed.Load() && (c.ext.mailMax == 0 || c.sent < c.ext.mailMax)
}

// Stale reports whether o, the outcome of the last Send, is due to the connection, not to the
// message: the connection had been used before, and the server closed it before reading this message.
// The message can be sent on another connection at once.
func (c *Conn) Stale(o reply.Outcome) bool {
	return c.broken && c.sent > 1 && o.Stage == reply.Mail && (o.Code == 0 || o.Code == 421)
}

// Close closes the connection without QUIT. If Send is waiting for the final answer, the outcome of
// its message becomes uncertain.
func (c *Conn) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	c.watch.stop()
	c.ending.stop()
	return c.raw.Close()
}

// CloseWhen closes the connection when ctx ends, even in the middle of a message:
// Send itself ignores its context once the final dot is written. Calling it again
// with the same context costs nothing.
func (c *Conn) CloseWhen(ctx context.Context) {
	c.ending.watch(ctx, func() {
		if !c.closed.Swap(true) {
			c.watch.stop()
			c.raw.Close()
		}
	})
}

// Quit sends QUIT (RFC 5321, section 4.1.1.10) and closes the connection.
func (c *Conn) Quit() error {
	if !c.broken && !c.closed.Load() {
		if c.write([]byte("QUIT\r\n"), c.timeout.Quit) == nil {
			_ = c.read(c.timeout.Quit) // the answer does not matter
		}
	}
	c.broken = true
	return c.Close()
}

// Alive reports whether an idle connection is still open and has received nothing. A server that
// ended it has closed it or sent 421.
func (c *Conn) Alive() bool {
	if !c.Usable() || c.br.Buffered() > 0 {
		return false
	}
	if c.nc.SetReadDeadline(time.Now().Add(time.Millisecond)) != nil {
		return false
	}
	_, err := c.br.Peek(1)
	return errors.Is(err, os.ErrDeadlineExceeded)
}

// write writes b with a timeout.
func (c *Conn) write(b []byte, within time.Duration) error {
	if err := c.nc.SetWriteDeadline(time.Now().Add(within)); err != nil {
		return err
	}
	_, err := c.nc.Write(b)
	return err
}

// writeBoth is write for two parts, which are sent together.
func (c *Conn) writeBoth(b, after []byte, within time.Duration) error {
	if len(after) == 0 {
		return c.write(b, within)
	}
	if err := c.nc.SetWriteDeadline(time.Now().Add(within)); err != nil {
		return err
	}
	c.parts = [2][]byte{b, after}
	c.joined = c.parts[:]
	_, err := c.joined.WriteTo(c.nc)
	c.parts = [2][]byte{}
	return err
}

// read reads one reply into c.rep. A reply that is buffered already needs no deadline.
func (c *Conn) read(within time.Duration) error {
	if c.br.Buffered() == 0 {
		if err := c.nc.SetReadDeadline(time.Now().Add(within)); err != nil {
			return err
		}
	}
	return c.rep.Read(c.br)
}

// command sends one line and reads the reply to it.
func (c *Conn) command(line string, within time.Duration) error {
	if err := c.write(append(append(c.cmd[:0], line...), "\r\n"...), within); err != nil {
		return err
	}
	return c.read(within)
}

// outcome returns the outcome of the last reply.
func (c *Conn) outcome(stage reply.Stage) reply.Outcome {
	o := c.rep.Outcome(stage)
	o.Remote, o.TLS = c.remote, c.tls
	return o
}

// failure returns the outcome of a conversation that ended without a reply.
func (c *Conn) failure(stage reply.Stage, err error) reply.Outcome {
	return reply.Outcome{Stage: stage, Text: networkErrorText(err), Remote: c.remote, TLS: c.tls}
}

// errOutOfStep reports a reply that does not fit the command.
type errOutOfStep struct{ code int }

func (e errOutOfStep) Error() string {
	return fmt.Sprintf("the server answered %d where that makes no sense", e.code)
}

// networkErrorText returns the text of a network error without our addresses.
func networkErrorText(err error) string {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		if dns.IsNotFound {
			return "the host name has no address"
		}
		return "the host name could not be resolved"
	}
	if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() {
		return "the server did not answer in time"
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the server closed the connection"
	case errors.Is(err, net.ErrClosed):
		return "the connection was closed"
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	return reply.Clean(err.Error())
}
