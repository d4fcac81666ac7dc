package track

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// engagement is the row of a message.
type engagement struct {
	send       id.Send
	old, flags Flags // as read, and as they are to be written
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
		INSERT INTO engagement (tenant_id, message_id, send_id, flags)
		SELECT h.tenant_id, v.message_id, v.send_id, 0 FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 2)+` WHERE true
		ON CONFLICT (tenant_id, message_id) DO NOTHING`, t.Args(tenant)...)
	if err != nil {
		return nil, err
	}
	return lockEngagements(ctx, tx, tenant, messages)
}

// lockEngagements reads and locks the rows of messages.
func lockEngagements(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, messages []id.Message) (map[id.Message]*engagement, error) {
	rows, err := tx.Query(ctx, `
		SELECT message_id, send_id, flags FROM engagement WHERE tenant_id = $1 AND message_id`+tx.In(2)+`
		ORDER BY message_id`+tx.ForUpdate(), tenant, sqldb.List(tx, messages))
	found := make(map[id.Message]*engagement, len(messages))
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (m id.Message, err error) {
		var e engagement
		err = scan(&m, &e.send, &e.flags)
		e.old = e.flags
		found[m] = &e
		return m, err
	})
	return found, err
}

// saveEngagements writes the rows of a tenant's messages and adds the changes to the sums
// of their sends. It is the last step of a transaction, since many transactions write the
// same sums.
func saveEngagements(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, messages map[id.Message]*engagement) error {
	t := tx.Table("message_id UUID", "flags BIGINT")
	c := changes{}
	for _, m := range slices.SortedFunc(maps.Keys(messages), id.Compare) {
		if e := messages[m]; e.flags != e.old {
			t.Add(m, int64(e.flags))
			c.addFlags(e.send, e.old, e.flags)
		}
	}
	if t.Len() == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `
		UPDATE engagement SET flags = v.flags FROM `+t.As("v", 2)+`
		WHERE engagement.tenant_id = $1 AND engagement.message_id = v.message_id`, t.Args(tenant)...)
	if err != nil {
		return err
	}
	return c.save(ctx, tx, tenant)
}

// changes are to be added to the sums of sends.
type changes map[id.Send][]int64

// addFlags adds the change of the flags of one message.
func (c changes) addFlags(send id.Send, old, now Flags) {
	if old == now {
		return
	}
	if c[send] == nil {
		c[send] = make([]int64, len(sumColumns))
	}
	for i := range sumColumns {
		c[send][i] += int64(now>>i&1) - int64(old>>i&1)
	}
}

// sumParts is the number of rows that the sums of a send may have on PostgreSQL, so that
// transactions rarely wait for each other's lock on one.
const sumParts = 8

// save adds the changes to one row of the sums of each send.
func (c changes) save(ctx context.Context, tx *sqldb.DB, tenant id.Tenant) error {
	if len(c) == 0 {
		return nil
	}
	part := 0
	if tx.Dialect() == sqldb.Postgres { // SQLite has one writer
		part = rand.N(sumParts)
	}
	columns := []string{"send_id UUID"}
	var sets []string
	for _, name := range sumColumns {
		columns = append(columns, name+" BIGINT")
		sets = append(sets, fmt.Sprintf("%s = engagement_sum.%[1]s + excluded.%[1]s", name))
	}
	t := tx.Table(columns...)
	for _, s := range slices.SortedFunc(maps.Keys(c), id.Compare) { // all transactions lock in this order
		row := []any{s}
		for _, d := range c[s] {
			row = append(row, d)
		}
		t.Add(row...)
	}
	names := strings.Join(sumColumns, ", ")
	_, err := tx.Exec(ctx, `
		INSERT INTO engagement_sum (tenant_id, send_id, part, `+names+`)
		SELECT h.tenant_id, send_id, `+tx.Param(2, "INTEGER")+`, `+names+` FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 3)+` WHERE true
		ON CONFLICT (tenant_id, send_id, part) DO UPDATE SET `+strings.Join(sets, ", "), t.Args(tenant, part)...)
	return err
}
