package campaignapi

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/audience/trigger"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/engine/flow"
)

// simulation registers the operation that carries out a sequence without effects.
func (api Sequences) simulation(r *endpoint.Router) {
	endpoint.Handle(r, "POST /t/{tenant}/api/sequences/{id}/simulate", endpoint.Op{
		Name: "simulateSequence", Summary: "Find out how contacts would have gone through a sequence.", Tag: "sequences", Session: true, Role: auth.Viewer,
		Description: "What has fired the trigger since a time is led through the graph, with a clock that jumps over waits. Nothing is stored, sent or called. " +
			"Rules are evaluated with what contacts are now (evaluated_with), actions change nothing, and nobody is in the sequence at the beginning. " +
			"Recorded events end waits and enrollments; a contact that waits for an event whose timeout has not passed stays there (waiting). " +
			"A wait until somebody opens or clicks takes the way of the timeout, since no mail is sent, and is counted as assumed.",
		Faults: []*fault.Error{
			sequence.ErrNotFound, sequence.ErrGraph, flow.ErrNoTrigger, trigger.ErrNotRecorded, flow.ErrSimulationsWaiting, flow.ErrSimulationsBusy,
		},
	}.ExampleBody(`{"limit": 1000}`), api.simulateSequence, checkSimulation)
}

type simulateSequenceRequest struct {
	wire.RecordPath
	Body struct {
		Since endpoint.Opt[string] `json:"since" format:"date-time" nullable:"false" doc:"At most 30 days ago; 7 days ago when absent."`
		Limit endpoint.Opt[int]    `json:"limit" minimum:"1" maximum:"10000" nullable:"false" doc:"How many occurrences of the trigger are led through the graph, the oldest first; 1000 when absent."`
		Graph *sequenceGraphInput  `json:"graph,omitempty" doc:"A graph to use instead of the stored one. It is checked as when it is stored."`
	}
}

// sequenceGraphInput is a graph in a request.
type sequenceGraphInput struct {
	EntryNodeID string              `json:"entry_node_id"`
	Nodes       []sequenceNodeInput `json:"nodes" maxItems:"200"`
	Edges       []sequenceEdgeInput `json:"edges" maxItems:"600"`
}

const (
	defaultSimulated       = 1000
	defaultSimulatedPeriod = 7 * 24 * time.Hour
)

func checkSimulation(_ auth.Principal, in *simulateSequenceRequest) error {
	_, err := in.since(time.Time{})
	return err
}

// since returns since when the trigger is replayed.
func (in *simulateSequenceRequest) since(now time.Time) (time.Time, error) {
	if !in.Body.Since.Set {
		return now.Add(-defaultSimulatedPeriod), nil
	}
	since, err := endpoint.ParseTime(in.Body.Since.Value)
	if err != nil {
		return since, fault.Input(fault.Field{Path: "since", Message: err.Error()})
	}
	return since, nil
}

// SequenceSimulation is how contacts would have gone through a sequence.
type SequenceSimulation struct {
	EvaluatedAt   endpoint.Stamp       `json:"evaluated_at"`
	EvaluatedWith string               `json:"evaluated_with" enum:"current_contact_data"`
	Since         endpoint.Stamp       `json:"since"`
	Occurrences   int                  `json:"occurrences" doc:"How often the trigger fired: enrolled, duplicates and limited together, unless truncated."`
	Enrolled      int                  `json:"enrolled"`
	Duplicates    int                  `json:"duplicates" doc:"The contact was in the sequence, or had been and may not enter again."`
	Limited       int                  `json:"limited" doc:"The contact had entered too often within an hour."`
	Truncated     bool                 `json:"truncated" doc:"There were more occurrences than limit, or more steps than are carried out."`
	Nodes         []simulatedNodeRow   `json:"nodes" doc:"In the order of the graph."`
	Edges         []simulatedEdgeRow   `json:"edges" doc:"Every way out of every node, also those that lead nowhere. Jumps to goals are not among them."`
	Ends          []simulatedEndRow    `json:"ends" doc:"How the enrollments stand at the end, by how and where they ended."`
	Sends         simulatedSendsNumber `json:"sends" doc:"The mails of all nodes together."`
}

type simulatedSendsNumber struct {
	Queued      int            `json:"queued" doc:"Mails that would be sent."`
	Refused     map[string]int `json:"refused" doc:"Mails that contacts may not get, by reason, as for the audience of a broadcast."`
	Unavailable map[string]int `json:"unavailable" doc:"Mails that nobody can get now, by the code of the error."`
}

