// Package outage protects contacts from failures of mailbox providers' directories. A provider whose
// directory fails may say of mailboxes that exist that there is no such user, and each of these
// bounces would end the mail to a contact for good.
//
// A hard bounce because of an unknown recipient is therefore guarded: its journal entry
// (EmailBounced) says which provider's servers it came from, and contacts and the suppression list
// do not follow it. Follower appends an entry BounceApplied for it, which they follow, unless the
// provider has an outage; then the bounce is held.
//
//	EmailBounced with a Guard ─► Follower ─► BounceApplied ─► contact, suppression
//	                                 │               ▲
//	                                 ▼               │ apply
//	                            outage_bounce (held) ┴► dismiss: dropped
//
// Evaluate opens an outage when too many of the recipients who got mail within ten minutes turn out
// to be unknown, and ends it when the answers are normal again. Settle withdraws the bounces that took
// effect since the outage began, so that they are held like those after them, and carries out the
// decisions of the operator (Decide). Each step moves a row and appends an entry in one transaction:
// a process that is killed loses no bounce and applies none twice.
//
// The state of the message, and with it every report, follows the server's answer at once.
//
// Traffic and outages belong to no tenant: a provider's directory fails for all. Held bounces do.
package outage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// When an outage is opened and ended.
const (
	Window     = 10 * time.Minute // of the times at which messages were sent
	minUnknown = 50
	openShare  = 0.20 // an outage is opened above
	endShare   = 0.10 // and ended at or below this share
	minToEnd   = 20   // recipients who must have been answered about within Window
)

// Rest is how long a provider is not watched after the operator has applied the bounces of an outage:
// the list that caused them may still be being mailed.
const Rest = 6 * time.Hour

const (
	width = 30 * time.Second // of a bucket of traffic
	back  = time.Hour        // how late reports of bounces count
	keep  = 30 * 24 * time.Hour
)

// Decision is what the operator makes of an outage.
type Decision string

// The decisions.
const (
	Apply   Decision = "apply"   // the recipients do not exist: the held bounces take effect
	Dismiss Decision = "dismiss" // the provider was wrong: they are dropped
)

// Outage is a time at which a provider said of too many recipients that they do not exist.
type Outage struct {
	ID        id.Outage
	Directory string    // mx.Directory: the provider, or the name of a mail server
	Since     time.Time // bounces of messages that were sent from then on are held
	OpenedAt  time.Time
	EndedAt   *time.Time // when the answers were normal again
	Answered  int        // recipients in the ten minutes that opened it
	Unknown   int        // of these, those that do not exist, by the provider's answer
	Decision  Decision   // empty: none yet
	DecidedAt *time.Time
	DoneAt    *time.Time // when the decision was carried out
}

// end returns until when messages belong to the outage; nil: it has not ended.
func (o Outage) end() *time.Time {
	if o.EndedAt != nil {
		return o.EndedAt
	}
	return o.DecidedAt
}

// holds reports whether a bounce of a message that was sent at a time is held. Reports of messages that
// were sent during a dismissed outage may arrive later; Settle drops them.
func (o Outage) holds(sent time.Time) bool {
	end := o.end()
	return o.Decision != Apply && !sent.Before(o.Since) && (end == nil || !sent.After(*end))
}

var (
	// ErrNotFound means that there is no such outage.
	ErrNotFound = fault.New(fault.NotFound, "OUTAGE_NOT_FOUND", "there is no such outage")
	// ErrDecided means that the operator has decided about an outage before.
	ErrDecided = fault.New(fault.Conflict, "OUTAGE_DECIDED", "the outage has been decided about already")
)

const columns = `id, directory, since, opened_at, ended_at, answered, unknown, decision, decided_at, done_at`

func scanOutage(scan func(...any) error) (o Outage, err error) {
	var since, opened int64
	var ended, decided, done sql.NullInt64
	var decision sql.NullString
	err = scan(&o.ID, &o.Directory, &since, &opened, &ended, &o.Answered, &o.Unknown, &decision, &decided, &done)
	o.Since, o.OpenedAt, o.EndedAt = sqldb.Time(since), sqldb.Time(opened), sqldb.NullTime(ended)
	o.Decision, o.DecidedAt, o.DoneAt = Decision(decision.String), sqldb.NullTime(decided), sqldb.NullTime(done)
	return o, err
}

