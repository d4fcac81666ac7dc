package sequence

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/field"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/route"
	"github.com/packetboat/packetboat/internal/rule"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Program is a sequence whose steps and rules are parsed.
type Program struct {
	Sequence
	env   rule.Env
	steps map[string]Step
	goals []string // nodes, in the order of the graph
}

// Compile parses the steps of a sequence. Steps were checked when they were stored; one that cannot
// be parsed any more is missing.
func Compile(s Sequence, env rule.Env) *Program {
	p := &Program{Sequence: s, env: env, steps: map[string]Step{}}
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

// Step returns the step of a node; nil if there is none.
func (p *Program) Step(node string) Step { return p.steps[node] }

// Next returns the node to which the way out with a label leads; "" if the path ends.
func (p *Program) Next(from, label string) string {
	to, _ := p.Graph.next(from, label)
	return to
}

// Goals returns the goals.
func (p *Program) Goals() []string { return p.goals }

// Subject is a contact for which a rule is evaluated.
type Subject struct {
	Contact id.Contact
	Trigger json.RawMessage // the event that enrolled it; nil: none
}

// Holding returns the subjects for which a rule holds, by index. A rule that cannot be decoded any
// more holds for none. The contacts are read with one statement for each group of subjects whose
// trigger events are equal to the rule.
func (p *Program) Holding(ctx context.Context, db *sqldb.DB, definition json.RawMessage, list []Subject) ([]bool, error) {
	holds := make([]bool, len(list))
	tree, err := rule.DecodeStep(definition, p.env.Schema)
	if err != nil {
		return holds, nil
	}
	type variant struct {
		tree rule.Tree
		at   map[id.Contact][]int
	}
	variants := map[string]*variant{}
	triggers := tree.Triggers()
	for i, s := range list {
		bound, key := tree, ""
		if triggers {
			var e struct {
				Properties map[string]any `json:"properties"`
			}
			if len(s.Trigger) > 0 {
				if err := json.Unmarshal(s.Trigger, &e); err != nil {
					return nil, fmt.Errorf("the trigger event of an enrollment: %w", err)
				}
			}
			bound, key = tree.WithTrigger(p.env, e.Properties)
		}
		v := variants[key]
		if v == nil {
			v = &variant{bound, map[id.Contact][]int{}}
			variants[key] = v
		}
		v.at[s.Contact] = append(v.at[s.Contact], i)
	}
	for _, v := range variants {
		ids := make([]id.Contact, 0, len(v.at))
		for c := range v.at {
			ids = append(ids, c)
		}
		found, err := Matching(ctx, db, p.Tenant, v.tree, p.env, ids)
		if err != nil {
			return nil, err
		}
		for _, c := range found {
			for _, i := range v.at[c] {
				holds[i] = true
			}
		}
	}
	return holds, nil
}

// Matching returns those of some contacts for which a rule holds.
func Matching(ctx context.Context, db *sqldb.DB, tenant id.Tenant, tree rule.Tree, env rule.Env, ids []id.Contact) ([]id.Contact, error) {
	cond, err := tree.Condition(db, env)
	if err != nil {
		return nil, err
	}
	return contact.Among(ctx, db, tenant, ids, cond)
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
	return w.until(now, zoneOf(c, account), account, p.date(w.Field, c))
}

// Opens returns the first time from now on at which a mail may be sent to a contact.
func (w Window) Opens(c contact.Contact, account *time.Location, now time.Time) time.Time {
	return w.opening(now, zoneOf(c, account), account)
}

// zoneOf returns the contact's time zone, or the account's if it has none.
func zoneOf(c contact.Contact, account *time.Location) *time.Location {
	if c.Timezone != nil {
		if zone, err := time.LoadLocation(*c.Timezone); err == nil {
			return zone
		}
	}
	return account
}

// date returns the date in a field of a contact; nil if there is none.
func (p *Program) date(name string, c contact.Contact) *FieldDate {
	if name == "" {
		return nil
	}
	key, custom := customKey(name)
	if !custom {
		v, _ := c.Value(name)
		switch v := v.(type) {
		case time.Time:
			return &FieldDate{At: v}
		case *time.Time:
			if v != nil {
				return &FieldDate{At: *v}
			}
		}
		return nil
	}
	text, ok := c.CustomFields[key].(string)
	if !ok {
		return nil
	}
	if p.env.Schema.Fields[key].Type == field.Date {
		if day, ok := sqldb.ParseDay(text); ok {
			at, err := time.Parse(time.DateOnly, day)
			if err == nil {
				return &FieldDate{At: at, Day: true}
			}
		}
		return nil
	}
	if micros, ok := sqldb.ParseMoment(text); ok {
		return &FieldDate{At: sqldb.Time(micros)}
	}
	return nil
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

// EngagementRule is the rule of a wait until engagement: the contact opened or clicked a mail of a
// node.
func EngagementRule(seq id.Sequence, w WaitStep) json.RawMessage {
	return oneLeaf(map[string]any{"type": "sequence_email", "operator": rule.Did, "sequence_id": seq, "node_id": w.Node, "event": w.Engagement})
}

// oneLeaf returns a rule of one leaf.
func oneLeaf(leaf map[string]any) json.RawMessage {
	b, _ := json.Marshal(map[string]any{"logic": rule.And, "conditions": []any{leaf}}) // strings and ids always encode
	return b
}
