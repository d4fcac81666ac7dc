package segment_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/people/contact"
)

func TestTheRefresherCountsDueSegments(t *testing.T) {
	eachAccount(t, func(t *testing.T, o account) {
		now := noon
		var used []segment.Used
		r := &segment.Refresher{
			DB: o.db, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
			InUse: func(context.Context) ([]segment.Used, error) { return used, nil },
		}
		tickUntilIdle := func() {
			t.Helper()
			for range 10 {
				if more, err := r.Tick(t.Context()); err != nil || !more {
					o.ok(err)
					return
				}
			}
			t.Fatal("the refresher still has work after 10 ticks")
		}
		counted := func() map[string]time.Time {
			t.Helper()
			all, err := segment.List(t.Context(), o.db, o.acme, segment.Filter{})
			o.ok(err)
			m := map[string]time.Time{}
			for _, s := range all {
				if s.EvaluatedAt != nil {
					m[s.Key] = *s.EvaluatedAt
				}
			}
			return m
		}
		germans := o.createRule("Germans", german)
		vip := list(t, o.db, o.acme, "VIP")
		tickUntilIdle()
		if got := counted(); len(got) != 9 || !got["germans"].Equal(noon) {
			t.Errorf("at first: %v, want all nine counted", got)
		}
		o.createInCountry("DE", 2)
		used = []segment.Used{{Tenant: o.acme, Segment: germans.ID}, {Tenant: o.other, Segment: vip.ID}}
		now = noon.Add(14 * time.Minute)
		tickUntilIdle()
		if got := counted(); !got["germans"].Equal(noon) {
			t.Errorf("after 14 minutes: %v", got)
		}
		now = noon.Add(16 * time.Minute)
		tickUntilIdle()
		if got := counted(); !got["germans"].Equal(now) || !got["vip"].Equal(noon) {
			t.Errorf("after 16 minutes: %v, want only the used one counted", got)
		}
		now = noon.Add(13 * time.Hour) // 2 at night in Berlin
		tickUntilIdle()
		for key, at := range counted() {
			if !at.Equal(now) {
				t.Errorf("%s was counted %v, want it counted at night", key, at)
			}
		}
	})
}

// Counts follow the changes of a large account: soon after a job, else the later the more contacts it has.
func TestTheRefresherFollowsChangesOfLargeAccounts(t *testing.T) {
	eachAccount(t, func(t *testing.T, o account) {
		now := noon
		r := &segment.Refresher{DB: o.db, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)}
		s := o.createRule("Germans", german)
		count := func() int {
			t.Helper()
			for more := true; more; {
				var err error
				more, err = r.Tick(t.Context())
				o.ok(err)
			}
			s, err := segment.Find(t.Context(), o.db, o.acme, s.Key)
			o.ok(err)
			return *s.Members
		}
		o.enlarge(40_000)
		if got := count(); got != 0 {
			t.Errorf("at first %d", got)
		}
		now = now.Add(time.Minute)
		_, err := contact.Create(t.Context(), o.db, o.acme, "de@example.org", contact.Change{Texts: map[contact.Text]*string{contact.Country: new("DE")}}, contact.Rules{}, now)
		o.ok(err)
		if now = now.Add(59 * time.Second); count() != 0 {
			t.Error("an account with 40,000 contacts was counted again within two minutes")
		}
		if now = now.Add(2 * time.Second); count() != 1 {
			t.Error("after two minutes the contact that was added is not counted")
		}
		o.createInCountry("DE", 1)
		j, err := job.Create(t.Context(), o.db, job.Draft{Tenant: o.acme, Kind: job.Import, Scope: auth.ContactsWrite, Params: map[string]int{}, By: auth.System}, now)
		o.ok(err)
		_, err = job.Cancel(t.Context(), o.db, o.acme, j.ID, now)
		o.ok(err)
		if now = now.Add(4 * time.Second); count() != 1 {
			t.Error("it was counted before transactions of the import may have ended")
		}
		if now = now.Add(time.Second); count() != 2 {
			t.Error("five seconds after the end of the import its contact is not counted")
		}
		now = now.Add(time.Hour)
		before, err := r.Claim(t.Context())
		o.ok(err)
		if len(before) > 0 {
			t.Errorf("nothing has changed for an hour, and %d segments are counted", len(before))
		}
	})
}

// Two refreshers never claim the same segment.
func TestRefreshersShareTheWork(t *testing.T) {
	eachAccount(t, func(t *testing.T, o account) {
		for i := range 30 {
			o.createRule(fmt.Sprint("s", i), german)
		}
		var wg sync.WaitGroup
		var mu sync.Mutex
		claimed := map[string]int{}
		for range 3 {
			r := &segment.Refresher{DB: o.db, Now: func() time.Time { return noon }, Log: slog.New(slog.DiscardHandler)}
			wg.Go(func() {
				for {
					due, err := r.Claim(context.Background())
					if err != nil {
						t.Error(err)
					}
					if len(due) == 0 {
						return
					}
					mu.Lock()
					for _, u := range due {
						claimed[u.Segment.String()]++
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if most := slices.Max(slices.Collect(maps.Values(claimed))); len(claimed) != 44 || most != 1 {
			t.Errorf("%d segments were claimed, up to %d times; want 44 once", len(claimed), most)
		}
	})
}

func TestConcurrentRecounts(t *testing.T) {
	eachAccount(t, func(t *testing.T, o account) {
		s := o.createRule("Germans", german)
		c := &segment.Counter{DB: o.db, Now: func() time.Time { return noon }}
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				o.createContact(fmt.Sprintf("x%d@example.org", i), contact.Change{Texts: map[contact.Text]*string{contact.Country: new("DE")}})
				if got, err := c.Recount(context.Background(), o.acme, s.ID); err != nil || *got.MembersAll < 1 {
					t.Errorf("Recount = %+v, %v", got, err)
				}
			})
		}
		wg.Wait()
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.Recount(ended, o.acme, s.ID); !errors.Is(err, context.Canceled) {
			t.Errorf("Recount with a canceled context = %v", err)
		}
		if got, err := c.Recount(t.Context(), o.acme, s.ID); err != nil || *got.MembersAll != 20 {
			t.Errorf("Recount = %+v, %v", got, err)
		}
		if _, err := c.Recount(t.Context(), o.other, s.ID); !errors.Is(err, segment.ErrNotFound) {
			t.Errorf("another tenant's Recount = %v", err)
		}
	})
}
