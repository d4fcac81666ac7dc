// Package cache stores values in memory, each for a limited time and a limited number at once.
package cache

import (
	"sync"
	"time"
)

// Cache stores up to Max values by key. When it is full, it drops the half that was stored first,
// never all, so that not all of its users load their values again at the same time. The zero value
// is ready for use, and a Cache is safe for concurrent use.
type Cache[K comparable, V any] struct {
	Max int // at least 2; 0 means 4096

	mu       sync.Mutex
	new, old map[K]entry[V] // each holds up to half of Max; a key may be in both, and new wins
	version  int            // how often Clear was called
}

type entry[V any] struct {
	value V
	at    time.Time     // when it was stored
	keep  time.Duration // 0: without expiry
}

const defaultMax = 4096

// Get returns the value of a key that was stored and has not expired at now.
func (c *Cache[K, V]) Get(key K, now time.Time) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.get(key, now)
}

func (c *Cache[K, V]) get(key K, now time.Time) (value V, ok bool) {
	e, ok := c.new[key]
	if !ok {
		e, ok = c.old[key]
	}
	if !ok || e.keep > 0 && now.Sub(e.at).Abs() >= e.keep { // Abs: the clock may be set back
		return value, false
	}
	return e.value, true
}

// Put stores a value at a time, to expire after keep; if keep is 0, it does not expire.
func (c *Cache[K, V]) Put(key K, value V, now time.Time, keep time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(key, value, now, keep)
}

func (c *Cache[K, V]) put(key K, value V, now time.Time, keep time.Duration) {
	limit := c.Max
	if limit == 0 {
		limit = defaultMax
	}
	if c.new == nil {
		c.new = map[K]entry[V]{}
	}
	if _, found := c.new[key]; !found && len(c.new) >= max(limit/2, 1) {
		c.old, c.new = c.new, map[K]entry[V]{}
	}
	c.new[key] = entry[V]{value, now, keep}
}

// Load returns the value of a key. If there is none that has not expired at now, it calls load and
// stores the result. If Clear was called while load ran, the result is returned and not stored.
func (c *Cache[K, V]) Load(key K, now time.Time, keep time.Duration, load func() (V, error)) (V, error) {
	c.mu.Lock()
	value, ok := c.get(key, now)
	version := c.version
	c.mu.Unlock()
	if ok {
		return value, nil
	}
	value, err := load()
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.delete(key)
		return value, err
	}
	if version == c.version {
		c.put(key, value, now, keep)
	}
	return value, nil
}

// Update changes the value of a stored key, and does not change its expiry.
func (c *Cache[K, V]) Update(key K, change func(value V) V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range []map[K]entry[V]{c.new, c.old} {
		if e, ok := m[key]; ok {
			e.value = change(e.value)
			m[key] = e
			return
		}
	}
}

func (c *Cache[K, V]) delete(key K) {
	delete(c.new, key)
	delete(c.old, key)
}

// Clear removes all values.
func (c *Cache[K, V]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.new, c.old = nil, nil
	c.version++
}

// Len returns the number of values, including expired ones.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.new)
	for key := range c.old {
		if _, twice := c.new[key]; !twice {
			n++
		}
	}
	return n
}
