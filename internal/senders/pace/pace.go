// Package pace enforces limits on sending: messages per second, minute or hour, messages per day,
// and open connections. A limit applies to the installation, whatever the number of processes that
// share its database.
//
// # Rates
//
// A rate limit lets messages through evenly. It is GCRA, the leaky bucket of ATM networks: a limit
// has a slot every Per/Max, a permit is a slot, and a slot may be used from its time on until one
// burst later. A burst is what the limit lets through in one second, at least 1.
//
// On SQLite, where one process serves, this is computed in memory. On PostgreSQL a row per limit
// stores the time of the next free slot, and a process reserves the slots of up to one second in
// one statement: as many as it has lately used, and fewer while others also want some, so that
// processes take turns. Most calls of Acquire do not access the database.
//
//   - In any Per shorter than a minute at most Max plus one burst are sent.
//   - In any Per of a minute or longer at most Max are sent: the interval between slots is (Per+1s)/Max instead of Per/Max.
//   - This holds for all processes together. The database's clock counts: a process reads it with each reservation, measures from there with its own monotonic clock, and allows for the duration of the round trip.
//   - Reserved slots that are not used expire. When a process dies, the slots of at most a second are lost: fewer messages are sent, never more.
//   - After an idle period a burst is available at once; on PostgreSQL three quarters of it.
//   - Slots are reserved at most a second ahead, so no process has to wait longer than that for its turn.
//   - On SQLite a restart loses the state of the last second: a burst may follow at once.
//
// # Days
//
// A day counter is a row on both databases. A process takes up to 1 % of the day, at most 200
// permits, in one statement, and fewer as the day fills. They are counted before the first of them
// is used. If the process dies, the rest is lost. Close returns it, and so does Sweep after a
// minute without use.
//
// # Connections
//
// A process requests slots, holds them for 15 seconds and renews them by requesting again. All
// processes together never hold more than the limit. It is divided fairly: each of m processes can
// have limit/m, and slots that one does not want are divided among the others. A process that holds
// more than its share gets a lower answer at its next request. It still holds the difference until
// the request after that, so that connections in use can end meanwhile; SlotsOf is told how many are
// open, and reserves their slots as long as they are. If there are fewer slots than processes that want one,
// they alternate every minute. The slots of a process that died are free 15 seconds after its last request.
//
// # When the database does not answer
//
// Nothing is granted until it does; the messages to send wait in the same database. Permits in hand
// remain usable until they expire.
//
// # Order of calls
//
// Call outside transactions, first TakeDay, then Acquire: a permit of a day can be returned, a slot of
// a rate expires within a second.
package pace

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Pacer grants permits. It is safe for concurrent use.
type Pacer struct {
	db    *sqldb.DB
	owner string // identifies this process
	now   func() time.Time
	epoch time.Time // local times are durations since then, by the monotonic clock

	mu     sync.Mutex // never held during a statement
	closed bool
	turn   uint64 // number of takes that were granted permits
	rates  map[rateKey]*rate
	days   map[dayKey]*day
	leases map[string]lease
}

// Limit is a rate: at most Max in any Per. Key and Per identify the limit, so a limit per second
// and one per hour may have the same Key.
type Limit struct {
	Key string
	Max int // none is granted if less than 1
	Per time.Duration
}

// Day is a limit for one day: at most Max.
type Day struct {
	Key string
	Day spread.Day
	Max int
}

var errClosed = errors.New("pace: closed")

// patience is the timeout of a statement; respite is how long no statement is tried after one
// failed.
const (
	statementTimeout = 5 * time.Second
	retryAfter       = time.Second
)

// New returns a pacer for processes that share db. Owner identifies this process and must be unique
// among those that are running.
func New(db *sqldb.DB, owner string, now func() time.Time) *Pacer {
	return &Pacer{
		db: db, owner: owner, now: now, epoch: now(),
		rates:  map[rateKey]*rate{},
		days:   map[dayKey]*day{},
		leases: map[string]lease{},
	}
}

func (p *Pacer) shared() bool { return p.db.Dialect() == sqldb.Postgres }

// Close returns permits that were taken and not used. Nothing is granted afterwards.
func (p *Pacer) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	return errors.Join(p.returnDays(ctx, 0), p.returnRates(ctx), p.returnSlots(ctx))
}

// Sweep drops expired state and returns permits of a day that have not been used for a minute. Call
// it about once a minute.
func (p *Pacer) Sweep(ctx context.Context) error {
	p.dropRates()
	err := p.returnDays(ctx, idleDay)
	p.dropDays()
	p.dropLeases()
	return errors.Join(err, p.sweepDays(ctx), p.sweepShared(ctx))
}

// sweepShared deletes rows that have no effect any more. That of a rate has none when its next free
// slot is at least a burst in the past.
func (p *Pacer) sweepShared(ctx context.Context) error {
	if !p.shared() {
		return nil
	}
	if _, err := p.db.Exec(ctx, `
		DELETE FROM pace_rate WHERE tat < (pace_clock() - $1) * 1000 /* all tenants: limits are the installation's */`,
		time.Hour.Microseconds()); err != nil {
		return fmt.Errorf("delete idle rate limits: %w", err)
	}
	if _, err := p.db.Exec(ctx, `
		DELETE FROM pace_slot WHERE (name, owner) IN (
			SELECT name, owner FROM pace_slot WHERE expires_at < pace_clock() - $1 FOR UPDATE SKIP LOCKED) /* all tenants: limits are the installation's */`,
		time.Hour.Microseconds()); err != nil {
		return fmt.Errorf("delete expired connection slots: %w", err)
	}
	return nil
}

// since returns a time as a duration since the epoch.
func (p *Pacer) since(t time.Time) time.Duration { return t.Sub(p.epoch) }
