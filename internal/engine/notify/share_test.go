package notify

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// newTLSReceiver returns a receiver with https.
func newTLSReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{t: t}
	r.Server = httptest.NewTLSServer(r)
	t.Cleanup(r.Close)
	return r
}

// run runs an engine until the returned function is called.
func (s *site) run(e *Engine) (stop func()) {
	ctx, cancel := context.WithCancel(s.t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := e.Run(ctx); err != nil {
			s.t.Error(err)
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

// await polls until do returns true.
func await(t *testing.T, what string, do func() bool) {
	t.Helper()
	for range 3000 {
		if do() {
			return
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-t.Context().Done():
		}
	}
	t.Fatalf("%s did not happen", what)
}

func TestADeadEndpointHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newSite(t, db)
		release := make(chan struct{})
		var once sync.Once
		open := func() { once.Do(func() { close(release) }) }
		defer open()
		hanging := newReceiver(t, func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		})
		refusing, good := newReceiver(t, status(http.StatusInternalServerError)), newReceiver(t, nil)
		another, err := tenant.Create(t.Context(), db, "other", "Other", "", s.clock())
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			e, _ := s.endpoint(s.tenant, hanging.URL)
			for range 10 {
				s.test(e)
			}
		}
		e, _ := s.endpoint(s.tenant, refusing.URL)
		for range 50 {
			s.test(e)
		}
		stop := s.run(s.engine)
		defer stop()
		await(t, "the endpoints hang", func() bool { return len(hanging.requests()) >= 10 })
		e, _ = s.endpoint(another.ID, good.URL)
		for range 200 {
			s.test(e)
		}
		await(t, "the other tenant's delivery", func() bool { return len(good.requests()) == 200 })
		if n := len(hanging.requests()); n > maxTenantRequests+10 {
			t.Errorf("%d requests of one tenant hang", n)
		}
		open()
	})
}

func TestEventsAboutAContactArriveInOrder(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, r := newSite(t, db), newReceiver(t, nil)
		s.endpoint(s.tenant, r.URL)
		var entries []journal.Entry
		for i := range 60 {
			for c := range 5 {
				entries = append(entries, journal.Entry{
					Tenant: s.tenant, Type: journal.CustomEvent, Name: fmt.Sprint(i), Contact: id.Contact{0: 1, 15: byte(c)}, At: s.clock(),
				})
			}
		}
		if err := journal.Append(t.Context(), db, entries...); err != nil {
			t.Fatal(err)
		}
		s.follow()
		s.tick()
		last := map[string]int{}
		for _, one := range r.requests() {
			ev := decode(t, one)
			c, n := ev.Data["contact_id"].(string), ev.Data["event_name"].(string)
			if n != fmt.Sprint(last[c]) {
				t.Fatalf("contact %s: event %s came in place of %d", c, n, last[c])
			}
			last[c]++
		}
		if got := slices.Collect(maps.Values(last)); len(got) != 5 || slices.Min(got) != 60 {
			t.Errorf("events by contact: %v", last)
		}
	})
}

func TestNodesShareTheEndpoints(t *testing.T) {
	t.Parallel()
	db := dbtest.Postgres(t)
	s, r := newSite(t, db), newReceiver(t, nil)
	const endpoints, each = 12, 25
	for range endpoints {
		e, _ := s.endpoint(s.tenant, r.URL)
		for range each {
			s.test(e)
		}
	}
	first, second := s.run(s.newEngine("a")), s.run(s.newEngine("b"))
	await(t, "all deliveries", func() bool { return len(r.requests()) >= endpoints*each })
	first()
	second()
	seen := map[string]int{}
	for _, one := range r.requests() {
		seen[one.header.Get("webhook-id")]++
	}
	for message, n := range seen {
		if n != 1 {
			t.Errorf("%s arrived %d times", message, n)
		}
	}
	if len(seen) != endpoints*each {
		t.Errorf("%d deliveries arrived, want %d", len(seen), endpoints*each)
	}
}

