package smtpclient_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
)

const letter = "From: a@sender.example\r\nTo: ann@example.org\r\nMessage-ID: <1@sender.example>\r\n" +
	"X-Entity-Ref-ID: ref-1\r\n\r\nHello.\r\n"

var toAnn = smtpclient.Envelope{From: "bounce+1@sender.example", To: "ann@example.org"}

// configFor returns the configuration of a client of s, which waits for little.
func configFor(s *sink.Server) smtpclient.Config {
	return smtpclient.Config{
		Host:    "127.0.0.1",
		Port:    s.Port(),
		Guard:   netguard.Guard{AllowPrivate: true},
		RootCAs: s.Roots(),
		Timeouts: smtpclient.Timeouts{
			Connect: 5 * time.Second, Banner: 5 * time.Second, Command: 5 * time.Second, Mail: 5 * time.Second,
			Data: 5 * time.Second, Block: 5 * time.Second, Dot: 5 * time.Second, Quit: time.Second,
		},
	}
}

func mustDial(t *testing.T, cfg smtpclient.Config) *smtpclient.Conn {
	t.Helper()
	c, err := smtpclient.Dial(t.Context(), cfg)
	if err != nil {
		t.Fatalf("Dial: %v", err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func mustSend(t *testing.T, c *smtpclient.Conn, env smtpclient.Envelope, raw string) reply.Outcome {
	t.Helper()
	o, err := c.Send(t.Context(), env, []byte(raw))
	if err != nil {
		t.Fatalf("Send: %v", err)
	}
	return o
}

// each runs a test with a server that offers PIPELINING and one that does not.
func each(t *testing.T, f func(t *testing.T, o sink.Options)) {
	t.Run("pipelined", func(t *testing.T) { t.Parallel(); f(t, sink.Options{}) })
	t.Run("step by step", func(t *testing.T) { t.Parallel(); f(t, sink.Options{Without: []string{"PIPELINING"}}) })
}

func TestMessagesArriveAsTheyWere(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o sink.Options) {
		s := sink.Start(t, o)
		c := mustDial(t, configFor(s))
		for range 3 {
			if o := mustSend(t, c, toAnn, letter); !o.Accepted || o.Stage != reply.Dot || o.Code != 250 ||
				o.Enhanced != "2.0.0" || o.Remote != s.Addr() || o.TLS || o.Uncertain {
				t.Fatalf("outcome = %+v", o)
			}
		}
		if c.Sent() != 3 || !c.Usable() {
			t.Errorf("Sent = %d, Usable = %v; want 3, true", c.Sent(), c.Usable())
		}
		if err := c.Quit(); err != nil || c.Usable() {
			t.Errorf("Quit = %v, then Usable = %v", err, c.Usable())
		}
		for _, m := range s.Messages() {
			if m.Mail != toAnn.From || len(m.Rcpt) != 1 || m.Rcpt[0] != toAnn.To || string(m.Raw) != letter ||
				m.MessageID != "<1@sender.example>" || m.Ref != "ref-1" || m.Conn != 1 {
				t.Errorf("message = %+v", m)
			}
		}
		if n := len(s.Messages()); n != 3 {
			t.Errorf("%d messages arrived, want 3", n)
		}
	})
}

func TestNullSender(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{})
	o := mustSend(t, mustDial(t, configFor(s)), smtpclient.Envelope{To: "ann@example.org"}, letter)
	if got := s.Messages(); !o.Accepted || len(got) != 1 || got[0].Mail != "" {
		t.Errorf("outcome %+v, messages %+v", o, got)
	}
}

// Any lines arrive unchanged, wherever they have dots and however long they are.
func TestDotsSurvive(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{})
	c := mustDial(t, configFor(s))
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"", ".", "..", ". x", ".\t", "a.", "a", strings.Repeat("y.", 300)}), 0, 40).Draw(t, "lines")
		raw := strings.Join(lines, "\r\n") + rapid.SampledFrom([]string{"", "\r\n"}).Draw(t, "end")
		o, err := c.Send(context.Background(), toAnn, []byte(raw))
		if err != nil || !o.Accepted {
			t.Fatalf("Send = %+v, %v", o, err)
		}
		n++
		if raw != "" && !strings.HasSuffix(raw, "\r\n") {
			raw += "\r\n"
		}
		got := s.Messages()
		if len(got) != n || string(got[n-1].Raw) != raw {
			t.Fatalf("message %d of %d = %q, want %q", n, len(got), got[len(got)-1].Raw, raw)
		}
	})
}

