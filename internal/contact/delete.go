package contact

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/journal"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Delete deletes contacts softly: they keep everything, remember the status they
// had, and get no mail. Those that are deleted already stay as they are. What
// waits for them elsewhere is ended by those who keep it, who read of it in the
// journal.
func Delete(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact, now time.Time) ([]Moved, error) {
	at := micros(now)
	moved, _, err := applyStep(ctx, db, tenant, ids, now, func(c *Contact) ([]effect, *fault.Error) {
		if c.Status == Suppressed {
			return nil, nil
		}
		c.StatusBeforeSuppress, c.Status, c.SuppressedAt = c.Status, Suppressed, &at
		return []effect{{journal.ContactDeleted, nil}}, nil
	})
	if err != nil {
		return nil, fmt.Errorf("delete contacts: %w", err)
	}
	return moved, nil
}
