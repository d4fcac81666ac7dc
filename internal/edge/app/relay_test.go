package app_test

import (
	"bytes"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/packetboat/packetboat/internal/edge/app"
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
	relay, err := app.ParseRelay("smtp://127.0.0.1:" + strconv.Itoa(l.Addr().(*net.TCPAddr).Port) + "?tls=none&from=accounts@example.org")
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
	if err := relay.Mail(t.Context(), "refused@example.org", "x", "x"); err == nil || !strings.Contains(err.Error(), "550 5.1.1") {
		t.Errorf("a refused mail: %v, want the relay's words", err)
	}
}
