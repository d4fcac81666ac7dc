package track

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"packetboat/internal/id"
	"packetboat/internal/journal"
	"packetboat/internal/sqldb"
)

// Evidence is everything that is known of some messages. Until the transaction
// ends, nothing is added to it.
type Evidence struct {
	Hits []Hit // by time

	tx       *sqldb.DB
	messages map[mailKey]*engagement
}

// Gather reads the evidence on messages inside a transaction that will judge: of
// two that judge the same messages, the later sees what the earlier found.
func Gather(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, messages []id.Message) (*Evidence, error) {
	keys := make([]mailKey, len(messages))
	for i, m := range messages {
		keys[i] = mailKey{tenant, m}
	}
	rows, err := lock(ctx, tx, keys)
	if err != nil {
		return nil, fmt.Errorf("lock engagement: %w", err)
	}
	hits, err := HitsOf(ctx, tx, tenant, messages)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(hits, func(h Hit) bool { return rows[h.mail()] == nil }) { // hits that were not recorded but loaded
		if rows, err = begin(ctx, tx, hits); err != nil {
			return nil, fmt.Errorf("lock engagement: %w", err)
		}
	}
	return &Evidence{Hits: hits, tx: tx, messages: rows}, nil
}

// Judge writes verdicts (Class and Rule of each) on hits of the evidence, derives
// the flags of their messages and lets the sums of their streams follow.
func (e *Evidence) Judge(ctx context.Context, verdicts []Hit, now time.Time) error {
	if len(verdicts) == 0 {
		return nil
	}
	t := e.tx.Table("tenant_id INTEGER", "id UUID", "class TEXT", "rule TEXT")
	given := make(map[id.Hit]*Hit, len(verdicts))
	judged := map[mailKey]*engagement{}
	for i := range verdicts {
		h := &verdicts[i]
		t.Add(h.Tenant, h.ID, h.Class, sqldb.Null(h.Rule))
		given[h.ID] = h
		judged[h.mail()] = e.messages[h.mail()]
	}
	_, err := e.tx.Exec(ctx, `
		UPDATE hit SET class = v.class, rule = v.rule, classified_at = $1
		FROM `+t.As("v", 2)+` WHERE hit.tenant_id = v.tenant_id AND hit.id = v.id`, t.Args(now.UnixMicro())...)
	if err != nil {
		return fmt.Errorf("write verdicts: %w", err)
	}
	of := map[mailKey][]Hit{}
	for _, h := range e.Hits {
		if v := given[h.ID]; v != nil {
			h.Class, h.Rule = v.Class, v.Rule
		}
		if judged[h.mail()] != nil {
			of[h.mail()] = append(of[h.mail()], h)
		}
	}
	var entries []journal.Entry
	for _, k := range slices.SortedFunc(maps.Keys(judged), mailKey.compare) {
		m := judged[k]
		m.flags = Derive(of[k]) | m.old&kept
		entries = append(entries, noted(m.old, m.flags, of[k])...)
	}
	if err := journal.Append(ctx, e.tx, entries...); err != nil {
		return err
	}
	if err := save(ctx, e.tx, judged); err != nil {
		return fmt.Errorf("recount engagement: %w", err)
	}
	return nil
}

// Place is where a page of pending hits ends. The zero value is before the first.
type Place struct {
	At time.Time
	ID id.Hit
}

// PendingPage returns up to limit pending hits behind a place, oldest first, of
// all tenants, that came in before a time.
func PendingPage(ctx context.Context, db *sqldb.DB, after Place, before time.Time, limit int) ([]Hit, error) {
	from := int64(-1 << 62)
	if !after.At.IsZero() {
		from = after.At.UnixMicro()
	}
	rows, err := db.Query(ctx, `
		SELECT `+hitColumns+` FROM hit
		WHERE class = 'pending' AND at >= $1 AND (at, id) > ($1, $2) AND at <= $3
		ORDER BY at, id LIMIT $4 /* all tenants: one classifier */`,
		from, after.ID, before.UnixMicro(), limit)
	return sqldb.Collect(rows, err, scanHit)
}

// PendingOf returns the pending hits of messages.
func PendingOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, messages []id.Message) ([]Hit, error) {
	// Compared as a plain column, the class would lead PostgreSQL to an index with
	// all of a tenant's hits while it knows nothing of the table.
	rows, err := db.Query(ctx, `
		SELECT `+hitColumns+` FROM hit
		WHERE tenant_id = $1 AND message_id`+db.In(2)+` AND class || '' = 'pending'`, tenant, sqldb.List(db, messages))
	return sqldb.Collect(rows, err, scanHit)
}

// Counts returns how many hits messages have.
func Counts(ctx context.Context, db *sqldb.DB, tenant id.Tenant, messages []id.Message) (map[id.Message]int, error) {
	rows, err := db.Query(ctx, `SELECT message_id, hits FROM engagement WHERE tenant_id = $1 AND message_id`+db.In(2),
		tenant, sqldb.List(db, messages))
	counts := make(map[id.Message]int, len(messages))
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (m id.Message, err error) {
		var n int
		err = scan(&m, &n)
		counts[m] = n
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("count hits: %w", err)
	}
	return counts, nil
}
