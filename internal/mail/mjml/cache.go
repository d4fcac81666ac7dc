package mjml

import (
	"container/list"
	"crypto/sha256"
	"sync"
)

// maxCache is how many bytes of results are kept; the least recently used are removed first.
const maxCache = 8 << 20

// cache keeps results by the hash of their sources. The zero value is empty.
type cache struct {
	mu    sync.Mutex
	byKey map[[sha256.Size]byte]*list.Element
	order list.List // of cached, last used first
	bytes int
}

type cached struct {
	key    [sha256.Size]byte
	result Result
}

func (c *cached) size() int {
	n := 200 + len(c.result.HTML)
	for _, w := range c.result.Warnings {
		n += 50 + len(w.Tag) + len(w.Message)
	}
	return n
}

func (c *cache) get(key [sha256.Size]byte) (Result, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return Result{}, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*cached).result.clone(), true
}

func (c *cache) put(key [sha256.Size]byte, r Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	item := &cached{key, r.clone()}
	if _, ok := c.byKey[key]; ok || item.size() > maxCache {
		return
	}
	if c.byKey == nil {
		c.byKey = map[[sha256.Size]byte]*list.Element{}
	}
	c.byKey[key] = c.order.PushFront(item)
	c.bytes += item.size()
	for c.bytes > maxCache {
		oldest := c.order.Remove(c.order.Back()).(*cached)
		delete(c.byKey, oldest.key)
		c.bytes -= oldest.size()
	}
}

func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byKey, c.bytes = nil, 0
	c.order.Init()
}
