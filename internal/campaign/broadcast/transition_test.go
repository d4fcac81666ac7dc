package broadcast_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// call is an operation on a broadcast by a caller or the platform.
type call struct {
	name   string
	action broadcast.Action // empty: the platform's
	do     func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast, now time.Time) error
	from   []broadcast.Status
	to     broadcast.Status // empty: the status stays
}

// calls is the table of legal transitions.
func calls() []call {
	type st = broadcast.Status
	ended := []st{broadcast.Completed, broadcast.Failed, broadcast.Cancelled}
	hold := func(why broadcast.PauseReason) func(context.Context, *sqldb.DB, id.Tenant, id.Broadcast, time.Time) error {
		return func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast, now time.Time) error {
			return broadcast.Pause(ctx, db, tenant, bid, why, now)
		}
	}
	return []call{
		{"schedule", broadcast.ActionSchedule, broadcast.Schedule, []st{broadcast.Draft}, broadcast.Scheduled},
		{"unschedule", broadcast.ActionUnschedule, broadcast.Unschedule, []st{broadcast.Scheduled}, broadcast.Draft},
		{"pause", broadcast.ActionPause, hold(broadcast.ByUser), []st{broadcast.Sending}, broadcast.Paused},
		{"capacity collapsed", "", hold(broadcast.CapacityCollapsed), []st{broadcast.Sending}, broadcast.Paused},
		{"resume", broadcast.ActionResume, broadcast.Resume, []st{broadcast.Paused}, broadcast.Sending},
		{"cancel", broadcast.ActionCancel, broadcast.Cancel, []st{broadcast.Scheduled, broadcast.Sending, broadcast.Paused}, broadcast.Cancelled},
		{"archive", broadcast.ActionArchive, broadcast.Archive, ended, ""},
		{"unarchive", broadcast.ActionUnarchive, broadcast.Unarchive, ended, ""},
		{"update", broadcast.ActionUpdate, func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast, now time.Time) error {
			_, err := broadcast.Update(ctx, draft.Author{DB: db, Now: now}, tenant, bid, broadcast.Change{Name: new("again")})
			return err
		}, []st{broadcast.Draft}, ""},
		{"begin", "", func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast, now time.Time) error {
			return begin(ctx, db, tenant, bid, now)
		}, []st{broadcast.Scheduled}, broadcast.Sending},
		{"complete", "", broadcast.Complete, []st{broadcast.Sending}, broadcast.Completed},
		{"fail", "", func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast, now time.Time) error {
			return broadcast.Fail(ctx, db, tenant, bid, broadcast.AllFailed, now)
		}, []st{broadcast.Sending}, broadcast.Failed},
	}
}

// begin does what the dispatcher does.
func begin(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast, now time.Time) error {
	b, err := broadcast.Load(ctx, db, tenant, bid)
	if err != nil {
		return err
	}
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		return broadcast.Begin(ctx, tx, b, map[string]id.Content{"": idtest.Named[id.Content]("content")}, now)
	})
}

// No series of calls leads to a status that the table does not allow, exactly the available actions
// succeed, and no other tenant's broadcast changes.
func TestEveryTransitionIsInTheTable(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a, other := newAccount(t, db), newOtherAccount(t, db)
		foreign := other.Schedule()
		rapid.Check(t, func(rt *rapid.T) {
			b := a.Create()
			for range rapid.IntRange(1, 12).Draw(rt, "calls") {
				before := a.Load(b.ID)
				c := rapid.SampledFrom(calls()).Draw(rt, "call")
				if c.name == "begin" && before.StartedAt != nil {
					continue // a broadcast that has started is never scheduled again
				}
				err := c.do(t.Context(), db, a.Tenant, b.ID, now)
				after := a.Load(b.ID)
				legal := slices.Contains(c.from, before.Status)
				if c.action == broadcast.ActionArchive && before.ArchivedAt != nil || c.action == broadcast.ActionUnarchive && before.ArchivedAt == nil {
					legal = false
				}
				if c.action != "" && before.Can(c.action) != legal {
					rt.Fatalf("%s: Can(%s) = %v, want %v", before.Status, c.action, !legal, legal)
				}
				want := broadcast.ErrTransition
				if c.action == broadcast.ActionUpdate {
					want = broadcast.ErrNotDraft
				}
				switch {
				case legal && err != nil:
					rt.Fatalf("%s from %s = %v", c.name, before.Status, err)
				case !legal && !errors.Is(err, want):
					rt.Fatalf("%s from %s = %v, want %v", c.name, before.Status, err, want)
				case !legal && (after.Status != before.Status || after.Revision != before.Revision):
					rt.Fatalf("refused %s moved %s to %s", c.name, before.Status, after.Status)
				case legal && c.to != "" && after.Status != c.to:
					rt.Fatalf("%s from %s led to %s, want %s", c.name, before.Status, after.Status, c.to)
				case legal && c.to == "" && after.Status != before.Status:
					rt.Fatalf("%s moved %s to %s", c.name, before.Status, after.Status)
				}
				if (after.PauseReason != "") != (after.Status == broadcast.Paused) || (after.ArchivedAt != nil) && !after.Status.Ended() {
					rt.Fatalf("%s is paused by %q, archived %v", after.Status, after.PauseReason, after.ArchivedAt)
				}
				if (after.Failure != nil) != (after.Status == broadcast.Failed) {
					rt.Fatalf("%s has failure %+v", after.Status, after.Failure)
				}
			}
		})
		if got := other.Load(foreign.ID); got.Status != broadcast.Scheduled || got.Revision != foreign.Revision {
			t.Errorf("a stranger's broadcast is %s at revision %d, want it untouched", got.Status, got.Revision)
		}
	})
}

