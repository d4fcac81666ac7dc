package track

import (
	"context"
	"maps"
	"slices"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// engagement is the row of a message.
type engagement struct {
	send       id.Send
	mix        int64
	country    string // of the contact; empty: unknown
	pruned     int64  // number of hits that were deleted because of their age
	old, flags Flags  // as read, and as they are to be written
}

// lockOrCreate locks the rows of messages until the transaction ends, and creates missing
// ones. All transactions lock in the same order, so that they do not deadlock.
func lockOrCreate(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, sends map[id.Message]id.Send) (map[id.Message]*engagement, error) {
	messages := slices.SortedFunc(maps.Keys(sends), id.Compare)
	t := tx.Table("message_id UUID", "send_id UUID")
	for _, m := range messages {
		t.Add(m, sends[m])
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO engagement (tenant_id, message_id, send_id, flags, mix)
		SELECT h.tenant_id, v.message_id, v.send_id, 0, COALESCE((SELECT m.mix FROM outbox AS m WHERE m.tenant_id = $1 AND m.id = v.message_id), 0)
		FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 2)+` WHERE true
		ON CONFLICT (tenant_id, message_id) DO NOTHING`, t.Args(tenant)...)
	if err != nil {
		return nil, err
	}
	return lockEngagements(ctx, tx, tenant, messages)
}

// lockEngagements reads and locks the rows of messages.
func lockEngagements(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, messages []id.Message) (map[id.Message]*engagement, error) {
	rows, err := tx.Query(ctx, `
		SELECT message_id, send_id, flags, mix, country, pruned FROM engagement WHERE tenant_id = $1 AND message_id`+tx.In(2)+`
		ORDER BY message_id`+tx.ForUpdate(), tenant, sqldb.List(tx, messages))
	found := make(map[id.Message]*engagement, len(messages))
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (m id.Message, err error) {
		var e engagement
		err = scan(&m, &e.send, &e.flags, &e.mix, sqldb.ToText(&e.country), &e.pruned)
		e.old = e.flags
		found[m] = &e
		return m, err
	})
	return found, err
}
