package deliver_test

import (
	"slices"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/traffic"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"

	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
)

// evenly fails the test if a message arrived before its slot. The first burst messages have theirs when
// the engine begins, and the others one every interval. Messages may arrive any time later.
func evenly(t *testing.T, list []sink.Message, began time.Time, burst int, interval time.Duration) {
	t.Helper()
	slices.SortFunc(list, func(a, b sink.Message) int { return a.Time.Compare(b.Time) })
	for i, m := range list {
		if slot := time.Duration(max(0, i+1-burst)) * interval; m.Time.Before(began.Add(slot)) {
			t.Errorf("message %d arrived %s after the begin, and its slot is at %s", i+1, m.Time.Sub(began), slot)
		}
	}
}

// within returns the largest number of messages that arrived in any span of this length.
func within(list []sink.Message, span time.Duration) (most int) {
	times := make([]time.Time, len(list))
	for i, m := range list {
		times[i] = m.Time
	}
	slices.SortFunc(times, time.Time.Compare)
	for i, first := range times {
		n, _ := slices.BinarySearchFunc(times[i:], first.Add(span), time.Time.Compare)
		most = max(most, n)
	}
	return most
}

func TestALanesRateIsALimit(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		s := sink.Start(t, sink.Options{})
		h.relay(s.Port(), func(f *lane.Fields) { f.MaxPerSecond = &lane.Bound{To: new(10)} })
		h.send(25)
		began := time.Now()
		h.run(h.engine())
		h.over()
		h.sums(outbox.Sums{Total: 25, Sent: 25, Delivered: 25})
		evenly(t, s.Messages(), began, 10, time.Second/10) // the permits of one second may be used at once
	})
}

func TestABroadcastsRateIsALimit(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.One(t))
	s := sink.Start(t, sink.Options{})
	h.relay(s.Port())
	h.send(12, func(ch *broadcast.Change) { ch.Delivery = &broadcast.DeliveryChange{PerHour: new(new(3600))} })
	began := time.Now()
	h.run(h.engine())
	h.awaitSink(s, 4)
	evenly(t, s.Messages(), began, 1, time.Second)
}

func TestALanesDayEnds(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		s := sink.Start(t, sink.Options{})
		h.relay(s.Port())
		h.send(25)
		_, err := lane.Update(t.Context(), db, broadcasttest.Box(t), h.Tenant, h.Lane.ID,
			lane.Fields{MaxPerDay: &lane.Bound{To: new(10)}}, lane.Rules{AllowPrivate: true}, broadcasttest.Now)
		h.must(err)
		stop := h.run(h.engine())
		h.await("the day is used up", func(p outbox.Progress) bool { return p.Delivered == 10 })
		stop()
		h.run(h.engine())
		h.sums(outbox.Sums{Total: 25, Waiting: 15, Sent: 10, Delivered: 10})
		h.pass(24 * time.Hour)
		h.await("the next day is used up", func(p outbox.Progress) bool { return p.Delivered == 20 })
		h.pass(24 * time.Hour)
		h.over()
		h.sums(outbox.Sums{Total: 25, Sent: 25, Delivered: 25})
	})
}

func TestAProvidersConnectionsAreItsOwnLimit(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		s := sink.Start(t, sink.Options{Rules: []sink.Rule{{Stage: sink.Dot, Delay: 30 * time.Millisecond}}})
		h.relay(s.Port(), func(f *lane.Fields) {
			f.Throttles = &[]lane.ThrottleFields{{Pattern: "example.com", MaxConnections: new(1)}}
		})
		h.send(6)
		h.run(h.engine())
		h.over()
		if n := within(s.Messages(), 25*time.Millisecond); n > 1 {
			t.Errorf("%d messages within 25 ms by a connection on which each takes 30", n)
		}
	})
}

func TestALaneThatIsDownIsReplaced(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		dead, s := sink.Start(t, sink.Options{}), sink.Start(t, sink.Options{})
		h.relay(s.Port())
		up := h.Lane
		h.relay(dead.Port())
		down := h.Lane
		h.send(40, func(ch *broadcast.Change) {
			ch.Delivery = &broadcast.DeliveryChange{Lanes: &[]broadcast.LaneShare{{Lane: up.ID, Weight: 1}, {Lane: down.ID, Weight: 1}}}
		})
		_, err := db.Exec(t.Context(), `INSERT INTO mta_health (tenant_id, mta_config_id, state, since) VALUES ($1, $2, 'down', $3)`,
			h.Tenant, down.ID, h.now().UnixMicro())
		h.must(err)
		given := 0
		for _, r := range h.messages() {
			if r.Lane == down.ID {
				given++
			}
		}
		stop := h.run(h.engine())
		h.over()
		stop()
		if n := len(dead.Messages()); n > 0 || given == 0 || given == 40 {
			t.Errorf("%d messages were sent by the lane that is down, which was assigned %d", n, given)
		}
		for _, r := range h.messages() {
			if r.Lane != up.ID {
				t.Errorf("the lane of a message is %s", r.Lane)
			}
		}
		carried, err := traffic.ByLane(t.Context(), db, h.Tenant, []id.Lane{up.ID}, h.now().Add(-time.Hour), h.now().Add(time.Hour))
		h.must(err)
		if c := carried[up.ID]; c.Delivered != 40 || c.Tries == 0 || c.Unreached > 0 {
			t.Errorf("counts of the other lane: %+v", c)
		}
	})
}

// Messages by two lanes are of two classes. On shutdown, all of them return to the queue, also
// those of a class that waits for its lane.
func TestAShutdownPutsEveryClassBack(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		slow := sink.Start(t, sink.Options{Rules: []sink.Rule{{Stage: sink.Dot, Delay: 200 * time.Millisecond}}})
		one := func(f *lane.Fields) { f.MaxConnections = new(1) }
		h.relay(slow.Port(), one)
		first := h.Lane
		h.relay(slow.Port(), one)
		h.send(60, func(ch *broadcast.Change) {
			ch.Delivery = &broadcast.DeliveryChange{Lanes: &[]broadcast.LaneShare{{Lane: first.ID, Weight: 1}, {Lane: h.Lane.ID, Weight: 1}}}
		})
		stop := h.run(h.engine())
		h.awaitSink(slow, 1)
		stop()
		if n := claimed(h); n > 0 {
			t.Errorf("%d claims are left", n)
		}
	})
}

// Two nodes share the connections of a lane.
func TestNodesShareTheConnectionsOfALane(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.Postgres(t))
	s := sink.Start(t, sink.Options{Rules: []sink.Rule{{Stage: sink.Dot, Delay: 20 * time.Millisecond}}})
	h.relay(s.Port(), func(f *lane.Fields) { f.MaxConnections = new(2) })
	h.send(60)
	h.run(h.engine())
	h.run(h.engine())
	h.over()
	if n := within(s.Messages(), 15*time.Millisecond); n > 2 {
		t.Errorf("%d messages within 15 ms by two connections on which each takes 20", n)
	}
}
