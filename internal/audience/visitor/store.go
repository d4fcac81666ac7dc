package visitor

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Strength is what a link of a visitor to a contact is based on.
type Strength int64

// The strengths, weakest first.
const (
	Unlinked Strength = iota
	Claimed           // the visitor gave an address
	Clicked           // the visitor came by a click in a mail to the contact, classified as human
	Verified          // the tenant's server signed the identity
)

// visitor is a row, with changes that are not written yet.
type visitor struct {
	id        id.Visitor
	firstSeen time.Time // zero: the row was inserted by this transaction
	seen      time.Time
	session   time.Time // when the last session began
	contact   id.Contact
	strength  Strength
	linkedAt  *time.Time
	message   id.Message // with hit: the click to be classified; zero: none
	hit       id.Hit
	claimedAt *time.Time
	claimDue  *time.Time // when the verdict on the click is read next; nil: it is final
	kept      int64
	first     *touch // nil: no page was viewed yet
	last      *touch // nil: no session had a campaign or came from another website
}

const columns = `id, first_seen_at, seen_at, session_at, contact_id, strength, linked_at, claim_message, claim_hit, claimed_at, claim_due, kept, first_touch, last_touch`

var columnTypes = []string{
	"id UUID", "first_seen_at BIGINT", "seen_at BIGINT", "session_at BIGINT", "contact_id UUID", "strength INTEGER", "linked_at BIGINT",
	"claim_message UUID", "claim_hit UUID", "claimed_at BIGINT", "claim_due BIGINT", "kept BIGINT", "first_touch JSONB", "last_touch JSONB",
}

func scan(row func(...any) error) (*visitor, error) {
	v := &visitor{}
	var first, seen, session, strength int64
	var firstTouch, lastTouch string
	err := row(&v.id, &first, &seen, &session, &v.contact, &strength, sqldb.ToNullTime(&v.linkedAt), &v.message, &v.hit,
		sqldb.ToNullTime(&v.claimedAt), sqldb.ToNullTime(&v.claimDue), sqldb.ToInt(&v.kept), sqldb.ToText(&firstTouch), sqldb.ToText(&lastTouch))
	if err != nil {
		return nil, err
	}
	v.strength = Strength(strength)
	if first != 0 {
		v.firstSeen, v.seen, v.session = sqldb.Time(first), sqldb.Time(seen), sqldb.Time(session)
	}
	if v.first, err = decodeTouch(firstTouch); err != nil {
		return nil, fmt.Errorf("visitor %s: %w", v.id, err)
	}
	if v.last, err = decodeTouch(lastTouch); err != nil {
		return nil, fmt.Errorf("visitor %s: %w", v.id, err)
	}
	return v, nil
}

func decodeTouch(text string) (*touch, error) {
	if text == "" {
		return nil, nil
	}
	t := &touch{}
	err := json.Unmarshal([]byte(text), t)
	return t, err
}

func encodeTouch(t *touch) (any, error) {
	if t == nil {
		return nil, nil
	}
	b, err := json.Marshal(t)
	return string(b), err
}

// lockOrCreate reads and locks visitors, and creates missing ones, whose number it returns.
func lockOrCreate(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, ids []id.Visitor) (map[id.Visitor]*visitor, int, error) {
	t := tx.Table("id UUID", "first_seen_at BIGINT", "seen_at BIGINT", "session_at BIGINT")
	for _, v := range ids {
		t.Add(v, 0, 0, 0)
	}
	inserted, err := t.Insert(ctx, tx, "visitor", tenant)
	if err != nil {
		return nil, 0, fmt.Errorf("create visitors: %w", err)
	}
	created := 0
	for _, is := range inserted {
		if is {
			created++
		}
	}
	found, err := lock(ctx, tx, tenant, ids)
	return found, created, err
}

