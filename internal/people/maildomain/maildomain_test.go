package maildomain_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/mx"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/maildomain"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

const acme = id.Tenant(101)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func mustCreate(t *testing.T, db *sqldb.DB, email string, ch contact.Change) contact.Contact {
	t.Helper()
	c, err := contact.Create(t.Context(), db, acme, email, ch, contact.Rules{}, noon)
	if err != nil {
		t.Fatalf("Create(%q): %v", email, err)
	}
	return c
}

func each(t *testing.T, f func(t *testing.T, db *sqldb.DB)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, f)
}

// dns is a DNS of MX records; what is not in it does not exist, and while it is
// down nothing is answered.
type dns struct {
	mu    sync.Mutex
	zone  map[string]string
	down  bool
	asked []string
}

func (d *dns) LookupMX(_ context.Context, name string) ([]*net.MX, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, name)
	if d.down {
		return nil, &net.DNSError{Err: "no route", Name: name, IsTemporary: true}
	}
	host, ok := d.zone[strings.TrimSuffix(name, ".")]
	if !ok {
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	return []*net.MX{{Host: host, Pref: 10}}, nil
}

func (d *dns) LookupHost(_ context.Context, name string) ([]string, error) {
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// house is a database in which contacts are written and their domains resolved.
type house struct {
	t    *testing.T
	db   *sqldb.DB
	dns  *dns
	now  time.Time
	log  *slog.Logger
	said strings.Builder
}

func newHouse(t *testing.T, db *sqldb.DB) *house {
	h := &house{t: t, db: db, now: noon, dns: &dns{zone: map[string]string{"shop.example": "aspmx.l.google.com.", "own.example": "mail.own.example."}}}
	h.log = slog.New(slog.NewTextHandler(&h.said, nil))
	return h
}

func (h *house) clock() time.Time { return h.now }

func (h *house) follow() {
	h.t.Helper()
	e := journal.Engine{DB: h.db, Followers: []journal.Follower{maildomain.Follower(h.clock)}}
	if err := e.Drain(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) node() *maildomain.Resolution {
	return &maildomain.Resolution{DB: h.db, Resolver: h.dns, Log: h.log, Now: h.clock}
}

func (h *house) resolve(r *maildomain.Resolution) {
	h.t.Helper()
	for {
		more, err := r.Tick(h.t.Context())
		if err != nil {
			h.t.Fatal(err)
		}
		if !more {
			return
		}
	}
}

func (h *house) want(domain, record string, provider mx.Provider) {
	h.t.Helper()
	p := &maildomain.Providers{DB: h.db, Now: h.clock}
	got, err := p.Of(h.t.Context(), domain)
	if want := (maildomain.Domain{Record: record, Provider: provider}); err != nil || got[domain] != want {
		h.t.Errorf("%s is %+v, %v; want %+v", domain, got[domain], err, want)
	}
}

func TestDomainsAreResolvedOnceForAllAndRefreshed(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		for _, email := range []string{"a@shop.example", "b@shop.example", "c@own.example", "d@gone.example", "e@gmail.com"} {
			mustCreate(t, db, email, contact.Change{})
		}
		h.want("shop.example", "", "")
		h.follow()
		h.want("gmail.com", "", mx.Gmail) // by its name
		node := h.node()
		h.resolve(node)
		h.resolve(node)
		h.want("shop.example", "aspmx.l.google.com", mx.GoogleWorkspace)
		h.want("own.example", "mail.own.example", mx.Other)
		h.want("gone.example", "", "")
		slices.Sort(h.dns.asked)
		if got, want := fmt.Sprint(h.dns.asked), "[gmail.com. gone.example. own.example. shop.example.]"; got != want {
			t.Errorf("asked for %s, want %s", got, want)
		}
		h.dns.zone["own.example"], h.dns.asked = "x.mail.protection.outlook.com.", nil
		h.now = noon.Add(28 * 24 * time.Hour)
		h.resolve(node)
		h.want("own.example", "mail.own.example", mx.Other)
		h.now = noon.Add(30 * 24 * time.Hour)
		h.resolve(node)
		h.want("own.example", "x.mail.protection.outlook.com", mx.Microsoft365)
	})
}

