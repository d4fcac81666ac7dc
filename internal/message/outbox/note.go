package outbox

import (
	"context"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// joinNote joins the note of a message to its row in outbox.
const joinNote = ` LEFT JOIN outbox_note AS n ON n.tenant_id = outbox.tenant_id AND n.message_id = outbox.id`

// noteColumns are the columns of outbox_note after tenant_id.
const noteColumns = `send_id, contact_id, message_id, state, ended_at, bounce_type, skip_reason, category, smtp_code, enhanced_code, error`

// notes are changes to outbox_note, which describes messages that were not delivered or were
// deferred.
type notes struct {
	rows     *sqldb.Table
	obsolete []id.Message // messages whose notes are deleted
}

func newNotes(tx *sqldb.DB) *notes {
	return &notes{rows: tx.Table("send_id UUID", "contact_id UUID", "message_id UUID", "state TEXT", "ended_at BIGINT",
		"bounce_type TEXT", "skip_reason TEXT", "category TEXT", "smtp_code BIGINT", "enhanced_code TEXT", "error TEXT")}
}

// add adds the note for a result, or the deletion of an earlier note.
func (n *notes) add(r Result) {
	var ended any
	switch r.State {
	case Sent, Delivered:
		if r.Item.Deferred { // it has a note from when it was deferred
			n.obsolete = append(n.obsolete, r.Item.ID)
		}
		return
	case Queued, MessageCancelled:
	default:
		ended = r.At.UnixMicro()
	}
	n.rows.Add(r.Item.Send, r.Item.Contact, r.Item.ID, r.State, ended, sqldb.Null(r.BounceType), sqldb.Null(r.SkipReason),
		sqldb.Null(r.Category), sqldb.Null(r.Code), sqldb.Null(r.Enhanced), sqldb.Null(r.Error))
}

// write stores the notes of a tenant's messages, replacing earlier ones.
func (n *notes) write(ctx context.Context, tx *sqldb.DB, tenant id.Tenant) error {
	if n.rows.Len() > 0 {
		_, err := tx.Exec(ctx, `
			INSERT INTO outbox_note (tenant_id, `+noteColumns+`)
			SELECT h.tenant_id, `+noteColumns+` FROM `+tx.Home(1)+` CROSS JOIN `+n.rows.As("v", 2)+` WHERE true
			ON CONFLICT (tenant_id, message_id) DO UPDATE SET state = excluded.state, ended_at = excluded.ended_at,
				bounce_type = excluded.bounce_type, skip_reason = excluded.skip_reason, category = excluded.category,
				smtp_code = excluded.smtp_code, enhanced_code = excluded.enhanced_code, error = excluded.error`, n.rows.Args(tenant)...)
		if err != nil {
			return err
		}
	}
	if len(n.obsolete) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `DELETE FROM outbox_note WHERE tenant_id = $1 AND message_id`+tx.In(2), tenant, sqldb.List(tx, n.obsolete))
	return err
}
