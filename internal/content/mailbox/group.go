package mailbox

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Group counts the messages of one send.
type Group struct {
	Send   id.Send // empty: the messages of no send, such as tests of an MTA config
	Total  int
	Unread int
	Newest time.Time
}

// Groups returns how many messages of each send a tenant's mailbox has, the send
// with the newest message first.
func Groups(ctx context.Context, db *sqldb.DB, tenant id.Tenant) ([]Group, error) {
	rows, err := db.Query(ctx, `
		SELECT send_id, COUNT(*), COUNT(*) - COUNT(read_at), MAX(received_at)
		FROM sink_message WHERE tenant_id = $1
		GROUP BY send_id ORDER BY MAX(received_at) DESC, send_id`, tenant)
	groups, err := sqldb.Collect(rows, err, func(scan func(...any) error) (g Group, err error) {
		err = scan(&g.Send, &g.Total, &g.Unread, sqldb.ToTime(&g.Newest))
		return g, err
	})
	if err != nil {
		return nil, fmt.Errorf("count the mailbox: %w", err)
	}
	return groups, nil
}

// MarkRead notes that a message was opened.
func MarkRead(ctx context.Context, db *sqldb.DB, tenant id.Tenant, message id.SinkMessage, now time.Time) error {
	_, err := db.Exec(ctx, `
		UPDATE sink_message SET read_at = $3 WHERE tenant_id = $1 AND id = $2 AND read_at IS NULL`,
		tenant, message, now.UnixMicro())
	if err != nil {
		return fmt.Errorf("mark a message as read: %w", err)
	}
	return nil
}

// MarkAllRead marks all unread messages of a send, or with send nil of the whole
// mailbox, as read.
func MarkAllRead(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send *id.Send, now time.Time) error {
	where, args := ofSend(send, 3)
	_, err := db.Exec(ctx, `
		UPDATE sink_message SET read_at = $2 WHERE tenant_id = $1 AND read_at IS NULL`+where,
		append([]any{tenant, now.UnixMicro()}, args...)...)
	if err != nil {
		return fmt.Errorf("mark messages as read: %w", err)
	}
	return nil
}

// Delete removes a message, or returns ErrNotFound.
func Delete(ctx context.Context, db *sqldb.DB, tenant id.Tenant, message id.SinkMessage) error {
	n, err := db.Exec(ctx, `DELETE FROM sink_message WHERE tenant_id = $1 AND id = $2`, tenant, message)
	if err != nil {
		return fmt.Errorf("delete a message: %w", err)
	}
	if n == 0 {
		return ErrNotFound
	}
	return nil
}

// DeleteAll removes the messages of a send, or with send nil of the whole
// mailbox, that were received up to until: mail that came in after the page was
// shown stays. It works in batches, so that other writers wait for none of them
// long.
func DeleteAll(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send *id.Send, until time.Time) error {
	where, args := ofSend(send, 4)
	for {
		n, err := db.Exec(ctx, `
			DELETE FROM sink_message WHERE tenant_id = $1 AND id IN (
				SELECT id FROM sink_message WHERE tenant_id = $1 AND received_at <= $2`+where+` LIMIT $3)`,
			append([]any{tenant, until.UnixMicro(), pruneBatch}, args...)...)
		if err != nil {
			return fmt.Errorf("delete messages: %w", err)
		}
		if n < pruneBatch {
			return nil
		}
	}
}

// ofSend returns a condition on the send, whose parameter has the number n.
func ofSend(send *id.Send, n int) (where string, args []any) {
	if send == nil {
		return "", nil
	}
	return fmt.Sprintf(` AND send_id = $%d`, n), []any{*send}
}
