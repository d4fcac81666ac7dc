package dispatch_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/engine/dispatch"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func forecastOf(t *testing.T, a *broadcasttest.Account, b broadcast.Broadcast, at time.Time, edits ...func(*dispatch.Forecaster)) *dispatch.Forecast {
	t.Helper()
	f := dispatch.NewForecaster(a.DB, func() time.Time { return at })
	f.Page = 7
	for _, edit := range edits {
		edit(f)
	}
	made, err := f.Forecast(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// planned returns the days of a forecast with their numbers and capacities.
func planned(f *dispatch.Forecast) string {
	var text strings.Builder
	for _, d := range f.Plan {
		most := "-"
		if d.Capacity != nil {
			most = fmt.Sprint(*d.Capacity)
		}
		fmt.Fprintf(&text, "%s %d of %s-%d %s, ", d.Day[5:], d.Planned, most, d.TakenByOthers, d.Status)
	}
	return strings.TrimSuffix(text.String(), ", ")
}

var variants = []broadcast.Variant{
	{ID: "a", Name: "A", Weight: 1, Overrides: map[draft.Field]string{draft.Subject: "A"}},
	{ID: "b", Name: "B", Weight: 2, Overrides: map[draft.Field]string{draft.Subject: "B"}},
}

func TestAForecastIsWhatTheSendBecomes(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for name, edit := range map[string]func(*broadcast.Change){
			"at once":   func(*broadcast.Change) {},
			"over days": overDays(3),
			"skipping":  overDays(3, func(d *broadcast.DeliveryChange) { d.Skipped = &[]string{"2026-03-03"} }),
			"held back": overDays(2, holdback, func(d *broadcast.DeliveryChange) { d.PerHour = new(new(1)) }),
			"variants":  func(ch *broadcast.Change) { ch.Variants = &variants },
		} {
			a := broadcasttest.New(t, db, "acme"+strings.ReplaceAll(name, " ", "-"))
			a.AddIdentity("more")
			people := a.AddContacts(a.List.ID, "x", 50)
			if _, err := suppression.Add(t.Context(), db, a.Tenant, people[0].Email, "asked", broadcasttest.Now); err != nil {
				t.Fatal(err)
			}
			for _, p := range people[1:4] {
				if _, err := contact.Update(t.Context(), db, a.Tenant, p.ID, contact.Change{DoNotContact: new(true)}, contact.Rules{}, broadcasttest.Now); err != nil {
					t.Fatal(err)
				}
			}
			now := broadcasttest.Now
			b := a.Create(edit)
			f := forecastOf(t, a, b, now)
			if again := a.Load(b.ID); again.Revision != b.Revision || f.Estimated || f.LargestRecent != 0 {
				t.Errorf("%s: revision %d, was %d; %+v", name, again.Revision, b.Revision, f)
			}
			if err := broadcast.Schedule(t.Context(), db, a.Tenant, b.ID, now); err != nil {
				t.Fatal(err)
			}
			settle(t, engine(db, "one", &now))
			p, err := broadcast.LoadProgress(t.Context(), db, a.Load(b.ID), now)
			if err != nil || p == nil {
				t.Fatal(p, err)
			}
			if d := cmp.Diff(p.Excluded, f.Excluded); d != "" || f.Recipients != p.Total || f.Matched != 50 || f.HeldBack != p.HeldBack {
				t.Errorf("%s: forecast %+v; got %d recipients, %d held back, excluded %v", name, f, p.Total, p.HeldBack, p.Excluded)
			}
			got, want := map[string]int{}, map[string]int{}
			for _, s := range f.Senders {
				got[s.Of.Identity.String()+s.Of.Lane.String()] = s.Expected
			}
			for _, v := range f.Variants {
				got[v.Of] = v.Expected
			}
			for _, d := range f.Plan {
				if d.Planned > 0 {
					got[string(d.Day)] = d.Planned
				}
			}
			list, err := outbox.First(t.Context(), db, a.Tenant, a.SendOf(b.ID), 1000)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range list {
				want[m.Identity.String()+m.Lane.String()]++
				if m.Variant != "" {
					want[m.Variant]++
				}
				if m.Day != "" {
					want[string(m.Day)]++
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s (-send +forecast): %s", name, d)
			}
		}
	})
}

