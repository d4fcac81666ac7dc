package pace

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// refill reserves slots of a shared limit for a take of n. The caller has set busy. It returns only
// an error of ctx; one of the database is stored in r.
func (p *Pacer) refill(ctx context.Context, r *rate, n int) error {
	p.mu.Lock()
	most, want := r.max, r.batchFor(n)
	every, few := r.every, r.smallBatch()
	// Skip those slots of an accumulated burst that would expire before the answer arrives here.
	late := max(min(time.Duration(r.burst-1)*r.every, r.life-horizon/4), 0)
	p.mu.Unlock()

	limited, cancel := context.WithTimeout(ctx, statementTimeout)
	asked := p.since(p.now())
	g, err := p.reserve(limited, r.key, every, late, want, few)
	answered := p.since(p.now())
	cancel()

	p.mu.Lock()
	defer p.mu.Unlock()
	close(r.busy)
	r.busy = nil
	switch {
	case r.max != most: // the limit was changed meanwhile; these slots expire unused
		return ctx.Err()
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		r.until, r.err = answered+retryAfter, err
		return nil
	}
	r.err = nil
	if answered-asked >= r.life { // all slots may have expired
		r.until, r.err = answered+retryAfter, fmt.Errorf("reserve slots of limit %s: the answer took %v", r.key.key, answered-asked)
		return nil
	}
	// The shared clock read g.clock at some time between asked and answered. Take the bound that is
	// safe for each end: a slot begins at the latest time possible, and expires at the earliest.
	r.next = answered + time.Duration(g.first-g.clock)
	r.late = answered - asked
	r.left, r.got, r.end = g.n, g.n, g.first+int64(g.n)*int64(every)
	r.until = r.next + time.Duration(g.n)*every - horizon // no other slot is free before then
	if g.n == 0 {
		// Spread the retries of processes, and do not retry for a single slot of a fast limit.
		r.until = max(r.until+min(time.Duration(few-1)*every, horizon/4), answered) + rand.N(horizon/4)
	}
	return nil
}

// grant is n slots beginning at first, when the shared clock read clock; in nanoseconds.
type grant struct {
	clock, first int64
	n            int
}

// reserve advances a limit's next free slot by up to want slots, or by few if another process has
// reserved slots in the future. No slot is reserved twice, and none that begins later than the
// horizon. A row further ahead than that is left over from a changed limit or clock, and is set
// back.
func (p *Pacer) reserve(ctx context.Context, k rateKey, every, late time.Duration, want, few int) (grant, error) {
	for range 2 {
		var g grant
		err := p.db.QueryRow(ctx, `
			WITH clock AS MATERIALIZED (
				SELECT pace_clock() * 1000 AS t),
			held AS MATERIALIZED (
				SELECT tat FROM pace_rate WHERE name = $1 AND per = $2 FOR UPDATE),
			free AS MATERIALIZED (
				SELECT t, GREATEST(LEAST(tat, t + $5 + $3), t - $4) AS slot FROM held CROSS JOIN clock),
			run AS MATERIALIZED (
				SELECT t, slot, CASE WHEN slot >= t + $5 THEN 0 ELSE
					LEAST(CASE WHEN slot > t + $3 THEN LEAST($6::BIGINT, $7::BIGINT) ELSE $6::BIGINT END,
						(t + $5 - slot + $3 - 1) / $3) END AS n
				FROM free)
			UPDATE pace_rate SET tat = run.slot + run.n * $3 FROM run
			WHERE pace_rate.name = $1 AND pace_rate.per = $2
			RETURNING run.t, run.slot, run.n /* all tenants: limits are the installation's */`,
			k.key, int64(k.per), int64(every), int64(late), int64(horizon), want, few).Scan(&g.clock, &g.first, &g.n)
		if err == nil {
			return g, nil
		}
		if !errors.Is(err, sqldb.ErrNoRows) {
			return grant{}, fmt.Errorf("reserve slots of limit %s: %w", k.key, err)
		}
		if _, err := p.db.Exec(ctx, `
			INSERT INTO pace_rate (name, per, tat) VALUES ($1, $2, 0)
			ON CONFLICT (name, per) DO NOTHING /* all tenants: limits are the installation's */`,
			k.key, int64(k.per)); err != nil {
			return grant{}, fmt.Errorf("begin limit %s: %w", k.key, err)
		}
	}
	return grant{}, fmt.Errorf("reserve slots of limit %s: its row is gone", k.key)
}

// returnRates returns the unused slots of limits of which no other process has reserved any since,
// by setting the row back.
func (p *Pacer) returnRates(ctx context.Context) error {
	if !p.shared() {
		return nil
	}
	type unused struct {
		key       rateKey
		end, back int64
	}
	var list []unused
	at := p.since(p.now())
	p.mu.Lock()
	for k, r := range p.rates {
		r.expire(at)
		if r.left > 0 {
			list = append(list, unused{k, r.end, int64(r.left) * int64(r.every)})
			r.left = 0
		}
	}
	p.mu.Unlock()
	var errs []error
	for _, u := range list {
		if _, err := p.db.Exec(ctx, `
			UPDATE pace_rate SET tat = tat - $4
			WHERE name = $1 AND per = $2 AND tat = $3 /* all tenants: limits are the installation's */`,
			u.key.key, int64(u.key.per), u.end, u.back); err != nil {
			errs = append(errs, fmt.Errorf("return slots of limit %s: %w", u.key.key, err))
		}
	}
	return errors.Join(errs...)
}
