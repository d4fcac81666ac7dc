package outbox

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Follower skips messages that wait for contacts which were deleted or anonymised, with the reason
// not_active. Those in flight are not changed.
func Follower() journal.Follower {
	return journal.Follower{Name: "outbox", Types: []journal.Type{journal.ContactDeleted, journal.ContactAnonymized}, Follow: follow}
}

func follow(ctx context.Context, tx *sqldb.DB, entries []journal.Entry) error {
	gone := map[id.Tenant][]id.Contact{}
	var now time.Time
	for _, e := range entries {
		if e.Type == journal.ContactDeleted || e.Type == journal.ContactAnonymized {
			gone[e.Tenant] = append(gone[e.Tenant], e.Contact)
			now = e.At
		}
	}
	for _, tenant := range slices.Sorted(maps.Keys(gone)) {
		contacts, err := contact.Addressees(ctx, tx, tenant, gone[tenant])
		if err != nil {
			return err
		}
		var ids []id.Contact
		for _, c := range contacts {
			if c.Status == contact.Suppressed { // and was not restored meanwhile
				ids = append(ids, c.ID)
			}
		}
		if err := skipWaiting(ctx, tx, tenant, ids, now); err != nil {
			return err
		}
	}
	return nil
}

// skipWaiting skips the waiting messages for contacts, except those in flight, and updates the sums
// of their sends.
func skipWaiting(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, contacts []id.Contact, now time.Time) error {
	if len(contacts) == 0 {
		return nil
	}
	// Most deleted contacts have no waiting message. For those that have, no attempt may begin
	// while the messages are changed.
	rows, err := tx.Query(ctx, `
		SELECT DISTINCT send_id FROM outbox WHERE tenant_id = $1 AND contact_id`+tx.In(2)+` AND state = 'queued'`,
		tenant, sqldb.List(tx, contacts))
	sends, err := sqldb.Collect(rows, err, func(scan func(...any) error) (s id.Send, err error) { return s, scan(&s) })
	if err != nil {
		return fmt.Errorf("find sends with messages of deleted contacts: %w", err)
	}
	if len(sends) == 0 {
		return nil
	}
	slices.SortFunc(sends, id.Compare)
	for _, send := range sends {
		if err := revokeClaims(ctx, tx, tenant, send); err != nil {
			return err
		}
	}
	inFlight, err := InFlight(ctx, tx, tenant, id.Send{})
	if err != nil {
		return err
	}
	rows, err = tx.Query(ctx, `
		SELECT id, send_id, contact_id, deferred FROM outbox
		WHERE tenant_id = $1 AND contact_id`+tx.In(2)+` AND state = 'queued' AND NOT id`+tx.In(3)+` ORDER BY id`+tx.ForUpdate(),
		tenant, sqldb.List(tx, contacts), sqldb.List(tx, inFlight))
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (it Item, err error) {
		err = scan(&it.ID, &it.Send, &it.Contact, &it.Deferred)
		return it, err
	})
	if err != nil {
		return fmt.Errorf("find messages of deleted contacts: %w", err)
	}
	if len(list) == 0 {
		return nil
	}
	messages := make([]id.Message, len(list))
	sums := map[id.Send]Sums{}
	noted := newNotes(tx)
	for i, it := range list {
		r := Result{Item: it, State: Skipped, SkipReason: contact.SkipNotActive, At: now}
		messages[i] = it.ID
		s := sums[it.Send]
		s.count(r)
		sums[it.Send] = s
		noted.add(r)
	}
	_, err = tx.Exec(ctx, `
		UPDATE outbox SET state = 'skipped', deferred = FALSE WHERE tenant_id = $1 AND id`+tx.In(2), tenant, sqldb.List(tx, messages))
	if err == nil {
		err = noted.write(ctx, tx, tenant)
	}
	if err != nil {
		return fmt.Errorf("skip messages of deleted contacts: %w", err)
	}
	for _, send := range slices.SortedFunc(maps.Keys(sums), id.Compare) {
		if err := sums[send].add(ctx, tx, tenant, send, now); err != nil {
			return err
		}
	}
	return nil
}
