package outbox

import (
	"context"
	"fmt"
	"slices"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// maxRecentSends is how many sends of an email type LastSenders reads one by one. Most contacts
// have a message in one of the first few, where a lookup costs the same however many messages the
// contact has had.
const maxRecentSends = 42 // 2 + 8 + 32

// LastSenders returns the identity that each contact last had mail of an email type from, or is
// about to have. Contacts without such mail are not in the result. Messages of the send except, and
// messages that were not sent, do not count.
func LastSenders(ctx context.Context, db *sqldb.DB, tenant id.Tenant, typ id.EmailType, except id.Send, contacts []id.Contact) (map[id.Contact]id.Identity, error) {
	last := make(map[id.Contact]id.Identity, len(contacts))
	sends, err := recentSends(ctx, db, tenant, typ, except)
	if err != nil {
		return nil, fmt.Errorf("load the last sends of a type: %w", err)
	}
	all := len(sends) < maxRecentSends
	for n := 2; len(sends) > 0 && len(contacts) > 0; n *= 4 {
		few := sends[:min(n, len(sends))]
		sends = sends[len(few):]
		found, err := sendersOf(ctx, db, tenant, few, contacts)
		if err != nil {
			return nil, fmt.Errorf("find the last senders to contacts: %w", err)
		}
		contacts = addSenders(last, found, contacts)
	}
	if all || len(contacts) == 0 {
		return last, nil
	}
	found, err := sendersEver(ctx, db, tenant, typ, except, contacts)
	if err != nil {
		return nil, fmt.Errorf("find the last senders to contacts in all sends: %w", err)
	}
	addSenders(last, found, contacts)
	return last, nil
}

// addSenders adds found to last, and returns the contacts that were not found.
func addSenders(last, found map[id.Contact]id.Identity, contacts []id.Contact) (left []id.Contact) {
	for _, c := range contacts {
		if i, ok := found[c]; ok {
			last[c] = i
		} else {
			left = append(left, c)
		}
	}
	return left
}

// recentSends returns the last sends of a type, without except, the newest first.
func recentSends(ctx context.Context, db *sqldb.DB, tenant id.Tenant, typ id.EmailType, except id.Send) ([]id.Send, error) {
	rows, err := db.Query(ctx, `
		SELECT id FROM send WHERE tenant_id = $1 AND email_type_id = $2 AND id <> $3
		ORDER BY opened_at DESC, id DESC LIMIT $4`, tenant, typ, except, maxRecentSends)
	return sqldb.Collect(rows, err, func(scan func(...any) error) (send id.Send, err error) {
		err = scan(&send)
		return send, err
	})
}

// sendersOf returns the identity of each contact's message in the first of the sends that has one.
func sendersOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, sends []id.Send, contacts []id.Contact) (map[id.Contact]id.Identity, error) {
	rows, err := db.Query(ctx, `
		SELECT outbox.contact_id, x.identity_id, outbox.send_id FROM outbox`+joinMix+`
		WHERE outbox.tenant_id = $1 AND outbox.send_id`+db.In(2)+`AND outbox.contact_id`+db.In(3)+`
			AND outbox.state NOT IN ('failed', 'skipped', 'held_back', 'cancelled')`,
		tenant, sqldb.List(db, sends), sqldb.List(db, contacts))
	found, at := map[id.Contact]id.Identity{}, map[id.Contact]int{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var c id.Contact
		var i id.Identity
		var send id.Send
		if err := scan(&c, &i, &send); err != nil {
			return err
		}
		place := slices.Index(sends, send)
		if before, ok := at[c]; !ok || place < before {
			found[c], at[c] = i, place
		}
		return nil
	})
	return found, err
}

// sendersEver is sendersOf for all sends of a type, the newest first.
func sendersEver(ctx context.Context, db *sqldb.DB, tenant id.Tenant, typ id.EmailType, except id.Send, contacts []id.Contact) (map[id.Contact]id.Identity, error) {
	rows, err := db.Query(ctx, `
		SELECT contact_id, (SELECT x.identity_id FROM outbox_mix AS x WHERE x.tenant_id = $1 AND x.send_id = found.send_id AND x.n = found.mix) FROM (
			SELECT m.contact_id, m.send_id, m.mix, ROW_NUMBER() OVER (PARTITION BY m.contact_id ORDER BY s.opened_at DESC, s.id DESC) AS nth
			FROM outbox AS m
			JOIN send AS s ON s.tenant_id = m.tenant_id AND s.id = m.send_id
			WHERE m.tenant_id = $1 AND m.contact_id`+db.In(4)+`AND m.send_id <> $3 AND s.email_type_id = $2
				AND m.state NOT IN ('failed', 'skipped', 'held_back', 'cancelled')) AS found
		WHERE nth = 1`, tenant, typ, except, sqldb.List(db, contacts))
	found := map[id.Contact]id.Identity{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var c id.Contact
		var i id.Identity
		err := scan(&c, &i)
		found[c] = i
		return err
	})
	return found, err
}
