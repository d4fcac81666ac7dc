package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Hasten makes the messages of a send due that wait for their first attempt.
func Hasten(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send, now time.Time) error {
	return hasten(ctx, tx, tenant, send, `NOT deferred`, now)
}

// hasten makes the waiting messages of a send due for which a condition is true.
func hasten(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send, condition string, now time.Time) error {
	if err := revokeClaims(ctx, tx, tenant, send); err != nil {
		return err
	}
	inFlight, err := InFlight(ctx, tx, tenant, send)
	if err != nil {
		return err
	}
	n, err := tx.Exec(ctx, `
		UPDATE outbox SET due_at = $3, epoch = epoch + 1
		WHERE tenant_id = $1 AND send_id = $2 AND state = 'queued' AND due_at > $3 AND `+condition+` AND NOT id`+tx.In(4),
		tenant, send, now.UnixMicro(), sqldb.List(tx, inFlight))
	if err != nil {
		return fmt.Errorf("hasten the messages of a send: %w", err)
	}
	if n == 0 {
		return nil
	}
	tx.Notify(Wake)
	return lowerMark(ctx, tx, tenant, send, now)
}

// Messages of broadcasts and confirmations are due when they are added, unless a plan assigns them a time. One that is due
// later than postdatedBy from now, and was neither planned nor delayed (either sets queued_at), was added while the clock of a
// machine was ahead. Nothing but time would end its wait.
const postdatedBy = time.Minute

// postdated returns the condition for such a message.
func postdated() string {
	return fmt.Sprintf(`queued_at IS NULL AND rank IS NULL AND due_at < %d`, Unplanned().UnixMicro())
}

// HastenPostdated makes messages due that were added while the clock of a machine was ahead, and returns their sends. It looks
// at the first waiting message of each send.
func HastenPostdated(ctx context.Context, db *sqldb.DB, now time.Time) ([]Ready, error) {
	ready, err := ReadySends(ctx, db)
	if err != nil {
		return nil, err
	}
	var hastened []Ready
	for _, r := range ready {
		if r.Cancelled || !r.NextDue.After(now.Add(postdatedBy)) {
			continue
		}
		var wrong bool
		err := db.QueryRow(ctx, `
			SELECT EXISTS (SELECT 1 FROM outbox WHERE tenant_id = $1 AND id = $2 AND state = 'queued' AND due_at > $3 AND `+postdated()+`)
				AND EXISTS (SELECT 1 FROM send WHERE tenant_id = $1 AND id = $4 AND source_kind IN ($5, $6))`,
			r.Tenant, r.firstID, now.UnixMicro(), r.Send, KindBroadcast, KindConfirmation).Scan(&wrong)
		if err != nil {
			return hastened, fmt.Errorf("find messages with wrong due times: %w", err)
		}
		if !wrong {
			continue
		}
		err = db.InTx(ctx, func(tx *sqldb.DB) error { return hasten(ctx, tx, r.Tenant, r.Send, postdated(), now) })
		if err != nil {
			return hastened, err
		}
		hastened = append(hastened, r)
	}
	return hastened, nil
}
