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

// How the number of connections to a site adapts.
const (
	startWindow    = 5.0 // connections to a site about which nothing is known
	siteFirst      = time.Minute
	siteMax        = 30 * time.Minute // how long a site is left alone that cannot be reached, at most
	hitsWithin     = time.Hour        // hints of a provider count together
	hitsToSuspend  = 2
	slowFor        = 45 * time.Minute
	slowStep       = time.Minute // after a suspension: one more connection for each of these
	rateLimitPause = 10 * time.Minute
	siteIdle       = 6 * time.Hour // after which the state of a site is forgotten
)

// siteKey identifies a destination as its providers see it: mail from one address.
type siteKey = destination.Key

// site is what is known of a destination. Lanes with the same source share it.
//
// The number of connections begins low and follows the answers: each success raises it a little, each
// failure lowers it. A site that cannot be reached is left alone for a while, then one connection
// tries again. When a provider asks to slow down, the site is suspended, or gets one connection.
//
// Where several processes share the database, these numbers apply to all of them together: each uses the
// connections for which it has slots.
type site struct {
	key    siteKey
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

func newSite(key siteKey, shape directmx.Shape) *site {
	start := math.Min(startWindow, float64(shape.Connections))
	return &site{key: key, name: key.Source.String() + " " + key.Site, shape: shape, window: start, base: start}
}

// track adds n to the number of jobs in flight.
func (s *site) track(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight += n
}

// target returns the target of jobs by what is verified of the servers.
func (s *site) target(security string) directmx.Target {
	if security == "" {
		return directmx.Target{Site: s.name, Key: s.name}
	}
	return directmx.Target{Site: s.name, Key: s.name + " " + security}
}

// limit returns how many connections this process may use. The caller holds s.mu.
func (s *site) limit(now time.Time) int {
	n := s.accepts(now)
	if s.shared {
		n = min(n, s.slots.at(now))
	}
	return n
}

// accepts returns how many connections the site accepts at the moment, from all processes. The caller holds
// s.mu.
func (s *site) accepts(now time.Time) int {
	n := int(s.window)
	if !s.slow.IsZero() {
		n = min(n, 1+int(now.Sub(s.slow)/slowStep))
	}
	if s.backoff > 0 { // one tries for all
		n = 1
	}
	return n
}

// mayBegin reports whether a worker can call begin now.
func (s *site) mayBegin(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mayBeginLocked(now)
}

// mayBeginLocked is mayBegin. While nothing may be sent, workers may begin in order to put jobs back.
func (s *site) mayBeginLocked(now time.Time) bool {
	return s.active < s.limit(now) || now.Before(later(s.suspended, s.retry)) || s.shared && s.slots.at(now) == 0
}

// begin counts a worker that sends to the site. It returns false if there are as many as the site accepts.
func (s *site) begin(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.mayBeginLocked(now) {
		return false
	}
	s.active++
	return true
}

// mayContinue reports whether a worker that has begun may send another message.
func (s *site) mayContinue(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.active <= s.limit(now)
}

// end ends what begin began.
func (s *site) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active--
}

// most returns how many connections this process may have open, used or not.
func (s *site) most(now time.Time) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shared {
		return min(s.shape.Connections, s.slots.at(now))
	}
	return s.shape.Connections
}

// free returns how many more jobs may be in flight, and when to ask again if there are none. Jobs that
// hold no permits of rates can wait for connections in the queue of their lane, as many again as there
// are connections.
func (s *site) free(now time.Time, rated bool) (n int, again time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if until := later(s.suspended, s.retry); now.Before(until) {
		return 0, until
	}
	n = s.limit(now)
	if !rated && n > 1 {
		n *= 2
	}
	return max(0, n-s.inFlight), now.Add(connectionRetry)
}

// blocked returns a deferral while nothing may be sent to the site, or nil. Messages to other sites may be sent
// meanwhile.
func (s *site) blocked(now time.Time) *deferral {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case now.Before(s.suspended):
		return &deferral{until: later(s.suspended, s.retry), reason: s.reason, down: s.down, part: true}
	case now.Before(s.retry):
		return &deferral{until: s.retry, reason: "the mail servers of its domain cannot be reached", down: s.down, part: true}
	}
	return nil
}

// connected notes that a connection was made.
func (s *site) connected() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed = s.changed || s.backoff > 0
	s.reached, s.down, s.retry, s.backoff = true, time.Time{}, time.Time{}, 0
}

