package campaignapi

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/audience/trigger"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/engine/flow"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Sequences serves sequences and enrollments.
type Sequences struct {
	db        *sqldb.DB
	enroller  *sequence.Enroller
	box       *secret.Box
	rules     webhook.Rules // of webhook nodes
	cursors   *endpoint.Cursors
	tester    wire.Tester
	now       func() time.Time
	usage     usage.Finder
	simulator *flow.Simulator
}

// SequenceOptions are what sequences need beside the environment.
type SequenceOptions struct {
	Enroller  *sequence.Enroller
	Rules     webhook.Rules // of webhook nodes
	Tester    wire.Tester
	Usage     usage.Finder
	Simulator *flow.Simulator
}

// NewSequences returns the operations on sequences and enrollments.
func NewSequences(e wire.Env, o SequenceOptions) Sequences {
	return Sequences{
		db: e.DB, box: e.Box, enroller: o.Enroller, rules: o.Rules, cursors: e.Cursors, tester: o.Tester, now: e.Now, usage: o.Usage, simulator: o.Simulator,
	}
}

// On returns the operations on another handle.
func (api Sequences) On(db *sqldb.DB) Sequences { api.db = db; return api }

// Register adds the operations on sequences.
func (api Sequences) Register(r *endpoint.Router) {
	read := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "sequences", Scope: auth.SequencesRead, Faults: faults}
	}
	author := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "sequences", Session: true, Faults: faults}
	}
	endpoint.Handle(r, "GET /t/{tenant}/api/sequences",
		read("listSequences", "List sequences without their graphs, newest first.", sequence.ErrStatus).ExampleQuery("status=active,paused"), api.ListSequences)
	endpoint.Handle(r, "GET /t/{tenant}/api/sequences/{id}", read("getSequence", "Get a sequence with its nodes and edges.", sequence.ErrNotFound).Revised(sequence.Revisions), api.getSequence)
	create := author("createSequence", "Create a sequence as a draft.").Once().Revised(sequence.Revisions)
	create.Status = http.StatusCreated
	endpoint.Handle(r, "POST /t/{tenant}/api/sequences", create.ExampleBody(`{"name": "Onboarding", "entry_trigger": {"trigger_type": "event", "trigger_config": {"event_name": "signed_up"}}, "exit_conditions": {"events": [{"event_name": "cancelled"}]}}`),
		wire.Once(api, api.db, Sequences.createSequence), checkNewSequence)
	endpoint.Handle(r, "PUT /t/{tenant}/api/sequences/{id}",
		author("updateSequence", "Update a sequence that is not archived; absent fields are not changed. New triggers and exit conditions apply at once.", sequence.ErrNotFound, sequence.ErrTransition, trigger.ErrLimit).IfMatch(sequence.Revisions).
			ExampleBody(`{"name": "Welcome", "allow_reentry": true}`), api.updateSequence, checkSequence)
	graph := author("setSequenceGraph", "Replace the graph of a draft or a paused sequence, and in the same change, if they are given, its trigger, exit conditions and whether contacts may enter again.", sequence.ErrNotFound, sequence.ErrNotEditable, sequence.ErrGraph, trigger.ErrLimit).IfMatch(sequence.Revisions)
	graph.Description = "dry_run stores nothing and answers with what is wrong with the graph and the rest, why nobody may enter, and how many contacts would leave the sequence because their node is gone."
	endpoint.Handle(r, "PUT /t/{tenant}/api/sequences/{id}/graph", graph.ExampleBody(`{"entry_node_id": "rest", "nodes": [{"id": "rest", "type": "wait", "config": {"mode": "duration", "amount": 1, "unit": "day"}}, {"id": "label", "type": "tag", "config": {"action": "add", "tags": ["welcomed"]}}], "edges": [{"from_node": "rest", "to_node": "label"}]}`),
		api.setSequenceGraph)
	for _, t := range []struct {
		action, summary string
		to              func(context.Context, *sqldb.DB, id.Tenant, id.Sequence, time.Time) (sequence.Sequence, error)
		faults          []*fault.Error
	}{
		{"activate", "Activate a draft.", sequence.Activate, []*fault.Error{sequence.ErrGraph, trigger.ErrLimit}},
		{"pause", "Pause an active sequence. The waits of its contacts stand still.", sequence.Pause, nil},
		{"resume", "Resume a paused sequence. What became due meanwhile continues over 15 minutes.", sequence.Resume, []*fault.Error{sequence.ErrGraph, trigger.ErrLimit}},
		{"archive", "Archive a sequence. Its contacts leave it.", sequence.Archive, nil},
		{"unarchive", "Make an archived sequence a draft.", sequence.Unarchive, nil},
	} {
		op := author(t.action+"Sequence", t.summary, append(t.faults, sequence.ErrNotFound, sequence.ErrTransition)...).IfMatch(sequence.Revisions)
		endpoint.Handle(r, "POST /t/{tenant}/api/sequences/{id}/"+t.action, op, api.transition(t.action, t.to))
	}
	duplicate := author("duplicateSequence", "Create a draft with the graph, trigger and exit conditions of a sequence.", sequence.ErrNotFound).Once().Revised(sequence.Revisions)
	duplicate.Status = http.StatusCreated
	endpoint.Handle(r, "POST /t/{tenant}/api/sequences/{id}/duplicate", duplicate, wire.Once(api, api.db, Sequences.duplicateSequence))
	endpoint.Handle(r, "DELETE /t/{tenant}/api/sequences/{id}",
		author("deleteSequence", "Delete a draft that was never active, and that nothing enrolls contacts in.", sequence.ErrNotFound, sequence.ErrInUse).IfMatch(sequence.Revisions), api.deleteSequence)
	api.enrollments(r)
	api.steps(r)
	api.reports(r)
	api.test(r)
	api.simulation(r)
}

