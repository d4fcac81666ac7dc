package track

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Evidence contains all hits of some messages of a tenant. Their rows are locked until the
// transaction ends.
type Evidence struct {
	Hits []Hit // by time

	tx       *sqldb.DB
	tenant   id.Tenant
	messages map[id.Message]*engagement
}

// LoadEvidence reads and locks the evidence on messages, before ApplyVerdicts in the same
// transaction. Of two transactions about the same messages, the later one reads the
// verdicts of the earlier.
func LoadEvidence(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, messages []id.Message) (*Evidence, error) {
	rows, err := lockEngagements(ctx, tx, tenant, messages)
	if err != nil {
		return nil, fmt.Errorf("lock engagement: %w", err)
	}
	hits, err := HitsOf(ctx, tx, tenant, messages)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(hits, func(h Hit) bool { return rows[h.Message] == nil }) { // rows written without Record, as by bench
		sends := map[id.Message]id.Send{}
		for _, h := range hits {
			sends[h.Message] = h.Send
		}
		if rows, err = lockOrCreate(ctx, tx, tenant, sends); err != nil {
			return nil, fmt.Errorf("lock engagement: %w", err)
		}
	}
	return &Evidence{Hits: hits, tx: tx, tenant: tenant, messages: rows}, nil
}

// ApplyVerdicts writes verdicts (Class and Rule of each) on hits of the evidence, derives
// the flags of their messages and updates the sums of their sends.
func (e *Evidence) ApplyVerdicts(ctx context.Context, verdicts []Hit) error {
	if len(verdicts) == 0 {
		return nil
	}
	t := e.tx.Table("message_id UUID", "id UUID", "class TEXT", "rule TEXT")
	type key struct {
		message id.Message
		id      id.Hit
	}
	given := make(map[key]*Hit, len(verdicts))
	judged := map[id.Message]*engagement{}
	for i := range verdicts {
		h := &verdicts[i]
		t.Add(h.Message, h.ID, h.Class, sqldb.Null(h.Rule))
		given[key{h.Message, h.ID}] = h
		judged[h.Message] = e.messages[h.Message]
	}
	_, err := e.tx.Exec(ctx, `
		UPDATE hit SET class = v.class, rule = v.rule FROM `+t.As("v", 2)+`
		WHERE hit.tenant_id = $1 AND hit.message_id = v.message_id AND hit.id = v.id`, t.Args(e.tenant)...)
	if err != nil {
		return fmt.Errorf("write verdicts: %w", err)
	}
	byMessage := map[id.Message][]Hit{}
	for _, h := range e.Hits {
		if v := given[key{h.Message, h.ID}]; v != nil {
			h.Class, h.Rule = v.Class, v.Rule
		}
		if judged[h.Message] != nil {
			byMessage[h.Message] = append(byMessage[h.Message], h)
		}
	}
	var entries []journal.Entry
	var c changes
	for _, k := range slices.SortedFunc(maps.Keys(judged), id.Compare) {
		m := judged[k]
		if m.pruned > 0 { // what is left of the hits no longer determines the flags
			entries = append(entries, engagementEntries(m.old, m.old, byMessage[k])...)
			continue
		}
		m.flags = Derive(byMessage[k]) | m.old&notFromHits
		c.addSummary(m, summarize(byMessage[k], func(h *Hit) Class { return h.oldClass }), summarize(byMessage[k], func(h *Hit) Class { return h.Class }))
		entries = append(entries, engagementEntries(m.old, m.flags, byMessage[k])...)
	}
	if err := journal.Append(ctx, e.tx, entries...); err != nil {
		return err
	}
	if err := c.saveEngagements(ctx, e.tx, e.tenant, judged); err != nil {
		return fmt.Errorf("recount engagement: %w", err)
	}
	return nil
}

// PendingPage returns about limit pending hits of all tenants after a time and not after before, oldest
// first, and whether there are more. Those are after the time of the last one.
func PendingPage(ctx context.Context, db *sqldb.DB, after, before time.Time, limit int) (hits []Hit, more bool, err error) {
	from := int64(-1 << 62)
	if !after.IsZero() {
		from = after.UnixMicro()
	}
	return pageByTime(limit, func(h Hit) time.Time { return h.At }, func(n int) ([]Hit, error) {
		rows, err := db.Query(ctx, `
			SELECT `+hitColumns+` FROM hit
			WHERE class = 'pending' AND at > $1 AND at <= $2
			ORDER BY at LIMIT $3 /* all tenants: one classifier */`, from, before.UnixMicro(), n)
		return sqldb.Collect(rows, err, scanHit)
	})
}

// PendingOf returns the pending hits of messages.
func PendingOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, messages []id.Message) ([]Hit, error) {
	// An expression, since on a table without statistics PostgreSQL would use an index of
	// all of a tenant's hits for the plain column.
	rows, err := db.Query(ctx, `
		SELECT `+hitColumns+` FROM hit
		WHERE tenant_id = $1 AND message_id`+db.In(2)+` AND class || '' = 'pending'`, tenant, sqldb.List(db, messages))
	return sqldb.Collect(rows, err, scanHit)
}

// HitCounts returns the numbers of hits of messages.
func HitCounts(ctx context.Context, db *sqldb.DB, tenant id.Tenant, messages []id.Message) (map[id.Message]int, error) {
	rows, err := db.Query(ctx, `SELECT message_id, hits - pruned FROM engagement WHERE tenant_id = $1 AND message_id`+db.In(2),
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
