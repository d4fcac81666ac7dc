package automation

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/audience/trigger"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// columns are those of an automation.
const columns = `id, name, status, entry_trigger, definition, actions, active_after, created_at, updated_at, revision`

// scanAutomation reads columns, and the columns for extra.
func scanAutomation(tenant id.Tenant, extra ...any) func(row func(...any) error) (Automation, error) {
	return func(row func(...any) error) (Automation, error) {
		a := Automation{Tenant: tenant}
		var definition sql.NullString
		err := row(append([]any{
			&a.ID, &a.Name, sqldb.ToText(&a.Status), sqldb.ToJSON(&a.Trigger), &definition, sqldb.ToJSON(&a.Actions), &a.activeAfter,
			sqldb.ToTime(&a.CreatedAt), sqldb.ToTime(&a.UpdatedAt), &a.Revision,
		}, extra...)...)
		if definition.Valid {
			a.Definition = json.RawMessage(definition.String)
		}
		return a, err
	}
}

// Load returns an automation, or ErrNotFound.
func Load(ctx context.Context, db *sqldb.DB, tenant id.Tenant, automation id.Automation) (Automation, error) {
	return load(ctx, db, tenant, automation, "")
}

func load(ctx context.Context, db *sqldb.DB, tenant id.Tenant, automation id.Automation, lock string) (Automation, error) {
	a, err := scanAutomation(tenant)(db.QueryRow(ctx, `SELECT `+columns+` FROM automation WHERE tenant_id = $1 AND id = $2`+lock, tenant, automation).Scan)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Automation{}, ErrNotFound
	}
	if err != nil {
		return Automation{}, fmt.Errorf("load an automation: %w", err)
	}
	list := []Automation{a}
	err = addSums(ctx, db, tenant, list)
	return list[0], err
}

// addSums sets the sums of automations.
func addSums(ctx context.Context, db *sqldb.DB, tenant id.Tenant, list []Automation) error {
	if len(list) == 0 {
		return nil
	}
	ids, at := make([]id.Automation, len(list)), map[id.Automation]int{}
	for i, a := range list {
		ids[i], at[a.ID] = a.ID, i
	}
	rows, err := db.Query(ctx, `SELECT automation_id, runs, last_run_at FROM automation_count WHERE tenant_id = $1 AND automation_id`+db.In(2),
		tenant, sqldb.List(db, ids))
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var of id.Automation
		var runs int
		var last *time.Time
		err := scan(&of, &runs, sqldb.ToNullTime(&last))
		list[at[of]].Runs, list[at[of]].LastRunAt = runs, last
		return err
	})
	if err != nil {
		return fmt.Errorf("read the sums of automations: %w", err)
	}
	return nil
}

// Query selects a page of a tenant's automations.
type Query struct {
	Statuses []Status      // empty: all
	Search   string        // part of the name, ignoring case
	Before   id.Automation // zero: the first page
	Limit    int
}

// Names returns the names of automations, by id; missing ones are left out.
func Names(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Automation) (map[id.Automation]string, error) {
	rows, err := db.Query(ctx, `SELECT id, name FROM automation WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	names, err := sqldb.Names[id.Automation](rows, err)
	if err != nil {
		return nil, fmt.Errorf("read the names of automations: %w", err)
	}
	return names, nil
}

// List returns a page of automations, the newest first, and whether there are more.
func List(ctx context.Context, db *sqldb.DB, tenant id.Tenant, q Query) ([]Automation, bool, error) {
	where, args := ``, []any{tenant, q.Limit + 1}
	if len(q.Statuses) > 0 {
		args = append(args, sqldb.List(db, q.Statuses))
		where += ` AND status || ''` + db.In(len(args))
	}
	if q.Search != "" {
		args = append(args, "%"+sqldb.EscapeLike(q.Search)+"%")
		where += ` AND ` + db.Lower("name") + ` LIKE ` + db.Lower(db.Param(len(args), "TEXT")) + ` ESCAPE '\'`
	}
	if !q.Before.IsZero() {
		args = append(args, q.Before)
		where += fmt.Sprintf(` AND id < $%d`, len(args))
	}
	rows, err := db.Query(ctx, `SELECT `+columns+` FROM automation WHERE tenant_id = $1`+where+` ORDER BY id DESC LIMIT $2`, args...)
	list, err := sqldb.Collect(rows, err, scanAutomation(tenant))
	if err != nil {
		return nil, false, fmt.Errorf("list automations: %w", err)
	}
	more := len(list) > q.Limit
	list = list[:min(len(list), q.Limit)]
	return list, more, addSums(ctx, db, tenant, list)
}

