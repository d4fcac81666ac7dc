package pace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// leaseFor is how long slots are held without renewal.
const leaseFor = 15 * time.Second

// turn is the interval at which processes alternate when there are fewer slots than processes.
const turn = time.Minute

// lease is the last answer of Slots for a key.
type lease struct {
	granted int
	ends    time.Duration
}

// Slots returns how many connections this process may have open, at most want. Call it every few
// seconds, from one goroutine per key. If the answer is lower than the last one, the surplus
// connections must be closed before the next call; other processes do not get their slots
// earlier.
//
// A want of 0 returns all slots at once. If the database fails, the last answer remains valid until
// its 15 seconds are over, and err has the cause.
func (p *Pacer) Slots(ctx context.Context, key string, want, limit int) (granted int, err error) {
	want, limit = max(want, 0), max(limit, 0)
	p.mu.Lock()
	have, known := p.leases[key]
	closed := p.closed
	p.mu.Unlock()
	switch {
	case closed:
		return 0, errClosed
	case !p.shared():
		return min(want, limit), nil
	case want == 0 && !known:
		return 0, nil
	}
	limited, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	asked := p.since(p.now())
	granted, err = p.leaseSlots(limited, key, want, limit)
	if err != nil {
		granted = 0
		if asked < have.ends {
			granted = min(want, have.granted)
		}
		return granted, fmt.Errorf("lease connection slots of %s: %w", key, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if want == 0 {
		delete(p.leases, key)
	} else {
		p.leases[key] = lease{granted, asked + leaseFor}
	}
	return granted, nil
}

// holder is a process that wants slots or has some. granted is the last answer it got,
// reserved the number of slots that other processes cannot get before its next request: the
// higher of its last two answers.
type holder struct {
	owner                   string
	want, granted, reserved int
}

func (p *Pacer) leaseSlots(ctx context.Context, key string, want, limit int) (granted int, err error) {
	err = p.db.InTx(ctx, func(tx *sqldb.DB) error {
		var now int64
		if err := tx.QueryRow(ctx, `
			INSERT INTO pace_slot (name, owner, want, granted, reserved, expires_at)
			VALUES ($1, '', 0, 0, 0, pace_clock())
			ON CONFLICT (name, owner) DO UPDATE SET expires_at = GREATEST(pace_slot.expires_at, excluded.expires_at)
			RETURNING pace_clock() /* all tenants: limits are the installation's */`, key).Scan(&now); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `
			SELECT owner, want, granted, reserved FROM pace_slot
			WHERE name = $1 AND owner <> '' AND expires_at > $2 /* all tenants: limits are the installation's */`,
			key, now)
		all, err := sqldb.Collect(rows, err, func(scan func(...any) error) (h holder, err error) {
			err = scan(&h.owner, &h.want, &h.granted, &h.reserved)
			return h, err
		})
		if err != nil {
			return err
		}
		me := grantSlots(all, p.owner, want, limit, now/turn.Microseconds())
		granted = me.granted
		if want == 0 {
			return release(ctx, tx, key, p.owner)
		}
		_, err = tx.Exec(ctx, `
			INSERT INTO pace_slot (name, owner, want, granted, reserved, expires_at) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (name, owner) DO UPDATE SET want = excluded.want, granted = excluded.granted,
				reserved = excluded.reserved, expires_at = excluded.expires_at /* all tenants: limits are the installation's */`,
			key, p.owner, me.want, me.granted, me.reserved, now+leaseFor.Microseconds())
		return err
	})
	return granted, err
}

// grantSlots computes what a process gets that wants so many slots, from those that others do not
// hold. Turns is a number that increases with time; it selects the processes that get a slot when
// there are too few.
func grantSlots(all []holder, owner string, want, limit int, turns int64) holder {
	me := holder{owner: owner}
	free := limit
	for _, h := range all {
		if h.owner == owner {
			me = h
		} else {
			free -= h.reserved
		}
	}
	all = slices.DeleteFunc(all, func(h holder) bool { return h.owner == owner || h.want == 0 })
	me.want = want
	if want > 0 {
		all = append(all, me)
	}
	slices.SortFunc(all, func(a, b holder) int {
		if a.owner < b.owner {
			return -1
		}
		return 1
	})
	wants := make([]int, len(all))
	for i, h := range all {
		wants[i] = h.want
	}
	before := me.granted
	me.granted = 0
	for i, n := range shares(wants, limit, turns) {
		if all[i].owner == owner {
			me.granted = max(min(n, free), 0)
		}
	}
	me.reserved = max(me.granted, min(before, want))
	return me
}

// shares divides the limit among the processes that want slots, as evenly as their wants allow; the
// remainder is assigned one by one. If there are fewer slots than processes, turns selects the
// first of them.
func shares(wants []int, limit int, turns int64) []int {
	got := make([]int, len(wants))
	hungry := make([]int, 0, len(wants))
	for i, w := range wants {
		if w > 0 {
			hungry = append(hungry, i)
		}
	}
	for limit > 0 && len(hungry) > 0 {
		each := limit / len(hungry)
		if each == 0 {
			first := 0
			if got[hungry[0]] == 0 {
				first = int(turns % int64(len(hungry)))
			}
			for i := range limit {
				got[hungry[(first+i)%len(hungry)]]++
			}
			break
		}
		for _, i := range hungry {
			n := min(each, wants[i]-got[i])
			got[i] += n
			limit -= n
		}
		hungry = slices.DeleteFunc(hungry, func(i int) bool { return got[i] == wants[i] })
	}
	return got
}

func release(ctx context.Context, db *sqldb.DB, key, owner string) error {
	_, err := db.Exec(ctx, `
		DELETE FROM pace_slot WHERE name = $1 AND owner = $2 /* all tenants: limits are the installation's */`, key, owner)
	return err
}

// returnSlots returns all slots of this process.
func (p *Pacer) returnSlots(ctx context.Context) error {
	p.mu.Lock()
	held := p.leases
	p.leases = map[string]lease{}
	p.mu.Unlock()
	var errs []error
	for key := range held {
		if err := release(ctx, p.db, key, p.owner); err != nil {
			errs = append(errs, fmt.Errorf("return connection slots of %s: %w", key, err))
		}
	}
	return errors.Join(errs...)
}

func (p *Pacer) dropLeases() {
	at := p.since(p.now())
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, l := range p.leases {
		if l.ends < at-leaseFor {
			delete(p.leases, key)
		}
	}
}
