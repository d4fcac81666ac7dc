package sequence

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// EnrollmentStatus is the state of an enrollment.
type EnrollmentStatus string

// The states of an enrollment.
const (
	InProgress EnrollmentStatus = "active"
	Waiting    EnrollmentStatus = "paused" // its sequence is paused
	Completed  EnrollmentStatus = "completed"
	Exited     EnrollmentStatus = "exited"
	Failed     EnrollmentStatus = "failed"
)

// ErrEnrollmentStatus reports an unknown status.
var ErrEnrollmentStatus = fault.New(fault.Invalid, "INVALID_STATUS", "status must be active, paused, completed, exited or failed")

// ParseEnrollmentStatuses parses states of enrollments.
func ParseEnrollmentStatuses(names []string) ([]EnrollmentStatus, error) {
	var list []EnrollmentStatus
	for _, n := range names {
		s := EnrollmentStatus(n)
		if !slices.Contains([]EnrollmentStatus{InProgress, Waiting, Completed, Exited, Failed}, s) {
			return nil, ErrEnrollmentStatus.Sayf("there is no status %q; status must be active, paused, completed, exited or failed", n)
		}
		list = append(list, s)
	}
	return list, nil
}

// Reason is why an enrollment ended before the end of its path.
type Reason string

// The reasons.
const (
	ReasonCondition    Reason = "exit_condition"
	ReasonGoal         Reason = "goal_reached"
	ReasonExitNode     Reason = "exit_node"
	ReasonUnsubscribed Reason = "unsubscribed"
	ReasonSuppressed   Reason = "contact_suppressed"
	ReasonDeleted      Reason = "contact_deleted"
	ReasonDoNotContact Reason = "do_not_contact"
	ReasonArchived     Reason = "sequence_archived"
	ReasonNodeRemoved  Reason = "node_removed"
	ReasonManual       Reason = "manual"
	ReasonError        Reason = "error"
)

// Enrollment is a contact in a sequence.
type Enrollment struct {
	Tenant        id.Tenant
	ID            id.Enrollment
	Sequence      id.Sequence
	Contact       id.Contact
	Status        EnrollmentStatus
	Reason        Reason // empty unless it exited or failed
	Node          string // empty once it has ended
	Arrived       bool   // the node has begun, and waits
	Met           bool   // what the wait waits for has happened
	Converted     bool   // it has reached a goal
	WaitEvent     string // name of the event that the wait waits for
	Number        int    // how many enrollments of the contact in the sequence precede it
	Visits        map[string]int
	Trigger       json.RawMessage // the event that enrolled the contact; may be nil
	DueAt         *time.Time      // when it is looked at next; nil unless it is active
	TimerAt       *time.Time      // when its wait ends
	EnteredAt     time.Time
	NodeEnteredAt *time.Time
	ExitedAt      *time.Time
	Left          *time.Duration // of its wait, while the sequence is paused
	Epoch         int            // the last change of the sequence that it has followed

	log  []record // yet to be stored
	left bool     // it has left Node, and entered no other
}

// Outcome is the result of an enrollment in one word.
func (e Enrollment) Outcome() string {
	switch {
	case e.Status == InProgress || e.Status == Waiting:
		return "in_progress"
	case e.Status == Completed:
		return "completed"
	case e.Status == Failed:
		return "failed"
	case e.Reason == ReasonGoal:
		return "converted"
	case e.Reason == ReasonUnsubscribed:
		return "unsubscribed"
	}
	return "exited_early"
}

const enrollmentColumns = `id, sequence_id, contact_id, status, exit_reason, node_id, arrived, met, converted, wait_event, number, visits, trigger_data,
	due_at, timer_at, entered_at, node_entered_at, exited_at, left_at, epoch`

func scanEnrollment(tenant id.Tenant) func(row func(...any) error) (Enrollment, error) {
	return func(row func(...any) error) (Enrollment, error) {
		e := Enrollment{Tenant: tenant}
		var trigger string
		var left sql.NullInt64
		err := row(&e.ID, &e.Sequence, &e.Contact, sqldb.ToText(&e.Status), sqldb.ToText(&e.Reason), sqldb.ToText(&e.Node), &e.Arrived, &e.Met, &e.Converted,
			sqldb.ToText(&e.WaitEvent), &e.Number, sqldb.ToNonEmptyJSON(&e.Visits), sqldb.ToText(&trigger),
			sqldb.ToNullTime(&e.DueAt), sqldb.ToNullTime(&e.TimerAt), sqldb.ToTime(&e.EnteredAt), sqldb.ToNullTime(&e.NodeEnteredAt), sqldb.ToNullTime(&e.ExitedAt), &left, &e.Epoch)
		if left.Valid {
			e.Left = new(time.Duration(left.Int64) * time.Microsecond)
		}
		if trigger != "" {
			e.Trigger = json.RawMessage(trigger)
		}
		return e, err
	}
}

