package imapbox_test

import (
	"bufio"
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/mail/imapbox"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
)

// serve accepts one connection, answers each line with one of the answers, in order, and then closes
// it. In an answer, TAG is the tag of the line.
func serve(t testing.TB, answers []string) imapbox.Config {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		lines := bufio.NewReader(c)
		tag := "*"
		for _, a := range answers {
			if _, err := c.Write([]byte(strings.ReplaceAll(a, "TAG", tag))); err != nil {
				return
			}
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			if tag, _, _ = strings.Cut(line, " "); tag == "" {
				return
			}
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return imapbox.Config{
		Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, TLS: smtpclient.None, Username: "u", Password: "p", Guard: netguard.Guard{AllowPrivate: true},
	}
}

// drain reads what a server gives, some pages at most, and returns how many bytes of messages it got.
func drain(ctx context.Context, c imapbox.Config) (size int, err error) {
	b, err := imapbox.Open(ctx, c)
	if err != nil {
		return 0, err
	}
	defer b.Close()
	var at imapbox.Cursor
	for range 4 {
		p, err := b.Next(ctx, at, 1000, time.Now())
		if err != nil {
			return size, err
		}
		for _, m := range p.Messages {
			size += len(m.Raw)
		}
		if at = p.After; !p.More {
			break
		}
	}
	return size, nil
}

const (
	greeting = "* OK [CAPABILITY IMAP4rev1] hello\r\n"
	caps     = "* CAPABILITY IMAP4rev1 ID\r\nTAG OK done\r\n"
	loggedIn = "TAG OK logged in\r\n"
	opened   = "* 2 EXISTS\r\n* OK [UIDVALIDITY 7] x\r\n* OK [UIDNEXT 9] x\r\nTAG OK [READ-ONLY] opened\r\n"
	listed   = "* 1 FETCH (UID 3 RFC822.SIZE 5 INTERNALDATE \"01-Mar-2026 12:00:00 +0000\")\r\n* 2 FETCH (UID 8 RFC822.SIZE 5)\r\nTAG OK done\r\n"
	fetched  = "* 1 FETCH (UID 3 BODY[]<0> {5}\r\nhello)\r\n* 2 FETCH (UID 8 BODY[]<0> \"world\")\r\nTAG OK done\r\n"
)

func TestServersThatMisbehave(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2<<20)
	for name, tt := range map[string]struct {
		answers []string
		size    int
		fails   bool
	}{
		"none":                     {[]string{greeting, caps, loggedIn, opened, listed, fetched, "TAG OK bye\r\n"}, 10, false},
		"an endless greeting":      {[]string{"* OK " + long}, 0, true},
		"an endless answer":        {[]string{greeting, "* " + long}, 0, true},
		"an endless literal":       {[]string{greeting, caps, loggedIn, opened, listed, "* 1 FETCH (UID 3 BODY[]<0> {2000000}\r\n" + long}, 0, true},
		"a literal in a list":      {[]string{greeting, caps, loggedIn, "* LIST () \"/\" {99999999999}\r\n" + long}, 0, true},
		"more than asked for":      {[]string{greeting, caps, loggedIn, opened, listed, "* 1 FETCH (UID 3 BODY[]<0> {1500}\r\n" + strings.Repeat("y", 1500) + ")\r\nTAG OK done\r\n"}, 1000, false},
		"messages not asked for":   {[]string{greeting, caps, loggedIn, opened, listed, "* 99 FETCH (UID 99 BODY[]<0> {5}\r\nhello)\r\n" + fetched}, 10, false},
		"no UIDVALIDITY":           {[]string{greeting, caps, loggedIn, "* 2 EXISTS\r\nTAG OK opened\r\n"}, 0, true},
		"UIDs that do not ascend":  {[]string{greeting, caps, loggedIn, opened, strings.Replace(listed, "UID 8", "UID 2", 1), fetched}, 5, false},
		"a message it cannot give": {[]string{greeting, caps, loggedIn, opened, listed, "TAG NO broken\r\n", "TAG NO broken\r\n", "* 2 FETCH (UID 8 BODY[]<0> {5}\r\nworld)\r\nTAG OK done\r\n"}, 5, false},
		"it closes":                {[]string{greeting, caps, loggedIn, opened, listed}, 0, true},
		"deep lists":               {[]string{greeting, caps, loggedIn, opened, "* 1 FETCH (BODYSTRUCTURE " + strings.Repeat("(", 200000) + "\r\n"}, 0, true},
	} {
		size, err := drain(t.Context(), serve(t, tt.answers))
		if size != tt.size || (err != nil) != tt.fails {
			t.Errorf("%s: %d bytes, %v", name, size, err)
		}
	}
}
