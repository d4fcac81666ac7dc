package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Ended is the data of a journal.SendEnded entry.
type Ended struct {
	Kind   Kind      `json:"kind"`
	Source id.Source `json:"source"`
}

// overSQL is the condition that no message of a send waits, and none will be added.
const overSQL = `(waiting = 0 AND (phase = 'cancelled' OR phase = 'open' AND sealed))`

// endIfOver ends a send for which overSQL is true.
func endIfOver(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send, now time.Time) error {
	var isOver bool
	err := tx.QueryRow(ctx, `SELECT `+overSQL+` FROM send WHERE tenant_id = $1 AND id = $2`, tenant, send).Scan(&isOver)
	if errors.Is(err, sqldb.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("check whether a send is over: %w", err)
	}
	if !isOver {
		return nil
	}
	return endSend(ctx, tx, tenant, send, now)
}

// endSend sets the phase of a send to Done, and appends a journal entry for its source. The caller
// has changed the row of the send in tx, which has therefore locked it.
func endSend(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send, now time.Time) error {
	var d Ended
	err := tx.QueryRow(ctx, `
		UPDATE send SET phase = 'done' WHERE tenant_id = $1 AND id = $2 RETURNING source_kind, source_id`, tenant, send).Scan(&d.Kind, &d.Source)
	if err == nil {
		_, err = tx.Exec(ctx, `DELETE FROM outbox_turn WHERE tenant_id = $1 AND send_id = $2`, tenant, send)
	}
	if err == nil {
		_, err = tx.Exec(ctx, `DELETE FROM send_ready WHERE tenant_id = $1 AND send_id = $2`, tenant, send)
	}
	if err == nil {
		err = journal.Append(ctx, tx, journal.Entry{Tenant: tenant, Type: journal.SendEnded, Send: send, At: now, Data: d})
	}
	if err != nil {
		return fmt.Errorf("end a send: %w", err)
	}
	return nil
}