func TestTransitionsUpdateTheSendAndTheJournal(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := newAccount(t, db)
		b := a.Schedule()
		at := now
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		phase := func() outbox.Phase {
			t.Helper()
			p, err := outbox.Load(t.Context(), db, a.Tenant, b.Send)
			must(err)
			return p.Phase
		}
		must(begin(t.Context(), db, a.Tenant, b.ID, at))
		if got := phase(); got != outbox.Held {
			t.Errorf("a send that began is %s, want held", got)
		}
		must(broadcast.Pause(t.Context(), db, a.Tenant, b.ID, broadcast.ByUser, at))
		must(broadcast.Resume(t.Context(), db, a.Tenant, b.ID, at))
		if got := phase(); got == outbox.Open {
			t.Error("a send resumed during its preparation lets messages leave")
		}
		run, ok, err := broadcast.Lease(t.Context(), db, a.Tenant, b.ID, "me", at, at.Add(time.Minute))
		if err != nil || !ok {
			t.Fatalf("Lease = %v, %v", ok, err)
		}
		must(db.InTx(t.Context(), func(tx *sqldb.DB) error {
			_, err := outbox.AddMessages(t.Context(), tx, a.Tenant, b.Send, []outbox.Message{{Contact: id.New[id.Contact](), Email: "ann@example.com", DueAt: at}})
			return errors.Join(err, run.Prepared(t.Context(), tx, at))
		}))
		if got := phase(); got != outbox.Open {
			t.Errorf("a prepared send is %s, want open", got)
		}
		must(broadcast.Pause(t.Context(), db, a.Tenant, b.ID, broadcast.ByUser, at))
		if got := phase(); got != outbox.Paused {
			t.Errorf("a paused send is %s, want paused", got)
		}
		must(broadcast.Resume(t.Context(), db, a.Tenant, b.ID, at))
		must(broadcast.Cancel(t.Context(), db, a.Tenant, b.ID, at))
		if got := phase(); got != outbox.Done {
			t.Errorf("a cancelled send of which nothing is under way is %s, want done", got)
		}
		var types []journal.Type
		must((&journal.Engine{DB: db, Followers: []journal.Follower{{Name: "test", Follow: func(_ context.Context, _ *sqldb.DB, entries []journal.Entry) error {
			for _, e := range entries {
				if e.Name == b.ID.String() && e.Send.IsZero() {
					types = append(types, e.Type)
				}
			}
			return nil
		}}}}).Drain(t.Context()))
		want := []journal.Type{
			journal.BroadcastScheduled, journal.BroadcastStarted, journal.BroadcastPaused, journal.BroadcastResumed,
			journal.BroadcastPaused, journal.BroadcastResumed, journal.BroadcastCancelled,
		}
		if !slices.Equal(types, want) {
			t.Errorf("the journal has %v, want %v", types, want)
		}
	})
}

