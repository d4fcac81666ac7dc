package visitor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/audience/form"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Anyone can send any address, also those of people who never were on the website. So contacts that
// only an unverified visitor vouches for are bounded, by day too, and do not last.
const (
	// maxPending is the maximal number of contacts of a tenant that unverified visitors have created and
	// nobody has confirmed.
	maxPending = 100_000

	// maxPendingDay is how many of them may be created on a day, in UTC.
	maxPendingDay = 5_000

	// unconfirmedLast is how long they are stored.
	unconfirmedLast = 30 * 24 * time.Hour
)

// pendingFull reports whether no more contacts may be created by unverified visitors, and
// there is none with the address. The number is counted again when it seems to be reached,
// since contacts that were confirmed meanwhile do not count any more.
func (b *batch) pendingFull(ctx context.Context, email string) (bool, error) {
	if b.pending == nil {
		t, err := addTotals(ctx, b.tx, b.account.ID, totals{})
		if err != nil {
			return false, err
		}
		today, err := addPendingToday(ctx, b.tx, b.account.ID, b.engine.Now(), 0)
		if err != nil {
			return false, err
		}
		most := b.mostPending()
		left := most - t.pending
		if left <= 0 {
			if left, err = b.recountPending(ctx, most); err != nil {
				return false, err
			}
		}
		b.pending = new(min(left, cmp.Or(b.engine.maxPendingDay, maxPendingDay)-today))
	}
	if *b.pending > 0 {
		return false, nil
	}
	found, err := contact.IDsByEmail(ctx, b.tx, b.account.ID, []string{email})
	return len(found) == 0, err
}

// mostPending is the maximal number of pending contacts.
func (b *batch) mostPending() int64 { return cmp.Or(b.engine.maxPending, maxPending) }

// recountPending counts the pending contacts of the tenant, and returns how many more it may have.
func (b *batch) recountPending(ctx context.Context, most int64) (left int64, err error) {
	counts, err := contact.CountByStatus(ctx, b.tx, b.account.ID)
	if err != nil {
		return 0, err
	}
	n := min(int64(counts.Of(contact.Pending)), most)
	_, err = b.tx.Exec(ctx, `UPDATE visitor_total SET pending = $2 WHERE tenant_id = $1`, b.account.ID, n)
	if err != nil {
		return 0, fmt.Errorf("count pending contacts: %w", err)
	}
	return most - n, nil
}

// addPendingToday adds to the number of contacts that unverified visitors created on the day of now, and
// returns it. The tenant has a row of totals.
func addPendingToday(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, now time.Time, add int64) (n int64, err error) {
	day := now.Unix() / int64(24*time.Hour/time.Second)
	err = tx.QueryRow(ctx, `
		UPDATE visitor_total SET pending_day = $2, pending_today = CASE WHEN pending_day = $2 THEN pending_today ELSE 0 END + $3
		WHERE tenant_id = $1 RETURNING pending_today`, tenant, day, add).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count pending contacts of a day: %w", err)
	}
	return n, nil
}

// eraseStep is the number of contacts that a transaction erases.
const eraseStep = 100

// eraseUnconfirmed erases contacts of a tenant that unverified visitors created unconfirmedLast ago and
// that nobody has confirmed, unless a mail that asks for it is on its way.
func (e *Engine) eraseUnconfirmed(ctx context.Context, t id.Tenant) error {
	now := e.Now()
	for after := (id.Contact{}); ctx.Err() == nil; {
		list, err := contact.Unconfirmed(ctx, e.DB, t, now.Add(-unconfirmedLast), after, eraseStep)
		if err != nil || len(list) == 0 {
			return err
		}
		after = list[len(list)-1]
		asked, err := form.AwaitingContacts(ctx, e.DB, t, list, now)
		if err != nil {
			return err
		}
		due := slices.DeleteFunc(slices.Clone(list), func(c id.Contact) bool { return asked[c] })
		n, err := contact.EraseUnconfirmed(ctx, e.DB, t, due, e.PersonalData, now)
		if err != nil {
			return err
		}
		if n > 0 {
			e.Log.Info("unconfirmed contacts erased", "tenant", t, "rows", n)
		}
		if len(list) < eraseStep {
			return nil
		}
		pause(ctx, 10*time.Millisecond) // let other writers in
	}
	return ctx.Err()
}
