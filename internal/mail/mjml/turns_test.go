package mjml

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// held is a compiler whose documents are compiled when the test says so. It
// serves one test in a synctest bubble.
type heldCompiler struct {
	*Compiler
	t       *testing.T
	end     chan struct{} // one value lets the document on the interpreter end
	mu      sync.Mutex
	began   []string // documents in the order in which they had the interpreter
	answers map[string]error
}

func holdCompiler(t *testing.T) *heldCompiler {
	h := &heldCompiler{Compiler: New(), t: t, end: make(chan struct{}), answers: map[string]error{}}
	h.compile = func(_ context.Context, source string) (output, error) {
		name := source[strings.Index(source, "[")+1 : strings.Index(source, "]")]
		h.mu.Lock()
		h.began = append(h.began, name)
		h.mu.Unlock()
		<-h.end
		return output{HTML: name}, nil
	}
	return h
}

// startCompile has a document of an owner compiled and returns when it waits, has the
// interpreter, or is refused. Its name begins with the owner's.
func (h *heldCompiler) startCompile(ctx context.Context, name string) {
	owner, _, _ := strings.Cut(name, ".")
	go func() {
		r, err := h.Compile(ctx, owner, page("<mj-text>["+name+"]</mj-text>"))
		if err == nil && r.HTML != name {
			err = fmt.Errorf("got the document %q", r.HTML)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.answers[name] = err
	}()
	synctest.Wait()
}

// finish lets n documents end.
func (h *heldCompiler) finish(n int) {
	for range n {
		h.end <- struct{}{}
		synctest.Wait()
	}
}

func (h *heldCompiler) wantOrder(want ...string) {
	h.t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Equal(h.began, want) {
		h.t.Errorf("documents had the interpreter in the order %v, want %v", h.began, want)
	}
}

func (h *heldCompiler) wantAnswer(name string, want error) {
	h.t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	got, answered := h.answers[name]
	if !answered || !errors.Is(got, want) {
		h.t.Errorf("%s: answered %v with %v, want %v", name, answered, got, want)
	}
}

func TestOwnersTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := holdCompiler(t)
		for _, name := range []string{"a.1", "a.2", "a.3", "a.4", "b.1", "c.1", "b.2"} {
			h.startCompile(t.Context(), name)
		}
		h.finish(2)
		h.startCompile(t.Context(), "d.1") // comes last, and waits for one of each
		h.finish(6)
		h.wantOrder("a.1", "a.2", "b.1", "c.1", "a.3", "b.2", "d.1", "a.4")
		for _, name := range h.began {
			h.wantAnswer(name, nil)
		}
		h.Close()
	})
}

func TestASmallDocumentWaitsForOneOfEachOwner(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := holdCompiler(t)
		for n := range 10 {
			h.startCompile(t.Context(), fmt.Sprintf("busy.%d", n))
		}
		h.startCompile(t.Context(), "small.1")
		h.finish(2)
		h.wantOrder("busy.0", "busy.1", "small.1")
		h.finish(9)
		h.Close()
	})
}

func TestAnOwnersQueueIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := holdCompiler(t)
		for n := range maxOwnerWaiting + 1 { // one has the interpreter
			h.startCompile(t.Context(), fmt.Sprintf("a.%d", n))
		}
		h.startCompile(t.Context(), "a.more")
		h.wantAnswer("a.more", ErrOwnerBusy)
		h.startCompile(t.Context(), "b.1")
		h.finish(maxOwnerWaiting + 2)
		h.wantAnswer("b.1", nil)
		h.wantAnswer(fmt.Sprintf("a.%d", maxOwnerWaiting), nil)
		h.Close()
	})
}

func TestAllQueuesTogetherAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := holdCompiler(t)
		h.startCompile(t.Context(), "first.0")
		for n := range maxWaiting {
			h.startCompile(t.Context(), fmt.Sprintf("%c.%d", 'a'+n%4, n/4))
		}
		h.startCompile(t.Context(), "e.0") // has no place, and gets the last of an owner with most
		h.wantAnswer("a.15", ErrBusy)
		h.startCompile(t.Context(), "e.1") // has one
		h.wantAnswer("e.1", ErrBusy)
		h.finish(maxWaiting + 1)
		h.wantAnswer("e.0", nil)
		h.wantAnswer("d.15", nil)
		if n := h.turns.Waiting(); n != 0 {
			t.Errorf("%d still wait", n)
		}
		for n := range maxWaiting + 1 {
			h.startCompile(t.Context(), fmt.Sprintf("owner%d.0", n))
		}
		h.startCompile(t.Context(), "late.0") // everyone has one place, so none is taken away
		h.wantAnswer("late.0", ErrBusy)
		h.finish(maxWaiting + 1)
		h.Close()
	})
}

func TestARequestThatGoesAwayLeavesTheQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := holdCompiler(t)
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		h.startCompile(t.Context(), "a.1")
		h.startCompile(ctx, "a.2")
		h.startCompile(t.Context(), "a.3")
		h.startCompile(ctx, "b.1")
		h.startCompile(t.Context(), "c.1")
		cancel(gone)
		synctest.Wait()
		h.wantAnswer("a.2", gone)
		h.wantAnswer("b.1", gone)
		if n := h.turns.Waiting(); n != 2 {
			t.Errorf("%d wait, want 2", n)
		}
		h.finish(3)
		h.wantOrder("a.1", "a.3", "c.1")
		h.startCompile(ctx, "a.4")
		h.wantAnswer("a.4", gone)
		h.Close()
	})
}
