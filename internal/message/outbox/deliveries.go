package outbox

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Delivery is the confirmation that the server of a recipient accepted a message.
type Delivery struct {
	Message id.Message
	At      time.Time
}

// afterSent is the data of the journal entry of a delivery that is confirmed after the acceptance.
type afterSent struct {
	AfterSent bool `json:"after_sent"`
}

// RecordDeliveries moves messages from Sent to Delivered, and returns how many it moved. Messages in
// other states do not change; a bounce in particular stays one. The sums of sends do not change, since
// they count an accepted message as delivered until it bounces.
func RecordDeliveries(ctx context.Context, db *sqldb.DB, tenant id.Tenant, deliveries []Delivery) (int, error) {
	moved := 0
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		at := make(map[id.Message]time.Time, len(deliveries))
		var ids []id.Message
		for _, d := range deliveries {
			if _, twice := at[d.Message]; !twice {
				at[d.Message] = d.At
				ids = append(ids, d.Message)
			}
		}
		accepted, err := lockAccepted(ctx, tx, tenant, ids)
		if err != nil {
			return err
		}
		accepted = slices.DeleteFunc(accepted, func(m acceptedMessage) bool { return m.state != Sent })
		if moved = len(accepted); moved == 0 {
			return nil
		}
		var sends []id.Send
		ids = ids[:0]
		for _, m := range accepted {
			ids, sends = append(ids, m.ID), append(sends, m.Send)
		}
		slices.SortFunc(sends, id.Compare)
		bySend, err := Sends(ctx, tx, tenant, slices.Compact(sends))
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE outbox SET state = 'delivered' WHERE tenant_id = $1 AND id`+tx.In(2), tenant, sqldb.List(tx, ids)); err != nil {
			return err
		}
		var entries []journal.Entry
		for _, m := range accepted {
			if bySend[m.Send].Source.Kind == KindSeedCopy {
				continue
			}
			when := at[m.ID]
			if when.Before(m.sentAt) {
				when = m.sentAt
			}
			entries = append(entries, journal.Entry{
				Tenant: tenant, Type: journal.EmailDelivered, Contact: m.Contact, Send: m.Send, Message: m.ID, At: when, Data: afterSent{true},
			})
		}
		return journal.Append(ctx, tx, entries...)
	})
	if err != nil {
		return 0, fmt.Errorf("record deliveries: %w", err)
	}
	return moved, nil
}