func TestLargeMessage(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{STARTTLS: true})
	raw := bytes.Repeat([]byte(".0123456789 and so on until the line is quite full of it\r\n"), 40000)
	for _, mode := range []smtpclient.TLSMode{smtpclient.None, smtpclient.StartTLS} {
		cfg := configFor(s)
		cfg.TLS = mode
		o, err := mustDial(t, cfg).Send(t.Context(), toAnn, raw)
		got := s.Messages()
		if err != nil || !o.Accepted || !bytes.Equal(got[len(got)-1].Raw, raw) {
			t.Errorf("%s: %+v, %v", mode, o, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		rule   sink.Rule
		stage  reply.Stage
		code   int
		usable bool
		class  reply.Class
	}{
		{"sender refused", sink.Rule{Stage: sink.Mail, Reply: "550 5.7.1 go away"}, reply.Mail, 550, true, reply.Block},
		{"no such user", sink.Rule{Stage: sink.Rcpt, Reply: "550 5.1.1 no such user"}, reply.Rcpt, 550, true, reply.Hard},
		{"greylisted", sink.Rule{Stage: sink.Rcpt, Reply: "451 4.7.1 greylisted"}, reply.Rcpt, 451, true, reply.Deferred},
		{"DATA refused", sink.Rule{Stage: sink.Data, Reply: "451 4.3.0 no room"}, reply.Data, 451, true, reply.Deferred},
		{"message refused", sink.Rule{Stage: sink.Dot, Reply: "554 5.7.1 spam\n554 5.7.1 really"}, reply.Dot, 554, true, reply.Block},
		{"421 for MAIL", sink.Rule{Stage: sink.Mail, Reply: "421 4.7.0 later", Drop: true}, reply.Mail, 421, false, reply.Deferred},
		{"421 for RCPT", sink.Rule{Stage: sink.Rcpt, Reply: "421 4.7.0 later", Drop: true}, reply.Rcpt, 421, false, reply.Deferred},
		{"421 for the message", sink.Rule{Stage: sink.Dot, Reply: "421 4.3.2 closing", Drop: true}, reply.Dot, 421, false, reply.Deferred},
		{"dropped at MAIL", sink.Rule{Stage: sink.Mail, Drop: true}, reply.Mail, 0, false, reply.Lane},
		{"dropped at RCPT", sink.Rule{Stage: sink.Rcpt, Drop: true}, reply.Rcpt, 0, false, reply.Lane},
		{"dropped at DATA", sink.Rule{Stage: sink.Data, Drop: true}, reply.Data, 0, false, reply.Lane},
		{"nonsense for MAIL", sink.Rule{Stage: sink.Mail, Reply: "354 what"}, reply.Mail, 0, false, reply.Lane},
		{"nonsense for DATA", sink.Rule{Stage: sink.Data, Reply: "250 what"}, reply.Data, 0, false, reply.Lane},
	} {
		t.Run(tt.name, func(t *testing.T) {
			each(t, func(t *testing.T, o sink.Options) {
				rule := tt.rule
				rule.To, rule.Times = "^$|^bad@", 1
				o.Rules = []sink.Rule{rule}
				s := sink.Start(t, o)
				c := mustDial(t, configFor(s))
				got := mustSend(t, c, smtpclient.Envelope{From: "x@sender.example", To: "bad@example.org"}, letter)
				if got.Stage != tt.stage || got.Code != tt.code || got.Accepted || got.Uncertain {
					t.Errorf("outcome = %+v; want code %d at %s", got, tt.code, tt.stage)
				}
				if got.Code == 0 && got.Text == "" {
					t.Error("a failure without words")
				}
				if v := reply.Classify(got); v.Class != tt.class {
					t.Errorf("class = %s, want %s", v.Class, tt.class)
				}
				if c.Usable() != tt.usable {
					t.Fatalf("Usable = %v, want %v", c.Usable(), tt.usable)
				}
				if !tt.usable {
					if _, err := c.Send(t.Context(), toAnn, []byte(letter)); !errors.Is(err, smtpclient.ErrClosed) {
						t.Errorf("Send on a dead connection: %v, want ErrClosed", err)
					}
					return
				}
				// The conversation is in step: the next message goes to its own recipient.
				if got := mustSend(t, c, toAnn, letter); !got.Accepted {
					t.Errorf("message after it: %+v", got)
				}
				if all := s.Messages(); len(all) != 1 || all[0].Rcpt[0] != toAnn.To {
					t.Errorf("messages = %+v, want the one for ann", all)
				}
			})
		})
	}
}

func TestDroppedInTheMiddleOfAMessageIsNotUncertain(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{Rules: []sink.Rule{{Stage: sink.Body, Drop: true}}})
	raw := bytes.Repeat([]byte("0123456789 and so on until the line is quite full of it\r\n"), 1<<18)
	o, err := mustDial(t, configFor(s)).Send(t.Context(), toAnn, raw)
	if err != nil || o.Uncertain || o.Accepted || o.Stage != reply.Data || o.Code != 0 {
		t.Errorf("Send = %+v, %v; want cut off at data", o, err)
	}
}

