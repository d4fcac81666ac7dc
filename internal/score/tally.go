package score

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// counted is a rule with a cap, on a day of one contact.
type counted struct {
	contact id.Contact
	rule    string
	day     int64
}

// tally counts how often capped rules have scored. A day is that of the account
// on which the act took place, however late we hear of it.
type tally struct {
	zone    *time.Location
	n       map[counted]int64
	changed map[counted]bool
}

// dayOf numbers the day of a moment from 1970-01-01.
func dayOf(at time.Time, zone *time.Location) int64 {
	y, m, d := at.In(zone).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / 86400
}

// loadTally returns what was counted on the days of the hits.
func loadTally(ctx context.Context, tx *sqldb.DB, t id.Tenant, hits []hit, zone *time.Location) (*tally, error) {
	c := &tally{zone: zone, n: map[counted]int64{}, changed: map[counted]bool{}}
	ids, days := map[id.Contact]bool{}, map[int64]bool{}
	for _, h := range hits {
		if h.rule.DailyCap > 0 {
			ids[h.Contact], days[dayOf(h.At, zone)] = true, true
		}
	}
	if len(ids) == 0 {
		return c, nil
	}
	wanted := slices.Sorted(maps.Keys(days))
	rows, err := tx.Query(ctx, `
		SELECT contact_id, rule_id, day, n FROM score_day
		WHERE tenant_id = $1 AND contact_id`+tx.In(2)+` AND day BETWEEN $3 AND $4`,
		t, sqldb.List(tx, slices.SortedFunc(maps.Keys(ids), id.Compare)), wanted[0], wanted[len(wanted)-1])
	_, err = sqldb.Collect(rows, err, func(row func(...any) error) (k counted, err error) {
		var n int64
		err = row(&k.contact, &k.rule, &k.day, &n)
		c.n[k] = n
		return k, err
	})
	if err != nil {
		return nil, fmt.Errorf("read the day's counts: %w", err)
	}
	return c, nil
}

// take reports whether the hit is still within its rule's cap, and counts it.
func (c *tally) take(h hit) bool {
	if h.rule.DailyCap == 0 {
		return true
	}
	k := counted{h.Contact, h.rule.ID, dayOf(h.At, c.zone)}
	if c.n[k] >= int64(h.rule.DailyCap) {
		return false
	}
	c.n[k]++
	c.changed[k] = true
	return true
}

func (c *tally) save(ctx context.Context, tx *sqldb.DB, t id.Tenant) error {
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
		return fmt.Errorf("save the day's counts: %w", err)
	}
	return nil
}

// keptDays is how long the counts of a day are kept: acts that we hear of later
// than that are counted anew.
const keptDays = 35

// forget removes the counts that are too old.
func forget(ctx context.Context, db *sqldb.DB, now time.Time) error {
	const page = 5000
	for {
		n, err := db.Exec(ctx, `
			DELETE FROM score_day WHERE (tenant_id, contact_id, rule_id, day) IN (
				SELECT tenant_id, contact_id, rule_id, day FROM score_day WHERE day < $1 LIMIT $2) /* all tenants: by age */`,
			dayOf(now, time.UTC)-keptDays, page)
		if err != nil {
			return fmt.Errorf("forget the counts of old days: %w", err)
		}
		if n < page {
			return nil
		}
	}
}
