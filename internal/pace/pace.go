// Package pace keeps what may leave only so fast: so many messages per second,
// minute or hour, so many per day, so many connections at once. The limits are
// the installation's, whatever the number of processes that share its database.
//
// # Rates
//
// A rate limit lets messages through evenly. It is GCRA, the leaky bucket of
// ATM networks: a limit has a slot every Per/Max, a permit is a slot, and a slot
// may be used from its moment on until one burst later. A burst is what the
// limit lets through in one second, at least 1.
//
// On SQLite, where one process serves, that is computed in memory. On
// PostgreSQL a row per limit holds the moment of the next free slot, and a
// process reserves the slots of up to one second in one statement: as many as it
// has lately used, and short runs while others want some too, so that they take
// turns. Most takes touch no database.
//
//   - In any Per shorter than a minute at most Max plus one burst leave.
//   - In any Per of a minute or longer at most Max leave; slots lie apart by the
//     second in Per+1s that this costs.
//   - This holds for all processes together. The clock that counts is the
//     database's: a process reads it with each reservation, measures from there
//     with its own monotonic clock, and allows for the time the answer took.
//   - Slots that are reserved and not used lapse. A process that dies takes the
//     slots of at most a second with it: less is sent, never more.
//   - After a rest a burst leaves at once; on PostgreSQL three quarters of it.
//   - Slots are reserved at most a second ahead, so a process that wants some
//     waits its turn, and nobody can be kept out.
//   - On SQLite a restart forgets how full the last second was: a burst may
//     follow at once.
//
// # Days
//
// A day counter is a row on both databases. A process takes up to 1 % of the
// day, at most 200 permits, at once, fewer as the day fills, and they are
// counted before the first of them is used. A process that dies takes the rest
// with it. Close gives it back, and so does Sweep after a minute of disuse.
//
// # Connections
//
// A process asks for slots, holds them for 15 seconds and keeps them by asking
// again. All processes together never hold more than the limit. Those that want
// some share it fairly: each can have limit/m, and what one does not want the
// others share. A process that holds more than its share is told so when it asks
// again, and what it was told to give up stays its own until it asks once more,
// so that connections in use can end meanwhile. When there are fewer slots than
// processes that want one, turns change every minute.
//
// # When the database does not answer
//
// Nothing more is granted until it does: what would leave waits in the same
// database. Permits in hand stay good as long as they would have been.
//
// # Order of calls
//
// Ask outside transactions, first TakeDay, then Take: a permit of a day can be
// given back, a slot of a rate is gone in a second.
package pace

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/spread"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Pacer grants permits. It is safe for concurrent use.
type Pacer struct {
	db    *sqldb.DB
	owner string // tells this process from the others
	now   func() time.Time
	epoch time.Time // local moments are durations since then, by the monotonic clock

	mu     sync.Mutex // held for nanoseconds: never while the database is asked
	closed bool
	turn   uint64 // counts the takes that got something
	rates  map[rateKey]*rate
	days   map[dayKey]*day
	leases map[string]lease
}

// Limit is a rate: at most Max in any Per. Key and Per name the limit, so
// limits per second and per hour may share a Key.
type Limit struct {
	Key string
	Max int // none may pass if less than 1
	Per time.Duration
}

// Day is a limit of one day: at most Max on that day.
type Day struct {
	Key string
	Day spread.Day
	Max int
}

var errClosed = errors.New("pace: closed")

// patience is how long an answer of the database is waited for, and how long it
// is left alone after it failed.
const (
	patience = 5 * time.Second
	respite  = time.Second
)

// New returns a pacer for processes that share db. Owner names this process; no
// other that is alive may have the same.
func New(db *sqldb.DB, owner string, now func() time.Time) *Pacer {
	return &Pacer{
		db: db, owner: owner, now: now, epoch: now(),
		rates:  map[rateKey]*rate{},
		days:   map[dayKey]*day{},
		leases: map[string]lease{},
	}
}

func (p *Pacer) shared() bool { return p.db.Dialect() == sqldb.Postgres }

// Close gives back what was taken and not used. Nothing is granted afterwards.
func (p *Pacer) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	return errors.Join(p.returnDays(ctx, 0), p.returnRates(ctx), p.returnSlots(ctx))
}

// Sweep forgets what has ended and gives back permits of the day that have lain
// unused for a minute. It should be called about once a minute.
func (p *Pacer) Sweep(ctx context.Context) error {
	p.forgetRates()
	err := p.returnDays(ctx, idleDay)
	p.forgetDays()
	p.forgetLeases()
	return errors.Join(err, p.sweepDays(ctx), p.sweepShared(ctx))
}

// sweepShared deletes rows that tell nothing any more. A limit's row does so a
// while after its next free slot, whoever reads it.
func (p *Pacer) sweepShared(ctx context.Context) error {
	if !p.shared() {
		return nil
	}
	if _, err := p.db.Exec(ctx, `
		DELETE FROM pace_rate WHERE tat < (pace_clock() - $1) * 1000 /* all tenants: limits are the installation's */`,
		time.Hour.Microseconds()); err != nil {
		return fmt.Errorf("sweep rate limits: %w", err)
	}
	if _, err := p.db.Exec(ctx, `
		DELETE FROM pace_slot WHERE expires_at < pace_clock() - $1 /* all tenants: limits are the installation's */`,
		time.Hour.Microseconds()); err != nil {
		return fmt.Errorf("sweep connection slots: %w", err)
	}
	return nil
}

// since returns a moment as a duration since the epoch.
func (p *Pacer) since(t time.Time) time.Duration { return t.Sub(p.epoch) }
