package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Wake is notified when entries are appended.
const Wake sqldb.Signal = "journal"

// Append writes entries in the transaction that makes the change they record. It should be the last
// statement of that transaction: see the package comment.
func Append(ctx context.Context, tx *sqldb.DB, entries ...Entry) error {
	if err := AppendUnnoticed(ctx, tx, entries...); err != nil || len(entries) == 0 {
		return err
	}
	tx.Notify(Wake)
	return nil
}

// QueueEntries is Append as part of a batch of tx.
func QueueEntries(b *sqldb.Batch, tx *sqldb.DB, entries ...Entry) error {
	if len(entries) == 0 {
		return nil
	}
	tx.Notify(Wake)
	return QueueUnnoticed(b, tx, entries...)
}

// AppendUnnoticed is Append without notifying Wake. It is for entries that are appended many times
// a second during a send: the Engine finds them at its next poll, and then reads more of them at a
// time.
func AppendUnnoticed(ctx context.Context, tx *sqldb.DB, entries ...Entry) error {
	b := tx.Batch()
	if err := QueueUnnoticed(b, tx, entries...); err != nil {
		return err
	}
	if err := b.Run(ctx); err != nil {
		return fmt.Errorf("append to the journal: %w", err)
	}
	return nil
}

// QueueUnnoticed is AppendUnnoticed as part of a batch of tx.
func QueueUnnoticed(b *sqldb.Batch, tx *sqldb.DB, entries ...Entry) error {
	reportWrites(tx, entries)
	for _, part := range byTenant(entries) {
		if err := queueOf(b, tx, part[0].Tenant, part); err != nil {
			return fmt.Errorf("append to the journal: %w", err)
		}
	}
	return nil
}

// QueueLock takes the lock of the tenant's group before the first entry, as part of a batch of tx.
// Followers then process no entry that is committed after the lock was taken before tx ends. So if tx
// reads something that a later transaction changes, a follower of that change sees the entries of tx.
// On SQLite, transactions run one after another.
func QueueLock(b *sqldb.Batch, tx *sqldb.DB, tenant id.Tenant) {
	if tx.Dialect() == sqldb.Postgres {
		b.Queue(`SELECT pg_advisory_xact_lock_shared(1885430635, $1)`, nil, tenant.Group())
	}
}

// reportWrites reports the records that entries are about as written: of mails the send, and of what
// contacts do, or what changes them, the contact.
func reportWrites(tx *sqldb.DB, entries []Entry) {
	if !tx.WatchesWrites() {
		return
	}
	for _, e := range entries {
		if !e.Send.IsZero() {
			tx.Wrote(sqldb.Write{Table: "send", Tenant: e.Tenant, ID: e.Send})
		}
		switch e.Type {
		case EmailSent, EmailDelivered, EmailDeferred: // of these, each message has at least one
		case SuppressionAdded, SuppressionRemoved: // the contact may not exist
			tx.Wrote(sqldb.Write{Table: "contact", Tenant: e.Tenant, ID: e.Contact})
		default:
			if !e.Contact.IsZero() {
				tx.Wrote(sqldb.Write{Table: "contact", Tenant: e.Tenant, ID: e.Contact})
			}
		}
	}
}

// byTenant splits entries by tenant. The entries of a tenant keep their order. Tenants are sorted
// by group, so that all transactions take the locks of groups in the same order and do not
// deadlock.
func byTenant(entries []Entry) [][]Entry {
	other := func(e Entry) bool { return e.Tenant != entries[0].Tenant }
	if len(entries) > 0 && slices.ContainsFunc(entries, other) {
		entries = slices.Clone(entries)
		slices.SortStableFunc(entries, func(a, b Entry) int {
			return cmp.Or(cmp.Compare(a.Tenant.Group(), b.Tenant.Group()), cmp.Compare(a.Tenant, b.Tenant))
		})
	}
	var parts [][]Entry
	for len(entries) > 0 {
		n := slices.IndexFunc(entries, other)
		if n < 0 {
			n = len(entries)
		}
		parts, entries = append(parts, entries[:n]), entries[n:]
	}
	return parts
}

// columns are the columns of an entry, except for tenant, group and position.
const columns = "id, type, name, contact_id, send_id, message_id, occurred_at, data"

var columnTypes = []string{
	"id UUID", "type TEXT", "name TEXT", "contact_id UUID", "send_id UUID", "message_id UUID", "occurred_at BIGINT", "data JSONB",
}

