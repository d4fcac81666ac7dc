package deliver

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/lane"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
)

// The rest a lane takes after it could not be reached: doubled each time.
const (
	restFirst = 2 * time.Second
	restLast  = 5 * time.Second // so that a lane is found to be down within two minutes
)

// laneIdle is how long a lane without work keeps its workers.
const laneIdle = 2 * time.Minute

type laneKey struct {
	tenant id.Tenant
	config id.MTAConfig
}

// lanes are the lanes in use, each with its workers.
type lanes struct {
	engine *Engine
	mu     sync.Mutex
	open   map[laneKey]*laneWorkers
	ending sync.WaitGroup // lanes that finish what they have begun
}

// laneWorkers is one lane at work with one set of settings.
type laneWorkers struct {
	engine    *Engine
	settings  *laneSettings
	pool      *smtpclient.Pool // nil for a sink
	jobs      chan *job
	tokens    chan struct{}   // holds one for each connection that may be used and is not
	shrink    chan struct{}   // takes one from a worker
	used      atomic.Int64    // when it was last given a job, in microseconds
	quit      context.Context // ends when the lane is to put down its work
	stop      context.CancelFunc
	workers   sync.WaitGroup
	connShare sync.WaitGroup

	gate   sync.RWMutex // held while a job is put into jobs
	closed bool         // nobody takes jobs any more; under gate

	mu        sync.Mutex
	inFlight  map[string]int // jobs that were taken and have not ended, by throttle
	granted   map[string]int // how many of them there may be
	inUse     int            // connections that workers hold
	reached   time.Time      // when one was last had
	down      time.Time      // since when it cannot be reached; zero while it can
	rest      time.Duration
	restUntil time.Time
	probing   bool // one worker tries whether the lane is back
}

// offer hands a job to its lane and waits until a worker has room for it.
func (l *lanes) offer(ctx context.Context, j *job) error {
	for {
		run := l.run(j.lane)
		if h := run.resting(); h != nil {
			return h
		}
		if h := j.lane.down(l.engine.Now()); h != nil {
			return h
		}
		switch taken, err := run.accept(ctx, j); {
		case err != nil:
			return err
		case taken:
			return nil
		}
	}
}

// accept waits until there is room for a job. It reports false when the lane is
// closing: another takes its place.
func (r *laneWorkers) accept(ctx context.Context, j *job) (bool, error) {
	r.gate.RLock()
	defer r.gate.RUnlock()
	if r.closed {
		return false, nil
	}
	r.used.Store(r.engine.Now().UnixMicro())
	r.track(j, 1)
	select {
	case r.jobs <- j:
		return true, nil
	case <-r.quit.Done():
		r.track(j, -1)
		return false, nil
	case <-ctx.Done():
		r.track(j, -1)
		return false, ctx.Err()
	}
}

// run returns the lane at work with these settings, or with later ones. One that
// works with earlier ones is told to finish.
func (l *lanes) run(s *laneSettings) *laneWorkers {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = map[laneKey]*laneWorkers{}
	}
	key := laneKey{s.config.Tenant, s.config.ID}
	old := l.open[key]
	if old != nil && (old.settings.same(s) || s.until.Before(old.settings.until)) {
		return old
	}
	if old != nil {
		l.end(key, old)
	}
	run := &laneWorkers{engine: l.engine, settings: s}
	run.used.Store(l.engine.Now().UnixMicro())
	run.quit, run.stop = context.WithCancel(context.Background())
	n := s.config.Caps.MaxConnections
	run.jobs = make(chan *job, 2*n)
	if s.config.Type == lane.SMTP {
		run.pool = smtpclient.NewPool(s.smtp, smtpclient.Limits{Connections: n, Messages: s.config.Caps.MaxMessagesPerConnection})
	}
	run.tokens, run.shrink = make(chan struct{}, n), make(chan struct{})
	run.inFlight, run.granted = map[string]int{}, map[string]int{}
	for range n {
		run.workers.Go(run.work)
	}
	run.connShare.Go(run.shareConnections)
	l.open[key] = run
	return run
}

