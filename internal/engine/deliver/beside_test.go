package deliver_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/engine/dispatch"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"

	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
)

// readers creates n contacts on a list, at several domains in turn. Their addresses begin with the name of
// the list.
func (h *house) readers(list id.Segment, name string, n int, domains ...string) {
	h.t.Helper()
	var ids []id.Contact
	h.must(h.DB.InTx(h.t.Context(), func(tx *sqldb.DB) error {
		ids = nil
		for i := range n {
			c, err := contact.Create(h.t.Context(), tx, h.Tenant, fmt.Sprintf("%s%d@%s", name, i, domains[i%len(domains)]), contact.Change{},
				contact.Rules{Listed: suppression.QueueListed}, broadcasttest.Now)
			if err != nil {
				return err
			}
			ids = append(ids, c.ID)
		}
		return nil
	}))
	for page := range slices.Chunk(ids, 1000) {
		_, err := segment.Add(h.t.Context(), h.DB, h.Tenant, list, segment.People{IDs: page}, broadcasttest.Now)
		h.must(err)
	}
}

// audience creates a list of n contacts, whose addresses begin with its name.
func (h *house) audience(name string, n int) id.Segment {
	h.t.Helper()
	list := h.AddList(name)
	h.readers(list.ID, name, n, "example.com")
	return list.ID
}

// begin puts a broadcast to a list into the outbox, and makes it the current one of the house.
func (h *house) begin(list id.Segment, edits ...func(*broadcast.Change)) id.Broadcast {
	h.t.Helper()
	h.id = h.Schedule(append([]func(*broadcast.Change){func(ch *broadcast.Change) { ch.Include = &[]id.Segment{list} }}, edits...)...).ID
	d := &dispatch.Engine{DB: h.DB, Owner: "test", Now: h.now, Log: slog.New(slog.DiscardHandler)}
	for more := true; more; {
		var err error
		more, err = d.Tick(h.t.Context())
		h.must(err)
	}
	return h.id
}

// beside starts a send to a list when n mails of the current sends have arrived. It is put into the
// outbox before, so that it can begin at once.
func (h *house) beside(s *sink.Server, n int, list id.Segment) {
	h.t.Helper()
	b := h.begin(list)
	h.must(broadcast.Pause(h.t.Context(), h.DB, h.Tenant, b, broadcast.ByUser, h.now()))
	e, wake := h.engine(), make(chan struct{}, 1)
	e.Wake = wake
	h.run(e)
	h.awaitSink(s, n)
	h.must(broadcast.Resume(h.t.Context(), h.DB, h.Tenant, b, h.now()))
	wake <- struct{}{}
}

// order returns for each mail that a server received, in order, the name of its list.
func order(s *sink.Server) []string {
	list := s.Messages()
	slices.SortStableFunc(list, func(a, b sink.Message) int { return a.Time.Compare(b.Time) })
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = strings.TrimRight(m.Rcpt[0][:strings.IndexByte(m.Rcpt[0], '@')], "0123456789")
	}
	return names
}

// shares counts the mails of each list from the first mail of one list to its last.
func shares(names []string, name string) map[string]int {
	names = names[max(slices.Index(names, name), 0):]
	for len(names) > 0 && names[len(names)-1] != name {
		names = names[:len(names)-1]
	}
	count := map[string]int{}
	for _, n := range names {
		count[n]++
	}
	return count
}

// slow returns a server that takes so long for each mail that sends wait for nothing else.
func slow(t *testing.T, d time.Duration) *sink.Server {
	return sink.Start(t, sink.Options{Rules: []sink.Rule{{Stage: sink.Dot, Delay: d}}})
}

// Two sends of a tenant by one lane alternate while both have messages, whatever their sizes and
// whatever limits the lane.
func TestASmallSendGetsItsShareBesideALargeOne(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		delay time.Duration
		edit  func(*lane.Fields)
	}{
		{"connections", 15 * time.Millisecond, func(f *lane.Fields) {}},
		{"one connection", 4 * time.Millisecond, func(f *lane.Fields) { f.MaxConnections = new(1) }},
		{"the lane's rate", 0, func(f *lane.Fields) { f.MaxPerSecond = &lane.Bound{To: new(80)} }},
		{"the provider's rate", 0, func(f *lane.Fields) {
			f.Throttles = &[]lane.ThrottleFields{{Pattern: "example.com", MaxPerMinute: new(3600)}}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				h := newHouse(t, db)
				s := slow(t, test.delay)
				h.relay(s.Port(), test.edit)
				large, small := h.begin(h.audience("large", 400)), h.audience("small", 40)
				h.beside(s, 10, small)
				h.over()
				h.waits(large)
				if got := shares(order(s), "small"); got["large"] > 2*40 {
					t.Errorf("mails sent during the small send: %v", got)
				}
			})
		})
	}
}

