package deliver

import (
	"math"
	"regexp"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/mail/directmx"
	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/senders/destination"
)

// How the number of connections to a destination adapts.
const (
	startWindow    = 5.0 // connections to a destination about which nothing is known
	retryFirst     = time.Minute
	retryMax       = 30 * time.Minute // between attempts to reach a destination, at most
	hitsWithin     = time.Hour        // hints of a provider count together
	hitsToSuspend  = 2
	slowFor        = 45 * time.Minute
	slowStep       = time.Minute // after a suspension: one more connection for each of these
	rateLimitPause = 10 * time.Minute
	destIdle       = 6 * time.Hour // after which the state of a destination is forgotten
)

// dest is what is known of a destination. Lanes with the same source share it.
//
// The number of connections begins low and follows the answers: each success raises it a little, each
// failure lowers it. A destination that cannot be reached is left alone for a while, then one connection
// tries again. When a provider asks to slow down, the destination is suspended, or gets one connection.
//
// Where several processes share the database, these numbers apply to all of them together: each uses the
// connections for which it has slots.
type dest struct {
	key    destination.Key
	name   string // of key, in the pools of connections
	shared bool   // by several processes; set before use

	mu         sync.Mutex
	shape      directmx.Shape
	slots      slots     // if shared
	inFlight   int       // jobs that were accepted and have not ended
	active     int       // workers that send to it
	window     float64   // connections that may be used
	base       float64   // of window: what is stored, or what it began with
	failures   int       // in a row
	reached    bool      // a connection was made once
	down       time.Time // since when it cannot be reached; zero while it can
	backoff    time.Duration
	retry      time.Time // while it cannot be reached: when it is tried again
	suspended  time.Time // nothing is sent before, because the provider asked for that
	reason     string    // of suspended
	slow       time.Time // since when connections are added one by one; zero: they are not
	hits       []time.Time
	requireTLS time.Time // when it last refused mail in clear; zero: never
	changed    bool      // since it was stored
	used       time.Time
}

func newDest(key destination.Key, shape directmx.Shape) *dest {
	start := math.Min(startWindow, float64(shape.Connections))
	return &dest{key: key, name: key.Source.String() + " " + key.Name, shape: shape, window: start, base: start}
}

// track adds n to the number of jobs in flight.
func (d *dest) track(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.inFlight += n
}

// target returns the target of jobs by what is verified of the servers.
func (d *dest) target(security string) directmx.Target {
	if security == "" {
		return directmx.Target{Destination: d.name, Key: d.name}
	}
	return directmx.Target{Destination: d.name, Key: d.name + " " + security}
}

// limit returns how many connections this process may use. The caller holds d.mu.
func (d *dest) limit(now time.Time) int {
	n := d.accepts(now)
	if d.shared {
		n = min(n, d.slots.at(now))
	}
	return n
}

// accepts returns how many connections the destination accepts at the moment, from all processes. The caller holds
// d.mu.
func (d *dest) accepts(now time.Time) int {
	n := int(d.window)
	if !d.slow.IsZero() {
		n = min(n, 1+int(now.Sub(d.slow)/slowStep))
	}
	if d.backoff > 0 { // one tries for all
		n = 1
	}
	return n
}

// mayBegin reports whether a worker can call begin now.
func (d *dest) mayBegin(now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.mayBeginLocked(now)
}

// mayBeginLocked is mayBegin. While nothing may be sent, workers may begin in order to put jobs back.
func (d *dest) mayBeginLocked(now time.Time) bool {
	return d.active < d.limit(now) || now.Before(later(d.suspended, d.retry)) || d.shared && d.slots.at(now) == 0
}

// begin counts a worker that sends to the destination. It returns false if there are as many as the destination accepts.
func (d *dest) begin(now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.mayBeginLocked(now) {
		return false
	}
	d.active++
	return true
}

// mayContinue reports whether a worker that has begun may send another message.
func (d *dest) mayContinue(now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.active <= d.limit(now)
}

// end ends what begin began.
func (d *dest) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.active--
}

// most returns how many connections this process may have open, used or not.
func (d *dest) most(now time.Time) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shared {
		return min(d.shape.Connections, d.slots.at(now))
	}
	return d.shape.Connections
}

// free returns how many more jobs may be in flight, and when to ask again if there are none. Jobs that
// hold no permits of rates can wait for connections in the queue of their lane, as many again as there
// are connections.
func (d *dest) free(now time.Time, rated bool) (n int, again time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if until := later(d.suspended, d.retry); now.Before(until) {
		return 0, until
	}
	n = d.limit(now)
	if !rated && n > 1 {
		n *= 2
	}
	return max(0, n-d.inFlight), now.Add(connectionRetry)
}

// blocked returns a deferral while nothing may be sent to the destination, or nil. Messages to other destinations
// may be sent meanwhile.
func (d *dest) blocked(now time.Time) *deferral {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case now.Before(d.suspended):
		return &deferral{until: later(d.suspended, d.retry), reason: d.reason, down: d.down, part: true}
	case now.Before(d.retry):
		return &deferral{until: d.retry, reason: "the mail servers of its domain cannot be reached", down: d.down, part: true}
	}
	return nil
}

// connected notes that a connection was made.
func (d *dest) connected() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changed = d.changed || d.backoff > 0
	d.reached, d.down, d.retry, d.backoff = true, time.Time{}, time.Time{}, 0
}

// unreachable notes that no connection could be made, or that one was lost.
func (d *dest) unreachable(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failures++
	dead := !d.reached || d.backoff > 0 || d.failures > int(d.window)
	d.narrow()
	if !dead || now.Before(later(d.suspended, d.retry)) {
		return
	}
	d.backoff = min(max(2*d.backoff, retryFirst), retryMax)
	d.retry, d.changed = now.Add(d.backoff), true
	if d.down.IsZero() {
		d.down = now
	}
}

