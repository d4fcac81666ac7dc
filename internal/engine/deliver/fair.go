package deliver

import (
	"sync"

	"github.com/packetboat/packetboat/internal/id"
)

// fair lets a few workers at a time do what takes the processor: to make a
// message. When more want to, tenants take turns, and in each those who came
// first: so that one tenant's million, however many its connections, leaves the
// others their part.
type fair struct {
	mu     sync.Mutex
	free   int
	queues map[id.Tenant][]chan struct{}
	turns  []id.Tenant // who has somebody waiting, next first
}

func newFair(places int) *fair {
	return &fair{free: places, queues: map[id.Tenant][]chan struct{}{}}
}

// enter waits for a place. Whoever has entered leaves again.
func (f *fair) enter(t id.Tenant) {
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

// leave gives the place to whoever's turn it is.
func (f *fair) leave() {
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
