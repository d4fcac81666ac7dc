package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/slug"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/engine/dispatch"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var now = broadcasttest.Now

// engine returns a dispatcher with small pages and a clock that the test moves.
func engine(db *sqldb.DB, owner string, at *time.Time) *dispatch.Engine {
	return &dispatch.Engine{DB: db, Owner: owner, Now: func() time.Time { return *at }, Log: slog.New(slog.DiscardHandler), Page: 3, Pages: 1}
}

// settle calls Tick until nothing can continue at once, cancels waiting messages of cancelled sends
// as engine/deliver does, and runs the journal's followers.
func settle(t *testing.T, e *dispatch.Engine) {
	t.Helper()
	more := true
	for n := 0; more; n++ {
		var err error
		if more, err = e.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n == 100 {
			t.Fatal("the dispatcher does not come to rest")
		}
	}
	ready, err := outbox.ReadySends(t.Context(), e.DB)
	for _, r := range ready {
		for n := 1; r.Cancelled && err == nil && n > 0; {
			n, err = outbox.CancelWaiting(t.Context(), e.DB, r.Tenant, r.Send, e.Now())
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	journals := &journal.Engine{DB: e.DB, Log: e.Log, Followers: []journal.Follower{broadcast.Follower(e.Log)}}
	if err := journals.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func progress(t *testing.T, a *broadcasttest.Account, b id.Broadcast) outbox.Progress {
	t.Helper()
	p, err := outbox.Load(t.Context(), a.DB, a.Tenant, a.SendOf(b))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// recipients returns how many messages each contact has in a broadcast.
func recipients(t *testing.T, a *broadcasttest.Account, b id.Broadcast) map[id.Contact]int {
	t.Helper()
	list, err := outbox.First(t.Context(), a.DB, a.Tenant, a.SendOf(b), 10_000)
	if err != nil {
		t.Fatal(err)
	}
	got := map[id.Contact]int{}
	for _, r := range list {
		got[r.Contact]++
	}
	return got
}

// send marks all waiting messages as sent or failed.
func send(t *testing.T, a *broadcasttest.Account, b id.Broadcast, state outbox.State, why string) {
	t.Helper()
	n := outbox.Node{DB: a.DB, Owner: "test"}
	if err := n.Renew(t.Context(), now.Add(48*time.Hour)); err != nil {
		t.Fatal(err)
	}
	items, err := n.Claim(t.Context(), a.Tenant, a.SendOf(b), 10_000, now.Add(24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	results := make([]outbox.Result, len(items))
	for i, it := range items {
		results[i] = outbox.Result{Item: it, State: state, Error: why}
	}
	if _, err := n.Commit(t.Context(), results, nil, now.Add(24*time.Hour)); err != nil {
		t.Fatal(err)
	}
}

func TestADueBroadcastReachesItsAudienceOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a, other := broadcasttest.New(t, db, "acme"), broadcasttest.New(t, db, "other")
		foreign := other.Schedule(func(ch *broadcast.Change) { ch.Start.At = new(now.Add(time.Hour)) })
		other.AddContacts(other.List.ID, "x", 2)
		people := a.AddContacts(a.List.ID, "a", 7)
		second := a.AddList("Second")
		if _, err := segment.Add(t.Context(), db, a.Tenant, second.ID, segment.People{IDs: []id.Contact{people[0].ID, people[3].ID}}, now); err != nil {
			t.Fatal(err)
		}
		excluded := a.AddList("Excluded")
		if _, err := segment.Add(t.Context(), db, a.Tenant, excluded.ID, segment.People{IDs: []id.Contact{people[6].ID}}, now); err != nil {
			t.Fatal(err)
		}
		b := a.Schedule(func(ch *broadcast.Change) {
			ch.Include = &[]id.Segment{second.ID, a.List.ID}
			ch.Exclude = &[]id.Segment{excluded.ID}
			ch.Start.At = new(now.Add(time.Minute))
		})
		unset := a.Schedule(func(ch *broadcast.Change) { ch.Start = nil })
		at := now
		e := engine(db, "one", &at)
		settle(t, e)
		if got := a.Load(b.ID).Status; got != broadcast.Scheduled {
			t.Fatalf("before its time the broadcast is %s", got)
		}
		at = now.Add(10 * time.Hour) // downtime
		if err := tenant.Pause(t.Context(), db, other.Tenant, "unpaid", now); err != nil {
			t.Fatal(err)
		}
		settle(t, e)
		got := recipients(t, a, b.ID)
		want := map[id.Contact]int{}
		for _, c := range people[:6] {
			want[c.ID] = 1
		}
		if !maps.Equal(got, want) {
			t.Errorf("recipients = %v, want each of six once", got)
		}
		p := progress(t, a, b.ID)
		if p.Phase != outbox.Open || !p.Sealed || p.Total != 6 {
			t.Errorf("the send is %+v, want it open, sealed, with 6", p)
		}
		sending := a.Load(b.ID)
		if sending.Status != broadcast.Sending || !sending.StartedAt.Equal(at) {
			t.Errorf("the broadcast is %s, started %v", sending.Status, sending.StartedAt)
		}
		if got := a.Load(unset.ID).Status; got != broadcast.Scheduled {
			t.Errorf("a broadcast without a time is %s, want scheduled", got)
		}
		if got := other.Load(foreign.ID).Status; got != broadcast.Scheduled {
			t.Errorf("a paused tenant's broadcast is %s, want scheduled", got)
		}
		send(t, a, b.ID, outbox.Delivered, "")
		settle(t, e)
		done := a.Load(b.ID)
		if done.Status != broadcast.Completed || done.CompletedAt == nil || progress(t, a, b.ID).Phase != outbox.Done {
			t.Errorf("when all was sent the broadcast is %s (%v), its send %s", done.Status, done.CompletedAt, progress(t, a, b.ID).Phase)
		}
		if open, err := broadcast.OpenRuns(t.Context(), db); err != nil || len(open) != 0 {
			t.Errorf("open runs at the end: %v, %v", open, err)
		}
	})
}

func TestExclusionsAreCountedByReason(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		people := a.AddContacts(a.List.ID, "a", 8)
		ctx := t.Context()
		err := errors.Join(
			contact.Unsubscribe(ctx, db, a.Tenant, people[0].ID, contact.UnsubscribeScope{TypeKey: a.Type.Key}, now),
			contact.Unsubscribe(ctx, db, a.Tenant, people[1].ID, contact.UnsubscribeScope{Everything: true}, now),
		)
		_, add := suppression.Add(ctx, db, a.Tenant, people[2].Email, "asked", now)
		_, other := suppression.Add(ctx, db, a.Tenant, people[3].Email, "asked", now)
		_, _, upsert := contact.Upsert(ctx, db, a.Tenant, people[4].Email, contact.Change{DoNotContact: new(true)}, contact.Rules{Listed: suppression.QueueListed}, now)
		if err := errors.Join(err, add, other, upsert); err != nil {
			t.Fatal(err)
		}
		b := a.Schedule()
		at := now
		settle(t, engine(db, "one", &at))
		run, err := broadcast.LoadRun(ctx, db, a.Tenant, b.ID)
		want := map[string]int{
			contact.SkipUnsubscribedType: 1, contact.SkipNotActive: 1, contact.SkipSuppressedAddress: 2, contact.SkipDoNotContact: 1,
		}
		if err != nil || !maps.Equal(run.Excluded, want) {
			t.Errorf("excluded = %v, %v; want %v", run.Excluded, err, want)
		}
		if got := progress(t, a, b.ID).Total; got != 3 {
			t.Errorf("total_recipients = %d, want 3", got)
		}
	})
}

// A preparation that is interrupted between any two pages and continued by another process misses
// no contact, sends no duplicates, and counts each contact once.
func TestACrashRepeatsAndLosesNoMessage(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		people := a.AddContacts(a.List.ID, "a", 13)
		for _, i := range []int{1, 5, 12} {
			if _, err := suppression.Add(t.Context(), db, a.Tenant, people[i].Email, "", now); err != nil {
				t.Fatal(err)
			}
		}
		for k := range 6 {
			b := a.Schedule()
			at := now
			first := engine(db, "first", &at)
			for range k {
				if _, err := first.Tick(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			// The process dies within a page: its lease remains.
			if _, _, err := broadcast.Lease(t.Context(), db, a.Tenant, b.ID, "first", at, at.Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			second := engine(db, "second", &at)
			if _, err := second.Tick(t.Context()); err != nil {
				t.Fatal(err)
			}
			at = at.Add(2 * time.Minute)
			settle(t, second)
			got := recipients(t, a, b.ID)
			for c, n := range got {
				if n != 1 {
					t.Errorf("after %d pages: contact %s has %d messages", k, c, n)
				}
			}
			run, err := broadcast.LoadRun(t.Context(), db, a.Tenant, b.ID)
			if err != nil || len(got) != 10 || progress(t, a, b.ID).Total != 10 || run.Excluded[contact.SkipSuppressedAddress] != 3 || run.PreparedAt == nil {
				t.Errorf("after %d pages: %d recipients, %d counted, run %+v, %v; want 10 and 3 excluded", k, len(got), progress(t, a, b.ID).Total, run, err)
			}
			if err := broadcast.Cancel(t.Context(), db, a.Tenant, b.ID, at); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Whatever the order of pages, pauses, resumptions and cancellations: a paused or cancelled
// broadcast gets no further pages, and a resumed one misses no contact.
func TestPauseAndCancelDuringPreparation(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		a.AddContacts(a.List.ID, "a", 10)
		rapid.Check(t, func(rt *rapid.T) {
			b := a.Schedule()
			at := now
			engines := []*dispatch.Engine{engine(db, "one", &at), engine(db, "two", &at)}
			for range rapid.IntRange(0, 8).Draw(rt, "steps") {
				before, total := a.Load(b.ID).Status, progress(t, a, b.ID).Total
				switch rapid.SampledFrom([]string{"tick", "tick", "tick", "pause", "resume", "cancel"}).Draw(rt, "step") {
				case "tick":
					if _, err := rapid.SampledFrom(engines).Draw(rt, "engine").Tick(t.Context()); err != nil {
						rt.Fatal(err)
					}
					if got := progress(t, a, b.ID).Total; got != total && before != broadcast.Sending && before != broadcast.Scheduled {
						rt.Fatalf("a %s broadcast went from %d to %d messages", before, total, got)
					}
				case "pause":
					_ = broadcast.Pause(t.Context(), db, a.Tenant, b.ID, broadcast.ByUser, at)
				case "resume":
					_ = broadcast.Resume(t.Context(), db, a.Tenant, b.ID, at)
				case "cancel":
					_ = broadcast.Cancel(t.Context(), db, a.Tenant, b.ID, at)
				}
			}
			_ = broadcast.Resume(t.Context(), db, a.Tenant, b.ID, at)
			settle(t, engines[0])
			p := progress(t, a, b.ID)
			switch status := a.Load(b.ID).Status; status {
			case broadcast.Sending:
				if p.Total != 10 || p.Phase != outbox.Open {
					rt.Fatalf("a send that goes on has %d of 10 messages and is %s", p.Total, p.Phase)
				}
				if err := broadcast.Cancel(t.Context(), db, a.Tenant, b.ID, at); err != nil {
					rt.Fatal(err)
				}
			case broadcast.Cancelled:
				if p.Waiting != 0 || p.Cancelled != p.Total {
					rt.Fatalf("a cancelled send still has %d waiting, %d of %d cancelled", p.Waiting, p.Cancelled, p.Total)
				}
			default:
				rt.Fatalf("the broadcast is %s", status)
			}
		})
	})
}

func TestABroadcastThatCannotBePreparedFails(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for _, tt := range []struct {
			name  string
			spoil func(ctx context.Context, a *broadcasttest.Account) error
			want  broadcast.FailureCode
		}{
			{"type", func(ctx context.Context, a *broadcasttest.Account) error {
				_, err := db.Exec(ctx, `DELETE FROM identity_email_type WHERE tenant_id = $1`, a.Tenant)
				return errors.Join(err, deleteTenantRows(ctx, a, "email_type"))
			}, broadcast.EmailTypeDeleted},
			{"lane", func(ctx context.Context, a *broadcasttest.Account) error {
				return deleteTenantRows(ctx, a, "mta_config")
			}, broadcast.LaneDeleted},
			{"lanes", func(ctx context.Context, a *broadcasttest.Account) error {
				_, err := db.Exec(ctx, `DELETE FROM mta_config WHERE tenant_id = $1 AND name <> 'Unnamed'`, a.Tenant)
				return err
			}, broadcast.LaneDeleted},
			{"sender", func(ctx context.Context, a *broadcasttest.Account) error {
				_, err := sender.UpdateIdentity(ctx, db, a.Tenant, a.Identity.ID, sender.IdentityFields{Active: new(false)}, broadcasttest.Now)
				return err
			}, broadcast.NoIdentity},
		} {
			for pages := range 2 { // before it begins, and during its preparation
				a := broadcasttest.New(t, db, fmt.Sprintf("%s-%d", tt.name, pages))
				a.AddContacts(a.List.ID, "a", 5)
				unnamed, wide := addLane(t, a, "Unnamed", 0), addLane(t, a, "Wide", 0)
				b := a.Schedule(func(ch *broadcast.Change) {
					if tt.name == "lanes" { // if all lanes of the delivery are unusable, no other replaces them
						ch.Lane = &unnamed.ID
						ch.Delivery = &broadcast.DeliveryChange{Lanes: &[]broadcast.LaneShare{{Lane: a.Lane.ID, Weight: 1}, {Lane: wide.ID, Weight: 1}}}
					}
				})
				at := now
				e := engine(db, "one", &at)
				for range pages {
					if _, err := e.Tick(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if err := tt.spoil(t.Context(), a); err != nil {
					t.Fatal(err)
				}
				settle(t, e)
				settle(t, e)
				got := a.Load(b.ID)
				if got.Status != broadcast.Failed || got.Failure == nil || got.Failure.Code != tt.want {
					t.Errorf("%s gone after %d pages: the broadcast is %s, %+v; want %s", tt.name, pages, got.Status, got.Failure, tt.want)
				}
				if p := progress(t, a, b.ID); p.Waiting != 0 {
					t.Errorf("%s gone after %d pages: %d messages still wait", tt.name, pages, p.Waiting)
				}
			}
		}
	})
}

// deleteTenantRows deletes a tenant's records without checking their use.
func deleteTenantRows(ctx context.Context, a *broadcasttest.Account, table string) error {
	_, err := a.DB.Exec(ctx, `DELETE FROM `+table+` WHERE tenant_id = $1`, a.Tenant)
	return err
}

func TestBroadcastsCompleteOrFail(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for _, tt := range []struct {
			name   string
			people int
			state  outbox.State
			error  string
			want   broadcast.Status
			code   broadcast.FailureCode
		}{
			{"empty", 0, outbox.Delivered, "", broadcast.Completed, ""},
			{"delivered", 2, outbox.Delivered, "", broadcast.Completed, ""},
			{"bounced", 2, outbox.Bounced, "550 no such user", broadcast.Completed, ""},
			{"skipped", 2, outbox.Skipped, "", broadcast.Completed, ""},
			{"failed", 2, outbox.Failed, "expired", broadcast.Failed, broadcast.AllFailed},
			{"unrendered", 2, outbox.Failed, "render_error: html: too many steps", broadcast.Failed, broadcast.RenderFailed},
		} {
			a := broadcasttest.New(t, db, tt.name)
			if tt.people > 0 {
				a.AddContacts(a.List.ID, "a", tt.people)
			}
			b := a.Schedule()
			at := now
			e := engine(db, "one", &at)
			settle(t, e)
			send(t, a, b.ID, tt.state, tt.error)
			settle(t, e)
			got := a.Load(b.ID)
			if got.Status != tt.want || got.CompletedAt == nil || tt.code != "" && got.Failure.Code != tt.code {
				t.Errorf("%s: the broadcast is %s (%+v), want %s (%s)", tt.name, got.Status, got.Failure, tt.want, tt.code)
			}
		}
	})
}

func TestAPausedTenantPausesItsSends(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		a.AddContacts(a.List.ID, "a", 2)
		b := a.Schedule()
		at := now
		e := engine(db, "one", &at)
		settle(t, e)
		if err := tenant.Pause(t.Context(), db, a.Tenant, "unpaid", now); err != nil {
			t.Fatal(err)
		}
		settle(t, e)
		if got := a.Load(b.ID); got.Status != broadcast.Paused || got.PauseReason != broadcast.TenantPaused || progress(t, a, b.ID).Phase != outbox.Paused {
			t.Errorf("the broadcast is %s (%s), its send %s", got.Status, got.PauseReason, progress(t, a, b.ID).Phase)
		}
	})
}

