package sender

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/senders/traffic"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Metric is what a warning is about.
type Metric string

// The metrics.
const (
	Complaints   Metric = "complaint_rate"    // of deliveries, of all mail or to a provider
	HardBounces  Metric = "hard_bounce_rate"  // of messages that were accepted or refused for good
	Refusals     Metric = "refusal_rate"      // for content or reputation, of attempts at a provider
	AuthFailures Metric = "auth_failure_rate" // of attempts at a provider, in the last half hour
	UnknownUsers Metric = "unknown_user_rate" // of the first recipients of a broadcast who had no mail before
	Throughput   Metric = "throughput"        // messages in five minutes, of the median of the hour before
)

// Metrics returns all metrics.
func Metrics() []Metric {
	return []Metric{Complaints, HardBounces, Refusals, AuthFailures, UnknownUsers, Throughput}
}

// Warning says that a number about a domain is too high, or the throughput too low. It comes before a
// pause, and pauses nothing.
type Warning struct {
	Metric    Metric
	Provider  string       // empty: not about a single provider
	Broadcast id.Broadcast // of UnknownUsers
	Count, Of int
	Threshold float64
	Window    time.Duration
	Since     time.Time // when it began
}

// Rate returns the rate.
func (w Warning) Rate() float64 { return traffic.Rate(w.Count, w.Of) }

// String returns the warning as a sentence for people.
func (w Warning) String() string {
	rate, within := fmt.Sprintf("%.3g %%", 100*w.Rate()), "in "+hours(w.Window)
	to := ""
	if w.Provider != "" {
		to = " to " + w.Provider
		if w.Provider == traffic.OtherProviders {
			to = " to other providers"
		}
	}
	switch w.Metric {
	case Complaints:
		return fmt.Sprintf("%s of the mails%s were reported as spam (%d of %d %s)", rate, to, w.Count, w.Of, within)
	case HardBounces:
		return fmt.Sprintf("%s of the mails were hard bounces (%d of %d %s)", rate, w.Count, w.Of, within)
	case Refusals:
		return fmt.Sprintf("%s of the attempts%s were refused for content or reputation (%d of %d %s)", rate, to, w.Count, w.Of, within)
	case AuthFailures:
		return fmt.Sprintf("%s of the attempts%s were refused because authentication failed (%d of %d %s)", rate, to, w.Count, w.Of, within)
	case UnknownUsers:
		return fmt.Sprintf("%s of the first recipients of a broadcast to a new list do not exist (%d of %d)", rate, w.Count, w.Of)
	case Throughput:
		return fmt.Sprintf("hardly any messages leave though some are due (%d %s; before, %d)", w.Count, within, w.Of)
	}
	return string(w.Metric)
}

// hours returns a duration in words.
func hours(d time.Duration) string {
	if d < time.Hour {
		return fmt.Sprintf("%d minutes", int(d/time.Minute))
	}
	return fmt.Sprintf("%d hours", int(d/time.Hour))
}

// scope returns what tells warnings of the same metric apart.
func (w Warning) scope() string {
	if !w.Broadcast.IsZero() {
		return w.Broadcast.String()
	}
	return w.Provider
}

// same reports whether two warnings of a domain are about the same thing.
func (w Warning) same(o Warning) bool { return w.Metric == o.Metric && w.scope() == o.scope() }

// describes reports whether two warnings say the same.
func (w Warning) describes(o Warning) bool {
	w.Since, o.Since = time.Time{}, time.Time{}
	return w == o
}

