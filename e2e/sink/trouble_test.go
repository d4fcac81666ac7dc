package sink_test

import (
	"crypto/tls"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/sink"
)

func rules(t *testing.T, text string) []sink.Rule {
	t.Helper()
	list, err := sink.ParseRules([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// An answer and a reset: the message is kept, and the connection ends the hard way.
func TestResets(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, rule string
		kept       int
	}{
		{"after the answer", `[{"stage": "dot", "keep": true, "reply": "250 2.0.0 taken", "drop": true, "reset": true}]`, 1},
		{"instead of it", `[{"stage": "dot", "keep": true, "drop": true, "reset": true}]`, 1},
		{"before DATA", `[{"stage": "data", "drop": true, "reset": true}]`, 0},
	} {
		s := sink.Start(t, sink.Options{Rules: rules(t, test.rule)})
		c := dial(t, s)
		if _, err := io.WriteString(c.nc, "EHLO x\r\n"+envelope+"hi\r\n.\r\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, c.nc); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: the connection ended with %v, want a reset", test.name, err)
		}
		if n := len(s.Messages()); n != test.kept {
			t.Errorf("%s: %d messages kept, want %d", test.name, n, test.kept)
		}
	}
}

// A dripped answer comes byte by byte, and only that one.
func TestDrips(t *testing.T) {
	t.Parallel()
	const between = 2 * time.Millisecond
	s := sink.Start(t, sink.Options{Rules: rules(t, `[{"stage": "rcpt", "drip": "2ms", "times": 1}]`)})
	c := dial(t, s)
	c.exchange("EHLO x\r\nMAIL FROM:<a@b>\r\n", 3)
	began := time.Now()
	got := c.exchange("RCPT TO:<ann@example.org>\r\n", 1)
	if min := time.Duration(len(got[0])) * between; got[0][:3] != "250" || time.Since(began) < min {
		t.Errorf("%q after %v, want a 250 and at least %v", got, time.Since(began), min)
	}
	if got := c.codes("DATA\r\n", 1); got != "354" {
		t.Errorf("DATA: %s", got)
	}
}

// Trouble by chance, and only above a number of connections.
func TestChanceAndConnections(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{Rules: rules(t, `[
		{"stage": "connect", "over": 2, "reply": "421 4.7.0 too many", "drop": true},
		{"stage": "mail", "chance": 0.5, "reply": "451 4.3.0 later"}]`)})
	first := dial(t, s)
	if got := first.codes("EHLO x\r\n", 2) + dial(t, s).codes("", 1); got != "220 250220" {
		t.Errorf("two connections: %s", got)
	}
	if got := dial(t, s).codes("", 1); got != "421" {
		t.Errorf("a third: %s", got)
	}
	got := first.codes(strings.Repeat("MAIL FROM:<a@b>\r\nRSET\r\n", 100), 200)
	if n := strings.Count(got, "451"); n < 20 || n > 80 {
		t.Errorf("%d of 100 refused, want about half", n)
	}
}

func TestFailingTLS(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, rule, want string }{
		{"refused", `[{"stage": "tls", "reply": "454 4.7.0 not now"}]`, "454"},
		{"cut", `[{"stage": "tls", "drop": true}]`, "220"},
		{"cut once", `[{"stage": "tls", "drop": true, "times": 1}]`, "220"},
	} {
		s := sink.Start(t, sink.Options{STARTTLS: true, Rules: rules(t, test.rule)})
		c := dial(t, s)
		c.exchange("EHLO x\r\n", 2)
		if got := c.codes("STARTTLS\r\n", 1); got != test.want {
			t.Errorf("%s: STARTTLS: %s, want %s", test.name, got, test.want)
		}
		if test.want == "454" {
			continue
		}
		if err := tls.Client(c.nc, &tls.Config{RootCAs: s.Roots(), ServerName: "localhost"}).Handshake(); err == nil {
			t.Errorf("%s: the handshake succeeded", test.name)
		}
	}
}
