package deliver

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/mail/directmx"
	"github.com/packetboat/packetboat/internal/mail/dnstest"
	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/netguard"
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
	if err := p.exchangeSites(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
}

func (p process) at(name string) *site {
	key := siteKey{Source: netip.MustParseAddr("192.0.2.1"), Site: name}
	return p.sites.get(key, directmx.Shape{Connections: 10, Messages: 100}, *p.now)
}

// answers notes an answer with which a provider asks for less mail.
func (p process) answers(s *site, text string) {
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
		if n, _ := b.at("gmail").free(now); n != 1 {
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
		if n, _ := restarted.at("gmail").free(now); n != 1 {
			t.Errorf("%d connections at the end of the suspension, want 1", n)
		}
		now = now.Add(2 * time.Minute)
		if n, _ := restarted.at("gmail").free(now); n != 3 {
			t.Errorf("%d connections two minutes later, want 3", n)
		}
	})
}

func TestUnreachableSitesAreKnownToAllProcesses(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		a, b := newProcess(t, db, &now), newProcess(t, db, &now)
		a.at("mx.test").unreachable(now)
		a.exchange()
		b.exchange()
		h := b.at("mx.test").blocked(now)
		if h == nil || !h.until.Equal(now.Add(siteFirst)) || !h.down.Equal(now) {
			t.Fatalf("blocked = %+v", h)
		}
		now = now.Add(siteFirst)
		b.at("mx.test").unreachable(now) // the pause doubles, whichever process tried
		if h := b.at("mx.test").blocked(now); h == nil || !h.until.Equal(now.Add(2*siteFirst)) {
			t.Errorf("after the second failure: %+v", h)
		}
		b.exchange()
		a.exchange()
		now = now.Add(2 * siteFirst)
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
