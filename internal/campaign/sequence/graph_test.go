package sequence

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestStepsAreCheckedByThemselves changes one thing of each configuration that is right.
func TestStepsAreCheckedByThemselves(t *testing.T) {
	t.Parallel()
	const one = `"01900000-0000-7000-8000-000000000001"`
	for _, tt := range []struct {
		kind   NodeType
		config string
		want   string // the beginning of the first problem; empty: there is none
	}{
		{SendNode, `{"message_id": ` + one + `, "email_type_key": "news"}`, ""},
		{SendNode, `{"message_id": ` + one + `, "email_type_key": "news", "send_window": {"days": [1, 7], "start": "09:00", "end": "24:00", "timezone": "contact"}}`, ""},
		{SendNode, `{"email_type_key": "news"}`, "message_id: is required"},
		{SendNode, `{"message_id": ` + one + `}`, "email_type_key: is required"},
		{SendNode, `{"message_id": ` + one + `, "email_type_key": "news", "version": 0}`, "version"},
		{SendNode, `{"message_id": ` + one + `, "email_type_key": "news", "send_window": {"days": [8], "start": "09:00", "end": "17:00", "timezone": "contact"}}`, "send_window: days"},
		{SendNode, `{"message_id": ` + one + `, "email_type_key": "news", "send_window": {"days": [1], "start": "09:00", "end": "09:00", "timezone": "contact"}}`, "send_window: end: must differ"},
		{SendNode, `{"message_id": ` + one + `, "email_type_key": "news", "send_window": {"days": [1], "start": "24:00", "end": "17:00", "timezone": "contact"}}`, "send_window: start"},
		{SendNode, `{"message_id": ` + one + `, "email_type_key": "news", "send_window": {"days": [1], "start": "09:00", "end": "17:00", "timezone": "utc"}}`, "send_window: timezone"},
		{WaitNode, `{"mode": "duration", "amount": 1, "unit": "day"}`, ""},
		{WaitNode, `{"mode": "duration", "amount": 0, "unit": "day"}`, "amount"},
		{WaitNode, `{"mode": "duration", "amount": 1, "unit": "day", "time": "09:00"}`, "time: a wait of mode duration has no such field"},
		{WaitNode, `{"mode": "until_date", "at": "2026-03-01T12:00:00Z"}`, ""},
		{WaitNode, `{"mode": "until_date", "field": "created_at", "time": "09:00"}`, ""},
		{WaitNode, `{"mode": "until_date"}`, "a wait until a date must have either"},
		{WaitNode, `{"mode": "until_date", "at": "2026-03-01T12:00:00Z", "field": "created_at"}`, "a wait until a date must have either"},
		{WaitNode, `{"mode": "until_date", "at": "1969-12-31T23:59:59Z"}`, "at: must be a date"},
		{WaitNode, `{"mode": "until_time", "days": [1], "time": "09:00", "timezone": "account"}`, ""},
		{WaitNode, `{"mode": "until_time", "days": [], "time": "09:00", "timezone": "account"}`, "days"},
		{WaitNode, `{"mode": "until_event", "event_name": "paid", "timeout": {"amount": 1, "unit": "week"}}`, ""},
		{WaitNode, `{"mode": "until_event", "event_name": "paid"}`, "timeout: is required"},
		{WaitNode, `{"mode": "until_segment", "segment_key": "vip", "state": "in", "timeout": {"amount": 1, "unit": "week"}}`, ""},
		{WaitNode, `{"mode": "until_segment", "segment_key": "vip", "state": "out", "timeout": {"amount": 1, "unit": "week"}}`, "state"},
		{WaitNode, `{"mode": "until_engagement", "node_id": "hello", "event": "clicked", "timeout": {"amount": 0, "unit": "week"}}`, "timeout"},
		{WaitNode, `{"mode": "forever"}`, "mode: must be one of"},
		{ConditionNode, `{"definition": {}}`, ""},
		{ConditionNode, `{}`, "definition: is required"},
		{GoalNode, `{}`, "definition: is required"},
		{BranchNode, `{"branches": [{"label": "a", "definition": {}}]}`, ""},
		{BranchNode, `{"branches": []}`, "branches: must be 1 to"},
		{BranchNode, `{"branches": [{"label": "else", "definition": {}}]}`, `branches[0]: label: "else" is taken`},
		{BranchNode, `{"branches": [{"label": "a", "definition": {}}, {"label": "a", "definition": {}}]}`, `branches[1]: label: "a" is taken`},
		{SplitNode, `{"branches": [{"label": "a", "weight": 1}, {"label": "else", "weight": 0.001}]}`, ""},
		{SplitNode, `{"branches": [{"label": "a", "weight": 1}, {"label": "b", "weight": 0}]}`, "branches[1].weight: must be more than 0"},
		{SplitNode, `{"branches": [{"label": "a", "weight": 1}, {"label": "b", "weight": 1000001}]}`, "branches[1].weight"},
		{SplitNode, `{"branches": [{"label": "a", "weight": 1}, {"label": "b"}]}`, "branches[1].weight"},
		{SplitNode, `{"branches": [{"label": "a", "weight": 1}]}`, "branches: must be 2 to"},
		{SplitNode, `{"branches": [{"label": "a", "weight": 0}, {"label": "b", "weight": 0}]}`, "branches[0].weight"},
		{SplitNode, `{"branches": [{"label": "a", "weight": -1}, {"label": "b", "weight": 2}]}`, "branches[0].weight"},
		{SplitNode, `{"branches": [{"label": "", "weight": 1}, {"label": "b", "weight": 2}]}`, "branches[0]: label"},
		{ListNode, `{"action": "add", "segment_key": "vip"}`, ""},
		{ListNode, `{"action": "set", "segment_key": "vip"}`, "action"},
		{TagNode, `{"action": "remove", "tags": ["a"]}`, ""},
		{TagNode, `{"action": "add", "tags": []}`, "tags"},
		{TagNode, `{"action": "add", "tags": [""]}`, "tags[0]"},
		{UpdateNode, `{"fields": {"city": "Graz"}}`, ""},
		{UpdateNode, `{}`, "fields or custom_fields"},
		{UpdateNode, `{"fields": {"email": "a@example.org"}}`, "fields.email"},
		{StageNode, `{}`, "stage_id: is required"},
		{SubscriptionNode, `{"action": "unsubscribe", "email_type_key": "news"}`, ""},
		{SubscriptionNode, `{"action": "subscribe"}`, "email_type_key"},
		{EventNode, `{"event_name": "walked"}`, ""},
		{EventNode, `{"event_name": "` + strings.Repeat("é", 129) + `"}`, "event_name"},
		{EnrollNode, `{}`, "sequence_id: is required"},
		{ExitNode, `{}`, ""},
		{ExitNode, ``, ""},
		{ExitNode, `{"reason": "x"}`, `unknown field "reason"`},
		{ExitNode, `{} {}`, "it must be one object"},
		{ExitNode, `{"x": "` + strings.Repeat("x", maxNodeBytes) + `"}`, "it is larger than 64 KB"},
		{"dance", `{}`, `unknown type "dance"`},
	} {
		_, err := parseStep(Node{ID: "n", Type: tt.kind, Config: []byte(tt.config)})
		if got := fmt.Sprint(err); tt.want == "" && err != nil || !strings.HasPrefix(got, tt.want) && tt.want != "" {
			t.Errorf("%s %.80s: %v, want %q", tt.kind, tt.config, err, tt.want)
		}
	}
	for _, kind := range NodeTypes() {
		if newStep(kind) == nil {
			t.Errorf("nodes of type %s have no step", kind)
		}
	}
}

