package deliver

import (
	"sync"

	"github.com/packetboat/packetboat/internal/base/id"
)

// fairQueue limits how many workers render messages at a time, which is what takes CPU time. When
// more are waiting, tenants take turns, and the workers of one tenant are served in order. So the
// others get their part, however many connections a tenant uses.
type fairQueue struct {
	mu     sync.Mutex
	free   int
	queues map[id.Tenant][]chan struct{}
	turns  []id.Tenant // tenants with waiting workers, next first
}

func newFairQueue(places int) *fairQueue {
	return &fairQueue{free: places, queues: map[id.Tenant][]chan struct{}{}}
}

// acquire waits for a place. The caller must release it.
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

// release passes the place to the next tenant's first worker.
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
