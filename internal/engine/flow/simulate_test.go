package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func (f *fixture) simulate(s sequence.Sequence, since time.Time, limit int) Simulation {
	f.Helper()
	m, err := NewSimulator(f.DB, func() time.Time { return f.now }).Simulate(f.Context(), s, since, limit)
	f.must(err)
	return m
}

// numbers are what a simulation and a real run have in common.
type numbers struct {
	Entered, Left map[string]int
	Mails         map[string]int
	Refused       map[string]int // by node and reason
	Taken         map[string]int // by node and label
	Ends          map[string]int // by status and reason
}

func newNumbers() numbers {
	return numbers{map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}}
}

func (n numbers) clean() numbers {
	for _, m := range []map[string]int{n.Entered, n.Left, n.Mails, n.Refused, n.Taken, n.Ends} {
		maps.DeleteFunc(m, func(_ string, v int) bool { return v == 0 })
	}
	return n
}

func numbersOf(m Simulation) numbers {
	n := newNumbers()
	for _, row := range m.Nodes {
		n.Entered[row.Node], n.Left[row.Node], n.Mails[row.Node] = row.Entered, row.Left, row.Mails
		for reason, k := range row.Refused {
			n.Refused[row.Node+" "+reason] = k
		}
	}
	for _, e := range m.Edges {
		n.Taken[e.From+" "+e.Label] = e.Taken
	}
	for _, e := range m.Ends {
		n.Ends[fmt.Sprintf("%s %s", e.Status, e.Reason)] += e.Count
	}
	return n.clean()
}

// realNumbers counts what has happened, by the counts of nodes, the log of steps and the outbox.
func (f *fixture) realNumbers(s sequence.Sequence) (n numbers, whole bool) {
	f.Helper()
	whole = true
	n = newNumbers()
	all, err := sequence.Counts(f.Context(), f.DB, f.Tenant, s.ID)
	f.must(err)
	delete(all, "")
	for name, c := range all {
		n.Entered[name], n.Left[name] = c.Entered, c.Completed
	}
	sends, err := sequence.Sends(f.Context(), f.DB, f.Tenant, s.ID)
	f.must(err)
	for name, send := range sends {
		p, err := outbox.Load(f.Context(), f.DB, f.Tenant, send)
		f.must(err)
		n.Mails[name] = p.Total
	}
	list, _, err := sequence.Enrollments(f.Context(), f.DB, f.Tenant, s.ID, sequence.EnrollmentQuery{Limit: 1000})
	f.must(err)
	for _, e := range list {
		if e.ExitedAt == nil {
			n.Ends["waiting "]++
		} else {
			n.Ends[fmt.Sprintf("%s %s", e.Status, e.Reason)]++
		}
		h, err := sequence.LoadHistory(f.Context(), f.DB, f.Tenant, s.ID, e.ID, 0, 1000)
		f.must(err)
		whole = whole && h.Omitted == 0
		for _, v := range h.Visits {
			if v.Why.Code == sequence.MailRefused {
				n.Refused[v.Node+" "+v.Why.Reason]++
			}
			if v.Left != nil && v.Why.Code != sequence.Left && v.Why.Code != sequence.GoalReached {
				n.Taken[v.Node+" "+v.Label]++
			}
		}
	}
	return n.clean(), whole
}

