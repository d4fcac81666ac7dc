package sequence

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
)

// NodeType is the type of a node.
type NodeType string

// The types of nodes.
const (
	SendNode         NodeType = "send"
	WaitNode         NodeType = "wait"
	ConditionNode    NodeType = "condition"
	BranchNode       NodeType = "branch"
	SplitNode        NodeType = "split"
	ListNode         NodeType = "list"
	TagNode          NodeType = "tag"
	UpdateNode       NodeType = "update_contact"
	StageNode        NodeType = "stage"
	SubscriptionNode NodeType = "subscription"
	EventNode        NodeType = "event"
	WebhookNode      NodeType = "webhook"
	NotifyNode       NodeType = "notify"
	EnrollNode       NodeType = "enroll"
	GoalNode         NodeType = "goal"
	ExitNode         NodeType = "exit"
)

// NodeTypes returns all types of nodes.
func NodeTypes() []NodeType {
	return []NodeType{
		SendNode, WaitNode, ConditionNode, BranchNode, SplitNode, ListNode, TagNode, UpdateNode, StageNode,
		SubscriptionNode, EventNode, WebhookNode, NotifyNode, EnrollNode, GoalNode, ExitNode,
	}
}

// Node is one step.
type Node struct {
	ID        string          `json:"id"`
	Type      NodeType        `json:"type"`
	Config    json.RawMessage `json:"config"` // a JSON object, with references by id
	CreatedAt time.Time       `json:"created_at"`
}

// Edge leads from one node to the next. The label is that of a branch; empty: the node has one way
// out.
type Edge struct {
	ID        id.SequenceEdge `json:"id"`
	From      string          `json:"from_node"`
	To        string          `json:"to_node"`
	Label     string          `json:"branch_label,omitempty"`
	CreatedAt time.Time       `json:"created_at"`
}

// Graph is the nodes and edges of a sequence.
type Graph struct {
	Entry string `json:"entry_node_id,omitempty"` // empty: the graph is not configured
	Nodes []Node `json:"nodes"`
	Edges []Edge `json:"edges"`
}

// Limits of a graph.
const (
	MaxNodes     = 200
	MaxEdges     = 600
	MaxBranches  = 20
	MaxVisits    = 100      // of a node by an enrollment
	maxNodeBytes = 64 << 10 // of a node's config
)

var validNodeID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// The labels of nodes with fixed ways out.
const (
	labelTrue    = "true"
	labelFalse   = "false"
	labelMet     = "met"
	labelTimeout = "timeout"
	labelElse    = "else"
)

// IssueCode is the kind of an Issue.
type IssueCode string

// The codes of issues.
const (
	UnknownType      IssueCode = "unknown_type"
	InvalidConfig    IssueCode = "invalid_config"
	UnknownReference IssueCode = "unknown_reference"
	DuplicateID      IssueCode = "duplicate_id"
	DanglingEdge     IssueCode = "dangling_edge"
	DuplicateEdge    IssueCode = "duplicate_edge"
	InvalidLabel     IssueCode = "invalid_label"
	MissingEntry     IssueCode = "missing_entry"
	UnreachableNode  IssueCode = "unreachable_node"
	CycleWithoutWait IssueCode = "cycle_without_wait"
)

// Issue is one fault of a graph.
type Issue struct {
	NodeID  *string   `json:"node_id"` // nil: of the graph, or of the edge
	Edge    *int      `json:"edge,omitempty"`
	Code    IssueCode `json:"code"`
	Message string    `json:"message"`
}

// missingEntry is the issue of a graph without an entry.
var missingEntry = Issue{Code: MissingEntry, Message: "entry_node_id must be the id of a node"}

// Issues are the details of ErrGraph.
type Issues struct {
	Issues []Issue `json:"issues"`
}

// issuesOf returns problems of fields as issues of no node.
func issuesOf(code IssueCode, p *fault.Problems) []Issue {
	var list []Issue
	for _, f := range p.Fields().Fields {
		list = append(list, Issue{Code: code, Message: f.Path + ": " + f.Message})
	}
	return list
}

// next returns the node to which the way out with a label leads, and whether there is one.
func (g Graph) next(from, label string) (string, bool) {
	i := slices.IndexFunc(g.Edges, func(e Edge) bool { return e.From == from && e.Label == label })
	if i < 0 {
		return "", false
	}
	return g.Edges[i].To, true
}

