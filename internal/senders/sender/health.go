package sender

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/senders/traffic"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// HealthWindow is the time over which the rates of a domain are computed.
const HealthWindow = 24 * time.Hour

// Health is how recipients and their servers received the recent mail of a domain.
type Health struct {
	Deliveries     int
	ComplaintRate  float64 // of the deliveries, 0 to 1
	HardBounceRate float64 // of the messages accepted or permanently refused, 0 to 1
	Since          time.Time
}

// HealthOf returns the health of each of a tenant's domains since HealthWindow ago or, if that was
// later, since the domain was resumed.
func HealthOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, list []Domain, now time.Time) (map[id.Domain]Health, error) {
	window := sqldb.Time(now.Add(-HealthWindow).UnixMicro())
	counts, err := traffic.OfDomains(ctx, db, tenant, window)
	if err != nil {
		return nil, err
	}
	all := make(map[id.Domain]Health, len(list))
	for _, d := range list {
		c, since := counts[d.ID], window
		if d.JudgedFrom != nil && d.JudgedFrom.After(window) {
			since = *d.JudgedFrom
			if c, err = traffic.OfDomain(ctx, db, tenant, d.ID, since); err != nil {
				return nil, err
			}
		}
		all[d.ID] = Health{c.Delivered, c.ComplaintRate(traffic.Rate), c.HardBounceRate(traffic.Rate), since}
	}
	return all, nil
}
