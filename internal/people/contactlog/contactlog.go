// Package contactlog is the log of changed contacts. By it a process that has values of a tenant's contacts in memory
// (package columnar) knows exactly which of them to read again.
//
// Each transaction that writes table contact, or the suppression list, appends a row of what it changed (Append,
// QueueContacts, AppendAddresses). A reader compares, within an evaluation, the rows that it sees with those that it has
// seen (Mark.Advance): any order of commits is right, and no clocks are compared. Trim deletes rows of some minutes ago,
// and counts them, so that a reader that was away for longer knows that it has missed some.
package contactlog

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Keep is how long rows are kept: readers look more often.
const Keep = 3 * time.Minute

// maxRows is the number of rows of a tenant that a reader looks at.
const maxRows = 20_000

// QueueContacts appends contacts that the transaction of a batch changes.
func QueueContacts(b *sqldb.Batch, tenant id.Tenant, contacts []id.Contact) {
	if len(contacts) > 0 {
		b.Queue(insert, nil, tenant, id.New[id.LogRow](), pack(contacts), "[]")
	}
}

// Append appends contacts that the transaction changes.
func Append(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, contacts []id.Contact) error {
	if len(contacts) == 0 {
		return nil
	}
	return add(ctx, tx, tenant, contacts, []byte("[]"))
}

// AppendAddresses appends addresses that the transaction puts on the suppression list or removes from there.
func AppendAddresses(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, addresses []string) error {
	if len(addresses) == 0 {
		return nil
	}
	list, err := json.Marshal(addresses)
	if err != nil {
		return err
	}
	return add(ctx, tx, tenant, nil, list)
}

const insert = `INSERT INTO contact_log (tenant_id, id, contacts, addresses) VALUES ($1, $2, $3, $4)`

func add(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, contacts []id.Contact, addresses []byte) error {
	_, err := tx.Exec(ctx, insert, tenant, id.New[id.LogRow](), pack(contacts), string(addresses))
	if err != nil {
		return fmt.Errorf("append to the log of changed contacts: %w", err)
	}
	return nil
}

func pack(contacts []id.Contact) []byte {
	b := make([]byte, 0, len(contacts)*len(id.Contact{}))
	for _, c := range contacts {
		b = append(b, c[:]...)
	}
	return b
}

// Mark is how far a reader has read a tenant's log. Its zero value has read nothing.
type Mark struct {
	seen    map[id.LogRow]bool // of the rows that are kept
	deleted int64
}

// Size returns the memory that the mark takes, in bytes.
func (m Mark) Size() int { return 40 * len(m.seen) }

// Changes are what changed since a mark. Contacts may be named more than once.
type Changes struct {
	Contacts  []id.Contact
	Addresses []string
}

// Standing is what a reader knows by its mark.
type Standing int

// The standings.
const (
	Current Standing = iota // once it has read the changes
	Ahead                   // it has seen later changes than this evaluation sees
	Lost                    // it has missed changes, or there are too many
)

// Read returns the mark of a reader that reads everything within the evaluation db. ok is false if the log
// is too long.
func Read(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (m Mark, ok bool, err error) {
	rows, err := db.Query(ctx, `SELECT id FROM contact_log WHERE tenant_id = $1 LIMIT $2 /* reads the tenant: changes of some minutes */`, tenant, maxRows+1)
	m.seen = map[id.LogRow]bool{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var r id.LogRow
		err := scan(&r)
		m.seen[r] = true
		return err
	})
	if err == nil {
		err = db.QueryRow(ctx, `SELECT COALESCE(MAX(deleted), 0) FROM contact_log_end WHERE tenant_id = $1`, tenant).Scan(&m.deleted)
	}
	if err != nil {
		return Mark{}, false, fmt.Errorf("read the log of changed contacts: %w", err)
	}
	return m, len(m.seen) <= maxRows, nil
}

