package outbox

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"packetboat/internal/contact"
	"packetboat/internal/id"
	"packetboat/internal/journal"
	"packetboat/internal/sqldb"
)

// Follower ends what waits for contacts that were deleted or anonymised: their
// messages are skipped as not_active. Those under way are left to the node that
// sends them.
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
			if c.Status == contact.Suppressed { // nobody has restored it meanwhile
				ids = append(ids, c.ID)
			}
		}
		if err := remove(ctx, tx, tenant, ids, now); err != nil {
			return err
		}
	}
	return nil
}

// remove ends the messages that wait for contacts, and takes them from the sums
// of what waits.
func remove(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, contacts []id.Contact, now time.Time) error {
	if len(contacts) == 0 {
		return nil
	}
	// Most who are deleted have nothing waiting. Where they have, nobody may begin
	// an attempt with a message that is being ended.
	rows, err := tx.Query(ctx, `
		SELECT DISTINCT send_id FROM outbox WHERE tenant_id = $1 AND contact_id`+tx.In(2)+` AND `+stillQueued,
		tenant, sqldb.List(tx, contacts))
	streams, err := sqldb.Collect(rows, err, func(scan func(...any) error) (s id.Send, err error) { return s, scan(&s) })
	if err != nil {
		return fmt.Errorf("find streams with messages of deleted contacts: %w", err)
	}
	if len(streams) == 0 {
		return nil
	}
	slices.SortFunc(streams, id.Compare)
	for _, stream := range streams {
		if err := revoke(ctx, tx, tenant, stream); err != nil {
			return err
		}
	}
	under, err := UnderWay(ctx, tx, tenant, id.Send{})
	if err != nil {
		return err
	}
	type waiting struct {
		message  id.Message
		stream   id.Send
		deferred bool
	}
	rows, err = tx.Query(ctx, `
		SELECT id, send_id, deferred FROM outbox
		WHERE tenant_id = $1 AND contact_id`+tx.In(2)+` AND `+stillQueued+` AND NOT id`+tx.In(3)+` ORDER BY id`+tx.ForUpdate(),
		tenant, sqldb.List(tx, contacts), sqldb.List(tx, under))
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (w waiting, err error) {
		return w, scan(&w.message, &w.stream, &w.deferred)
	})
	if err != nil {
		return fmt.Errorf("find messages of deleted contacts: %w", err)
	}
	if len(list) == 0 {
		return nil
	}
	messages := make([]id.Message, len(list))
	sums := map[id.Send]Sums{}
	for i, w := range list {
		messages[i] = w.message
		s := sums[w.stream]
		s.count(Result{Item: Item{Deferred: w.deferred}, State: Skipped})
		sums[w.stream] = s
	}
	_, err = tx.Exec(ctx, `
		UPDATE outbox SET state = 'skipped', skip_reason = $2, deferred = FALSE, ended_at = $3
		WHERE tenant_id = $1 AND id`+tx.In(4), tenant, contact.SkipNotActive, now.UnixMicro(), sqldb.List(tx, messages))
	if err != nil {
		return fmt.Errorf("skip messages of deleted contacts: %w", err)
	}
	for _, stream := range slices.SortedFunc(maps.Keys(sums), id.Compare) {
		if err := sums[stream].add(ctx, tx, tenant, stream); err != nil {
			return err
		}
	}
	return nil
}
