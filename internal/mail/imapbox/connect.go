package imapbox

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
)

// Config is a mailbox and a login.
type Config struct {
	Host     string // name or address; also the name in its certificate
	Port     int
	TLS      smtpclient.TLSMode // None, StartTLS or Implicit
	Username string
	Password string
	Guard    netguard.Guard
	RootCAs  *x509.CertPool // nil: the system's
}

// Limits of a session.
const (
	stepTimeout   = 30 * time.Second // connecting with login, and each page
	logoutTimeout = 2 * time.Second
	overhead      = 256 << 10 // bytes of a page besides the messages
	maxProblem    = 300       // characters of an error
)

// Box is an open mailbox. It is used by one goroutine.
type Box struct {
	config   Config
	wire     *wire
	total    uint32 // messages when it was opened
	validity uint32
	next     uint32 // sequence number of the next message; 0: not sought yet
}

// Problem is an error that can be shown to the owner of the mailbox: it says what failed, and what
// the server answered, without the password.
type Problem struct {
	Step string
	Text string
	Err  error
}

func (p *Problem) Error() string { return p.Step + ": " + p.Text }

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Err }

// problem returns an error of a step.
func (c Config) problem(step string, err error) error {
	if err == nil {
		return nil
	}
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	text := err.Error()
	look, unknown := errors.AsType[*net.DNSError](err)
	dial, failed := errors.AsType[*net.OpError](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		text = "the server did not answer in time"
	case unknown:
		text = look.Err
	case failed:
		text = dial.Err.Error()
	}
	if len(c.Password) > 3 { // some servers repeat the command
		text = strings.ReplaceAll(text, c.Password, "…")
	}
	text, _, _ = strings.Cut(text, "\n")
	runes := []rune(reply.Clean(text))
	return &Problem{Step: step, Text: string(runes[:min(len(runes), maxProblem)]), Err: err}
}

// Open connects, logs in, and opens INBOX.
func Open(ctx context.Context, c Config) (*Box, error) {
	if c.TLS != smtpclient.Implicit && c.TLS != smtpclient.StartTLS && !netguard.IsLoopback(c.Host) {
		return nil, &Problem{Step: "log in", Text: "a login needs TLS, except at a loopback host"}
	}
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	dialer := net.Dialer{Control: c.Guard.Control}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(strings.Trim(c.Host, "[]"), strconv.Itoa(c.Port)))
	if err != nil {
		return nil, c.problem("connect", err)
	}
	b := &Box{config: c, wire: newWire(conn)}
	if err := b.within(ctx, func() error { return b.begin(ctx) }); err != nil {
		_ = b.wire.Close()
		return nil, err
	}
	return b, nil
}

// within calls f, which fails when ctx ends.
func (b *Box) within(ctx context.Context, f func() error) error {
	w := b.wire
	if end, ok := ctx.Deadline(); ok {
		w.until(end)
	}
	stop := context.AfterFunc(ctx, func() { w.until(time.Unix(1, 0)) })
	defer stop()
	w.allow(overhead)
	return f()
}

// begin encrypts the connection as the configuration says, logs in and opens the mailbox.
func (b *Box) begin(ctx context.Context) error {
	c := b.config
	if c.TLS == smtpclient.Implicit {
		if err := b.encrypt(ctx); err != nil {
			return c.problem("TLS handshake", err)
		}
	}
	greeting, err := b.wire.line()
	switch {
	case err != nil:
		return c.problem("connect", err)
	case strings.HasPrefix(greeting, "* PREAUTH") && c.TLS != smtpclient.StartTLS:
		return b.examine()
	case !strings.HasPrefix(greeting, "* OK"):
		return c.problem("connect", errors.New("the server greets with "+greeting))
	}
	if c.TLS == smtpclient.StartTLS {
		err := b.wire.do("STARTTLS", nil, nil)
		if err == nil && b.wire.in.Buffered() > 0 {
			err = errors.New("the server spoke in clear after STARTTLS")
		}
		if err == nil {
			err = b.encrypt(ctx)
		}
		if err != nil {
			return c.problem("STARTTLS", err)
		}
	}
	if err := b.login(); err != nil {
		return c.problem("log in", err)
	}
	return b.examine()
}

// encrypt performs a TLS handshake, and verifies the certificate of the server.
func (b *Box) encrypt(ctx context.Context) error {
	conn := tls.Client(b.wire.Conn, &tls.Config{
		ServerName: strings.TrimSuffix(strings.Trim(b.config.Host, "[]"), "."), MinVersion: tls.VersionTLS12, RootCAs: b.config.RootCAs,
	})
	if err := conn.HandshakeContext(ctx); err != nil {
		return err
	}
	tags := b.wire.tags
	b.wire = newWire(conn)
	b.wire.tags = tags
	b.wire.allow(overhead)
	return nil
}

// login uses SASL where the server offers PLAIN (RFC 4616), since it is defined for all characters, and
// LOGIN otherwise.
func (b *Box) login() error {
	plain := false
	err := b.wire.do("CAPABILITY", func(r response) error {
		for word := range strings.FieldsSeq(r.lines[0]) {
			plain = plain || strings.EqualFold(word, "AUTH=PLAIN")
		}
		return nil
	}, nil)
	if err != nil {
		return err
	}
	if plain {
		secret := base64.StdEncoding.EncodeToString([]byte("\x00" + b.config.Username + "\x00" + b.config.Password))
		return b.wire.do("AUTHENTICATE PLAIN", nil, func() string { return secret })
	}
	name, first := quoted(b.config.Username)
	password, second := quoted(b.config.Password)
	if !first || !second {
		return errors.New("the server accepts only ASCII in names and passwords")
	}
	return b.wire.do("LOGIN "+name+" "+password, nil, nil)
}

// examine opens INBOX read-only.
func (b *Box) examine() error {
	err := b.wire.do("EXAMINE INBOX", func(r response) error {
		words := strings.Fields(r.lines[0])
		for i, word := range words {
			switch {
			case i == 2 && strings.EqualFold(word, "EXISTS"):
				b.total, _ = number(words[1])
			case i > 0 && strings.EqualFold(words[i-1], "[UIDVALIDITY"):
				b.validity, _ = number(strings.TrimSuffix(word, "]"))
			}
		}
		return nil
	}, nil)
	if err == nil && b.validity == 0 {
		err = errors.New("the server gives no UIDVALIDITY, so that messages cannot be identified")
	}
	return b.config.problem("open INBOX", err)
}

// Close ends the session.
func (b *Box) Close() {
	b.wire.until(time.Now().Add(logoutTimeout))
	b.wire.allow(overhead)
	_ = b.wire.do("LOGOUT", nil, nil)
	_ = b.wire.Close()
}
