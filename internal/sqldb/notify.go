package sqldb

import (
	"slices"
	"sync"
)

// Signal is a kind of work that a write creates for a loop of the program. The package that owns
// the rows declares it.
type Signal string

// subscribers are the loops of this process that wait for signals.
type subscribers struct {
	mu       sync.Mutex
	channels map[Signal][]chan struct{}
}

// Subscribe returns a channel that receives an element after a transaction that notified s has
// committed in this process. Several commits may cause one element, and those of other processes
// cause none, so loops also poll.
func (db *DB) Subscribe(s Signal) <-chan struct{} {
	c := make(chan struct{}, 1)
	db.subscribers.mu.Lock()
	defer db.subscribers.mu.Unlock()
	if db.subscribers.channels == nil {
		db.subscribers.channels = map[Signal][]chan struct{}{}
	}
	db.subscribers.channels[s] = append(db.subscribers.channels[s], c)
	return c
}

// Notify wakes the subscribers of s when the transaction has committed; on the database handle, at
// once, so it is called after the write. It does not block.
func (db *DB) Notify(s Signal) {
	if db.tx == nil {
		db.send(s)
		return
	}
	if !slices.Contains(db.tx.signals, s) {
		db.tx.signals = append(db.tx.signals, s)
	}
}

func (db *DB) send(signals ...Signal) {
	db.subscribers.mu.Lock()
	defer db.subscribers.mu.Unlock()
	for _, s := range signals {
		for _, c := range db.subscribers.channels[s] {
			select {
			case c <- struct{}{}:
			default: // it has an element already
			}
		}
	}
}