// Three sends of different sizes are sent side by side, and the smallest ends first.
func TestSendsOfThreeSizesShareALane(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		s := slow(t, 15*time.Millisecond)
		h.relay(s.Port())
		small := h.audience("small", 30)
		large, middle := h.begin(h.audience("large", 400)), h.begin(h.audience("middle", 120))
		h.beside(s, 20, small)
		h.over()
		h.waits(large)
		h.waits(middle)
		if got := shares(order(s), "small"); got["large"] > 2*30 || got["middle"] > 2*30 || got["large"] < 15 || got["middle"] < 15 {
			t.Errorf("mails sent during the small send: %v", got)
		}
		h.id = middle
		h.over()
		h.waits(large)
		if got := shares(order(s), "middle"); got["large"] > 2*120 || got["large"] < 60 {
			t.Errorf("mails sent during the send of middle size: %v", got)
		}
	})
}

// Messages that wait for their provider's rate delay no others, neither in the same send nor in
// other sends by the same lane.
func TestAThrottledProviderDelaysNoOtherSend(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		s := slow(t, 15*time.Millisecond)
		h.relay(s.Port(), func(f *lane.Fields) {
			f.Throttles = &[]lane.ThrottleFields{{Pattern: "slow.example", MaxPerHour: new(60)}}
		})
		small := h.audience("small", 40)
		list := h.AddList("Large")
		h.readers(list.ID, "throttled", 40, "slow.example")
		h.readers(list.ID, "large", 220, "example.com")
		large := h.begin(list.ID)
		h.beside(s, 10, small)
		h.over()
		h.waits(large)
		if got := shares(order(s), "small"); got["large"] > 2*40 || got["large"] == 0 || got["throttled"] > 2 {
			t.Errorf("mails sent during the small send: %v", got)
		}
	})
}

// A large send by two lanes, of which one is slow, gets no more than its share of the other.
func TestASlowLaneOfALargeSendDelaysNoOtherSend(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		crawling, s := slow(t, 60*time.Millisecond), slow(t, 15*time.Millisecond)
		h.relay(crawling.Port())
		first := h.Lane
		h.relay(s.Port())
		both := func(ch *broadcast.Change) {
			ch.Delivery = &broadcast.DeliveryChange{Lanes: &[]broadcast.LaneShare{{Lane: first.ID, Weight: 1}, {Lane: h.Lane.ID, Weight: 1}}}
		}
		large, small := h.begin(h.audience("large", 400), both), h.audience("small", 40)
		h.beside(s, 5, small)
		h.over()
		h.waits(large)
		if got := shares(order(s), "small"); got["large"] > 2*40 {
			t.Errorf("mails sent during the small send: %v", got)
		}
	})
}

// A test send does not wait for broadcasts that are being sent.
func TestATestSendIsNotBehindALargeSend(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		s := slow(t, 50*time.Millisecond)
		h.relay(s.Port(), func(f *lane.Fields) { f.MaxConnections = new(1) })
		large := h.begin(h.audience("large", 100))
		h.run(h.engine())
		h.awaitSink(s, 5)
		b := h.Create(func(ch *broadcast.Change) { ch.Lane = &h.Lane.ID })
		prepared, err := broadcast.PrepareTest(t.Context(), db, h.Tenant, b.ID, broadcast.TestRequest{To: []string{"author@example.org"}})
		h.must(err)
		results, err := broadcast.SendTest(t.Context(), h.DB, prepared, h.tester(), h.now())
		h.must(err)
		if len(results) != 1 || results[0].Status != render.TestSent {
			t.Errorf("results: %+v", results)
		}
		h.id = large
		if p := h.progress(); p.Waiting < 50 {
			t.Errorf("%d of 100 messages of the large send are waiting after the test send, want at least 50", p.Waiting)
		}
	})
}

// waits fails the test if a send has ended: then it did not compete with the other.
func (h *house) waits(b id.Broadcast) {
	h.t.Helper()
	p, err := outbox.Load(h.t.Context(), h.DB, h.Tenant, h.SendOf(b))
	h.must(err)
	if p.Waiting == 0 {
		h.t.Error("the large send ended before the small one")
	}
}
