package score

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// dailyKey is a rule with a daily cap, a contact and a day.
type dailyKey struct {
	contact id.Contact
	rule    string
	day     int64
}

// dailyCounts counts how often rules with a daily cap applied. The day is that of the
// entry's time in the account's time zone, even if the entry is processed later.
type dailyCounts struct {
	zone    *time.Location
	n       map[dailyKey]int64
	changed map[dailyKey]bool
}

// dayOf returns the number of a day since 1970-01-01.
func dayOf(at time.Time, zone *time.Location) int64 {
	y, m, d := at.In(zone).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / 86400
}

// loadDailyCounts returns the counts of the days of awards.
func loadDailyCounts(ctx context.Context, tx *sqldb.DB, t id.Tenant, awards []award, zone *time.Location) (*dailyCounts, error) {
	c := &dailyCounts{zone: zone, n: map[dailyKey]int64{}, changed: map[dailyKey]bool{}}
	ids, days := map[id.Contact]bool{}, map[int64]bool{}
	for _, h := range awards {
		if h.rule.DailyCap > 0 {
			ids[h.Contact], days[dayOf(h.At, zone)] = true, true
		}
	}
	if len(ids) == 0 {
		return c, nil
	}
	sorted := slices.Sorted(maps.Keys(days))
	rows, err := tx.Query(ctx, `
		SELECT contact_id, rule_id, day, n FROM score_day
		WHERE tenant_id = $1 AND contact_id`+tx.In(2)+` AND day BETWEEN $3 AND $4`,
		t, sqldb.List(tx, slices.SortedFunc(maps.Keys(ids), id.Compare)), sorted[0], sorted[len(sorted)-1])
	_, err = sqldb.Collect(rows, err, func(row func(...any) error) (k dailyKey, err error) {
		var n int64
		err = row(&k.contact, &k.rule, &k.day, &n)
		c.n[k] = n
		return k, err
	})
	if err != nil {
		return nil, fmt.Errorf("load daily counts: %w", err)
	}
	return c, nil
}

// add counts an award, or reports false if its rule's cap is reached.
func (c *dailyCounts) add(h award) bool {
	if h.rule.DailyCap == 0 {
		return true
	}
	k := dailyKey{h.Contact, h.rule.ID, dayOf(h.At, c.zone)}
	if c.n[k] >= int64(h.rule.DailyCap) {
		return false
	}
	c.n[k]++
	c.changed[k] = true
	return true
}

func (c *dailyCounts) save(ctx context.Context, tx *sqldb.DB, t id.Tenant) error {
	if len(c.changed) == 0 {
		return nil
	}
	v := tx.Table("contact_id UUID", "rule_id TEXT", "day BIGINT", "n BIGINT")
	for k := range c.changed {
		v.Add(k.contact, k.rule, k.day, c.n[k])
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO score_day (tenant_id, contact_id, rule_id, day, n)
		SELECT h.tenant_id, v.contact_id, v.rule_id, v.day, v.n FROM `+tx.Home(1)+` CROSS JOIN `+v.As("v", 2)+` WHERE true
		ON CONFLICT (tenant_id, contact_id, rule_id, day) DO UPDATE SET n = excluded.n`, v.Args(t)...)
	if err != nil {
		return fmt.Errorf("save daily counts: %w", err)
	}
	return nil
}

// countsAge is the number of days for which counts are stored. For entries processed later
// than that the count begins at zero.
const countsAge = 35

// deleteOldCounts deletes the counts that are too old.
func deleteOldCounts(ctx context.Context, db *sqldb.DB, now time.Time) error {
	const page = 5000
	for {
		n, err := db.Exec(ctx, `
			DELETE FROM score_day WHERE (tenant_id, contact_id, rule_id, day) IN (
				SELECT tenant_id, contact_id, rule_id, day FROM score_day WHERE day < $1 LIMIT $2) /* all tenants: by age */`,
			dayOf(now, time.UTC)-countsAge, page)
		if err != nil {
			return fmt.Errorf("delete old daily counts: %w", err)
		}
		if n < page {
			return nil
		}
	}
}