// entryTable returns the entries as a table, packed where they can be, and the names of its columns. If there are packs,
// the table has one more column.
func entryTable(tx *sqldb.DB, entries []Entry) (*sqldb.Table, string, error) {
	list := pack(entries)
	names, types := columns, columnTypes
	packs := slices.ContainsFunc(list, func(p packOf) bool { return p.packed != nil })
	if packs {
		names, types = columns+", packed", append(slices.Clone(columnTypes), "packed BYTEA")
	}
	t := tx.Table(types...)
	for _, p := range list {
		row, err := p.Entry.values()
		if err != nil {
			return nil, "", err
		}
		switch {
		case p.packed != nil:
			row = append(row, p.packed)
		case packs:
			row = append(row, nil)
		}
		t.Add(row...)
	}
	return t, names, nil
}

// values returns the values of an entry's columns.
func (e Entry) values() ([]any, error) {
	data, err := encodeData(e.Data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Type, err)
	}
	if e.ID.IsZero() {
		e.ID = id.New[id.Entry]()
	}
	return []any{e.ID, e.Type, sqldb.Null(e.Name), sqldb.Null(e.Contact), sqldb.Null(e.Send), sqldb.Null(e.Message), e.At.UnixMicro(), data}, nil
}

// encodeData returns the data of an entry as JSON, or nil if it is empty.
func encodeData(data any) (any, error) {
	var text []byte
	switch d := data.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		text = d
	default:
		b, err := json.Marshal(data)
		if err != nil {
			return nil, err
		}
		text = b
	}
	switch string(text) {
	case "", "{}", "null":
		return nil, nil
	}
	return string(text), nil
}

// queueOf adds the statements that append entries of one tenant to a batch.
func queueOf(b *sqldb.Batch, tx *sqldb.DB, tenant id.Tenant, entries []Entry) error {
	if tx.Dialect() == sqldb.Postgres && !tx.Distributed() {
		return queueWithSequence(b, tx, tenant, entries)
	}
	b.Call(func(ctx context.Context) error {
		return tx.InTx(ctx, func(tx *sqldb.DB) error {
			if tx.Distributed() {
				return appendDistributed(ctx, tx, tenant, entries)
			}
			return appendCounted(ctx, tx, tenant, entries)
		})
	})
	return nil
}

// queueWithSequence inserts entries at positions drawn from the group's sequence. Before it draws
// the first, the transaction takes an advisory lock, shared with all others that append to the
// group, until it ends; loadHolders reads its holders. CASE guarantees the order: the lock, then
// nextval.
func queueWithSequence(b *sqldb.Batch, tx *sqldb.DB, tenant id.Tenant, entries []Entry) error {
	t, names, err := entryTable(tx, entries)
	if err != nil {
		return err
	}
	b.Queue(`
		INSERT INTO journal (tenant_id, grp, pos, `+names+`)
		SELECT $1::INTEGER, $2::INTEGER, CASE WHEN pg_advisory_xact_lock_shared(1885430635, $2) IS NOT NULL THEN nextval($3::regclass) END, `+names+`
		FROM `+t.As("v", 4), nil, t.Args(tenant, tenant.Group(), sequence(tenant.Group()))...)
	return nil
}

// sequence returns the name of a group's sequence of positions on PostgreSQL.
func sequence(group int32) string { return fmt.Sprintf("journal_place_%d", group) }

// sequencer is the name of the cursor that stores, on SQLite, the last position assigned in a
// group.
const sequencer = "sequencer"

// appendCounted inserts entries after the last one of the group. SQLite has no concurrent writers.
func appendCounted(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, entries []Entry) error {
	t, names, err := entryTable(tx, entries)
	if err != nil {
		return err
	}
	var last int64
	err = tx.QueryRow(ctx, `
		INSERT INTO journal_cursor (grp, follower, pos) VALUES ($1, $2, $3)
		ON CONFLICT (grp, follower) DO UPDATE SET pos = pos + excluded.pos RETURNING pos`,
		tenant.Group(), sequencer, t.Len()).Scan(&last)
	if err != nil {
		return err
	}
	places := make([]int64, t.Len())
	for i := range places {
		places[i] = last - int64(t.Len()-1-i)
	}
	t.AddNumbers("pos BIGINT", places)
	_, err = tx.Exec(ctx, `INSERT INTO journal (tenant_id, grp, pos, `+names+`) SELECT $1, $2, pos, `+names+` FROM `+t.As("v", 3),
		t.Args(tenant, tenant.Group())...)
	return err
}

// scan reads one entry: tenant, position, columns, then the extra columns of the query.
func scan(row func(...any) error, more ...any) (Entry, error) {
	var e Entry
	var data []byte
	dest := []any{&e.Tenant, sqldb.ToInt(&e.Position), &e.ID, sqldb.ToText(&e.Type), sqldb.ToText(&e.Name), &e.Contact, &e.Send, &e.Message, sqldb.ToTime(&e.At), &data}
	err := row(append(dest, more...)...)
	if len(data) > 0 {
		e.Data = json.RawMessage(data)
	}
	return e, err
}
