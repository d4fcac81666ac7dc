package deliver

import (
	"sync"

	"github.com/packetboat/packetboat/internal/id"
)

// fairQueue lets a few workers at a time do what takes the processor: to make a
// message. When more want to, tenants take turns, and in each those who came
// first: so that one tenant's million, however many its connections, leaves the
// others their part.
type fairQueue struct {
	mu     sync.Mutex
	free   int
	queues map[id.Tenant][]chan struct{}
	turns  []id.Tenant // who has somebody waiting, next first
}

func newFairQueue(places int) *fairQueue {
	return &fairQueue{free: places, queues: map[id.Tenant][]chan struct{}{}}
}

// acquire waits for a place. Whoever has entered leaves again.
func (f *fairQueue) acquire(t id.Tenant) {
	f.mu.Lock()
	if f.free > 0 {
		f.free--
		f.mu.Unlock()
		return
	}
	mine := make(chan struct{})
	if len(f.queues[t]) == 0 {
		f.turns = append(f.turns, t)
	}
	f.queues[t] = append(f.queues[t], mine)
	f.mu.Unlock()
	<-mine
}

// release gives the place to whoever's turn it is.
func (f *fairQueue) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.turns) == 0 {
		f.free++
		return
	}
	t := f.turns[0]
	f.turns = f.turns[1:]
	queue := f.queues[t]
	close(queue[0])
	if queue = queue[1:]; len(queue) == 0 {
		delete(f.queues, t)
		return
	}
	f.queues[t] = queue
	f.turns = append(f.turns, t)
}
