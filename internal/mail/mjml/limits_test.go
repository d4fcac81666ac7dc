package mjml

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestConcurrentCallersGetTheirOwnDocument(t *testing.T) {
	t.Parallel()
	c := open(t)
	var wg sync.WaitGroup
	for n := range 12 {
		wg.Go(func() {
			want := fmt.Sprintf("document %d of four", n%4)
			r, err := c.Compile(t.Context(), "owner", page("<mj-text>"+want+"</mj-text><mj-text nope='1'/>"))
			if err != nil || !strings.Contains(r.HTML, want) || len(r.Warnings) != 1 {
				t.Errorf("%s: %d bytes, %v, %v", want, len(r.HTML), r.Warnings, err)
				return
			}
			r.Warnings[0].Message = "mine" // the next one's are not touched
		})
	}
	wg.Wait()
}

// TestADocumentMayNotTakeTooMuch: time, memory and depth end with ErrTooMuch, a
// caller who goes away with the context's error, and the next document compiles.
func TestADocumentMayNotTakeTooMuch(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for limits")
	}
	t.Parallel()
	open(t)
	head := func(inside, body string) string {
		return strings.Replace(page(body), "<mjml>", "<mjml><mj-head>"+inside+"</mj-head>", 1)
	}
	many := strings.Repeat("<mj-text>a</mj-text>", maxElements-10)
	for _, tt := range []struct {
		name, source string
		limit        time.Duration // of processor time
		patience     time.Duration // of the caller
		want         error
	}{
		{"time", page(many), 50 * time.Millisecond, time.Hour, ErrTooMuch},
		{"pattern", head(`<mj-font name="([^x]*)*y" href="x"/>`, "<mj-text>"+strings.Repeat(`"font-family:aaaaaaaaaaaaaaaaaaaa`, 1000)+"</mj-text>"), 50 * time.Millisecond, time.Hour, ErrTooMuch},
		{"memory", head(`<mj-attributes><mj-all css-class="`+strings.Repeat("x", 500_000)+`"/></mj-attributes>`, strings.Repeat("<mj-text>a</mj-text>", 200)), time.Hour, time.Hour, ErrTooMuch},
		{"depth", head(`<mj-style inline="inline">.a b { color: red }</mj-style>`, "<mj-text>"+strings.Repeat("<div>", 5000)+"</mj-text>"), time.Hour, time.Hour, ErrTooMuch},
		{"caller gone", page(many), time.Hour, 50 * time.Millisecond, context.DeadlineExceeded},
	} {
		c := New()
		c.limit = tt.limit * patience
		ctx, cancel := context.WithTimeout(t.Context(), tt.patience)
		r, err := c.Compile(ctx, "owner", tt.source)
		cancel()
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %d bytes, %v; want %v", tt.name, len(r.HTML), err, tt.want)
		}
		c.limit = maxTime
		if r, err := c.Compile(t.Context(), "owner", page("<mj-text>after "+tt.name+"</mj-text>")); err != nil || r.HTML == "" {
			t.Errorf("after %s: %v", tt.name, err)
		}
		c.Close()
	}
}

func TestADocumentMayNotHaveTooManyElements(t *testing.T) {
	t.Parallel()
	few := page("<mj-text>" + strings.Repeat("<b></b>", maxElements) + "</mj-text>")
	if _, err := Check(few); err != nil {
		t.Errorf("elements of HTML count: %v", err)
	}
	c := New()
	c.compile = func(context.Context, string) (output, error) {
		t.Error("it came to the interpreter")
		return output{}, nil
	}
	_, err := c.Compile(t.Context(), "owner", page(strings.Repeat("<mj-text></mj-text>", maxElements)))
	if e, ok := errors.AsType[*Error](err); !ok || !strings.Contains(e.Message, "4000 elements") {
		t.Errorf("%d elements: %v", maxElements+4, err)
	}
}

func TestAnIdleInterpreterIsClosed(t *testing.T) {
	t.Parallel()
	open(t)
	synctest.Test(t, func(t *testing.T) {
		c := New()
		n := 0
		compile := func() {
			t.Helper()
			n++
			if _, err := c.Compile(t.Context(), "owner", page(fmt.Sprintf("<mj-text>%d</mj-text>", n))); err != nil {
				t.Fatal(err)
			}
		}
		compile()
		time.Sleep(idleTime - time.Second)
		compile()
		time.Sleep(idleTime - time.Second)
		synctest.Wait()
		if machine, cached := held(c); !machine || cached == 0 {
			t.Error("the interpreter is closed before its minute is over")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if machine, cached := held(c); machine || cached != 0 {
			t.Error("the interpreter is open after an idle minute")
		}
		compile()
		c.Close()
		if machine, _ := held(c); machine {
			t.Error("the interpreter is open after Close")
		}
	})
}

// held says whether a compiler has an interpreter, and how many bytes it keeps.
func held(c *Compiler) (machine bool, cached int) {
	c.turns.AcquireUnlimited("")
	defer c.turns.Release("")
	return c.machine != nil, c.cache.bytes
}

func TestTheCacheIsBounded(t *testing.T) {
	t.Parallel()
	var c cache
	for n := range byte(20) {
		c.put([32]byte{n}, Result{HTML: strings.Repeat("x", maxCache/10)})
		c.get([32]byte{0}) // is in use, and stays
	}
	_, first := c.get([32]byte{0})
	_, second := c.get([32]byte{1})
	_, last := c.get([32]byte{19})
	if c.bytes > maxCache || c.order.Len() != 9 || !first || second || !last {
		t.Errorf("%d bytes in %d results, first %v, second %v, last %v", c.bytes, c.order.Len(), first, second, last)
	}
	c.put([32]byte{99}, Result{HTML: strings.Repeat("x", maxCache)})
	if _, ok := c.get([32]byte{99}); ok {
		t.Error("a result that is all the cache may hold is kept")
	}
}

func TestWithoutTheCompiler(t *testing.T) {
	t.Parallel()
	if New().Available() {
		t.Skip("this program has it")
	}
	if _, err := New().Compile(t.Context(), "owner", page("<mj-text>a</mj-text>")); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Compile = %v, want %v", err, ErrUnavailable)
	}
}

func TestWatchStopsWhatComputesTooLong(t *testing.T) {
	t.Parallel()
	var stopped atomic.Bool
	end := watch(10*time.Millisecond, func() { stopped.Store(true) })
	defer end()
	for !stopped.Load() { // computes until it is stopped
	}
}

func TestWatchDoesNotCountWaiting(t *testing.T) {
	t.Parallel()
	const limit = time.Hour
	computed, stopped := time.Duration(0), 0
	w := &watcher{limit: limit, stop: func() { stopped++ }, clock: func() (time.Duration, bool) { return computed, true }}
	w.timer = time.AfterFunc(limit, func() {})
	defer w.timer.Stop()
	computed = limit - 1
	if w.look(); stopped != 0 { // an hour of the clock on the wall is over
		t.Error("stopped before it has computed for its limit")
	}
	computed = limit
	if w.look(); stopped != 1 {
		t.Errorf("stopped %d times once it has computed for its limit, want 1", stopped)
	}
}
