package dispatch_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/route"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/senders/traffic"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// routesOf returns the route of each contact's message.
func routesOf(t *testing.T, a *broadcasttest.Account, b id.Broadcast) map[id.Contact]route.Route {
	t.Helper()
	list, err := outbox.First(t.Context(), a.DB, a.Tenant, a.SendOf(b), 10_000)
	if err != nil {
		t.Fatal(err)
	}
	got := map[id.Contact]route.Route{}
	for _, r := range list {
		got[r.Contact] = route.Route{Identity: r.Identity, Lane: r.Lane}
	}
	return got
}

// prepared schedules a broadcast and prepares it.
func prepareSend(t *testing.T, a *broadcasttest.Account, at *time.Time, edits ...func(*broadcast.Change)) id.Broadcast {
	t.Helper()
	b := a.Schedule(edits...)
	settle(t, engine(a.DB, "one", at))
	return b.ID
}

func addLane(t *testing.T, a *broadcasttest.Account, name string, perDay int) lane.Config {
	t.Helper()
	f := lane.Fields{Name: &name, Type: new(lane.Sink)}
	if perDay > 0 {
		f.MaxPerDay = &lane.Bound{To: &perDay}
	}
	c, err := lane.Create(t.Context(), a.DB, broadcasttest.Box(t), a.Tenant, f, lane.Rules{}, now)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A contact gets its mail of one type from the same identity again, as long as that one may send.
func TestContactsKeepTheirIdentity(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		second, third := a.AddIdentity("second"), a.AddIdentity("third")
		from := func(identities ...sender.Identity) func(*broadcast.Change) {
			return func(ch *broadcast.Change) {
				var list []id.Identity
				for _, i := range identities {
					list = append(list, i.ID)
				}
				ch.Identities = &list
			}
		}
		old := a.AddContacts(a.List.ID, "old", 12)
		at := now
		send(t, a, prepareSend(t, a, &at, from(second)), outbox.Delivered, "")
		young := a.AddContacts(a.List.ID, "young", 24)
		count := map[id.Identity]int{}
		all := prepareSend(t, a, &at)
		got := routesOf(t, a, all)
		for _, c := range old {
			if got[c.ID].Identity != second.ID {
				t.Errorf("a contact of %s now hears from %s", second.Address, got[c.ID].Identity)
			}
		}
		for _, c := range young {
			count[got[c.ID].Identity]++
		}
		if len(count) != 3 {
			t.Errorf("24 new contacts are shared as %v, want all three senders", count)
		}
		send(t, a, all, outbox.Delivered, "")
		if again := routesOf(t, a, prepareSend(t, a, &at)); !mapsAgree(again, got) {
			t.Errorf("in a third send %v, want as in the second: %v", again, got)
		}
		moved := routesOf(t, a, prepareSend(t, a, &at, from(third, a.Identity)))
		for c, was := range got {
			if now := moved[c]; now.Identity == second.ID || was.Identity != second.ID && was != now {
				t.Errorf("when %s does not send, contact %s goes from %v to %v", second.Address, c, was, now)
			}
		}
		other, err := sender.CreateEmailType(t.Context(), db, a.Tenant, sender.EmailTypeFields{DisplayName: new("Offers")}, now)
		if err != nil {
			t.Fatal(err)
		}
		stay := 0
		for c, way := range routesOf(t, a, prepareSend(t, a, &at, from(a.Identity, second, third), func(ch *broadcast.Change) { ch.EmailType = &other.ID })) {
			if got[c] == way {
				stay++
			}
		}
		if stay == len(got) {
			t.Error("mail of another type has to come from the same identity")
		}
	})
}

func mapsAgree(a, b map[id.Contact]route.Route) bool {
	for c, way := range a {
		if b[c] != way {
			return false
		}
	}
	return len(a) == len(b)
}

// Messages are divided among the lanes of a broadcast by weight, except for lanes that are down or
// inactive.
func TestLanesShareABroadcast(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		a.AddContacts(a.List.ID, "a", 60)
		wide, off := addLane(t, a, "Wide", 0), addLane(t, a, "Off", 0)
		shared := func(ch *broadcast.Change) {
			list := []broadcast.LaneShare{{Lane: a.Lane.ID, Weight: 1}, {Lane: wide.ID, Weight: 3}, {Lane: off.ID, Weight: 100}}
			ch.Delivery = &broadcast.DeliveryChange{Lanes: &list}
		}
		if _, err := lane.Update(t.Context(), db, broadcasttest.Box(t), a.Tenant, off.ID, lane.Fields{Active: new(false)}, lane.Rules{}, broadcasttest.Now); err != nil {
			t.Fatal(err)
		}
		at := now
		b := prepareSend(t, a, &at, shared)
		count := map[id.Lane]int{}
		first := routesOf(t, a, b)
		for _, way := range first {
			count[way.Lane]++
		}
		if len(count) != 2 || count[wide.ID] < 35 || count[wide.ID] > 55 {
			t.Errorf("60 messages are shared as %v; want about 15 by %s and 45 by %s", count, a.Lane.ID, wide.ID)
		}
		if _, err := db.Exec(t.Context(), `INSERT INTO mta_health (tenant_id, mta_config_id, state, since) VALUES ($1, $2, 'down', $3)`,
			a.Tenant, wide.ID, now.UnixMicro()); err != nil {
			t.Fatal(err)
		}
		for c, way := range routesOf(t, a, prepareSend(t, a, &at, shared)) {
			if way.Lane != a.Lane.ID {
				t.Errorf("contact %s is given lane %s, which is down", c, way.Lane)
			}
		}
		for _, l := range []lane.Config{wide, off} {
			if err := sender.RemoveLane(t.Context(), db, a.Tenant, l.ID, broadcast.Finder(), broadcasttest.Now); !errors.Is(err, lane.ErrInUse) {
				t.Errorf("%s of a broadcast that is being sent: removed, %v", l.Name, err)
			}
		}
	})
}

