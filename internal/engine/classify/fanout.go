package classify

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/track"
)

// window is a stretch of at most fanOutWindow that slides over the hits of one
// address, and counts the messages in it.
type window struct {
	hits     []track.SourceHit // by time
	messages map[id.Message]int
}

func (w *window) add(h track.SourceHit) {
	w.hits = append(w.hits, h)
	w.messages[h.Message]++
}

// first removes the oldest hit and returns its time.
func (w *window) first() time.Time {
	h := w.hits[0]
	w.hits = w.hits[1:]
	if w.messages[h.Message]--; w.messages[h.Message] == 0 {
		delete(w.messages, h.Message)
	}
	return h.At
}

// forget removes what is older than a time.
func (w *window) forget(t time.Time) {
	for len(w.hits) > 0 && w.hits[0].At.Before(t) {
		w.first()
	}
}

func (w *window) full() bool { return len(w.messages) >= fanOut }

// fannedOut is rule R7 for hits of one address at the given times, in ascending
// order: whether some sixty seconds that hold the time have hits on enough
// different messages. Next returns the address's hits by time, each once: the
// next one that is not before a time, or nil. Of hits so dense that the rule holds
// most are never asked for.
//
// Sixty seconds that hold a time t begin at t-60s or later and end at t+60s or
// earlier. So the rule holds if and only if, between these two, there is a run of
// hits of at most sixty seconds with enough messages; and one that begins at s
// makes it hold for all later times up to s+60s, too.
func fannedOut(times []time.Time, next func(from time.Time) (*track.SourceHit, error)) ([]bool, error) {
	out := make([]bool, len(times))
	w := window{messages: map[id.Message]int{}}
	var ahead *track.SourceHit // read, and too late for the times so far
	var until time.Time        // the rule holds up to then
	for i, t := range times {
		from, to := t.Add(-fanOutWindow), t.Add(fanOutWindow)
		if out[i] = !t.After(until); out[i] {
			continue
		}
		w.forget(from)
		if ahead != nil && ahead.At.Before(from) {
			ahead = nil
		}
		for !w.full() {
			if ahead == nil {
				var err error
				if ahead, err = next(from); err != nil {
					return nil, err
				}
			}
			if ahead == nil || ahead.At.After(to) {
				break
			}
			w.add(*ahead)
			w.forget(ahead.At.Add(-fanOutWindow))
			ahead = nil
		}
		for w.full() {
			until, out[i] = w.first().Add(fanOutWindow), true
		}
	}
	return out, nil
}

// Pages in which the hits of an address are read.
const (
	firstPage = 64
	lastPage  = 1024
)

// pager reads the hits of a stretch page by page.
type pager struct {
	ctx     context.Context
	db      *sqldb.DB
	tenant  id.Tenant
	stretch track.Stretch
	page    []track.SourceHit
	last    track.SourceHit // of the pages that were read
	size    int             // of the last page; 0: none was read
	done    bool
}

func (p *pager) next(from time.Time) (*track.SourceHit, error) {
	for {
		skip, _ := slices.BinarySearchFunc(p.page, from, func(h track.SourceHit, t time.Time) int { return h.At.Compare(t) })
		if p.page = p.page[skip:]; len(p.page) > 0 {
			h := p.page[0]
			p.page = p.page[1:]
			return &h, nil
		}
		if p.done {
			return nil, nil
		}
		s := p.stretch
		if from.After(s.From) {
			s.From = from
		}
		p.size = min(max(2*p.size, firstPage), lastPage)
		page, err := track.SourceHits(p.ctx, p.db, p.tenant, s, p.last, p.size)
		if err != nil {
			return nil, fmt.Errorf("read the hits of an address: %w", err)
		}
		if p.done = len(page) < p.size; len(page) > 0 {
			p.page, p.last = page, page[len(page)-1]
		}
	}
}

// holdsAt asks rule R7 about hits of a source at the given times, in ascending order.
func holdsAt(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s track.Source, times []time.Time) ([]bool, error) {
	p := pager{ctx: ctx, db: db, tenant: tenant, stretch: around(s, times[0], times[len(times)-1])}
	return fannedOut(times, p.next)
}