// randomGraph makes a graph whose conditions do not depend on what its actions do.
func randomGraph(f *fixture, r *rand.Rand, list string) sequence.Graph {
	vip := field("tags", "has_any", []string{"vip"})
	plan := object{"logic": "and", "conditions": []any{object{"type": "trigger_event", "property": "plan", "operator": "equals", "value": "pro"}}}
	kinds := []func() (sequence.NodeType, object, []string){
		func() (sequence.NodeType, object, []string) {
			return sequence.SendNode, object{"message_id": f.entry.ID, "email_type_key": f.Type.Key}, []string{""}
		},
		func() (sequence.NodeType, object, []string) {
			return sequence.WaitNode, object{"mode": "duration", "amount": 1 + r.IntN(20), "unit": "hour"}, []string{""}
		},
		func() (sequence.NodeType, object, []string) {
			return sequence.WaitNode, object{"mode": "until_event", "event_name": []string{"paid", "signed_up"}[r.IntN(2)], "timeout": object{"amount": 1 + r.IntN(30), "unit": "hour"}}, []string{"met", "timeout"}
		},
		func() (sequence.NodeType, object, []string) {
			return sequence.WaitNode, object{"mode": "until_segment", "segment_key": list, "state": []string{"in", "not_in"}[r.IntN(2)], "timeout": object{"amount": 2, "unit": "hour"}}, []string{"met", "timeout"}
		},
		func() (sequence.NodeType, object, []string) {
			return sequence.WaitNode, object{"mode": "until_time", "days": []int{1, 3, 5}, "time": "09:30", "timezone": "account"}, []string{""}
		},
		func() (sequence.NodeType, object, []string) {
			return sequence.ConditionNode, object{"definition": []object{vip, plan}[r.IntN(2)]}, []string{"true", "false"}
		},
		func() (sequence.NodeType, object, []string) {
			return sequence.BranchNode, object{"branches": []any{object{"label": "a", "definition": plan}, object{"label": "b", "definition": vip}}}, []string{"a", "b", "else"}
		},
		func() (sequence.NodeType, object, []string) {
			return sequence.SplitNode, object{"branches": []any{object{"label": "x", "weight": 1}, object{"label": "y", "weight": 3}}}, []string{"x", "y"}
		},
		func() (sequence.NodeType, object, []string) {
			return sequence.TagNode, object{"action": "add", "tags": []string{"unrelated"}}, []string{""}
		},
		func() (sequence.NodeType, object, []string) { return sequence.ExitNode, object{}, nil },
	}
	n := 4 + r.IntN(8)
	var nodes []sequence.Node
	var edges [][3]string
	name := func(i int) string { return fmt.Sprintf("n%d", i) }
	for i := range n {
		typ, config, labels := kinds[r.IntN(len(kinds))]()
		if i == 0 { // reaches all others
			typ, config, labels = kinds[6]()
		}
		nodes = append(nodes, node(name(i), typ, config))
		for _, l := range labels {
			switch to := i + 1 + r.IntN(3); {
			case to < n:
				edges = append(edges, [3]string{name(i), l, name(to)})
			case typ == sequence.WaitNode && l != "met" && r.IntN(2) == 0: // a loop
				edges = append(edges, [3]string{name(i), l, name(1 + r.IntN(i))})
			}
		}
	}
	if r.IntN(3) == 0 {
		nodes = append(nodes, node("goal", sequence.GoalNode, object{"definition": field("tags", "has_any", []string{"won"})}), node("after", sequence.TagNode, object{"action": "add", "tags": []string{"unrelated"}}))
		edges = append(edges, [3]string{"goal", "", "after"})
	}
	return connected(graph(name(0), nodes, edges...))
}

// connected returns the part of a graph that can be reached.
func connected(g sequence.Graph) sequence.Graph {
	reached, todo := map[string]bool{}, []string{g.Entry, "goal"}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		if !reached[at] {
			reached[at] = true
			for _, e := range g.Edges {
				if e.From == at {
					todo = append(todo, e.To)
				}
			}
		}
	}
	g.Nodes = slices.DeleteFunc(g.Nodes, func(n sequence.Node) bool { return !reached[n.ID] })
	g.Edges = slices.DeleteFunc(g.Edges, func(e sequence.Edge) bool { return !reached[e.From] })
	return g
}

