package deliver

import (
	"context"
	"errors"
	"time"

	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/outbox"
)

// maxStale bounds how many connections are tried for one attempt when each
// turns out to have ended before the message was looked at.
const maxStale = 10

// work is one worker. It needs a token for a connection, which it keeps as long as
// it has something to do with it or has to be written down of it: so a node never
// has more messages of unknown end than connections.
func (r *laneWorkers) work() {
	w := worker{laneWorkers: r, builder: newBuilder(r.engine)}
	for w.acquireToken() {
		if w.loop() {
			r.tokens <- struct{}{}
		}
	}
}

// acquireToken waits for a token of a connection; false: the lane is closing.
func (r *laneWorkers) acquireToken() bool {
	select {
	case <-r.quit.Done():
		return false
	default:
	}
	select {
	case <-r.tokens:
		return true
	case <-r.quit.Done():
		return false
	}
}

// loop delivers one message after the other. It keeps at most one result that is
// not yet written, and writes it together with its next intent, or alone when
// nothing waits. It ends when the lane closes or when this process has to have
// one connection less (false), and everything is written then.
func (w *worker) loop() (kept bool) {
	for {
		j, more, keep := w.next(w.last == nil)
		switch {
		case more:
			w.setBusy(true)
			if !w.deliver(j) {
				w.engine.returnPermits(j)
			}
			w.track(j, -1)
		case w.last != nil && keep:
			w.flush()
			w.setBusy(false)
		default:
			w.flush()
			w.setBusy(false)
			return keep
		}
	}
}

// next returns the next job; without wait, only one that is there already. Keep
// is false when this process has to have one connection less.
func (r *laneWorkers) next(wait bool) (j *job, more, keep bool) {
	select {
	case <-r.quit.Done():
		return nil, false, true
	case <-r.shrink:
		return nil, false, false
	default:
	}
	if !wait {
		select {
		case j := <-r.jobs:
			return j, true, true
		default:
			return nil, false, true
		}
	}
	select {
	case j := <-r.jobs:
		return j, true, true
	case <-r.shrink:
		return nil, false, false
	case <-r.quit.Done():
		return nil, false, true
	}
}

// worker delivers one message after the other.
type worker struct {
	*laneWorkers
	builder *builder
	last    []outbox.Result // of the message before, not yet written: none or one
	nap     time.Duration   // after a connection too many was refused
	busy    bool            // counted among those at work
}

// setBusy notes whether the worker has something to do.
func (w *worker) setBusy(yes bool) {
	if w.busy == yes {
		return
	}
	if w.busy = yes; yes {
		w.engine.working.Add(1)
	} else {
		w.engine.working.Add(-1)
	}
}

// flush writes the last result.
func (w *worker) flush() {
	if w.last == nil {
		return
	}
	_, _ = w.engine.write(&step{results: w.last}) // what is lost was logged
	w.last = nil
}

// setResult keeps what became of a message, after the one before is written.
func (w *worker) setResult(r outbox.Result) {
	if w.last != nil {
		w.flush()
	}
	w.last = []outbox.Result{r}
}

// abandon puts back a job that the lane has taken and nobody has looked at.
func (r *laneWorkers) abandon(j *job) {
	r.engine.returnPermits(j)
	r.engine.release(j.item)
	r.track(j, -1)
}

