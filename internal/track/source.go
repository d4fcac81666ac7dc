package track

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Source is an IP address that sends hits for messages of a send.
type Source struct {
	Send id.Send
	IP   string
}

// Window is a source between two times, both included.
type Window struct {
	Source
	From, To time.Time
}

// SourceHit is a hit in the list of its source. Hits of image proxies, which fetch for many
// people, are not listed.
type SourceHit struct {
	Message id.Message
	At      time.Time
}

// Frequent reports for each window whether it contains at least n hits. It reads at most n
// of each.
func Frequent(ctx context.Context, db *sqldb.DB, tenant id.Tenant, list []Window, n int) ([]bool, error) {
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

// SourceHits returns up to limit hits of a window by time, after the given one, which may
// be before the window.
func SourceHits(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s Window, after SourceHit, limit int) ([]SourceHit, error) {
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

// GenuineHit is a hit classified as human or privacy.
type GenuineHit struct {
	ID id.Hit
	SourceHit
}

// GenuineHits returns up to limit hits of a window classified as human or privacy, by time,
// after the given one, which may be before the window.
func GenuineHits(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s Window, after GenuineHit, limit int) ([]GenuineHit, error) {
	if after.At.Before(s.From) {
		after = GenuineHit{SourceHit: SourceHit{At: s.From}}
	}
	rows, err := db.Query(ctx, `
		SELECT id, message_id, at FROM hit
		WHERE tenant_id = $1 AND send_id = $2 AND ip = $3 AND class IN ('human', 'privacy') AND NOT proxy
			AND at >= $4 AND (at, id) > ($4, $5) AND at <= $6
		ORDER BY at, id LIMIT $7`,
		tenant, s.Send, s.IP, after.At.UnixMicro(), after.ID, s.To.UnixMicro(), limit)
	return sqldb.Collect(rows, err, func(scan func(...any) error) (h GenuineHit, err error) {
		err = scan(&h.ID, &h.Message, sqldb.ToTime(&h.At))
		return h, err
	})
}
