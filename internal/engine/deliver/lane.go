package deliver

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/directmx"
	"github.com/packetboat/packetboat/internal/mail/ses"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/senders/lane"
)

// How long a lane backs off after it could not be reached: doubled each time.
const (
	backoffFirst = 2 * time.Second
	backoffMax   = 5 * time.Second // short enough to detect within two minutes that a lane is down
)

// laneIdle is how long a lane without work keeps its workers.
const laneIdle = 2 * time.Minute

type laneKey struct {
	tenant id.Tenant
	config id.Lane
}

// lanes are the lanes in use, each with its workers.
type lanes struct {
	engine *Engine
	mu     sync.Mutex
	open   map[laneKey]*laneWorkers
	ending sync.WaitGroup // lanes that are closing
}

// laneWorkers are the workers of a lane, with one version of its settings.
type laneWorkers struct {
	engine     *Engine
	settings   *laneSettings
	pool       *smtpclient.Pool // of a relay; nil for other types
	directPool *directmx.Pool   // of direct delivery; nil for other types
	ses        *ses.Client      // nil for other types
	jobs       *jobQueue
	tokens     chan struct{}   // one for each connection that may be used and is not
	shrink     chan struct{}   // takes one token from a worker
	used       atomic.Int64    // when it last got a job, in microseconds
	quit       context.Context // canceled when the lane closes
	stop       context.CancelFunc
	workers    sync.WaitGroup
	connShare  sync.WaitGroup

	gate   sync.RWMutex // read-locked while a job is put into jobs
	closed bool         // no worker receives from jobs any more; guarded by gate

	mu           sync.Mutex
	inFlight     map[string]int // jobs that were accepted and have not ended, by throttle
	granted      map[string]int // their maximum, by throttle
	inUse        int            // connections that workers use
	reached      time.Time      // when a connection was last made
	down         time.Time      // since when it cannot be reached; zero while it can
	backoff      time.Duration
	backoffUntil time.Time
	probing      bool // one worker tries to connect; the others wait
}

// offer passes a job to its lane and waits until its queue has space.
func (l *lanes) offer(ctx context.Context, j *job) error {
	for {
		run := l.workersFor(j.lane)
		if h := run.backingOff(); h != nil {
			return h
		}
		if h := j.lane.down(l.engine.Now()); h != nil {
			return h
		}
		switch taken, err := run.enqueue(ctx, j); {
		case err != nil:
			return err
		case taken:
			return nil
		}
	}
}

// enqueue waits until the queue has space for a job. It returns false if the lane is closing; then
// its successor takes the job.
func (r *laneWorkers) enqueue(ctx context.Context, j *job) (bool, error) {
	r.gate.RLock()
	defer r.gate.RUnlock()
	if r.closed {
		return false, nil
	}
	r.used.Store(r.engine.Now().UnixMicro())
	r.track(j, 1)
	err := r.jobs.put(ctx, r.quit.Done(), j)
	if err == nil {
		return true, nil
	}
	r.track(j, -1)
	if errors.Is(err, errLaneClosing) {
		err = nil
	}
	return false, err
}

