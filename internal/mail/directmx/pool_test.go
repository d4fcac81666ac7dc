package directmx_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/mail/directmx"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
)

// open returns a connection to a server that took a place in a pool.
func open(t *testing.T, p *directmx.Pool, s *sink.Server, to directmx.Target, most int) *smtpclient.Conn {
	t.Helper()
	if !p.Reserve(to, func() int { return most }) {
		t.Error("no place was reserved")
	}
	c, err := smtpclient.Dial(t.Context(), smtpclient.Config{Host: "127.0.0.1", Port: s.Port(), Guard: netguard.Guard{AllowPrivate: true}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func dest(name, verified string) directmx.Target {
	return directmx.Target{Destination: name, Key: name + " " + verified}
}

func TestConnectionsAreKeptForTheirTarget(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{})
	p := directmx.NewPool(3, directmx.NewDestinations())
	defer p.Close()
	a, b := dest("one", ""), dest("one", "sts")
	first, second := open(t, p, s, a, 10), open(t, p, s, a, 10)
	p.Put(a, first, 100, 10)
	p.Put(a, second, 100, 10)
	if p.Idle(b.Key) || !p.Idle(a.Key) {
		t.Error("a connection is idle for another target, or not for its own")
	}
	if c, _ := p.Take(b.Key); c != nil {
		t.Error("a connection is used for another target")
	}
	if c, idle := p.Take(a.Key); c != second || idle > time.Minute {
		t.Error("the connection that was used last is not used first")
	}
	p.Put(a, second, 0, 10) // it carried as many messages as it may
	if c, _ := p.Take(a.Key); c != first {
		t.Error("the other connection is gone")
	}
	if c, _ := p.Take(a.Key); c != nil {
		t.Error("a connection was kept that must not be used again")
	}
	p.Discard(a, first)
}

// A connection that was idle is closed if there is no other place, or if its destination would get more than it
// accepts.
func TestIdleConnectionsMakePlace(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{})
	p := directmx.NewPool(3, directmx.NewDestinations())
	one, other, two := dest("one", ""), dest("one", "sts"), dest("two", "")
	c := open(t, p, s, one, 2)
	d := open(t, p, s, two, 2)
	p.Put(two, d, 100, 10)
	p.Put(one, c, 100, 10)
	if !p.Spare(time.Minute) {
		t.Error("there is a third place")
	}
	p.Put(other, open(t, p, s, other, 1), 100, 10)
	if p.Idle(one.Key) || !p.Idle(two.Key) {
		t.Error("the destination has more connections than it accepts, or another destination's was closed")
	}
	e := open(t, p, s, one, 2)
	if p.Spare(time.Minute) {
		t.Error("all places are taken by connections that were just used")
	}
	if !p.Spare(0) {
		t.Error("there are idle connections")
	}
	f := open(t, p, s, one, 3)
	if p.Idle(two.Key) || !p.Idle(other.Key) {
		t.Error("the connection that was idle longest was not closed first")
	}
	p.Release(one)
	_ = e.Close()
	p.Put(one, f, 100, 10)
	p.Close()
	if n := s.Stats().Refused; n != 0 {
		t.Errorf("%d commands were refused", n)
	}
}

// Many users of many destinations never have more connections than places, nor more to a destination than it accepts.
func TestThePoolStaysWithinItsBounds(t *testing.T) {
	t.Parallel()
	const places, users, most = 6, 6, 2
	s := sink.Start(t, sink.Options{MaxConns: places + users}) // the server notices late that a connection has ended
	p := directmx.NewPool(places, directmx.NewDestinations())
	var mu sync.Mutex
	inUse := map[string]int{}
	var all sync.WaitGroup
	for u := range users {
		all.Go(func() {
			for i := range 60 {
				to := dest(fmt.Sprint(u/most, "-", i/20), fmt.Sprint(i%3)) // never more than most users of a destination
				c, _ := p.Take(to.Key)
				if c == nil {
					c = open(t, p, s, to, most)
				}
				mu.Lock()
				if inUse[to.Destination]++; inUse[to.Destination] > most {
					t.Errorf("%d connections to one destination are in use", inUse[to.Destination])
				}
				mu.Unlock()
				if o, err := c.Send(t.Context(), smtpclient.Envelope{From: "a@example.net", To: "b@example.org"}, []byte("Subject: x\r\n\r\ny\r\n")); err != nil || !o.Accepted {
					t.Errorf("Send = %+v, %v", o, err)
				}
				mu.Lock()
				inUse[to.Destination]--
				mu.Unlock()
				p.Put(to, c, 100, 10)
			}
		})
	}
	all.Wait()
	p.Close()
	if n := s.Stats().Messages; n != users*60 {
		t.Errorf("%d of %d messages arrived", n, users*60)
	}
}