// deliver makes one attempt, and reports whether a server was given the message.
func (w *worker) deliver(j *job) bool {
	e := w.engine
	if e.Now().Sub(j.checked) > checkedFor && !w.recheck(j) {
		return false
	}
	queued := j.item
	e.fair.acquire(j.item.Tenant)
	raw, err := w.builder.build(j)
	e.fair.release()
	if err != nil {
		w.setResult(failed(j.item, err.Error(), e.Now()))
		return false
	}
	var conn *smtpclient.Conn
	if w.pool != nil {
		if conn, err = w.connect(); err != nil {
			w.unreachable(queued, err)
			return false
		}
		w.nap = 0
		defer func() {
			if conn != nil {
				w.disconnect(conn)
			}
		}()
	}
	begun, err := e.write(&step{results: w.last, intent: &j.item})
	w.last = nil
	if err != nil {
		e.Log.Error("begin attempt failed", "message", j.item.ID, "err", err)
	}
	if !begun { // paused, cancelled, or another node's by now
		e.release(j.item)
		return false
	}
	if !e.leased() { // it took too long to be written
		w.last = []outbox.Result{unsent(j.item, nil, e.Now())}
		return false
	}
	var outcome reply.Outcome
	outcome, conn, err = w.send(conn, j, raw)
	if d, ok := errors.AsType[*smtpclient.DialError](err); ok {
		outcome, err = d.Outcome, nil
	}
	if err != nil {
		w.last = []outbox.Result{unsent(j.item, err, e.Now())}
		return false
	}
	r := verdict(j.item, outcome, w.settings.config.RetryMaxAge, *j.item.FirstAt, e.Now())
	e.tally.result(j, r)
	w.last = []outbox.Result{r}
	return true
}

// recheck looks again at a message that has waited for its turn, and reports
// whether it can go.
func (w *worker) recheck(j *job) bool {
	e := w.engine
	jobs, ends, waiting, err := e.check(w.quit, j.item.Tenant, []outbox.Item{j.item})
	switch {
	case err != nil:
		e.release(j.item)
	case len(ends) > 0:
		w.setResult(ends[0])
	case len(waiting) > 0:
		e.putBack(waiting, false)
	case !jobs[0].lane.same(w.settings):
		e.release(j.item) // for the lane as it is now
	default:
		fresh := *jobs[0]
		fresh.days, fresh.throttle = j.days, j.throttle // it has taken them
		*j = fresh
		return true
	}
	return false
}

// unreachable deals with a message for which there is no connection. It was not
// tried, so no attempt is counted.
func (w *worker) unreachable(it outbox.Item, err error) {
	e := w.engine
	if h, ok := errors.AsType[*deferral](err); ok {
		if r, over := expired(it, h.down, w.settings.config.RetryMaxAge, e.Now()); over {
			w.setResult(r)
			return
		}
		e.putBack([]deferredItem{{it, h}}, false)
		if h.down.IsZero() { // the server takes fewer connections than the lane allows
			w.flush()
			w.nap = min(max(2*w.nap, restFirst), restLast)
			select {
			case <-time.After(w.nap):
			case <-w.quit.Done():
			}
		}
		return
	}
	d, ok := errors.AsType[*smtpclient.DialError](err)
	if !ok { // the lane is closing
		e.release(it)
		return
	}
	again, down := w.reachable()
	r := verdict(it, d.Outcome, w.settings.config.RetryMaxAge, waitingSince(it, down), e.Now())
	if r.State == outbox.Queued && again.Before(r.Due) {
		r.Due = again
	}
	w.setResult(r)
}

// send hands the message over. A connection that had ended before anybody looked
// at the message is replaced by another, which is returned.
func (w *worker) send(conn *smtpclient.Conn, j *job, raw []byte) (reply.Outcome, *smtpclient.Conn, error) {
	e := w.engine
	if conn == nil {
		o, err := intoMailbox(e.cut, e.DB, w.settings.config, j.item.Send, w.builder.envelope, j.item.Email, raw, e.Now())
		return o, nil, err
	}
	env := smtpclient.Envelope{From: w.builder.envelope, To: j.item.Email}
	for try := 1; ; try++ {
		// After the final dot Send waits whatever happens; only Close ends that.
		stop := context.AfterFunc(e.cut, func() { conn.Close() })
		o, err := conn.Send(e.cut, env, raw)
		stop()
		if try > maxStale || !errors.Is(err, smtpclient.ErrClosed) && (err != nil || !conn.Stale(o)) {
			return o, conn, err
		}
		w.disconnect(conn)
		if conn, err = w.connect(); err != nil {
			return o, nil, err
		}
	}
}
