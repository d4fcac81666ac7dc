package inbound

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/packetboat/packetboat/internal/mail/dsn"
)

// Limits of the server.
const (
	maxConnections = 1000
	maxPerAddress  = 50  // connections of one IP address; of one /64 network with IPv6
	maxMistakes    = 10  // refused recipients of one connection
	maxReading     = 64  // messages that are read at a time
	maxRecipients  = 20  // of one message
	maxHops        = 100 // Received fields (RFC 5321 section 6.3)
	commandTimeout = 2 * time.Minute
	sessionTimeout = 10 * time.Minute // of one connection, whatever it sends
)

// Server accepts mail that comes back by SMTP.
type Server struct {
	Receiver *Receiver
	Log      *slog.Logger
	TLS      *tls.Config // nil: STARTTLS is not offered

	reading chan struct{}
}

// Serve accepts connections until ctx ends, then lets sessions finish for a short time.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	s.reading = make(chan struct{}, maxReading)
	host := s.Receiver.Host
	if host == "" {
		host = "localhost"
	}
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return &session{ctx: ctx, server: s, conn: c}, nil
	}))
	server.Domain, server.TLSConfig = host, s.TLS
	server.MaxMessageBytes, server.MaxRecipients = dsn.MaxSize, maxRecipients
	server.ReadTimeout, server.WriteTimeout = commandTimeout, commandTimeout
	server.EnableSMTPUTF8 = true
	server.ErrorLog = discard{}
	served := make(chan error, 1)
	go func() { served <- server.Serve(newLimited(l, s.Receiver.Now)) }()
	select {
	case err := <-served:
		if ctx.Err() == nil {
			return err
		}
	case <-ctx.Done():
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if server.Shutdown(grace) != nil {
			_ = server.Close()
		}
		_ = l.Close() // which they do not close if ctx ended before the server knew it
		<-served
	}
	return nil
}

// discard drops the log of protocol errors, which strangers cause.
type discard struct{}

func (discard) Printf(string, ...any) {}
func (discard) Println(...any)        {}

// session is one connection.
type session struct {
	ctx      context.Context
	server   *Server
	conn     *smtp.Conn
	targets  []Target
	mistakes int
}

func (s *session) Reset()        { s.targets = nil }
func (s *session) Logout() error { return nil }

// Mail accepts any sender. Reports should come from the null sender (RFC 5321 section 4.5.5), but
// some do not; the envelope recipient is what proves them.
func (s *session) Mail(string, *smtp.MailOptions) error { return nil }

// Rcpt accepts the addresses of a Receiver.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if s.mistakes >= maxMistakes {
		s.closeSoon()
		return &smtp.SMTPError{Code: 421, EnhancedCode: smtp.EnhancedCode{4, 7, 0}, Message: "Too many unknown recipients"}
	}
	t, err := s.server.Receiver.Resolve(s.ctx, to)
	switch {
	case errors.Is(err, ErrExpired):
		s.mistakes++
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 6}, Message: "This address has expired"}
	case errors.Is(err, ErrNoMailbox):
		s.mistakes++
		s.countGuess()
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "No such mailbox here"}
	case err != nil:
		s.server.Log.Error("resolve recipient of inbound mail failed", "err", err)
		return errLater
	}
	s.targets = append(s.targets, t)
	return nil
}

// countGuess counts an unknown recipient for the client's network, beyond this connection.
func (s *session) countGuess() {
	c := s.conn.Conn()
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if counted, ok := c.(*countedConn); ok {
		counted.limited.guess(counted.from)
	}
}

// closeSoon closes the connection after the next reply.
func (s *session) closeSoon() { _ = s.conn.Conn().SetReadDeadline(time.Now().Add(time.Second)) }

var errLater = &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "Please try again later"}

// Data processes a message. The positive answer is given after the effects are durable.
func (s *session) Data(r io.Reader) error {
	select {
	case s.server.reading <- struct{}{}:
		defer func() { <-s.server.reading }()
	case <-s.ctx.Done():
		return errLater
	}
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if hops(raw) > maxHops {
		return &smtp.SMTPError{Code: 554, EnhancedCode: smtp.EnhancedCode{5, 4, 6}, Message: "Too many hops"}
	}
	for _, t := range s.targets {
		switch err := s.server.Receiver.Receive(s.ctx, t, raw); {
		case err == nil:
		case errors.Is(err, ErrUnsettled):
			return errLater
		default:
			if s.ctx.Err() == nil {
				s.server.Log.Error("record inbound mail failed", "err", err)
			}
			return errLater
		}
	}
	return nil
}

// hops returns the number of Received fields of a header.
func hops(raw []byte) int {
	if i := bytes.Index(raw, []byte("\r\n\r\n")); i >= 0 {
		raw = raw[:i]
	}
	return strings.Count(strings.ToLower(string(raw)), "\nreceived:")
}