// Create creates an automation, which is active unless the change says that it is paused. The rules are
// for the URLs of webhooks, whose headers are sealed with the box.
func Create(ctx context.Context, db *sqldb.DB, box *secret.Box, tenant id.Tenant, ch Change, rules webhook.Rules, now time.Time) (Automation, error) {
	if err := ch.CheckNew(rules); err != nil {
		return Automation{}, err
	}
	now = now.UTC().Truncate(time.Microsecond)
	a := Automation{Tenant: tenant, ID: id.New[id.Automation](), Status: Active, CreatedAt: now, UpdatedAt: now, Revision: 1}
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		var n int
		if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM automation WHERE tenant_id = $1`, tenant).Scan(&n); err != nil {
			return err
		}
		if n >= maxAutomations {
			return ErrTooMany
		}
		if err := a.apply(ctx, tx, box, ch); err != nil {
			return err
		}
		values, err := a.values()
		if err != nil {
			return err
		}
		if a.activeAfter, err = journal.End(ctx, tx, tenant); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			INSERT INTO automation (tenant_id, id, created_at, active_after, updated_at, name, status, trigger_key, entry_trigger, definition, actions, revised_by)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
			append(append([]any{tenant, a.ID, sqldb.Micros(now), a.activeAfter}, values...), revision.By(ctx))...)
		if err != nil {
			return err
		}
		return a.watch(ctx, tx, Automation{}, now)
	})
	if err != nil {
		return Automation{}, fmt.Errorf("create an automation: %w", err)
	}
	return a, nil
}

// values returns the columns that a write sets, from updated_at on.
func (a Automation) values() ([]any, error) {
	t, err := json.Marshal(a.Trigger)
	actions, err2 := json.Marshal(a.Actions)
	return []any{
		sqldb.Micros(a.UpdatedAt), a.Name, a.Status, a.Trigger.Lookup(), string(t), sqldb.Null(string(a.Definition)), string(actions),
	}, errors.Join(err, err2)
}

// apply applies a change whose Check succeeded, and checks the records that the automation then refers
// to, unless it only changes the name or ends the activity: an automation can always be paused.
func (a *Automation) apply(ctx context.Context, tx *sqldb.DB, box *secret.Box, ch Change) error {
	was := a.Status
	if ch.Name != nil {
		a.Name = *ch.Name
	}
	if ch.Status != nil {
		a.Status = *ch.Status
	}
	var p fault.Problems
	if ch.TriggerType != nil || ch.TriggerConfig != nil {
		t := a.changedTrigger(ch, &p)
		if p.Any() {
			return p.Err()
		}
		a.Trigger = *t
	}
	if ch.Definition != nil {
		if a.Definition = ch.Definition; string(a.Definition) == "null" {
			a.Definition = nil
		}
	}
	if ch.Actions != nil {
		if err := a.setActions(box, *ch.Actions); err != nil {
			return err
		}
	}
	edited := ch.TriggerType != nil || ch.TriggerConfig != nil || ch.Definition != nil || ch.Actions != nil
	if a.Status == Archived || !edited && (a.Status == was || was == Active) {
		return nil
	}
	return a.refer(ctx, tx)
}

// setActions replaces the actions by those of a request, with the headers of webhooks sealed.
func (a *Automation) setActions(box *secret.Box, list []Action) error {
	before := a.Steps()
	changed := Automation{Actions: slices.Clone(list)}
	var p fault.Problems
	for i, s := range changed.Steps() {
		w, ok := s.(sequence.WebhookStep)
		if !ok {
			continue
		}
		var own sequence.Step
		if i < len(before) {
			own = before[i]
		}
		sealed, err := w.Seal(box, a.Tenant, own, before)
		if err != nil {
			sequence.AddConfigProblems(&p, actionPath(i), err)
			continue
		}
		if changed.Actions[i].Config, err = sequence.EncodeAction(sealed); err != nil {
			return err
		}
	}
	a.Actions = changed.Actions
	return p.Err()
}

// changedTrigger returns the trigger after a change of its type or its configuration.
func (a *Automation) changedTrigger(ch Change, p *fault.Problems) *trigger.Trigger {
	typ := a.Trigger.Type
	if ch.TriggerType != nil {
		typ = *ch.TriggerType
	}
	if ch.TriggerConfig == nil && typ == a.Trigger.Type {
		return &a.Trigger
	}
	return trigger.ParseConfig(typ, ch.TriggerConfig, "", p)
}

// refer checks the records that the automation refers to, and makes the configurations of actions
// canonical.
func (a *Automation) refer(ctx context.Context, tx *sqldb.DB) error {
	c, err := sequence.NewActionChecker(ctx, tx, a.Tenant)
	if err != nil {
		return err
	}
	var p fault.Problems
	a.Trigger.Refer(c.Schema(), "", &p)
	if a.Definition != nil {
		if _, err := rule.ParseStep(a.Definition, c.Schema()); err != nil {
			message := err.Error()
			if f, ok := fault.As(err); ok {
				message = f.Message
			}
			p.Add("definition", message)
		}
	}
	actions := make([]Action, len(a.Actions))
	for i, s := range a.Steps() {
		if s == nil { // stored by a version that accepted it
			p.Add(actionPath(i)+".config", "is not valid any more")
			continue
		}
		if err := c.Refer(ctx, s, actionPath(i), &p); err != nil {
			return err
		}
		config, err := sequence.EncodeAction(s)
		if err != nil {
			return err
		}
		actions[i] = Action{a.Actions[i].Type, config}
	}
	a.Actions = actions
	return p.Err()
}

// Update changes an automation. A new trigger, and that of an automation that becomes active, applies
// to what happens from then on. An archived automation can be changed only if it becomes active or
// paused.
func Update(ctx context.Context, db *sqldb.DB, box *secret.Box, tenant id.Tenant, automation id.Automation, ch Change, rules webhook.Rules, now time.Time) (Automation, error) {
	if err := ch.Check(rules); err != nil {
		return Automation{}, err
	}
	now = now.UTC().Truncate(time.Microsecond)
	var a Automation
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		var err error
		if a, err = load(ctx, tx, tenant, automation, tx.ForUpdate()); err != nil {
			return err
		}
		if err := Revisions.Check(ctx, tx, tenant, automation); err != nil {
			return err
		}
		if a.Status == Archived && (ch.Status == nil || *ch.Status == Archived) {
			return ErrTransition
		}
		old := a
		if err := a.apply(ctx, tx, box, ch); err != nil {
			return err
		}
		if a.Status == Active && (old.Status != Active || !reflect.DeepEqual(old.Trigger, a.Trigger)) {
			if a.activeAfter, err = journal.End(ctx, tx, tenant); err != nil {
				return err
			}
		}
		a.UpdatedAt = now
		a.Revision++
		values, err := a.values()
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			UPDATE automation SET active_after = $3, updated_at = $4, name = $5, status = $6, trigger_key = $7, entry_trigger = $8, definition = $9, actions = $10,
				revision = revision + 1, revised_by = $11
			WHERE tenant_id = $1 AND id = $2`, append(append([]any{tenant, automation, a.activeAfter}, values...), revision.By(ctx))...)
		if err != nil {
			return err
		}
		return a.watch(ctx, tx, old, now)
	})
	if err != nil {
		return Automation{}, fmt.Errorf("change an automation: %w", err)
	}
	return a, nil
}

