package broadcast

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// Wake is notified when a broadcast's status or plan changes, so that preparation may have to
// begin, continue or stop.
const Wake sqldb.Signal = "broadcast"

// transition is a change of status.
type transition struct {
	from   []Status
	to     Status
	reason PauseReason // of a pause
	entry  journal.Type
	data   any // of the entry
}

// apply changes the status and appends the journal entry. It returns ErrTransition if the current
// status is not in from.
func (s transition) apply(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, bid id.Broadcast, now time.Time) error {
	_, err := s.applyToSend(ctx, tx, tenant, bid, now)
	return err
}

// applyToSend is apply, and returns the broadcast's send. It checks the condition of ctx.
func (s transition) applyToSend(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, bid id.Broadcast, now time.Time) (send id.Send, err error) {
	if err := Revisions.Check(ctx, tx, tenant, bid); err != nil {
		return send, err
	}
	err = tx.QueryRow(ctx, `
		UPDATE broadcast SET revision = revision + 1, revised_by = $7, status = $3, pause_reason = $4, updated_at = $5,
			dispatch_started_at = CASE WHEN status = 'scheduled' AND $3 = 'sending' THEN $5 ELSE dispatch_started_at END,
			completed_at = CASE WHEN $3 IN ('completed', 'failed') THEN $5 ELSE completed_at END
		WHERE tenant_id = $1 AND id = $2 AND status`+tx.In(6)+` RETURNING send_id`,
		tenant, bid, s.to, sqldb.Null(s.reason), now.UnixMicro(), sqldb.List(tx, s.from), revision.By(ctx)).Scan(&send)
	if errors.Is(err, sqldb.ErrNoRows) {
		return send, refused(ctx, tx, tenant, bid)
	}
	if err != nil {
		return send, fmt.Errorf("move a broadcast to %s: %w", s.to, err)
	}
	tx.Notify(Wake)
	return send, journal.Append(ctx, tx, journal.Entry{Tenant: tenant, Type: s.entry, Name: bid.String(), At: now, Data: s.data})
}

// refused returns why no row was updated: the broadcast does not exist, or its status does not
// allow the transition.
func refused(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, bid id.Broadcast) error {
	status, err := statusOf(ctx, tx, tenant, bid)
	if err != nil {
		return err
	}
	return ErrTransition.Sayf("a broadcast that is %s does not allow this", status).With(map[string]Status{"status": status})
}

// Unschedule returns a scheduled broadcast to draft.
func Unschedule(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast, now time.Time) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		return transition{from: ActionUnschedule.from(), to: Draft, entry: journal.BroadcastUnscheduled}.apply(ctx, tx, tenant, bid, now)
	})
}

// Pause pauses a send: attempts in flight finish, and no further ones begin.
func Pause(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast, why PauseReason, now time.Time) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		send, err := transition{
			from: ActionPause.from(), to: Paused, reason: why,
			entry: journal.BroadcastPaused, data: map[string]PauseReason{"pause_reason": why},
		}.applyToSend(ctx, tx, tenant, bid, now)
		if err != nil {
			return err
		}
		if err := pauseCopies(ctx, tx, tenant, bid); err != nil {
			return err
		}
		return outbox.Pause(ctx, tx, tenant, send)
	})
}

// Resume continues a paused send. Messages planned for days that passed meanwhile are planned again
// first; the others keep their due times. If the audience was not completely in the outbox yet, the
// preparation continues, and the send starts when it is done.
func Resume(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast, now time.Time) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		b, err := lockBroadcast(ctx, tx, tenant, bid)
		if err != nil {
			return err
		}
		if err := Revisions.Check(ctx, tx, tenant, bid); err != nil {
			return err
		}
		if !b.Can(ActionResume) {
			return refused(ctx, tx, tenant, bid)
		}
		holds, err := causePersists(ctx, tx, b)
		if err != nil {
			return err
		}
		if holds {
			return ErrCauseActive.With(map[string]PauseReason{"pause_reason": b.PauseReason})
		}
		if err := (transition{from: ActionResume.from(), to: Sending, entry: journal.BroadcastResumed}).apply(ctx, tx, tenant, bid, now); err != nil {
			return err
		}
		run, err := LoadRun(ctx, tx, tenant, bid)
		if err != nil {
			return err
		}
		if err := run.resumeCopies(ctx, tx, now); err != nil {
			return err
		}
		return run.restart(ctx, tx, now)
	})
}

// Cancel cancels a broadcast. Messages that are waiting are not sent.
func Cancel(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast, now time.Time) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		send, err := transition{from: ActionCancel.from(), to: Cancelled, entry: journal.BroadcastCancelled}.applyToSend(ctx, tx, tenant, bid, now)
		if err != nil {
			return err
		}
		if err := cancelCopies(ctx, tx, tenant, bid, now); err != nil {
			return err
		}
		return outbox.Cancel(ctx, tx, tenant, send, now)
	})
}

