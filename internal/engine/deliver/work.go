package deliver

import (
	"context"
	"errors"
	"time"

	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/outage"
	"github.com/packetboat/packetboat/internal/senders/lane"
)

// maxStale is how many connections are tried for one attempt, if each turns out to have been closed
// by the server before the message was sent.
const maxStale = 10

// work is one worker. It takes the token of a connection, and keeps it until its last result is
// stored: so a node never has more messages with unknown results than connections.
func (r *laneWorkers) work() {
	w := worker{laneWorkers: r, builder: newBuilder(r.engine)}
	for w.acquireToken() {
		if w.deliverJobs() {
			r.tokens <- struct{}{}
		}
	}
}

// acquireToken waits for the token of a connection. It returns false if the lane is closing.
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

// deliverJobs delivers one message after the other. It has at most one result that is not stored,
// and writes it with its next intent, or alone if no job is waiting. It ends, with everything
// stored, when the lane closes or this process must use one connection less; then it returns false.
func (w *worker) deliverJobs() (kept bool) {
	for {
		j, more, keep := w.nextJob(w.last == nil)
		switch {
		case more:
			w.setBusy(true)
			if !w.deliverJob(j) {
				w.engine.returnPermits(j)
			}
			w.track(j, -1)
		case w.last != nil && keep:
			w.rest()
		default:
			w.rest()
			return keep
		}
	}
}

// nextJob returns the next job; without wait, only one that is already queued. keep is false if this
// process must use one connection less.
func (w *worker) nextJob(wait bool) (j *job, more, keep bool) {
	for {
		select {
		case <-w.quit.Done():
			return nil, false, true
		case <-w.shrink:
			return nil, false, false
		default:
		}
		if j := w.jobs.next(w.at); j != nil {
			return j, true, true
		}
		w.leave()
		if p, ok := w.jobs.pick(wait); ok {
			w.at, w.kept, w.idle = p.at, p.conn, p.idle
			return p.job, true, true
		}
		if !wait {
			return nil, false, true
		}
		select {
		case <-w.jobs.wake:
			w.jobs.stopWaiting()
		case <-w.shrink:
			w.jobs.stopWaiting()
			return nil, false, false
		case <-w.quit.Done():
			w.jobs.stopWaiting()
			return nil, false, true
		}
	}
}

// leave gives back the connection of direct delivery, if there is one, so that other workers can use it.
func (w *worker) leave() {
	if w.at == nil {
		return
	}
	w.returnKept()
	w.jobs.leave(w.at)
	w.at = nil
}

// worker delivers one message after the other.
type worker struct {
	*laneWorkers
	builder *builder
	last    []outbox.Result  // of the previous message, not yet stored: none or one
	at      *target          // of the current or last job
	kept    *smtpclient.Conn // of direct delivery, to at; nil: none, or in use
	idle    time.Duration    // for which kept had not been used when it was taken
	pause   time.Duration    // the wait after the server refused an additional connection
	busy    bool             // counted in Engine.working

	providerID string // of the message that SES accepted last
}

// setBusy updates the number of busy workers.
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

// rest stores the last result and gives back the connection, because no job is waiting.
func (w *worker) rest() {
	w.flush()
	w.leave()
	w.setBusy(false)
}

// flush writes the last result.
func (w *worker) flush() {
	if w.last == nil {
		return
	}
	_, _ = w.engine.writeStep(&step{results: w.last}) // logs the results that are lost
	w.last = nil
}

// setResult keeps the result of a message, after storing the previous one.
func (w *worker) setResult(r outbox.Result) {
	if w.last != nil {
		w.flush()
	}
	w.last = []outbox.Result{r}
}

// abandon returns a job that no worker has received to the queue.
func (r *laneWorkers) abandon(j *job) {
	r.engine.returnPermits(j)
	r.engine.release(j.item)
	r.track(j, -1)
}

// deliverJob makes one attempt, and reports whether the message was given to a server.
func (w *worker) deliverJob(j *job) bool {
	e, began := w.engine, time.Now()
	// The contact may have unsubscribed while the message waited here.
	if e.Now().Sub(j.checked) > checkValid && !w.recheck(j) {
		return false
	}
	// Building sets FirstAt, the date of all attempts. A message whose attempt does not begin must keep none,
	// or its time would count from here.
	queued := j.item
	raw, err := w.build(j)
	if err != nil {
		w.setResult(failedResult(j.item, err.Error(), e.Now()))
		return false
	}
	// Rendering and connecting come before the intent: they take the longest, and a process that is killed
	// between the intent and the result sends the message again.
	var conn *smtpclient.Conn
	if w.pool != nil || w.directPool != nil {
		if conn, err = w.connect(j); err != nil {
			if w.directPool != nil {
				w.handleUnreachable(j, queued, err)
			} else {
				w.handleNoConnection(queued, err)
			}
			return false
		}
		w.pause = 0
		defer func() {
			if conn != nil {
				w.disconnect(conn, j)
			}
		}()
	}
	if !w.begin(j) {
		return false
	}
	// From here to writeStep with w.last, what becomes of the message is known to this worker alone. Every
	// path sets w.last; a path that did not would leave the message in flight until the node ends.
	sending := time.Now()
	outcome, left, err := w.sendMessage(conn, j, raw)
	conn = left
	if w.directPool != nil {
		w.jobs.note(time.Since(sending), time.Since(began))
	}
	// A stale connection was replaced, and the server cannot be reached any more: an outcome like others.
	if d, ok := errors.AsType[*smtpclient.DialError](err); ok {
		outcome, err = d.Outcome, nil
	}
	if err != nil { // nothing was sent
		w.last = []outbox.Result{unsentResult(j.item, err, e.Now())}
		return false
	}
	w.last = []outbox.Result{w.judge(j, outcome)}
	return true
}

