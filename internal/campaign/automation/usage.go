package automation

import (
	"context"
	"fmt"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/audience/trigger"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Finder finds the automations whose trigger, definition or actions refer to a record. Archived ones do
// not need it any more.
func Finder() usage.Finder { return usage.Func(holders) }

func holders(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s usage.Subject) (usage.Holders, error) {
	switch s.Kind {
	case usage.Segment, usage.Field, usage.EmailType, usage.Sequence, usage.Stage:
	default:
		return nil, nil
	}
	rows, err := db.Query(ctx, `SELECT `+columns+` FROM automation WHERE tenant_id = $1 AND status <> 'archived' ORDER BY `+db.SortText("name")+`, id`, tenant)
	list, err := sqldb.Collect(rows, err, scanAutomation(tenant))
	if err != nil {
		return nil, fmt.Errorf("find automations that use a record: %w", err)
	}
	if len(list) == 0 {
		return nil, nil
	}
	schema, err := segment.Schema(ctx, db, tenant)
	if err != nil {
		return nil, fmt.Errorf("find automations that use a record: %w", err)
	}
	found := []usage.Holder{}
	for _, a := range list {
		if where, ok := a.uses(s, schema); ok {
			found = append(found, usage.Holder{ID: a.ID.String(), Name: a.Name, Status: string(a.Status), Where: where})
		}
	}
	return usage.Holders{"automations": found}, nil
}

// uses returns where the automation refers to a record: "trigger_config", "definition" or an action,
// such as "actions[0]".
func (a Automation) uses(s usage.Subject, schema rule.Schema) (where string, ok bool) {
	if a.Trigger.Uses(s, schema) {
		return "trigger_config", true
	}
	if trigger.RuleUses(a.Definition, s, schema) {
		return "definition", true
	}
	for i, step := range a.Steps() {
		if step != nil && sequence.ActionUses(step, s) {
			return actionPath(i), true
		}
	}
	return "", false
}