type listSequencesRequest struct {
	Status string `query:"status" as:"list" enum:"draft,active,paused,archived" doc:"With any of these statuses; all when absent."`
	Search string `query:"q" maxLength:"200" doc:"A part of the name."`
	Counts string `query:"include_counts" as:"boolean" default:"false" doc:"true: with how many contacts are and were in each."`
}

// SequenceCounts is how many contacts are and were in a sequence.
type SequenceCounts struct {
	Enrolled  int `json:"enrolled"`
	Active    int `json:"active" doc:"In the sequence now, also while it is paused."`
	Completed int `json:"completed"`
	Exited    int `json:"exited"`
	Converted int `json:"converted" doc:"Those of exited that reached a goal."`
}

// Sequence is a sequence in lists.
type Sequence struct {
	ID             id.Sequence     `json:"id" format:"uuid"`
	TenantID       id.Tenant       `json:"tenant_id" format:"uuid"`
	Name           string          `json:"name"`
	Status         sequence.Status `json:"status" enum:"draft,active,paused,archived"`
	AllowReentry   bool            `json:"allow_reentry" doc:"Whether a contact may be enrolled again after its enrollment has ended."`
	EntryNodeID    *string         `json:"entry_node_id" doc:"null: the graph is not configured."`
	EntryTrigger   map[string]any  `json:"entry_trigger" nullable:"true" doc:"{trigger_type, trigger_config}; null: contacts are enrolled by calls only."`
	ExitConditions map[string]any  `json:"exit_conditions" nullable:"true" doc:"{definition, events, on_segment_left}."`
	CreatedAt      endpoint.Stamp  `json:"created_at"`
	UpdatedAt      endpoint.Stamp  `json:"updated_at"`
	Nodes          *[]SequenceNode `json:"nodes,omitempty" doc:"In answers with a single sequence."`
	Edges          *[]SequenceEdge `json:"edges,omitempty" doc:"In answers with a single sequence."`
	Counts         *SequenceCounts `json:"counts,omitempty" doc:"In lists with include_counts."`
}

