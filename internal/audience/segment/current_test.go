package segment_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// current returns the counts of a segment for a reader: who can be mailed, and all.
func (o account) current(c *segment.Counter, s segment.Segment) [2]int {
	o.t.Helper()
	s, err := segment.Find(o.t.Context(), o.db, o.acme, s.Key)
	o.ok(err)
	list, err := c.Current(o.t.Context(), o.acme, []segment.Segment{s})
	o.ok(err)
	if list[0].Members == nil {
		return [2]int{-1, -1}
	}
	return [2]int{*list[0].Members, *list[0].MembersAll}
}

// enlarge makes the account one that is not small, as far as its stored numbers say.
func (o account) enlarge(contacts int64) {
	o.t.Helper()
	o.ok(contact.AddCounts(o.t.Context(), o.db, o.acme, contact.ByStatus{contacts}))
}

func TestCountsOfSmallAccountsAreCurrent(t *testing.T) {
	eachAccount(t, func(t *testing.T, o account) {
		now := noon
		c := &segment.Counter{DB: o.db, Now: func() time.Time { return now }}
		s := o.createRule("Germans", german)
		vip := list(t, o.db, o.acme, "VIP")
		if got := o.current(c, s); got != [2]int{0, 0} {
			t.Errorf("at first %v", got)
		}
		de := o.createInCountry("DE", 3)
		add(t, o.db, o.acme, vip, de[0], de[1])
		if got := o.current(c, s); got != [2]int{3, 3} {
			t.Errorf("after contacts were added, in the same second: %v", got)
		}
		o.ok(contact.Unsubscribe(t.Context(), o.db, o.acme, de[1], contact.UnsubscribeScope{Everything: true}, noon))
		if got, of := o.current(c, s), o.current(c, vip); got != [2]int{2, 3} || of != [2]int{1, 2} {
			t.Errorf("after one unsubscribed: %v, and %v of the list", got, of)
		}
		_, err := suppression.Add(t.Context(), o.db, o.acme, "de0@example.org", "", noon)
		o.ok(err)
		now = now.Add(time.Second)
		if got := o.current(c, s); got != [2]int{1, 3} {
			t.Errorf("a second after an address was suppressed: %v", got)
		}
		if n, at, err := c.Sendable(t.Context(), o.acme); err != nil || *n != 1 || !at.Equal(now) {
			t.Errorf("Sendable = %v of %v, %v", n, at, err)
		}
		if n, _, err := c.Sendable(t.Context(), o.other); err != nil || *n != 0 {
			t.Errorf("Sendable of the other account = %v, %v", n, err)
		}
		if stored, err := segment.Find(t.Context(), o.db, o.acme, s.Key); err != nil || stored.EvaluatedAt != nil {
			t.Errorf("a reader stored counts of %v, %v", stored.EvaluatedAt, err)
		}
		_, err = segment.Update(t.Context(), o.db, o.acme, s.ID, segment.Change{Definition: []byte(`{"logic": "all", "conditions": [{"field": "country", "operator": "is", "value": "fr"}]}`)}, now)
		o.ok(err)
		if got := o.current(c, s); got != [2]int{0, 0} {
			t.Errorf("after the rule changed, in the same second: %v", got)
		}
	})
}

func TestCountsOfLargeAccountsAreThoseStored(t *testing.T) {
	eachAccount(t, func(t *testing.T, o account) {
		c := &segment.Counter{DB: o.db, Now: func() time.Time { return noon }}
		s := o.createRule("Germans", german)
		o.enlarge(5_000)
		if got := o.current(c, s); got != [2]int{0, 0} {
			t.Errorf("with 5,000 contacts %v", got)
		}
		o.createInCountry("DE", 1)
		if got := o.current(c, s); got != [2]int{0, 0} {
			t.Errorf("with one more %v, want the latest count", got)
		}
		again := o.createRule("Germans again", german)
		if got := o.current(c, again); got != [2]int{-1, -1} {
			t.Errorf("of a new segment %v, want nothing counted for the reader", got)
		}
		o.recount(again)
		if got := o.current(c, again); got != [2]int{1, 1} {
			t.Errorf("after a recount %v", got)
		}
		sendable := func(want int) {
			t.Helper()
			if n, _, err := c.Sendable(t.Context(), o.acme); err != nil || n == nil || *n != want {
				t.Errorf("Sendable = %v, %v; want %d", n, err, want)
			}
		}
		sendable(1)
		o.createInCountry("FR", 1)
		sendable(2)
		o.enlarge(95_000)
		o.createInCountry("AT", 1)
		sendable(2) // the latest count
	})
}

// A reader that gets no turn to count within half a second gets the latest counts there are.
func TestReadersDoNotWaitLongForCounts(t *testing.T) {
	eachAccount(t, func(t *testing.T, o account) {
		c := &segment.Counter{DB: o.db, Now: func() time.Time { return noon }}
		s := o.createRule("Germans", german)
		o.recount(s)
		o.createInCountry("DE", 2)
		if got := o.current(c, s); got != [2]int{2, 2} {
			t.Fatalf("counted for a reader %v", got)
		}
		o.createInCountry("FR", 1)
		free, held := make(chan struct{}), make(chan struct{}, 2)
		ctx := sqldb.ForCaller(t.Context())
		for range 2 { // all turns of the account
			go func() {
				_ = o.db.Evaluate(ctx, o.acme.String(), func(context.Context, *sqldb.DB) error {
					held <- struct{}{}
					<-free
					return nil
				})
			}()
		}
		<-held
		<-held
		if list, err := c.Current(ctx, o.acme, []segment.Segment{s}); err != nil || list[0].Members == nil || *list[0].Members != 2 {
			t.Errorf("without a turn %+v, %v; want the counts of the reader before", list, err)
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := c.Current(ended, o.acme, []segment.Segment{s}); !errors.Is(err, context.Canceled) {
			t.Errorf("Current with a canceled context = %v", err)
		}
		close(free)
	})
}
