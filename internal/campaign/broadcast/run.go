package broadcast

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Run is the state of sending one broadcast: how much of its audience is in the outbox, and when it
// was prepared and ended.
type Run struct {
	Tenant     id.Tenant
	Broadcast  id.Broadcast
	Send       id.Send
	Contents   map[string]id.Content // frozen when the send began, by id of the variant
	After      id.Contact            // checkpoint: the last contact processed
	Excluded   map[string]int        // contacts of the audience that get no message, by reason
	PreparedAt *time.Time            // when the whole audience was in the outbox
	EndedAt    *time.Time            // when nothing was left to do
	Planning   *Planning             // nil: messages are due as soon as they are in the outbox
	Seeding    *Seeding              // nil: there are no copies for seeds
	Epoch      int                   // of the lease when the run was loaded
}

// ErrLeaseLost means that another process has leased the run, or that the broadcast is not being
// sent any more. The transaction must be rolled back.
var ErrLeaseLost = errors.New("the lease on the broadcast's preparation was lost")

// Due returns scheduled broadcasts whose start time has come, ordered by it, without bodies.
func Due(ctx context.Context, db *sqldb.DB, now time.Time) ([]Broadcast, error) {
	rows, err := db.Query(ctx, `
		SELECT `+withoutBodies+` FROM broadcast WHERE status = 'scheduled' AND scheduled_at <= $1
		ORDER BY scheduled_at, id /* all tenants: the dispatcher serves the installation */`, now.UnixMicro())
	list, err := sqldb.Collect(rows, err, scanBroadcast)
	if err != nil {
		return nil, fmt.Errorf("find broadcasts that are due: %w", err)
	}
	return list, nil
}