// end lets a lane finish what it has begun. The caller holds l.mu.
func (l *lanes) end(key laneKey, run *laneWorkers) {
	delete(l.open, key)
	run.stop()
	l.ending.Go(run.finish)
}

// closeIdle ends the lanes that have had no work for a while.
func (l *lanes) closeIdle() {
	now := l.engine.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, run := range l.open {
		idle := laneIdle
		if _, down := run.reachable(); !down.IsZero() { // since when is to be remembered
			idle += run.settings.config.RetryMaxAge
		}
		if run.used.Load() < now.Add(-idle).UnixMicro() && len(run.jobs) == 0 {
			l.end(key, run)
		}
	}
}

// stop ends every lane: attempts under way finish, waiting jobs are put back.
func (l *lanes) stop() {
	l.mu.Lock()
	for key, run := range l.open {
		l.end(key, run)
	}
	l.mu.Unlock()
	l.ending.Wait()
}

// finish waits for the workers and puts back what they left.
func (r *laneWorkers) finish() {
	r.workers.Wait()
	r.connShare.Wait()
	if r.pool != nil {
		r.pool.Close()
	}
	r.gate.Lock()
	r.closed = true
	r.gate.Unlock()
	for len(r.jobs) > 0 {
		r.abandon(<-r.jobs)
	}
}

// connect returns a connection. When the lane cannot be reached it is given a
// rest, after which one worker tries again, for all. When only this connection
// is refused and others are at work, the server wants no more of them.
func (r *laneWorkers) connect() (*smtpclient.Conn, error) {
	if h := r.checkUsable(); h != nil {
		return nil, h
	}
	conn, err := r.pool.Get(r.quit)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.probing = false
	if err == nil {
		if conn.Sent() == 0 {
			r.engine.tally.connection(r.settings, true)
		}
		r.inUse++
		r.reached = r.engine.Now()
		r.rest, r.down, r.restUntil = 0, time.Time{}, time.Time{}
		return conn, nil
	}
	if _, ok := errors.AsType[*smtpclient.DialError](err); !ok {
		return nil, err
	}
	r.engine.tally.connection(r.settings, false)
	now := r.engine.Now()
	if r.inUse > 0 || now.Sub(r.reached) < restFirst {
		return nil, &deferral{until: now.Add(restFirst), reason: err.Error()}
	}
	if r.down.IsZero() {
		r.down = now
	}
	if !now.Before(r.restUntil) {
		r.rest = min(max(2*r.rest, restFirst), restLast)
		r.restUntil = now.Add(r.rest)
		c := r.settings.config
		r.engine.Log.Warn("lane unreachable", "tenant", c.Tenant, "lane", c.ID, "rest", r.rest, "err", err)
	}
	return nil, err
}

// disconnect gives a connection back.
func (r *laneWorkers) disconnect(conn *smtpclient.Conn) {
	r.mu.Lock()
	r.inUse--
	r.mu.Unlock()
	r.pool.Put(conn)
}

// checkUsable reports whether a worker may connect now; the one that may after a rest
// does so for all.
func (r *laneWorkers) checkUsable() *deferral {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rest == 0 {
		return nil
	}
	if h := r.restingLocked(); h != nil {
		return h
	}
	r.probing = true
	return nil
}

// resting returns how long the lane rests, or nil when it does not.
func (r *laneWorkers) resting() *deferral {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.restingLocked()
}

func (r *laneWorkers) restingLocked() *deferral {
	now := r.engine.Now()
	until := r.restUntil
	if r.probing {
		until = now.Add(lookEvery)
	}
	if !now.Before(until) {
		return nil
	}
	return &deferral{until: until, reason: "its lane cannot be reached", down: r.down}
}

// reachable returns when the lane may be tried again, and since when it could
// not be reached.
func (r *laneWorkers) reachable() (again, down time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.restUntil, r.down
}
