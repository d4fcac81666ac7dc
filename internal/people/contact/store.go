package contact

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/people/contactsearch"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// contactColumns are the columns of a contact's own row, in the order of newReader and
// values.
var contactColumns = []string{
	"id", "email", "email_domain", "external_id", "first_name", "last_name", "full_name", "title", "company",
	"phone", "website", "timezone", "address_line1", "address_line2", "city", "state", "postal_code", "country",
	"source", "stage_id", "custom_fields", "tags", "subscriptions", "category_subscriptions", "global_status",
	"status_before_suppress", "do_not_contact", "prospect_score", "customer_score", "score_updated_at",
	"created_at", "updated_at", "anonymized_at", "suppressed_at", "unsubscribed_at", "revision", "revised_by",
	"version", "version_at", "withdrawn",
}

// storedColumns are contactColumns with their types, and search_text, which is derived from
// them.
var storedColumns = func() []string {
	types := map[string]string{
		"custom_fields": "JSONB", "tags": "JSONB", "subscriptions": "JSONB", "category_subscriptions": "JSONB",
		"do_not_contact": "BOOLEAN", "prospect_score": "DOUBLE PRECISION", "customer_score": "DOUBLE PRECISION",
		"score_updated_at": "BIGINT", "created_at": "BIGINT", "updated_at": "BIGINT", "anonymized_at": "BIGINT",
		"suppressed_at": "BIGINT", "unsubscribed_at": "BIGINT", "id": "UUID", "stage_id": "UUID", "revision": "BIGINT", "revised_by": "UUID",
		"version": "INTEGER", "version_at": "BIGINT", "withdrawn": "BOOLEAN",
	}
	list := []string{}
	for _, name := range contactColumns {
		list = append(list, name+" "+cmp.Or(types[name], "TEXT"))
	}
	return append(list, "search_text TEXT")
}()

// add appends the contact's own row, with its search_text, to a table of
// storedColumns.
func (c *Contact) add(t *sqldb.Table, text string) error {
	var row [64]any
	values, err := c.values(row[:0])
	if err != nil {
		return err
	}
	t.Add(append(values, text)...)
	return nil
}

var contactSelect = "c.tenant_id, c." + strings.Join(contactColumns, ", c.") + ", " + activityColumns

// contactSource joins a contact's two rows, for queries of contactSelect.
const contactSource = ` contact c ` + WithActivity

// searchText returns the text that searches compare.
func (c *Contact) searchText() string {
	return contactsearch.Text(&c.Email, c.FirstName, c.LastName, c.FullName, c.Company)
}

// scan reads contactSelect from a row, then more columns of the query.
func scan(row func(...any) error, more ...any) (Contact, error) {
	return newReader(more...).read(row)
}

// reader reads rows of contactSelect, one after the other.
type reader struct {
	c                        Contact // scan target
	fields, tags, subs, cats string
	dest                     []any
}

// newReader returns a reader of rows that end with more columns.
func newReader(more ...any) *reader {
	r := &reader{}
	c := &r.c
	r.dest = append(make([]any, 0, 64),
		&c.Tenant, &c.ID, sqldb.ToText(&c.Email), sqldb.ToText(&c.EmailDomain), sqldb.ToNullText(&c.ExternalID),
		sqldb.ToNullText(&c.FirstName), sqldb.ToNullText(&c.LastName), sqldb.ToNullText(&c.FullName), sqldb.ToNullText(&c.Title), sqldb.ToNullText(&c.Company),
		sqldb.ToNullText(&c.Phone), sqldb.ToNullText(&c.Website), sqldb.ToNullText(&c.Timezone), sqldb.ToNullText(&c.AddressLine1), sqldb.ToNullText(&c.AddressLine2),
		sqldb.ToNullText(&c.City), sqldb.ToNullText(&c.State), sqldb.ToNullText(&c.PostalCode), sqldb.ToNullText(&c.Country), sqldb.ToNullText(&c.Source),
		&c.Stage, sqldb.ToText(&r.fields), sqldb.ToText(&r.tags), sqldb.ToText(&r.subs), sqldb.ToText(&r.cats), sqldb.ToText(&c.Status),
		sqldb.ToText(&c.StatusBeforeSuppress), &c.DoNotContact, &c.ProspectScore, &c.CustomerScore, sqldb.ToNullTime(&c.ScoreUpdatedAt),
		sqldb.ToTime(&c.CreatedAt), sqldb.ToTime(&c.UpdatedAt), sqldb.ToNullTime(&c.AnonymizedAt), sqldb.ToNullTime(&c.SuppressedAt), sqldb.ToNullTime(&c.UnsubscribedAt),
		sqldb.ToInt(&c.Revision), &c.RevisedBy, sqldb.ToInt(&c.Version), sqldb.ToTime(&c.VersionAt), &c.Withdrawn,
	)
	r.dest = append(append(r.dest, c.Activity.dest()...), more...)
	return r
}

