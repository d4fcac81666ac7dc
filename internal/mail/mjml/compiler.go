package mjml

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"modernc.org/quickjs"

	"github.com/packetboat/packetboat/internal/base/turns"
)

const (
	maxOutput = 8 << 20     // bytes of HTML
	idleTime  = time.Minute // how long an interpreter is kept without a new document
)

// How many documents may wait for the interpreter.
const (
	maxWaiting      = 64 // of all owners
	maxOwnerWaiting = 16 // of one owner
)

// ErrOwnerBusy means that too many documents of the same owner are waiting already, ErrBusy that too
// many of other owners are.
var (
	ErrOwnerBusy = turns.ErrOwnerBusy
	ErrBusy      = turns.ErrBusy
)

// Compiler compiles documents, one at a time. It is safe for concurrent use.
type Compiler struct {
	limit   time.Duration // of one document
	turns   turns.Turns[string]
	compile func(ctx context.Context, source string) (output, error) // run, or a function of a test

	// The following fields belong to the goroutine whose turn it is.
	machine *machine
	idle    *time.Timer
	used    time.Time

	cache cache
}

// New returns a compiler that has not been opened yet.
func New() *Compiler {
	c := &Compiler{limit: maxTime, turns: turns.Turns[string]{Slots: 1, MaxWaiting: maxWaiting, MaxOwnerWaiting: maxOwnerWaiting}}
	c.compile = c.run
	return c
}

// Available reports whether the program was built with the compiler.
func (c *Compiler) Available() bool { return scriptName() != "" }

// Compile returns the HTML of an MJML document. owner is any text that identifies the owner of the
// document; owners take turns. The error is an *Error, an *UnknownError, ErrTooMuch, ErrOwnerBusy,
// ErrBusy, ErrUnavailable or the context's.
func (c *Compiler) Compile(ctx context.Context, owner, source string) (Result, error) {
	key := sha256.Sum256([]byte(source))
	if r, ok := c.cache.get(key); ok {
		return r, nil
	}
	i, err := inspect(source, false)
	if err != nil {
		return Result{}, err
	}
	words := protect(source, i.conditions)
	if err := c.turns.Acquire(ctx, owner); err != nil {
		return Result{}, err
	}
	defer c.releaseTurn(owner)
	if r, ok := c.cache.get(key); ok { // compiled while waiting
		return r, nil
	}
	o, err := c.compile(ctx, words.text)
	if err != nil {
		return Result{}, err
	}
	r := Result{Warnings: i.warnings}
	if i.shows {
		r.HTML = words.restore(o.HTML)
	}
	var lacking []Element
	for _, f := range o.Findings {
		line := words.line(f.Line)
		if strings.HasSuffix(f.Message, "doesn't exist or is not registered") { // although Check knows it
			lacking = append(lacking, Element{f.Tag, line, 0})
		} else if len(r.Warnings) < maxWarnings {
			r.Warnings = append(r.Warnings, Warning{line, f.Tag, words.restore(f.Message)})
		}
	}
	if lacking != nil {
		return Result{}, &UnknownError{lacking}
	}
	slices.SortStableFunc(r.Warnings, func(a, b Warning) int { return cmp.Compare(a.Line, b.Line) })
	c.cache.put(key, r)
	return r, nil
}

// run compiles with the interpreter, which it opens if there is none. The caller has the turn.
func (c *Compiler) run(ctx context.Context, source string) (o output, err error) {
	if c.machine == nil {
		if c.machine, err = openMachine(c.limit); err != nil {
			return output{}, err
		}
	}
	reusable := false
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("mjml: the interpreter failed: %v", p)
		}
		if !reusable {
			c.machine.close()
			c.machine = nil
		}
	}()
	if err := ctx.Err(); err != nil {
		reusable = true
		return output{}, context.Cause(ctx)
	}
	defer context.AfterFunc(ctx, c.machine.interrupt)()
	defer watch(c.limit, c.machine.interrupt)()
	o, err = c.machine.compile(source)
	thrown, isThrown := errors.AsType[*quickjs.Error](err)
	switch {
	case err == nil && len(o.HTML) > maxOutput:
		reusable = true
		return output{}, ErrTooMuch
	case err == nil:
		reusable = true
		return o, nil
	case ctx.Err() != nil:
		return output{}, context.Cause(ctx)
	case isThrown && thrown.Name == "InternalError": // limits of time, memory, depth of calls
		return output{}, ErrTooMuch
	case isThrown:
		reusable = true
		return output{}, &Error{Message: "the compiler cannot compile it: " + thrown.Message}
	}
	return output{}, err
}

// releaseTurn passes the turn to the next owner, and schedules closing the interpreter if no document comes
// for a minute.
func (c *Compiler) releaseTurn(owner string) {
	c.used = time.Now()
	if c.machine != nil {
		if c.idle == nil {
			c.idle = time.AfterFunc(idleTime, c.closeIfIdle)
		} else {
			c.idle.Reset(idleTime)
		}
	}
	c.turns.Release(owner)
}

// closeIfIdle closes an interpreter that has not been used for a minute.
func (c *Compiler) closeIfIdle() {
	if !c.turns.TryAcquire("") {
		return // it is in use, which schedules expire again
	}
	if time.Since(c.used) >= idleTime {
		c.closeMachine()
	}
	c.turns.Release("")
}

// Close closes the interpreter, after the document that is being compiled. The Compiler may be used
// again.
func (c *Compiler) Close() {
	c.turns.AcquireUnlimited("")
	c.closeMachine()
	c.turns.Release("")
}

// closeMachine closes the interpreter and clears the cache. The caller has the turn.
func (c *Compiler) closeMachine() {
	if c.idle != nil {
		c.idle.Stop()
		c.idle = nil
	}
	if c.machine != nil {
		c.machine.close()
		c.machine = nil
	}
	c.cache.clear()
}

// clone returns a deep copy.
func (r Result) clone() Result {
	r.Warnings = slices.Clone(r.Warnings)
	return r
}