func TestWhatIsKnownSurvivesASilentDNS(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		mustCreate(t, db, "a@shop.example", contact.Change{})
		h.follow()
		node := h.node()
		h.resolve(node)
		h.dns.down = true
		h.now = noon.Add(31 * 24 * time.Hour)
		for range 40 {
			h.resolve(node)
			h.now = h.now.Add(time.Minute)
		}
		h.want("shop.example", "aspmx.l.google.com", mx.GoogleWorkspace)
		if n := len(h.dns.asked); n < 4 || n > 8 {
			t.Errorf("asked %d times in 40 minutes, want longer pauses each time", n)
		}
		for i := range 30 {
			mustCreate(t, db, fmt.Sprintf("a@%d.example", i), contact.Change{})
		}
		h.follow()
		for range 10 {
			h.resolve(node)
			h.now = h.now.Add(time.Hour)
		}
		if n := strings.Count(h.said.String(), "level=WARN"); n != 1 || strings.Contains(h.said.String(), "shop.example") {
			t.Errorf("it said %d times: %s", n, h.said.String())
		}
		h.dns.down, h.dns.zone["7.example"] = false, "mx2.zoho.eu."
		h.now = h.now.Add(24 * time.Hour)
		h.resolve(node)
		h.want("7.example", "mx2.zoho.eu", mx.Zoho)
	})
}

func TestManyProcessesAskAboutADomainOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		const domains = 200 // some pages of them
		for i := range domains {
			mustCreate(t, db, fmt.Sprintf("a@d%d.example", i), contact.Change{})
		}
		h.follow()
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				node := h.node()
				for {
					if more, err := node.Tick(t.Context()); err != nil || !more {
						if err != nil {
							t.Error(err)
						}
						return
					}
				}
			})
		}
		all.Wait()
		h.resolve(h.node())
		seen := map[string]bool{}
		for _, d := range h.dns.asked {
			if seen[d] {
				t.Errorf("%s was asked for twice", d)
			}
			seen[d] = true
		}
		if len(seen) != domains {
			t.Errorf("%d domains were asked for, want %d", len(seen), domains)
		}
		// A node that died in the middle: its claims run out.
		if _, err := db.Exec(t.Context(), `UPDATE mail_domain SET checked_at = NULL, next_at = $1`, h.now.Add(2*time.Minute).UnixMicro()); err != nil {
			t.Fatal(err)
		}
		h.dns.asked, h.now = nil, h.now.Add(2*time.Minute)
		h.resolve(h.node())
		if len(h.dns.asked) != domains {
			t.Errorf("%d domains were asked for again, want %d", len(h.dns.asked), domains)
		}
	})
}

func TestProvidersAreRememberedForAMoment(t *testing.T) {
	t.Parallel()
	db := dbtest.One(t)
	h := newHouse(t, db)
	p := &maildomain.Providers{DB: db, Now: h.clock}
	of := func() mx.Provider {
		t.Helper()
		got, err := p.Of(t.Context(), "shop.example", "nowhere.example", "shop.example")
		if err != nil || len(got) != 2 {
			t.Fatalf("Of = %v, %v", got, err)
		}
		return got["shop.example"].Provider
	}
	if got := of(); got != "" {
		t.Errorf("an unknown domain is at %q", got)
	}
	mustCreate(t, db, "a@shop.example", contact.Change{})
	h.follow()
	h.resolve(h.node())
	if got := of(); got != "" {
		t.Errorf("remembered is %q", got)
	}
	h.now = h.now.Add(10 * time.Second)
	if got := of(); got != mx.GoogleWorkspace {
		t.Errorf("after a moment it is at %q", got)
	}
}

func TestANewAddressBringsItsDomain(t *testing.T) {
	t.Parallel()
	db := dbtest.One(t)
	h := newHouse(t, db)
	c := mustCreate(t, db, "a@one.example", contact.Change{})
	h.follow()
	if _, err := db.Exec(t.Context(), `UPDATE contact SET email_domain = 'own.example' WHERE tenant_id = $1 AND id = $2`, acme, c.ID); err != nil {
		t.Fatal(err)
	}
	for _, fields := range [][]string{{"first_name"}, {"city", "email"}} {
		err := journal.Append(t.Context(), db, journal.Entry{Tenant: acme, Type: journal.ContactUpdated, Contact: id.Contact(c.ID), At: noon, Data: map[string]any{"fields": fields}})
		if err != nil {
			t.Fatal(err)
		}
		h.follow()
		h.resolve(h.node())
		if asked := slices.Contains(h.dns.asked, "own.example."); asked != (len(fields) == 2) {
			t.Errorf("after a change of %v the domain was asked for: %v", fields, asked)
		}
	}
}
