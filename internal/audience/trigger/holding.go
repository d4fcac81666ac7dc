package trigger

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Subject is a contact for which a rule is evaluated.
type Subject struct {
	Contact id.Contact
	Trigger json.RawMessage // the Data of the Match; nil: none
}

// Holding returns the subjects for which a rule holds, by index. A rule that cannot be decoded any
// more holds for none. The contacts are read with one statement for each group of subjects whose
// trigger events are equal to the rule.
func Holding(ctx context.Context, db *sqldb.DB, env rule.Env, definition json.RawMessage, list []Subject) ([]bool, error) {
	holds := make([]bool, len(list))
	tree, err := rule.DecodeStep(definition, env.Schema)
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
					return nil, fmt.Errorf("the event of a trigger: %w", err)
				}
			}
			bound, key = tree.WithTrigger(env, e.Properties)
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
		cond, err := v.tree.Condition(db, env)
		if err != nil {
			return nil, err
		}
		found, err := contact.Among(ctx, db, env.Tenant, ids, cond)
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