// SequenceNode is a node of a sequence.
type SequenceNode struct {
	ID         string            `json:"id"`
	SequenceID id.Sequence       `json:"sequence_id" format:"uuid"`
	Type       sequence.NodeType `json:"type"`
	Config     map[string]any    `json:"config"`
	CreatedAt  endpoint.Stamp    `json:"created_at"`
}

// SequenceEdge is an edge of a sequence.
type SequenceEdge struct {
	ID          id.SequenceEdge `json:"id" format:"uuid"`
	SequenceID  id.Sequence     `json:"sequence_id" format:"uuid"`
	FromNode    string          `json:"from_node"`
	ToNode      string          `json:"to_node"`
	BranchLabel *string         `json:"branch_label"`
	CreatedAt   endpoint.Stamp  `json:"created_at"`
}

func (api Sequences) ListSequences(ctx context.Context, p auth.Principal, in *listSequencesRequest) (endpoint.List[Sequence], error) {
	statuses, err := sequence.ParseStatuses(endpoint.CommaList(in.Status))
	if err != nil {
		return endpoint.List[Sequence]{}, err
	}
	list, err := sequence.List(ctx, api.db, p.Tenant, sequence.Filter{Statuses: statuses, Search: in.Search})
	if err != nil {
		return endpoint.List[Sequence]{}, err
	}
	rows := make([]Sequence, len(list))
	for i, s := range list {
		rows[i] = rowOfSequence(s)
	}
	if endpoint.Flag(in.Counts) {
		totals, err := sequence.Totals(ctx, api.db, p.Tenant)
		if err != nil {
			return endpoint.List[Sequence]{}, err
		}
		for i, s := range list {
			n := totals[s.ID]
			inside := s.Inside(n)
			rows[i].Counts = &SequenceCounts{n.Entered, inside, n.Completed, n.Entered - inside - n.Completed - n.Failed, n.Converted}
		}
	}
	return endpoint.Whole(rows), nil
}

func rowOfSequence(s sequence.Sequence) Sequence {
	return Sequence{
		ID: s.ID, TenantID: s.Tenant, Name: s.Name, Status: s.Status, AllowReentry: s.AllowReentry, EntryNodeID: optional.Pointer(s.Graph.Entry),
		EntryTrigger: objectOf(s.Trigger), ExitConditions: objectOf(s.Exits), CreatedAt: endpoint.At(s.CreatedAt), UpdatedAt: endpoint.At(s.UpdatedAt),
	}
}

// objectOf returns v as a JSON object; nil for null.
func objectOf(v any) map[string]any {
	var m map[string]any
	raw, _ := json.Marshal(v) // was decoded from JSON, so it can be encoded
	_ = json.Unmarshal(raw, &m)
	return m
}

func (api Sequences) getSequence(ctx context.Context, p auth.Principal, in *wire.RecordPath) (Sequence, error) {
	s, err := api.load(ctx, p, in.ID)
	if err != nil {
		return Sequence{}, err
	}
	return wholeSequence(ctx, s)
}

func (api Sequences) load(ctx context.Context, p auth.Principal, text string) (sequence.Sequence, error) {
	seq, err := wire.RecordID[id.Sequence](text, sequence.ErrNotFound)
	if err != nil {
		return sequence.Sequence{}, err
	}
	return sequence.Load(ctx, api.db, p.Tenant, seq)
}