type simulatedNodeRow struct {
	NodeID  string                `json:"node_id"`
	Entered int                   `json:"entered"`
	Left    int                   `json:"left" doc:"For another node, or at the end of a path; not those whose enrollment ended at the node."`
	Jumped  int                   `json:"jumped" doc:"Those of left that jumped to a goal."`
	Waiting int                   `json:"waiting" doc:"At the end: what they wait for may happen yet."`
	Assumed int                   `json:"assumed" doc:"Those of left that would have waited for an open or a click, which nobody can know."`
	Sends   *simulatedSendsNumber `json:"sends" doc:"null: the node sends no mail."`
}

type simulatedEdgeRow struct {
	FromNode    string  `json:"from_node"`
	BranchLabel *string `json:"branch_label"`
	ToNode      *string `json:"to_node" doc:"null: the path ends."`
	Taken       int     `json:"taken"`
}

type simulatedEndRow struct {
	Status           flow.SimulatedStatus `json:"status" enum:"completed,exited,failed,waiting,unfinished" doc:"unfinished: the simulation is truncated."`
	ExitReason       *sequence.Reason     `json:"exit_reason"`
	NodeID           string               `json:"node_id" doc:"The last node."`
	Contacts         int                  `json:"contacts" doc:"Enrollments; a contact may have several."`
	SampleContactIDs []id.Contact         `json:"sample_contact_ids" doc:"Up to 10 of them."`
}

func (api Sequences) simulateSequence(ctx context.Context, p auth.Principal, in *simulateSequenceRequest) (SequenceSimulation, error) {
	s, err := api.load(ctx, p, in.ID)
	if err != nil {
		return SequenceSimulation{}, err
	}
	now := api.now()
	since, err := in.since(now)
	if err != nil {
		return SequenceSimulation{}, err
	}
	if since.After(now) || since.Before(now.Add(-flow.SimulatedPeriod)) {
		return SequenceSimulation{}, fault.Input(fault.Field{Path: "since", Message: "must be at most 30 days ago"})
	}
	if g := in.Body.Graph; g != nil {
		s, err = s.Checked(ctx, api.db, api.box, graphOf(g.EntryNodeID, g.Nodes, g.Edges), api.rules, now)
	} else {
		err = s.Configured()
	}
	if err != nil {
		return SequenceSimulation{}, err
	}
	m, err := api.simulator.Simulate(ctx, s, since, in.Body.Limit.Or(defaultSimulated))
	if err != nil {
		return SequenceSimulation{}, err
	}
	return rowOfSimulation(s, m), nil
}

func rowOfSimulation(s sequence.Sequence, m flow.Simulation) SequenceSimulation {
	all := simulatedSendsNumber{Refused: map[string]int{}, Unavailable: map[string]int{}}
	row := SequenceSimulation{
		EvaluatedAt: endpoint.At(m.At), EvaluatedWith: "current_contact_data", Since: endpoint.At(m.Since), Occurrences: m.Occurrences, Enrolled: m.Enrolled,
		Duplicates: m.Duplicates, Limited: m.Limited, Truncated: m.Truncated,
		Nodes: make([]simulatedNodeRow, len(m.Nodes)), Edges: make([]simulatedEdgeRow, len(m.Edges)), Ends: make([]simulatedEndRow, len(m.Ends)),
	}
	for i, n := range m.Nodes {
		row.Nodes[i] = simulatedNodeRow{NodeID: n.Node, Entered: n.Entered, Left: n.Left, Jumped: n.Jumped, Waiting: n.Waiting, Assumed: n.Assumed}
		if s.Graph.Nodes[i].Type != sequence.SendNode {
			continue
		}
		row.Nodes[i].Sends = &simulatedSendsNumber{n.Mails, n.Refused, n.Unavailable}
		all.Queued += n.Mails
		for reason, k := range n.Refused {
			all.Refused[reason] += k
		}
		for code, k := range n.Unavailable {
			all.Unavailable[code] += k
		}
	}
	row.Sends = all
	for i, e := range m.Edges {
		row.Edges[i] = simulatedEdgeRow{e.From, optional.Pointer(e.Label), optional.Pointer(e.To), e.Taken}
	}
	for i, e := range m.Ends {
		row.Ends[i] = simulatedEndRow{e.Status, optional.Pointer(e.Reason), e.Node, e.Count, endpoint.NonNil(e.Samples)}
	}
	return row
}