// Begin moves a scheduled broadcast to sending, after its content was frozen and its send created
// in phase held. b is the broadcast as read when its content was frozen; if its revision has
// changed since, the error is ErrTransition.
func Begin(ctx context.Context, tx *sqldb.DB, b Broadcast, frozen map[string]id.Content, now time.Time) error {
	at, err := lockBroadcast(ctx, tx, b.Tenant, b.ID)
	if err != nil {
		return err
	}
	if at.Revision != b.Revision {
		return ErrTransition.Sayf("the broadcast was written meanwhile")
	}
	err = transition{from: []Status{Scheduled}, to: Sending, entry: journal.BroadcastStarted}.apply(ctx, tx, b.Tenant, b.ID, now)
	if err != nil {
		return err
	}
	contents, err := json.Marshal(frozen)
	if err != nil {
		return err
	}
	var seeds any
	if frozen != nil {
		s, err := newSeeding(ctx, tx, b, now)
		if err != nil {
			return err
		}
		if s != nil {
			doc, err := json.Marshal(s)
			if err != nil {
				return err
			}
			seeds = string(doc)
		}
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO broadcast_run (tenant_id, broadcast_id, send_id, contents, after_contact, excluded, owner, lease_until, epoch, seeding)
		VALUES ($1, $2, $4, $3, $5, '{}', '', 0, 0, $6)`, b.Tenant, b.ID, string(contents), b.Send, id.Contact{}, seeds)
	if err != nil {
		return fmt.Errorf("begin a run: %w", err)
	}
	return outbox.Create(ctx, tx, outbox.Send{Tenant: b.Tenant, ID: b.Send, Source: outbox.FromBroadcast(b.ID), EmailType: b.EmailType},
		outbox.Terms{PerHour: b.Delivery.PerHour}, now)
}

const runColumns = `broadcast_run.tenant_id, broadcast_run.broadcast_id, broadcast_run.send_id, broadcast_run.contents, broadcast_run.after_contact,
	broadcast_run.excluded, broadcast_run.prepared_at, broadcast_run.ended_at, broadcast_run.epoch, broadcast_run.plan, broadcast_run.seeding`

func scanRun(row func(...any) error) (Run, error) {
	var r Run
	var contents, excluded string
	var plan, seeding sql.NullString
	var prepared, ended sql.NullInt64
	if err := row(&r.Tenant, &r.Broadcast, &r.Send, &contents, &r.After, &excluded, &prepared, &ended, &r.Epoch, &plan, &seeding); err != nil {
		return Run{}, err
	}
	r.PreparedAt, r.EndedAt = sqldb.NullTime(prepared), sqldb.NullTime(ended)
	if plan.Valid {
		if err := json.Unmarshal([]byte(plan.String), &r.Planning); err != nil {
			return r, err
		}
	}
	if seeding.Valid {
		if err := json.Unmarshal([]byte(seeding.String), &r.Seeding); err != nil {
			return r, err
		}
	}
	err := errors.Join(json.Unmarshal([]byte(contents), &r.Contents), json.Unmarshal([]byte(excluded), &r.Excluded))
	return r, err
}

// LoadRun returns the run of a broadcast, or the zero Run if it has not begun.
func LoadRun(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast) (Run, error) {
	rows, err := db.Query(ctx, `SELECT `+runColumns+` FROM broadcast_run WHERE tenant_id = $1 AND broadcast_id = $2`, tenant, bid)
	list, err := sqldb.Collect(rows, err, scanRun)
	if err != nil {
		return Run{}, fmt.Errorf("load a run: %w", err)
	}
	if len(list) == 0 {
		return Run{}, nil
	}
	return list[0], nil
}

// OpenRun is a run that has not ended, with the status of its broadcast.
type OpenRun struct {
	Run
	Status Status
}

// OpenRuns returns the runs of all tenants that have not ended.
func OpenRuns(ctx context.Context, db *sqldb.DB) ([]OpenRun, error) {
	rows, err := db.Query(ctx, `
		SELECT b.status, `+runColumns+` FROM broadcast_run
		JOIN broadcast AS b ON b.tenant_id = broadcast_run.tenant_id AND b.id = broadcast_run.broadcast_id
		WHERE broadcast_run.ended_at IS NULL ORDER BY broadcast_run.tenant_id, broadcast_run.broadcast_id /* all tenants: the dispatcher serves the installation */`)
	list, err := sqldb.Collect(rows, err, func(row func(...any) error) (OpenRun, error) {
		var o OpenRun
		r, err := scanRun(func(dest ...any) error { return row(append([]any{&o.Status}, dest...)...) })
		o.Run = r
		return o, err
	})
	if err != nil {
		return nil, fmt.Errorf("find open runs: %w", err)
	}
	return list, nil
}

// Lease leases the preparation of a broadcast to owner until the given time, unless another owner
// has a valid lease. It reports whether it did.
func Lease(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast, owner string, now, until time.Time) (Run, bool, error) {
	rows, err := db.Query(ctx, `
		UPDATE broadcast_run SET owner = $3, lease_until = $5, epoch = epoch + 1
		WHERE tenant_id = $1 AND broadcast_id = $2 AND prepared_at IS NULL AND (owner = $3 OR lease_until <= $4)
		RETURNING `+runColumns, tenant, bid, owner, now.UnixMicro(), until.UnixMicro())
	list, err := sqldb.Collect(rows, err, scanRun)
	if err != nil {
		return Run{}, false, fmt.Errorf("lease a run: %w", err)
	}
	if len(list) == 0 {
		return Run{}, false, nil
	}
	return list[0], true, nil
}

// Release ends the lease, so that another process need not wait until it expires.
func (r Run) Release(ctx context.Context, db *sqldb.DB) error {
	_, err := db.Exec(ctx, `
		UPDATE broadcast_run SET lease_until = 0, owner = '' WHERE tenant_id = $1 AND broadcast_id = $2 AND epoch = $3`,
		r.Tenant, r.Broadcast, r.Epoch)
	return err
}

// Hold locks the broadcast until tx ends, so that a pause or cancellation comes either before a
// page or after it. It returns ErrLeaseLost if the status is not sending, or the lease of r was
// lost.
func (r Run) Hold(ctx context.Context, tx *sqldb.DB) error {
	b, err := lockBroadcast(ctx, tx, r.Tenant, r.Broadcast)
	if err != nil {
		return err
	}
	now, err := LoadRun(ctx, tx, r.Tenant, r.Broadcast)
	if err != nil {
		return err
	}
	if b.Status != Sending || now.Epoch != r.Epoch || now.PreparedAt != nil {
		return ErrLeaseLost
	}
	return nil
}

// NoteAdvanced updates r with what Advance recorded, after the transaction has committed.
func (r *Run) NoteAdvanced(ids []id.Contact, excluded map[string]int) {
	if len(ids) > 0 {
		r.After = ids[len(ids)-1]
	}
	r.Excluded = sum(r.Excluded, excluded)
}

func sum(counts ...map[string]int) map[string]int {
	total := map[string]int{}
	for _, m := range counts {
		for reason, n := range m {
			total[reason] += n
		}
	}
	return total
}

// Advance stores the last contact of the audience that was processed and the number excluded since
// the previous one, and extends the lease.
func (r Run) Advance(ctx context.Context, tx *sqldb.DB, after id.Contact, excluded map[string]int, until time.Time) error {
	doc, err := json.Marshal(sum(r.Excluded, excluded))
	if err != nil {
		return err
	}
	n, err := tx.Exec(ctx, `
		UPDATE broadcast_run SET after_contact = $4, excluded = $5, lease_until = $6
		WHERE tenant_id = $1 AND broadcast_id = $2 AND epoch = $3 AND prepared_at IS NULL`,
		r.Tenant, r.Broadcast, r.Epoch, after, string(doc), until.UnixMicro())
	if err != nil {
		return fmt.Errorf("advance a run: %w", err)
	}
	if n == 0 {
		return ErrLeaseLost
	}
	return nil
}

// Prepared records that the whole audience is in the outbox, and starts the send.
func (r Run) Prepared(ctx context.Context, tx *sqldb.DB, now time.Time) error {
	n, err := tx.Exec(ctx, `
		UPDATE broadcast_run SET prepared_at = $4, lease_until = 0, owner = ''
		WHERE tenant_id = $1 AND broadcast_id = $2 AND epoch = $3 AND prepared_at IS NULL`,
		r.Tenant, r.Broadcast, r.Epoch, now.UnixMicro())
	if err != nil {
		return fmt.Errorf("finish a preparation: %w", err)
	}
	if n == 0 {
		return ErrLeaseLost
	}
	if err := outbox.Seal(ctx, tx, r.Tenant, r.Send, now); err != nil {
		return err
	}
	return outbox.Start(ctx, tx, r.Tenant, r.Send, now)
}
