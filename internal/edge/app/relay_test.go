package app_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/edge/app"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
)

// caught is a relay that stores what it receives.
type caught struct{ mail bytes.Buffer }

func (c *caught) NewSession(*smtp.Conn) (smtp.Session, error) { return c, nil }
func (c *caught) Reset()                                      {}
func (c *caught) Logout() error                               { return nil }
func (c *caught) Mail(from string, _ *smtp.MailOptions) error {
	c.mail.WriteString("MAIL " + from + "\n")
	return nil
}
func (c *caught) Rcpt(to string, _ *smtp.RcptOptions) error {
	if strings.HasPrefix(to, "refused@") {
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such user"}
	}
	c.mail.WriteString("RCPT " + to + "\n")
	return nil
}
func (c *caught) Data(r io.Reader) error {
	_, err := c.mail.ReadFrom(r)
	return err
}

func TestSystemMailGoesOverTheRelay(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &caught{}
	server := smtp.NewServer(c)
	server.Domain = "relay.example.org"
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	// A relay on a loopback host need not offer STARTTLS.
	relay, err := app.ParseRelay("smtp://127.0.0.1:" + strconv.Itoa(l.Addr().(*net.TCPAddr).Port) + "?from=accounts@example.org")
	if err != nil {
		t.Fatal(err)
	}
	relay.Client.Timeouts.Quit = time.Second
	if err := relay.Mail(t.Context(), "ann@example.org", "Your link", "Hello,\n\nhttp://x/reset?token=abc\n"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"MAIL accounts@example.org", "RCPT ann@example.org", "Subject: Your link", "Auto-Submitted: auto-generated", "token=3Dabc"} {
		if !strings.Contains(c.mail.String(), want) {
			t.Errorf("the relay got no %q in\n%s", want, c.mail.String())
		}
	}
	var refused *auth.MailRefusal
	if err := relay.Mail(t.Context(), "refused@example.org", "x", "x"); !errors.As(err, &refused) || !strings.Contains(refused.Reply, "550 5.1.1") {
		t.Errorf("a refused mail: %v, want the relay's words", err)
	}
}

func TestOnlyARelayOnThisMachineMayGoWithoutTLS(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]smtpclient.TLSMode{
		"smtp://localhost:25?from=a@example.org":                   smtpclient.Opportunistic,
		"smtp://u:p@127.0.0.1?from=a@example.org":                  smtpclient.Opportunistic,
		"smtp://[::1]?from=a@example.org":                          smtpclient.Opportunistic,
		"smtps://localhost?from=a@example.org":                     smtpclient.Implicit,
		"smtp://localhost?tls=none&from=a@example.org":             smtpclient.None,
		"smtp://relay.example.org?from=a@example.org":              smtpclient.StartTLS,
		"smtp://10.0.0.5?from=a@example.org":                       smtpclient.StartTLS,
		"smtp://localhost.relay.example.org:25?from=a@example.org": smtpclient.StartTLS,
	} {
		r, err := app.ParseRelay(text)
		if err != nil || r.Client.TLS != want || r.Client.Check() != nil {
			t.Errorf("%s: %+v, %v; want TLS %s", text, r, err, want)
		}
	}
}
