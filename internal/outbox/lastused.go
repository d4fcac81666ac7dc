package outbox

import (
	"context"
	"fmt"
	"slices"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// newest is how many sends of an email type LastSenders looks at one by one.
// Nearly everybody is in one of the first, where a contact is found at once,
// however many messages it has had.
const newest = 42 // 2 + 8 + 32

// LastSenders returns from which identity each of the contacts heard last, or is
// about to hear, by mail of an email type; who never did is left out. Messages of
// the send that asks do not count, nor those that nobody got.
func LastSenders(ctx context.Context, db *sqldb.DB, tenant id.Tenant, typ id.EmailType, asking id.Send, contacts []id.Contact) (map[id.Contact]id.Identity, error) {
	last := make(map[id.Contact]id.Identity, len(contacts))
	sends, err := newestSends(ctx, db, tenant, typ, asking)
	if err != nil {
		return nil, fmt.Errorf("find the last sends of a type: %w", err)
	}
	all := len(sends) < newest
	for n := 2; len(sends) > 0 && len(contacts) > 0; n *= 4 {
		few := sends[:min(n, len(sends))]
		sends = sends[len(few):]
		heard, err := sendersIn(ctx, db, tenant, few, contacts)
		if err != nil {
			return nil, fmt.Errorf("find who wrote to contacts last: %w", err)
		}
		contacts = noteSenders(last, heard, contacts)
	}
	if all || len(contacts) == 0 {
		return last, nil
	}
	heard, err := sendersEver(ctx, db, tenant, typ, asking, contacts)
	if err != nil {
		return nil, fmt.Errorf("find who ever wrote to contacts: %w", err)
	}
	noteSenders(last, heard, contacts)
	return last, nil
}

// noteSenders adds what was found to last, and returns the contacts that are still
// looked for.
func noteSenders(last, heard map[id.Contact]id.Identity, contacts []id.Contact) (left []id.Contact) {
	for _, c := range contacts {
		if i, ok := heard[c]; ok {
			last[c] = i
		} else {
			left = append(left, c)
		}
	}
	return left
}

// newestSends returns the newest sends of a type, but for the one that asks,
// the newest first.
func newestSends(ctx context.Context, db *sqldb.DB, tenant id.Tenant, typ id.EmailType, asking id.Send) ([]id.Send, error) {
	rows, err := db.Query(ctx, `
		SELECT id FROM send WHERE tenant_id = $1 AND email_type_id = $2 AND id <> $3
		ORDER BY opened_at DESC, id DESC LIMIT $4`, tenant, typ, asking, newest)
	return sqldb.Collect(rows, err, func(scan func(...any) error) (send id.Send, err error) {
		return send, scan(&send)
	})
}

// sendersIn returns from whom contacts heard in the first of the sends in which
// they heard from anybody.
func sendersIn(ctx context.Context, db *sqldb.DB, tenant id.Tenant, sends []id.Send, contacts []id.Contact) (map[id.Contact]id.Identity, error) {
	rows, err := db.Query(ctx, `
		SELECT outbox.contact_id, x.identity_id, outbox.send_id FROM outbox`+recordOf+`
		WHERE outbox.tenant_id = $1 AND outbox.send_id`+db.In(2)+`AND outbox.contact_id`+db.In(3)+`
			AND outbox.state NOT IN ('failed', 'skipped', 'held_back', 'cancelled')`,
		tenant, sqldb.List(db, sends), sqldb.List(db, contacts))
	heard, at := map[id.Contact]id.Identity{}, map[id.Contact]int{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var c id.Contact
		var i id.Identity
		var send id.Send
		if err := scan(&c, &i, &send); err != nil {
			return err
		}
		place := slices.Index(sends, send)
		if before, ok := at[c]; !ok || place < before {
			heard[c], at[c] = i, place
		}
		return nil
	})
	return heard, err
}

// sendersEver returns from whom contacts heard last, whenever that was.
func sendersEver(ctx context.Context, db *sqldb.DB, tenant id.Tenant, typ id.EmailType, asking id.Send, contacts []id.Contact) (map[id.Contact]id.Identity, error) {
	rows, err := db.Query(ctx, `
		SELECT contact_id, (SELECT x.identity_id FROM outbox_mix AS x WHERE x.tenant_id = $1 AND x.send_id = heard.send_id AND x.n = heard.mix) FROM (
			SELECT m.contact_id, m.send_id, m.mix, ROW_NUMBER() OVER (PARTITION BY m.contact_id ORDER BY s.opened_at DESC, s.id DESC) AS nth
			FROM outbox AS m
			JOIN send AS s ON s.tenant_id = m.tenant_id AND s.id = m.send_id
			WHERE m.tenant_id = $1 AND m.contact_id`+db.In(4)+`AND m.send_id <> $3 AND s.email_type_id = $2
				AND m.state NOT IN ('failed', 'skipped', 'held_back', 'cancelled')) AS heard
		WHERE nth = 1`, tenant, typ, asking, sqldb.List(db, contacts))
	heard := map[id.Contact]id.Identity{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var c id.Contact
		var i id.Identity
		err := scan(&c, &i)
		heard[c] = i
		return err
	})
	return heard, err
}