func TestLostAnswerIsUncertain(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		s := sink.Start(t, sink.Options{Rules: []sink.Rule{{Stage: sink.Dot, Keep: keep, Drop: true}}})
		c := mustDial(t, configFor(s))
		o := mustSend(t, c, toAnn, letter)
		if !o.Uncertain || o.Accepted || o.Stage != reply.Dot || o.Code != 0 || c.Usable() {
			t.Errorf("outcome = %+v, Usable = %v; want uncertain", o, c.Usable())
		}
		if got := len(s.Messages()); (got == 1) != keep {
			t.Errorf("server kept %d messages, keep = %v", got, keep)
		}
	}
}

func TestLateAnswerIsUncertain(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{Rules: []sink.Rule{{Stage: sink.Dot, Delay: time.Minute}}})
	cfg := configFor(s)
	cfg.Timeouts.Dot = 20 * time.Millisecond
	if o := mustSend(t, mustDial(t, cfg), toAnn, letter); !o.Uncertain || !strings.Contains(o.Text, "in time") {
		t.Errorf("outcome = %+v; want uncertain", o)
	}
}

func TestCancelBeforeTheDotAborts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o sink.Options) {
		for _, stage := range []sink.Stage{sink.Mail, sink.Rcpt, sink.Data} {
			o.Rules = []sink.Rule{{Stage: stage, Delay: time.Minute}}
			s := sink.Start(t, o)
			c := mustDial(t, configFor(s))
			ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, io.ErrNoProgress)
			got, err := c.Send(ctx, toAnn, []byte(letter))
			cancel()
			if !errors.Is(err, io.ErrNoProgress) || got.Accepted || got.Uncertain || c.Usable() {
				t.Errorf("%s: Send = %+v, %v, Usable %v; want the cause", stage, got, err, c.Usable())
			}
			s.Close()
			if n := len(s.Messages()); n != 0 {
				t.Errorf("%s: %d messages arrived", stage, n)
			}
		}
	})
}

func TestCancelAfterTheDotWaits(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{Rules: []sink.Rule{{Stage: sink.Dot, Keep: true, Reply: "250 2.0.0 late", Delay: 200 * time.Millisecond}}})
	c := mustDial(t, configFor(s))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { // the server has the message now, but has not said so
		_, _ = s.Await(ctx, 1)
		cancel()
	}()
	if o, err := c.Send(ctx, toAnn, []byte(letter)); err != nil || !o.Accepted || ctx.Err() == nil || !c.Usable() {
		t.Errorf("Send = %+v, %v, ctx %v; want accepted after the context ended", o, err, ctx.Err())
	}
	if _, err := c.Send(ctx, toAnn, []byte(letter)); !errors.Is(err, context.Canceled) || !c.Usable() {
		t.Errorf("next Send: %v, Usable %v; want the context's error before anything is said", err, c.Usable())
	}
}

func TestServerLimitsAreForeseen(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{MaxSize: 1000, Without: []string{"SMTPUTF8"}, Offer: []string{"LIMITS RCPTMAX=5 MAILMAX=2"}})
	c := mustDial(t, configFor(s))
	if o := mustSend(t, c, toAnn, letter+strings.Repeat("x", 1000)); o.Code != 552 || o.Enhanced != "5.3.4" || reply.Classify(o).Class != reply.Soft {
		t.Errorf("too large: %+v", o)
	}
	if o := mustSend(t, c, smtpclient.Envelope{To: "änn@example.org"}, letter); o.Code != 553 || o.Stage != reply.Rcpt || reply.Classify(o).Class == reply.Hard {
		t.Errorf("beyond ASCII: %+v", o)
	}
	for i := range 2 {
		if o := mustSend(t, c, toAnn, letter); !o.Accepted || c.Usable() != (i == 0) {
			t.Errorf("message %d: %+v, Usable %v", i, o, c.Usable())
		}
	}
}

func TestInternationalAddress(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{})
	to := "änn@bücher.example"
	if o := mustSend(t, mustDial(t, configFor(s)), smtpclient.Envelope{From: "x@sender.example", To: to}, letter); !o.Accepted || s.Messages()[0].Rcpt[0] != to {
		t.Errorf("outcome %+v, messages %+v", o, s.Messages())
	}
}

