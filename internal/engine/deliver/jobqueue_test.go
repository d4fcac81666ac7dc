package deliver

import (
	"context"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/mail/directmx"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/senders/destination"
)

// fakeConns are idle connections by target. A place is free unless full is set; then the connection that
// was idle longest was so for a time.
type fakeConns struct {
	idle    map[string]int
	full    bool
	longest time.Duration
}

func (f *fakeConns) Idle(key string) bool          { return f.idle[key] > 0 }
func (f *fakeConns) Spare(idle time.Duration) bool { return !f.full || f.longest >= idle }
func (f *fakeConns) Take(key string) (*smtpclient.Conn, time.Duration) {
	if f.idle[key] == 0 {
		return nil, 0
	}
	f.idle[key]--
	return new(smtpclient.Conn), 0
}

// queueModel is a queue with three targets, and what is known of its jobs.
type queueModel struct {
	*rapid.T
	q      *jobQueue
	conns  *fakeConns
	clock  time.Time
	dests  []*dest
	queued []*job
	since  map[*job]time.Time
	before map[*job]int // jobs that were taken since the last one of its target
	busy   map[string][]*target
}

func (m *queueModel) of(key string) (list []*job) {
	for _, j := range m.queued {
		if j.target.Key == key {
			list = append(list, j)
		}
	}
	return list
}

// took checks that a job is the oldest of its target, and that no other had to come first.
func (m *queueModel) took(j *job) {
	mine := m.of(j.target.Key)
	if len(mine) == 0 || mine[0] != j {
		m.Fatal("a job was taken twice, or before an older one of its target")
	}
	for _, k := range m.of(j.target.Key)[1:] {
		m.before[k] = 0
	}
	for i, k := range m.queued {
		if k == j {
			m.queued = append(m.queued[:i:i], m.queued[i+1:]...)
			break
		}
	}
	for _, k := range m.queued {
		if k.target.Key == j.target.Key || k.dest.active >= k.dest.limit(m.clock) {
			m.before[k] = 0
			continue
		}
		if m.before[k]++; m.before[k] > 3*m.q.mostBefore() {
			m.Errorf("%d jobs of other targets were taken before one", m.before[k])
		}
	}
}

// Workers continue with their target. Others get a job for an idle connection, or one whose target has
// none; a job gets an additional connection only after a while, or when too many others went first. No
// destination gets more workers than it accepts.
func TestJobsWaitForConnectionsInUse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const size, workers = 8, 6
		m := &queueModel{T: t, conns: &fakeConns{idle: map[string]int{}}, clock: time.Unix(1e9, 0), since: map[*job]time.Time{}, before: map[*job]int{}, busy: map[string][]*target{}}
		m.q = newJobQueue(size, workers, m.conns, func() time.Time { return m.clock })
		for _, limit := range []int{1, 2, 10} {
			m.dests = append(m.dests, newDest(destination.Key{}, directmx.Shape{Connections: limit}))
		}
		keys, inUse := []string{"a", "b", "c"}, 0
		draw := func(n int, label string) int { return rapid.IntRange(0, n-1).Draw(t, label) }
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			which := draw(len(keys), "of")
			key := keys[which]
			switch step := draw(5, "step"); {
			case step == 0:
				m.clock = m.clock.Add(time.Duration(draw(60, "ms")) * time.Millisecond)
				m.conns.full = rapid.Bool().Draw(t, "full")
			case step == 1 && len(m.queued) < size:
				j := &job{dest: m.dests[which], target: directmx.Target{Key: key}}
				if err := m.q.put(context.Background(), nil, j); err != nil {
					t.Fatal(err)
				}
				m.queued, m.since[j] = append(m.queued, j), m.clock
			case step == 2 && len(m.busy[key]) > 0:
				if j := m.q.next(m.busy[key][0]); j != nil {
					m.took(j)
				}
			case step == 3 && len(m.busy[key]) > 0:
				m.conns.idle[key]++
				m.q.leave(m.busy[key][0])
				m.busy[key], inUse = m.busy[key][1:], inUse-1
			case step == 4 && inUse < workers:
				p, ok := m.q.pick(false)
				if !ok {
					m.none(keys)
					continue
				}
				k := p.job.target.Key
				waited, passed := m.clock.Sub(m.since[p.job]), m.before[p.job]
				if p.conn == nil && len(m.busy[k]) > 0 && passed < m.q.mostBefore() && (waited < connPatience || m.conns.full) {
					t.Errorf("a job that waited for %s got an additional connection; full: %t", waited, m.conns.full)
				}
				m.busy[k], inUse = append(m.busy[k], p.at), inUse+1
				if n, most := len(m.busy[k]), p.job.dest.shape.Connections; n > most {
					t.Errorf("%d workers for a destination that accepts %d", n, most)
				}
				m.took(p.job)
			}
			if m.q.len() != len(m.queued) {
				t.Errorf("%d jobs are queued, want %d", m.q.len(), len(m.queued))
			}
		}
		if left := m.q.drain(); len(left) != len(m.queued) || m.q.len() != 0 {
			t.Errorf("drain returned %d jobs of %d", len(left), len(m.queued))
		}
	})
}