// reaction is what follows from a text of a provider.
type reaction struct {
	words   *regexp.Regexp
	suspend time.Duration // 0: one connection only, for a while
}

// reactions are the texts by which large providers ask senders to slow down; the first that matches
// applies.
var reactions = []reaction{
	{regexp.MustCompile(`(?i)\[(TSS|TS|IPTS)05\]`), 4 * time.Hour},
	{regexp.MustCompile(`(?i)\[(TSS|TS|IPTS)\d\d\]`), 2 * time.Hour},
	{regexp.MustCompile(`(?i)\bS31[45]0\b|spamhaus`), 2 * time.Hour},
	{regexp.MustCompile(`\[(HCM1|BS02)\]|\b(HCM1|BS02)\b`), 15 * time.Minute},
	{regexp.MustCompile(`(?i)\bRP-00[123]\b|server busy|maximum number of (concurrent )?connections`), 0},
}

// tooMany matches texts about too many messages on a connection.
var tooMany = regexp.MustCompile(`(?i)max(imum)? messages? per (connection|session)|too many messages (in|on|for) (this|the|one) (session|connection)`)

// refusedInClear reports whether a server refuses mail because the connection was not encrypted. Servers
// of domains ask nobody to log in, so 530 can only mean that (RFC 3207 section 4).
func refusedInClear(o reply.Outcome, v reply.Verdict) bool {
	return !o.TLS && (v.Reason == reply.TLSRequired || o.Code == 530)
}

// observe notes the answer to a message.
func (d *dest) observe(o reply.Outcome, v reply.Verdict, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if refusedInClear(o, v) {
		d.requireTLS, d.changed = now, true
	}
	if tooMany.MatchString(o.Text) {
		d.shape.Messages = max(1, d.shape.Messages/2)
		return
	}
	for _, r := range reactions {
		if o.Code >= 400 && r.words.MatchString(o.Text) {
			d.slowDown(r.suspend, now)
			return
		}
	}
	switch {
	case refusedInClear(o, v): // the server works
	case v.Reason == reply.RateLimited:
		d.slowDown(rateLimitPause, now)
	case v.Reason == reply.ReputationBlock:
		d.slowDown(2*time.Hour, now)
	case v.Class == reply.Lane || o.Code == 421:
		d.narrow()
	default: // the server works
		d.failures = 0
		d.window = d.within(d.window + 1/d.window)
		if !d.slow.IsZero() && now.Sub(d.slow) > slowFor {
			d.slow = time.Time{}
		}
	}
}

// narrow lowers the number of connections after a failure. The caller holds d.mu.
func (d *dest) narrow() { d.window = d.within(d.window - 1/d.window) }

// within returns the nearest number of connections that the destination can have.
func (d *dest) within(n float64) float64 {
	return math.Max(1, math.Min(float64(d.shape.Connections), n))
}

// slowDown reduces the destination to one connection and, if the provider asked repeatedly, suspends it. The
// caller holds d.mu.
func (d *dest) slowDown(suspend time.Duration, now time.Time) {
	kept := d.hits[:0]
	for _, at := range d.hits {
		if now.Sub(at) < hitsWithin {
			kept = append(kept, at)
		}
	}
	d.hits = append(kept, now)
	if len(d.hits) > 2*hitsToSuspend {
		d.hits = d.hits[len(d.hits)-hitsToSuspend:]
	}
	d.changed = true
	d.slow = later(d.slow, now)
	if suspend > 0 && len(d.hits) >= hitsToSuspend && d.suspended.Before(now.Add(suspend)) {
		d.suspended, d.reason = now.Add(suspend), "the provider asked to send less for a while"
		d.slow = d.suspended
	}
}

// resume returns when messages may be sent to the destination again, or the zero time.
func (d *dest) resume() (until, down time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return later(d.suspended, d.retry), d.down
}

// terms returns how many messages one connection may carry, and whether it must be encrypted.
func (d *dest) terms() (messages int, requireTLS bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.shape.Messages, !d.requireTLS.IsZero()
}

// unused reports whether the state of the destination can be forgotten.
func (d *dest) unused(now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return now.Sub(d.used) > destIdle && !now.Before(later(d.suspended, d.retry)) && d.inFlight == 0 && !d.changed && d.slots.at(now) == 0
}

// dests are the destinations of direct delivery that are known to this process.
type dests struct {
	mu    sync.Mutex
	known map[destination.Key]*dest
	swept time.Time

	shared bool                   // by several processes; set before use
	conns  *directmx.Destinations // of all lanes; set before use
	leaser leaser

	stored    map[destination.Key]destination.State // by any process
	readUntil time.Time                             // states that were stored before are in stored
	broken    []string                              // servers with which TLS failed that could not be stored
}

// get returns a destination, and drops those that were not used for a long time.
func (l *dests) get(key destination.Key, shape directmx.Shape, now time.Time) *dest {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil {
		l.known = map[destination.Key]*dest{}
	}
	if now.Sub(l.swept) > destIdle/6 {
		l.swept = now
		for k, d := range l.known {
			if d.unused(now) {
				delete(l.known, k)
			}
		}
	}
	d := l.known[key]
	if d == nil {
		d = newDest(key, shape)
		d.shared = l.shared
		if state, ok := l.stored[key]; ok {
			d.merge(state, now)
		}
		l.known[key] = d
	}
	d.mu.Lock()
	d.used = now
	d.mu.Unlock()
	return d
}