// OfContact returns all enrollments of a contact, the newest first.
func OfContact(ctx context.Context, db *sqldb.DB, tenant id.Tenant, contact id.Contact) ([]Enrollment, error) {
	rows, err := db.Query(ctx, `SELECT `+enrollmentColumns+` FROM enrollment WHERE tenant_id = $1 AND contact_id = $2 ORDER BY entered_at DESC, id DESC`, tenant, contact)
	list, err := sqldb.Collect(rows, err, scanEnrollment(tenant))
	if err == nil {
		err = settleRead(ctx, db, tenant, list)
	}
	if err != nil {
		return nil, fmt.Errorf("list the enrollments of a contact: %w", err)
	}
	return list, nil
}

// EnrollmentQuery selects a page of a sequence's enrollments.
type EnrollmentQuery struct {
	Statuses []EnrollmentStatus // empty: all
	Node     string             // empty: any
	Before   id.Enrollment      // zero: the first page
	Limit    int
}

// Enrollments returns a page of a sequence's enrollments, the newest first, and whether there are
// more.
func Enrollments(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence, q EnrollmentQuery) ([]Enrollment, bool, error) {
	s, err := Load(ctx, db, tenant, seq)
	if err != nil {
		return nil, false, err
	}
	var list []Enrollment
	for len(list) <= q.Limit {
		page, err := s.page(ctx, db, q)
		if err != nil {
			return nil, false, fmt.Errorf("list enrollments: %w", err)
		}
		for _, e := range page {
			if s.Settle(&e) && (len(q.Statuses) > 0 && !slices.Contains(q.Statuses, e.Status) || q.Node != "" && q.Node != e.Node) {
				continue
			}
			list = append(list, e)
		}
		if len(page) <= q.Limit {
			break
		}
		q.Before = page[len(page)-1].ID
	}
	more := len(list) > q.Limit
	return list[:min(len(list), q.Limit)], more, nil
}

// page returns up to one more than the limit of the enrollments that a query selects, and of those
// that may be selected when they have followed the changes of the sequence.
func (s Sequence) page(ctx context.Context, db *sqldb.DB, q EnrollmentQuery) ([]Enrollment, error) {
	where, args := ``, []any{s.Tenant, s.ID, q.Limit + 1}
	if len(q.Statuses) > 0 {
		condition, more := s.selects(db, q.Statuses, len(args)+1)
		where, args = where+` AND `+condition, append(args, more...)
	}
	if q.Node != "" {
		args = append(args, q.Node)
		where += fmt.Sprintf(` AND node_id = $%d`, len(args))
	}
	if !q.Before.IsZero() {
		args = append(args, q.Before)
		where += fmt.Sprintf(` AND id < $%d`, len(args))
	}
	rows, err := db.Query(ctx, `SELECT `+enrollmentColumns+` FROM enrollment WHERE tenant_id = $1 AND sequence_id = $2`+where+` ORDER BY id DESC LIMIT $3`, args...)
	return sqldb.Collect(rows, err, scanEnrollment(s.Tenant))
}

// ExitOne ends one enrollment by hand.
func ExitOne(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence, enrollment id.Enrollment, now time.Time) (Enrollment, error) {
	var e Enrollment
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		s, err := Load(ctx, tx, tenant, seq)
		if err != nil {
			return err
		}
		e, err = scanEnrollment(tenant)(tx.QueryRow(ctx, `SELECT `+enrollmentColumns+` FROM enrollment
			WHERE tenant_id = $1 AND sequence_id = $2 AND id = $3`+tx.ForUpdate(), tenant, seq, enrollment).Scan)
		if errors.Is(err, sqldb.ErrNoRows) {
			return ErrNoEnrollment
		}
		if err != nil {
			return err
		}
		if s.Settle(&e); e.Status != InProgress && e.Status != Waiting {
			return ErrTransition.Sayf("the enrollment has ended")
		}
		e.Finish(Exited, ReasonManual, now)
		return SaveSteps(ctx, tx, tenant, Steps{Enrollments: []Enrollment{e}}, now)
	})
	if err != nil {
		return Enrollment{}, fmt.Errorf("end an enrollment: %w", err)
	}
	return e, nil
}

// Leave records that the enrollment leaves its node by the way out with a label. The reasons may change until it is stored.
func (e *Enrollment) Leave(label string, why *Why) {
	e.log, e.left = append(e.log, record{label: label, why: why}), true
}

