package sequence

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/audience/trigger"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Finder finds the sequences whose steps, trigger or exit conditions refer to a record. Of email
// types, identities and MTA configs it returns active and paused sequences only, which would lack
// them; of other records drafts too.
func Finder() usage.Finder { return usage.Many(holders) }

func holders(ctx context.Context, db *sqldb.DB, tenant id.Tenant, kind usage.Kind, subjects []usage.Subject) (map[string]usage.Holders, error) {
	switch kind {
	case usage.Segment, usage.Field, usage.Library, usage.EmailType, usage.Identity, usage.Lane, usage.Sequence, usage.Stage:
	default:
		return nil, nil
	}
	rows, err := db.Query(ctx, `SELECT id FROM sequence WHERE tenant_id = $1 AND status <> 'archived' ORDER BY `+db.SortText("name")+`, id`, tenant)
	ids, err := sqldb.Collect(rows, err, func(scan func(...any) error) (id.Sequence, error) {
		var q id.Sequence
		err := scan(&q)
		return q, err
	})
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	all, err := ByID(ctx, db, tenant, ids)
	if err != nil {
		return nil, err
	}
	schema, err := segment.Schema(ctx, db, tenant)
	if err != nil {
		return nil, fmt.Errorf("find sequences that use a record: %w", err)
	}
	found := make(map[string]usage.Holders, len(subjects))
	for _, s := range subjects {
		found[s.ID] = usage.Holders{"sequences": []usage.Holder{}}
	}
	for _, q := range ids {
		p := Compile(all[q], rule.Env{Schema: schema})
		if p.Status == Draft && slices.Contains([]usage.Kind{usage.EmailType, usage.Identity, usage.Lane}, kind) {
			continue
		}
		for _, s := range subjects {
			if where, version, ok := p.uses(s); ok {
				found[s.ID]["sequences"] = append(found[s.ID]["sequences"], usage.Holder{ID: q.String(), Name: p.Name, Status: string(p.Status), Where: where, Version: version})
			}
		}
	}
	return found, nil
}

// uses returns where the sequence refers to a record: a node, "entry_trigger" or "exit_conditions".
func (p *Program) uses(s usage.Subject) (where string, version int, ok bool) {
	if p.Trigger.Uses(s, p.env.Schema) {
		return "entry_trigger", 0, true
	}
	if x := p.Exits; x != nil {
		if s.Kind == usage.Segment && x.SegmentLeft == s.Key || p.refers(x.Definition, s) {
			return "exit_conditions", 0, true
		}
	}
	for _, n := range p.Graph.Nodes {
		if version, ok := p.stepUses(p.steps[n.ID], s); ok {
			return n.ID, version, true
		}
	}
	return "", 0, false
}

func (p *Program) stepUses(st Step, s usage.Subject) (version int, ok bool) {
	switch st := st.(type) {
	case SendStep:
		switch s.Kind {
		case usage.Library:
			return optional.Value(st.Version), st.Message.String() == s.ID
		case usage.EmailType:
			return 0, st.EmailType == s.Key
		case usage.Lane:
			return 0, st.Lane != nil && *st.Lane == s.Key
		case usage.Identity:
			return 0, slices.Contains(st.Identities, s.Key)
		}
	case WaitStep:
		return 0, s.Kind == usage.Segment && st.Segment == s.Key || s.Kind == usage.Field && st.Field == customPrefix+s.Key
	case ConditionStep:
		return 0, p.refers(st.Definition, s)
	case GoalStep:
		return 0, p.refers(st.Definition, s)
	case BranchStep:
		return 0, slices.ContainsFunc(st.Branches, func(w BranchWay) bool { return p.refers(w.Definition, s) })
	}
	return 0, ActionUses(st, s)
}

// refers reports whether a rule refers to a record.
func (p *Program) refers(definition json.RawMessage, s usage.Subject) bool {
	return trigger.RuleUses(definition, s, p.env.Schema)
}
