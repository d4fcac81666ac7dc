package pace

import (
	"cmp"
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

// Request is a request for connection slots.
type Request struct {
	Key   string
	Want  int // slots that the process could use
	Held  int // connections that it has open now; they stay reserved, whatever the answer is
	Limit int // slots that all processes have together
}

// Slots returns how many connections this process may have open, at most want. Call it every few
// seconds, from one goroutine per key. If the answer is lower than the last one, the surplus
// connections must be closed before the next call; other processes do not get their slots
// earlier.
//
// A want of 0 returns all slots at once. If the database fails, the last answer remains valid until
// its 15 seconds are over, and err has the cause.
func (p *Pacer) Slots(ctx context.Context, key string, want, limit int) (granted int, err error) {
	list, err := p.SlotsOf(ctx, []Request{{Key: key, Want: want, Limit: limit}})
	return list[0], err
}

// SlotsOf is Slots for several keys, which must differ, in one transaction. It returns an answer for each
// request. Connections that a request counts as held may be closed later than before the next call: their
// slots remain reserved as long as each call counts them. With a want lower than the last answer, no more
// than that may be opened from the call on.
func (p *Pacer) SlotsOf(ctx context.Context, list []Request) (granted []int, err error) {
	granted = make([]int, len(list))
	have := make([]lease, len(list))
	var ask []int // indexes in list
	p.mu.Lock()
	closed := p.closed
	for i := range list {
		r := &list[i]
		r.Want, r.Held, r.Limit = max(r.Want, 0), max(r.Held, 0), max(r.Limit, 0)
		known := false
		have[i], known = p.leases[r.Key]
		switch {
		case !p.shared():
			granted[i] = min(r.Want, r.Limit)
		case r.Want > 0 || r.Held > 0 || known:
			ask = append(ask, i)
		}
	}
	p.mu.Unlock()
	switch {
	case closed:
		return make([]int, len(list)), errClosed
	case len(ask) == 0:
		return granted, nil
	}
	slices.SortFunc(ask, func(a, b int) int { return cmp.Compare(list[a].Key, list[b].Key) })
	limited, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	asked := p.since(p.now())
	answers, err := p.leaseSlots(limited, list, ask)
	if err != nil {
		for _, i := range ask {
			if asked < have[i].ends {
				granted[i] = min(list[i].Want, have[i].granted)
			}
		}
		return granted, fmt.Errorf("lease connection slots of %s: %w", list[ask[0]].Key, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for n, i := range ask {
		granted[i] = answers[n]
		if r := list[i]; r.Want == 0 && r.Held == 0 {
			delete(p.leases, r.Key)
		} else {
			p.leases[r.Key] = lease{granted[i], asked + leaseFor}
		}
	}
	return granted, nil
}

// holder is a process that wants slots or has some. granted is the last answer it got,
// reserved the number of slots that other processes cannot get before its next request: the
// higher of its last two answers, or the number of its connections if that is higher still.
type holder struct {
	owner                   string
	want, granted, reserved int
}

// leaseSlots carries out those of the requests that ask names, in the order of their keys: every
// transaction locks the rows of several keys in this order.
func (p *Pacer) leaseSlots(ctx context.Context, list []Request, ask []int) (granted []int, err error) {
	err = p.db.InTx(ctx, func(tx *sqldb.DB) error {
		granted = granted[:0]
		var now int64
		others := make(map[string][]holder, len(ask))
		keys := tx.Table("name TEXT")
		for _, i := range ask {
			keys.Add(list[i].Key)
		}
		b := tx.Batch()
		b.Queue(`
			INSERT INTO pace_slot (name, owner, want, granted, reserved, expires_at)
			SELECT v.name, '', 0, 0, 0, pace_clock() FROM `+keys.As("v", 1)+` WHERE true ORDER BY v.name
			ON CONFLICT (name, owner) DO UPDATE SET expires_at = GREATEST(pace_slot.expires_at, excluded.expires_at)
			RETURNING pace_clock() /* all tenants: limits are the installation's */`,
			func(scan func(...any) error) error { // after the last row was locked
				var at int64
				err := scan(&at)
				now = max(now, at)
				return err
			}, keys.Args()...)
		b.Queue(`
			SELECT s.name, s.owner, s.want, s.granted, s.reserved, s.expires_at
			FROM `+keys.As("v", 1)+` JOIN pace_slot s ON s.name = v.name AND s.owner <> '' /* all tenants: limits are the installation's */`,
			func(scan func(...any) error) error {
				var h holder
				var key string
				var ends int64
				err := scan(&key, &h.owner, &h.want, &h.granted, &h.reserved, &ends)
				if ends > now {
					others[key] = append(others[key], h)
				}
				return err
			}, keys.Args()...)
		if err := b.Run(ctx); err != nil {
			return err
		}
		kept := tx.Table("name TEXT", "want BIGINT", "granted BIGINT", "reserved BIGINT")
		ended := tx.Table("name TEXT")
		for _, i := range ask {
			r := list[i]
			me := grantSlots(others[r.Key], p.owner, r, now/turn.Microseconds())
			granted = append(granted, me.granted)
			if me.want == 0 && me.reserved == 0 {
				ended.Add(r.Key)
			} else {
				kept.Add(r.Key, me.want, me.granted, me.reserved)
			}
		}
		if kept.Len() > 0 {
			b.Queue(`
				INSERT INTO pace_slot (name, owner, want, granted, reserved, expires_at)
				SELECT v.name, $1, v.want, v.granted, v.reserved, $2 FROM `+kept.As("v", 3)+` WHERE true
				ON CONFLICT (name, owner) DO UPDATE SET want = excluded.want, granted = excluded.granted,
					reserved = excluded.reserved, expires_at = excluded.expires_at /* all tenants: limits are the installation's */`,
				nil, kept.Args(p.owner, now+leaseFor.Microseconds())...)
		}
		if ended.Len() > 0 {
			b.Queue(`
				DELETE FROM pace_slot WHERE owner = $1 AND name IN (SELECT v.name FROM `+ended.As("v", 2)+`) /* all tenants: limits are the installation's */`,
				nil, ended.Args(p.owner)...)
		}
		return b.Run(ctx)
	})
	return granted, err
}

// grantSlots computes what a process gets for a request, from the slots that others do not
// hold. Turns is a number that increases with time; it selects the processes that get a slot when
// there are too few.
func grantSlots(all []holder, owner string, r Request, turns int64) holder {
	me, want, limit := holder{owner: owner}, r.Want, r.Limit
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
	me.reserved = max(me.granted, min(before, want), r.Held)
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
