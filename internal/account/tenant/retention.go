package tenant

import (
	"fmt"

	"github.com/packetboat/packetboat/internal/base/fault"
)

// Retention is how many days a tenant's data are kept.
type Retention struct {
	Events      int // journal entries, such as custom events and changes of contacts
	Engagement  int // opens and clicks, and journal entries about mails
	Deliveries  int // deliveries of webhooks
	RawRequests int // addresses and user agents of opens and clicks
}

// DefaultRetention returns the retention of a new tenant.
func DefaultRetention() Retention {
	return Retention{Events: 400, Engagement: 730, Deliveries: 30, RawRequests: 30}
}

// The bounds of retention, in days. Reports of sends count opens and clicks for 60 days, so these are
// kept longer.
const (
	minEventsDays      = 30
	minEngagementDays  = 90
	minDeliveriesDays  = 3 // the last attempt is made after two
	maxDeliveriesDays  = 400
	minRawRequestsDays = 1
	maxRawRequestsDays = 400
	maxRetentionDays   = 3650
)

// check adds a problem for each number out of bounds.
func (r Retention) check(p *fault.Problems) {
	within := func(path string, days, low, high int) {
		if days < low || days > high {
			p.Add("retention."+path, fmt.Sprintf("must be %d to %d", low, high))
		}
	}
	within("events_days", r.Events, minEventsDays, maxRetentionDays)
	within("engagement_days", r.Engagement, minEngagementDays, maxRetentionDays)
	within("deliveries_days", r.Deliveries, minDeliveriesDays, maxDeliveriesDays)
	within("raw_requests_days", r.RawRequests, minRawRequestsDays, maxRawRequestsDays)
}