// Identities share a broadcast by the daily capacity that their lanes had left when its preparation
// began, whatever happens later and whichever process finishes it.
func TestSharesAreFixedWhenThePreparationBegins(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		a.AddContacts(a.List.ID, "a", 40)
		small, full, large := addLane(t, a, "Small", 10), addLane(t, a, "Full", 50), addLane(t, a, "Large", 100)
		senders := map[id.Identity]int{}
		for _, s := range []struct {
			name string
			lane id.Lane
			left int
		}{{"small", small.ID, 10}, {"full", full.ID, 0}, {"large", large.ID, 70}} {
			i := a.AddIdentity(s.name)
			if _, err := sender.UpdateIdentity(t.Context(), db, a.Tenant, i.ID, sender.IdentityFields{DefaultLane: &s.lane}, broadcasttest.Now); err != nil {
				t.Fatal(err)
			}
			senders[i.ID] = s.left
		}
		if _, err := sender.UpdateIdentity(t.Context(), db, a.Tenant, a.Identity.ID, sender.IdentityFields{Active: new(false)}, broadcasttest.Now); err != nil {
			t.Fatal(err)
		}
		carry := func(l id.Lane, n int) {
			t.Helper()
			if err := traffic.Add(t.Context(), db, now, map[traffic.Key]traffic.Counts{{Tenant: a.Tenant, Lane: l}: {Delivered: n}}); err != nil {
				t.Fatal(err)
			}
		}
		carry(full.ID, 50)
		carry(large.ID, 20)
		err := db.InTx(t.Context(), func(tx *sqldb.DB) error { // another send has reserved the day
			if err := outbox.Create(t.Context(), tx, outbox.Send{Tenant: a.Tenant, ID: idtest.Named[id.Send]("other"), Source: outbox.FromBroadcast(id.New[id.Broadcast]())}, outbox.Terms{}, now); err != nil {
				return err
			}
			today := spread.DayOf(now, time.UTC)
			return outbox.Reserve(t.Context(), tx, a.Tenant, idtest.Named[id.Send]("other"), map[outbox.LaneDay]int{{Lane: large.ID, Day: today}: 10, {Lane: small.ID, Day: today.Add(1)}: 10})
		})
		if err != nil {
			t.Fatal(err)
		}
		b := a.Schedule(func(ch *broadcast.Change) { ch.Lane = new(id.Lane{}) })
		at := now
		first := engine(db, "first", &at)
		for range 3 {
			if _, err := first.Tick(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		carry(large.ID, 70)
		settle(t, engine(db, "second", &at))
		terms, err := outbox.LoadTerms(t.Context(), db, a.Tenant, b.Send)
		if err != nil || len(terms.Routes) != 3 {
			t.Fatalf("routes %+v, %v; want three", terms.Routes, err)
		}
		for _, r := range terms.Routes {
			if r.Capacity != senders[r.Identity] {
				t.Errorf("%+v, want a capacity of %d", r, senders[r.Identity])
			}
		}
		picker, got := route.NewPicker(terms.Routes), routesOf(t, a, b.ID)
		for c, way := range got {
			if want := picker.Pick(c, id.Identity{}, nil); way != want {
				t.Errorf("contact %s goes by %v, want %v", c, way, want)
			}
			if senders[way.Identity] == 0 {
				t.Errorf("contact %s hears from a sender that has nothing left", c)
			}
		}
		if len(got) != 40 {
			t.Errorf("%d messages, want 40", len(got))
		}
	})
}

// A broadcast whose sending domains are all paused waits for them, whether they were paused before
// it began or during its preparation.
func TestAPausedDomainPausesAPreparation(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for ticks := range 3 {
			a := broadcasttest.New(t, db, fmt.Sprint("acme-", ticks))
			a.AddContacts(a.List.ID, "a", 8)
			b := a.Schedule()
			at := now
			e := engine(db, "one", &at)
			for range ticks {
				if _, err := e.Tick(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			pause := func(paused bool) {
				t.Helper()
				if _, err := db.Exec(t.Context(), `UPDATE sending_domain SET paused = $2 WHERE tenant_id = $1`, a.Tenant, paused); err != nil {
					t.Fatal(err)
				}
			}
			pause(true)
			settle(t, e)
			if got := a.Load(b.ID); got.Status != broadcast.Paused || got.PauseReason != broadcast.DomainPaused {
				t.Errorf("paused after %d ticks: the broadcast is %s (%s)", ticks, got.Status, got.PauseReason)
			}
			if err := broadcast.Resume(t.Context(), db, a.Tenant, b.ID, at); err == nil {
				t.Errorf("paused after %d ticks: resumed while the domain is paused", ticks)
			}
			pause(false)
			if err := broadcast.Resume(t.Context(), db, a.Tenant, b.ID, at); err != nil {
				t.Fatal(err)
			}
			settle(t, e)
			if got := recipients(t, a, b.ID); len(got) != 8 || a.Load(b.ID).Status != broadcast.Sending {
				t.Errorf("resumed: %d of 8 recipients, %s", len(got), a.Load(b.ID).Status)
			}
		}
	})
}