// wholeSequence returns a sequence with its graph.
func wholeSequence(ctx context.Context, s sequence.Sequence) (Sequence, error) {
	endpoint.SetRevision(ctx, s.Revision)
	row := rowOfSequence(s)
	nodes, edges := make([]SequenceNode, len(s.Graph.Nodes)), make([]SequenceEdge, len(s.Graph.Edges))
	for i, n := range s.Graph.Nodes {
		nodes[i] = SequenceNode{n.ID, s.ID, n.Type, map[string]any{}, endpoint.At(n.CreatedAt)}
		if err := json.Unmarshal(sequence.ShownConfig(n.Type, n.Config), &nodes[i].Config); err != nil {
			return Sequence{}, err
		}
	}
	for i, e := range s.Graph.Edges {
		edges[i] = SequenceEdge{e.ID, s.ID, e.From, e.To, optional.Pointer(e.Label), endpoint.At(e.CreatedAt)}
	}
	row.Nodes, row.Edges = &nodes, &edges
	return row, nil
}

// sequenceBody is the body of a create or an update; a new sequence needs a name.
type sequenceBody struct {
	Name           endpoint.Opt[string]         `json:"name" nullable:"false"`
	AllowReentry   endpoint.Opt[bool]           `json:"allow_reentry" nullable:"false"`
	EntryTrigger   endpoint.Opt[map[string]any] `json:"entry_trigger" doc:"{trigger_type, trigger_config}; null: none."`
	ExitConditions endpoint.Opt[map[string]any] `json:"exit_conditions" doc:"{definition, events, on_segment_left}, all optional; null: none."`
}

func (b sequenceBody) change() sequence.Change {
	return sequence.Change{Name: b.Name.Pointer(), AllowReentry: b.AllowReentry.Pointer(), Trigger: rawObject(b.EntryTrigger), Exits: rawObject(b.ExitConditions)}
}

// rawObject returns the JSON of an optional object: nil if it is absent.
func rawObject(o endpoint.Opt[map[string]any]) json.RawMessage {
	if !o.Set {
		return nil
	}
	if o.Null {
		return json.RawMessage("null")
	}
	raw, _ := json.Marshal(o.Value) // decoded from JSON, so it can be encoded
	return raw
}

type createSequenceRequest struct{ Body sequenceBody }

func checkNewSequence(_ auth.Principal, in *createSequenceRequest) error {
	return in.Body.change().CheckNew()
}

func (api Sequences) createSequence(ctx context.Context, p auth.Principal, in *createSequenceRequest) (Sequence, error) {
	var s sequence.Sequence
	err := wire.Audited(ctx, api.db, p, "create", "sequence", api.now(), func(tx *sqldb.DB) (_ string, err error) {
		s, err = sequence.Create(ctx, tx, p.Tenant, in.Body.change(), api.now())
		return s.ID.String(), err
	})
	if err != nil {
		return Sequence{}, err
	}
	return wholeSequence(ctx, s)
}

type updateSequenceRequest struct {
	wire.RecordPath
	Body sequenceBody
}

func checkSequence(_ auth.Principal, in *updateSequenceRequest) error {
	return in.Body.change().Check()
}

func (api Sequences) updateSequence(ctx context.Context, p auth.Principal, in *updateSequenceRequest) (Sequence, error) {
	seq, err := wire.RecordID[id.Sequence](in.ID, sequence.ErrNotFound)
	if err != nil {
		return Sequence{}, err
	}
	var s sequence.Sequence
	err = wire.AuditedUpdate(ctx, api.db, p, wire.Update{
		Action: "update", Target: "sequence", ID: in.ID, Table: sequence.Revisions, Key: seq, HideAddresses: true,
		Show: func(tx *sqldb.DB) (any, error) {
			s, err := sequence.Load(ctx, tx, p.Tenant, seq)
			return rowOfSequence(s), err
		},
		Do: func(tx *sqldb.DB) (err error) {
			s, err = sequence.Update(ctx, tx, p.Tenant, seq, in.Body.change(), api.now())
			return err
		},
	}, api.now())
	if err != nil {
		return Sequence{}, err
	}
	return wholeSequence(ctx, s)
}

