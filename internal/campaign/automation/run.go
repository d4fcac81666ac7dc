package automation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Wake is notified when runs become due, and when an automation was deleted.
const Wake sqldb.Signal = "automation"

// RunStatus is the state of a run.
type RunStatus string

// The states of a run.
const (
	Pending   RunStatus = "pending"
	Completed RunStatus = "completed" // every action was carried out, or had nothing to do
	Failed    RunStatus = "failed"    // at least one action could not be carried out
	Skipped   RunStatus = "skipped"   // no action was tried
)

// ParseRunStatuses parses states of runs, or returns ErrRunStatus.
func ParseRunStatuses(names []string) ([]RunStatus, error) {
	list := make([]RunStatus, len(names))
	for i, n := range names {
		if list[i] = RunStatus(n); !slices.Contains([]RunStatus{Pending, Completed, Failed, Skipped}, list[i]) {
			return nil, ErrRunStatus.Sayf("there is no status %q; status must be pending, completed, failed or skipped", n)
		}
	}
	return list, nil
}

// Reason is why a run was skipped, or failed as a whole.
type Reason string

// The reasons.
const (
	ReasonTooMany  Reason = "too_many_runs"         // of the contact, within an hour
	ReasonContact  Reason = "contact_deleted"       // before the run was carried out
	ReasonInactive Reason = "automation_not_active" // it was paused or archived before the run was carried out
	ReasonError    Reason = "error"                 // the run could not be stored, in several attempts
	ReasonAction   Reason = "action_failed"         // see the results of the actions
)

// ActionStatus is the result of an action.
type ActionStatus string

// The results of actions.
const (
	ActionDone    ActionStatus = "completed"
	ActionSkipped ActionStatus = "skipped" // there was nothing to do
	ActionFailed  ActionStatus = "failed"  // it could not be carried out, and changed nothing
)

// Result is the result of an action in a run.
type Result struct {
	Type   sequence.NodeType `json:"type"`
	Status ActionStatus      `json:"status"`
	Reason string            `json:"reason,omitempty"` // a sentence; empty if it was completed
}

// Run is one trigger event of one contact.
type Run struct {
	ID         id.AutomationRun
	Automation id.Automation
	Contact    id.Contact
	Status     RunStatus
	Reason     Reason          // empty: none
	Trigger    json.RawMessage // an encoded journal.Trigger; nil after the contact was erased
	Results    []Result        // of the actions, in order; none unless it was completed or failed
	CreatedAt  time.Time
	EndedAt    *time.Time // nil: it is pending
}

// Event returns what started the run; zero if that was erased.
func (r Run) Event() (journal.Trigger, error) { return journal.DecodeTrigger(r.Trigger) }

const runColumns = `id, automation_id, contact_id, status, reason, trigger_data, actions, created_at, ended_at`

func scanRun(row func(...any) error) (Run, error) {
	var r Run
	var data string
	err := row(&r.ID, &r.Automation, &r.Contact, sqldb.ToText(&r.Status), sqldb.ToText(&r.Reason), sqldb.ToText(&data), sqldb.ToNonEmptyJSON(&r.Results),
		sqldb.ToTime(&r.CreatedAt), sqldb.ToNullTime(&r.EndedAt))
	if data != "" {
		r.Trigger = json.RawMessage(data)
	}
	return r, err
}

// RunQuery selects a page of an automation's runs.
type RunQuery struct {
	Statuses []RunStatus      // empty: all
	Before   id.AutomationRun // zero: the first page
	Limit    int
}

// Runs returns a page of an automation's runs, the newest first, and whether there are more.
func Runs(ctx context.Context, db *sqldb.DB, tenant id.Tenant, automation id.Automation, q RunQuery) ([]Run, bool, error) {
	where, args := ``, []any{tenant, automation, q.Limit + 1}
	if len(q.Statuses) > 0 {
		args = append(args, sqldb.List(db, q.Statuses))
		where += ` AND status` + db.In(len(args))
	}
	if !q.Before.IsZero() {
		args = append(args, q.Before)
		where += fmt.Sprintf(` AND id < $%d`, len(args))
	}
	rows, err := db.Query(ctx, `SELECT `+runColumns+` FROM automation_run WHERE tenant_id = $1 AND automation_id = $2`+where+` ORDER BY id DESC LIMIT $3`, args...)
	list, err := sqldb.Collect(rows, err, scanRun)
	if err != nil {
		return nil, false, fmt.Errorf("list the runs of an automation: %w", err)
	}
	more := len(list) > q.Limit
	return list[:min(len(list), q.Limit)], more, nil
}

// DueTenants returns the tenants that have runs to carry out.
func DueTenants(ctx context.Context, db *sqldb.DB, now time.Time) ([]id.Tenant, error) {
	list, err := sqldb.TenantsDue(ctx, db, "automation_run", now)
	if err != nil {
		return nil, fmt.Errorf("find tenants with runs of automations: %w", err)
	}
	return list, nil
}

