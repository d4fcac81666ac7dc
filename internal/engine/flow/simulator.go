package flow

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/turns"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// The faults of simulations.
var (
	ErrNoTrigger          = fault.New(fault.Unprocessable, "NO_TRIGGER", "the sequence has no trigger: contacts are enrolled by calls only")
	ErrSimulationsWaiting = fault.New(fault.Limited, "RATE_LIMITED", "another simulation of this tenant runs; try again in a few seconds") // details: fault.Wait
	ErrSimulationsBusy    = fault.New(fault.Unavailable, "UNAVAILABLE", "too many simulations are waiting; try again in a few seconds")
)

// Limits of simulations.
const (
	MaxSimulated    = 10_000              // occurrences of the trigger
	SimulatedPeriod = 30 * 24 * time.Hour // that a simulation looks back

	maxSamples        = 10      // contacts of an end
	maxSimulatedMoves = 300_000 // from node to node
	maxSimulatedLoad  = 200_000 // recorded events that end waits or enrollments
	simulatedPage     = 1000    // contacts in a statement

	simulatedFor      = 10 * time.Second // then it stops and says so
	simulationTimeout = 20 * time.Second
)

// Simulator carries out sequences without effects. It is safe for concurrent use.
type Simulator struct {
	DB  *sqldb.DB
	Now func() time.Time

	moves int // 0: maxSimulatedMoves
	turns turns.Turns[id.Tenant]
}

// NewSimulator returns a Simulator that uses at most half of the processors, and one for each tenant.
func NewSimulator(db *sqldb.DB, now func() time.Time) *Simulator {
	return &Simulator{DB: db, Now: now, moves: maxSimulatedMoves, turns: turns.Turns[id.Tenant]{
		Slots: max(1, runtime.GOMAXPROCS(0)/2), OwnerSlots: 1, MaxWaiting: 16, MaxOwnerWaiting: 2,
	}}
}

// Simulation says how contacts would have gone through a sequence.
type Simulation struct {
	At          time.Time
	Since       time.Time
	Occurrences int // of the trigger
	Enrolled    int
	Duplicates  int // the contact was in the sequence, or had been and may not enter again
	Limited     int // the contact had entered too often within an hour
	Nodes       []SimulatedNode
	Edges       []SimulatedEdge
	Ends        []SimulatedEnd
	Truncated   bool // there were more occurrences, or more steps than are carried out
}

// SimulatedNode is what happened at a node.
type SimulatedNode struct {
	Node        string
	Entered     int
	Left        int            // for another node, or at the end of a path
	Waiting     int            // at the end: what they wait for may happen yet
	Jumped      int            // those of Left that jumped to a goal
	Mails       int            // that would have been queued
	Refused     map[string]int // mails that contacts may not get, by the reason of contact.Refusal
	Unavailable map[string]int // mails that nobody can get, by the code of the fault
	Assumed     int            // waits for opens and clicks, which took the way of the timeout since nothing was sent
}

// SimulatedEdge is how many took a way out of a node.
type SimulatedEdge struct {
	From, Label string
	To          string // empty: the path ends
	Taken       int
}

// SimulatedStatus is how an enrollment stands at the end of a simulation.
type SimulatedStatus string

// The statuses beside Completed, Exited and Failed.
const (
	SimulatedWaiting    SimulatedStatus = "waiting"
	SimulatedUnfinished SimulatedStatus = "unfinished" // the simulation is truncated
)

// SimulatedEnd is the enrollments that ended in the same way at a node.
type SimulatedEnd struct {
	Status  SimulatedStatus
	Reason  sequence.Reason
	Node    string
	Count   int
	Samples []id.Contact
}

// Simulate finds out when the trigger of a sequence fired from a time on, up to limit times, and how contacts would have gone
// through its graph. It has a clock of its own for each of them. Rules are evaluated with what contacts are now; mails are
// not sent, so nobody opens them; actions change nothing; and nobody is in the sequence at the beginning. Nothing is written.
func (e *Simulator) Simulate(ctx context.Context, s sequence.Sequence, since time.Time, limit int) (Simulation, error) {
	if s.Trigger == nil {
		return Simulation{}, ErrNoTrigger
	}
	ctx, cancel := fault.Within(ctx, simulationTimeout)
	defer cancel()
	switch err := e.turns.Acquire(ctx, s.Tenant); {
	case errors.Is(err, turns.ErrOwnerBusy):
		return Simulation{}, ErrSimulationsWaiting.With(fault.Wait{Seconds: 5})
	case errors.Is(err, turns.ErrBusy):
		return Simulation{}, ErrSimulationsBusy
	case err != nil:
		return Simulation{}, fault.Timely(ctx, err)
	}
	defer e.turns.Release(s.Tenant)
	m, err := newSimulation(ctx, e, s, since, limit)
	if err == nil {
		err = m.run(ctx)
	}
	if err != nil {
		return Simulation{}, fmt.Errorf("simulate a sequence: %w", fault.Timely(ctx, err))
	}
	return m.result(), nil
}
