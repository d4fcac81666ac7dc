package classify

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// window is a span of at most fanOutWindow that moves over the hits of one source and counts the
// messages in it.
type window struct {
	hits     []track.SourceHit // by time
	messages map[id.Message]int
	enough   int // messages that make it full
}

func newWindow(enough int) window { return window{messages: map[id.Message]int{}, enough: enough} }

func (w *window) add(h track.SourceHit) {
	w.hits = append(w.hits, h)
	w.messages[h.Message]++
}

// removeFirst removes the oldest hit and returns its time.
func (w *window) removeFirst() time.Time {
	h := w.hits[0]
	w.hits = w.hits[1:]
	if w.messages[h.Message]--; w.messages[h.Message] == 0 {
		delete(w.messages, h.Message)
	}
	return h.At
}

// dropBefore removes hits older than t.
func (w *window) dropBefore(t time.Time) {
	for len(w.hits) > 0 && w.hits[0].At.Before(t) {
		w.removeFirst()
	}
}

func (w *window) full() bool { return len(w.messages) >= w.enough }

// fannedOut applies rule R7 to hits of one network, given in ascending order of time: whether a span of
// 60 seconds around the hit has hits of its network on enough different messages, or hits of its
// address on fewer that are enough for one address. next returns the network's hits in order, each
// once: the next one that is not before a time, or nil. Where hits are dense, most of them are never
// read.
//
// A span of 60 seconds that contains a time t begins at t-60s or later and ends at t+60s or
// earlier. So the rule applies if and only if there is a span of at most 60 seconds with enough
// messages between these two; and a span that begins at s makes it apply to all later times up to
// s+60s. Where it does not apply by the network, all hits between the two have been read, and those of
// the address are among them.
func fannedOut(hits []track.SourceHit, next func(from time.Time) (*track.SourceHit, error)) ([]bool, error) {
	out := make([]bool, len(hits))
	w := newWindow(fanOutNetwork)
	var read []track.SourceHit // those not before from
	var ahead *track.SourceHit // read already, and too late for the times so far
	var until time.Time        // the rule applies by the network to all times up to this one
	for i, h := range hits {
		from, to := h.At.Add(-fanOutWindow), h.At.Add(fanOutWindow)
		if out[i] = !h.At.After(until); out[i] {
			continue
		}
		w.dropBefore(from)
		first := 0
		for first < len(read) && read[first].At.Before(from) {
			first++
		}
		read = read[first:]
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
			read = append(read, *ahead)
			w.dropBefore(ahead.At.Add(-fanOutWindow))
			ahead = nil
		}
		for w.full() {
			until, out[i] = w.removeFirst().Add(fanOutWindow), true
		}
		out[i] = out[i] || addressFannedOut(h, read)
	}
	return out, nil
}

// addressFannedOut reports whether some span of 60 seconds that contains the time of a hit has hits of
// its address on enough different messages. It is given all hits of the network around it, by time.
func addressFannedOut(h track.SourceHit, around []track.SourceHit) bool {
	w := newWindow(fanOut)
	for _, o := range around {
		if o.IP != h.IP || timeBetween(o.At, h.At) > fanOutWindow {
			continue
		}
		w.add(o)
		w.dropBefore(o.At.Add(-fanOutWindow))
		if w.full() {
			return true
		}
	}
	return false
}

// Page sizes for reading the hits of an address.
const (
	firstPage = 64
	lastPage  = 1024
)

// pager reads the hits of a network in a span of time, page by page.
type pager struct {
	ctx     context.Context
	db      *sqldb.DB
	tenant  id.Tenant
	stretch track.Window
	page    []track.SourceHit
	after   time.Time // the next page begins here
	size    int       // of the last page; 0: none was read yet
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
		for _, t := range []time.Time{from, p.after} {
			if t.After(s.From) {
				s.From = t
			}
		}
		p.size = min(max(2*p.size, firstPage), lastPage)
		page, more, err := track.SourceHits(p.ctx, p.db, p.tenant, s, p.size)
		if err != nil {
			return nil, fmt.Errorf("read hits of network: %w", err)
		}
		p.page, p.done = page, !more
		if more {
			p.after = page[len(page)-1].At.Add(time.Microsecond)
		}
	}
}

