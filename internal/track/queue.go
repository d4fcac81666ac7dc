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

// Queue holds new hits until they are durable, many by one commit. It is
// bounded; while the database takes writes none of its hits is lost: a write that
// fails is tried again, and a full queue makes requests wait.
type Queue struct {
	Write func(ctx context.Context, hits []Hit) error // by one commit
	Log   *slog.Logger

	writers int // batches written at a time; 0 means one
	in      chan queued
	written atomic.Int64  // batches
	lost    atomic.Int64  // hits
	stall   time.Duration // without a batch written, after which a full queue takes no more
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
	lastTries  = 3 // of a batch when the process ends

	// postgresWriters is how many batches PostgreSQL is given at a time: while one is
	// made durable, the other is written.
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
		in:      make(chan queued, queueSize),
		stall:   queueStall,
		pause:   backOff,
	}
}

// ErrLost says that a hit was not kept: the queue is full, and nothing has been
// written for half a minute.
var ErrLost = errors.New("the queue of hits is full, and the database takes none")

// Keep hands in a hit and waits until it is durable, or until ctx ends: then it is
// still in the queue. Only while the queue is full it waits for longer than ctx.
func (q *Queue) Keep(ctx context.Context, h Hit) error {
	h.Method, h.Agent = clean(h.Method), clean(h.Agent) // what is kept of a long header
	e := queued{h, make(chan struct{})}
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

// wait hands in a hit when there is room again.
func (q *Queue) wait(e queued) bool {
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

// Waiting returns how many hits have still to be written.
func (q *Queue) Waiting() int { return len(q.in) }

// Lost returns how many hits were not kept since the process began.
func (q *Queue) Lost() int64 { return q.lost.Load() }

// Run writes until ctx ends, and then what has been handed in.
func (q *Queue) Run(ctx context.Context) error {
	var writers sync.WaitGroup
	for range max(1, q.writers) {
		writers.Go(func() { q.run(ctx) })
	}
	writers.Wait()
	return nil
}

// run is one writer.
func (q *Queue) run(ctx context.Context) {
	batch := make([]queued, 0, queueBatch)
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

// write writes a batch, however often it has to try.
func (q *Queue) write(ctx context.Context, batch []queued) {
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

// backOff waits before another try: longer each time, up to five seconds.
func backOff(ctx context.Context, tries int) {
	rest(ctx, min(50*time.Millisecond<<min(tries, 10), 5*time.Second))
}