// watches reports whether package trigger watches what the automation reacts to. A trigger by date is
// watched during a pause too, without effect, so that what was due then is not due after it.
func (a Automation) watches() bool {
	return a.Status == Active || a.Status == Paused && a.Trigger.Type == trigger.Date
}

// watch has package trigger watch what the automation reacts to, if that changed since old, which is
// zero for a new automation. Existing members of a segment get runs when the trigger becomes active, not
// when a pause ends.
func (a Automation) watch(ctx context.Context, tx *sqldb.DB, old Automation, now time.Time) error {
	if !a.watches() && !old.watches() {
		return nil
	}
	var w trigger.Watched
	if a.watches() {
		w.Trigger = &a.Trigger
	}
	w.Existing = old.Status != Paused && (old.Status != Active || !reflect.DeepEqual(old.Trigger, a.Trigger))
	return trigger.Watch(ctx, tx, a.Tenant, trigger.AutomationHolder(a.ID), w, now)
}

// Delete deletes an automation. The engine deletes its runs afterwards.
func Delete(ctx context.Context, db *sqldb.DB, tenant id.Tenant, automation id.Automation, now time.Time) error {
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		a, err := load(ctx, tx, tenant, automation, tx.ForUpdate())
		if err != nil {
			return err
		}
		if err := Revisions.Check(ctx, tx, tenant, automation); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM automation WHERE tenant_id = $1 AND id = $2`, tenant, automation); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO automation_deleted (tenant_id, automation_id, deleted_at, due_at) VALUES ($1, $2, $3, $3)`,
			tenant, automation, sqldb.Micros(now))
		if err != nil {
			return err
		}
		old := a
		a.Status = Archived
		tx.Notify(Wake)
		return a.watch(ctx, tx, old, now)
	})
	if err != nil {
		return fmt.Errorf("delete an automation: %w", err)
	}
	return nil
}

// ByID returns automations, without their sums. Those that were deleted are not in the result.
func ByID(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Automation) (map[id.Automation]Automation, error) {
	rows, err := db.Query(ctx, `SELECT `+columns+` FROM automation WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	all := map[id.Automation]Automation{}
	err = sqldb.Each(rows, err, func(row func(...any) error) error {
		a, err := scanAutomation(tenant)(row)
		all[a.ID] = a
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load automations: %w", err)
	}
	return all, nil
}
