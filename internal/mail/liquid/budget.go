package liquid

import (
	"errors"
	"fmt"
	"time"
)

// ErrLimit means that a template exceeded its Budget.
var ErrLimit = errors.New("liquid: the template exceeds its limits")

// Limits are what all parts of one message may use together. A zero field means the default.
type Limits struct {
	Steps  int           // iterations of loops; 10 000
	Output int           // bytes printed; 1 MB
	Work   int           // bytes of intermediate results of filters and captures; 8 MB
	Time   time.Duration // spent in Append; 200 ms
}

// Budget is what remains of Limits. The parts of one message are rendered with the same Budget, one
// after the other: it must not be used concurrently.
type Budget struct {
	steps, output, work int
	time                time.Duration
	clockReads          int    // reads of the clock since Reset: one for each checkEvery units of work
	idle                *state // to be reused
}

// NewBudget returns a full budget.
func NewBudget(l Limits) *Budget {
	b := &Budget{}
	b.Reset(l)
	return b
}

// Reset sets the budget for another message.
func (b *Budget) Reset(l Limits) {
	b.steps, b.output, b.work, b.time, b.clockReads = l.Steps, l.Output, l.Work, l.Time, 0
	if b.steps == 0 {
		b.steps = 10_000
	}
	if b.output == 0 {
		b.output = 1 << 20
	}
	if b.work == 0 {
		b.work = 8 << 20
	}
	if b.time == 0 {
		b.time = 200 * time.Millisecond
	}
}

// state returns a state for one rendering. Renderings may be nested.
func (b *Budget) state() *state {
	s := b.idle
	if s == nil {
		return &state{}
	}
	b.idle = nil
	return s
}

// storeState stores the state of a finished rendering for reuse of its memory.
func (b *Budget) storeState(s *state) {
	clear(s.loops[:cap(s.loops)])
	*s = state{args: s.args[:0], loops: s.loops[:0], scratch: s.scratch[:0], printed: s.printed[:0]}
	b.idle = s
}

const (
	checkEvery  = 1 << 14 // units of work between two reads of the clock
	nodeCost    = 64      // units of work per node
	elementCost = 32      // bytes per list element
)

// quantum is the maximum that counts for the time between two reads of the clock. The clock is read
// after a fraction of a millisecond of work; if it takes much longer, the machine was busy with
// something else.
const quantum = 4 * time.Millisecond

// start starts measuring; stop subtracts the time spent from the budget.
func (s *state) start() {
	s.clockReadAt = time.Now()
	s.fuel = checkEvery
	s.checkContinue()
}

func (s *state) stop() {
	s.readClock()
	s.budget.time -= s.spent
}

// readClock reads the clock and adds the time since the last read to the time spent.
func (s *state) readClock() {
	now := time.Now()
	s.spent += min(now.Sub(s.clockReadAt), quantum)
	s.clockReadAt = now
	s.budget.clockReads++
}

// check reads the clock and reports whether rendering may continue.
func (s *state) check() bool {
	s.readClock()
	return s.checkContinue()
}

// checkContinue reports whether rendering may continue, and sets the error if time or context have ended.
func (s *state) checkContinue() bool {
	if s.err != nil {
		return false
	}
	if err := s.ctx.Err(); err != nil {
		s.err = fmt.Errorf("render template: %w", err)
		return false
	}
	if s.spent >= s.budget.time {
		return s.limit("time")
	}
	return true
}

// tick counts n units of work and reads the clock from time to time. It reports whether rendering may
// continue.
func (s *state) tick(n int) bool {
	s.fuel -= n
	if s.fuel > 0 {
		return s.err == nil
	}
	s.fuel = checkEvery
	return s.check()
}

// step counts one iteration of a loop.
func (s *state) step() bool {
	if s.budget.steps <= 0 {
		return s.limit("loop steps")
	}
	s.budget.steps--
	return s.tick(nodeCost)
}

// charge takes n bytes from the work for values that will be made.
func (s *state) charge(n int) bool {
	if s.err != nil {
		return false
	}
	if n < 0 || n > s.budget.work {
		return s.limit("work")
	}
	s.budget.work -= n
	return s.tick(n)
}

// chargeElements is charge for n elements of a list.
func (s *state) chargeElements(n int) bool {
	if n > s.budget.work/elementCost {
		return s.limit("work")
	}
	return s.charge(n * elementCost)
}

// maxNesting limits how deep lists and objects are read; data may be deeper, or endless if an Object
// contains itself.
const maxNesting = 1000

// enterNested begins processing of a nested list or object, which leaveNested ends. It reports whether the
// nesting is within the limit.
func (s *state) enterNested() bool {
	if s.depth >= maxNesting {
		return s.limit("nesting")
	}
	s.depth++
	return s.err == nil
}

func (s *state) leaveNested() { s.depth-- }

// claimBytes takes n bytes for text that will be printed: from the output or, inside a capture, from the
// work.
func (s *state) claimBytes(n int) bool {
	if s.captures > 0 {
		return s.charge(n)
	}
	if s.err != nil {
		return false
	}
	if n > s.budget.output {
		return s.limit("output")
	}
	s.budget.output -= n
	return true
}

// available returns how many bytes claim can grant.
func (s *state) available() int {
	if s.captures > 0 {
		return s.budget.work
	}
	return s.budget.output
}

func (s *state) limit(what string) bool {
	if s.err == nil {
		s.err = fmt.Errorf("%w (%s, line %d)", ErrLimit, what, s.line)
	}
	return false
}

// fail ends the rendering because of invalid data. It returns nil so that filters can return its
// result.
func (s *state) fail(format string, args ...any) any {
	if s.err == nil {
		s.err = &RenderError{Line: s.line, Message: fmt.Sprintf(format, args...)}
	}
	return nil
}