func TestNothingHarmfulIsWritten(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{})
	c := mustDial(t, configFor(s))
	for _, addr := range []string{
		"", "ann", "@example.org", "ann@", "ann@example.org\r\nDATA", "ann@exa\nmple.org", "a b@example.org", "<ann@example.org>",
		"ann@example.org>", "ann@example.org SIZE=1", "a\x00@example.org", "\"a b\"@example.org", "\"a@example.org", "a\"b@example.org",
		"a,b@example.org", "a@b@example.org", "ann@example..org", "ann@.example.org", "ann@[1.2.3.4> x]", "ann@exam\u2028ple.org", "ann@\xff",
		strings.Repeat("x", 400) + "@example.org",
	} {
		if _, err := c.Send(t.Context(), smtpclient.Envelope{To: addr}, []byte(letter)); !errors.Is(err, smtpclient.ErrBadAddress) {
			t.Errorf("Send to %q: %v, want ErrBadAddress", addr, err)
		}
		if addr == "" {
			continue
		}
		if _, err := c.Send(t.Context(), smtpclient.Envelope{From: addr, To: "ann@example.org"}, []byte(letter)); !errors.Is(err, smtpclient.ErrBadAddress) {
			t.Errorf("Send from %q: %v, want ErrBadAddress", addr, err)
		}
	}
	for _, raw := range []string{"a\nb", "a\rb", "\n", "\r", "a\r\n.\n", "a\r\r\n", "a\r\n\r"} {
		if _, err := c.Send(t.Context(), toAnn, []byte(raw)); !errors.Is(err, smtpclient.ErrBareNewline) {
			t.Errorf("Send %q: %v, want ErrBareNewline", raw, err)
		}
	}
	for _, to := range []string{"o'neil+x=y@example.org", "a..b@example.org", `"a,b"@example.org`, `"a\"b"@example.org`, "ann@[192.0.2.1]", "ann@[IPv6:2001:db8::1]", "ann@localhost"} {
		if o := mustSend(t, c, smtpclient.Envelope{To: to}, letter); !o.Accepted {
			t.Errorf("Send to %s: %+v", to, o)
		}
	}
	if st := s.Stats(); st.Messages != 7 || st.Refused != 0 {
		t.Errorf("server saw %+v; want 7 messages and nothing refused", st)
	}
}

func TestStaleConnection(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o sink.Options) {
		o.PerConn = 2
		s := sink.Start(t, o)
		for _, cut := range []func(){func() {}, s.DropConnections} {
			c := mustDial(t, configFor(s))
			for range 2 {
				if o := mustSend(t, c, toAnn, letter); !o.Accepted || c.Stale(o) {
					t.Fatalf("outcome %+v, Stale %v", o, c.Stale(o))
				}
			}
			cut()
			if o := mustSend(t, c, toAnn, letter); o.Accepted || !c.Stale(o) {
				t.Errorf("outcome %+v, Stale %v; want stale", o, c.Stale(o))
			}
		}
		// A new connection that fails is no stale one.
		if err := s.SetRules([]sink.Rule{{Stage: sink.Mail, Drop: true}}); err != nil {
			t.Fatal(err)
		}
		c := mustDial(t, configFor(s))
		if o := mustSend(t, c, toAnn, letter); o.Accepted || c.Stale(o) {
			t.Errorf("outcome %+v, Stale %v; want not stale", o, c.Stale(o))
		}
	})
}

func FuzzStuff(f *testing.F) {
	for _, s := range []string{"", ".", "a\r\n.b\r\n", "\r\n.\r\n", "a\nb", "\r", "..\r\n..", "a\r\n.\r\nMAIL FROM:<x@y>\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		wire, err := smtpclient.Stuff(raw)
		plain := strings.ReplaceAll(string(raw), "\r\n", "")
		if bare := strings.ContainsAny(plain, "\r\n"); bare != (err != nil) {
			t.Fatalf("Stuff(%q) = %v, bare newlines %v", raw, err, bare)
		}
		if err != nil {
			return
		}
		body, ok := strings.CutSuffix(string(wire), ".\r\n")
		if !ok || strings.Contains("\r\n"+body, "\r\n.\r\n") || body != "" && !strings.HasSuffix(body, "\r\n") {
			t.Fatalf("Stuff(%q) = %q", raw, wire)
		}
		got := strings.TrimPrefix(strings.ReplaceAll("\r\n"+body, "\r\n.", "\r\n"), "\r\n")
		if strings.TrimSuffix(got, "\r\n") != strings.TrimSuffix(string(raw), "\r\n") {
			t.Fatalf("Stuff(%q) = %q, which reads as %q", raw, wire, got)
		}
	})
}

func FuzzEnvelope(f *testing.F) {
	for _, s := range []string{"ann@example.org", "", "a@b>\r\nDATA\r\n", `"a"@b`, "a@[::1]", "a\u2028@b", "\"\\\"@b", "[@]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, addr string) {
		if smtpclient.CheckEnvelope(smtpclient.Envelope{To: addr}) == nil && (strings.ContainsAny(addr, "\r\n\x00 \t<>") || !strings.Contains(addr, "@")) {
			t.Fatalf("%q may stand in a command", addr)
		}
	})
}