func TestResultsOfALostLeaseAreDropped(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newSite(t, db)
		e, _ := s.endpoint(s.tenant, "https://example.com/")
		d := s.test(e)
		lease := func(owner string) webhook.Lease {
			t.Helper()
			list, err := webhook.Acquire(t.Context(), db, owner, 10, false, s.clock(), s.clock().Add(leaseTime))
			if err != nil || len(list) != 1 {
				t.Fatalf("Acquire for %s = %v, %v", owner, list, err)
			}
			return list[0]
		}
		old := lease("one")
		if list, err := webhook.Acquire(t.Context(), db, "two", 10, false, s.clock(), s.clock().Add(leaseTime)); err != nil || len(list) != 0 {
			t.Fatalf("a second process has leased it too: %v, %v", list, err)
		}
		s.advance(leaseTime)
		now := lease("two")
		items, err := old.Due(t.Context(), db, s.box, 10, s.clock())
		if err != nil || len(items) != 1 {
			t.Fatalf("Due = %v, %v", items, err)
		}
		gone := webhook.Attempt{At: s.clock(), Code: http.StatusGone}
		if _, err := webhook.Commit(t.Context(), db, []webhook.Result{{Lease: old, Item: items[0], Attempt: gone}}); err != nil {
			t.Fatal(err)
		}
		if got := s.delivery(d); got.Status != webhook.Pending || got.Attempts != 0 || !s.get(e).Active {
			t.Errorf("a result of a lost lease was stored: %+v", got)
		}
		if own, err := webhook.Renew(t.Context(), db, "one", s.clock().Add(leaseTime)); err != nil || len(own) != 0 {
			t.Errorf("Renew of the lost lease = %v, %v", own, err)
		}
		if own, err := webhook.Renew(t.Context(), db, "two", s.clock().Add(leaseTime)); err != nil || !own[now.Same()] {
			t.Errorf("Renew = %v, %v", own, err)
		}
		if more, err := now.Release(t.Context(), db, false, false, s.clock()); err != nil || !more {
			t.Errorf("Release with a due delivery = %v, %v", more, err)
		}
		fine := webhook.Attempt{At: s.clock(), Code: http.StatusOK}
		if _, err := webhook.Commit(t.Context(), db, []webhook.Result{{Lease: now, Item: items[0], Attempt: fine, Health: true}}); err != nil {
			t.Fatal(err)
		}
		if more, err := now.Release(t.Context(), db, false, false, s.clock()); err != nil || more {
			t.Errorf("Release = %v, %v", more, err)
		}
		if got := s.delivery(d); got.Status != webhook.Delivered {
			t.Errorf("delivery = %+v", got)
		}
	})
}

func TestADeletedEndpointsDeliveriesAreDeleted(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, r := newSite(t, db), newReceiver(t, nil)
		e, _ := s.endpoint(s.tenant, r.URL)
		kept, _ := s.endpoint(s.tenant, r.URL)
		for range 5 {
			s.test(e)
		}
		s.tick()
		s.test(e)
		d := s.test(kept)
		if err := webhook.Delete(t.Context(), db, s.tenant, e.ID, s.clock()); err != nil {
			t.Fatal(err)
		}
		s.tick()
		for table, want := range map[string]int{"webhook_endpoint": 1, "webhook_queue": 1, "webhook_delivery": 1} {
			var n int
			if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM `+table+` WHERE tenant_id = $1`, s.tenant).Scan(&n); err != nil || n != want {
				t.Errorf("%s has %d rows, %v; want %d", table, n, err, want)
			}
		}
		if got := s.delivery(d); got.Status != webhook.Delivered || len(r.requests()) != 6 {
			t.Errorf("the other endpoint's: %+v, %d requests", got, len(r.requests()))
		}
	})
}

func TestDeactivatingEndsWaitingDeliveries(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, r := newSite(t, db), newReceiver(t, status(http.StatusInternalServerError))
		e, _ := s.endpoint(s.tenant, r.URL)
		d := s.test(e)
		s.tick()
		if _, err := webhook.Update(t.Context(), db, s.tenant, e.ID, webhook.Fields{Active: new(false)}, webhook.Rules{AllowPrivate: true}, s.clock()); err != nil {
			t.Fatal(err)
		}
		if _, err := contact.Create(t.Context(), db, s.tenant, "ann@example.org", contact.Change{}, contact.Rules{}, s.clock()); err != nil {
			t.Fatal(err)
		}
		s.follow()
		s.tick()
		if got := s.delivery(d); got.Status != webhook.Failed || got.Error == "" || got.Attempts != 1 {
			t.Errorf("delivery = %+v", got)
		}
		if list, err := webhook.Deliveries(t.Context(), db, s.tenant, e.ID, id.Delivery{}, 10); err != nil || len(list) != 1 {
			t.Errorf("%d deliveries, %v; want 1", len(list), err)
		}
	})
}
