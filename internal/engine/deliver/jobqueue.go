package deliver

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/mail/directmx"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
)

// errLaneClosing reports that a queue takes no more jobs.
var errLaneClosing = errors.New("the lane is closing")

// How long a job waits for a connection that is in use before another one is made, and for how long
// another one must have been idle that is closed for it, unless workers mostly wait for servers.
const (
	connPatience = 100 * time.Millisecond
	idleAtLeast  = time.Second
)

// How many jobs a queue has for each destination, if these are more than connections, and how many times its size
// it may have for that. A connection then carries several messages before it is closed for another destination.
const (
	jobsPerTarget = 5
	mostJobs      = 4
)

// idleConns are the connections that no worker uses; directmx.Pool implements it.
type idleConns interface {
	Idle(key string) bool
	Spare(idle time.Duration) bool
	Take(key string) (*smtpclient.Conn, time.Duration)
}

// jobQueue is the queue of a lane. Without connections of its own it is first in, first out.
//
// In a lane that delivers to many destinations, a connection serves only jobs with the same target. A
// worker would open one for nearly every message if it took the oldest job. So it continues with the
// target to which it is connected. When that has no jobs, it takes a job for which there is an idle
// connection, or whose target has none. A job whose target has connections that are all in use waits for
// one of them, and gets another one only after connPatience, if no recently used connection must be
// closed for it: more connections do not help while workers mostly wait for the processor and the database.
// A job that too many others were taken before gets a connection in any case. The more destinations have jobs,
// the more jobs are queued.
type jobQueue struct {
	size  int           // jobs, unless there are many targets
	space chan struct{} // holds a token for each job that is queued or about to be, and those that reserve the rest
	wake  chan struct{} // receives when a waiting worker should call pick
	low   chan struct{} // receives now and then while at most half of the space is used
	conns idleConns     // nil: any worker can send any job
	now   func() time.Time

	mu      sync.Mutex
	n       int       // queued jobs
	room    int       // for so many
	targets []*target // those with queued jobs or busy workers
	byKey   map[string]*target
	waiting int           // workers that wait for jobs
	taken   int           // jobs, since the queue was made
	look    int           // before so many were taken, no job must come first
	sending time.Duration // of the last attempts, the part in which workers waited for servers
	working time.Duration // of the last attempts
	timer   *time.Timer   // set while workers wait for connections to become overdue
}

// target is the queued jobs that the same connections can send, oldest first.
type target struct {
	directmx.Target
	dest   *dest // nil if any worker can send the jobs
	jobs   []queuedJob
	busy   int // workers that send its jobs
	served int // jobs that were taken of all targets when one of this was taken last
}

type queuedJob struct {
	*job
	since time.Time
	taken int // jobs that were taken before it came
}

// picked is a job, its target, and an idle connection to it, if there was one.
type picked struct {
	job  *job
	at   *target
	conn *smtpclient.Conn
	idle time.Duration // for which the connection was not used
}

// newJobQueue returns a queue for a number of jobs, and of workers that take them.
func newJobQueue(size, workers int, conns idleConns, now func() time.Time) *jobQueue {
	most := size
	if conns != nil {
		most *= mostJobs
	}
	q := &jobQueue{
		size: size, room: most, space: make(chan struct{}, most), wake: make(chan struct{}, workers), conns: conns, now: now,
		low: make(chan struct{}, 1), byKey: map[string]*target{}, look: math.MaxInt,
	}
	q.fitRoom()
	return q
}

// fitRoom makes room for the jobs of as many targets as there are, or less. The caller holds q.mu.
func (q *jobQueue) fitRoom() {
	want := min(max(q.size, jobsPerTarget*len(q.targets)), cap(q.space))
	for ; q.room < want; q.room++ {
		<-q.space // never blocks: it holds a token for what is reserved
	}
	for ; q.room > want; q.room-- {
		select {
		case q.space <- struct{}{}:
		default: // jobs are queued there
			return
		}
	}
}

