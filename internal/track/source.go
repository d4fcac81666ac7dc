package track

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Source is an address from which the messages of a send are hit.
type Source struct {
	Send id.Send
	IP   string
}

// Stretch is a source between two times, both included.
type Stretch struct {
	Source
	From, To time.Time
}

// SourceHit is a hit as one of many from its source. Those of image proxies, who
// fetch for everybody, are none.
type SourceHit struct {
	Message id.Message
	At      time.Time
}

// Frequent reports for each of the stretches whether there are at least n hits in
// it. It reads no more than n of each.
func Frequent(ctx context.Context, db *sqldb.DB, tenant id.Tenant, list []Stretch, n int) ([]bool, error) {
	t := db.Table("n BIGINT", "send_id UUID", "ip TEXT", "first BIGINT", "last BIGINT")
	for i, s := range list {
		t.Add(i, s.Send, s.IP, s.From.UnixMicro(), s.To.UnixMicro())
	}
	rows, err := db.Query(ctx, `
		SELECT v.n, (SELECT COUNT(*) FROM (
			SELECT 1 FROM hit
			WHERE hit.tenant_id = $1 AND hit.send_id = v.send_id AND hit.ip = v.ip AND NOT hit.proxy AND hit.at BETWEEN v.first AND v.last
			LIMIT $2) AS few)
		FROM `+t.As("v", 3), t.Args(tenant, n)...)
	out := make([]bool, len(list))
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (i int, err error) {
		var have int
		err = scan(&i, &have)
		if err == nil {
			out[i] = have >= n
		}
		return i, err
	})
	return out, err
}

// SourceHits returns up to limit hits of a stretch by time, behind the one given,
// which may be before the stretch.
func SourceHits(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s Stretch, after SourceHit, limit int) ([]SourceHit, error) {
	if after.At.Before(s.From) {
		after = SourceHit{At: s.From}
	}
	rows, err := db.Query(ctx, `
		SELECT message_id, at FROM hit
		WHERE tenant_id = $1 AND send_id = $2 AND ip = $3 AND NOT proxy AND at >= $4 AND (at, message_id) > ($4, $5) AND at <= $6
		ORDER BY at, message_id LIMIT $7`,
		tenant, s.Send, s.IP, after.At.UnixMicro(), after.Message, s.To.UnixMicro(), limit)
	return sqldb.Collect(rows, err, func(scan func(...any) error) (h SourceHit, err error) {
		err = scan(&h.Message, sqldb.ToTime(&h.At))
		return h, err
	})
}

// SettledHit is a hit that was found to be a person's or a privacy proxy's.
type SettledHit struct {
	ID id.Hit
	SourceHit
}

// Settled returns up to limit hits of a stretch that were found to be a person's or a
// privacy proxy's, by time, behind the one given, which may be before the stretch.
func Settled(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s Stretch, after SettledHit, limit int) ([]SettledHit, error) {
	if after.At.Before(s.From) {
		after = SettledHit{SourceHit: SourceHit{At: s.From}}
	}
	rows, err := db.Query(ctx, `
		SELECT id, message_id, at FROM hit
		WHERE tenant_id = $1 AND send_id = $2 AND ip = $3 AND class IN ('human', 'privacy') AND NOT proxy
			AND at >= $4 AND (at, id) > ($4, $5) AND at <= $6
		ORDER BY at, id LIMIT $7`,
		tenant, s.Send, s.IP, after.At.UnixMicro(), after.ID, s.To.UnixMicro(), limit)
	return sqldb.Collect(rows, err, func(scan func(...any) error) (h SettledHit, err error) {
		err = scan(&h.ID, &h.Message, sqldb.ToTime(&h.At))
		return h, err
	})
}
