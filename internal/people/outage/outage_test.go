package outage_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/outage"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fixture is a tenant whose contacts have mailboxes at one provider, and another tenant.
type fixture struct {
	*testing.T
	db     *sqldb.DB
	tenant id.Tenant
	lane   id.Lane
	people []contact.Contact
	theirs contact.Contact // of the other tenant, with a mailbox at another provider
	other  id.Tenant
}

// each runs f on both databases.
func each(t *testing.T, people int, f func(f *fixture)) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		x := &fixture{T: t, db: db, tenant: idtest.Tenant(), other: idtest.Tenant(), lane: id.New[id.Lane]()}
		create := func(tenant id.Tenant, email string) contact.Contact {
			c, err := contact.Create(t.Context(), db, tenant, email, contact.Change{}, contact.Rules{Listed: suppression.QueueListed}, noon)
			x.must(err)
			return c
		}
		for i := range people {
			x.people = append(x.people, create(x.tenant, fmt.Sprintf("p%d@gmail.com", i)))
		}
		x.theirs = create(x.other, "ann@yahoo.com")
		x.bounce(x.other, x.theirs, "yahoo", noon, noon)
		x.drain()
		f(x)
		x.drain()
		if c := x.load(x.other, x.theirs); c.Status != contact.Bounced || !x.listed(x.other, x.theirs) {
			t.Errorf("the contact of the other tenant is %s", c.Status)
		}
	})
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// bounce records that a provider said that a contact's mailbox does not exist.
func (f *fixture) bounce(tenant id.Tenant, c contact.Contact, directory string, sent, at time.Time) {
	f.Helper()
	f.must(journal.Append(f.Context(), f.db, journal.Entry{
		Tenant: tenant, Type: journal.EmailBounced, Contact: c.ID, Send: id.New[id.Send](), Message: id.New[id.Message](), At: at,
		Data: map[string]any{"class": "hard", "guard": outage.Guard{Directory: directory, Lane: f.lane, Sent: sent}},
	}))
}

// count counts recipients at Gmail that got mail at a time.
func (f *fixture) count(at time.Time, answered, unknown int) {
	f.Helper()
	f.must(outage.Count(f.Context(), f.db, map[outage.Key]outage.Traffic{outage.KeyAt("gmail", at): {Answered: answered, Unknown: unknown}}, at))
}

func (f *fixture) drain() {
	f.Helper()
	e := journal.Engine{DB: f.db, Log: slog.New(slog.DiscardHandler), Followers: []journal.Follower{outage.Follower(), contact.Follower(), suppression.Follower()}}
	f.must(e.Drain(f.Context()))
	f.must(e.Drain(f.Context())) // what the followers appended
}

func (f *fixture) evaluate(now time.Time) []outage.Outage {
	f.Helper()
	list, err := outage.Evaluate(f.Context(), f.db, now)
	f.must(err)
	return list
}

// settle moves all bounces and has them take effect.
func (f *fixture) settle(now time.Time) {
	f.Helper()
	for more := true; more; {
		var err error
		more, err = outage.Settle(f.Context(), f.db, now)
		f.must(err)
	}
	f.drain()
}

func (f *fixture) load(tenant id.Tenant, c contact.Contact) contact.Contact {
	f.Helper()
	list, err := contact.Load(f.Context(), f.db, tenant, []id.Contact{c.ID})
	f.must(err)
	return list[0]
}

func (f *fixture) listed(tenant id.Tenant, c contact.Contact) bool {
	f.Helper()
	found, err := suppression.Listed(f.Context(), f.db, tenant, []string{c.Email})
	f.must(err)
	return found[c.Email]
}

// wantBounced checks which of the contacts bounced and are suppressed: the first n.
func (f *fixture) wantBounced(when string, n int) {
	f.Helper()
	for i, c := range f.people {
		got := f.load(f.tenant, c)
		if bounced := got.Status == contact.Bounced && got.BounceType == contact.BounceHard; bounced != (i < n) || f.listed(f.tenant, c) != (i < n) {
			f.Fatalf("%s: contact %d is %s (%q), listed: %t; want %d bounced", when, i, got.Status, got.BounceType, f.listed(f.tenant, c), n)
		}
	}
}

