package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Totals are the results of all sends of a tenant within a time: messages whose attempts ended in
// it, and first opens and clicks in it, whenever the message was sent.
type Totals struct {
	Messages outbox.TimeSums
	People   track.TimeSums
}

func (t Totals) plus(o Totals) Totals {
	return Totals{t.Messages.Plus(o.Messages), t.People.Plus(o.People)}
}

// Recipients is the denominator of rates: messages that were handed over or failed.
func (t Totals) Recipients() int { return t.Messages.Sent + t.Messages.Failed }

// Rate returns n as a share of Recipients, at most 1: people also open what was sent before.
func (t Totals) Rate(n int) float64 { return min(rate(n, t.Recipients()), 1) }

// DayTotals are the totals of one day of the tenant's time zone.
type DayTotals struct {
	Day spread.Day
	Totals
}

// TypeTotals are the totals of one email type; the zero type is that of sends without one.
type TypeTotals struct {
	Type id.EmailType
	Totals
}

// Overview is the results of a tenant in a range of days.
type Overview struct {
	Totals   Totals
	Previous Totals // of as many days before
	Series   []DayTotals
	ByType   []TypeTotals // the largest first
}

// MaxOverviewDays is the largest range of an Overview.
const MaxOverviewDays = 400

// LoadOverview returns the overview of the days from first to last in a time zone, of one email type
// or, if typ is zero, of all.
func LoadOverview(ctx context.Context, db *sqldb.DB, tenant id.Tenant, first, last spread.Day, zone *time.Location, typ id.EmailType) (Overview, error) {
	days := 1
	for d := first; d < last; d = d.Add(1) {
		days++
	}
	var o Overview
	byDay, byType := map[spread.Day]Totals{}, map[id.EmailType]Totals{}
	err := db.Evaluate(ctx, tenant.String(), func(ctx context.Context, db *sqldb.DB) error {
		o = Overview{}
		clear(byDay)
		clear(byType)
		return eachTotals(ctx, db, tenant, nil, first.Add(-days).Start(zone), last.Add(1).Start(zone), func(at time.Time, of id.EmailType, t Totals) {
			if !typ.IsZero() && of != typ {
				return
			}
			day := spread.DayOf(at, zone)
			if day < first {
				o.Previous = o.Previous.plus(t)
				return
			}
			o.Totals = o.Totals.plus(t)
			byDay[day], byType[of] = byDay[day].plus(t), byType[of].plus(t)
		})
	})
	if err != nil {
		return Overview{}, fmt.Errorf("add up the results of a tenant: %w", err)
	}
	for d := first; d <= last; d = d.Add(1) {
		o.Series = append(o.Series, DayTotals{d, byDay[d]})
	}
	for of, t := range byType {
		o.ByType = append(o.ByType, TypeTotals{of, t})
	}
	slices.SortFunc(o.ByType, func(a, b TypeTotals) int {
		return cmp.Or(cmp.Compare(b.Recipients(), a.Recipients()), id.Compare(a.Type, b.Type))
	})
	return o, nil
}

// SendsByDay returns the results of some sends by day of a time zone, from the first to the last day.
// Days on which nothing happened are not in it.
func SendsByDay(ctx context.Context, db *sqldb.DB, tenant id.Tenant, sends []id.Send, first, last spread.Day, zone *time.Location) (map[spread.Day]Totals, error) {
	byDay := map[spread.Day]Totals{}
	if len(sends) == 0 {
		return byDay, nil
	}
	add := func(at time.Time, _ id.EmailType, t Totals) {
		day := spread.DayOf(at, zone)
		byDay[day] = byDay[day].plus(t)
	}
	if err := eachTotals(ctx, db, tenant, sends, first.Start(zone), last.Add(1).Start(zone), add); err != nil {
		return nil, fmt.Errorf("add up the results of sends by day: %w", err)
	}
	return byDay, nil
}

// eachTotals calls f with the sums of some sends of a tenant, or of all if sends is empty, from a time to
// before another, by interval and email type. Copies for seeds do not count.
func eachTotals(ctx context.Context, db *sqldb.DB, tenant id.Tenant, sends []id.Send, from, before time.Time, f func(at time.Time, typ id.EmailType, t Totals)) error {
	args, only := []any{tenant, from.UnixMicro(), before.UnixMicro()}, ""
	if len(sends) > 0 {
		args, only = append(args, sqldb.List(db, sends)), " AND t.send_id"+db.In(4)
	}
	rows, err := db.Query(ctx, `
		SELECT t.at, s.email_type_id, SUM(t.sent), SUM(t.delivered), SUM(t.bounced), SUM(t.failed)
		FROM outbox_time_sum AS t JOIN send AS s ON s.tenant_id = $1 AND s.id = t.send_id AND s.source_kind <> 'seed_copy'
		WHERE t.tenant_id = $1 AND t.at >= $2 AND t.at < $3`+only+` GROUP BY t.at, s.email_type_id`, args...)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var at time.Time
		var typ id.EmailType
		var t Totals
		m := &t.Messages
		err := scan(sqldb.ToTime(&at), &typ, &m.Sent, &m.Delivered, &m.Bounced, &m.Failed)
		f(at, typ, t)
		return err
	})
	if err != nil {
		return err
	}
	rows, err = db.Query(ctx, `
		SELECT t.at, s.email_type_id, SUM(t.verified_opened), SUM(t.human_opened), SUM(t.human_clicked), SUM(t.unsubscribed), SUM(t.complained)
		FROM engagement_time_sum AS t JOIN send AS s ON s.tenant_id = $1 AND s.id = t.send_id
		WHERE t.tenant_id = $1 AND t.at >= $2 AND t.at < $3`+only+` GROUP BY t.at, s.email_type_id`, args...)
	return sqldb.Each(rows, err, func(scan func(...any) error) error {
		var at time.Time
		var typ id.EmailType
		var t Totals
		p := &t.People
		err := scan(sqldb.ToTime(&at), &typ, &p.VerifiedOpened, &p.HumanOpened, &p.HumanClicked, &p.Unsubscribed, &p.Complained)
		f(at, typ, t)
		return err
	})
}
