package deliver

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/mail/directmx"
	"github.com/packetboat/packetboat/internal/mail/dnstest"
	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/senders/destination"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// process is an engine that does not run, with a clock of its own.
type process struct {
	*Engine
	t   *testing.T
	now *time.Time
}

func newProcess(t *testing.T, db *sqldb.DB, now *time.Time) process {
	clock := func() time.Time { return *now }
	p := process{&Engine{DB: db, Now: clock}, t, now}
	p.Router = &directmx.Router{Now: clock, Guard: netguard.Guard{AllowPrivate: true}}
	return p
}

func (p process) exchange() {
	p.t.Helper()
	if err := p.exchangeDestinations(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
}

func (p process) at(name string) *dest {
	key := destination.Key{Source: netip.MustParseAddr("192.0.2.1"), Name: name}
	return p.dests.get(key, directmx.Shape{Connections: 10, Messages: 100}, *p.now)
}

// answers notes an answer with which a provider asks for less mail.
func (p process) answers(s *dest, text string) {
	o := reply.Outcome{Stage: reply.Mail, Code: 421, Enhanced: "4.7.28", Text: text}
	s.observe(o, reply.Classify(o), *p.now)
}

func TestSuspensionsHoldForAllProcesses(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		a, b := newProcess(t, db, &now), newProcess(t, db, &now)
		const text = "our system has detected an unusual rate of mail"
		a.answers(a.at("gmail"), text)
		a.exchange()
		b.exchange()
		if h := b.at("gmail").blocked(now); h != nil {
			t.Errorf("one hint suspends the provider: %v", h)
		}
		if n, _ := b.at("gmail").free(now, true); n != 1 {
			t.Errorf("%d connections after a hint to another process, want 1", n)
		}
		now = now.Add(time.Minute)
		b.answers(b.at("gmail"), text) // the second within an hour
		b.exchange()
		a.exchange()
		for name, p := range map[string]process{"the process that got the first hint": a, "another process": b} {
			if h := p.at("gmail").blocked(now); h == nil || !h.until.Equal(now.Add(rateLimitPause)) || !strings.Contains(h.reason, "send less") {
				t.Errorf("%s: %v", name, h)
			}
			if h := p.at("yahoo").blocked(now); h != nil {
				t.Errorf("%s: another provider is suspended: %v", name, h)
			}
		}
		now = now.Add(5 * time.Minute)
		restarted := newProcess(t, db, &now)
		restarted.exchange()
		if h := restarted.at("gmail").blocked(now); h == nil {
			t.Error("a restart ends the suspension")
		}
		now = now.Add(5 * time.Minute)
		if n, _ := restarted.at("gmail").free(now, true); n != 1 {
			t.Errorf("%d connections at the end of the suspension, want 1", n)
		}
		now = now.Add(2 * time.Minute)
		if n, _ := restarted.at("gmail").free(now, true); n != 3 {
			t.Errorf("%d connections two minutes later, want 3", n)
		}
	})
}

func TestUnreachableDestinationsAreKnownToAllProcesses(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		a, b := newProcess(t, db, &now), newProcess(t, db, &now)
		a.at("mx.test").unreachable(now)
		a.exchange()
		b.exchange()
		h := b.at("mx.test").blocked(now)
		if h == nil || !h.until.Equal(now.Add(retryFirst)) || !h.down.Equal(now) {
			t.Fatalf("blocked = %+v", h)
		}
		now = now.Add(retryFirst)
		b.at("mx.test").unreachable(now) // the pause doubles, whichever process tried
		if h := b.at("mx.test").blocked(now); h == nil || !h.until.Equal(now.Add(2*retryFirst)) {
			t.Errorf("after the second failure: %+v", h)
		}
		b.exchange()
		a.exchange()
		now = now.Add(2 * retryFirst)
		a.at("mx.test").connected()
		a.exchange()
		b.exchange()
		for _, p := range []process{a, b} {
			if _, down := p.at("mx.test").resume(); !down.IsZero() {
				t.Errorf("down since %s after a connection", down)
			}
		}
	})
}