func TestAForecastShowsTheRoomOfEachDay(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		capLane(t, a, 10)
		a.AddContacts(a.List.ID, "x", 18)
		now := broadcasttest.Now
		first := prepareSend(t, a, &now)
		if got := sendDue(t, a, first, now); got != 10 {
			t.Fatalf("%d were sent today", got)
		}
		b := a.Create(overDays(3))
		f := forecastOf(t, a, b, now)
		// Today's ten are taken, and eight of tomorrow's.
		if got, want := planned(f), "03-02 0 of 10-10 today, 03-03 2 of 10-8 planned, 03-04 10 of 10-0 planned, 03-05 6 of 10-0 planned"; got != want || f.LargestRecent != 18 {
			t.Errorf("plan %q, want %q; the largest %d", got, want, f.LargestRecent)
		}
		if f.FinishesAt == nil || f.FinishesAt.Format(time.DateOnly) != "2026-03-05" {
			t.Errorf("it finishes %v", f.FinishesAt)
		}
		later := b
		later.ScheduledAt = new(now.AddDate(0, 0, 7))
		if f = forecastOf(t, a, later, now); planned(f) != "03-09 6 of 10-0 planned, 03-10 6 of 10-0 planned, 03-11 6 of 10-0 planned" || !f.StartsAt.Equal(*later.ScheduledAt) {
			t.Errorf("in a week: %q from %v", planned(f), f.StartsAt)
		}
		b.Delivery.Overflow = broadcast.Holdback
		if f = forecastOf(t, a, b, now); f.HeldBack != 6 {
			t.Errorf("%d are held back, want 6: %s", f.HeldBack, planned(f))
		}
	})
}

func TestTheForecastOfALiveSendIsThatOfTheRest(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		a.AddContacts(a.List.ID, "x", 30)
		now := broadcasttest.Now
		bid := prepareSend(t, a, &now, overDays(3), func(ch *broadcast.Change) { ch.Variants = &variants })
		now = now.Add(15*time.Hour - time.Second)
		if n := sendDue(t, a, bid, now); n != 10 {
			t.Fatalf("%d were sent on the first day", n)
		}
		account, err := tenant.ByID(t.Context(), db, a.Tenant)
		if err != nil {
			t.Fatal(err)
		}
		before := a.Load(bid)
		b, err := before.With(broadcast.Change{Delivery: &broadcast.DeliveryChange{Skipped: &[]string{"2026-03-03"}}}, account, now)
		if err != nil {
			t.Fatal(err)
		}
		f := forecastOf(t, a, b, now)
		if got, want := planned(f), "03-02 0 of 0-0 today, 03-03 0 of --0 skipped, 03-04 20 of --0 planned"; got != want {
			t.Errorf("plan %q, want %q", got, want)
		}
		if f.Recipients != 30 || f.Variants[0].Expected+f.Variants[1].Expected != 30 || len(f.Senders) != 1 || f.Senders[0].Of.Lane != a.Lane.ID {
			t.Errorf("%+v", f)
		}
		if err := broadcast.Reschedule(t.Context(), db, a.Tenant, bid, []string{"2026-03-03"}, now); err != nil {
			t.Fatal(err)
		}
		settle(t, engine(db, "one", &now))
		if got, want := days(t, a, bid), "03-02 10/10 03-04 0/20 "; got != want {
			t.Errorf("then the plan is %q, want %q", got, want)
		}
		for name, c := range map[string]struct {
			ch   broadcast.Change
			want error
		}{
			"a name":     {broadcast.Change{Name: new("x")}, broadcast.ErrNotDraft},
			"a rate":     {broadcast.Change{Delivery: &broadcast.DeliveryChange{PerHour: new(new(5))}}, broadcast.ErrNotDraft},
			"a past day": {broadcast.Change{Delivery: &broadcast.DeliveryChange{Skipped: &[]string{"2026-03-01"}}}, broadcast.ErrSkip},
		} {
			if _, err := before.With(c.ch, account, now); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
		}
		before.Status = broadcast.Completed
		if _, err := before.With(broadcast.Change{}, account, now); !errors.Is(err, broadcast.ErrTransition) {
			t.Errorf("a completed one: %v", err)
		}
	})
}

func TestTheRestOfALargeAudienceIsEstimated(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a, other := broadcasttest.New(t, db, "acme"), broadcasttest.New(t, db, "other")
		other.AddContacts(other.List.ID, "x", 5)
		people := a.AddContacts(a.List.ID, "x", 60)
		for _, p := range people[:7] {
			if _, err := contact.Update(t.Context(), db, a.Tenant, p.ID, contact.Change{DoNotContact: new(true)}, contact.Rules{}, broadcasttest.Now); err != nil {
				t.Fatal(err)
			}
		}
		b := a.Create(overDays(2), func(ch *broadcast.Change) { ch.Variants = &variants })
		f := forecastOf(t, a, b, broadcasttest.Now, func(f *dispatch.Forecaster) { f.Contacts = 14 })
		if !f.Estimated || f.Matched != 60 || !maps.Equal(f.Excluded, map[string]int{"do_not_contact": 30}) || f.Recipients != 30 {
			t.Errorf("half of those that were read are excluded: %+v", f)
		}
		if planned(f) != "03-02 15 of --0 today, 03-03 15 of --0 planned" || f.Variants[0].Expected+f.Variants[1].Expected != 30 || f.Senders[0].Expected != 30 {
			t.Errorf("plan %q, %+v", planned(f), f)
		}
		b.Include = []id.Segment{other.List.ID}
		if f = forecastOf(t, a, b, broadcasttest.Now); f.Matched != 0 || f.Estimated {
			t.Errorf("the list of another tenant: %+v", f)
		}
	})
}
