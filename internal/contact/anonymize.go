package contact

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/contactsearch"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/journal"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// AnonymousDomain is that of the addresses that anonymised contacts get: their
// id stands before it. No mail can reach it (RFC 2606).
const AnonymousDomain = "anonymized.invalid"

// Anonymize makes contacts nobody's, for good: what says who they
// were goes from their rows and from the holdings, counts stay, and their status
// is suppressed. Contacts that are anonymised already stay as they are.
//
// Callers want suppression.Anonymize, which knows what becomes of the addresses.
func Anonymize(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact, holdings []PersonalData, now time.Time) ([]Moved, error) {
	if len(ids) > MaxMoved {
		return nil, ErrLimit.Sayf("at most %d contacts at once", MaxMoved)
	}
	now = micros(now)
	var moved []Moved
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		list, err := lockedByID(ctx, tx, tenant, ids)
		if err != nil {
			return err
		}
		became := make(map[id.Contact]Moved, len(list))
		var people []Person
		var activities []saved
		var entries []journal.Entry
		for i := range list {
			c := &list[i]
			became[c.ID] = Moved{c.ID, c.AnonymizedAt == nil, nil}
			if c.AnonymizedAt != nil {
				continue
			}
			people = append(people, Person{c.ID, []string{c.Email}})
			entries = append(entries, journal.Entry{Tenant: tenant, Type: journal.ContactAnonymized, Contact: c.ID, At: now})
			c.evaluate(Suppressed, now)
			activities = append(activities, saved{c.ID, &c.Activity})
		}
		if moved = answers(ids, became); len(people) == 0 {
			return nil
		}
		if err := addAddresses(ctx, tx, tenant, people, holdings); err != nil {
			return err
		}
		if err := erasePeople(ctx, tx, tenant, people, holdings, now); err != nil {
			return err
		}
		if err := saveActivities(ctx, tx, tenant, activities); err != nil {
			return err
		}
		return journal.Append(ctx, tx, entries...)
	})
	if err != nil {
		return nil, fmt.Errorf("anonymise contacts: %w", err)
	}
	return moved, nil
}

// erasePeople erases them everywhere: what is above this package, what is below
// it, and their own rows last.
func erasePeople(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, people []Person, holdings []PersonalData, now time.Time) error {
	for _, h := range holdings {
		if h.Erase == nil {
			continue
		}
		if err := h.Erase(ctx, tx, tenant, people); err != nil {
			return fmt.Errorf("erase the %s: %w", h.Name, err)
		}
	}
	var ids []id.Contact
	var addresses []string
	for _, p := range people {
		ids = append(ids, p.ID)
		addresses = append(addresses, p.Addresses...)
	}
	if err := journal.Forget(ctx, tx, tenant, ids, addresses); err != nil {
		return err
	}
	return blankContacts(ctx, tx, tenant, ids, now)
}

// addAddresses asks the holdings for the addresses that people had before, and
// passes over those that are somebody else's by now.
func addAddresses(ctx context.Context, db *sqldb.DB, tenant id.Tenant, people []Person, holdings []PersonalData) error {
	ids := make([]id.Contact, len(people))
	for i, p := range people {
		ids[i] = p.ID
	}
	for _, h := range holdings {
		if h.Addresses == nil {
			continue
		}
		found, err := h.Addresses(ctx, db, tenant, ids)
		if err != nil {
			return fmt.Errorf("find addresses in the %s: %w", h.Name, err)
		}
		holders, err := IDsByEmail(ctx, db, tenant, slices.Concat(slices.Collect(maps.Values(found))...))
		if err != nil {
			return err
		}
		for i := range people {
			p := &people[i]
			for _, a := range found[p.ID] {
				if holders[a].IsZero() && !slices.Contains(p.Addresses, a) {
					p.Addresses = append(p.Addresses, a)
				}
			}
		}
	}
	return nil
}

// anonymous is the address of an anonymised contact.
func anonymous(c id.Contact) string { return c.String() + "@" + AnonymousDomain }

// blankContacts takes what says who they were from contacts' own rows.
func blankContacts(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, ids []id.Contact, now time.Time) error {
	t := tx.Table("id UUID", "email TEXT")
	for _, c := range ids {
		t.Add(c, anonymous(c))
	}
	_, err := tx.Exec(ctx, `
		UPDATE contact SET email = v.email, email_domain = '`+AnonymousDomain+`', search_text = v.email,
			external_id = NULL, first_name = NULL, last_name = NULL, full_name = NULL, title = NULL, company = NULL,
			phone = NULL, website = NULL, timezone = NULL, address_line1 = NULL, address_line2 = NULL, city = NULL,
			state = NULL, postal_code = NULL, country = NULL, source = NULL, custom_fields = '{}', tags = '[]',
			global_status = 'suppressed', status_before_suppress = NULL,
			suppressed_at = COALESCE(suppressed_at, $2), anonymized_at = $2, updated_at = $2
		FROM `+t.As("v", 3)+` WHERE contact.tenant_id = $1 AND contact.id = v.id`, t.Args(tenant, sqldb.Micros(now))...)
	if err != nil {
		return err
	}
	texts := make([]contactsearch.Entry, len(ids))
	for i, c := range ids {
		texts[i] = contactsearch.Entry{Contact: c, Text: anonymous(c)}
	}
	if err := contactsearch.Await(ctx, tx, tenant, texts); err != nil {
		return err
	}
	if err := contactsearch.Forget(ctx, tx, tenant, ids); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		UPDATE contact_activity SET touch = NULL
		WHERE tenant_id = $1 AND contact_id`+tx.In(2), tenant, sqldb.List(tx, ids))
	return err
}

// Anonymized returns which of the contacts are anonymised.
func Anonymized(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact) (map[id.Contact]bool, error) {
	rows, err := db.Query(ctx, `
		SELECT id FROM contact
		WHERE tenant_id = $1 AND anonymized_at IS NOT NULL AND id`+db.In(2), tenant, sqldb.List(db, ids))
	found := map[id.Contact]bool{}
	err = sqldb.Each(rows, err, func(row func(...any) error) error {
		var c id.Contact
		err := row(&c)
		found[c] = true
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for anonymised contacts: %w", err)
	}
	return found, nil
}
