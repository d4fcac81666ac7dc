package sequence

import (
	"context"
	"encoding/json"
	"time"

	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/audience/trigger"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/route"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Program is a sequence whose steps and rules are parsed.
type Program struct {
	Sequence
	env   rule.Env
	steps map[string]Step
	goals []string          // nodes, in the order of the graph
	marks map[string]string // of the nodes that were entered, in the log
}

// Compile parses the steps of a sequence. Steps were checked when they were stored; one that cannot
// be parsed any more is missing.
func Compile(s Sequence, env rule.Env) *Program {
	p := &Program{Sequence: s, env: env, steps: map[string]Step{}, marks: map[string]string{}}
	for _, n := range s.Graph.Nodes {
		st, err := parseStep(n)
		if err != nil {
			continue
		}
		p.steps[n.ID] = st
		if n.Type == GoalNode {
			p.goals = append(p.goals, n.ID)
		}
	}
	return p
}

func (p *Program) mark(node string) string {
	mark, known := p.marks[node]
	if !known {
		mark = p.Graph.mark(node)
		p.marks[node] = mark
	}
	return mark
}

// Step returns the step of a node; nil if there is none.
func (p *Program) Step(node string) Step { return p.steps[node] }

// Next returns the node to which the way out with a label leads; "" if the path ends.
func (p *Program) Next(from, label string) string {
	to, _ := p.Graph.next(from, label)
	return to
}

// Goals returns the goals.
func (p *Program) Goals() []string { return p.goals }

// Holding returns the subjects for which a rule holds, by index, as trigger.Holding does.
func (p *Program) Holding(ctx context.Context, db *sqldb.DB, definition json.RawMessage, list []trigger.Subject) ([]bool, error) {
	return trigger.Holding(ctx, db, p.env, definition, list)
}

// Way returns the label of the way that a contact takes at a split.
func (p *Program) Way(node string, s SplitStep, c id.Contact) string {
	weights := make([]float64, len(s.Branches))
	for i, w := range s.Branches {
		weights[i] = w.Weight
	}
	return s.Branches[route.Weighted(p.ID.String()+":"+node+":"+c.String(), weights)].Label
}

// Ends returns when a wait of a contact ends. For a wait until something happens that is its
// timeout.
func (p *Program) Ends(w WaitStep, c contact.Contact, account *time.Location, now time.Time) time.Time {
	return w.until(now, trigger.ZoneOf(c, account), account, trigger.DateOf(p.env.Schema, w.Field, c))
}

// Opens returns the first time from now on at which a mail may be sent to a contact.
func (w Window) Opens(c contact.Contact, account *time.Location, now time.Time) time.Time {
	return w.opening(now, trigger.ZoneOf(c, account), account)
}

// SegmentRule is the rule of being in a list or segment, or not.
func (p *Program) SegmentRule(key string, in bool) json.RawMessage {
	operator, kind := rule.NotIn, "segment"
	if in {
		operator = rule.In
	}
	if r, ok := p.env.Schema.Segments(key); ok && r.Static {
		kind = "list"
	}
	return oneLeaf(map[string]any{"type": kind, "operator": operator, "segment_keys": []string{key}})
}

// oneLeaf returns a rule of one leaf.
func oneLeaf(leaf map[string]any) json.RawMessage {
	b, _ := json.Marshal(map[string]any{"logic": rule.And, "conditions": []any{leaf}}) // strings and ids always encode
	return b
}