// TestSimulationsAgreeWithWhatHappens lets random events lead contacts through random graphs, and simulates it afterwards.
func TestSimulationsAgreeWithWhatHappens(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		rounds, seed := 12, rand.Uint64()
		if db.Dialect() == sqldb.Postgres {
			rounds = 4
		}
		f := newFixture(t, db)
		list := f.AddList("Members")
		people := f.AddContacts(f.List.ID, "p", 12)
		for i, c := range people {
			tags := [][]string{{}, {"vip"}, {"won"}, {"vip", "won"}, {}, {}}[i%6]
			f.change(c.ID, contact.Change{Tags: &tags})
			if i%4 == 1 {
				f.change(c.ID, contact.Change{Subscriptions: map[string]*bool{f.Type.Key: new(false)}})
			}
		}
		f.join(list.ID, people[3].ID, people[4].ID)
		_, err := suppression.Add(t.Context(), db, f.Tenant, people[6].Email, "", f.now)
		f.must(err)
		f.drain()
		seen := map[string]int{}
		for i := range uint64(rounds) {
			r := rand.New(rand.NewPCG(seed+i, 1))
			g := randomGraph(f, r, list.Key)
			exits := `null`
			if r.IntN(2) == 0 {
				exits = `{"events": [{"event_name": "cancelled", "filters": [{"property": "n", "operator": "greater_than", "value": 3}]}]}`
			}
			s := f.start(g, sequence.Change{
				AllowReentry: new(r.IntN(2) == 0), Exits: json.RawMessage(exits),
				Trigger: json.RawMessage(`{"trigger_type": "event", "trigger_config": {"event_name": "signed_up", "definition": {"logic": "and", "conditions": [{"field": "email", "operator": "not_contains", "value": "p-11"}]}}}`),
			})
			since := f.now
			// What happens and what is due never coincide: which of both comes first is not determined.
			for range 40 {
				f.until(f.now.Add(time.Duration(1+r.IntN(4*3600))*time.Second + 137*time.Microsecond))
				name := []string{"signed_up", "signed_up", "paid", "cancelled"}[r.IntN(4)]
				f.record(name, people[r.IntN(len(people))].ID, object{"plan": []string{"pro", "free"}[r.IntN(2)], "n": float64(r.IntN(6))})
				f.drain()
			}
			f.until(f.now.Add(time.Second))
			simulated := f.simulate(s, since, 1000)
			f.finish()
			real, whole := f.realNumbers(s)
			got := numbersOf(simulated)
			if !whole { // a loop of which the log has only the newest steps
				real.Taken, got.Taken, real.Refused, got.Refused = nil, nil, nil, nil
			}
			if diff := cmp.Diff(real, got); diff != "" {
				text, _ := json.MarshalIndent(g, "", " ")
				t.Fatalf("seed %d: what happened (-) and what was simulated (+)\n%s\n%s", seed+i, diff, text)
			}
			if simulated.Truncated || simulated.Occurrences != simulated.Enrolled+simulated.Duplicates+simulated.Limited {
				t.Errorf("seed %d: %+v", seed+i, simulated)
			}
			for end, n := range got.Ends {
				seen[end] += n
			}
			_, err := sequence.Archive(t.Context(), db, f.Tenant, s.ID, f.now)
			f.must(err)
			f.now = f.now.Add(time.Hour)
			f.tick()
		}
		t.Logf("seeds from %d: %v", seed, seen)
	})
}

// until moves the clock to a time, and carries out each step when it is due.
func (f *fixture) until(end time.Time) {
	f.Helper()
	for range 10_000 {
		var due *int64
		f.must(f.DB.QueryRow(f.Context(), `SELECT MIN(due_at) FROM enrollment WHERE tenant_id = $1 AND due_at <= $2`, f.Tenant, end.UnixMicro()).Scan(&due))
		if due == nil {
			f.now = end
			return
		}
		f.now = sqldb.Time(max(*due, f.now.UnixMicro()))
		f.tick()
	}
	f.Fatal("the steps do not come to an end")
}