// drawn returns the graph of edges such as "a-b" and "a-b:label". Nodes are named by their types: w waits, c is a
// condition, g a goal, all others are exits. The entry is the first node.
func drawn(t *testing.T, nodes string, edges ...string) (Graph, map[string]Step) {
	t.Helper()
	g, steps := Graph{}, map[string]Step{}
	for name := range strings.FieldsSeq(nodes) {
		n := Node{ID: name, Type: ExitNode, Config: []byte(`{}`)}
		switch name[0] {
		case 'w':
			n.Type, n.Config = WaitNode, []byte(`{"mode": "duration", "amount": 1, "unit": "day"}`)
		case 'c':
			n.Type, n.Config = ConditionNode, []byte(`{"definition": {}}`)
		case 'g':
			n.Type, n.Config = GoalNode, []byte(`{"definition": {}}`)
		case 't':
			n.Type, n.Config = TagNode, []byte(`{"action": "add", "tags": ["a"]}`)
		}
		s, err := parseStep(n)
		if err != nil {
			t.Fatal(err)
		}
		g.Nodes, steps[name] = append(g.Nodes, n), s
	}
	if len(g.Nodes) > 0 {
		g.Entry = g.Nodes[0].ID
	}
	for _, e := range edges {
		way, label, _ := strings.Cut(e, ":")
		from, to, _ := strings.Cut(way, "-")
		g.Edges = append(g.Edges, Edge{From: from, To: to, Label: label})
	}
	return g, steps
}