type setSequenceGraphRequest struct {
	wire.RecordPath
	DryRun string `query:"dry_run" as:"boolean" default:"false" doc:"true: only check."`
	Body   struct {
		EntryNodeID    string                       `json:"entry_node_id"`
		Nodes          []sequenceNodeInput          `json:"nodes" maxItems:"200"`
		Edges          []sequenceEdgeInput          `json:"edges" maxItems:"600"`
		AllowReentry   endpoint.Opt[bool]           `json:"allow_reentry" nullable:"false" doc:"As in an update; absent: as it is."`
		EntryTrigger   endpoint.Opt[map[string]any] `json:"entry_trigger" doc:"As in an update; absent: as it is."`
		ExitConditions endpoint.Opt[map[string]any] `json:"exit_conditions" doc:"As in an update; absent: as they are."`
		DryRun         bool                         `json:"dry_run,omitempty" doc:"Only check."`
	}
}

type sequenceNodeInput struct {
	ID     string         `json:"id"`
	Type   string         `json:"type"`
	Config map[string]any `json:"config,omitempty"`
}

type sequenceEdgeInput struct {
	FromNode    string               `json:"from_node"`
	ToNode      string               `json:"to_node"`
	BranchLabel endpoint.Opt[string] `json:"branch_label"`
}

// sequenceGraphResult is a sequence whose graph was set, or the result of a dry run.
type sequenceGraphResult struct {
	set   *Sequence
	check *graphCheck
}

// graphCheck is the result of a dry run.
type graphCheck struct {
	Valid    bool         `json:"valid" doc:"Whether there are no issues."`
	Issues   []graphIssue `json:"issues"`
	Unready  []graphIssue `json:"unready" doc:"What else keeps a draft from being activated: mails that cannot be sent, and the trigger. It can be stored all the same."`
	Warnings []graphIssue `json:"warnings" doc:"Why nobody may enter, though it can be activated: there is no trigger, or what it waits for cannot happen yet. Of a sequence without issues."`
	Leaving  int          `json:"leaving" doc:"Contacts whose node is gone."`
}

// MarshalJSON encodes the one that is set.
func (r sequenceGraphResult) MarshalJSON() ([]byte, error) {
	if r.check != nil {
		return json.Marshal(r.check)
	}
	return json.Marshal(r.set)
}

// Schema is that of either.
func (sequenceGraphResult) Schema(all endpoint.Registry) *endpoint.Schema {
	return &endpoint.Schema{AnyOf: []*endpoint.Schema{
		all.Schema(reflect.TypeFor[Sequence](), true, ""), all.Schema(reflect.TypeFor[graphCheck](), true, ""),
	}}
}

// graphIssue is one fault of a graph.
type graphIssue struct {
	NodeID  *string            `json:"node_id"`
	Edge    *int               `json:"edge,omitempty" doc:"Index of the edge, for faults of edges."`
	Code    sequence.IssueCode `json:"code"`
	Message string             `json:"message"`
}

func graphIssues(list []sequence.Issue) []graphIssue {
	out := make([]graphIssue, len(list))
	for i, is := range list {
		out[i] = graphIssue(is)
	}
	return out
}

func (in *setSequenceGraphRequest) graph() sequence.Graph {
	return graphOf(in.Body.EntryNodeID, in.Body.Nodes, in.Body.Edges)
}

func graphOf(entry string, nodes []sequenceNodeInput, edges []sequenceEdgeInput) sequence.Graph {
	g := sequence.Graph{Entry: entry, Nodes: make([]sequence.Node, len(nodes)), Edges: make([]sequence.Edge, len(edges))}
	for i, n := range nodes {
		config, _ := json.Marshal(n.Config) // decoded from JSON, so it can be encoded
		if n.Config == nil {
			config = []byte("{}")
		}
		g.Nodes[i] = sequence.Node{ID: n.ID, Type: sequence.NodeType(n.Type), Config: config}
	}
	for i, e := range edges {
		g.Edges[i] = sequence.Edge{From: e.FromNode, To: e.ToNode, Label: e.BranchLabel.Or("")}
	}
	return g
}

