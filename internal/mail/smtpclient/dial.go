package smtpclient

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/mail/reply"
)

// ErrNoSTARTTLS is the cause of a DialError if the server must encrypt and offers no STARTTLS.
var ErrNoSTARTTLS = errors.New("the server does not offer STARTTLS")

// DialError is the failure of a connection, with the stage that it reached. Its outcome is always of
// class lane.
type DialError struct {
	Outcome reply.Outcome
	Err     error // nil if the server sent a refusal
}

// Error returns the stage and the text.
func (e *DialError) Error() string {
	return "smtp " + string(e.Outcome.Stage) + ": " + e.Outcome.String()
}

// Unwrap returns the cause, if it is not a reply.
func (e *DialError) Unwrap() error { return e.Err }

// extensions are the extensions that the server offered in reply to EHLO.
type extensions struct {
	pipelining bool
	startTLS   bool
	utf8       bool     // SMTPUTF8
	size       int      // largest message; 0 if not given
	mailMax    int      // messages per connection; 0 if not given
	auth       []string // mechanisms, upper case
}

// Dial connects to the server, encrypts and logs in as configured, and returns a connection that is
// ready to send. A failure of the server or the network is a *DialError; if ctx ends first, the error
// wraps its cause.
func Dial(ctx context.Context, cfg Config) (*Conn, error) {
	if err := cfg.Check(); err != nil {
		return nil, fmt.Errorf("smtp configuration: %w", err)
	}
	t := cfg.Timeouts.withDefaults()
	dial := cfg.Dial
	if dial == nil {
		dial = (&net.Dialer{Control: cfg.Guard.Control}).DialContext
	}
	within, cancel := context.WithTimeout(ctx, t.Connect)
	nc, err := dial(within, "tcp", cfg.address())
	cancel()
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("smtp dial: %w", context.Cause(ctx))
		}
		return nil, &DialError{reply.Outcome{Stage: reply.Connect, Text: networkErrorText(err)}, err}
	}
	c := &Conn{raw: nc, nc: nc, br: reply.NewReader(nc), timeout: t, remote: nc.RemoteAddr().String()}
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	err = c.greet(ctx, cfg)
	if !stop() {
		nc.Close()
		return nil, fmt.Errorf("smtp dial: %w", context.Cause(ctx))
	}
	if err != nil {
		// A server that sent a refusal still expects QUIT.
		if de, ok := errors.AsType[*DialError](err); ok && de.Err == nil && de.Outcome.Code != 421 {
			c.Quit()
		}
		nc.Close()
		return nil, err
	}
	return c, nil
}

// greet performs all steps before the first MAIL.
func (c *Conn) greet(ctx context.Context, cfg Config) error {
	if cfg.TLS == Implicit {
		if err := c.encrypt(ctx, cfg); err != nil {
			return err
		}
	}
	if err := c.expectReply(reply.Connect, 220, c.read(c.timeout.Banner)); err != nil {
		return err
	}
	name := cfg.HELO
	if name == "" {
		name = addressLiteral(c.raw.LocalAddr())
	}
	if err := c.hello(name); err != nil {
		return err
	}
	if cfg.TLS == StartTLS || cfg.TLS == Required || cfg.TLS == Opportunistic && c.ext.startTLS {
		if err := c.startTLS(ctx, cfg, name); err != nil {
			return err
		}
	}
	if cfg.Auth == "" || cfg.Auth == AuthNone {
		return nil
	}
	return c.login(cfg)
}

// hello sends EHLO and reads the extensions. A server that rejects EHLO is sent HELO, and has no
// extensions.
func (c *Conn) hello(name string) error {
	c.ext = extensions{}
	err := c.command("EHLO "+name, c.timeout.Command)
	if err == nil && c.rep.Code/100 == 5 {
		return c.expectReply(reply.Connect, 250, c.command("HELO "+name, c.timeout.Command))
	}
	if err := c.expectReply(reply.Connect, 250, err); err != nil {
		return err
	}
	c.ext = parseExtensions(&c.rep)
	return nil
}

