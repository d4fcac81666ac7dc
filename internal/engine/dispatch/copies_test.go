package dispatch_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/engine/dispatch"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/seedlist"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// seedList makes a list with active seeds, which broadcasts from the account's identity include by
// default.
func seedList(t *testing.T, a *broadcasttest.Account, name string, at time.Time, emails ...string) id.SeedList {
	t.Helper()
	l, err := seedlist.Create(t.Context(), a.DB, a.Tenant, seedlist.Change{
		Name: &name, IncludeByDefault: new(true), RotationDays: new(new(10)), Identities: &[]id.Identity{a.Identity.ID},
	}, at)
	if err != nil {
		t.Fatal(err)
	}
	r := seedlist.Request{Kind: seedlist.Replace}
	for _, e := range emails {
		r.Add = append(r.Add, seedlist.Entry{Email: e})
	}
	if _, err := seedlist.Update(t.Context(), a.DB, a.Tenant, l.ID, r, at); err != nil {
		t.Fatal(err)
	}
	return l.ID
}

// copiesOf returns the run of a broadcast, and the messages to its seeds.
func copiesOf(t *testing.T, a *broadcasttest.Account, b id.Broadcast) (broadcast.Run, []outbox.Record) {
	t.Helper()
	run, err := broadcast.LoadRun(t.Context(), a.DB, a.Tenant, b)
	if err != nil {
		t.Fatal(err)
	}
	if run.Seeding == nil {
		return run, nil
	}
	list, err := outbox.First(t.Context(), a.DB, a.Tenant, run.Seeding.Send, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	return run, list
}

// phaseOf returns the phase of a send.
func phaseOf(t *testing.T, a *broadcasttest.Account, send id.Send) outbox.Phase {
	t.Helper()
	p, err := outbox.Load(t.Context(), a.DB, a.Tenant, send)
	if err != nil {
		t.Fatal(err)
	}
	return p.Phase
}

// sendCopies marks the due copies as delivered.
func sendCopies(t *testing.T, a *broadcasttest.Account, copies id.Send, at time.Time) int {
	t.Helper()
	n := outbox.Node{DB: a.DB, Owner: "copies"}
	if err := n.Renew(t.Context(), at.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	items, err := n.Claim(t.Context(), a.Tenant, copies, 10_000, at)
	if err != nil {
		t.Fatal(err)
	}
	results := make([]outbox.Result, len(items))
	for i, it := range items {
		if it.Kind != outbox.KindSeedCopy {
			t.Errorf("a copy is of kind %q", it.Kind)
		}
		results[i] = outbox.Result{Item: it, State: outbox.Delivered, At: at}
	}
	if _, err := n.Commit(t.Context(), results, nil, at); err != nil {
		t.Fatal(err)
	}
	return len(items)
}

func TestSeedsGetACopyFromEachIdentityInUse(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		a.AddIdentity("second")
		a.AddIdentity("third")
		a.AddContacts(a.List.ID, "c", 40)
		if _, err := suppression.Add(t.Context(), db, a.Tenant, "s1@vendor.example", "", now); err != nil {
			t.Fatal(err)
		}
		var emails []string
		for i := range 5 {
			emails = append(emails, fmt.Sprintf("s%d@vendor.example", i))
		}
		list := seedList(t, a, "Vendor", now, append(emails, "c0@example.com")...)
		seedList(t, a, "Stale", now.Add(-11*24*time.Hour), "old1@vendor.example", "old2@vendor.example")
		at := now
		b := a.Schedule()
		none := a.Schedule(func(ch *broadcast.Change) { ch.SeedLists = &broadcast.SeedChoice{Lists: &[]id.SeedList{}} })
		settle(t, engine(db, "one", &at))
		run, copies := copiesOf(t, a, b.ID)
		inUse, err := outbox.Senders(t.Context(), db, a.Tenant, b.Send)
		if err != nil || len(inUse) != 3 {
			t.Fatalf("the identities in use are %v, %v", inUse, err)
		}
		if len(copies) != 4*len(inUse) || !run.Seeding.Done {
			t.Fatalf("there are %d copies, want %d; %+v", len(copies), 4*len(inUse), run.Seeding)
		}
		seeds, _, err := seedlist.Seeds(t.Context(), db, a.Tenant, list, seedlist.Filter{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		bySeed := map[id.Seed]string{}
		for _, s := range seeds {
			bySeed[s.ID] = s.Email
		}
		pairs := map[string]bool{}
		for _, c := range copies {
			if bySeed[outbox.SeedOf(c.Contact)] != c.Email || c.Email == "s1@vendor.example" || c.Email == "c0@example.com" {
				t.Errorf("a copy goes to %s", c.Email)
			}
			pairs[c.Email+c.Identity.String()] = true
			if c.DueAt.Before(now) || c.DueAt.After(now.Add(time.Hour)) || c.Content != run.Contents[""] {
				t.Errorf("a copy is due at %s with content %s", c.DueAt, c.Content)
			}
		}
		if len(pairs) != len(copies) {
			t.Errorf("%d copies go to %d pairs of seed and identity", len(copies), len(pairs))
		}
		if run, list := copiesOf(t, a, none.ID); run.Seeding != nil || len(list) != 0 {
			t.Errorf("a broadcast without seed lists has copies: %+v", run.Seeding)
		}
		p, err := broadcast.LoadProgress(t.Context(), db, a.Load(b.ID), at)
		if err != nil || p.Copies.SkippedStale != 2*len(inUse) || p.Total != 40 {
			t.Errorf("the progress is %+v of %d, %v", p.Copies, p.Total, err)
		}

		// Another dispatcher adds nothing again, and the broadcast completes when its copies have left.
		settle(t, engine(db, "two", &at))
		send(t, a, b.ID, outbox.Delivered, "")
		settle(t, engine(db, "two", &at))
		if got := a.Load(b.ID); got.Status != broadcast.Sending {
			t.Errorf("the broadcast is %s while copies wait", got.Status)
		}
		if n := sendCopies(t, a, run.Seeding.Send, now.Add(24*time.Hour)); n != len(copies) {
			t.Errorf("%d copies are due after the end of the send, want all %d", n, len(copies))
		}
		settle(t, engine(db, "two", &at))
		if got := a.Load(b.ID); got.Status != broadcast.Completed {
			t.Errorf("the broadcast is %s after its copies", got.Status)
		}
	})
}

func TestCopiesArePausedAndCancelledWithTheirBroadcast(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		a.AddContacts(a.List.ID, "c", 4)
		seedList(t, a, "Vendor", now, "s1@vendor.example", "s2@vendor.example")
		at := now
		e := engine(db, "one", &at)
		b := a.Schedule()
		settle(t, e)
		run, _ := copiesOf(t, a, b.ID)
		if run.Seeding == nil || phaseOf(t, a, run.Seeding.Send) != outbox.Open {
			t.Fatalf("the copies do not wait: %+v", run.Seeding)
		}
		if err := broadcast.Pause(t.Context(), db, a.Tenant, b.ID, broadcast.ByUser, at); err != nil {
			t.Fatal(err)
		}
		if got := phaseOf(t, a, run.Seeding.Send); got != outbox.Paused || sendCopies(t, a, run.Seeding.Send, at.Add(2*time.Hour)) != 0 {
			t.Errorf("the copies of a paused broadcast are %s", got)
		}
		if err := broadcast.Resume(t.Context(), db, a.Tenant, b.ID, at); err != nil {
			t.Fatal(err)
		}
		if got := phaseOf(t, a, run.Seeding.Send); got != outbox.Open {
			t.Errorf("the copies of a resumed broadcast are %s", got)
		}
		if err := broadcast.Cancel(t.Context(), db, a.Tenant, b.ID, at); err != nil {
			t.Fatal(err)
		}
		settle(t, e)
		settle(t, e)
		_, list := copiesOf(t, a, b.ID)
		for _, c := range list {
			if c.State != outbox.MessageCancelled {
				t.Errorf("a copy of a cancelled broadcast is %s", c.State)
			}
		}
		if run, _ = copiesOf(t, a, b.ID); run.EndedAt == nil {
			t.Error("the run of a cancelled broadcast does not end")
		}
	})
}

