package sqldb

import (
	"slices"
	"sync"
)

// Signal names a kind of work that a write leaves for a loop of the program. The
// package that owns the rows declares it.
type Signal string

// subscribers are the loops of this process that wait for signals.
type subscribers struct {
	mu sync.Mutex
	of map[Signal][]chan struct{}
}

// Subscribe returns a channel that has an element soon after a transaction that
// notified s has committed in this process. Many commits may be one element, and
// other processes' are not seen, so the rows are looked for by the clock, too.
func (db *DB) Subscribe(s Signal) <-chan struct{} {
	c := make(chan struct{}, 1)
	db.subscribers.mu.Lock()
	defer db.subscribers.mu.Unlock()
	if db.subscribers.of == nil {
		db.subscribers.of = map[Signal][]chan struct{}{}
	}
	db.subscribers.of[s] = append(db.subscribers.of[s], c)
	return c
}

// Notify wakes the subscribers of s once the transaction has committed; on the
// database handle, at once, so there it follows the write. It never waits.
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
		for _, c := range db.subscribers.of[s] {
			select {
			case c <- struct{}{}:
			default: // it has one that it did not take yet
			}
		}
	}
}
