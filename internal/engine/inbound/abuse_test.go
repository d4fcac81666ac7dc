package inbound_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/smtp"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/engine/inbound"
	"github.com/packetboat/packetboat/internal/engine/inbound/inboundtest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// conversation is an SMTP connection on which a test writes bytes as it likes.
type conversation struct {
	t *testing.T
	net.Conn
	r *bufio.Reader
}

func converse(t *testing.T, c net.Conn) *conversation {
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return &conversation{t, c, bufio.NewReader(c)}
}

func (c *conversation) say(text string) {
	c.t.Helper()
	if _, err := c.Write([]byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

// hear reads one reply, and fails unless it begins with code.
func (c *conversation) hear(code string) {
	c.t.Helper()
	for {
		line, err := c.r.ReadString('\n')
		if err != nil || !strings.HasPrefix(line, code) {
			c.t.Fatalf("reply %q, %v; want %s", line, err, code)
		}
		if line[3] == ' ' {
			return
		}
	}
}

func (f *fixture) unchanged() {
	f.t.Helper()
	f.Follow()
	if m, c := f.Message(0), f.Contact(0); m.State != outbox.Delivered || c.Status != contact.Active {
		f.t.Errorf("message %s, contact %s", m.State, c.Status)
	}
}

// A dot between line ends that are not CRLF does not end a message, so the rest is not a second one
// with an envelope of the writer's choice.
func TestMessagesCannotBeSmuggled(t *testing.T) {
	t.Parallel()
	f := setUp(t, dbtest.One(t), 1)
	inside := "MAIL FROM:<>\r\nRCPT TO:<" + f.ReturnPath(0) + ">\r\nDATA\r\n" + inboundtest.Failure(f.People[0].Email, "550 5.1.1 no such user")
	for _, end := range []string{"\n.\n", "\n.\r\n", "\r.\r", "\r\n.\n", "\r\n.\r", "\n.\r", "\r.\n", "\x00\n.\n"} {
		c, err := net.Dial("tcp", f.Address)
		if err != nil {
			t.Fatal(err)
		}
		conv := converse(t, c)
		conv.hear("220")
		conv.say("EHLO x.example\r\n")
		conv.hear("250")
		conv.say("MAIL FROM:<>\r\n")
		conv.hear("250")
		conv.say("RCPT TO:<postmaster@mx.y.example>\r\n")
		conv.hear("250")
		conv.say("DATA\r\n")
		conv.hear("354")
		conv.say("Subject: x\r\n\r\nx" + end + inside + "\r\n.\r\n")
		conv.hear("250") // for all of it
		conv.say("QUIT\r\n")
		conv.hear("221")
	}
	f.unchanged()
}

// What a stranger inserts before the encryption begins is not processed after it.
func TestCommandsBeforeTLSAreDropped(t *testing.T) {
	t.Parallel()
	f := setUp(t, dbtest.One(t), 1)
	address := serveTLS(t, f.Receiver)
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	conv := converse(t, c)
	conv.hear("220")
	conv.say("EHLO x.example\r\n")
	conv.hear("250")
	conv.say("STARTTLS\r\nEHLO evil.example\r\nMAIL FROM:<>\r\nRCPT TO:<" + f.ReturnPath(0) + ">\r\n")
	conv.hear("220")
	if conv.r.Buffered() > 0 {
		t.Error("the server answered commands that it got before the handshake")
	}
	secured := tls.Client(c, &tls.Config{InsecureSkipVerify: true})
	if err := secured.Handshake(); err != nil {
		return // the inserted bytes were taken for a handshake: the connection is of no use
	}
	after := converse(t, secured)
	after.say("DATA\r\n")
	after.hear("50") // no sender and no recipient are known
}

// serveTLS starts a server with STARTTLS, and returns its address.
func serveTLS(t *testing.T, r *inbound.Receiver) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"mx.y.example"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	run, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	s := &inbound.Server{Receiver: r, Log: slog.New(slog.DiscardHandler), TLS: &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}}
	go func() { ended <- s.Serve(run, l) }()
	t.Cleanup(func() { stop(); <-ended })
	return l.Addr().String()
}

// Who asks for many unknown recipients is refused on new connections, too, until some time has passed.
func TestGuessesAreLimitedAcrossConnections(t *testing.T) {
	t.Parallel()
	f := setUp(t, dbtest.One(t), 1)
	refused := false
	for i := 0; i < 30 && !refused; i++ {
		c, err := smtp.Dial(f.Address)
		if err != nil {
			refused = strings.Contains(err.Error(), "unknown recipients")
			break
		}
		if err := c.Mail(""); err != nil {
			t.Fatal(err)
		}
		for j := range 10 {
			_ = c.Rcpt(fmt.Sprintf("b.guess%d@%s", 10*i+j, f.Host()))
		}
		_ = c.Close()
	}
	if !refused {
		t.Error("300 guesses were answered")
	}
	f.unchanged()
}

// A token is accepted in any case, for 60 days, for one use and from the right host; nothing else is.
func TestReportsNeedTheirToken(t *testing.T) {
	t.Parallel()
	f := setUp(t, dbtest.One(t), 1)
	report := inboundtest.Failure(f.People[0].Email, "550 5.1.1 no such user")
	token := string(f.Keys.ReturnPath(f.Messages[0].ID, broadcasttest.Now))
	for i := range len(token) { // each character counts
		changed := []byte(token)
		if changed[i]++; changed[i] > 'z' || changed[i] == ':' {
			changed[i] = 'a'
		}
		if string(changed) == token {
			continue
		}
		if target, err := f.Receiver.Resolve(t.Context(), "b."+string(changed)+"@"+f.Host()); err == nil {
			if err := f.Receiver.Receive(t.Context(), target, []byte(report)); err != nil {
				t.Fatal(err)
			}
		}
	}
	unsubscribe := string(f.Keys.UnsubscribeAddress(f.Messages[0].ID, broadcasttest.Now))
	if _, err := f.Receiver.Resolve(t.Context(), "b."+unsubscribe+"@"+f.Host()); err == nil {
		t.Error("a token for another use was accepted")
	}
	f.unchanged()
	if code := f.Deliver(strings.ToUpper("b."+token)+"@"+f.Host(), report); code != 250 {
		t.Errorf("the token in upper case: %d", code)
	}
	f.Follow()
	if c := f.Contact(0); c.Status != contact.Bounced {
		t.Errorf("after the report with its token: %s", c.Status)
	}
}