// TestShapesOfGraphs draws graphs with one fault each.
func TestShapesOfGraphs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		nodes string
		edges []string
		want  string // the node or edge and the code of each issue
	}{
		{"t1", nil, ""},
		{"c1 t1 t2", []string{"c1-t1:true", "c1-t2:false"}, ""},
		{"c1 t1", []string{"c1-t1:true"}, ""}, // a way that leads nowhere completes the sequence
		{"w1 t1", []string{"w1-t1", "t1-w1"}, ""},
		{"t1 g1 t2", []string{"g1-t2"}, ""}, // contacts jump to a goal
		{"", nil, "missing_entry"},
		{"t1 t2", nil, "t2 unreachable_node"},
		{"t1 t1", nil, "t1 duplicate_id"},
		{"t1", []string{"t1-x"}, "t1 edge 0 dangling_edge"},
		{"t1", []string{"x-t1"}, "x edge 0 dangling_edge"},
		{"t1 t2 t3", []string{"t1-t2", "t1-t3"}, "t1 edge 1 duplicate_edge"},
		{"c1 t1", []string{"c1-t1:maybe"}, "c1 edge 0 invalid_label"},
		{"c1 t1", []string{"c1-t1"}, "c1 edge 0 invalid_label"},
		{"t1 t2", []string{"t1-t2:true"}, "t1 edge 0 invalid_label"},
		{"t1", []string{"t1-t1"}, "t1 cycle_without_wait"},
		{"w1 t1 t2", []string{"w1-t1", "t1-t2", "t2-t1"}, "t1 cycle_without_wait; t2 cycle_without_wait"},
	} {
		g, steps := drawn(t, tt.nodes, tt.edges...)
		var got []string
		for _, i := range g.checkShape(steps) {
			text := ""
			if i.NodeID != nil {
				text = *i.NodeID + " "
			}
			if i.Edge != nil {
				text += fmt.Sprintf("edge %d ", *i.Edge)
			}
			if i.Message == "" {
				t.Errorf("%s %v: an issue without a message", tt.nodes, tt.edges)
			}
			got = append(got, text+string(i.Code))
		}
		if strings.Join(got, "; ") != tt.want {
			t.Errorf("%s %v: %q, want %q", tt.nodes, tt.edges, got, tt.want)
		}
	}
}

// TestEveryCycleWithoutWaitIsFound compares random graphs with a walk from every node: an issue is reported if and only
// if a contact could go on for ever without waiting, and then for each node of such a cycle.
func TestEveryCycleWithoutWaitIsFound(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	found := 0
	for range 2000 {
		names := []string{"t0", "t1", "t2", "w3", "t4", "w5"}[:1+r.IntN(6)]
		var edges []string
		for range r.IntN(9) {
			edges = append(edges, names[r.IntN(len(names))]+"-"+names[r.IntN(len(names))])
		}
		g, _ := drawn(t, strings.Join(names, " "), edges...)
		inCycle := func(start string) bool { // a path of nodes that do not wait leads back to start
			seen, todo := map[string]bool{}, []string{start}
			for len(todo) > 0 && start[0] != 'w' {
				at := todo[len(todo)-1]
				todo = todo[:len(todo)-1]
				for _, e := range g.Edges {
					if e.From != at || e.To[0] == 'w' {
						continue
					}
					if e.To == start {
						return true
					}
					if !seen[e.To] {
						seen[e.To] = true
						todo = append(todo, e.To)
					}
				}
			}
			return false
		}
		got := g.cyclesWithoutWait()
		any := false
		for _, n := range names {
			if inCycle(n) {
				any = true
				if !slices.Contains(got, n) {
					t.Fatalf("%v: %s is in a cycle, reported are %v", edges, n, got)
				}
			}
		}
		if any != (len(got) > 0) {
			t.Fatalf("%v: %v is reported", edges, got)
		}
		if any {
			found++
		}
	}
	if found < 100 {
		t.Errorf("only %d of the graphs had a cycle", found)
	}
}
