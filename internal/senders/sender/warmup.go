package sender

import (
	"context"
	"fmt"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// WarmDays is after how many days of good mail a domain is not new any more: lanes that warm up then
// limit its mail no more than that of other domains.
const WarmDays = 60

// badDay is how many days a domain loses after one with far too many bounces or complaints.
const badDay = 3

// IsNew reports whether the domain has little good mail behind it.
func (d Domain) IsNew() bool { return d.WarmDays < WarmDays }

// WarmingDomain is a new domain whose days are counted.
type WarmingDomain struct {
	Tenant id.Tenant
	Domain id.Domain
	Name   string
}

// WarmingDomains returns the new domains of all tenants whose days before today are not counted yet.
func WarmingDomains(ctx context.Context, db *sqldb.DB, today func(id.Tenant) (spread.Day, error)) ([]WarmingDomain, error) {
	type row struct {
		WarmingDomain
		until string
	}
	rows, err := db.Query(ctx, `/* all tenants: one watch looks after every domain */
		SELECT tenant_id, id, domain, COALESCE(warm_day, '') FROM sending_domain WHERE warm_days < $1 AND status = 'verified' ORDER BY tenant_id, id`, WarmDays)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (r row, err error) {
		err = scan(&r.Tenant, &r.Domain, &r.Name, &r.until)
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("list new sending domains: %w", err)
	}
	var due []WarmingDomain
	for _, r := range list {
		day, err := today(r.Tenant)
		if err != nil {
			return nil, err
		}
		if spread.Day(r.until) < day {
			due = append(due, r.WarmingDomain)
		}
	}
	return due, nil
}

// CountDay counts the day before today, unless it was counted: a good one adds a day, a bad one takes
// several.
func CountDay(ctx context.Context, db *sqldb.DB, d WarmingDomain, today spread.Day, good, bad bool) error {
	change := 0
	switch {
	case bad:
		change = -badDay
	case good:
		change = 1
	}
	_, err := db.Exec(ctx, `
		UPDATE sending_domain SET warm_day = $3, warm_days = CASE WHEN warm_days + $4 < 0 THEN 0 ELSE warm_days + $4 END
		WHERE tenant_id = $1 AND id = $2 AND COALESCE(warm_day, '') < $3`, d.Tenant, d.Domain, today, change)
	if err != nil {
		return fmt.Errorf("count a day of a sending domain: %w", err)
	}
	return nil
}