// none checks that a worker got no job because all must wait.
func (m *queueModel) none(keys []string) {
	for _, key := range keys {
		list := m.of(key)
		if len(list) == 0 || list[0].dest.active >= list[0].dest.limit(m.clock) {
			continue
		}
		if len(m.busy[key]) == 0 || m.conns.idle[key] > 0 || !m.conns.full && m.clock.Sub(m.since[list[0]]) >= connPatience {
			m.Errorf("no job for a worker, and %d for %s", len(list), key)
		}
	}
}

// testQueue is a queue of four jobs, to destinations that accept ten connections.
type testQueue struct {
	*jobQueue
	t     *testing.T
	conns *fakeConns
	clock time.Time
	dests map[string]*dest
}

func newTestQueue(t *testing.T) *testQueue {
	q := &testQueue{t: t, conns: &fakeConns{idle: map[string]int{}, full: true}, clock: time.Unix(1e9, 0), dests: map[string]*dest{}}
	q.jobQueue = newJobQueue(4, 4, q.conns, func() time.Time { return q.clock })
	return q
}

// add queues a job for a target.
func (q *testQueue) add(key string) {
	q.t.Helper()
	if q.dests[key] == nil {
		q.dests[key] = newDest(destination.Key{}, directmx.Shape{Connections: 10})
	}
	if err := q.put(q.t.Context(), nil, &job{dest: q.dests[key], target: directmx.Target{Key: key}}); err != nil {
		q.t.Fatal(err)
	}
}

// mustPick returns a job, which must be for a target.
func (q *testQueue) mustPick(key string) picked {
	q.t.Helper()
	p, ok := q.pick(false)
	if !ok || p.at.Key != key {
		q.t.Fatalf("pick = %v, %t, want a job for %s", p.at, ok, key)
	}
	return p
}

func TestJobsForIdleConnectionsComeFirst(t *testing.T) {
	t.Parallel()
	q := newTestQueue(t)
	q.conns.idle["idle"] = 2
	q.add("new")
	q.clock = q.clock.Add(connPatience / 2)
	q.add("idle")
	q.mustPick("idle")
	q.clock = q.clock.Add(connPatience)
	q.add("idle")
	q.mustPick("new") // it was there long before
	q.mustPick("idle")
}

// For a job whose target has connections, one that was used a short time ago is closed only if workers
// mostly wait for servers, so that more connections help.
func TestConnectionsMoveToSlowDestinations(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		sending, longest time.Duration // of attempts of a second; how long a connection was idle
		moves            bool
	}{
		{800 * time.Millisecond, connPatience, true},
		{800 * time.Millisecond, connPatience - 1, false},
		{200 * time.Millisecond, idleAtLeast - 1, false},
		{200 * time.Millisecond, idleAtLeast, true},
	} {
		q := newTestQueue(t)
		q.conns.longest = tt.longest
		for range 100 {
			q.note(time.Second-tt.sending, time.Second)
		}
		for range 200 { // now it is different
			q.note(tt.sending, time.Second)
		}
		q.add("slow")
		q.mustPick("slow")
		q.add("slow")
		if _, ok := q.pick(false); ok {
			t.Errorf("%v: a job got another connection at once", tt)
		}
		q.clock = q.clock.Add(connPatience)
		if _, ok := q.pick(false); ok != tt.moves {
			t.Errorf("%v: a job got another connection: %t", tt, ok)
		}
	}
}

// A worker does not continue with its target for ever while a job for another one waits.
func TestOtherTargetsGetTheirTurn(t *testing.T) {
	t.Parallel()
	q := newTestQueue(t)
	q.add("busy")
	at := q.mustPick("busy").at
	q.add("other")
	for range 2*cap(q.space) + 1 {
		q.add("busy")
		if q.next(at) != nil {
			continue
		}
		q.conns.idle["busy"]++
		q.leave(at)
		p, ok := q.pick(false)
		if !ok {
			t.Fatal("no job")
		}
		if at = p.at; at.Key == "other" {
			return
		}
	}
	t.Fatal("the job for another target was not taken")
}

