package track

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// Queue writes new hits to the database, many in one commit. It is bounded: a full queue
// makes requests wait. A write that fails is retried, so that no hit is lost while the
// database accepts writes.
type Queue struct {
	Write func(ctx context.Context, hits []Hit) error // in one commit
	Log   *slog.Logger

	writers int           // batches written at a time; 0 means one
	in      chan *queued  // pointers: an empty queue takes little memory
	written atomic.Int64  // batches
	lost    atomic.Int64  // hits
	stall   time.Duration // time without a written batch after which a full queue rejects hits
	pause   func(ctx context.Context, tries int)
}

type queued struct {
	hit  Hit
	done chan struct{}
}

const (
	queueBatch = 400    // hits of a commit
	queueSize  = 20_000 // hits, of at most about a kilobyte each
	queueStall = 30 * time.Second
	lastTries  = 3 // tries of a batch when the process ends

	// postgresWriters is the number of batches written at a time on PostgreSQL: while one
	// commits, the other is written.
	postgresWriters = 2
)

// NewQueue returns a queue of hits for a database.
func NewQueue(db *sqldb.DB, log *slog.Logger) *Queue {
	writers := 1 // SQLite has one
	if db.Dialect() == sqldb.Postgres {
		writers = postgresWriters
	}
	return &Queue{
		writers: writers,
		Write:   func(ctx context.Context, hits []Hit) error { return Accept(ctx, db, hits) },
		Log:     log,
		in:      make(chan *queued, queueSize),
		stall:   queueStall,
		pause:   backOff,
	}
}

// ErrLost means that a hit was not stored: the queue is full, and no batch has been written
// for half a minute.
var ErrLost = errors.New("the queue of hits is full, and writes fail")

// Put adds a hit to the queue and waits until it is durable or ctx ends; in the latter case
// it stays in the queue. While the queue is full, Put may wait longer than ctx.
func (q *Queue) Put(ctx context.Context, h Hit) error {
	h.Method, h.Agent = clean(h.Method), clean(h.Agent) // shortened, so that the queue's memory is bounded
	e := &queued{h, make(chan struct{})}
	select {
	case q.in <- e:
	default:
		if !q.wait(e) {
			q.lost.Add(1)
			return ErrLost
		}
	}
	select {
	case <-e.done:
	case <-ctx.Done():
	}
	return nil
}

// wait adds a hit as soon as the queue is not full.
func (q *Queue) wait(e *queued) bool {
	timer := time.NewTimer(q.stall)
	defer timer.Stop()
	for {
		before := q.written.Load()
		select {
		case q.in <- e:
			return true
		case <-timer.C:
			if q.written.Load() == before {
				return false
			}
			timer.Reset(q.stall)
		}
	}
}

// Len returns the number of hits to be written.
func (q *Queue) Len() int { return len(q.in) }

// Lost returns the number of hits lost since the process began.
func (q *Queue) Lost() int64 { return q.lost.Load() }

// Run writes hits until ctx ends, and then the rest of the queue.
func (q *Queue) Run(ctx context.Context) error {
	var writers sync.WaitGroup
	for range max(1, q.writers) {
		writers.Go(func() { q.run(ctx) })
	}
	writers.Wait()
	return nil
}

// run is the loop of one writer.
func (q *Queue) run(ctx context.Context) {
	batch := make([]*queued, 0, queueBatch)
	for {
		batch = batch[:0]
		select {
		case e := <-q.in:
			batch = append(batch, e)
		case <-ctx.Done():
			select {
			case e := <-q.in:
				batch = append(batch, e)
			default:
				return
			}
		}
	gather:
		for len(batch) < queueBatch {
			select {
			case e := <-q.in:
				batch = append(batch, e)
			default:
				break gather
			}
		}
		q.write(ctx, batch)
		clear(batch)
	}
}

// write writes a batch, and retries until that succeeds or the process ends.
func (q *Queue) write(ctx context.Context, batch []*queued) {
	hits := make([]Hit, len(batch))
	for i, e := range batch {
		hits[i] = e.hit
	}
	for tries := 1; ; tries++ {
		err := q.Write(context.WithoutCancel(ctx), hits)
		switch {
		case err == nil:
			q.written.Add(1)
		case ctx.Err() != nil && tries >= lastTries:
			q.lost.Add(int64(len(hits)))
			q.Log.Error("hits lost", "hits", len(hits), "tenant", hits[0].Tenant, "message", hits[0].Message, "err", err)
		default:
			q.Log.Warn("write hits failed, will retry", "hits", len(hits), "tries", tries, "err", err)
			q.pause(ctx, tries)
			continue
		}
		for _, e := range batch {
			close(e.done)
		}
		return
	}
}

// backOff waits before a retry: longer each time, up to five seconds.
func backOff(ctx context.Context, tries int) {
	sleep(ctx, min(50*time.Millisecond<<min(tries, 10), 5*time.Second))
}
