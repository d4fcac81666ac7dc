package smtpclient

// Alive is alive, for tests.
func (c *Conn) Alive() bool { return c.alive() }

// Open returns how many connections exist, for tests.
func (p *Pool) Open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open
}
