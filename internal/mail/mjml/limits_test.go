package mjml

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
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
			r, err := c.Compile(t.Context(), page("<mj-text>"+want+"</mj-text><mj-text nope='1'/>"))
			if err != nil || !strings.Contains(r.HTML, want) || len(r.Warnings) != 1 {
				t.Errorf("%s: %d bytes, %v, %v", want, len(r.HTML), r.Warnings, err)
				return
			}
			r.Warnings[0].Message = "mine" // the next one's are not touched
		})
	}
	wg.Wait()
}

func TestWhoeverWaitsMayGiveUp(t *testing.T) {
	t.Parallel()
	open(t)
	c := New()
	defer c.Close()
	c.turn <- struct{}{} // somebody has the interpreter
	ctx, cancel := context.WithCancelCause(t.Context())
	tired := errors.New("tired")
	cancel(tired)
	if _, err := c.Compile(ctx, page("<mj-text>a</mj-text>")); !errors.Is(err, tired) {
		t.Errorf("Compile = %v, want %v", err, tired)
	}
	<-c.turn
	if _, err := c.Compile(ctx, page("<mj-text>a</mj-text>")); !errors.Is(err, tired) {
		t.Errorf("Compile = %v, want %v", err, tired)
	}
}

// TestADocumentMayNotTakeTooMuch: time, memory and depth end with ErrTooMuch, a
// caller who goes away with the context's error, and the next document compiles.
func TestADocumentMayNotTakeTooMuch(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for limits")
	}
	t.Parallel()
	open(t)
	c := New()
	c.limit = 400 * time.Millisecond * patience
	defer c.Close()
	head := func(inside, body string) string {
		return strings.Replace(page(body), "<mjml>", "<mjml><mj-head>"+inside+"</mj-head>", 1)
	}
	for _, tt := range []struct {
		name, source string
		patience     time.Duration // of the caller
		want         error
	}{
		{"time", page(strings.Repeat("<mj-text>a</mj-text>", 30_000)), time.Hour, ErrTooMuch},
		{"memory", head(`<mj-attributes><mj-all css-class="`+strings.Repeat("x", 500_000)+`"/></mj-attributes>`, strings.Repeat("<mj-text>a</mj-text>", 200)), time.Hour, ErrTooMuch},
		{"depth", head(`<mj-style inline="inline">.a b { color: red }</mj-style>`, "<mj-text>"+strings.Repeat("<div>", 5000)+"</mj-text>"), time.Hour, ErrTooMuch},
		{"pattern", head(`<mj-font name="([^x]*)*y" href="x"/>`, "<mj-text>"+strings.Repeat(`"font-family:aaaaaaaaaaaaaaaaaaaa`, 1000)+"</mj-text>"), time.Hour, ErrTooMuch},
		{"caller gone", page(strings.Repeat("<mj-text>b</mj-text>", 30_000)), 100 * time.Millisecond, context.DeadlineExceeded},
	} {
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), tt.patience)
		r, err := c.Compile(ctx, tt.source)
		cancel()
		if took := time.Since(start); !errors.Is(err, tt.want) || took > 10*time.Second*patience {
			t.Errorf("%s: %d bytes, %v after %v; want %v", tt.name, len(r.HTML), err, took, tt.want)
		}
		if r, err := c.Compile(t.Context(), page("<mj-text>after "+tt.name+"</mj-text>")); err != nil || r.HTML == "" {
			t.Errorf("after %s: %v", tt.name, err)
		}
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
			if _, err := c.Compile(t.Context(), page(fmt.Sprintf("<mj-text>%d</mj-text>", n))); err != nil {
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
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
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
	if _, err := New().Compile(t.Context(), page("<mj-text>a</mj-text>")); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Compile = %v, want %v", err, ErrUnavailable)
	}
}