func TestBouncesDuringAnOutageWaitForADecision(t *testing.T) {
	for _, d := range []outage.Decision{outage.Apply, outage.Dismiss} {
		t.Run(string(d), func(t *testing.T) {
			each(t, 4, func(f *fixture) {
				f.bounce(f.tenant, f.people[0], "gmail", noon, noon)
				f.count(noon, 100, 60)
				f.drain()
				f.wantBounced("before the outage", 1)

				now := noon.Add(time.Minute)
				opened := f.evaluate(now)
				if len(opened) != 1 || opened[0].Directory != "gmail" || opened[0].Answered != 100 || opened[0].Unknown != 60 || !opened[0].Since.Equal(noon) {
					f.Fatalf("Evaluate = %+v", opened)
				}
				if again := f.evaluate(now); len(again) != 0 {
					f.Fatalf("evaluated again: %+v", again)
				}
				f.settle(now)
				f.wantBounced("when the outage was found", 0)
				f.bounce(f.tenant, f.people[1], "gmail", now, now)
				f.bounce(f.tenant, f.people[2], "gmail", now, now)
				f.settle(now)
				f.wantBounced("during the outage", 0)
				held, err := outage.HeldOf(f.Context(), f.db, f.tenant)
				if err != nil || len(held) != 1 || held[0] != (outage.Held{Tenant: f.tenant, Lane: f.lane, Outage: opened[0].ID, Count: 3}) {
					f.Fatalf("HeldOf = %+v, %v", held, err)
				}
				if none, err := outage.HeldOf(f.Context(), f.db, f.other); err != nil || len(none) != 0 {
					f.Fatalf("the other tenant holds %+v, %v", none, err)
				}

				_, err = outage.Decide(f.Context(), f.db, opened[0].ID, d, now)
				f.must(err)
				f.bounce(f.tenant, f.people[1], "gmail", now, now.Add(time.Hour)) // a report that comes late
				f.settle(now)
				f.settle(now)
				want := map[outage.Decision]int{outage.Apply: 3, outage.Dismiss: 0}[d]
				f.wantBounced("after the decision", want)
				f.must(outage.Prune(f.Context(), f.db, now.Add(2*time.Hour)))
				var left int
				f.must(f.db.QueryRow(f.Context(), `SELECT COUNT(*) FROM outage_bounce WHERE tenant_id = $1`, f.tenant).Scan(&left))
				if left != 0 {
					f.Errorf("%d bounces are left", left)
				}
				if _, err := outage.Decide(f.Context(), f.db, opened[0].ID, d, now); !errors.Is(err, outage.ErrDecided) {
					f.Errorf("a second decision: %v", err)
				}
				if _, err := outage.Decide(f.Context(), f.db, id.New[id.Outage](), d, now); !errors.Is(err, outage.ErrNotFound) {
					f.Errorf("a decision about nothing: %v", err)
				}
			})
		})
	}
}

// An interrupted transaction is repeated: each bounce is applied once, whatever was interrupted.
func TestInterruptedDecisionsApplyEachBounceOnce(t *testing.T) {
	each(t, 3, func(f *fixture) {
		for _, c := range f.people {
			f.bounce(f.tenant, c, "gmail", noon, noon)
		}
		f.count(noon, 100, 60)
		f.drain()
		o := f.evaluate(noon.Add(time.Minute))[0]
		interrupted := func(now time.Time) {
			f.Helper()
			stop := errors.New("killed")
			err := f.db.InTx(f.Context(), func(tx *sqldb.DB) error {
				if _, err := outage.Settle(f.Context(), tx, now); err != nil {
					return err
				}
				return stop
			})
			if !errors.Is(err, stop) {
				f.Fatal(err)
			}
		}
		interrupted(noon)
		f.settle(noon.Add(time.Minute))
		f.wantBounced("when the outage was found", 0)
		_, err := outage.Decide(f.Context(), f.db, o.ID, outage.Apply, noon.Add(time.Minute))
		f.must(err)
		interrupted(noon)
		f.settle(noon.Add(time.Minute))
		f.settle(noon.Add(time.Minute))
		f.wantBounced("after the decision", 3)
		for what, want := range map[journal.Type]int{journal.BounceApplied: 6, journal.BounceWithdrawn: 3} {
			var n int
			f.must(f.db.QueryRow(f.Context(), `SELECT COUNT(*) FROM journal WHERE tenant_id = $1 AND type = $2`, f.tenant, what).Scan(&n))
			if n != want {
				f.Errorf("%d entries %s, want %d", n, what, want)
			}
		}
	})
}

