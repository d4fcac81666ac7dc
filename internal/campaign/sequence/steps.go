package sequence

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Due returns enrollments of a tenant that are due, locked until the transaction ends. Those that
// another process has locked are skipped.
func Due(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, limit int, now time.Time) ([]Enrollment, error) {
	// The lock is the claim: it ends with tx, in which the steps and the next due times commit. So a killed
	// process leaves enrollments as they were, and two processes never carry out the same step.
	rows, err := tx.Query(ctx, `
		SELECT `+enrollmentColumns+` FROM enrollment
		WHERE tenant_id = $1 AND due_at <= $2 ORDER BY due_at LIMIT $3`+tx.SkipLocked(), tenant, sqldb.Micros(now), limit)
	list, err := sqldb.Collect(rows, err, scanEnrollment(tenant))
	if err != nil {
		return nil, fmt.Errorf("find due enrollments: %w", err)
	}
	return list, nil
}

// DueTenants returns the tenants with due enrollments.
func DueTenants(ctx context.Context, db *sqldb.DB, now time.Time) ([]id.Tenant, error) {
	list, err := sqldb.TenantsDue(ctx, db, "enrollment", now)
	if err != nil {
		return nil, fmt.Errorf("find tenants with due enrollments: %w", err)
	}
	return list, nil
}

// ByID returns the sequences with their graphs.
func ByID(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Sequence) (map[id.Sequence]Sequence, error) {
	rows, err := db.Query(ctx, `SELECT `+head+`, graph FROM sequence WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	all := map[id.Sequence]Sequence{}
	err = sqldb.Each(rows, err, func(row func(...any) error) error {
		var g Graph
		s, err := scanSequence(tenant, sqldb.ToJSON(&g))(row)
		s.Graph = g
		all[s.ID] = s
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load sequences: %w", err)
	}
	return all, nil
}

// Steps are enrollments after steps, and how often nodes were entered and left.
type Steps struct {
	Enrollments []Enrollment
	counts      counts
}

// Pass counts that a node was left, and another entered unless it is "".
func (s *Steps) Pass(seq id.Sequence, from, to string) {
	s.counts.add(seq, from, NodeCount{Completed: 1})
	if to != "" {
		s.counts.add(seq, to, NodeCount{Entered: 1})
	}
}

// SaveSteps stores enrollments after steps, in the transaction that has them locked. It should be
// the last statement of the transaction, since it appends to the journal.
func SaveSteps(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, steps Steps, now time.Time) error {
	t := tx.Table("id UUID", "status TEXT", "exit_reason TEXT", "node_id TEXT", "arrived BOOLEAN", "met BOOLEAN", "converted BOOLEAN", "wait_event TEXT",
		"visits JSONB", "due_at BIGINT", "timer_at BIGINT", "node_entered_at BIGINT", "exited_at BIGINT", "left_at BIGINT", "epoch INTEGER", "steps TEXT")
	var ended []Enrollment
	for _, e := range steps.Enrollments {
		visits, err := json.Marshal(e.Visits)
		if err != nil {
			return err
		}
		if e.Visits == nil {
			visits = []byte("{}")
		}
		t.Add(e.ID, e.Status, sqldb.Null(e.Reason), sqldb.Null(e.Node), e.Arrived, e.Met, e.Converted, sqldb.Null(e.WaitEvent), string(visits),
			sqldb.NullMicros(e.DueAt), sqldb.NullMicros(e.TimerAt), sqldb.NullMicros(e.NodeEnteredAt), sqldb.NullMicros(e.ExitedAt), micros(e.Left), e.Epoch, sqldb.Null(e.logText()))
		if e.ExitedAt != nil {
			ended = append(ended, e)
			steps.counts.ended(e)
		}
	}
	if t.Len() > 0 {
		_, err := tx.Exec(ctx, `
			UPDATE enrollment SET status = v.status, exit_reason = v.exit_reason, node_id = v.node_id, arrived = v.arrived, met = v.met, converted = v.converted,
				wait_event = v.wait_event, visits = v.visits, due_at = v.due_at, timer_at = v.timer_at,
				node_entered_at = v.node_entered_at, exited_at = v.exited_at, left_at = v.left_at, epoch = v.epoch,
				steps = CASE WHEN v.steps IS NULL THEN enrollment.steps ELSE `+newest("COALESCE(enrollment.steps, '')")+` || v.steps END
			FROM `+t.As("v", 2)+` WHERE enrollment.tenant_id = $1 AND enrollment.id = v.id`, t.Args(tenant)...)
		if err != nil {
			return fmt.Errorf("store steps: %w", err)
		}
	}
	if err := steps.counts.write(ctx, tx, tenant); err != nil {
		return err
	}
	return journal.Append(ctx, tx, endings(ended, now)...)
}

// newest returns the expression for what is kept of a log before a write appends to it.
func newest(log string) string {
	return fmt.Sprintf(`CASE WHEN LENGTH(%[1]s) > %[2]d THEN SUBSTR(%[1]s, LENGTH(%[1]s) - %[2]d + 1) ELSE %[1]s END`, log, maxLog)
}

// logText returns what is to be appended to the log.
func (e Enrollment) logText() string {
	var b strings.Builder
	for _, r := range e.log {
		b.WriteString(r.text())
	}
	return b.String()
}

func micros(d *time.Duration) any {
	if d == nil {
		return nil
	}
	return d.Microseconds()
}