// finish carries out all steps but those that wait for an event, whose timeout has not passed.
func (f *fixture) finish() {
	f.Helper()
	end := f.now
	for range 10_000 {
		_, err := f.DB.Exec(f.Context(), `UPDATE enrollment SET due_at = NULL WHERE tenant_id = $1 AND wait_event IS NOT NULL AND timer_at > $2`, f.Tenant, end.UnixMicro())
		f.must(err)
		var due *int64
		f.must(f.DB.QueryRow(f.Context(), `SELECT MIN(due_at) FROM enrollment WHERE tenant_id = $1`, f.Tenant).Scan(&due))
		if due == nil {
			return
		}
		f.now = sqldb.Time(max(*due, f.now.UnixMicro()))
		f.tick()
	}
	f.Fatal("the sequence does not come to an end")
}

func (f *fixture) join(list id.Segment, contacts ...id.Contact) {
	f.Helper()
	_, err := segment.Add(f.Context(), f.DB, f.Tenant, list, segment.People{IDs: contacts}, f.now)
	f.must(err)
}

// Loops, goals and exit conditions end as in the sequence, and what is too much is said to be.
func TestSimulationsAreBounded(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		people := f.AddContacts(f.List.ID, "p", 12)
		f.drain()
		s := f.start(graph("rest", []sequence.Node{
			node("rest", sequence.WaitNode, object{"mode": "duration", "amount": 1, "unit": "minute"}),
			node("tag", sequence.TagNode, object{"action": "add", "tags": []string{"seen"}}),
			node("won", sequence.GoalNode, object{"definition": field("tags", "has_any", []string{"won"})}),
		}, [3]string{"rest", "", "tag"}, [3]string{"tag", "", "rest"}), sequence.Change{
			Trigger: []byte(`{"trigger_type": "tag_added", "trigger_config": {"tag": "in"}}`),
			Exits:   []byte(`{"definition": {"logic": "and", "conditions": [{"field": "tags", "operator": "has_any", "value": ["out"]}]}}`),
		})
		since := f.now
		for i, c := range people {
			tags := []string{"in"}
			if i == 0 {
				tags = append(tags, "won")
			} else if i == 1 {
				tags = append(tags, "out")
			}
			f.change(c.ID, contact.Change{Tags: &tags})
		}
		f.now = f.now.Add(time.Second)
		ends := func(m Simulation) map[string]int {
			found := map[string]int{}
			for _, e := range m.Ends {
				found[fmt.Sprintf("%s %s %s", e.Status, e.Reason, e.Node)] = e.Count
				if len(e.Samples) != min(e.Count, 10) {
					t.Errorf("%d samples of %d", len(e.Samples), e.Count)
				}
			}
			return found
		}
		m := f.simulate(s, since, 100)
		if diff := cmp.Diff(map[string]int{"exited goal_reached won": 1, "exited exit_condition rest": 1, "failed error rest": 10}, ends(m)); diff != "" || m.Truncated || m.Enrolled != 12 {
			t.Errorf("%+v\n%s", m, diff)
		}
		short := NewSimulator(db, func() time.Time { return f.now })
		short.moves = 50
		m, err := short.Simulate(t.Context(), s, since, 100)
		f.must(err)
		if found := ends(m); !m.Truncated || found["unfinished  tag"]+found["unfinished  rest"] != 10 {
			t.Errorf("after fifty steps: %+v", m)
		}
		if m := f.simulate(s, since, 5); !m.Truncated || m.Occurrences != 5 || m.Enrolled != 5 {
			t.Errorf("of five occurrences: %+v", m)
		}
		if m := f.simulate(s, since.Add(time.Hour), 5); m.Truncated || m.Occurrences != 0 || len(m.Ends) != 0 {
			t.Errorf("of none: %+v", m)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := short.Simulate(ended, s, since, 100); !errors.Is(err, context.Canceled) {
			t.Errorf("of a request that has ended: %v", err)
		}
		if _, err := short.Simulate(t.Context(), s, since, 100); err != nil {
			t.Errorf("after it: %v", err)
		}
	})
}
