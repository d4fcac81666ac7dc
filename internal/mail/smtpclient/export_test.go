package smtpclient

import "bytes"

// Open returns how many connections exist, for tests.
func (p *Pool) Open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open
}

// Stuff is stuff, and CheckEnvelope is Envelope.check, for tests.
func Stuff(raw []byte) ([]byte, error) {
	asIs, err := isDotReady(raw)
	if err != nil {
		return nil, err
	}
	stuffed := dotStuff(nil, raw)
	if asIs != bytes.Equal(stuffed, raw) {
		panic("what is ready is not what need not be changed")
	}
	return append(stuffed, terminator...), nil
}

func CheckEnvelope(e Envelope) error { return e.check() }
