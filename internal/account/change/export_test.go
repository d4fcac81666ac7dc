package change

// Take returns the next event of a stream.
func (s *Stream) Take() (Event, bool) { return s.take() }

// NewStream returns a stream of a hub without a database.
func NewStream(c Caller) *Stream {
	return &Stream{hub: &Hub{}, caller: c, changes: Set{}, woken: make(chan struct{}, 1), ended: make(chan struct{})}
}

// Receive adds changes to a stream, as its hub does.
func (s *Stream) Receive(changes []Change) { s.receive(changes, false) }