// List returns all outages that are stored, the newest first.
func List(ctx context.Context, db *sqldb.DB) ([]Outage, error) {
	rows, err := db.Query(ctx, `SELECT `+columns+` FROM outage ORDER BY opened_at DESC, id DESC`)
	list, err := sqldb.Collect(rows, err, scanOutage)
	if err != nil {
		return nil, fmt.Errorf("list outages: %w", err)
	}
	return list, nil
}

// Decide stores a decision about an outage, which Settle carries out. The error may be ErrNotFound or
// ErrDecided.
func Decide(ctx context.Context, db *sqldb.DB, outage id.Outage, d Decision, now time.Time) (Outage, error) {
	var o Outage
	err := db.InTx(ctx, func(tx *sqldb.DB) (err error) {
		o, err = scanOutage(tx.QueryRow(ctx, `SELECT `+columns+` FROM outage WHERE id = $1`+tx.ForUpdate(), outage).Scan)
		switch {
		case errors.Is(err, sqldb.ErrNoRows):
			return ErrNotFound
		case err != nil:
			return err
		case o.Decision != "":
			return ErrDecided
		}
		o.Decision, o.DecidedAt = d, new(sqldb.Time(now.UnixMicro()))
		_, err = tx.Exec(ctx, `UPDATE outage SET decision = $2, decided_at = $3 WHERE id = $1`, outage, d, now.UnixMicro())
		return err
	})
	if _, known := fault.As(err); known || err == nil {
		return o, err
	}
	return Outage{}, fmt.Errorf("decide about an outage: %w", err)
}

// Held is bounces of a tenant that are held because of one outage.
type Held struct {
	Tenant id.Tenant
	Lane   id.Lane
	Outage id.Outage
	Count  int
}

// HeldOf returns the bounces of a tenant that are held, by lane and outage.
func HeldOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant) ([]Held, error) {
	rows, err := db.Query(ctx, `
		SELECT lane_id, outage_id, COUNT(*) FROM outage_bounce
		WHERE tenant_id = $1 AND outage_id IS NOT NULL GROUP BY lane_id, outage_id ORDER BY lane_id, outage_id`, tenant)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (Held, error) {
		h := Held{Tenant: tenant}
		err := scan(&h.Lane, &h.Outage, &h.Count)
		return h, err
	})
	if err != nil {
		return nil, fmt.Errorf("count held bounces of a tenant: %w", err)
	}
	return list, nil
}

// HeldBy returns how many bounces are held because of an outage, by tenant.
func HeldBy(ctx context.Context, db *sqldb.DB, outage id.Outage) (map[id.Tenant]int, error) {
	held := map[id.Tenant]int{}
	rows, err := db.Query(ctx, `/* all tenants: outages are the installation's */
		SELECT tenant_id, COUNT(*) FROM outage_bounce WHERE outage_id = $1 GROUP BY tenant_id`, outage)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var t id.Tenant
		var n int
		err := scan(&t, &n)
		held[t] = n
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count the held bounces of an outage: %w", err)
	}
	return held, nil
}

// HeldContacts returns up to limit contacts of a tenant whose bounces are held because of an outage,
// after one in the order of their ids.
func HeldContacts(ctx context.Context, db *sqldb.DB, tenant id.Tenant, outage id.Outage, after id.Contact, limit int) ([]id.Contact, error) {
	rows, err := db.Query(ctx, `
		SELECT DISTINCT contact_id FROM outage_bounce WHERE tenant_id = $1 AND outage_id = $2 AND contact_id > $3
		ORDER BY contact_id LIMIT $4`, tenant, outage, after, limit)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (c id.Contact, err error) {
		err = scan(&c)
		return c, err
	})
	if err != nil {
		return nil, fmt.Errorf("list contacts of held bounces: %w", err)
	}
	return list, nil
}

// Open returns how many outages wait for a decision, and how many bounces are held.
func Open(ctx context.Context, db *sqldb.DB) (outages, bounces int, err error) {
	err = db.QueryRow(ctx, `SELECT COUNT(*) FROM outage WHERE decision IS NULL`).Scan(&outages)
	if err == nil {
		err = db.QueryRow(ctx, `/* all tenants: outages are the installation's */
			SELECT COUNT(*) FROM outage_bounce WHERE outage_id IS NOT NULL`).Scan(&bounces)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("count outages: %w", err)
	}
	return outages, bounces, nil
}
