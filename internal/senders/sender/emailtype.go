package sender

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/slug"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// MaxEmailTypes is how many email types a tenant may have.
const MaxEmailTypes = 200

var (
	// ErrEmailTypeNotFound reports an email type that does not exist.
	ErrEmailTypeNotFound = fault.New(fault.NotFound, "NOT_FOUND", "no such email type")
	// ErrUnknownEmailType reports a key or id that names no email type.
	ErrUnknownEmailType = fault.New(fault.Invalid, "INVALID_EMAIL_TYPE", "no email type has this key")
	// ErrEmailTypeInUse reports what still uses the email type.
	ErrEmailTypeInUse = fault.New(fault.Conflict, "IN_USE", "the email type is still in use")
	// ErrTooManyEmailTypes reports that the tenant has the maximum number of them.
	ErrTooManyEmailTypes = fault.New(fault.Invalid, "LIMIT_EXCEEDED", "a tenant may have 200 email types")
)

// EmailType is a kind of mail that contacts can unsubscribe from.
type EmailType struct {
	ID                id.EmailType
	Tenant            id.Tenant
	Key               string // public name; never changes, since contacts' subscriptions refer to it
	DisplayName       string
	Description       string
	UTMCampaignPrefix string // prefix of utm_campaign on tracked links
	Category          id.Category
	SortOrder         int
	Active            bool
	ListIDEnabled     bool   // whether its mails have a List-ID
	ListKey           string // label of List-ID and Feedback-ID; empty means Key
	CreatedAt         time.Time
	Revision          int64
}

// Label returns the type's label in List-ID and Feedback-ID.
func (t EmailType) Label() string {
	if t.ListKey != "" {
		return t.ListKey
	}
	return t.Key
}

// EmailTypeFields are the fields of a request; nil means absent, an empty string clears an optional
// field.
type EmailTypeFields struct {
	Key               *string
	DisplayName       *string
	Description       *string
	UTMCampaignPrefix *string
	Category          *id.Category
	SortOrder         *int
	Active            *bool
	ListIDEnabled     *bool
	ListKey           *string
}

// CheckNew validates the fields of a new email type, except for
// its category.
func (f EmailTypeFields) CheckNew() error {
	var p fault.Problems
	f.applyTexts(new(EmailType), &p)
	return p.Err()
}

// Check validates the fields of a change, independently of the email type.
func (f EmailTypeFields) Check() error {
	var p fault.Problems
	f.applyTexts(&EmailType{DisplayName: "-"}, &p)
	return p.Err()
}

func (f EmailTypeFields) apply(ctx context.Context, tx *sqldb.DB, t EmailType) (EmailType, error) {
	var p fault.Problems
	f.applyTexts(&t, &p)
	if f.Category != nil && *f.Category != t.Category {
		t.Category = *f.Category
		if !t.Category.IsZero() {
			_, err := CategoryByID(ctx, tx, t.Tenant, t.Category)
			switch {
			case errors.Is(err, ErrCategoryNotFound):
				p.Add("category_id", "no such email category")
			case err != nil:
				return EmailType{}, err
			}
		}
	}
	return t, p.Err()
}

// applyTexts sets what f gives and names no other record.
func (f EmailTypeFields) applyTexts(t *EmailType, p *fault.Problems) {
	setLine(p, "display_name", &t.DisplayName, f.DisplayName, 200)
	if t.DisplayName == "" {
		p.Add("display_name", "required")
	}
	switch {
	case f.Key == nil:
	case t.Key != "" && *f.Key != t.Key:
		p.Add("type_key", "cannot be changed")
	case !slug.Valid(*f.Key):
		p.Add("type_key", slug.Rule)
	default:
		t.Key = *f.Key
	}
	setText(p, "description", &t.Description, f.Description, 2000)
	setLine(p, "utm_campaign_prefix", &t.UTMCampaignPrefix, f.UTMCampaignPrefix, 100)
	setOrder(p, &t.SortOrder, f.SortOrder)
	set(&t.Active, f.Active)
	set(&t.ListIDEnabled, f.ListIDEnabled)
	set(&t.ListKey, f.ListKey)
	if t.ListKey != "" && !slug.Valid(t.ListKey) {
		p.Add("list_key", slug.Rule)
	}
}