// fanOutAt applies rule R7 to hits of a source, in ascending order of time.
func fanOutAt(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s track.Source, hits []track.SourceHit) ([]bool, error) {
	p := pager{ctx: ctx, db: db, tenant: tenant, stretch: around(s, hits[0].At, hits[len(hits)-1].At)}
	return fannedOut(hits, p.next)
}

// around returns the stretch of a source that decides about the times from first to last.
func around(s track.Source, first, last time.Time) track.Window {
	return track.Window{Source: s, From: first.Add(-fanOutWindow), To: last.Add(fanOutWindow)}
}

// fanOutHits are the hits to which rule R7 applies: due ones, and settled ones near them. The tenth
// message makes it apply to the hits of the nine before.
type fanOutHits struct {
	due      map[id.Hit]bool
	settled  map[id.Hit]bool
	messages []id.Message // of the settled ones
}

func findFanOut(ctx context.Context, db *sqldb.DB, tenant id.Tenant, due []track.Hit) (*fanOutHits, error) {
	f := &fanOutHits{due: map[id.Hit]bool{}, settled: map[id.Hit]bool{}}
	bySource := map[track.Source][]track.SourceHit{}
	for _, h := range due {
		if h.IP != "" && !h.Proxied() {
			s := track.Source{Send: h.Send, Net: track.Network(h.IP)}
			bySource[s] = append(bySource[s], track.SourceHit{ID: h.ID, Message: h.Message, IP: h.IP, At: h.At})
		}
	}
	if len(bySource) == 0 {
		return f, nil
	}
	sources := slices.SortedFunc(maps.Keys(bySource), func(a, b track.Source) int {
		return cmp.Or(id.Compare(a.Send, b.Send), cmp.Compare(a.Net, b.Net))
	})
	stretches := make([]track.Window, len(sources))
	for i, s := range sources {
		slices.SortFunc(bySource[s], func(a, b track.SourceHit) int { return a.At.Compare(b.At) })
		stretches[i] = around(s, bySource[s][0].At, bySource[s][len(bySource[s])-1].At)
	}
	frequent, err := track.Frequent(ctx, db, tenant, stretches, fanOut) // most networks are not
	if err != nil {
		return nil, fmt.Errorf("count hits of networks: %w", err)
	}
	for i, s := range sources {
		if !frequent[i] {
			continue
		}
		if err := f.addSource(ctx, db, tenant, s, bySource[s]); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(f.messages, id.Compare)
	f.messages = slices.Compact(f.messages)
	return f, nil
}

// addSource applies the rule to the due hits of one source, ordered by time, and to the settled ones
// near those to which it applies.
func (f *fanOutHits) addSource(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s track.Source, due []track.SourceHit) error {
	holds, err := fanOutAt(ctx, db, tenant, s, due)
	if err != nil {
		return err
	}
	var near track.Window // around consecutive due hits to which the rule applies
	for i, h := range due {
		if !holds[i] {
			continue
		}
		f.due[h.ID] = true
		if !near.To.IsZero() && h.At.Add(-fanOutWindow).After(near.To) {
			if err := f.addSettled(ctx, db, tenant, near); err != nil {
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
	return f.addSettled(ctx, db, tenant, near)
}

// addSettled applies the rule to the settled hits of a stretch. They are few: otherwise the rule
// would have applied when they were judged.
func (f *fanOutHits) addSettled(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s track.Window) error {
	for {
		page, more, err := track.GenuineHits(ctx, db, tenant, s, lastPage)
		if err != nil {
			return fmt.Errorf("read settled hits of network: %w", err)
		}
		if len(page) == 0 {
			return nil
		}
		holds, err := fanOutAt(ctx, db, tenant, s.Source, page)
		if err != nil {
			return err
		}
		for i, h := range page {
			if holds[i] {
				f.settled[h.ID] = true
				f.messages = append(f.messages, h.Message)
			}
		}
		if !more {
			return nil
		}
		s.From = page[len(page)-1].At.Add(time.Microsecond)
	}
}
