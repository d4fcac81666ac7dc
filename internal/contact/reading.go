package contact

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Reading says which fields of contacts a mail prints. The zero Reading is for one
// that prints none.
type Reading struct {
	columns []string // sorted
	whole   bool
}

// readable are the fields that are read one by one; for any other the whole
// contact is.
var readable = map[string]func(c *Contact) any{
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
	"custom_fields": func(c *Contact) any { return unpacked{&c.CustomFields} },
	"tags":          func(c *Contact) any { return unpacked{&c.Tags} },
}

// Add adds a field by its name in the API. What is no field of every contact's is
// taken for a custom one, and all of those are added.
func (r *Reading) Add(name string) {
	switch name {
	case "id", "email", "timezone", "global_status", "do_not_contact": // they are always read
		return
	}
	if readable[name] == nil {
		if _, known := new(Contact).Value(name); known {
			r.Whole()
			return
		}
		name = "custom_fields"
	}
	if i, there := slices.BinarySearch(r.columns, name); !there {
		r.columns = slices.Insert(r.columns, i, name)
	}
}

// Whole adds everything there is.
func (r *Reading) Whole() { r.whole = true }

// Join adds what another mail prints.
func (r *Reading) Join(o Reading) {
	r.whole = r.whole || o.whole
	for _, c := range o.columns {
		r.Add(c)
	}
}

// Recipients returns contacts with what Refusal asks of them, their time zone, and
// the fields that a mail prints; of the others nothing need be read. Ids that name no
// contact are passed over.
func Recipients(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact, r Reading) ([]Contact, error) {
	if r.whole {
		return Load(ctx, db, tenant, ids)
	}
	more := ""
	if len(r.columns) > 0 {
		more = ", " + strings.Join(r.columns, ", ")
	}
	rows, err := db.Query(ctx, `
		SELECT id, email, timezone, global_status, do_not_contact, subscriptions, category_subscriptions`+more+`
		FROM contact WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	var c Contact // whose columns are read, again and again
	dest := []any{
		&c.ID, &c.Email, sqldb.ToNullText(&c.Timezone), sqldb.ToText(&c.Status), &c.DoNotContact,
		unpacked{&c.Subscriptions}, unpacked{&c.CategorySubscriptions},
	}
	for _, name := range r.columns {
		dest = append(dest, readable[name](&c))
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

// unpacked reads a column of JSON that is mostly empty.
type unpacked struct{ into any }

// Scan reads the column.
func (u unpacked) Scan(column any) error {
	switch column := column.(type) {
	case string:
		return u.read([]byte(column))
	case []byte:
		return u.read(column)
	}
	return fmt.Errorf("a column of JSON is a %T", column)
}

func (u unpacked) read(column []byte) error {
	if len(column) <= 2 { // {} or []
		return nil
	}
	return json.Unmarshal(column, u.into)
}