// Enter moves an enrollment to another node of the sequence.
func (p *Program) Enter(e *Enrollment, node string, now time.Time) {
	e.log, e.left = append(e.log, record{enters: p.mark(node), at: now}), false
	e.Node, e.Arrived, e.Met, e.WaitEvent = node, false, false, ""
	e.NodeEnteredAt, e.DueAt, e.TimerAt = new(now), new(now), new(now)
}

// DropLog drops what is to be stored in the log.
func (e *Enrollment) DropLog() { e.log = nil }

// Finish ends the enrollment. If it has not left its node, that ends with it.
func (e *Enrollment) Finish(status EnrollmentStatus, reason Reason, now time.Time) {
	if !e.left && e.Node != "" {
		e.Leave("", &Why{Code: Left, Reason: string(reason)})
	}
	e.Status, e.Reason, e.ExitedAt = status, reason, new(now.UTC().Truncate(time.Microsecond))
	e.Node, e.Arrived, e.Met, e.WaitEvent, e.DueAt, e.TimerAt, e.NodeEnteredAt, e.Left = "", false, false, "", nil, nil, nil, nil
}

// ExitContacts ends the enrollments of contacts in one sequence, or in all if seq is zero, and
// returns those that were in it.
func ExitContacts(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence, contacts []id.Contact, reason Reason, now time.Time) ([]id.Contact, error) {
	var gone []id.Contact
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		where, args := ``, []any{tenant, sqldb.List(tx, contacts)}
		if !seq.IsZero() {
			where, args = ` AND sequence_id = $3`, append(args, seq)
		}
		return exitWhere(ctx, tx, tenant, ` AND contact_id`+tx.In(2)+where, args, reason, now, &gone)
	})
	if err != nil {
		return nil, fmt.Errorf("end enrollments: %w", err)
	}
	return gone, nil
}

// countAt counts the enrollments at some nodes.
func countAt(ctx context.Context, db *sqldb.DB, s Sequence, nodes []string) (int, error) {
	if len(nodes) == 0 || s.Status == Draft { // nobody is in a draft
		return 0, nil
	}
	var n int
	err := db.QueryRow(ctx, `SELECT COUNT(*) FROM enrollment WHERE tenant_id = $1 AND sequence_id = $2 AND status IN ('active', 'paused') AND node_id`+db.In(3),
		s.Tenant, s.ID, sqldb.List(db, nodes)).Scan(&n)
	return n, err
}

// exitWhere ends the enrollments for which a condition holds, whose first parameter is the tenant.
func exitWhere(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, condition string, args []any, reason Reason, now time.Time, gone *[]id.Contact) error {
	n := len(args)
	args = append(slices.Clone(args), reason, sqldb.Micros(now), Why{Code: Left, Reason: string(reason)}.text())
	rows, err := tx.Query(ctx, fmt.Sprintf(`
		UPDATE enrollment SET status = 'exited', exit_reason = $%d, exited_at = $%d, node_id = NULL, arrived = FALSE, met = FALSE,
			wait_event = NULL, due_at = NULL, timer_at = NULL, left_at = NULL, node_entered_at = NULL, steps = steps || $%d
		WHERE tenant_id = $1 AND exited_at IS NULL`, n+1, n+2, n+3)+condition+` RETURNING id, sequence_id, contact_id`, args...)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (Enrollment, error) {
		e := Enrollment{Tenant: tenant}
		err := scan(&e.ID, &e.Sequence, &e.Contact)
		e.Finish(Exited, reason, now)
		return e, err
	})
	if err != nil || len(list) == 0 {
		return err
	}
	if gone != nil {
		for _, e := range list {
			*gone = append(*gone, e.Contact)
		}
	}
	c := counts{}
	for _, e := range list {
		c.ended(e)
	}
	if err := c.write(ctx, tx, tenant); err != nil {
		return err
	}
	return journal.Append(ctx, tx, endings(list, now)...)
}

// endings returns the journal entries of enrollments that have ended.
func endings(list []Enrollment, now time.Time) []journal.Entry {
	entries := make([]journal.Entry, 0, len(list))
	for _, e := range list {
		entry := journal.Entry{
			Tenant: e.Tenant, Type: journal.SequenceExited, Name: e.Sequence.String(), Contact: e.Contact, At: now,
			Data: ending{e.ID, e.Reason, e.Outcome()},
		}
		if e.Status == Completed {
			entry.Type = journal.SequenceCompleted
		}
		entries = append(entries, entry)
	}
	return entries
}

// ending is the data of a journal entry about the end of an enrollment.
type ending struct {
	Enrollment id.Enrollment `json:"enrollment_id"`
	Reason     Reason        `json:"exit_reason,omitempty"`
	Outcome    string        `json:"outcome"`
}
