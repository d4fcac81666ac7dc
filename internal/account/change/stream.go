package change

import (
	"context"
	"strconv"
	"sync"
	"time"
)

// The times of a stream.
const (
	Lifetime  = 15 * time.Minute // then it ends, and the caller is checked again
	KeepAlive = 20 * time.Second // between two comments
)

// Stream is the changes that one caller is told.
type Stream struct {
	hub    *Hub
	caller Caller
	woken  chan struct{} // there is something to tell
	ended  chan struct{} // closed when the program stops

	mu       sync.Mutex
	changes  Set
	reset    bool
	position time.Time // up to which hints were received
}

// Event is what a caller is told at once.
type Event struct {
	Position string
	Reset    bool // changes may have been missed
	Changes  []Change
}

// Writer sends to the caller. Its methods return an error when the caller has disconnected, or may not receive
// changes any more.
type Writer interface {
	Event(Event) error
	// Comment keeps the connection open. Without a position, that of the last event stays valid.
	Comment(position string) error
}

// Run sends the caller its position, and then what changes, at most once a second, until ctx ends, the caller
// disconnects, the hub is closed, or Lifetime has passed.
func (s *Stream) Run(ctx context.Context, w Writer) {
	defer s.Close()
	end, beat := time.NewTimer(Lifetime), time.NewTicker(KeepAlive)
	defer end.Stop()
	defer beat.Stop()
	if w.Comment(s.positionText()) != nil {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.ended:
			return
		case <-end.C:
			return
		case <-beat.C:
			if w.Comment(s.positionText()) != nil {
				return
			}
			continue
		case <-s.woken:
		}
		e, ok := s.take()
		if !ok {
			continue
		}
		if w.Event(e) != nil || !s.pause(ctx) {
			return
		}
	}
}

// pause waits until the next event may be sent, and reports whether the stream goes on.
func (s *Stream) pause(ctx context.Context) bool {
	wait := time.NewTimer(interval)
	defer wait.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-s.ended:
		return false
	case <-wait.C:
		return true
	}
}

// take returns the next event, if there is one.
func (s *Stream) take() (Event, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := Event{Position: s.text(), Reset: s.reset}
	if !s.reset { // after a reset, the caller reads everything again
		e.Changes = s.changes.List()
	}
	s.changes, s.reset = Set{}, false
	return e, e.Reset || len(e.Changes) > 0
}

// receive adds changes that the caller may read.
func (s *Stream) receive(changes []Change, reset bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reset = s.reset || reset
	for _, c := range changes {
		if s.caller.May(c.Type) {
			s.changes.Add(c)
		}
	}
	if len(s.changes) == 0 && !s.reset {
		return
	}
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

// reach moves the position of the stream forward.
func (s *Stream) reach(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at.After(s.position) {
		s.position = at
	}
}

// positionText returns the caller's position, or nothing while an event waits, which the position includes.
func (s *Stream) positionText() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reset || len(s.changes) > 0 {
		return ""
	}
	return s.text()
}

func (s *Stream) text() string { return strconv.FormatInt(s.position.UnixMicro(), 10) }

func (s *Stream) isEnded() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// Close removes the stream.
func (s *Stream) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	delete(s.hub.streams, s)
}