// A job whose target has a connection that never becomes idle gets another one although one to another
// destination must be closed for it.
func TestAStuckConnectionDelaysNoOtherJob(t *testing.T) {
	t.Parallel()
	q := newTestQueue(t)
	q.add("stuck")
	q.mustPick("stuck")
	q.add("stuck")
	for range 2*cap(q.space) + 1 {
		q.conns.idle["other"]++
		q.add("other")
		p, ok := q.pick(false)
		if !ok {
			t.Fatal("no job")
		}
		if p.at.Key == "stuck" {
			return
		}
		q.leave(p.at)
	}
	t.Fatal("the job for another target was not taken")
}

// Without connections of its own a queue is first in, first out, and a job wakes one worker.
func TestJobsOfARelayAreTakenInOrder(t *testing.T) {
	t.Parallel()
	q := newJobQueue(4, 2, nil, time.Now)
	if _, ok := q.pick(true); ok {
		t.Fatal("an empty queue has a job")
	}
	var jobs []*job
	for range 4 {
		jobs = append(jobs, &job{})
		if err := q.put(t.Context(), nil, jobs[len(jobs)-1]); err != nil {
			t.Fatal(err)
		}
	}
	if len(q.wake) != 1 {
		t.Errorf("%d wake-ups for one worker that waits", len(q.wake))
	}
	<-q.wake
	q.stopWaiting()
	first, ok := q.pick(true)
	if !ok || first.job != jobs[0] {
		t.Error("the first job was not taken first")
	}
	for _, want := range jobs[1:] {
		if got := q.next(first.at); got != want {
			t.Error("a job was taken out of order")
		}
	}
	if q.next(first.at) != nil || q.len() != 0 {
		t.Error("a job was taken twice")
	}
}

// A worker that waits while all jobs wait for connections in use is woken when one of them is overdue.
func TestAWorkerIsWokenForAnOverdueJob(t *testing.T) {
	t.Parallel()
	q := newJobQueue(4, 2, &fakeConns{idle: map[string]int{}}, time.Now)
	s := newDest(destination.Key{}, directmx.Shape{Connections: 2})
	for range 2 {
		if err := q.put(t.Context(), nil, &job{dest: s, target: directmx.Target{Key: "a"}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := q.pick(true); !ok {
		t.Fatal("the first job was not taken")
	}
	for {
		if _, ok := q.pick(true); ok {
			return
		}
		<-q.wake
		q.stopWaiting()
	}
}

func TestAFullQueueTakesNoJobs(t *testing.T) {
	t.Parallel()
	q := newJobQueue(1, 1, nil, time.Now)
	if err := q.put(t.Context(), nil, &job{}); err != nil {
		t.Fatal(err)
	}
	closing := make(chan struct{})
	close(closing)
	if err := q.put(t.Context(), closing, &job{}); !errors.Is(err, errLaneClosing) {
		t.Errorf("a lane that closes takes a job: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := q.put(ended, nil, &job{}); !errors.Is(err, context.Canceled) {
		t.Errorf("put after the end of its context: %v", err)
	}
}

// A queue accepts more jobs while they are for more destinations than connections, and as few as before afterwards.
func TestTheQueueHasRoomForJobsOfManyDestinations(t *testing.T) {
	const size, destinations = 8, 30
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	q := newJobQueue(size, 2, &fakeConns{idle: map[string]int{}}, func() time.Time { return now })
	full, cancel := context.WithCancel(t.Context())
	cancel()
	fill := func(destinations int) (n int) {
		t.Helper()
		for i := 0; ; i++ {
			key := string(rune('a' + i%destinations))
			switch err := q.put(full, nil, &job{target: directmx.Target{Destination: key, Key: key}}); {
			case err == nil:
				n++
			case !errors.Is(err, context.Canceled):
				t.Fatal(err)
			case len(q.space) == cap(q.space):
				return n
			}
		}
	}
	empty := func() {
		t.Helper()
		for q.len() > 0 {
			p, ok := q.pick(false)
			if !ok {
				t.Fatal("no job can be taken")
			}
			for at := p.at; q.next(at) != nil; {
			}
			q.leave(p.at)
		}
	}
	for range 2 {
		if n := fill(1); n != size {
			t.Errorf("room for %d jobs to one destination, want %d", n, size)
		}
		empty()
		if n := fill(destinations); n != mostJobs*size {
			t.Errorf("room for %d jobs to %d destinations, want %d", n, destinations, mostJobs*size)
		}
		empty()
	}
}