const typeColumns = `id, type_key, display_name, description, utm_campaign_prefix, category_id, sort_order,
	active, list_id_enabled, list_key, created_at, revision`

// CreateEmailType creates an email type. If the key is taken, a number is appended.
func CreateEmailType(ctx context.Context, db *sqldb.DB, tenant id.Tenant, f EmailTypeFields, now time.Time) (EmailType, error) {
	var t EmailType
	err := db.InTx(ctx, func(tx *sqldb.DB) (err error) {
		t, err = f.apply(ctx, tx, EmailType{
			ID: id.New[id.EmailType](), Tenant: tenant, Active: true, ListIDEnabled: true, CreatedAt: sqldb.Time(now.UnixMicro()), Revision: 1,
		})
		for inserted := int64(0); err == nil && inserted == 0; { // repeat if another transaction has just taken the key
			if err = t.pickKey(ctx, tx); err != nil {
				return err
			}
			inserted, err = tx.Exec(ctx, `
				INSERT INTO email_type (tenant_id, id, type_key, display_name, description, utm_campaign_prefix, category_id,
					sort_order, active, list_id_enabled, list_key, created_at, revised_by)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
				ON CONFLICT (tenant_id, type_key) DO NOTHING`,
				tenant, t.ID, t.Key, t.DisplayName, sqldb.Null(t.Description), sqldb.Null(t.UTMCampaignPrefix), sqldb.Null(t.Category),
				t.SortOrder, t.Active, t.ListIDEnabled, sqldb.Null(t.ListKey), now.UnixMicro(), revision.By(ctx))
		}
		return err
	})
	if err != nil {
		return EmailType{}, fmt.Errorf("create an email type: %w", err)
	}
	return t, nil
}

// pickKey sets a key that is unique in the tenant.
func (t *EmailType) pickKey(ctx context.Context, tx *sqldb.DB) error {
	all, err := EmailTypes(ctx, tx, t.Tenant)
	if err != nil {
		return err
	}
	if len(all) >= MaxEmailTypes {
		return ErrTooManyEmailTypes
	}
	wanted := t.Key
	if wanted == "" {
		wanted = slug.Derive(t.DisplayName, '_')
	}
	t.Key, err = slug.Free(wanted, '_', func(s string) (bool, error) {
		return slices.ContainsFunc(all, func(other EmailType) bool { return other.Key == s }), nil
	})
	return err
}

