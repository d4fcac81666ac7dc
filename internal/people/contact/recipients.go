package contact

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// FieldSet is the set of contact fields that a mail prints. The zero FieldSet is empty.
type FieldSet struct {
	columns []string // sorted
	all     bool
}

// columnTargets are the scan targets of fields that are read one by one; for other fields
// the whole contact is read.
var columnTargets = map[string]func(c *Contact) any{
	"email_domain":  func(c *Contact) any { return &c.EmailDomain },
	"external_id":   func(c *Contact) any { return sqldb.ToNullText(&c.ExternalID) },
	"first_name":    func(c *Contact) any { return sqldb.ToNullText(&c.FirstName) },
	"last_name":     func(c *Contact) any { return sqldb.ToNullText(&c.LastName) },
	"full_name":     func(c *Contact) any { return sqldb.ToNullText(&c.FullName) },
	"title":         func(c *Contact) any { return sqldb.ToNullText(&c.Title) },
	"company":       func(c *Contact) any { return sqldb.ToNullText(&c.Company) },
	"phone":         func(c *Contact) any { return sqldb.ToNullText(&c.Phone) },
	"website":       func(c *Contact) any { return sqldb.ToNullText(&c.Website) },
	"address_line1": func(c *Contact) any { return sqldb.ToNullText(&c.AddressLine1) },
	"address_line2": func(c *Contact) any { return sqldb.ToNullText(&c.AddressLine2) },
	"city":          func(c *Contact) any { return sqldb.ToNullText(&c.City) },
	"state":         func(c *Contact) any { return sqldb.ToNullText(&c.State) },
	"postal_code":   func(c *Contact) any { return sqldb.ToNullText(&c.PostalCode) },
	"country":       func(c *Contact) any { return sqldb.ToNullText(&c.Country) },
	"source":        func(c *Contact) any { return sqldb.ToNullText(&c.Source) },
	"custom_fields": func(c *Contact) any { return sqldb.ToNonEmptyJSON(&c.CustomFields) },
	"tags":          func(c *Contact) any { return sqldb.ToNonEmptyJSON(&c.Tags) },
	"created_at":    func(c *Contact) any { return sqldb.ToTime(&c.CreatedAt) },
}

// Add adds a field by its name in the API. A name that is not a standard field is taken for
// a custom field, for which all custom fields are added.
func (r *FieldSet) Add(name string) {
	switch name {
	case "id", "email", "timezone", "global_status", "do_not_contact": // always read
		return
	}
	if columnTargets[name] == nil {
		if _, known := new(Contact).Value(name); known {
			r.AddAll()
			return
		}
		name = "custom_fields"
	}
	if i, found := slices.BinarySearch(r.columns, name); !found {
		r.columns = slices.Insert(r.columns, i, name)
	}
}

// AddAll adds all fields.
func (r *FieldSet) AddAll() { r.all = true }

// Versioned reports whether the versions of a contact have all fields of the set, or those do not change.
func (r *FieldSet) Versioned() bool { return !r.all }

// AddSet adds the fields of o.
func (r *FieldSet) AddSet(o FieldSet) {
	r.all = r.all || o.all
	for _, c := range o.columns {
		r.Add(c)
	}
}

// Recipients returns contacts with the fields that Refusal needs, their version, time zone, and the
// fields in r; other fields may be unset. Ids without a contact are skipped.
func Recipients(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact, r FieldSet) ([]Contact, error) {
	if r.all {
		return Load(ctx, db, tenant, ids)
	}
	more := ""
	if len(r.columns) > 0 {
		more = ", " + strings.Join(r.columns, ", ")
	}
	rows, err := db.Query(ctx, `
		SELECT id, email, version, timezone, global_status, do_not_contact, subscriptions, category_subscriptions`+more+`
		FROM contact WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	var c Contact // scan target, reset for each row
	dest := []any{
		&c.ID, &c.Email, sqldb.ToInt(&c.Version), sqldb.ToNullText(&c.Timezone), sqldb.ToText(&c.Status), &c.DoNotContact,
		sqldb.ToNonEmptyJSON(&c.Subscriptions), sqldb.ToNonEmptyJSON(&c.CategorySubscriptions),
	}
	for _, name := range r.columns {
		dest = append(dest, columnTargets[name](&c))
	}
	list, err := sqldb.CollectInto(make([]Contact, 0, len(ids)), rows, err, func(row func(...any) error) (Contact, error) {
		c = Contact{Tenant: tenant}
		err := row(dest...)
		return c, err
	})
	if err != nil {
		return nil, fmt.Errorf("load recipients: %w", err)
	}
	return list, nil
}

// Addressees returns contacts with the fields that Refusal needs and no others: address,
// status and consents. It is used to go through a whole audience.
func Addressees(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact) ([]Contact, error) {
	rows, err := db.Query(ctx, `
		SELECT id, email, global_status, do_not_contact, subscriptions, category_subscriptions
		FROM contact WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	var c Contact // scan target, reset for each row
	dest := []any{
		&c.ID, &c.Email, sqldb.ToText(&c.Status), &c.DoNotContact,
		sqldb.ToNonEmptyJSON(&c.Subscriptions), sqldb.ToNonEmptyJSON(&c.CategorySubscriptions),
	}
	list, err := sqldb.CollectInto(make([]Contact, 0, len(ids)), rows, err, func(scan func(...any) error) (Contact, error) {
		c = Contact{Tenant: tenant}
		err := scan(dest...)
		return c, err
	})
	if err != nil {
		return nil, fmt.Errorf("load addressees: %w", err)
	}
	return list, nil
}