// workersFor returns the workers of a lane with these settings or later ones. It closes workers with
// earlier settings.
func (l *lanes) workersFor(s *laneSettings) *laneWorkers {
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
		l.closeLane(key, old)
	}
	run := &laneWorkers{engine: l.engine, settings: s}
	run.used.Store(l.engine.Now().UnixMicro())
	run.quit, run.stop = context.WithCancel(context.Background())
	n := s.config.Caps.MaxConnections
	if s.config.Type == lane.SMTP {
		run.pool = smtpclient.NewPool(s.smtp, smtpclient.Limits{Connections: n, Messages: s.config.Caps.MaxMessagesPerConnection})
	}
	if s.config.Type == lane.DirectMX { // more jobs, so that workers find some for the connections that they have
		run.directPool = directmx.NewPool(n, l.engine.dests.conns)
		run.jobs = newJobQueue(4*n, n, run.directPool, l.engine.Now)
	} else {
		run.jobs = newJobQueue(2*n, n, nil, l.engine.Now)
	}
	if s.config.Type == lane.SES {
		var err error
		if run.ses, err = lane.SESClient(s.config, s.secret, l.engine.SESEndpoint, l.engine.AllowPrivate, l.engine.Now); err != nil {
			l.engine.Log.Error("open SES failed", "tenant", s.config.Tenant, "lane", s.config.ID, "err", err)
		}
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

// closeLane closes a lane in the background: attempts in flight finish. The caller holds l.mu.
func (l *lanes) closeLane(key laneKey, run *laneWorkers) {
	delete(l.open, key)
	run.stop()
	l.ending.Go(run.finish)
}

// closeIdle closes the lanes that have had no work for a while.
func (l *lanes) closeIdle() {
	now := l.engine.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, run := range l.open {
		idle := laneIdle
		if _, down := run.reachable(); !down.IsZero() { // keep since when it is down
			idle += run.settings.config.RetryMaxAge
		}
		if run.used.Load() < now.Add(-idle).UnixMicro() && run.jobs.len() == 0 {
			l.closeLane(key, run)
		}
	}
}

// closeAll closes all lanes and waits: attempts in flight finish, waiting jobs return to the queue.
func (l *lanes) closeAll() {
	l.mu.Lock()
	for key, run := range l.open {
		l.closeLane(key, run)
	}
	l.mu.Unlock()
	l.ending.Wait()
}

// finish waits for the workers and returns the remaining jobs to the queue.
func (r *laneWorkers) finish() {
	r.workers.Wait()
	r.connShare.Wait()
	if r.pool != nil {
		r.pool.Close()
	}
	if r.directPool != nil {
		r.directPool.Close()
	}
	if r.ses != nil {
		r.ses.Close()
	}
	r.gate.Lock()
	r.closed = true
	r.gate.Unlock()
	for _, j := range r.jobs.drain() {
		r.abandon(j)
	}
}

// connectRelay returns a connection. If the lane cannot be reached, all workers back off, and then one
// of them tries again. If only this connection is refused while others are in use, the server has
// reached its maximum, and only this worker waits.
func (r *laneWorkers) connectRelay() (*smtpclient.Conn, error) {
	if h := r.checkUsable(); h != nil {
		return nil, h
	}
	conn, err := r.pool.Get(r.quit)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.probing = false
	if err == nil {
		if conn.Sent() == 0 {
			r.engine.stats.connection(r.settings, true)
		}
		r.inUse++
		r.reached = r.engine.Now()
		if c := r.settings.config; !r.down.IsZero() {
			r.engine.Log.Info("lane reachable", "tenant", c.Tenant, "lane", c.ID, "after", r.reached.Sub(r.down))
		}
		r.backoff, r.down, r.backoffUntil = 0, time.Time{}, time.Time{}
		return conn, nil
	}
	if _, ok := errors.AsType[*smtpclient.DialError](err); !ok {
		return nil, err
	}
	r.engine.stats.connection(r.settings, false)
	now := r.engine.Now()
	if r.inUse > 0 || now.Sub(r.reached) < backoffFirst {
		return nil, &deferral{until: now.Add(backoffFirst), reason: err.Error()}
	}
	if !now.Before(r.backoffUntil) {
		r.backoff = min(max(2*r.backoff, backoffFirst), backoffMax)
		r.backoffUntil = now.Add(r.backoff)
		level := slog.LevelDebug // a warning once, not for each probe
		if r.down.IsZero() {
			level = slog.LevelWarn
		}
		c := r.settings.config
		r.engine.Log.Log(r.quit, level, "lane unreachable", "tenant", c.Tenant, "lane", c.ID, "backoff", r.backoff, "err", err)
	}
	if r.down.IsZero() {
		r.down = now
	}
	return nil, err
}

// connect returns a connection for a job.
func (w *worker) connect(j *job) (*smtpclient.Conn, error) {
	if w.directPool != nil {
		return w.connectDirect(j)
	}
	return w.connectRelay()
}

// disconnect returns a connection of a job to the pool, or keeps it for the next job.
func (w *worker) disconnect(conn *smtpclient.Conn, j *job) {
	if w.directPool != nil {
		w.kept, w.idle = conn, 0
		return
	}
	w.mu.Lock()
	w.inUse--
	w.mu.Unlock()
	w.pool.Put(conn)
}

// checkUsable returns nil if the worker may connect now. After a backoff that is one worker, which
// probes for all.
func (r *laneWorkers) checkUsable() *deferral {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.backoff == 0 {
		return nil
	}
	if h := r.backingOffLocked(); h != nil {
		return h
	}
	r.probing = true
	return nil
}

// backingOff returns a deferral while the lane backs off, or nil.
func (r *laneWorkers) backingOff() *deferral {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.backingOffLocked()
}

func (r *laneWorkers) backingOffLocked() *deferral {
	now := r.engine.Now()
	until := r.backoffUntil
	if r.probing {
		until = now.Add(lookEvery)
	}
	if !now.Before(until) {
		return nil
	}
	return &deferral{until: until, reason: "its lane cannot be reached", down: r.down}
}

// reachable returns when the lane may be tried again, and since when it cannot be reached.
func (r *laneWorkers) reachable() (again, down time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.backoffUntil, r.down
}
