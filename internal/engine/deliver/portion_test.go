package deliver

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/directmx"
	"github.com/packetboat/packetboat/internal/mail/mx"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/senders/destination"
	"github.com/packetboat/packetboat/internal/senders/lane"
)

// newIdleLane returns an engine with a lane that no worker takes jobs from.
func newIdleLane(t *testing.T, space int) (*Engine, *laneWorkers) {
	e := &Engine{Now: time.Now, Log: slog.New(slog.DiscardHandler), node: &outbox.Node{}}
	e.lanes.engine, e.providers.Now = e, time.Now
	e.feeders.init()
	run := &laneWorkers{
		engine: e, settings: &laneSettings{config: lane.Config{Type: lane.Sink, Caps: lane.Caps{MaxConnections: 10}}}, quit: t.Context(),
		jobs: newJobQueue(space, 1, allIdle{}, time.Now), inFlight: map[string]int{}, granted: map[string]int{},
	}
	e.lanes.open = map[laneKey]*laneWorkers{{}: run}
	return e, run
}

// jobsTo returns jobs of one send to a number of destinations, ordered by these.
func jobsTo(run *laneWorkers, dests, each int) (jobs []*job) {
	one := &send{id: id.New[id.Send]()}
	for i := range dests {
		name := fmt.Sprint("destination", i)
		s := newDest(destination.Key{Name: name}, directmx.Shape{Connections: 10})
		for range each {
			jobs = append(jobs, &job{
				item: outbox.Item{Email: "a@" + name + ".test"}, lane: run.settings, sender: new(render.Sender), send: one, dest: s,
				target: directmx.Target{Destination: name, Key: name}, route: directmx.Route{Servers: mx.Servers{Hosts: []mx.Host{{Name: name + ".test"}}}},
			})
		}
	}
	return jobs
}

// A queue that has less space than a batch has jobs gets some to each destination, so that none of the
// connections to them is idle.
func TestAFullQueueHasJobsToAllDestinations(t *testing.T) {
	t.Parallel()
	const space, dests, each = 32, 8, 10
	e, run := newIdleLane(t, space)
	ctx, cancel := context.WithCancel(t.Context())
	passed := make(chan int)
	go func() {
		n, _, _ := e.passJobs(ctx, jobsTo(run, dests, each))
		passed <- n
	}()
	first := map[string]int{}
	for n := 0; n < space; {
		p, ok := run.jobs.pick(true)
		if !ok {
			<-run.jobs.wake
			run.jobs.stopWaiting()
			continue
		}
		run.jobs.leave(p.at)
		first[p.at.Key]++
		n++
	}
	cancel()
	if n, left := <-passed, len(run.jobs.drain()); n != space+left {
		t.Errorf("%d jobs were passed, and %d taken, %d left", n, space, left)
	}
	for key, n := range first {
		if n != space/dests || len(first) != dests {
			t.Errorf("%d of the first %d jobs are for %s; there are jobs for %d destinations", n, space, key, len(first))
		}
	}
}

// allIdle are connections of which one is always idle.
type allIdle struct{}

func (allIdle) Idle(string) bool                              { return true }
func (allIdle) Spare(time.Duration) bool                      { return true }
func (allIdle) Take(string) (*smtpclient.Conn, time.Duration) { return new(smtpclient.Conn), 0 }
