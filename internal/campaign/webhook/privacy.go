package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// PersonalData returns access to the personal data in deliveries: the bodies of events about a
// contact or an address.
func PersonalData() contact.PersonalData {
	return contact.PersonalData{Name: "webhook_deliveries", Export: export, Erase: erase}
}

// personPage is how many deliveries about a person are read at a time.
const personPage = 200

// stored is a delivery with data of a person.
type stored struct {
	id           id.Delivery
	body, answer string
	call         bool
}

// page returns deliveries that condition selects after one, by id.
func page(ctx context.Context, db *sqldb.DB, tenant id.Tenant, condition string, value any, after id.Delivery) ([]stored, error) {
	rows, err := db.Query(ctx, `
		SELECT id, body, response_body, timeout_s IS NOT NULL FROM webhook_delivery
		WHERE tenant_id = $1 AND `+condition+` AND id > $3 ORDER BY id LIMIT $4`, tenant, value, after, personPage)
	return sqldb.Collect(rows, err, func(scan func(...any) error) (s stored, err error) {
		err = scan(&s.id, &s.body, sqldb.ToText(&s.answer), &s.call)
		return s, err
	})
}

// pages yields pages of the deliveries about contacts, and about addresses without a contact.
func pages(ctx context.Context, db *sqldb.DB, tenant id.Tenant, contacts []id.Contact, addresses []string) iter.Seq2[[]stored, error] {
	return func(yield func([]stored, error) bool) {
		for _, by := range []struct {
			condition string
			values    any
			n         int
		}{
			{` contact_id` + db.In(2), sqldb.List(db, contacts), len(contacts)},
			{` email` + db.In(2), sqldb.List(db, addresses), len(addresses)},
		} {
			var last id.Delivery
			for by.n > 0 {
				list, err := page(ctx, db, tenant, by.condition, by.values, last)
				if err != nil || len(list) > 0 && !yield(list, nil) {
					if err != nil {
						yield(nil, err)
					}
					return
				}
				if len(list) < personPage {
					break
				}
				last = list[len(list)-1].id
			}
		}
	}
}

// exported is a delivery in an export of personal data.
type exported struct {
	ID       id.Delivery     `json:"id"`
	Request  json.RawMessage `json:"request"`
	Response *string         `json:"response"`
}

func export(ctx context.Context, db *sqldb.DB, tenant id.Tenant, who contact.Person) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		for list, err := range pages(ctx, db, tenant, []id.Contact{who.ID}, who.Addresses) {
			if err != nil {
				yield(nil, fmt.Errorf("export webhook deliveries: %w", err))
				return
			}
			for _, s := range list {
				request := json.RawMessage(s.body)
				if !json.Valid(request) { // the body of a call is any text
					request, _ = json.Marshal(s.body) // texts always encode
				}
				if !yield(exported{s.id, request, optional.Pointer(s.answer)}, nil) {
					return
				}
			}
		}
	}
}

// erase removes personal data from the bodies of deliveries, and the answers, which may repeat it.
// Those that are waiting are sent without.
func erase(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, people []contact.Person) error {
	var contacts []id.Contact
	var addresses []string
	for _, p := range people {
		contacts = append(contacts, p.ID)
		addresses = append(addresses, p.Addresses...)
	}
	return redactAll(ctx, tx, tenant, contacts, addresses)
}

// redactContacts is erase for contacts alone.
func redactContacts(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, contacts []id.Contact) error {
	return redactAll(ctx, tx, tenant, contacts, nil)
}

func redactAll(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, contacts []id.Contact, addresses []string) error {
	for list, err := range pages(ctx, tx, tenant, contacts, addresses) {
		if err != nil {
			return fmt.Errorf("erase webhook deliveries: %w", err)
		}
		t := tx.Table("id UUID", "body TEXT")
		var calls []id.Delivery
		for _, s := range list {
			if s.call {
				calls = append(calls, s.id)
				continue
			}
			body, changed, err := redact(s.body)
			if err != nil {
				return fmt.Errorf("webhook delivery %s: %w", s.id, err)
			}
			if changed || s.answer != "" {
				t.Add(s.id, body)
			}
		}
		if err := eraseCalls(ctx, tx, tenant, calls); err != nil {
			return fmt.Errorf("erase calls: %w", err)
		}
		if t.Len() == 0 {
			continue
		}
		_, err := tx.Exec(ctx, `
			UPDATE webhook_delivery SET body = v.body, response_body = NULL, email = NULL FROM `+t.As("v", 2)+`
			WHERE webhook_delivery.tenant_id = $1 AND webhook_delivery.id = v.id`, t.Args(tenant)...)
		if err != nil {
			return fmt.Errorf("erase webhook deliveries: %w", err)
		}
	}
	return nil
}

// eraseCalls removes what calls say. Those that are waiting are not made.
func eraseCalls(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, calls []id.Delivery) error {
	if len(calls) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `
		UPDATE webhook_delivery SET body = '', headers = '{}', response_body = NULL, contact_id = NULL,
			status = CASE WHEN due_at IS NULL THEN status ELSE 'failed' END,
			error = CASE WHEN due_at IS NULL THEN error ELSE 'the contact was erased' END, due_at = NULL
		WHERE tenant_id = $1 AND id`+tx.In(2), tenant, sqldb.List(tx, calls))
	return err
}