func (r *reader) read(row func(...any) error) (Contact, error) {
	if err := row(r.dest...); err != nil {
		return Contact{}, err
	}
	var ok bool
	if r.c.CustomFields, ok = plainObject(r.fields); !ok {
		r.c.CustomFields = map[string]any{}
		if err := json.Unmarshal([]byte(r.fields), &r.c.CustomFields); err != nil {
			return Contact{}, fmt.Errorf("contact %s: %w", r.c.ID, err)
		}
	}
	if r.c.Tags, ok = plainTexts(r.tags); !ok {
		r.c.Tags = []string{}
		if err := json.Unmarshal([]byte(r.tags), &r.c.Tags); err != nil {
			return Contact{}, fmt.Errorf("contact %s: %w", r.c.ID, err)
		}
	}
	r.c.Subscriptions, r.c.CategorySubscriptions = map[string]bool{}, map[id.Category]bool{}
	if len(r.subs) > len("{}") {
		if err := json.Unmarshal([]byte(r.subs), &r.c.Subscriptions); err != nil {
			return Contact{}, fmt.Errorf("contact %s: %w", r.c.ID, err)
		}
	}
	if len(r.cats) > len("{}") {
		if err := json.Unmarshal([]byte(r.cats), &r.c.CategorySubscriptions); err != nil {
			return Contact{}, fmt.Errorf("contact %s: %w", r.c.ID, err)
		}
	}
	return r.c, nil
}

// values appends the stored values of contactColumns to row.
func (c *Contact) values(row []any) ([]any, error) {
	texts := [4]string{"{}", "[]", "{}", "{}"}
	lengths := [4]int{len(c.CustomFields), len(c.Tags), len(c.Subscriptions), len(c.CategorySubscriptions)}
	for i, v := range []any{c.CustomFields, c.Tags, c.Subscriptions, c.CategorySubscriptions} {
		if lengths[i] == 0 {
			continue
		}
		b, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("contact %s: %w", c.ID, err)
		}
		texts[i] = string(b)
	}
	return append(row,
		c.ID, c.Email, c.EmailDomain, c.ExternalID, c.FirstName, c.LastName, c.FullName, c.Title, c.Company,
		c.Phone, c.Website, c.Timezone, c.AddressLine1, c.AddressLine2, c.City, c.State, c.PostalCode, c.Country,
		c.Source, sqldb.Null(c.Stage), texts[0], texts[1], texts[2], texts[3], c.Status,
		sqldb.Null(c.StatusBeforeSuppress), c.DoNotContact, c.ProspectScore, c.CustomerScore, sqldb.NullMicros(c.ScoreUpdatedAt),
		sqldb.Micros(c.CreatedAt), sqldb.Micros(c.UpdatedAt), sqldb.NullMicros(c.AnonymizedAt), sqldb.NullMicros(c.SuppressedAt), sqldb.NullMicros(c.UnsubscribedAt),
		c.Revision, sqldb.Null(c.RevisedBy), c.Version, sqldb.Micros(c.VersionAt), c.Withdrawn,
	), nil
}

// Load returns the contacts with the given ids, in no particular order, and skips ids
// without a contact.
func Load(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact) ([]Contact, error) {
	if len(ids) == 0 {
		return []Contact{}, nil
	}
	rows, err := db.Query(ctx, `
		SELECT `+contactSelect+` FROM `+contactSource+`
		WHERE c.tenant_id = $1 AND c.id`+db.In(2), tenant, sqldb.List(db, ids))
	list, err := sqldb.Collect(rows, err, newReader().read)
	if err != nil {
		return nil, fmt.Errorf("load contacts: %w", err)
	}
	return list, nil
}