// build renders, composes and signs the message of a job.
func (w *worker) build(j *job) ([]byte, error) {
	w.engine.rendering.AcquireUnlimited(j.item.Tenant)
	defer w.engine.rendering.Release(j.item.Tenant)
	return w.builder.build(j)
}

// begin records that the attempt of a job begins, and reports whether it may.
func (w *worker) begin(j *job) bool {
	e := w.engine
	// One transaction has the result of the last message and the intent for this one, so a worker never has
	// two messages whose results are not durable. This bounds what a kill sends twice: one message for each
	// connection. The write is waited for: begun earlier, an attempt that was not recorded would look as if
	// it had never been made.
	begun, err := e.writeStep(&step{results: w.last, intent: &j.item})
	w.last = nil // stored, or lost with the node
	if err != nil {
		e.Log.Error("begin attempt failed", "message", j.item.ID, "err", err)
	}
	if !begun { // paused, cancelled, or claimed by another node by now
		e.release(j.item)
		return false
	}
	// The write may have waited for the database longer than the lease lasts. Another node may then take the
	// message back and send it, so this one must not begin, whatever was recorded.
	if !e.leased() {
		w.last = []outbox.Result{unsentResult(j.item, nil, e.Now())}
		return false
	}
	return true
}

// judge returns the result of an attempt that a server has answered, or left without an answer.
func (w *worker) judge(j *job, outcome reply.Outcome) outbox.Result {
	e := w.engine
	r := resultOf(j.item, outcome, w.settings.config.RetryMaxAge, *j.item.FirstAt, e.Now())
	if j.dest != nil {
		w.reactToReply(j, outcome, &r)
	}
	if w.ses != nil {
		w.acceptedBySES(&r)
	}
	// A provider whose directory fails refuses mailboxes that exist. The guard lets package outage hold the
	// effect of this bounce on its contact; the message itself has bounced.
	why := reply.Classify(outcome).Reason
	if r.State == outbox.Bounced && j.directory != "" && why == reply.InvalidRecipient {
		r.Guard = &outage.Guard{Directory: j.directory, Lane: r.Item.Lane, Sent: r.At}
	}
	e.stats.result(j, r, why)
	return r
}

// recheck checks a message again that has waited in the queue, and reports whether it can be sent.
func (w *worker) recheck(j *job) bool {
	e := w.engine
	jobs, ends, waiting, err := e.checkItems(w.quit, j.item.Tenant, []outbox.Item{j.item})
	switch {
	case err != nil:
		e.release(j.item)
	case len(ends) > 0:
		w.setResult(ends[0])
	case len(waiting) > 0:
		e.putBack(waiting, false)
	case !jobs[0].lane.same(w.settings):
		e.release(j.item) // for workers with the new settings
	default:
		// What was counted for this message, and chosen by it, stays: its permits, its limits, its connection.
		fresh := *jobs[0]
		fresh.days, fresh.throttle = j.days, j.throttle
		fresh.route, fresh.dest, fresh.target, fresh.from = j.route, j.dest, j.target, j.from
		fresh.provider, fresh.directory = j.provider, j.directory
		*j = fresh
		return true
	}
	return false
}

// handleNoConnection handles a message for which there is no connection. It does not count as an
// attempt.
func (w *worker) handleNoConnection(it outbox.Item, err error) {
	e := w.engine
	if h, ok := errors.AsType[*deferral](err); ok {
		if r, over := expired(it, h.down, w.settings.config.RetryMaxAge, e.Now()); over {
			w.setResult(r)
			return
		}
		e.putBack([]deferredItem{{it, h}}, false)
		if h.down.IsZero() { // the server takes fewer connections than the lane allows
			w.flush()
			w.pause = min(max(2*w.pause, backoffFirst), backoffMax)
			select {
			case <-time.After(w.pause):
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
	r := resultOf(it, d.Outcome, w.settings.config.RetryMaxAge, waitingSince(it, down), e.Now())
	if r.State == outbox.Queued && again.Before(r.Due) {
		r.Due = again
	}
	w.setResult(r)
}

// sendMessage sends the message. A connection that the server closed before the message was sent is
// replaced by another, which is returned.
func (w *worker) sendMessage(conn *smtpclient.Conn, j *job, raw []byte) (reply.Outcome, *smtpclient.Conn, error) {
	e := w.engine
	switch w.settings.config.Type {
	case lane.SES:
		return w.sendBySES(e.connCtx, j, raw), nil, nil
	case lane.Sink:
		o, err := intoMailbox(e.connCtx, e.DB, w.settings.config, j.item.Send, w.builder.envelope, j.item.Email, raw, e.Now())
		return o, nil, err
	}
	env := smtpclient.Envelope{From: w.builder.envelope, To: j.item.Email}
	for try := 1; ; try++ {
		// Send ignores ctx after the final dot, so only closing the connection ends it. connCtx ends with
		// the grace of a shutdown, not when it begins: an answer that is not waited for is a mail sent twice.
		used := conn
		stop := context.AfterFunc(e.connCtx, func() { used.Close() })
		o, err := conn.Send(e.connCtx, env, raw)
		stop()
		// ErrClosed and Stale say that the server had closed the connection before it had the message. In any
		// other case it may have it, and sending again here would not even be counted as uncertain.
		if try > maxStale || !errors.Is(err, smtpclient.ErrClosed) && (err != nil || !conn.Stale(o)) {
			return o, conn, err
		}
		w.disconnect(conn, j)
		if conn, err = w.connect(j); err != nil {
			return o, nil, err
		}
	}
}