// UpdateEmailType changes the fields in f.
func UpdateEmailType(ctx context.Context, db *sqldb.DB, tenant id.Tenant, typ id.EmailType, f EmailTypeFields, now time.Time) (EmailType, error) {
	var t EmailType
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		before, err := scanEmailType(tenant)(tx.QueryRow(ctx, `
			SELECT `+typeColumns+` FROM email_type WHERE tenant_id = $1 AND id = $2`+tx.ForUpdate(), tenant, typ).Scan)
		if err != nil {
			return notFoundFault(err, ErrEmailTypeNotFound)
		}
		if err := EmailTypeRevisions.Check(ctx, tx, tenant, typ); err != nil {
			return err
		}
		if t, err = f.apply(ctx, tx, before); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			UPDATE email_type SET display_name = $3, description = $4, utm_campaign_prefix = $5, category_id = $6,
				sort_order = $7, active = $8, list_id_enabled = $9, list_key = $10, revision = revision + 1, revised_at = $11, revised_by = $12
			WHERE tenant_id = $1 AND id = $2`,
			tenant, typ, t.DisplayName, sqldb.Null(t.Description), sqldb.Null(t.UTMCampaignPrefix), sqldb.Null(t.Category),
			t.SortOrder, t.Active, t.ListIDEnabled, sqldb.Null(t.ListKey), now.UnixMicro(), revision.By(ctx))
		t.Revision++
		return err
	})
	if err != nil {
		return EmailType{}, fmt.Errorf("update an email type: %w", err)
	}
	return t, nil
}

// DeleteEmailType deletes an email type that is not in use, and removes it from identities.
func DeleteEmailType(ctx context.Context, db *sqldb.DB, tenant id.Tenant, typ id.EmailType, who usage.Finder) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		t, err := EmailTypeByID(ctx, tx, tenant, typ)
		if err != nil {
			return err
		}
		if err := EmailTypeRevisions.Check(ctx, tx, tenant, typ); err != nil {
			return err
		}
		holders, err := who.Find(ctx, tx, tenant, usage.Subject{Kind: usage.EmailType, ID: t.ID.String(), Key: t.Key})
		if err != nil {
			return fmt.Errorf("find the uses of an email type: %w", err)
		}
		if holders.Any() {
			return ErrEmailTypeInUse.With(map[string]any{"usage": holders.With("broadcasts", "sequences", "automations", "forms")})
		}
		if _, err := tx.Exec(ctx, `DELETE FROM email_type WHERE tenant_id = $1 AND id = $2`, tenant, typ); err != nil {
			return fmt.Errorf("delete an email type: %w", err)
		}
		return nil
	})
}

// Newsletter creates the first email type of a new tenant.
func Newsletter(ctx context.Context, tx *sqldb.DB, t tenant.Tenant, now time.Time) error {
	typ, err := CreateEmailType(ctx, tx, t.ID, EmailTypeFields{Key: new("newsletter"), DisplayName: new("Newsletter")}, now)
	if err != nil {
		return err
	}
	return tenant.UseEmailType(ctx, tx, t.ID, typ.ID)
}

// EmailTypes returns the tenant's email types in their order.
func EmailTypes(ctx context.Context, db *sqldb.DB, tenant id.Tenant) ([]EmailType, error) {
	rows, err := db.Query(ctx, `
		SELECT `+typeColumns+` FROM email_type WHERE tenant_id = $1 ORDER BY sort_order, `+db.SortText("display_name")+`, id`, tenant)
	list, err := sqldb.Collect(rows, err, scanEmailType(tenant))
	if err != nil {
		return nil, fmt.Errorf("list email types: %w", err)
	}
	return list, nil
}

// TypeKeys returns the keys of those email types that exist.
func TypeKeys(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.EmailType) (map[id.EmailType]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := db.Query(ctx, `SELECT id, type_key FROM email_type WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	names, err := sqldb.Names[id.EmailType](rows, err)
	if err != nil {
		return nil, fmt.Errorf("read the keys of email types: %w", err)
	}
	return names, nil
}

// EmailTypeByID returns one email type, or ErrEmailTypeNotFound.
func EmailTypeByID(ctx context.Context, db *sqldb.DB, tenant id.Tenant, typ id.EmailType) (EmailType, error) {
	t, err := scanEmailType(tenant)(db.QueryRow(ctx, `
		SELECT `+typeColumns+` FROM email_type WHERE tenant_id = $1 AND id = $2`, tenant, typ).Scan)
	if err != nil {
		return EmailType{}, notFoundFault(err, ErrEmailTypeNotFound)
	}
	return t, nil
}

// EmailTypeByKey returns the email type with the key, or ErrUnknownEmailType.
func EmailTypeByKey(ctx context.Context, db *sqldb.DB, tenant id.Tenant, key string) (EmailType, error) {
	t, err := scanEmailType(tenant)(db.QueryRow(ctx, `
		SELECT `+typeColumns+` FROM email_type WHERE tenant_id = $1 AND type_key = $2`, tenant, key).Scan)
	if err != nil {
		return EmailType{}, notFoundFault(err, ErrUnknownEmailType)
	}
	return t, nil
}

func scanEmailType(tenant id.Tenant) func(func(...any) error) (EmailType, error) {
	return func(scan func(...any) error) (EmailType, error) {
		t := EmailType{Tenant: tenant}
		var description, prefix, listKey sql.NullString
		var created int64
		err := scan(&t.ID, &t.Key, &t.DisplayName, &description, &prefix, &t.Category, &t.SortOrder,
			&t.Active, &t.ListIDEnabled, &listKey, &created, &t.Revision)
		t.Description, t.UTMCampaignPrefix = description.String, prefix.String
		t.ListKey, t.CreatedAt = listKey.String, sqldb.Time(created)
		return t, err
	}
}