// Warnings returns the warnings about a tenant's domains, except those from before a domain was resumed.
func Warnings(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (map[id.Domain][]Warning, error) {
	rows, err := db.Query(ctx, `
		SELECT w.domain_id, w.metric, w.scope, w.count, w.total, w.threshold, w.length, w.since FROM domain_warning AS w
		JOIN sending_domain AS d ON d.tenant_id = w.tenant_id AND d.id = w.domain_id
		WHERE w.tenant_id = $1 AND w.since > COALESCE(d.judged_from, 0) ORDER BY w.domain_id, w.metric, w.scope`, tenant)
	all := map[id.Domain][]Warning{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var d id.Domain
		w, err := scanWarning(scan, &d)
		all[d] = append(all[d], w)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read warnings about domains: %w", err)
	}
	return all, nil
}

func scanWarning(scan func(...any) error, owner ...any) (w Warning, err error) {
	var scope string
	var length, since int64
	if err = scan(append(owner, &w.Metric, &scope, &w.Count, &w.Of, &w.Threshold, &length, &since)...); err != nil {
		return w, err
	}
	w.Window, w.Since = time.Duration(length)*time.Microsecond, sqldb.Time(since)
	if w.Metric != UnknownUsers {
		w.Provider = scope
	} else if b, ok := id.Parse[id.Broadcast](scope); ok {
		w.Broadcast = b
	} else {
		return w, fmt.Errorf("a warning about the broadcast %q", scope)
	}
	return w, nil
}

// AllWarnings returns the warnings about the domains of all tenants.
func AllWarnings(ctx context.Context, db *sqldb.DB) (map[traffic.Domain][]Warning, error) {
	rows, err := db.Query(ctx, `/* all tenants: one watch looks after every domain */
		SELECT tenant_id, domain_id, metric, scope, count, total, threshold, length, since FROM domain_warning
		ORDER BY tenant_id, domain_id, metric, scope`)
	all := map[traffic.Domain][]Warning{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var d traffic.Domain
		w, err := scanWarning(scan, &d.Tenant, &d.Domain)
		all[d] = append(all[d], w)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read warnings about domains: %w", err)
	}
	return all, nil
}

// CountWarnings returns the number of warnings of each metric, about domains of all tenants.
func CountWarnings(ctx context.Context, db *sqldb.DB) (map[Metric]int, error) {
	rows, err := db.Query(ctx, `/* all tenants: a metric of the installation */ SELECT metric, COUNT(*) FROM domain_warning GROUP BY metric`)
	n := map[Metric]int{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var m Metric
		var count int
		err := scan(&m, &count)
		n[m] = count
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count warnings about domains: %w", err)
	}
	return n, nil
}

// WarningChange is a warning that began, that reached a higher threshold, or that ended.
type WarningChange struct {
	Domain traffic.Domain
	Warning
	Ended bool
}

// SaveWarnings stores the warnings that were found about the domains of all tenants, in place of those
// known from before, and returns what changed. Warnings from before a domain was resumed end. One process
// at a time calls it.
func SaveWarnings(ctx context.Context, db *sqldb.DB, known, found map[traffic.Domain][]Warning, resumed map[traffic.Domain]time.Time, now time.Time) ([]WarningChange, error) {
	var changes []WarningChange
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		changes = nil
		for d, list := range known {
			for _, w := range list {
				still := slices.ContainsFunc(found[d], w.same)
				if still && w.Since.After(resumed[d]) {
					continue
				}
				changes = append(changes, WarningChange{d, w, true})
				if still {
					continue // it begins again
				}
				if _, err := tx.Exec(ctx, `DELETE FROM domain_warning WHERE tenant_id = $1 AND domain_id = $2 AND metric = $3 AND scope = $4`,
					d.Tenant, d.Domain, w.Metric, w.scope()); err != nil {
					return err
				}
			}
		}
		for d, list := range found {
			for _, w := range list {
				w.Since = sqldb.Time(now.UnixMicro())
				fresh := true
				if i := slices.IndexFunc(known[d], w.same); i >= 0 && known[d][i].Since.After(resumed[d]) {
					before := known[d][i]
					if w.describes(before) {
						continue
					}
					w.Since, fresh = before.Since, w.Threshold > before.Threshold
				}
				stored, err := w.store(ctx, tx, d)
				if err != nil {
					return err
				}
				if fresh && stored {
					changes = append(changes, WarningChange{d, w, false})
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("save warnings about domains: %w", err)
	}
	slices.SortFunc(changes, func(a, b WarningChange) int {
		return cmp.Or(cmp.Compare(a.Domain.Tenant, b.Domain.Tenant), id.Compare(a.Domain.Domain, b.Domain.Domain),
			cmp.Compare(a.Metric, b.Metric), cmp.Compare(a.scope(), b.scope()))
	})
	return changes, nil
}

// store stores a warning unless the domain was deleted, and reports whether it did.
func (w Warning) store(ctx context.Context, tx *sqldb.DB, d traffic.Domain) (bool, error) {
	n, err := tx.Exec(ctx, `
		INSERT INTO domain_warning (tenant_id, domain_id, metric, scope, count, total, threshold, length, since)
		SELECT d.tenant_id, d.id, `+tx.Param(3, "TEXT")+`, `+tx.Param(4, "TEXT")+`, `+tx.Param(5, "BIGINT")+`, `+tx.Param(6, "BIGINT")+`,
			`+tx.Param(7, "DOUBLE PRECISION")+`, `+tx.Param(8, "BIGINT")+`, `+tx.Param(9, "BIGINT")+`
		FROM sending_domain AS d WHERE d.tenant_id = $1 AND d.id = $2
		ON CONFLICT (tenant_id, domain_id, metric, scope) DO UPDATE SET count = excluded.count, total = excluded.total,
			threshold = excluded.threshold, length = excluded.length, since = excluded.since`,
		d.Tenant, d.Domain, w.Metric, w.scope(), w.Count, w.Of, w.Threshold, w.Window.Microseconds(), w.Since.UnixMicro())
	return n == 1, err
}

// Resumed returns when domains of all tenants were resumed that were resumed after a time.
func Resumed(ctx context.Context, db *sqldb.DB, after time.Time) (map[traffic.Domain]time.Time, error) {
	rows, err := db.Query(ctx, `/* all tenants: one watch looks after every domain */
		SELECT tenant_id, id, judged_from FROM sending_domain WHERE judged_from > $1`, after.UnixMicro())
	at := map[traffic.Domain]time.Time{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var d traffic.Domain
		var resumed int64
		err := scan(&d.Tenant, &d.Domain, &resumed)
		at[d] = sqldb.Time(resumed)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find resumed domains: %w", err)
	}
	return at, nil
}
