package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ErrStatus refuses a status that no recipient can have.
var ErrStatus = fault.New(fault.Invalid, "INVALID_STATUS", "no such status")

// ErrNoRecipient means that a send has no message to a contact.
var ErrNoRecipient = fault.New(fault.NotFound, "NOT_FOUND", "the contact is not a recipient")

// Status is the state of a message as the API shows it. Messages in flight are queued; deferred
// ones have a status of their own.
type Status string

// The statuses of recipients. A pending message waits for the plan of its send.
const (
	StatusPending   Status = "pending"
	StatusQueued    Status = "queued"
	StatusSent      Status = "sent"
	StatusDelivered Status = "delivered"
	StatusDeferred  Status = "deferred"
	StatusBounced   Status = "bounced"
	StatusFailed    Status = "failed"
	StatusSkipped   Status = "skipped"
	StatusHeldBack  Status = "held_back"
	StatusCancelled Status = "cancelled"
)

// Statuses returns every status.
func Statuses() []Status {
	return []Status{
		StatusPending, StatusQueued, StatusSent, StatusDelivered, StatusDeferred,
		StatusBounced, StatusFailed, StatusSkipped, StatusHeldBack, StatusCancelled,
	}
}

// ParseStatuses parses the names of statuses.
func ParseStatuses(names []string) ([]Status, error) {
	list := make([]Status, len(names))
	for i, n := range names {
		list[i] = Status(n)
		if !slices.Contains(Statuses(), list[i]) {
			return nil, ErrStatus.Sayf("status must be a comma list of pending, queued, sent, delivered, deferred, bounced, failed, skipped, held_back, cancelled")
		}
	}
	return list, nil
}

// Status returns the status of the message.
func (r Record) Status() Status {
	switch {
	case r.State != Queued:
		return Status(r.State)
	case r.Deferred:
		return StatusDeferred
	case r.DueAt.Equal(Unplanned()):
		return StatusPending
	}
	return StatusQueued
}

// Recipients selects messages of a send. The zero value selects all, up to Limit.
type Recipients struct {
	Status  []Status   // any of these; none: all
	Variant string     // empty: any
	Search  string     // part of the address, ignoring case; empty: any
	After   id.Contact // begins after this contact; zero: with the first
	Limit   int
}

// List returns up to q.Limit messages of a send, by contact, and whether there are more. Sending
// does not change this order, so a caller that reads page by page gets each message once.
func List(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, q Recipients) (list []Record, more bool, err error) {
	args := []any{tenant, send, q.After}
	arg := func(v any) int {
		args = append(args, v)
		return len(args)
	}
	where := q.where(db, arg)
	limit := fmt.Sprintf(" LIMIT $%d", arg(q.Limit+1))
	var rows *sqldb.Rows
	if q.onlyNoted() {
		rows, err = db.Query(ctx, `
			SELECT `+recordColumns+` FROM `+withNotes+`
			WHERE outbox.tenant_id = $1 AND n.tenant_id = $1 AND n.send_id = $2 AND n.contact_id > $3`+where+` ORDER BY n.contact_id`+limit, args...)
	} else {
		rows, err = db.Query(ctx, `
			SELECT `+recordColumns+` FROM outbox`+joinMix+joinNote+`
			WHERE outbox.tenant_id = $1 AND outbox.send_id = $2 AND outbox.contact_id > $3`+where+` ORDER BY outbox.contact_id`+limit, args...)
	}
	list, err = sqldb.Collect(rows, err, scanRecord)
	if err != nil {
		return nil, false, fmt.Errorf("list a send's messages: %w", err)
	}
	if len(list) > q.Limit {
		return list[:q.Limit], true, nil
	}
	return list, false, nil
}

// CountRecipients returns the number of messages of a send that q selects, whatever its Limit.
func CountRecipients(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, q Recipients) (n int, err error) {
	args := []any{tenant, send, q.After}
	where := q.where(db, func(v any) int {
		args = append(args, v)
		return len(args)
	})
	if q.onlyNoted() {
		err = db.QueryRow(ctx, `
			SELECT COUNT(*) FROM `+withNotes+`
			WHERE outbox.tenant_id = $1 AND n.tenant_id = $1 AND n.send_id = $2 AND n.contact_id > $3`+where, args...).Scan(&n)
	} else {
		err = db.QueryRow(ctx, `
			SELECT COUNT(*) FROM outbox`+joinMix+`
			WHERE outbox.tenant_id = $1 AND outbox.send_id = $2 AND outbox.contact_id > $3`+where, args...).Scan(&n)
	}
	if err != nil {
		return 0, fmt.Errorf("count a send's messages: %w", err)
	}
	return n, nil
}

