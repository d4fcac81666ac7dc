package contact

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contactlog"
	"github.com/packetboat/packetboat/internal/people/contactsearch"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// AnonymousDomain is the domain of the addresses that anonymised contacts get, with their
// id as local part. It has no mail server (RFC 2606).
const AnonymousDomain = "anonymized.invalid"

// Anonymize removes the personal data of contacts from their rows and from stores, and sets
// their status to suppressed; counts stay. It cannot be undone. Contacts that are
// anonymised already do not change.
//
// Handlers call suppression.Anonymize, which also handles their suppressed addresses.
func Anonymize(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact, stores []PersonalData, now time.Time) ([]Moved, error) {
	if len(ids) > MaxMoved {
		return nil, ErrLimit.Sayf("at most %d contacts at once", MaxMoved)
	}
	now = micros(now)
	var moved []Moved
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		list, err := lockByID(ctx, tx, tenant, ids)
		if err != nil {
			return err
		}
		if err := compareRevisions(ctx, list); err != nil {
			return err
		}
		results := make(map[id.Contact]Moved, len(list))
		var counts ByStatus
		var people []Person
		var activities []savedActivity
		var entries []journal.Entry
		for i := range list {
			c := &list[i]
			results[c.ID] = Moved{c.ID, c.AnonymizedAt == nil, nil}
			if c.AnonymizedAt != nil {
				continue
			}
			counts.move(c.Status, Suppressed)
			people = append(people, Person{c.ID, []string{c.Email}})
			entries = append(entries, journal.Entry{Tenant: tenant, Type: journal.ContactAnonymized, Contact: c.ID, At: now})
			c.evaluate(Suppressed, now)
			activities = append(activities, savedActivity{c.ID, &c.Activity})
		}
		if moved = inOrder(ids, results); len(people) == 0 {
			return nil
		}
		if err := addFormerAddresses(ctx, tx, tenant, people, stores); err != nil {
			return err
		}
		if err := erasePersonalData(ctx, tx, tenant, people, stores, now); err != nil {
			return err
		}
		if err := saveActivities(ctx, tx, tenant, activities); err != nil {
			return err
		}
		return appendAndCount(ctx, tx, tenant, entries, counts)
	})
	if err != nil {
		return nil, fmt.Errorf("anonymise contacts: %w", err)
	}
	return moved, nil
}

// erasePersonalData erases the data of people in stores, in the journal and, last, in their
// own rows.
func erasePersonalData(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, people []Person, stores []PersonalData, now time.Time) error {
	for _, h := range stores {
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
	if err := journal.Erase(ctx, tx, tenant, ids, addresses); err != nil {
		return err
	}
	return clearContacts(ctx, tx, tenant, ids, now)
}

// addFormerAddresses adds the addresses that people had before, as found in stores, without
// those that belong to another contact now.
func addFormerAddresses(ctx context.Context, db *sqldb.DB, tenant id.Tenant, people []Person, stores []PersonalData) error {
	ids := make([]id.Contact, len(people))
	for i, p := range people {
		ids[i] = p.ID
	}
	for _, h := range stores {
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

// anonymousEmail returns the address of an anonymised contact.
func anonymousEmail(c id.Contact) string { return c.String() + "@" + AnonymousDomain }

// clearContacts removes personal data from contacts' own rows, and their former versions.
func clearContacts(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, ids []id.Contact, now time.Time) error {
	t := tx.Table("id UUID", "email TEXT")
	for _, c := range ids {
		t.Add(c, anonymousEmail(c))
	}
	_, err := tx.Exec(ctx, `
		UPDATE contact SET email = v.email, email_domain = '`+AnonymousDomain+`', search_text = v.email,
			external_id = NULL, first_name = NULL, last_name = NULL, full_name = NULL, title = NULL, company = NULL,
			phone = NULL, website = NULL, timezone = NULL, address_line1 = NULL, address_line2 = NULL, city = NULL,
			state = NULL, postal_code = NULL, country = NULL, source = NULL, custom_fields = '{}', tags = '[]',
			global_status = 'suppressed', status_before_suppress = NULL,
			suppressed_at = COALESCE(suppressed_at, $2), anonymized_at = $2, updated_at = $2, version = contact.version + 1,
			revision = contact.revision + 1, revised_by = $3
		FROM `+t.As("v", 4)+` WHERE contact.tenant_id = $1 AND contact.id = v.id`, t.Args(tenant, sqldb.Micros(now), revision.By(ctx))...)
	if err != nil {
		return err
	}
	if err := contactlog.Append(ctx, tx, tenant, ids); err != nil {
		return err
	}
	if err := eraseVersions(ctx, tx, tenant, ids); err != nil {
		return err
	}
	texts := make([]contactsearch.Entry, len(ids))
	for i, c := range ids {
		texts[i] = contactsearch.Entry{Contact: c, Text: anonymousEmail(c)}
	}
	if err := contactsearch.Enqueue(ctx, tx, tenant, texts); err != nil {
		return err
	}
	if err := contactsearch.Remove(ctx, tx, tenant, ids); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		UPDATE contact_activity SET touch = NULL
		WHERE tenant_id = $1 AND contact_id`+tx.In(2), tenant, sqldb.List(tx, ids))
	return err
}

// Whereabouts is what is recorded with the opens and clicks of a contact.
type Whereabouts struct {
	Anonymized bool
	Country    string // ISO 3166-1 alpha-2; empty: unknown
}

// LoadWhereabouts returns the whereabouts of the contacts that exist.
func LoadWhereabouts(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact) (map[id.Contact]Whereabouts, error) {
	rows, err := db.Query(ctx, `SELECT id, anonymized_at, country FROM contact WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	found := make(map[id.Contact]Whereabouts, len(ids))
	err = sqldb.Each(rows, err, func(row func(...any) error) error {
		var c id.Contact
		var o Whereabouts
		var gone *time.Time
		err := row(&c, sqldb.ToNullTime(&gone), sqldb.ToText(&o.Country))
		o.Anonymized = gone != nil
		found[c] = o
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load the whereabouts of contacts: %w", err)
	}
	return found, nil
}
