package track

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"packetboat/internal/id"
	"packetboat/internal/sqldb"
)

// mailKey names a message.
type mailKey struct {
	tenant  id.Tenant
	message id.Message
}

func (h *Hit) mail() mailKey { return mailKey{h.Tenant, h.Message} }

func (k mailKey) compare(o mailKey) int {
	return cmp.Or(cmp.Compare(k.tenant, o.tenant), id.Compare(k.message, o.message))
}

// engagement is the row of a message: its flags, and how many hits it has.
type engagement struct {
	stream     id.Send
	old, flags Flags // as they were read, and as they are to be
	hits       int
	added      int // hits since the row was read
}

// add counts a new pending hit.
func (e *engagement) add(h Hit) {
	e.flags = e.flags.afterPending(h.Click)
	e.added++
}

// begin returns the rows of the hits' messages, made where there were none, and
// keeps others from changing them until the transaction ends. All transactions
// lock rows in the same order, so that no two wait for each other.
func begin(ctx context.Context, tx *sqldb.DB, hits []Hit) (map[mailKey]*engagement, error) {
	streams := map[mailKey]id.Send{}
	for _, h := range hits {
		streams[h.mail()] = h.Stream
	}
	t := tx.Table("tenant_id INTEGER", "message_id UUID", "send_id UUID")
	for _, k := range slices.SortedFunc(maps.Keys(streams), mailKey.compare) {
		t.Add(k.tenant, k.message, streams[k])
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO engagement (tenant_id, message_id, send_id, flags)
		SELECT v.tenant_id, v.message_id, v.send_id, 0 FROM `+t.As("v", 1)+` WHERE true
		ON CONFLICT (tenant_id, message_id) DO NOTHING`, t.Args()...)
	if err != nil {
		return nil, err
	}
	return lock(ctx, tx, slices.Collect(maps.Keys(streams)))
}

// lock returns the rows of messages and keeps others from changing them.
func lock(ctx context.Context, tx *sqldb.DB, messages []mailKey) (map[mailKey]*engagement, error) {
	t := tx.Table("tenant_id INTEGER", "message_id UUID")
	for _, k := range messages {
		t.Add(k.tenant, k.message)
	}
	rows, err := tx.Query(ctx, `
		SELECT e.tenant_id, e.message_id, e.send_id, e.flags, e.hits FROM `+t.As("v", 1)+`
		JOIN engagement AS e ON e.tenant_id = v.tenant_id AND e.message_id = v.message_id
		ORDER BY e.tenant_id, e.message_id`+tx.ForUpdate()+`/* all tenants: the messages name theirs */`, t.Args()...)
	found := make(map[mailKey]*engagement, len(messages))
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (k mailKey, err error) {
		var e engagement
		err = scan(&k.tenant, &k.message, &e.stream, &e.flags, &e.hits)
		e.old = e.flags
		found[k] = &e
		return k, err
	})
	return found, err
}

// streamKey names a stream.
type streamKey struct {
	tenant id.Tenant
	stream id.Send
}

// save writes rows and adds what they change to the sums of their streams. It is
// the last thing that a transaction does: many have to write the same sums.
func save(ctx context.Context, tx *sqldb.DB, messages map[mailKey]*engagement) error {
	t := tx.Table("tenant_id INTEGER", "message_id UUID", "flags BIGINT", "added BIGINT")
	deltas := map[streamKey][]int64{}
	for _, k := range slices.SortedFunc(maps.Keys(messages), mailKey.compare) {
		e := messages[k]
		if e.flags == e.old && e.added == 0 {
			continue
		}
		t.Add(k.tenant, k.message, int64(e.flags), e.added)
		if e.flags == e.old {
			continue
		}
		s := streamKey{k.tenant, e.stream}
		if deltas[s] == nil {
			deltas[s] = make([]int64, len(sumColumns))
		}
		for i := range sumColumns {
			deltas[s][i] += int64(e.flags>>i&1) - int64(e.old>>i&1)
		}
	}
	if t.Len() == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `
		UPDATE engagement SET flags = v.flags, hits = engagement.hits + v.added FROM `+t.As("v", 1)+`
		WHERE engagement.tenant_id = v.tenant_id AND engagement.message_id = v.message_id /* all tenants: the messages name theirs */`, t.Args()...)
	if err != nil || len(deltas) == 0 {
		return err
	}
	return addSums(ctx, tx, deltas)
}

func addSums(ctx context.Context, tx *sqldb.DB, deltas map[streamKey][]int64) error {
	columns := []string{"tenant_id INTEGER", "send_id UUID"}
	var sets []string
	for _, c := range sumColumns {
		columns = append(columns, c+" BIGINT")
		sets = append(sets, fmt.Sprintf("%s = engagement_sum.%[1]s + excluded.%[1]s", c))
	}
	t := tx.Table(columns...)
	byName := func(a, b streamKey) int {
		return cmp.Or(cmp.Compare(a.tenant, b.tenant), id.Compare(a.stream, b.stream))
	}
	for _, s := range slices.SortedFunc(maps.Keys(deltas), byName) { // in one order, or two transactions wait for each other
		row := []any{s.tenant, s.stream}
		for _, d := range deltas[s] {
			row = append(row, d)
		}
		t.Add(row...)
	}
	names := "tenant_id, send_id, " + strings.Join(sumColumns, ", ")
	_, err := tx.Exec(ctx, `
		INSERT INTO engagement_sum (tenant_id, send_id, `+strings.Join(sumColumns, ", ")+`)
		SELECT `+names+` FROM `+t.As("v", 1)+` WHERE true
		ON CONFLICT (tenant_id, send_id) DO UPDATE SET `+strings.Join(sets, ", "), t.Args()...)
	return err
}
