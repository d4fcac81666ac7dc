package outbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ErrStatus refuses a status that no recipient can have.
var ErrStatus = fault.New(fault.Invalid, "INVALID_STATUS", "no such status")

// Status is how far a message has come, in the words in which recipients are
// told of: what is under way is queued still, and what was put
// off by the other side is told apart.
type Status string

// The statuses of recipients. A pending one waits for the plan of
// its send.
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

// ParseStatuses reads the names of statuses.
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

// Status returns how far the message has come.
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

// Recipients is a question about the messages of a send. Its zero value asks
// for all of them, but for the Limit.
type Recipients struct {
	Status  []Status   // any of these; none: all
	Variant string     // empty: any
	Search  string     // occurs in the address, in whatever case; empty: any
	After   id.Contact // begins behind this contact's; empty: with the first
	Limit   int
}

// List returns up to q.Limit messages of a send, by contact, and whether more
// would follow. The order is one that no sending changes, so that who pages
// through it sees everybody once.
func List(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, q Recipients) (list []Record, more bool, err error) {
	args := []any{tenant, send, q.After}
	where := ""
	arg := func(v any) int {
		args = append(args, v)
		return len(args)
	}
	if len(q.Status) > 0 {
		where += q.states(db, arg)
	}
	if q.Variant != "" {
		where += fmt.Sprintf(" AND x.variant_id = $%d", arg(q.Variant))
	}
	if q.Search != "" {
		where += fmt.Sprintf(` AND outbox.email LIKE $%d ESCAPE '\'`, arg("%"+likeEscapes.Replace(strings.ToLower(q.Search))+"%"))
	}
	where += " ORDER BY "
	limit := fmt.Sprintf(" LIMIT $%d", arg(q.Limit+1))
	var rows *sqldb.Rows
	if q.rare() {
		rows, err = db.Query(ctx, `
			SELECT `+recordColumns+` FROM `+withNotes+`
			WHERE outbox.tenant_id = $1 AND n.tenant_id = $1 AND n.send_id = $2 AND n.contact_id > $3`+where+`n.contact_id`+limit, args...)
	} else {
		rows, err = db.Query(ctx, `
			SELECT `+recordColumns+` FROM outbox`+recordOf+ofNote+`
			WHERE outbox.tenant_id = $1 AND outbox.send_id = $2 AND outbox.contact_id > $3`+where+`outbox.contact_id`+limit, args...)
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

// likeEscapes makes a text stand for itself in a pattern of LIKE.
var likeEscapes = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// rare are the states that few messages of a send are in, as a rule: those who
// look for them alone read the notes of these (outbox_note).
var rare = []Status{StatusBounced, StatusFailed, StatusSkipped, StatusHeldBack, StatusCancelled}

// rare reports whether messages are asked for that all have notes.
func (q Recipients) rare() bool {
	return len(q.Status) > 0 && !slices.ContainsFunc(q.Status, func(s Status) bool { return !slices.Contains(rare, s) })
}

// withNotes are the messages that have notes, with what else a Record says of them.
const withNotes = "outbox_note AS n JOIN outbox ON outbox.tenant_id = n.tenant_id AND outbox.id = n.message_id" + recordOf

// states is the condition that a message has one of the statuses asked for.
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