// unreachable notes that no connection could be made, or that one was lost.
func (s *site) unreachable(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures++
	dead := !s.reached || s.backoff > 0 || s.failures > int(s.window)
	s.narrow()
	if !dead || now.Before(later(s.suspended, s.retry)) {
		return
	}
	s.backoff = min(max(2*s.backoff, siteFirst), siteMax)
	s.retry, s.changed = now.Add(s.backoff), true
	if s.down.IsZero() {
		s.down = now
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
func (s *site) observe(o reply.Outcome, v reply.Verdict, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if refusedInClear(o, v) {
		s.requireTLS, s.changed = now, true
	}
	if tooMany.MatchString(o.Text) {
		s.shape.Messages = max(1, s.shape.Messages/2)
		return
	}
	for _, r := range reactions {
		if o.Code >= 400 && r.words.MatchString(o.Text) {
			s.slowDown(r.suspend, now)
			return
		}
	}
	switch {
	case refusedInClear(o, v): // the server works
	case v.Reason == reply.RateLimited:
		s.slowDown(rateLimitPause, now)
	case v.Reason == reply.ReputationBlock:
		s.slowDown(2*time.Hour, now)
	case v.Class == reply.Lane || o.Code == 421:
		s.narrow()
	default: // the server works
		s.failures = 0
		s.window = s.within(s.window + 1/s.window)
		if !s.slow.IsZero() && now.Sub(s.slow) > slowFor {
			s.slow = time.Time{}
		}
	}
}

// narrow lowers the number of connections after a failure. The caller holds s.mu.
func (s *site) narrow() { s.window = s.within(s.window - 1/s.window) }

// within returns the nearest number of connections that the site can have.
func (s *site) within(n float64) float64 {
	return math.Max(1, math.Min(float64(s.shape.Connections), n))
}

// slowDown reduces the site to one connection and, if the provider asked repeatedly, suspends it. The
// caller holds s.mu.
func (s *site) slowDown(suspend time.Duration, now time.Time) {
	kept := s.hits[:0]
	for _, at := range s.hits {
		if now.Sub(at) < hitsWithin {
			kept = append(kept, at)
		}
	}
	s.hits = append(kept, now)
	if len(s.hits) > 2*hitsToSuspend {
		s.hits = s.hits[len(s.hits)-hitsToSuspend:]
	}
	s.changed = true
	s.slow = later(s.slow, now)
	if suspend > 0 && len(s.hits) >= hitsToSuspend && s.suspended.Before(now.Add(suspend)) {
		s.suspended, s.reason = now.Add(suspend), "the provider asked to send less for a while"
		s.slow = s.suspended
	}
}

// resume returns when messages may be sent to the site again, or the zero time.
func (s *site) resume() (until, down time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return later(s.suspended, s.retry), s.down
}

// terms returns how many messages one connection may carry, and whether it must be encrypted.
func (s *site) terms() (messages int, requireTLS bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shape.Messages, !s.requireTLS.IsZero()
}

// unused reports whether the state of the site can be forgotten.
func (s *site) unused(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Sub(s.used) > siteIdle && !now.Before(later(s.suspended, s.retry)) && s.inFlight == 0 && !s.changed && s.slots.at(now) == 0
}

// sites are the destinations of direct delivery that are known to this process.
type sites struct {
	mu    sync.Mutex
	known map[siteKey]*site
	swept time.Time

	shared bool            // by several processes; set before use
	conns  *directmx.Sites // of all lanes; set before use
	leaser leaser

	stored    map[siteKey]destination.State // by any process
	readUntil time.Time                     // states that were stored before are in stored
	broken    []string                      // servers with which TLS failed that could not be stored
}

// get returns a site, and drops those that were not used for a long time.
func (l *sites) get(key siteKey, shape directmx.Shape, now time.Time) *site {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil {
		l.known = map[siteKey]*site{}
	}
	if now.Sub(l.swept) > siteIdle/6 {
		l.swept = now
		for k, s := range l.known {
			if s.unused(now) {
				delete(l.known, k)
			}
		}
	}
	s := l.known[key]
	if s == nil {
		s = newSite(key, shape)
		s.shared = l.shared
		if state, ok := l.stored[key]; ok {
			s.merge(state, now)
		}
		l.known[key] = s
	}
	s.mu.Lock()
	s.used = now
	s.mu.Unlock()
	return s
}
