package track

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Source is a network that sends hits for messages of a send.
type Source struct {
	Send id.Send
	Net  string // of Network, not empty
}

// Window is a source between two times, both included.
type Window struct {
	Source
	From, To time.Time
}

// SourceHit is a hit in the list of its source. Hits of mailbox providers' proxies, which fetch for
// many people, are not listed.
type SourceHit struct {
	ID      id.Hit
	Message id.Message
	IP      string
	At      time.Time
}

// Frequent reports for each window whether it contains at least n hits. It reads at most n
// of each.
func Frequent(ctx context.Context, db *sqldb.DB, tenant id.Tenant, list []Window, n int) ([]bool, error) {
	t := db.Table("n BIGINT", "send_id UUID", "net TEXT", "first BIGINT", "last BIGINT")
	for i, s := range list {
		t.Add(i, s.Send, s.Net, s.From.UnixMicro(), s.To.UnixMicro())
	}
	rows, err := db.Query(ctx, `
		SELECT v.n, (SELECT COUNT(*) FROM (
			SELECT 1 FROM hit
			WHERE hit.tenant_id = $1 AND hit.send_id = v.send_id AND hit.net = v.net AND hit.net <> '' AND NOT hit.proxy AND hit.at BETWEEN v.first AND v.last
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

// SourceHits returns about limit hits of a window by time, and whether there are more. Those are after the
// time of the last one.
func SourceHits(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s Window, limit int) (hits []SourceHit, more bool, err error) {
	return pageByTime(limit, timeOfSourceHit, func(n int) ([]SourceHit, error) {
		rows, err := db.Query(ctx, `
			SELECT id, message_id, ip, at FROM hit
			WHERE tenant_id = $1 AND send_id = $2 AND net = $3 AND net <> '' AND NOT proxy AND at >= $4 AND at <= $5
			ORDER BY at LIMIT $6`,
			tenant, s.Send, s.Net, s.From.UnixMicro(), s.To.UnixMicro(), n)
		return sqldb.Collect(rows, err, scanSourceHit)
	})
}

func timeOfSourceHit(h SourceHit) time.Time { return h.At }

func scanSourceHit(scan func(...any) error) (h SourceHit, err error) {
	err = scan(&h.ID, &h.Message, &h.IP, sqldb.ToTime(&h.At))
	return h, err
}

// GenuineHits is SourceHits for hits classified as human or privacy.
func GenuineHits(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s Window, limit int) (hits []SourceHit, more bool, err error) {
	return pageByTime(limit, timeOfSourceHit, func(n int) ([]SourceHit, error) {
		rows, err := db.Query(ctx, `
			SELECT id, message_id, ip, at FROM hit
			WHERE tenant_id = $1 AND send_id = $2 AND net = $3 AND net <> '' AND class IN ('human', 'privacy') AND NOT proxy
				AND at >= $4 AND at <= $5
			ORDER BY at LIMIT $6`,
			tenant, s.Send, s.Net, s.From.UnixMicro(), s.To.UnixMicro(), n)
		return sqldb.Collect(rows, err, scanSourceHit)
	})
}
