package deliver

import (
	"context"
	"errors"
	"sync"
	"time"

	"packetboat/internal/id"
	"packetboat/internal/lane"
	"packetboat/internal/mail/reply"
	"packetboat/internal/mail/smtpclient"
	"packetboat/internal/outbox"
)

// The rest a lane takes after it could not be reached: doubled each time.
const (
	restFirst = 2 * time.Second
	restLast  = time.Minute
)

// lanes are the lanes in use, each with its workers.
type lanes struct {
	engine *Engine
	mu     sync.Mutex
	open   map[id.MTAConfig]*laneRun
}

// laneRun is one lane at work with one set of settings.
type laneRun struct {
	engine   *Engine
	settings *laneSettings
	pool     *smtpclient.Pool // nil for a sink
	jobs     chan job
	quit     context.Context // ends when the lane is to put down its work
	stop     context.CancelFunc
	wg       sync.WaitGroup

	mu        sync.Mutex
	restUntil time.Time
	rest      time.Duration
}

// offer hands a job to its lane and waits until a worker has room for it.
func (l *lanes) offer(ctx context.Context, j job) error {
	for {
		run := l.run(j.lane)
		if run.resting(l.engine.Now()) {
			return errNotNow
		}
		select {
		case run.jobs <- j:
			return nil
		case <-run.quit.Done(): // its settings have changed: ask for the new one
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// run returns the lane at work with these settings. One that works with others
// is told to finish.
func (l *lanes) run(s *laneSettings) *laneRun {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = map[id.MTAConfig]*laneRun{}
	}
	old := l.open[s.config.ID]
	if old != nil && old.settings.same(s) {
		return old
	}
	if old != nil {
		old.stop()
	}
	run := &laneRun{engine: l.engine, settings: s}
	run.quit, run.stop = context.WithCancel(context.Background())
	n := s.config.Caps.MaxConnections
	run.jobs = make(chan job, 2*n)
	if s.config.Type == lane.SMTP {
		run.pool = smtpclient.NewPool(s.smtp, smtpclient.Limits{Connections: n, Messages: s.config.Caps.MaxMessagesPerConnection})
	}
	for range n {
		run.wg.Go(run.work)
	}
	if old != nil { // whoever waits for the workers waits for the old ones too
		run.wg.Go(old.finish)
	}
	l.open[s.config.ID] = run
	return run
}

// stop ends every lane: attempts under way finish, waiting jobs are put back.
func (l *lanes) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, run := range l.open {
		run.stop()
	}
	for _, run := range l.open {
		run.finish()
	}
}

// finish waits for the workers and puts back what they left.
func (r *laneRun) finish() {
	r.wg.Wait()
	if r.pool != nil {
		r.pool.Close()
	}
	var left []outbox.Item
	for {
		select {
		case j := <-r.jobs:
			left = append(left, j.item)
			continue
		default:
		}
		break
	}
	r.engine.release(left)
}

// next returns the next job; without wait, only one that is there already.
func (r *laneRun) next(wait bool) (job, bool) {
	select {
	case <-r.quit.Done():
		return job{}, false
	default:
	}
	if !wait {
		select {
		case j := <-r.jobs:
			return j, true
		default:
			return job{}, false
		}
	}
	select {
	case j := <-r.jobs:
		return j, true
	case <-r.quit.Done():
		return job{}, false
	}
}

// work is one worker: it keeps at most one result that is not yet written, and
// writes it together with its next intent, or alone when nothing waits.
func (r *laneRun) work() {
	e := r.engine
	b := newBuilder(e)
	var last *outbox.Result
	for {
		j, ok := r.next(last == nil)
		if !ok {
			if last == nil {
				return
			}
			if _, err := e.write(&step{result: last}); err != nil {
				e.Log.Error("a result is lost; its message is sent once more", "message", last.Item.ID, "err", err)
			}
			last = nil
			continue
		}
		last = r.deliver(b, j, last)
	}
}

// deliver makes one attempt and returns what became of it, not yet written.
func (r *laneRun) deliver(b *builder, j job, last *outbox.Result) *outbox.Result {
	e := r.engine
	raw, err := b.build(&j)
	if err != nil {
		return r.settle(last, failed(j.item, err.Error(), e.Now()))
	}
	var conn *smtpclient.Conn
	if r.pool != nil {
		if conn, err = r.connect(); err != nil {
			return r.settle(last, r.unreachable(j.item, err))
		}
		defer r.pool.Put(conn)
	}
	begun, err := e.write(&step{result: last, intent: &j.item})
	if err != nil {
		e.Log.Error("an attempt does not begin", "message", j.item.ID, "err", err)
		e.release([]outbox.Item{j.item})
		return nil
	}
	if !begun { // paused, cancelled, or another node's by now
		e.release([]outbox.Item{j.item})
		return nil
	}
	outcome, err := r.send(conn, j, b, raw)
	if err != nil {
		return new(unsent(j.item, err, e.Now()))
	}
	return new(verdict(j.item, outcome, r.settings.config.RetryMaxAge, e.Now()))
}

// settle writes last, when there is one, and keeps r as the new last.
func (r *laneRun) settle(last *outbox.Result, now outbox.Result) *outbox.Result {
	if last != nil {
		if _, err := r.engine.write(&step{result: last}); err != nil {
			r.engine.Log.Error("a result is lost; its message is sent once more", "message", last.Item.ID, "err", err)
		}
	}
	return &now
}

func (r *laneRun) send(conn *smtpclient.Conn, j job, b *builder, raw []byte) (reply.Outcome, error) {
	ctx := context.Background() // an attempt that has begun is finished
	if conn != nil {
		return conn.Send(ctx, smtpclient.Envelope{From: b.envelope, To: j.item.Email}, raw)
	}
	return intoMailbox(ctx, r.engine.DB, r.settings.config, b.envelope, j.item.Email, raw, r.engine.Now())
}

// connect returns a connection, and gives the lane a rest when there is none.
func (r *laneRun) connect() (*smtpclient.Conn, error) {
	conn, err := r.pool.Get(r.quit)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.rest = 0
		return conn, nil
	}
	if _, ok := errors.AsType[*smtpclient.DialError](err); ok {
		now := r.engine.Now()
		if now.After(r.restUntil) {
			r.rest = min(max(2*r.rest, restFirst), restLast)
			r.restUntil = now.Add(r.rest)
			r.engine.Log.Warn("a lane cannot be reached", "tenant", r.settings.config.Tenant, "lane", r.settings.config.ID, "rest", r.rest, "err", err)
		}
	}
	return nil, err
}

// unreachable says what becomes of a message for which there was no connection.
func (r *laneRun) unreachable(it outbox.Item, err error) outbox.Result {
	if d, ok := errors.AsType[*smtpclient.DialError](err); ok {
		return verdict(it, d.Outcome, r.settings.config.RetryMaxAge, r.engine.Now())
	}
	return unsent(it, err, r.engine.Now())
}

func (r *laneRun) resting(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return now.Before(r.restUntil)
}