func TestContentIsFrozenWhenTheSendBegins(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		if _, err := sender.UpdateEmailType(t.Context(), db, a.Tenant, a.Type.ID, sender.EmailTypeFields{UTMCampaignPrefix: new("nl-")}, time.Now()); err != nil {
			t.Fatal(err)
		}
		b := a.Schedule(func(ch *broadcast.Change) {
			ch.Name = new("Spring Größe!")
			ch.Tracking = new(false)
		})
		at := now
		settle(t, engine(db, "one", &at))
		run, err := broadcast.LoadRun(t.Context(), db, a.Tenant, b.ID)
		if err != nil {
			t.Fatal(err)
		}
		frozen, err := content.Load(t.Context(), db, a.Tenant, run.Contents[""])
		if err != nil {
			t.Fatal(err)
		}
		want := content.Context{Broadcast: b.ID, BroadcastName: "Spring Größe!", EmailType: a.Type.ID, UTM: true, UTMCampaign: "nl-" + slug.Derive("Spring Größe!", '-')}
		if !cmp.Equal(frozen.Context, want) || frozen.Subject != "Spring news" || frozen.Tracking {
			t.Errorf("frozen %+v, subject %q, tracking %v; want %+v", frozen.Context, frozen.Subject, frozen.Tracking, want)
		}
	})
}

func TestRunStartsDueBroadcastsWhenWoken(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		a.AddContacts(a.List.ID, "a", 4)
		at := now
		e := engine(db, "one", &at)
		wake := make(chan struct{}, 1)
		e.Wake = wake
		ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
		defer stop()
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		b := a.Schedule()
		wake <- struct{}{}
		for progress(t, a, b.ID).Phase != outbox.Open {
			select {
			case <-ctx.Done():
				t.Fatal("the broadcast did not start")
			case wake <- struct{}{}:
			}
		}
		stop()
		if err := <-done; err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}
