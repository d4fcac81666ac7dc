package deliver

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// errLaneClosing reports that a queue takes no more jobs.
var errLaneClosing = errors.New("the lane is closing")

// jobQueue is the queue of a lane: first in, first out, except that a worker gets the oldest job for
// the destination that it has a connection to, if there is one. Otherwise the workers of a lane that
// delivers to many destinations would open a connection for nearly every message.
type jobQueue struct {
	space chan struct{} // holds a token for each job that is queued or about to be
	ready chan struct{} // holds a token for each queued job

	mu     sync.Mutex
	jobs   []*job // in the order in which they came
	passed int    // how many later jobs were taken before the first one
}

func newJobQueue(size int) *jobQueue {
	return &jobQueue{space: make(chan struct{}, size), ready: make(chan struct{}, size)}
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
	q.jobs = append(q.jobs, j)
	q.mu.Unlock()
	q.ready <- struct{}{}
	return nil
}

// take removes and returns a job: the oldest for a site, or else the oldest. So that no job waits for
// long, the oldest is taken after a queue's length of others. The caller has received a token from
// ready.
func (q *jobQueue) take(at *site) *job {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := 0
	if at != nil && q.passed < cap(q.space) {
		i = max(slices.IndexFunc(q.jobs, func(j *job) bool { return j.site == at }), 0)
	}
	if q.passed++; i == 0 {
		q.passed = 0
	}
	j := q.jobs[i]
	q.jobs = slices.Delete(q.jobs, i, i+1)
	<-q.space
	return j
}

// len returns the number of queued jobs.
func (q *jobQueue) len() int { return len(q.ready) }