// lock reads and locks the visitors that exist.
func lock(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, ids []id.Visitor) (map[id.Visitor]*visitor, error) {
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM visitor WHERE tenant_id = $1 AND id`+tx.In(2)+` ORDER BY id`+tx.ForUpdate(),
		tenant, sqldb.List(tx, ids))
	list, err := sqldb.Collect(rows, err, scan)
	if err != nil {
		return nil, fmt.Errorf("read visitors: %w", err)
	}
	found := make(map[id.Visitor]*visitor, len(list))
	for _, v := range list {
		found[v.id] = v
	}
	return found, nil
}

// save writes visitors.
func save(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, list []*visitor) error {
	t := tx.Table(columnTypes...)
	for _, v := range list {
		first, err := encodeTouch(v.first)
		if err != nil {
			return err
		}
		last, err := encodeTouch(v.last)
		if err != nil {
			return err
		}
		t.Add(v.id, sqldb.Micros(v.firstSeen), sqldb.Micros(v.seen), sqldb.Micros(v.session), sqldb.Null(v.contact), int64(v.strength),
			sqldb.NullMicros(v.linkedAt), sqldb.Null(v.message), sqldb.Null(v.hit), sqldb.NullMicros(v.claimedAt), sqldb.NullMicros(v.claimDue), v.kept, first, last)
	}
	if _, err := t.Update(ctx, tx, "visitor", tenant); err != nil {
		return fmt.Errorf("save visitors: %w", err)
	}
	return nil
}

// keptRow is a page view or an event of a visitor without a contact.
type keptRow struct {
	visitor id.Visitor
	id      id.VisitorRequest
	request Request
}

// takeKept deletes the kept requests of a visitor and returns them, oldest first, with the number of their
// bytes.
func takeKept(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, v id.Visitor) (list []Request, bytes int64, err error) {
	rows, err := tx.Query(ctx, `DELETE FROM visitor_kept WHERE tenant_id = $1 AND visitor_id = $2 RETURNING data`, tenant, v)
	list, err = sqldb.Collect(rows, err, func(scan func(...any) error) (Request, error) {
		var r Request
		var data []byte
		if err := scan(&data); err != nil {
			return r, err
		}
		bytes += int64(len(data))
		err := json.Unmarshal(data, &r)
		return r, err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read the kept requests of a visitor: %w", err)
	}
	slices.SortStableFunc(list, func(a, b Request) int { return a.At.Compare(b.At) })
	return list, bytes, nil
}

// keep stores requests of visitors without a contact, and returns the number of their bytes.
func keep(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, list []keptRow) (bytes int64, err error) {
	t := tx.Table("id UUID", "visitor_id UUID", "at BIGINT", "data BYTEA")
	for _, k := range list {
		data, err := json.Marshal(k.request)
		if err != nil {
			return 0, err
		}
		bytes += int64(len(data))
		t.Add(k.id, k.visitor, sqldb.Micros(k.request.At), data)
	}
	if _, err := t.Insert(ctx, tx, "visitor_kept", tenant); err != nil {
		return 0, fmt.Errorf("keep requests of visitors: %w", err)
	}
	return bytes, nil
}

// totals are the numbers of a tenant's rows; bytes are those of what is kept.
type totals struct{ visitors, kept, bytes, pending int64 }

// addTotals adds to the numbers of a tenant and returns the sums. It locks their row until the
// transaction ends.
func addTotals(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, add totals) (totals, error) {
	var t totals
	err := tx.QueryRow(ctx, `
		INSERT INTO visitor_total (tenant_id, visitors, kept, kept_bytes, pending) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (tenant_id) DO UPDATE SET visitors = visitor_total.visitors + excluded.visitors,
			kept = visitor_total.kept + excluded.kept, kept_bytes = visitor_total.kept_bytes + excluded.kept_bytes, pending = visitor_total.pending + excluded.pending
		RETURNING visitors, kept, kept_bytes, pending`, tenant, add.visitors, add.kept, add.bytes, add.pending).Scan(&t.visitors, &t.kept, &t.bytes, &t.pending)
	if err != nil {
		return t, fmt.Errorf("count visitors: %w", err)
	}
	return t, nil
}