// put adds a job as soon as there is space. It returns errLaneClosing when quit is closed, and the
// error of ctx when that ends.
func (q *jobQueue) put(ctx context.Context, quit <-chan struct{}, j *job) error {
	select {
	case q.space <- struct{}{}:
	case <-quit:
		return errLaneClosing
	case <-ctx.Done():
		return ctx.Err()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	t := q.byKey[j.target.Key]
	if t == nil {
		t = &target{Target: j.target, dest: j.dest}
		q.byKey[t.Key] = t
		q.targets = append(q.targets, t)
		q.fitRoom()
	}
	t.jobs = append(t.jobs, queuedJob{j, q.now(), q.taken})
	q.n++
	if q.conns != nil {
		q.look = min(q.look, q.taken+q.mostBefore())
	}
	switch {
	case q.waiting == 0:
	case q.conns == nil || t.busy == 0 || q.conns.Idle(t.Key):
		q.wakeOne()
	default:
		q.wakeLater()
	}
	return nil
}

// mostBefore is how many later jobs are taken before one whose destination accepts it.
func (q *jobQueue) mostBefore() int { return 2 * q.room }

// next removes and returns the next job of the target that a worker is connected to, or nil if there is
// none, or if another job comes first.
func (q *jobQueue) next(at *target) *job {
	q.mu.Lock()
	defer q.mu.Unlock()
	if at == nil || len(at.jobs) == 0 || q.taken >= q.look || at.dest != nil && !at.dest.mayContinue(q.now()) {
		return nil
	}
	return q.remove(at)
}

// pick removes and returns a job for a worker without a connection, and counts the worker as busy with
// its target until it calls leave. It returns false if there is none; then, if wait is set, the worker
// must wait for wake and call stopWaiting.
func (q *jobQueue) pick(wait bool) (p picked, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	best, more := q.best(now)
	for best != nil && best.dest != nil && !best.dest.begin(now) { // another lane was faster
		best, more = q.best(now)
	}
	if best == nil {
		if wait {
			q.waiting++
			if q.n > 0 {
				q.wakeLater()
			}
		}
		return picked{}, false
	}
	p.job, p.at = q.remove(best), best
	best.busy++
	if q.conns != nil {
		p.conn, p.idle = q.conns.Take(best.Key)
	}
	if more {
		q.wakeOne()
	}
	return p, true
}

// best returns the target whose oldest job is to be taken next, or nil, and whether there are others
// whose jobs can be taken now. The caller holds q.mu.
func (q *jobQueue) best(now time.Time) (best *target, more bool) {
	if q.conns == nil {
		if q.n == 0 {
			return nil, false
		}
		return q.targets[0], q.n > 1
	}
	var first time.Time
	spare := q.conns.Spare(q.idleLongEnough())
	q.look = q.taken + q.mostBefore()
	for _, t := range q.targets {
		if len(t.jobs) == 0 || t.dest != nil && !t.dest.mayBegin(now) {
			continue
		}
		oldest := t.jobs[0]
		at, end := oldest.since, max(oldest.taken, t.served)+q.mostBefore()
		switch idle := q.conns.Idle(t.Key); {
		case q.taken >= end: // the others had their chance
			at = at.Add(-time.Hour)
		case idle:
		case t.busy == 0 || spare && now.Sub(at) >= connPatience:
			at = at.Add(connPatience)
		default:
			q.look = min(q.look, end)
			continue
		}
		q.look = min(q.look, max(end, q.taken+1))
		more = best != nil
		if best == nil || at.Before(first) {
			best, first = t, at
		}
	}
	return best, more
}

// note notes how long an attempt took, and how long of that the worker waited for a server.
func (q *jobQueue) note(sending, working time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sending, q.working = q.sending+sending, q.working+working
	if q.working > time.Minute {
		q.sending, q.working = q.sending/2, q.working/2
	}
}

// idleLongEnough returns for how long a connection must have been idle that is closed for a job whose
// target has others. The caller holds q.mu.
func (q *jobQueue) idleLongEnough() time.Duration {
	if q.sending > q.working/2 {
		return connPatience
	}
	return idleAtLeast
}

// remove removes the oldest job of a target. The caller holds q.mu.
func (q *jobQueue) remove(t *target) *job {
	j := t.jobs[0].job
	n := copy(t.jobs, t.jobs[1:])
	t.jobs[n] = queuedJob{}
	t.jobs = t.jobs[:n]
	if q.n--; q.n%8 == 0 && q.n <= q.room/2 {
		select {
		case q.low <- struct{}{}:
		default:
		}
	}
	q.taken++
	t.served = q.taken
	<-q.space
	return j
}

// leave ends the work of a worker on a target. Its connection was given back before.
func (q *jobQueue) leave(t *target) {
	if t.dest != nil {
		t.dest.end()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.busy--; len(t.jobs) > 0 {
		q.wakeOne()
		return
	}
	if t.busy == 0 && q.conns != nil {
		delete(q.byKey, t.Key)
		i, last := slices.Index(q.targets, t), len(q.targets)-1
		q.targets[i], q.targets[last] = q.targets[last], nil
		q.targets = q.targets[:last]
		q.fitRoom()
	}
}

// stopWaiting ends the wait of a worker.
func (q *jobQueue) stopWaiting() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting--
}

// wakeOne wakes a waiting worker, if there is one for which no wake-up is pending. The caller holds q.mu.
func (q *jobQueue) wakeOne() {
	if q.waiting > len(q.wake) {
		q.wake <- struct{}{} // never blocks: its capacity is the number of workers
	}
}

// wakeLater wakes a worker when a job may have waited long enough for a connection in use. The caller
// holds q.mu.
func (q *jobQueue) wakeLater() {
	if q.timer != nil {
		return
	}
	q.timer = time.AfterFunc(connPatience, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.timer = nil; q.n > 0 {
			q.wakeOne()
		}
	})
}

// drain removes and returns all jobs.
func (q *jobQueue) drain() []*job {
	q.mu.Lock()
	defer q.mu.Unlock()
	var list []*job
	for _, t := range q.targets {
		for len(t.jobs) > 0 {
			list = append(list, q.remove(t))
		}
	}
	return list
}

// len returns the number of queued jobs.
func (q *jobQueue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.n
}