// node returns the index of a node; -1 if there is none.
func (g Graph) node(nodeID string) int {
	return slices.IndexFunc(g.Nodes, func(n Node) bool { return n.ID == nodeID })
}

// checkShape returns the issues of the graph's ids and edges. The labels of each node are given by
// steps; those of nodes that are not in it are not checked.
func (g Graph) checkShape(steps map[string]Step) []Issue {
	var list []Issue
	ofNode := func(nodeID string, code IssueCode, message string) {
		list = append(list, Issue{NodeID: &nodeID, Code: code, Message: message})
	}
	ofEdge := func(i int, code IssueCode, message string) {
		from := g.Edges[i].From
		list = append(list, Issue{NodeID: &from, Edge: &i, Code: code, Message: message})
	}
	known := map[string]bool{}
	for _, n := range g.Nodes {
		if known[n.ID] {
			ofNode(n.ID, DuplicateID, "another node has this id")
		}
		known[n.ID] = true
	}
	type way struct{ from, label string }
	taken := map[way]bool{}
	for i, e := range g.Edges {
		switch {
		case !known[e.From]:
			ofEdge(i, DanglingEdge, "no node has the id "+e.From)
			continue
		case !known[e.To]:
			ofEdge(i, DanglingEdge, "no node has the id "+e.To)
		case taken[way{e.From, e.Label}]:
			ofEdge(i, DuplicateEdge, "another edge leaves the node with the same label")
		}
		taken[way{e.From, e.Label}] = true
		if s, ok := steps[e.From]; ok && !slices.Contains(s.Labels(), e.Label) {
			ofEdge(i, InvalidLabel, "the node has no way out with this label; it has "+quoteLabels(s.Labels()))
		}
	}
	for _, n := range g.cyclesWithoutWait() {
		ofNode(n, CycleWithoutWait, "this node is in a cycle that contains no wait")
	}
	if g.Entry == "" || !known[g.Entry] {
		list = append(list, missingEntry)
		return list
	}
	reached := g.reachable()
	for _, n := range g.Nodes {
		// Contacts jump to a goal from anywhere.
		if !reached[n.ID] && n.Type != GoalNode {
			ofNode(n.ID, UnreachableNode, "no path leads from the entry to this node")
		}
	}
	return list
}

// reachable returns the nodes to which paths lead from the entry and from the goals.
func (g Graph) reachable() map[string]bool {
	reached := map[string]bool{}
	todo := []string{g.Entry}
	for _, n := range g.Nodes {
		if n.Type == GoalNode {
			todo = append(todo, n.ID)
		}
	}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if reached[at] {
			continue
		}
		reached[at] = true
		for _, e := range g.Edges {
			if e.From == at {
				todo = append(todo, e.To)
			}
		}
	}
	return reached
}

// cyclesWithoutWait returns the nodes that are in a cycle without a wait, in the order of the graph:
// those that remain after all waits, and then repeatedly all nodes without a way in or a way out,
// are removed.
func (g Graph) cyclesWithoutWait() []string {
	left := map[string]bool{}
	for _, n := range g.Nodes {
		if n.Type != WaitNode {
			left[n.ID] = true
		}
	}
	for changed := true; changed; {
		changed = false
		in, out := map[string]bool{}, map[string]bool{}
		for _, e := range g.Edges {
			if left[e.From] && left[e.To] {
				out[e.From], in[e.To] = true, true
			}
		}
		for n := range left {
			if !in[n] || !out[n] {
				delete(left, n)
				changed = true
			}
		}
	}
	var list []string
	for _, n := range g.Nodes {
		if left[n.ID] {
			list = append(list, n.ID)
			left[n.ID] = false
		}
	}
	return slices.DeleteFunc(list, func(n string) bool { return n == "" })
}

// quoteLabels lists labels for a message.
func quoteLabels(labels []string) string {
	if len(labels) == 0 {
		return "none"
	}
	quoted := make([]string, len(labels))
	for i, l := range labels {
		if quoted[i] = `"` + l + `"`; l == "" {
			quoted[i] = "null"
		}
	}
	return strings.Join(quoted, ", ")
}