// Advance returns what changed from the mark to the state of the database that the evaluation db sees, and the
// mark of that.
//
// Each of the rows that the reader has seen and that are not there is deleted, or not yet there for this evaluation. Of
// two evaluations, one sees all that the other sees, so the number of deleted rows tells which.
func (m Mark) Advance(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (Changes, Mark, Standing, error) {
	now, ok, err := Read(ctx, db, tenant)
	if err != nil || !ok {
		return Changes{}, Mark{}, Lost, err
	}
	missing := int64(0)
	for r := range m.seen {
		if !now.seen[r] {
			missing++
		}
	}
	switch deleted := now.deleted - m.deleted; {
	case missing > deleted:
		return Changes{}, Mark{}, Ahead, nil
	case missing < deleted:
		return Changes{}, Mark{}, Lost, nil
	}
	var added []id.LogRow
	for r := range now.seen {
		if !m.seen[r] {
			added = append(added, r)
		}
	}
	c, err := load(ctx, db, tenant, added)
	return c, now, Current, err
}

func load(ctx context.Context, db *sqldb.DB, tenant id.Tenant, list []id.LogRow) (c Changes, err error) {
	if len(list) == 0 {
		return c, nil
	}
	rows, err := db.Query(ctx, `SELECT contacts, addresses FROM contact_log WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, list))
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var packed []byte
		var addresses []string
		if err := scan(&packed, sqldb.ToNonEmptyJSON(&addresses)); err != nil {
			return err
		}
		for len(packed) >= len(id.Contact{}) {
			c.Contacts = append(c.Contacts, id.Contact(packed[:len(id.Contact{})]))
			packed = packed[len(id.Contact{}):]
		}
		c.Addresses = append(c.Addresses, addresses...)
		return nil
	})
	if err != nil {
		return Changes{}, fmt.Errorf("read which contacts changed: %w", err)
	}
	return c, nil
}

// Erase removes all addresses from a tenant's log, when people are erased. Readers have then missed changes, whatever they
// have read.
func Erase(ctx context.Context, tx *sqldb.DB, tenant id.Tenant) error {
	n, err := tx.Exec(ctx, `DELETE FROM contact_log WHERE tenant_id = $1 AND addresses <> '[]' /* reads the tenant: changes of some minutes */`, tenant)
	if err == nil {
		err = countDeleted(ctx, tx, tenant, n+1)
	}
	if err != nil {
		return fmt.Errorf("erase addresses from the log of changed contacts: %w", err)
	}
	return nil
}

func countDeleted(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, n int64) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO contact_log_end (tenant_id, deleted) VALUES ($1, $2)
		ON CONFLICT (tenant_id) DO UPDATE SET deleted = contact_log_end.deleted + excluded.deleted`, tenant, n)
	return err
}

// trimAtOnce is the number of rows that Trim deletes in one transaction.
const trimAtOnce = 2000

// Trim deletes the rows of all tenants that are older than Keep.
func Trim(ctx context.Context, db *sqldb.DB, now time.Time) error {
	before := id.FirstAt[id.LogRow](now.Add(-Keep))
	for tenant := id.Tenant(0); ; {
		var next id.Tenant
		err := db.QueryRow(ctx, `SELECT COALESCE(MIN(tenant_id), 0) FROM contact_log WHERE tenant_id > $1 /* all tenants: in turn */`, tenant).Scan(&next)
		if err != nil {
			return fmt.Errorf("find old rows of the log of changed contacts: %w", err)
		}
		if next == 0 {
			return nil
		}
		n, err := trim(ctx, db, next, before)
		if err != nil {
			return fmt.Errorf("trim the log of changed contacts: %w", err)
		}
		if n < trimAtOnce {
			tenant = next
		}
	}
}

func trim(ctx context.Context, db *sqldb.DB, tenant id.Tenant, before id.LogRow) (n int64, err error) {
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		n, err = tx.Exec(ctx, `
			DELETE FROM contact_log WHERE tenant_id = $1 AND id IN (
				SELECT x.id FROM contact_log AS x WHERE x.tenant_id = $1 AND x.id < $2 ORDER BY x.id LIMIT $3)`, tenant, before, trimAtOnce)
		if err != nil || n == 0 {
			return err
		}
		return countDeleted(ctx, tx, tenant, n)
	})
	return n, err
}