// A broadcast that is paused or cancelled before its copies are added gets them when it is resumed, or
// none.
func TestCopiesAreAddedOnceWhateverInterrupts(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		a.AddContacts(a.List.ID, "c", 2)
		seedList(t, a, "Vendor", now, "s1@vendor.example")
		at := now
		e := engine(db, "one", &at)
		prepare := func(e *dispatch.Engine, b id.Broadcast) {
			t.Helper()
			for range 20 {
				if run, _ := copiesOf(t, a, b); run.PreparedAt != nil {
					return
				}
				if _, err := e.Tick(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			t.Fatal("the broadcast is not prepared")
		}
		paused := a.Schedule()
		prepare(e, paused.ID)
		if err := broadcast.Pause(t.Context(), db, a.Tenant, paused.ID, broadcast.ByUser, at); err != nil {
			t.Fatal(err)
		}
		settle(t, e)
		if _, list := copiesOf(t, a, paused.ID); len(list) != 0 {
			t.Errorf("a paused broadcast gets %d copies", len(list))
		}
		if err := broadcast.Resume(t.Context(), db, a.Tenant, paused.ID, at); err != nil {
			t.Fatal(err)
		}
		send(t, a, paused.ID, outbox.Delivered, "") // before the copies are added
		settle(t, e)
		settle(t, e)
		run, list := copiesOf(t, a, paused.ID)
		if len(list) != 1 || list[0].DueAt.After(now.Add(24*time.Hour)) {
			t.Fatalf("a resumed broadcast has the copies %+v", list)
		}
		if n := sendCopies(t, a, run.Seeding.Send, now.Add(24*time.Hour)); n != 1 {
			t.Errorf("%d copies are due", n)
		}
		settle(t, e)
		if got := a.Load(paused.ID); got.Status != broadcast.Completed {
			t.Errorf("the resumed broadcast is %s", got.Status)
		}
		cancelled := a.Schedule()
		prepare(e, cancelled.ID)
		if err := broadcast.Cancel(t.Context(), db, a.Tenant, cancelled.ID, at); err != nil {
			t.Fatal(err)
		}
		settle(t, e)
		settle(t, e)
		if run, list := copiesOf(t, a, cancelled.ID); len(list) != 0 || run.EndedAt == nil {
			t.Errorf("a cancelled broadcast has %d copies, its run ended at %v", len(list), run.EndedAt)
		}
	})
}
