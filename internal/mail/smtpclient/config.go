package smtpclient

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/netguard"
)

// TLSMode is when a connection is encrypted, and whether the certificate must be valid for
// Config.Host. TLS is at least 1.2.
type TLSMode string

// The modes, spelled as in the settings of a lane.
const (
	None     TLSMode = "none"
	StartTLS TLSMode = "starttls" // STARTTLS after EHLO, with a valid certificate; without it the connection fails
	Implicit TLSMode = "implicit" // TLS from the first byte, with a valid certificate
)

// The modes for the servers of recipients' domains, which often have certificates for other names.
// Any certificate is accepted; without one that is checked, encryption protects only from those who
// listen (RFC 7435). A login is never sent in these modes.
const (
	Opportunistic TLSMode = "opportunistic" // STARTTLS if the server offers it
	Required      TLSMode = "required"      // STARTTLS; without it the connection fails
)

// AuthMode is a way to log in.
type AuthMode string

// The ways, spelled as in the settings of a lane. AuthNone does not log in.
const (
	AuthNone    AuthMode = "none"
	AuthPlain   AuthMode = "plain"    // RFC 4616
	AuthLogin   AuthMode = "login"    // never standardised, widely supported
	AuthCRAMMD5 AuthMode = "cram_md5" // RFC 2195
)

// Timeouts bound the steps of a conversation. A zero field means the default.
type Timeouts struct {
	Connect time.Duration // TCP; default 30 s
	Banner  time.Duration // 60 s
	Command time.Duration // EHLO, STARTTLS with handshake, AUTH: 60 s
	Mail    time.Duration // MAIL and RCPT: 300 s
	Data    time.Duration // the answer to DATA: 120 s
	Block   time.Duration // writing 64 KB of a message: 180 s
	Dot     time.Duration // the answer to the message: 600 s (RFC 5321 section 4.5.3.2.6)
	Quit    time.Duration // 5 s
}

func (t Timeouts) withDefaults() Timeouts {
	return Timeouts{
		Connect: cmp.Or(t.Connect, 30*time.Second),
		Banner:  cmp.Or(t.Banner, time.Minute),
		Command: cmp.Or(t.Command, time.Minute),
		Mail:    cmp.Or(t.Mail, 5*time.Minute),
		Data:    cmp.Or(t.Data, 2*time.Minute),
		Block:   cmp.Or(t.Block, 3*time.Minute),
		Dot:     cmp.Or(t.Dot, 10*time.Minute),
		Quit:    cmp.Or(t.Quit, 5*time.Second),
	}
}

// Config describes how to reach a server. Empty modes mean none.
type Config struct {
	Host     string // name or address; also the name in its certificate
	Port     int
	TLS      TLSMode
	Auth     AuthMode
	Username string
	Password string
	HELO     string // our name in EHLO; default: our address as a literal
	Timeouts Timeouts
	// Guard decides which addresses may be connected to. The zero Guard refuses all addresses that
	// are not public.
	Guard netguard.Guard
	// Dial replaces the dialer, and with it the Guard; nil means TCP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// RootCAs replaces the system's certificate authorities if not nil.
	RootCAs *x509.CertPool
	// Verify checks the certificate in the modes Opportunistic and Required, which accept any without
	// it. If it returns an error, the handshake fails.
	Verify func(tls.ConnectionState) error
}

// Check returns the first error in c: a value that can never work or is not allowed, such as logging
// in without TLS, except to a loopback host.
func (c Config) Check() error {
	switch {
	case c.Host == "" || !plainWord(c.Host):
		return errors.New("the host is not a name or an address")
	case c.Port < 1 || c.Port > 65535:
		return errors.New("the port is not between 1 and 65535")
	case c.HELO != "" && !plainWord(c.HELO):
		return errors.New("the HELO name is not a name")
	case c.TLS != "" && c.TLS != None && c.TLS != StartTLS && c.TLS != Implicit && c.TLS != Opportunistic && c.TLS != Required:
		return fmt.Errorf("unknown TLS mode %q", string(c.TLS))
	}
	switch c.Auth {
	case "", AuthNone:
		return nil
	case AuthPlain, AuthLogin, AuthCRAMMD5:
	default:
		return fmt.Errorf("unknown auth mode %q", string(c.Auth))
	}
	switch {
	case c.Username == "" || strings.ContainsRune(c.Username+c.Password, 0):
		return errors.New("a login needs a user name, and no NUL in it or in the password")
	case !c.encrypted() && !netguard.IsLoopback(c.Host):
		return errors.New("a login without verified TLS goes to loopback hosts only")
	}
	return nil
}

func (c Config) encrypted() bool { return c.TLS == StartTLS || c.TLS == Implicit }

func (c Config) address() string {
	return net.JoinHostPort(strings.Trim(c.Host, "[]"), strconv.Itoa(c.Port))
}

// plainWord reports whether s may be part of a command: printable ASCII without spaces.
func plainWord(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return s != ""
}
