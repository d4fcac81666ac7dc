package pace

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// idleDay is how long a process keeps unused permits of a day before Sweep returns them.
const idleDay = time.Minute

// keepDays is how many days counters are stored: warm-up reads past days, and days end at different
// times in different time zones.
const keepDays = 40

type dayKey struct {
	key string
	day spread.Day
}

// day is one counter as this process knows it.
type day struct {
	inHand int // taken from the row and not used yet
	row    int // value of the row when last read
	most   int // how many permits to take in one statement
	asked  time.Duration
	busy   chan struct{}

	until time.Duration // the row is not read again before,
	full  int           // because it was full for this limit
	err   error         // or the database failed
}

// ready returns how many permits in hand may be used: all of them, unless the limit was lowered
// meanwhile.
func (c *day) ready(most int) int { return max(min(c.inHand, most-(c.row-c.inHand)), 0) }

// shut reports whether the row is known to have no permits left.
func (c *day) shut(most int, at time.Duration) bool {
	return at < c.until && (c.err != nil || c.full >= most)
}

// portion is how many permits to take in one statement when left of the day's remain. It shrinks as
// the day fills, so that few permits lie unused in other processes.
func portion(most, left int) int {
	return max(min(most/100, 200, left/20), 1)
}

// TakeDay takes up to n permits of all days together and returns how many it got. They are counted
// in the database when it returns. A refusal is remembered for a second, since another process may
// return permits. If the database fails, only permits in hand are granted, and err has the cause.
func (p *Pacer) TakeDay(ctx context.Context, n int, days []Day) (granted int, err error) {
	for n > 0 {
		p.mu.Lock()
		v := p.tryTakeDay(p.since(p.now()), n, days)
		if v.ask == nil {
			p.mu.Unlock()
			return v.granted, v.err
		}
		if wait := v.ask.busy; wait != nil {
			p.mu.Unlock()
			select {
			case <-wait:
			case <-ctx.Done():
				return 0, ctx.Err()
			}
			continue
		}
		v.ask.busy = make(chan struct{})
		p.mu.Unlock()
		if err := p.refillDay(ctx, v.ask, v.day, v.need); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// dayView is the result of weighDays. If ask is not nil, that counter must first be refilled by
// need permits.
type dayView struct {
	granted int
	err     error
	ask     *day
	day     Day
	need    int
}

// tryTakeDay takes the permits if all days have some in hand, or returns the counter to refill
// first.
func (p *Pacer) tryTakeDay(at time.Duration, n int, days []Day) dayView {
	if p.closed {
		return dayView{err: errClosed}
	}
	v := dayView{granted: n}
	for _, d := range days {
		if d.Max < 1 {
			return dayView{}
		}
		c := p.day(d, at)
		if ready := c.ready(d.Max); ready < v.granted && c.shut(d.Max, at) {
			v.granted, v.err = ready, c.err
		}
	}
	if v.granted == 0 {
		return v
	}
	for _, d := range days {
		c := p.day(d, at)
		if ready := c.ready(d.Max); ready < v.granted {
			v.ask, v.day, v.need = c, d, v.granted-ready
			return v
		}
	}
	for i, d := range days {
		if !containsDay(days[:i], d) {
			p.day(d, at).inHand -= v.granted
		}
	}
	return v
}

func containsDay(days []Day, d Day) bool {
	for _, o := range days {
		if o.Key == d.Key && o.Day == d.Day {
			return true
		}
	}
	return false
}

func (p *Pacer) day(d Day, at time.Duration) *day {
	k := dayKey{d.Key, d.Day}
	c := p.days[k]
	if c == nil {
		c = &day{}
		p.days[k] = c
	}
	c.asked = at
	return c
}

// refillDay takes at least n permits from a row, if it has that many left. The caller has set busy.
// It returns only an error of ctx; one of the database is stored in c.
func (p *Pacer) refillDay(ctx context.Context, c *day, d Day, n int) error {
	p.mu.Lock()
	k := min(max(n, c.most), d.Max)
	p.mu.Unlock()
	limited, cancel := context.WithTimeout(ctx, statementTimeout)
	used, taken, err := takeDay(limited, p.db, d, k)
	cancel()
	at := p.since(p.now())

	p.mu.Lock()
	defer p.mu.Unlock()
	close(c.busy)
	c.busy = nil
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		c.until, c.full, c.err = at+retryAfter, 0, err
		return nil
	}
	c.inHand += taken
	c.row, c.most, c.err = used, portion(d.Max, d.Max-used), nil
	if taken < n {
		c.until, c.full = at+retryAfter, d.Max
	}
	return nil
}

func takeDay(ctx context.Context, db *sqldb.DB, d Day, k int) (used, taken int, err error) {
	err = db.QueryRow(ctx, `
		INSERT INTO pace_day AS d (name, day, used, taken) VALUES ($1, $2, $3, $3)
		ON CONFLICT (name, day) DO UPDATE SET
			used = d.used + CASE WHEN d.used >= $4 THEN 0 WHEN d.used + $3 > $4 THEN $4 - d.used ELSE $3 END,
			taken = CASE WHEN d.used >= $4 THEN 0 WHEN d.used + $3 > $4 THEN $4 - d.used ELSE $3 END
		RETURNING used, taken /* all tenants: limits are the installation's */`,
		d.Key, d.Day, k, d.Max).Scan(&used, &taken)
	if err != nil {
		return 0, 0, fmt.Errorf("take permits of day %s of %s: %w", d.Day, d.Key, err)
	}
	return used, taken, nil
}

// ReturnDay returns n permits that TakeDay granted and that were not used.
func (p *Pacer) ReturnDay(ctx context.Context, n int, days []Day) error {
	var errs []error
	for i, d := range days {
		if n <= 0 || containsDay(days[:i], d) {
			continue
		}
		p.mu.Lock()
		c := p.day(d, p.since(p.now()))
		c.inHand += n
		surplus := max(c.inHand-2*portion(d.Max, d.Max), 0)
		if p.closed {
			surplus = c.inHand
		}
		c.inHand -= surplus
		c.row -= surplus
		c.until = 0
		p.mu.Unlock()
		if surplus > 0 {
			errs = append(errs, p.subtractDay(ctx, dayKey{d.Key, d.Day}, surplus))
		}
	}
	return errors.Join(errs...)
}

// subtractDay subtracts n from a row. If that fails, the permits count as used.
func (p *Pacer) subtractDay(ctx context.Context, k dayKey, n int) error {
	_, err := p.db.Exec(ctx, `
		UPDATE pace_day SET used = CASE WHEN used > $3 THEN used - $3 ELSE 0 END
		WHERE name = $1 AND day = $2 /* all tenants: limits are the installation's */`, k.key, k.day, n)
	if err == nil {
		return nil
	}
	return fmt.Errorf("return permits of day %s of %s: %w", k.day, k.key, err)
}

// returnDays returns permits that have not been used for idle.
func (p *Pacer) returnDays(ctx context.Context, idle time.Duration) error {
	at := p.since(p.now())
	back := map[dayKey]int{}
	p.mu.Lock()
	for k, c := range p.days {
		if c.inHand > 0 && at-c.asked >= idle {
			back[k] = c.inHand
			c.row -= c.inHand
			c.inHand, c.most = 0, 0
		}
	}
	p.mu.Unlock()
	var errs []error
	for k, n := range back {
		errs = append(errs, p.subtractDay(ctx, k, n))
	}
	return errors.Join(errs...)
}

// Used returns how many permits of a key's day are used. Permits in hand of other processes count
// as used; there are few of these (portion).
func (p *Pacer) Used(ctx context.Context, key string, on spread.Day) (int, error) {
	var used int
	err := p.db.QueryRow(ctx, `
		SELECT used FROM pace_day WHERE name = $1 AND day = $2 /* all tenants: limits are the installation's */`,
		key, on).Scan(&used)
	if err != nil && !errors.Is(err, sqldb.ErrNoRows) {
		return 0, fmt.Errorf("read day %s of %s: %w", on, key, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.days[dayKey{key, on}]; c != nil {
		used = max(used-c.inHand, 0)
	}
	return used, nil
}

// dropDays drops idle counters of which this process has no permits.
func (p *Pacer) dropDays() {
	at := p.since(p.now())
	p.mu.Lock()
	defer p.mu.Unlock()
	for k, c := range p.days {
		if c.busy == nil && c.inHand == 0 && at-c.asked > idleDay {
			delete(p.days, k)
		}
	}
}

func (p *Pacer) sweepDays(ctx context.Context) error {
	oldest := spread.DayOf(p.now(), time.UTC).Add(-keepDays)
	if _, err := p.db.Exec(ctx, `
		DELETE FROM pace_day WHERE day < $1 /* all tenants: limits are the installation's */`, oldest); err != nil {
		return fmt.Errorf("delete old day counters: %w", err)
	}
	return nil
}