// A send may end while its broadcast is being paused. The broadcast stays paused and completes when
// it is resumed; its run has ended in either case.
func TestASendEndsWhileItsBroadcastIsPaused(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for want, next := range map[broadcast.Status]func(context.Context, *sqldb.DB, id.Tenant, id.Broadcast, time.Time) error{
			broadcast.Completed: broadcast.Resume, broadcast.Cancelled: broadcast.Cancel,
		} {
			a := broadcasttest.New(t, db, "acme-"+string(want))
			b := a.Schedule()
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			must(begin(t.Context(), db, a.Tenant, b.ID, now))
			run, ok, err := broadcast.Lease(t.Context(), db, a.Tenant, b.ID, "me", now, now.Add(time.Minute))
			if err != nil || !ok {
				t.Fatalf("Lease = %v, %v", ok, err)
			}
			must(db.InTx(t.Context(), func(tx *sqldb.DB) error { return run.Prepared(t.Context(), tx, now) })) // with an empty audience
			must(broadcast.Pause(t.Context(), db, a.Tenant, b.ID, broadcast.ByUser, now))
			log := slog.New(slog.DiscardHandler)
			must((&journal.Engine{DB: db, Log: log, Followers: []journal.Follower{broadcast.Follower(log)}}).Drain(t.Context()))
			if got := a.Load(b.ID).Status; got != broadcast.Paused {
				t.Errorf("the broadcast is %s, want paused", got)
			}
			must(next(t.Context(), db, a.Tenant, b.ID, now))
			if got := a.Load(b.ID).Status; got != want {
				t.Errorf("the broadcast is %s, want %s", got, want)
			}
			if run, err = broadcast.LoadRun(t.Context(), db, a.Tenant, b.ID); err != nil || run.EndedAt == nil {
				t.Errorf("the run of a %s broadcast has not ended: %v", want, err)
			}
		}
	})
}

func TestResumeFailsWhileTheCauseExists(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := newAccount(t, db)
		b := a.Schedule()
		if err := errors.Join(
			begin(t.Context(), db, a.Tenant, b.ID, now),
			tenant.Pause(t.Context(), db, a.Tenant, "unpaid", now),
			broadcast.Pause(t.Context(), db, a.Tenant, b.ID, broadcast.TenantPaused, now),
		); err != nil {
			t.Fatal(err)
		}
		if err := broadcast.Resume(t.Context(), db, a.Tenant, b.ID, now); !errors.Is(err, broadcast.ErrCauseActive) {
			t.Errorf("resume while the tenant is paused = %v, want PAUSE_CAUSE_ACTIVE", err)
		}
		offered := func() bool {
			t.Helper()
			actions, err := a.Load(b.ID).AvailableNow(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			return slices.Contains(actions, broadcast.ActionResume)
		}
		if offered() {
			t.Error("resuming is available while the tenant is paused")
		}
		if err := tenant.Resume(t.Context(), db, a.Tenant, now); err != nil {
			t.Fatal(err)
		}
		if !offered() {
			t.Error("resuming is not available once the tenant is back")
		}
		if err := broadcast.Resume(t.Context(), db, a.Tenant, b.ID, now); err != nil {
			t.Errorf("resume once the tenant is back = %v", err)
		}
	})
}

func TestOnlyDraftsAreDeleted(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a, other := newAccount(t, db), newOtherAccount(t, db)
		draft, scheduled := a.Create(), a.Schedule()
		for _, tt := range []struct {
			name   string
			tenant id.Tenant
			bid    id.Broadcast
			want   error
		}{
			{"a stranger's", other.Tenant, draft.ID, broadcast.ErrNotFound},
			{"a draft", a.Tenant, draft.ID, nil},
			{"a draft again", a.Tenant, draft.ID, broadcast.ErrNotFound},
			{"a scheduled one", a.Tenant, scheduled.ID, broadcast.ErrNotDraft},
		} {
			if err := broadcast.Delete(t.Context(), db, tt.tenant, tt.bid); !errors.Is(err, tt.want) {
				t.Errorf("Remove of %s = %v, want %v", tt.name, err, tt.want)
			}
		}
	})
}

// A broadcast that was unscheduled and edited after the dispatcher read it does not start with the
// old content.
func TestBeginChecksTheRevision(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := newAccount(t, db)
		read := a.Schedule()
		if err := errors.Join(
			broadcast.Unschedule(t.Context(), db, a.Tenant, read.ID, now),
			broadcast.Schedule(t.Context(), db, a.Tenant, read.ID, now),
		); err != nil {
			t.Fatal(err)
		}
		err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
			return broadcast.Begin(t.Context(), tx, read, map[string]id.Content{"": idtest.Named[id.Content]("content")}, now)
		})
		if !broadcast.Stale(err) || a.Load(read.ID).Status != broadcast.Scheduled {
			t.Errorf("Begin = %v, and the broadcast is %s", err, a.Load(read.ID).Status)
		}
	})
}

// Of many concurrent callers of the same transition, one succeeds.
func TestOneOfConcurrentCallersSucceeds(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := newAccount(t, db)
		b := a.Create()
		results := make(chan error, 8)
		for range cap(results) {
			go func() { results <- broadcast.Schedule(t.Context(), db, a.Tenant, b.ID, broadcasttest.Now) }()
		}
		won := 0
		for range cap(results) {
			err := <-results
			if err == nil {
				won++
			} else if !errors.Is(err, broadcast.ErrTransition) {
				t.Errorf("schedule = %v, want INVALID_TRANSITION", err)
			}
		}
		if won != 1 {
			t.Errorf("%d of 8 callers scheduled the draft, want 1", won)
		}
	})
}