// Complete completes a broadcast whose messages have all ended.
func Complete(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast, now time.Time) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		return transition{from: []Status{Sending}, to: Completed, entry: journal.BroadcastCompleted}.apply(ctx, tx, tenant, bid, now)
	})
}

// Fail fails a broadcast that cannot continue, or of which no message was sent. Messages that are
// waiting are not sent.
func Fail(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast, code FailureCode, now time.Time) error {
	why, err := json.Marshal(Failure{Code: code, Message: code.Message(), At: now.UTC()})
	if err != nil {
		return err
	}
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		send, err := transition{
			from: []Status{Sending}, to: Failed, entry: journal.BroadcastFailed, data: map[string]FailureCode{"code": code},
		}.applyToSend(ctx, tx, tenant, bid, now)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE broadcast SET failure = $3 WHERE tenant_id = $1 AND id = $2 AND status = 'failed'`, tenant, bid, string(why))
		if err != nil {
			return fmt.Errorf("note why a broadcast failed: %w", err)
		}
		if err := cancelCopies(ctx, tx, tenant, bid, now); err != nil {
			return err
		}
		return outbox.Cancel(ctx, tx, tenant, send, now)
	})
}

// Archive hides an ended broadcast from lists.
func Archive(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast, now time.Time) error {
	return archive(ctx, db, tenant, bid, `
		UPDATE broadcast SET revision = revision + 1, revised_by = $4, archived_at = $3, updated_at = $3
		WHERE tenant_id = $1 AND id = $2 AND archived_at IS NULL AND status IN ('completed', 'failed', 'cancelled')`, now)
}

// MaxArchived is the maximum number of broadcasts for ArchiveAll.
const MaxArchived = 100

// ArchiveAll archives, in one transaction, those of the broadcasts that have ended and are not
// archived yet. It returns them and the others, each once and in the order given.
func ArchiveAll(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Broadcast, now time.Time) (archived, skipped []id.Broadcast, _ error) {
	if len(ids) == 0 || len(ids) > MaxArchived {
		return nil, nil, fault.Input(fault.Field{Path: "ids", Message: fmt.Sprintf("must hold 1 to %d uuids", MaxArchived)})
	}
	moved := map[id.Broadcast]bool{}
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		clear(moved)
		rows, err := tx.Query(ctx, `
			UPDATE broadcast SET revision = revision + 1, revised_by = $4, archived_at = $3, updated_at = $3
			WHERE tenant_id = $1 AND archived_at IS NULL AND status IN ('completed', 'failed', 'cancelled') AND id`+tx.In(2)+`
			RETURNING id`, tenant, sqldb.List(tx, ids), now.UnixMicro(), revision.By(ctx))
		_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (bid id.Broadcast, err error) {
			err = scan(&bid)
			moved[bid] = true
			return bid, err
		})
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("archive broadcasts: %w", err)
	}
	for _, bid := range distinct(ids) {
		if moved[bid] {
			archived = append(archived, bid)
		} else {
			skipped = append(skipped, bid)
		}
	}
	return archived, skipped, nil
}

// Unarchive shows an archived broadcast in lists again.
func Unarchive(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast, now time.Time) error {
	return archive(ctx, db, tenant, bid, `
		UPDATE broadcast SET revision = revision + 1, revised_by = $4, archived_at = NULL, updated_at = $3
		WHERE tenant_id = $1 AND id = $2 AND archived_at IS NOT NULL`, now)
}

// archive checks the condition of ctx and runs a statement that archives a broadcast, or ends that.
func archive(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast, statement string, now time.Time) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		if err := Revisions.Check(ctx, tx, tenant, bid); err != nil {
			return err
		}
		n, err := tx.Exec(ctx, statement, tenant, bid, now.UnixMicro(), revision.By(ctx))
		return archiveError(ctx, tx, tenant, bid, n, err)
	})
}

func archiveError(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast, n int64, err error) error {
	if err != nil {
		return fmt.Errorf("archive a broadcast: %w", err)
	}
	if n == 1 {
		return nil
	}
	status, err := statusOf(ctx, db, tenant, bid)
	switch {
	case err != nil:
		return err
	case status.Ended():
		return ErrTransition.Sayf("the broadcast is archived already, or was not")
	}
	return ErrTransition.Sayf("only a broadcast that has ended can be archived; this one is %s", status)
}

// Stale reports whether a transition failed because another caller changed the status first.
func Stale(err error) bool { return errors.Is(err, ErrTransition) || errors.Is(err, ErrNotFound) }