func parseExtensions(r *reply.Reply) extensions {
	var ext extensions
	first := true
	for line := range r.Lines {
		if first { // the server's name and greeting
			first = false
			continue
		}
		// Old servers write AUTH=LOGIN for AUTH LOGIN.
		words := strings.Fields(strings.ToUpper(string(bytes.Replace(line, []byte("="), []byte(" "), 1))))
		if len(words) == 0 {
			continue
		}
		switch args := words[1:]; words[0] {
		case "PIPELINING":
			ext.pipelining = true
		case "STARTTLS":
			ext.startTLS = true
		case "SMTPUTF8":
			ext.utf8 = true
		case "SIZE":
			if len(args) > 0 {
				ext.size = number(args[0])
			}
		case "AUTH":
			ext.auth = append(ext.auth, args...)
		case "LIMITS":
			// The first = was replaced by a space; MAILMAX may follow a later one.
			for i, a := range args {
				if a == "MAILMAX" && i+1 < len(args) {
					ext.mailMax = number(args[i+1])
				} else if v, ok := strings.CutPrefix(a, "MAILMAX="); ok {
					ext.mailMax = number(v)
				}
			}
		}
	}
	return ext
}

// number returns a positive decimal number, or 0.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// startTLS encrypts a connection and begins the conversation again. Nothing received before is kept
// (RFC 3207 section 4.2).
func (c *Conn) startTLS(ctx context.Context, cfg Config, name string) error {
	if !c.ext.startTLS {
		return &DialError{c.failure(reply.TLS, ErrNoSTARTTLS), ErrNoSTARTTLS}
	}
	if err := c.expectReply(reply.TLS, 220, c.command("STARTTLS", c.timeout.Command)); err != nil {
		return err
	}
	if c.br.Buffered() > 0 {
		err := errors.New("the server spoke in clear after STARTTLS")
		return &DialError{c.failure(reply.TLS, err), err}
	}
	if err := c.encrypt(ctx, cfg); err != nil {
		return err
	}
	return c.hello(name)
}

// encrypt performs the handshake and verifies the server's certificate, if the mode requires a valid
// one.
func (c *Conn) encrypt(ctx context.Context, cfg Config) error {
	tc := tls.Client(c.raw, &tls.Config{
		ServerName: strings.TrimSuffix(strings.Trim(cfg.Host, "[]"), "."),
		MinVersion: tls.VersionTLS12,
		RootCAs:    cfg.RootCAs,

		InsecureSkipVerify: !cfg.encrypted(), // Opportunistic and Required
		VerifyConnection:   cfg.Verify,
	})
	err := c.raw.SetDeadline(time.Now().Add(c.timeout.Command))
	if err == nil {
		err = tc.HandshakeContext(ctx)
	}
	if err != nil {
		return &DialError{c.failure(reply.TLS, err), err}
	}
	c.nc, c.tls = tc, true
	c.br.Reset(tc)
	return nil
}

// expectReply returns a DialError unless the reply is of the class of code.
func (c *Conn) expectReply(stage reply.Stage, code int, err error) error {
	switch {
	case err != nil:
		c.broken = true
		return &DialError{c.failure(stage, err), err}
	case c.rep.Code/100 == code/100:
		return nil
	case c.rep.Code/100 < 4:
		err := errOutOfStep{c.rep.Code}
		return &DialError{c.failure(stage, err), err}
	}
	return &DialError{Outcome: c.outcome(stage)}
}

// addressLiteral returns our address as a literal (RFC 5321 section 4.1.3), which hosts without a
// name use.
func addressLiteral(local net.Addr) string {
	ap, err := netip.ParseAddrPort(local.String())
	if err != nil {
		return "[127.0.0.1]"
	}
	ip := ap.Addr().Unmap().WithZone("")
	if ip.Is4() {
		return "[" + ip.String() + "]"
	}
	return "[IPv6:" + ip.String() + "]"
}