// Due returns runs of a tenant that are due, locked until the transaction ends, in the order in which
// their events occurred. Those that another process has locked are skipped.
func Due(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, limit int, now time.Time) ([]Run, error) {
	rows, err := tx.Query(ctx, `
		SELECT `+runColumns+` FROM automation_run WHERE tenant_id = $1 AND due_at <= $2 ORDER BY due_at, id LIMIT $3`+tx.SkipLocked(),
		tenant, sqldb.Micros(now), limit)
	list, err := sqldb.Collect(rows, err, scanRun)
	if err != nil {
		return nil, fmt.Errorf("find due runs of automations: %w", err)
	}
	return list, nil
}

// DueOne returns a run if it is due, locked until the transaction ends.
func DueOne(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, run id.AutomationRun, now time.Time) ([]Run, error) {
	rows, err := tx.Query(ctx, `SELECT `+runColumns+` FROM automation_run WHERE tenant_id = $1 AND id = $2 AND due_at <= $3`+tx.SkipLocked(),
		tenant, run, sqldb.Micros(now))
	list, err := sqldb.Collect(rows, err, scanRun)
	if err != nil {
		return nil, fmt.Errorf("find a due run: %w", err)
	}
	return list, nil
}

// Carried returns the run after its actions were carried out with these results.
func (r Run) Carried(results []Result, now time.Time) Run {
	r.Status, r.Results, r.EndedAt = Completed, results, new(now.UTC().Truncate(time.Microsecond))
	if slices.ContainsFunc(results, func(a Result) bool { return a.Status == ActionFailed }) {
		r.Status, r.Reason = Failed, ReasonAction
	}
	return r
}

// Skip returns the run as one that is not carried out. The trigger event of a contact that was deleted
// is not kept.
func (r Run) Skip(why Reason, now time.Time) Run {
	r.Status, r.Reason, r.EndedAt = Skipped, why, new(now.UTC().Truncate(time.Microsecond))
	if why == ReasonContact {
		r.Trigger = nil
	}
	return r
}

// Save stores runs that have ended, in the transaction that has them locked, and adds to the sums of
// their automations. It is one of the last statements, since it locks the sums.
func Save(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, list []Run) error {
	if len(list) == 0 {
		return nil
	}
	t := tx.Table("id UUID", "status TEXT", "reason TEXT", "trigger_data JSONB", "actions JSONB", "ended_at BIGINT", "due_at BIGINT")
	sums := map[id.Automation]sum{}
	for _, r := range list {
		results := []byte("[]")
		if len(r.Results) > 0 {
			var err error
			if results, err = json.Marshal(r.Results); err != nil {
				return err
			}
		}
		t.Add(r.ID, r.Status, sqldb.Null(r.Reason), sqldb.Null(string(r.Trigger)), string(results), sqldb.NullMicros(r.EndedAt), nil)
		if r.Status == Completed || r.Status == Failed {
			s := sums[r.Automation]
			s.runs, s.last = s.runs+1, max(s.last, sqldb.Micros(*r.EndedAt))
			sums[r.Automation] = s
		}
	}
	if _, err := t.Update(ctx, tx, "automation_run", tenant); err != nil {
		return fmt.Errorf("store runs of automations: %w", err)
	}
	return addRuns(ctx, tx, tenant, sums)
}

// maxTries is how often a run is tried.
const maxTries = 5

// Postpone notes that a run could not be stored. It is tried again after a pause that doubles each time,
// from one minute on, and fails after the last try.
func Postpone(ctx context.Context, db *sqldb.DB, tenant id.Tenant, run id.AutomationRun, now time.Time) error {
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		var tries int
		var of id.Automation
		err := tx.QueryRow(ctx, `UPDATE automation_run SET tries = tries + 1 WHERE tenant_id = $1 AND id = $2 AND due_at IS NOT NULL RETURNING tries, automation_id`,
			tenant, run).Scan(&tries, &of)
		if errors.Is(err, sqldb.ErrNoRows) { // another process carried it out
			return nil
		}
		if err != nil {
			return err
		}
		if tries < maxTries {
			_, err = tx.Exec(ctx, `UPDATE automation_run SET due_at = $3 WHERE tenant_id = $1 AND id = $2`,
				tenant, run, sqldb.Micros(now.Add(time.Minute<<(tries-1))))
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE automation_run SET status = 'failed', reason = $3, due_at = NULL, ended_at = $4 WHERE tenant_id = $1 AND id = $2`,
			tenant, run, ReasonError, sqldb.Micros(now))
		if err != nil {
			return err
		}
		return addRuns(ctx, tx, tenant, map[id.Automation]sum{of: {1, sqldb.Micros(now)}})
	})
	if err != nil {
		return fmt.Errorf("postpone a run: %w", err)
	}
	return nil
}

// maxReason is the length of the reason of a Result, in characters.
const maxReason = 300

// Sentence returns a reason of a Result, at most as long as it is stored.
func Sentence(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "")
	if runes := []rune(text); len(runes) > maxReason {
		return string(runes[:maxReason])
	}
	return text
}
