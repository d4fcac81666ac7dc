package imapbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/mail/imapbox"
	"github.com/packetboat/packetboat/internal/mail/imapbox/dovecottest"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
)

const maxSize = 1 << 20

func mailbox(s *dovecottest.Server, mode smtpclient.TLSMode) imapbox.Config {
	c := imapbox.Config{
		Host: "localhost", Port: s.Port, TLS: mode, Username: dovecottest.User, Password: dovecottest.Password,
		Guard: netguard.Guard{AllowPrivate: true}, RootCAs: s.Roots,
	}
	if mode == smtpclient.Implicit {
		c.Port = s.TLSPort
	}
	return c
}

// read reads all messages after a cursor in a session of its own.
func read(t *testing.T, c imapbox.Config, from imapbox.Cursor) ([]imapbox.Message, imapbox.Cursor) {
	t.Helper()
	b, err := imapbox.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	var list []imapbox.Message
	for {
		p, err := b.Next(t.Context(), from, maxSize, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		list, from = append(list, p.Messages...), p.After
		if !p.More {
			return list, from
		}
	}
}

func message(i int) string {
	return fmt.Sprintf("From: a@x.test\r\nSubject: %d\r\n\r\nText %d\r\n", i, i)
}

func TestMessagesAreReadOnceInOrder(t *testing.T) {
	t.Parallel()
	s := dovecottest.Start(t)
	c := mailbox(s, smtpclient.Implicit)
	list, at := read(t, c, imapbox.Cursor{})
	if len(list) != 0 || at.Validity == 0 {
		t.Fatalf("an empty mailbox has %d messages, cursor %+v", len(list), at)
	}
	const n = 75 // several pages
	for i := range n {
		s.Deliver(message(i))
	}
	list, at = read(t, c, at)
	if len(list) != n {
		t.Fatalf("%d messages, want %d", len(list), n)
	}
	seen := map[string]bool{}
	for i, m := range list {
		seen[string(m.Raw)] = true
		if i > 0 && m.UID <= list[i-1].UID {
			t.Errorf("UID %d follows %d", m.UID, list[i-1].UID)
		}
		if since := time.Since(m.At); since < -time.Minute || since > time.Hour {
			t.Errorf("message %d arrived at %s", i, m.At)
		}
	}
	for i := range n {
		if !seen[message(i)] {
			t.Errorf("message %d was not read", i)
		}
	}
	if list, again := read(t, c, at); len(list) != 0 || again != at {
		t.Errorf("read again: %d messages, cursor %+v, want %+v", len(list), again, at)
	}
	// From the middle, and with messages removed by another program.
	removed, err := filepath.Glob(filepath.Join(s.Maildir(), "*", "*.test*"))
	if err != nil || len(removed) != n {
		t.Fatalf("%d files, %v", len(removed), err)
	}
	for _, f := range removed[:40] {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	s.Deliver(message(n))
	if rest, end := read(t, c, at); len(rest) != 1 || string(rest[0].Raw) != message(n) || end.UID <= at.UID {
		t.Errorf("after removals: %d messages, cursor %+v", len(rest), end)
	}
	if all, _ := read(t, c, imapbox.Cursor{}); len(all) != n-40+1 {
		t.Errorf("from the beginning: %d messages, want %d", len(all), n-40+1)
	}
	// Nothing was marked or deleted.
	if marked, err := filepath.Glob(filepath.Join(s.Maildir(), "cur", "*:2,*[A-Z]*")); err != nil || len(marked) != 0 {
		t.Errorf("marked messages: %q, %v", marked, err)
	}
}

func TestAnotherUIDValidityBeginsAgain(t *testing.T) {
	t.Parallel()
	s := dovecottest.Start(t)
	c := mailbox(s, smtpclient.StartTLS)
	for i := range 3 {
		s.Deliver(message(i))
	}
	_, before := read(t, c, imapbox.Cursor{})
	s.Renumber()
	list, after := read(t, c, before)
	if len(list) != 3 || after.Validity == before.Validity {
		t.Errorf("%d messages, cursor %+v after %+v", len(list), after, before)
	}
}

func TestLargeMessagesAreCut(t *testing.T) {
	t.Parallel()
	s := dovecottest.Start(t)
	for i := range 6 { // more than a page together
		s.Deliver(message(i) + strings.Repeat(strings.Repeat("x", 70)+"\r\n", 3*maxSize/72))
	}
	s.Deliver(message(6))
	list, _ := read(t, mailbox(s, smtpclient.Implicit), imapbox.Cursor{})
	if len(list) != 7 {
		t.Fatalf("%d messages", len(list))
	}
	small := 0
	for _, m := range list {
		switch len(m.Raw) {
		case maxSize:
		case len(message(6)):
			small++
		default:
			t.Errorf("%d bytes", len(m.Raw))
		}
	}
	if small != 1 {
		t.Errorf("%d small messages", small)
	}
}

func TestOnlyAVerifiedServerGetsThePassword(t *testing.T) {
	t.Parallel()
	s := dovecottest.Start(t)
	for name, change := range map[string]func(*imapbox.Config){
		"clear, elsewhere":      func(c *imapbox.Config) { c.TLS, c.Host, c.Port = smtpclient.None, "imap.example.com", 1 },
		"unknown authority":     func(c *imapbox.Config) { c.RootCAs = nil },
		"unknown, STARTTLS":     func(c *imapbox.Config) { c.RootCAs, c.TLS, c.Port = nil, smtpclient.StartTLS, s.Port },
		"another name":          func(c *imapbox.Config) { c.Host = "127.0.0.2" },
		"no TLS at this port":   func(c *imapbox.Config) { c.Port = s.Port },
		"private address":       func(c *imapbox.Config) { c.Guard.AllowPrivate = false },
		"link-local address":    func(c *imapbox.Config) { c.Host = "169.254.169.254" },
		"wrong password":        func(c *imapbox.Config) { c.Password = "geheim-42" },
		"wrong user, STARTTLS":  func(c *imapbox.Config) { c.Username, c.TLS, c.Port = "x", smtpclient.StartTLS, s.Port },
		"wrong user, no TLS":    func(c *imapbox.Config) { c.Username, c.TLS, c.Port = "x", smtpclient.None, s.Port },
		"no server at the port": func(c *imapbox.Config) { c.Port = 1 },
	} {
		c := mailbox(s, smtpclient.Implicit)
		change(&c)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		b, err := imapbox.Open(ctx, c)
		cancel()
		if err == nil {
			b.Close()
		}
		p, ok := errors.AsType[*imapbox.Problem](err)
		if !ok || p.Text == "" || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v", name, err)
			continue
		}
		t.Logf("%s: %v", name, err)
	}
	for _, mode := range []smtpclient.TLSMode{smtpclient.None, smtpclient.StartTLS, smtpclient.Implicit} {
		read(t, mailbox(s, mode), imapbox.Cursor{})
	}
}