func (in *setSequenceGraphRequest) change() sequence.Change {
	return sequence.Change{AllowReentry: in.Body.AllowReentry.Pointer(), Trigger: rawObject(in.Body.EntryTrigger), Exits: rawObject(in.Body.ExitConditions)}
}

func (api Sequences) setSequenceGraph(ctx context.Context, p auth.Principal, in *setSequenceGraphRequest) (sequenceGraphResult, error) {
	seq, err := wire.RecordID[id.Sequence](in.ID, sequence.ErrNotFound)
	if err != nil {
		return sequenceGraphResult{}, err
	}
	if in.Body.DryRun || endpoint.Flag(in.DryRun) {
		r, err := sequence.SetGraphUnder(ctx, api.db, api.box, p.Tenant, seq, in.graph(), in.change(), api.rules, true, api.now())
		return sequenceGraphResult{check: &graphCheck{len(r.Issues) == 0, graphIssues(r.Issues), graphIssues(r.Unready), graphIssues(r.Warnings), r.Leaving}}, err
	}
	var r sequence.GraphResult
	err = wire.AuditedUpdate(ctx, api.db, p, wire.Update{
		Action: "set_graph", Target: "sequence", ID: in.ID, Table: sequence.Revisions, Key: seq, HideAddresses: true,
		Show: func(tx *sqldb.DB) (any, error) {
			s, err := sequence.Load(ctx, tx, p.Tenant, seq)
			return struct {
				Sequence
				Nodes int `json:"nodes"`
				Edges int `json:"edges"`
			}{rowOfSequence(s), len(s.Graph.Nodes), len(s.Graph.Edges)}, err
		},
		Do: func(tx *sqldb.DB) (err error) {
			r, err = sequence.SetGraphUnder(ctx, tx, api.box, p.Tenant, seq, in.graph(), in.change(), api.rules, false, api.now())
			return err
		},
	}, api.now())
	if err != nil {
		return sequenceGraphResult{}, err
	}
	row, err := wholeSequence(ctx, r.Sequence)
	return sequenceGraphResult{set: &row}, err
}

func (api Sequences) duplicateSequence(ctx context.Context, p auth.Principal, in *wire.RecordPath) (Sequence, error) {
	return api.transition("duplicate", sequence.Duplicate)(ctx, p, in)
}

// transition returns the handler of a change of status.
func (api Sequences) transition(action string, to func(context.Context, *sqldb.DB, id.Tenant, id.Sequence, time.Time) (sequence.Sequence, error)) func(context.Context, auth.Principal, *wire.RecordPath) (Sequence, error) {
	return func(ctx context.Context, p auth.Principal, in *wire.RecordPath) (Sequence, error) {
		seq, err := wire.RecordID[id.Sequence](in.ID, sequence.ErrNotFound)
		if err != nil {
			return Sequence{}, err
		}
		var s sequence.Sequence
		err = wire.Audited(ctx, api.db, p, action, "sequence", api.now(), func(tx *sqldb.DB) (_ string, err error) {
			s, err = to(ctx, tx, p.Tenant, seq, api.now())
			return s.ID.String(), err
		})
		if err != nil {
			return Sequence{}, err
		}
		return wholeSequence(ctx, s)
	}
}

func (api Sequences) deleteSequence(ctx context.Context, p auth.Principal, in *wire.RecordPath) (endpoint.None, error) {
	seq, err := wire.RecordID[id.Sequence](in.ID, sequence.ErrNotFound)
	if err != nil {
		return endpoint.None{}, err
	}
	return endpoint.None{}, wire.Audited(ctx, api.db, p, "delete", "sequence", api.now(), func(tx *sqldb.DB) (string, error) {
		return in.ID, sequence.Delete(ctx, tx, p.Tenant, seq, api.usage)
	})
}