// around is the stretch of a source that decides about times from first to last.
func around(s track.Source, first, last time.Time) track.Stretch {
	return track.Stretch{Source: s, From: first.Add(-fanOutWindow), To: last.Add(fanOutWindow)}
}

// fans finds by rule R7 which of the due hits are a machine's, and which settled
// hits are because of these: the tenth message of ten tells about the nine.
type fans struct {
	due      map[id.Hit]bool
	settled  map[id.Hit]bool
	messages []id.Message // of the settled ones
}

func findFans(ctx context.Context, db *sqldb.DB, tenant id.Tenant, due []track.Hit) (*fans, error) {
	f := &fans{due: map[id.Hit]bool{}, settled: map[id.Hit]bool{}}
	of := map[track.Source][]track.Hit{}
	for _, h := range due {
		if h.IP != "" && !track.ImageProxy(h.Agent) {
			s := track.Source{Send: h.Send, IP: h.IP}
			of[s] = append(of[s], h)
		}
	}
	if len(of) == 0 {
		return f, nil
	}
	sources := slices.SortedFunc(maps.Keys(of), func(a, b track.Source) int {
		return cmp.Or(id.Compare(a.Send, b.Send), cmp.Compare(a.IP, b.IP))
	})
	stretches := make([]track.Stretch, len(sources))
	for i, s := range sources {
		slices.SortFunc(of[s], func(a, b track.Hit) int { return a.At.Compare(b.At) })
		stretches[i] = around(s, of[s][0].At, of[s][len(of[s])-1].At)
	}
	frequent, err := track.Frequent(ctx, db, tenant, stretches, fanOut) // most addresses are not
	if err != nil {
		return nil, fmt.Errorf("count the hits of addresses: %w", err)
	}
	for i, s := range sources {
		if !frequent[i] {
			continue
		}
		if err := f.source(ctx, db, tenant, s, of[s]); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(f.messages, id.Compare)
	f.messages = slices.Compact(f.messages)
	return f, nil
}

// source asks about the due hits of one source, given by time, and about the
// settled ones that are near those for which the rule holds.
func (f *fans) source(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s track.Source, due []track.Hit) error {
	times := make([]time.Time, len(due))
	for i, h := range due {
		times[i] = h.At
	}
	holds, err := holdsAt(ctx, db, tenant, s, times)
	if err != nil {
		return err
	}
	var near track.Stretch // of the due hits for which it holds that are close to each other
	for i, h := range due {
		if !holds[i] {
			continue
		}
		f.due[h.ID] = true
		if !near.To.IsZero() && h.At.Add(-fanOutWindow).After(near.To) {
			if err := f.reopen(ctx, db, tenant, near); err != nil {
				return err
			}
			near.From = time.Time{}
		}
		next := around(s, h.At, h.At)
		if !near.From.IsZero() {
			next.From = near.From
		}
		near = next
	}
	if near.To.IsZero() {
		return nil
	}
	return f.reopen(ctx, db, tenant, near)
}

// reopen asks about the settled hits of a stretch. They are few, or they would not
// have been settled so: within any sixty seconds, they are of less than ten messages.
func (f *fans) reopen(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s track.Stretch) error {
	var after track.SettledHit
	for {
		page, err := track.Settled(ctx, db, tenant, s, after, lastPage)
		if err != nil {
			return fmt.Errorf("read the settled hits of an address: %w", err)
		}
		if len(page) == 0 {
			return nil
		}
		times := make([]time.Time, len(page))
		for i, h := range page {
			times[i] = h.At
		}
		holds, err := holdsAt(ctx, db, tenant, s.Source, times)
		if err != nil {
			return err
		}
		for i, h := range page {
			if holds[i] {
				f.settled[h.ID] = true
				f.messages = append(f.messages, h.Message)
			}
		}
		if len(page) < lastPage {
			return nil
		}
		after = page[len(page)-1]
	}
}
