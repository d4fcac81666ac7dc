package smtpclient

// Alive is alive, for tests.
func (c *Conn) Alive() bool { return c.alive() }

// Open returns how many connections exist, for tests.
func (p *Pool) Open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open
}

// Stuff is stuff, and CheckEnvelope is Envelope.check, for tests.
func Stuff(raw []byte) ([]byte, error) { return stuff(nil, raw) }

func CheckEnvelope(e Envelope) error { return e.check() }