func TestAnUnsubscribedContactStaysUnsubscribed(t *testing.T) {
	each(t, 2, func(f *fixture) {
		f.must(contact.Unsubscribe(f.Context(), f.db, f.tenant, f.people[0].ID, contact.UnsubscribeScope{Everything: true}, noon))
		_, err := suppression.Add(f.Context(), f.db, f.tenant, f.people[1].Email, "asked us", noon)
		f.must(err)
		for _, c := range f.people {
			f.bounce(f.tenant, c, "gmail", noon, noon)
		}
		f.count(noon, 100, 60)
		f.drain()
		f.wantBounced("before the outage", 2)
		f.evaluate(noon.Add(time.Minute))
		f.settle(noon.Add(time.Minute))
		if c := f.load(f.tenant, f.people[0]); c.Status != contact.Unsubscribed || c.BounceType != "" || f.listed(f.tenant, c) {
			f.Errorf("the contact is %s (%q), listed: %t", c.Status, c.BounceType, f.listed(f.tenant, c))
		}
		if c := f.load(f.tenant, f.people[1]); c.Status != contact.Active || !f.listed(f.tenant, c) {
			f.Errorf("the address that was suppressed by request is listed: %t", f.listed(f.tenant, c))
		}
	})
}

func TestWhatOpensAnOutage(t *testing.T) {
	for _, tt := range []struct {
		name   string
		count  func(f *fixture)
		opened bool
	}{
		{"few recipients", func(f *fixture) { f.count(noon, 49, 49) }, false},
		{"a small share", func(f *fixture) { f.count(noon, 250, 50) }, false},
		{"a large share", func(f *fixture) { f.count(noon, 249, 50) }, true},
		{"spread over a long time", func(f *fixture) {
			for i := range 10 {
				f.count(noon.Add(time.Duration(i-9)*5*time.Minute), 20, 20)
			}
		}, false},
		{"a burst after a long quiet send", func(f *fixture) {
			for i := range 50 {
				f.count(noon.Add(time.Duration(i-50)*time.Minute), 200, 2)
			}
			f.count(noon, 1000, 700)
		}, true},
		{"reports long after the last message", func(f *fixture) {
			f.count(noon.Add(-30*time.Minute), 5000, 0)
			for i := range 20 {
				sent := outage.KeyAt("gmail", noon.Add(-30*time.Minute))
				f.must(outage.Count(f.Context(), f.db, map[outage.Key]outage.Traffic{sent: {Unknown: 10}}, noon.Add(time.Duration(i)*time.Second)))
			}
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			each(t, 0, func(f *fixture) {
				tt.count(f)
				if got := f.evaluate(noon.Add(time.Minute)); len(got) == 1 != tt.opened {
					f.Errorf("Evaluate = %+v, want an outage: %t", got, tt.opened)
				}
			})
		})
	}
}

func TestAnOutageEndsAndABadListIsLeftAlone(t *testing.T) {
	each(t, 3, func(f *fixture) {
		f.count(noon, 100, 60)
		now := noon.Add(time.Minute)
		o := f.evaluate(now)[0]
		if got := f.evaluate(noon.Add(30 * time.Minute)); len(got) != 0 {
			f.Fatalf("without mail: %+v", got)
		}
		now = noon.Add(40 * time.Minute)
		f.count(now, 50, 5)
		if got := f.evaluate(now.Add(time.Minute)); len(got) != 1 || got[0].ID != o.ID || got[0].EndedAt == nil {
			f.Fatalf("with normal answers: %+v", got)
		}
		now = now.Add(2 * time.Minute)
		f.bounce(f.tenant, f.people[0], "gmail", now, now)
		f.drain()
		f.wantBounced("after the end", 1)
		f.count(now, 100, 60)
		if got := f.evaluate(now.Add(time.Minute)); len(got) != 1 || got[0].ID != o.ID || got[0].EndedAt != nil {
			f.Fatalf("with bad answers again: %+v", got)
		}
		now = now.Add(2 * time.Minute)
		_, err := outage.Decide(f.Context(), f.db, o.ID, outage.Apply, now)
		f.must(err)
		f.count(now, 100, 60)
		if got := f.evaluate(now.Add(time.Minute)); len(got) != 0 {
			f.Errorf("after the operator applied the bounces: %+v", got)
		}
		now = now.Add(outage.Rest + time.Minute)
		f.count(now, 100, 60)
		if got := f.evaluate(now.Add(time.Minute)); len(got) != 1 || got[0].ID == o.ID {
			f.Errorf("long after: %+v", got)
		}
		if outages, _, err := outage.Open(context.WithoutCancel(f.Context()), f.db); err != nil || outages != 1 {
			f.Errorf("Open = %d, %v", outages, err)
		}
	})
}