func TestRefusalsOfMailInClearAreKnownToAllProcesses(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		a, b := newProcess(t, db, &now), newProcess(t, db, &now)
		o := reply.Outcome{Stage: reply.Mail, Code: 530, Enhanced: "5.7.0", Text: "Must issue a STARTTLS command first"}
		a.at("mx.test").observe(o, reply.Classify(o), now)
		a.exchange()
		b.exchange()
		if _, tls := b.at("mx.test").terms(); !tls {
			t.Error("another process sends in clear")
		}
	})
}

func TestBrokenTLSIsKnownToAllProcesses(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		s := sink.Start(t, sink.Options{Offer: []string{"STARTTLS"}}) // it does not know the command
		zone := dnstest.New(t, "a.test. 60 IN A 127.0.0.1")
		connects := func(p process) bool {
			t.Helper()
			p.Router.Resolver, p.Router.Port = zone.Resolver(), s.Port()
			route, err := p.Router.Route(t.Context(), "a.test")
			if err != nil {
				t.Fatal(err)
			}
			conn, err := p.Router.Dial(t.Context(), route, directmx.From{
				Sources: []directmx.Source{{IP: netip.MustParseAddr("127.0.0.1"), HELO: "out.test"}}, TLS: smtpclient.Opportunistic,
			})
			if _, ok := errors.AsType[*smtpclient.DialError](err); err != nil && !ok {
				t.Fatal(err)
			}
			if err == nil {
				_ = conn.Quit()
			}
			return err == nil
		}
		a := newProcess(t, db, &now)
		if connects(a) {
			t.Error("connected without TLS at once")
		}
		a.exchange()
		b := newProcess(t, db, &now)
		b.exchange()
		if !connects(b) {
			t.Error("another process tries TLS again")
		}
		now = now.Add(73 * time.Hour)
		c := newProcess(t, db, &now)
		c.exchange()
		if connects(c) {
			t.Error("TLS is not tried again after 72 hours")
		}
	})
}

// The number of connections that one process has learned applies to all, and later ones, for hours. On SQLite it is
// that of the process.
func TestTheNumberOfConnectionsIsKnownToAllProcesses(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		shared := db.Dialect() == sqldb.Postgres
		start := func() process {
			p := newProcess(t, db, &now)
			p.dests.shared = shared
			p.exchange()
			return p
		}
		accepts := func(p process) int {
			s := p.at("mx.test")
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.accepts(now)
		}
		note := func(p process, times int, o reply.Outcome) {
			for range times {
				p.at("mx.test").observe(o, reply.Classify(o), now)
			}
		}
		good := reply.Outcome{Stage: reply.Dot, Code: 250, Enhanced: "2.0.0", Text: "ok"}
		closing := reply.Outcome{Stage: reply.Mail, Code: 421, Enhanced: "4.3.2", Text: "closing"}
		check := func(when string, wants map[string]int, of map[string]process) {
			t.Helper()
			for name, p := range of {
				if got := accepts(p); got != wants[name] {
					t.Errorf("%s: process %s may use %d connections, want %d", when, name, got, wants[name])
				}
			}
		}
		a, b := start(), start()
		all := map[string]process{"a": a, "b": b}
		round := func() {
			now = now.Add(time.Second)
			for range 2 {
				a.exchange()
				b.exchange()
			}
		}
		other := func(n, alone int) int {
			if shared {
				return n
			}
			return alone
		}
		check("at first", map[string]int{"a": 5, "b": 5}, all)
		note(a, 100, good)
		round()
		check("after good answers", map[string]int{"a": 10, "b": other(10, 5)}, all)
		note(b, 2, good) // changes nothing where the maximum is reached
		note(a, 45, closing)
		round()
		low := accepts(a)
		if low > 3 {
			t.Errorf("%d connections after many failures", low)
		}
		check("after failures of one", map[string]int{"a": low, "b": other(low, 5)}, all)
		// Both learn at the same time: neither change is lost.
		note(a, 6, good)
		note(b, 6, good)
		round()
		if got := accepts(b); shared && (got <= low || got != accepts(a)) {
			t.Errorf("%d and %d connections after good answers to both", accepts(a), got)
		}
		high := accepts(b)
		later := start()
		later.dests.dropStored(now)
		check("a process that starts later", map[string]int{"c": other(high, 5)}, map[string]process{"c": later})
		now = now.Add(7 * time.Hour)
		check("hours later", map[string]int{"d": 5}, map[string]process{"d": start()})
	})
}
