package broadcast

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Follower completes broadcasts whose sends have ended, and logs it.
func Follower(log *slog.Logger) journal.Follower {
	return journal.Follower{Name: "broadcast", Types: []journal.Type{journal.SendEnded}, Follow: func(ctx context.Context, tx *sqldb.DB, entries []journal.Entry) error {
		for _, e := range entries {
			var ended outbox.Ended
			if err := e.Decode(&ended); err != nil {
				return fmt.Errorf("journal entry %s: %w", e.ID, err)
			}
			if ended.Kind != outbox.KindBroadcast && ended.Kind != outbox.KindSeedCopy {
				continue
			}
			if err := sendEnded(ctx, tx, e.Tenant, id.OfSource[id.Broadcast](ended.Source), e.At, log); err != nil {
				return err
			}
		}
		return nil
	}}
}

// sendEnded ends the run of a broadcast whose sends have ended, its own and that of its seed copies,
// and completes the broadcast unless it was cancelled or has failed. Copies that wait for their time
// when the broadcast's own send ends are sent at once. A broadcast that was paused meanwhile completes when it is resumed
// (restart).
func sendEnded(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, bid id.Broadcast, at time.Time, log *slog.Logger) error {
	b, err := lockBroadcast(ctx, tx, tenant, bid) // no copies are added meanwhile
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	run, err := LoadRun(ctx, tx, tenant, bid)
	if err != nil || run.Broadcast.IsZero() || run.EndedAt != nil {
		return err
	}
	p, err := outbox.Load(ctx, tx, tenant, run.Send)
	if err != nil {
		return err
	}
	if p.Phase != outbox.Done {
		return nil
	}
	ended, err := run.copiesEnded(ctx, tx, b.Status)
	if err != nil {
		return err
	}
	if !ended {
		return run.hastenCopies(ctx, tx, at)
	}
	if err := run.end(ctx, tx, p, at); err != nil {
		return err
	}
	tx.AfterCommit(func() {
		log.Info("broadcast ended", "tenant", tenant, "broadcast", bid, "recipients", p.Total, "sent", p.Sent, "failed", p.Failed)
	})
	return nil
}

// end ends the run of a broadcast whose send has ended with progress p, and the broadcast if its
// status is sending. A broadcast fails if messages failed and none was sent.
func (r Run) end(ctx context.Context, tx *sqldb.DB, p outbox.Progress, now time.Time) error {
	failure, err := r.failure(ctx, tx, p)
	if err != nil {
		return err
	}
	if failure != "" {
		err = Fail(ctx, tx, r.Tenant, r.Broadcast, failure, now)
	} else {
		err = Complete(ctx, tx, r.Tenant, r.Broadcast, now)
	}
	if err != nil && !Stale(err) {
		return err
	}
	if err := outbox.DropSlots(ctx, tx, r.Tenant, r.Send); err != nil { // it may have been cancelled while slots were assigned
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE broadcast_run SET ended_at = $3 WHERE tenant_id = $1 AND broadcast_id = $2`,
		r.Tenant, r.Broadcast, now.UnixMicro())
	if err != nil {
		return fmt.Errorf("end a run: %w", err)
	}
	return nil
}

// failure returns why a send failed whose messages have all ended; empty if it did not fail. The
// content is the reason if all failed messages could not be rendered.
func (r Run) failure(ctx context.Context, db *sqldb.DB, p outbox.Progress) (FailureCode, error) {
	if p.Failed == 0 || p.Sent > 0 {
		return "", nil
	}
	other, err := outbox.FailedOtherwise(ctx, db, r.Tenant, r.Send, "render_error")
	switch {
	case err != nil:
		return "", err
	case other:
		return AllFailed, nil
	}
	return RenderFailed, nil
}