// where returns the conditions of q besides the send and After.
func (q Recipients) where(db *sqldb.DB, arg func(any) int) string {
	where := ""
	if len(q.Status) > 0 {
		where += q.states(db, arg)
	}
	if q.Variant != "" {
		where += fmt.Sprintf(" AND x.variant_id = $%d", arg(q.Variant))
	}
	if q.Search != "" {
		where += fmt.Sprintf(` AND outbox.email LIKE $%d ESCAPE '\'`, arg("%"+sqldb.EscapeLike(strings.ToLower(q.Search))+"%"))
	}
	return where
}

// Recipient returns the message of a send to a contact: the first one if there are several. The error
// is ErrNoRecipient if there is none.
func Recipient(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, c id.Contact) (Record, error) {
	row := db.QueryRow(ctx, `
		SELECT `+recordColumns+` FROM outbox`+joinMix+joinNote+`
		WHERE outbox.tenant_id = $1 AND outbox.send_id = $2 AND outbox.contact_id = $3 ORDER BY outbox.visit LIMIT 1`, tenant, send, c)
	r, err := scanRecord(row.Scan)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Record{}, ErrNoRecipient
	}
	if err != nil {
		return Record{}, fmt.Errorf("find a recipient: %w", err)
	}
	return r, nil
}

// Visit is a message of a send for a visit of a step.
type Visit struct {
	Message id.Message
	Contact id.Contact
	Number  int
}

// Visits returns the messages of a send to contacts.
func Visits(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, contacts []id.Contact) ([]Visit, error) {
	rows, err := db.Query(ctx, `SELECT id, contact_id, visit FROM outbox WHERE tenant_id = $1 AND send_id = $2 AND contact_id`+db.In(3), tenant, send, sqldb.List(db, contacts))
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (Visit, error) {
		var v Visit
		err := scan(&v.Message, &v.Contact, &v.Number)
		return v, err
	})
	if err != nil {
		return nil, fmt.Errorf("find the messages of contacts: %w", err)
	}
	return list, nil
}

// First returns the first n messages of a send, by contact.
func First(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, n int) ([]Record, error) {
	list, _, err := List(ctx, db, tenant, send, Recipients{Limit: n})
	return list, err
}

// FirstFailures returns up to n messages of a send that failed or bounced.
func FirstFailures(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, n int) ([]Record, error) {
	list, _, err := List(ctx, db, tenant, send, Recipients{Status: []Status{StatusFailed, StatusBounced}, Limit: n})
	return list, err
}

// notedStatuses are the statuses whose messages all have notes. Few messages of most sends have one
// of them, so they are found by their notes (outbox_note).
var notedStatuses = []Status{StatusBounced, StatusFailed, StatusSkipped, StatusHeldBack, StatusCancelled}

// onlyNoted reports whether all selected messages have notes.
func (q Recipients) onlyNoted() bool {
	return len(q.Status) > 0 && !slices.ContainsFunc(q.Status, func(s Status) bool { return !slices.Contains(notedStatuses, s) })
}

// withNotes are the messages that have notes, joined with the other columns of a Record.
const withNotes = "outbox_note AS n JOIN outbox ON outbox.tenant_id = n.tenant_id AND outbox.id = n.message_id" + joinMix

// states returns the condition that a message has one of the selected statuses.
func (q Recipients) states(db *sqldb.DB, arg func(any) int) string {
	var either []string
	waiting := []Status{StatusPending, StatusQueued, StatusDeferred}
	final := slices.DeleteFunc(slices.Clone(q.Status), func(s Status) bool { return slices.Contains(waiting, s) })
	if len(final) > 0 {
		either = append(either, "outbox.state"+db.In(arg(sqldb.List(db, final))))
	}
	if slices.Contains(q.Status, StatusDeferred) {
		either = append(either, "outbox.state = 'queued' AND outbox.deferred")
	}
	switch queued, pending := slices.Contains(q.Status, StatusQueued), slices.Contains(q.Status, StatusPending); {
	case queued && pending:
		either = append(either, "outbox.state = 'queued' AND NOT outbox.deferred")
	case queued:
		either = append(either, fmt.Sprintf("outbox.state = 'queued' AND NOT outbox.deferred AND outbox.due_at < $%d", arg(Unplanned().UnixMicro())))
	case pending:
		either = append(either, fmt.Sprintf("outbox.state = 'queued' AND NOT outbox.deferred AND outbox.due_at = $%d", arg(Unplanned().UnixMicro())))
	}
	return " AND (" + strings.Join(either, " OR ") + ")"
}

// FailedOtherwise reports whether a message of the send failed with an error that does not begin
// with prefix.
func FailedOtherwise(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, prefix string) (bool, error) {
	var n int
	err := db.QueryRow(ctx, `
		SELECT COUNT(*) FROM (
			SELECT 1 FROM outbox_note WHERE tenant_id = $1 AND send_id = $2 AND state = 'failed'
				AND COALESCE(error, '') NOT LIKE $3 ESCAPE '\' LIMIT 1) AS other`,
		tenant, send, sqldb.EscapeLike(prefix)+"%").Scan(&n)
	if err != nil {
		return false, fmt.Errorf("check a send's failures: %w", err)
	}
	return n > 0, nil
}
