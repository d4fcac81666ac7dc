package smtpclient_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
)

func get(t *testing.T, p *smtpclient.Pool) *smtpclient.Conn {
	t.Helper()
	c, err := p.Get(t.Context())
	if err != nil {
		t.Fatalf("Get: %v", err)
	}
	return c
}

func TestPoolStaysWithinItsBounds(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{})
	p := smtpclient.NewPool(configFor(s), smtpclient.Limits{Connections: 3, Messages: 7})
	var inUse, most atomic.Int64
	var wg sync.WaitGroup
	for range 12 {
		wg.Go(func() {
			for range 20 {
				c, err := p.Get(t.Context())
				if err != nil {
					t.Errorf("Get: %v", err)
					return
				}
				for n := inUse.Add(1); ; {
					if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
						break
					}
				}
				if o, err := c.Send(t.Context(), toAnn, []byte(letter)); err != nil || !o.Accepted {
					t.Errorf("Send: %+v, %v", o, err)
				}
				inUse.Add(-1)
				p.Put(c)
			}
		})
	}
	wg.Wait()
	p.Close()
	per := map[int64]int{}
	for _, m := range s.Messages() {
		per[m.Conn]++
	}
	for conn, n := range per {
		if n > 7 {
			t.Errorf("connection %d carried %d messages, limit 7", conn, n)
		}
	}
	// The server may notice a hang-up after the next connection is there.
	if st := s.Stats(); st.Messages != 240 || most.Load() > 3 || st.Peak > 2*3 || st.Connections > 240/7+3 {
		t.Errorf("in use at most %d, server saw %+v", most.Load(), st)
	}
}

func TestPoolReusesTheConnectionUsedLast(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{})
	p := smtpclient.NewPool(configFor(s), smtpclient.Limits{})
	defer p.Close()
	a, b := get(t, p), get(t, p)
	p.Put(a)
	p.Put(b)
	if got := get(t, p); got != b {
		t.Error("Get gave out the older connection")
	} else {
		p.Put(got)
	}
}

func TestPoolWaitEndsWithContext(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{})
	p := smtpclient.NewPool(configFor(s), smtpclient.Limits{Connections: 1})
	defer p.Close()
	c := get(t, p)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := p.Get(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Get: %v, want the context's error", err)
	}
	p.Put(c)
	if got := get(t, p); got != c {
		t.Error("the connection was lost")
	} else {
		p.Put(got)
	}
}

func TestPoolRenewsWhatBroke(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{Rules: []sink.Rule{{Stage: sink.Dot, Drop: true, Times: 1}}})
	p := smtpclient.NewPool(configFor(s), smtpclient.Limits{Connections: 1})
	defer p.Close()
	for i, accepted := range []bool{false, true, true} {
		c := get(t, p)
		if o := mustSend(t, c, toAnn, letter); o.Accepted != accepted {
			t.Errorf("message %d: %+v", i, o)
		}
		p.Put(c)
	}
	if n := s.Stats().Connections; n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
}

func TestPoolGivesAFailedPlaceToTheNext(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{Rules: []sink.Rule{{Stage: sink.Connect, Reply: "421 4.3.2 busy", Drop: true, Times: 5}}})
	p := smtpclient.NewPool(configFor(s), smtpclient.Limits{Connections: 1})
	defer p.Close()
	var failed, worked atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			c, err := p.Get(t.Context())
			if err != nil {
				failed.Add(1)
				return
			}
			worked.Add(1)
			p.Put(c)
		})
	}
	wg.Wait()
	if failed.Load() != 5 || worked.Load() != 3 {
		t.Errorf("%d failed and %d worked, want 5 and 3", failed.Load(), worked.Load())
	}
}

func TestPoolDropsIdleConnections(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{})
	p := smtpclient.NewPool(configFor(s), smtpclient.Limits{Connections: 2, Idle: 20 * time.Millisecond})
	defer p.Close()
	a, b := get(t, p), get(t, p)
	p.Put(a)
	p.Put(b)
	for p.Open() > 0 { // until QUIT was sent on both
		runtime.Gosched()
	}
	c := get(t, p)
	defer p.Put(c)
	if c == a || c == b {
		t.Error("Get gave out a connection that had been idle too long")
	}
}

func TestPoolNoticesThatTheServerLeft(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{STARTTLS: true})
	for _, mode := range []smtpclient.TLSMode{smtpclient.None, smtpclient.StartTLS} {
		cfg := configFor(s)
		cfg.TLS = mode
		alive := mustDial(t, cfg)
		if !alive.Alive() {
			t.Errorf("%s: a silent connection counts as dead", mode)
		}
		if o := mustSend(t, alive, toAnn, letter); !o.Accepted {
			t.Errorf("%s: %+v", mode, o)
		}
		s.DropConnections()
		for alive.Alive() { // until the news is here
			runtime.Gosched()
		}
	}
}

func TestPoolClose(t *testing.T) { // not parallel: it looks at all goroutines
	s := sink.Start(t, sink.Options{})
	p := smtpclient.NewPool(configFor(s), smtpclient.Limits{Connections: 2})
	idle, inUse := get(t, p), get(t, p)
	p.Put(idle)
	waiting := make(chan error, 1)
	go func() {
		c, err := p.Get(t.Context())
		if err == nil {
			p.Put(c)
		}
		waiting <- err
	}()
	p.Close()
	if err := <-waiting; err != nil && !errors.Is(err, smtpclient.ErrPoolClosed) {
		t.Errorf("Get while closing: %v", err)
	}
	if _, err := p.Get(t.Context()); !errors.Is(err, smtpclient.ErrPoolClosed) {
		t.Errorf("Get after Close: %v, want ErrPoolClosed", err)
	}
	if !inUse.Usable() || p.Open() != 1 {
		t.Errorf("in use: Usable %v, %d open; Close must leave it alone", inUse.Usable(), p.Open())
	}
	p.Put(inUse)
	if inUse.Usable() || p.Open() != 0 {
		t.Errorf("put back: Usable %v, %d open; want it gone", inUse.Usable(), p.Open())
	}
	for stacks := "smtpclient.(*"; strings.Contains(stacks, "smtpclient.(*"); runtime.Gosched() {
		buf := make([]byte, 1<<20)
		stacks = string(buf[:runtime.Stack(buf, true)])
	}
}