// ByID returns one contact, also a deleted or anonymised one.
func ByID(ctx context.Context, db *sqldb.DB, tenant id.Tenant, contact id.Contact) (Contact, error) {
	return loadOne(ctx, db, tenant, `c.id = $2`, contact)
}

// ByEmail returns the contact with an address.
func ByEmail(ctx context.Context, db *sqldb.DB, tenant id.Tenant, email string) (Contact, error) {
	addr, err := address.Normalize(email)
	if err != nil {
		return Contact{}, ErrNotFound.Because(err)
	}
	return loadOne(ctx, db, tenant, `c.email = $2`, addr)
}

// ByExternalID returns the contact with an external id.
func ByExternalID(ctx context.Context, db *sqldb.DB, tenant id.Tenant, key string) (Contact, error) {
	return loadOne(ctx, db, tenant, `c.external_id = $2`, key)
}

func loadOne(ctx context.Context, db *sqldb.DB, tenant id.Tenant, where string, value any) (Contact, error) {
	c, err := scan(db.QueryRow(ctx, `SELECT `+contactSelect+` FROM `+contactSource+` WHERE c.tenant_id = $1 AND `+where, tenant, value).Scan)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Contact{}, ErrNotFound
	}
	if err != nil {
		return Contact{}, fmt.Errorf("read a contact: %w", err)
	}
	return c, nil
}

// IDsByEmail returns the ids of the contacts with the given normalised addresses.
func IDsByEmail(ctx context.Context, db *sqldb.DB, tenant id.Tenant, emails []string) (map[string]id.Contact, error) {
	found := make(map[string]id.Contact, len(emails))
	if len(emails) == 0 {
		return found, nil
	}
	rows, err := db.Query(ctx, `SELECT email, id FROM contact WHERE tenant_id = $1 AND email`+db.In(2), tenant, sqldb.List(db, emails))
	err = sqldb.Each(rows, err, func(row func(...any) error) error {
		var email string
		var c id.Contact
		err := row(&email, &c)
		found[email] = c
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find contacts by address: %w", err)
	}
	return found, nil
}

// Existing returns which of the contacts exist.
func Existing(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact) (map[id.Contact]bool, error) {
	found := make(map[id.Contact]bool, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	rows, err := db.Query(ctx, `SELECT id FROM contact WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	err = sqldb.Each(rows, err, func(row func(...any) error) error {
		var c id.Contact
		err := row(&c)
		found[c] = true
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find contacts: %w", err)
	}
	return found, nil
}

// Billable counts the contacts that count toward the tenant's contact limit: those that are neither pending nor
// deleted.
func Billable(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (int, error) {
	n, err := CountByStatus(ctx, db, tenant)
	return n.Of(Active, Unsubscribed, Bounced, Complained), err
}

// micros truncates a time to the precision of the database.
func micros(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// Emails returns the addresses of contacts, without anonymised ones.
func Emails(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact) (map[id.Contact]string, error) {
	found := make(map[id.Contact]string, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	rows, err := db.Query(ctx, `
		SELECT id, email FROM contact
		WHERE tenant_id = $1 AND anonymized_at IS NULL AND id`+db.In(2), tenant, sqldb.List(db, ids))
	err = sqldb.Each(rows, err, func(row func(...any) error) error {
		var c id.Contact
		var email string
		err := row(&c, &email)
		found[c] = email
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find addresses of contacts: %w", err)
	}
	return found, nil
}

// Domains returns the domains of the addresses of contacts.
func Domains(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact) ([]string, error) {
	rows, err := db.Query(ctx, `SELECT DISTINCT email_domain FROM contact WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	list, err := sqldb.Collect(rows, err, func(row func(...any) error) (d string, err error) { return d, row(&d) })
	if err != nil {
		return nil, fmt.Errorf("read the domains of contacts: %w", err)
	}
	return list, nil
}
