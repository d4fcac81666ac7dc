package sender

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// MaxCategories is how many categories a tenant may have.
const MaxCategories = 50

var (
	// ErrCategoryNotFound reports an email category that does not exist.
	ErrCategoryNotFound = fault.New(fault.NotFound, "NOT_FOUND", "no such email category")
	// ErrTooManyCategories reports that the tenant has the maximum number of them.
	ErrTooManyCategories = fault.New(fault.Invalid, "LIMIT_EXCEEDED", "a tenant may have 50 email categories")
)

// Category is a group of email types that contacts unsubscribe from together.
type Category struct {
	ID          id.Category
	Tenant      id.Tenant
	Name        string
	Description string
	SortOrder   int
	CreatedAt   time.Time
	Revision    int64
}

// CategoryFields are the fields of a request; nil means absent, an empty string clears an optional
// field.
type CategoryFields struct {
	Name        *string
	Description *string
	SortOrder   *int
}

// CheckNew validates the fields of a new category.
func (f CategoryFields) CheckNew() error {
	_, err := f.apply(Category{})
	return err
}

// Check validates the fields of a change, independently of the category.
func (f CategoryFields) Check() error {
	_, err := f.apply(Category{Name: "-"})
	return err
}

func (f CategoryFields) apply(c Category) (Category, error) {
	var p fault.Problems
	setLine(&p, "name", &c.Name, f.Name, 200)
	if c.Name == "" {
		p.Add("name", "required")
	}
	setText(&p, "description", &c.Description, f.Description, 2000)
	setOrder(&p, &c.SortOrder, f.SortOrder)
	return c, p.Err()
}

func setOrder(p *fault.Problems, to, from *int) {
	set(to, from)
	if *to < -1_000_000 || *to > 1_000_000 {
		p.Add("sort_order", "must be between -1000000 and 1000000")
	}
}

const categoryColumns = `id, name, description, sort_order, created_at, revision`

// CreateCategory adds an email category.
func CreateCategory(ctx context.Context, db *sqldb.DB, tenant id.Tenant, f CategoryFields, now time.Time) (Category, error) {
	c, err := f.apply(Category{ID: id.New[id.Category](), Tenant: tenant, CreatedAt: sqldb.Time(now.UnixMicro()), Revision: 1})
	if err != nil {
		return Category{}, err
	}
	n, err := db.Exec(ctx, `
		INSERT INTO email_category (tenant_id, id, name, description, sort_order, created_at, revised_by)
		SELECT `+db.Param(1, "INTEGER")+`, $2, $3, $4, $5, $6, `+db.Param(7, "UUID")+`
		WHERE (SELECT COUNT(*) FROM email_category WHERE tenant_id = $1) < $8`,
		tenant, c.ID, c.Name, sqldb.Null(c.Description), c.SortOrder, now.UnixMicro(), revision.By(ctx), MaxCategories)
	if err != nil {
		return Category{}, fmt.Errorf("create an email category: %w", err)
	}
	if n == 0 {
		return Category{}, ErrTooManyCategories
	}
	return c, nil
}

// UpdateCategory changes the fields in f.
func UpdateCategory(ctx context.Context, db *sqldb.DB, tenant id.Tenant, category id.Category, f CategoryFields, now time.Time) (Category, error) {
	var c Category
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		before, err := scanCategory(tenant)(tx.QueryRow(ctx, `
			SELECT `+categoryColumns+` FROM email_category WHERE tenant_id = $1 AND id = $2`+tx.ForUpdate(), tenant, category).Scan)
		if err != nil {
			return notFoundFault(err, ErrCategoryNotFound)
		}
		if err := CategoryRevisions.Check(ctx, tx, tenant, category); err != nil {
			return err
		}
		if c, err = f.apply(before); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			UPDATE email_category SET name = $3, description = $4, sort_order = $5, revision = revision + 1, revised_at = $6, revised_by = $7
			WHERE tenant_id = $1 AND id = $2`,
			tenant, category, c.Name, sqldb.Null(c.Description), c.SortOrder, now.UnixMicro(), revision.By(ctx))
		c.Revision++
		return err
	})
	if err != nil {
		return Category{}, fmt.Errorf("update an email category: %w", err)
	}
	return c, nil
}

// DeleteCategory deletes a category. Its email types no longer have one, and each contact's choice
// for the category becomes its choice for each of them.
func DeleteCategory(ctx context.Context, db *sqldb.DB, tenant id.Tenant, category id.Category, now time.Time) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		typeKeys, err := deleteCategory(ctx, tx, tenant, category, now)
		if err != nil {
			return err
		}
		return contact.SplitConsent(ctx, tx, tenant, category, typeKeys, now)
	})
}

// deleteCategory returns the keys of the category's email types.
func deleteCategory(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, category id.Category, now time.Time) (typeKeys []string, err error) {
	rows, err := tx.Query(ctx, `
		UPDATE email_type SET category_id = NULL, revision = revision + 1, revised_at = $3, revised_by = $4
		WHERE tenant_id = $1 AND category_id = $2 RETURNING type_key`, tenant, category, now.UnixMicro(), revision.By(ctx))
	typeKeys, err = sqldb.Collect(rows, err, func(scan func(...any) error) (key string, err error) {
		err = scan(&key)
		return key, err
	})
	if err != nil {
		return nil, fmt.Errorf("take email types out of a category: %w", err)
	}
	if err := CategoryRevisions.Check(ctx, tx, tenant, category); err != nil { // locks the types first, as updates of them do
		return nil, err
	}
	n, err := tx.Exec(ctx, `DELETE FROM email_category WHERE tenant_id = $1 AND id = $2`, tenant, category)
	if err != nil {
		return nil, fmt.Errorf("delete an email category: %w", err)
	}
	if n == 0 {
		return nil, ErrCategoryNotFound
	}
	return typeKeys, nil
}

// Categories returns the tenant's categories in their order.
func Categories(ctx context.Context, db *sqldb.DB, tenant id.Tenant) ([]Category, error) {
	rows, err := db.Query(ctx, `
		SELECT `+categoryColumns+` FROM email_category WHERE tenant_id = $1 ORDER BY sort_order, `+db.SortText("name")+`, id`, tenant)
	list, err := sqldb.Collect(rows, err, scanCategory(tenant))
	if err != nil {
		return nil, fmt.Errorf("list email categories: %w", err)
	}
	return list, nil
}

// CategoryByID returns one category, or ErrCategoryNotFound.
func CategoryByID(ctx context.Context, db *sqldb.DB, tenant id.Tenant, category id.Category) (Category, error) {
	c, err := scanCategory(tenant)(db.QueryRow(ctx, `
		SELECT `+categoryColumns+` FROM email_category WHERE tenant_id = $1 AND id = $2`, tenant, category).Scan)
	if err != nil {
		return Category{}, notFoundFault(err, ErrCategoryNotFound)
	}
	return c, nil
}

func scanCategory(tenant id.Tenant) func(func(...any) error) (Category, error) {
	return func(scan func(...any) error) (Category, error) {
		c := Category{Tenant: tenant}
		var description sql.NullString
		var created int64
		err := scan(&c.ID, &c.Name, &description, &c.SortOrder, &created, &c.Revision)
		c.Description, c.CreatedAt = description.String, sqldb.Time(created)
		return c, err
	}
}

// notFoundFault converts sqldb.ErrNoRows to a fault.
func notFoundFault(err error, fault error) error {
	if errors.Is(err, sqldb.ErrNoRows) {
		return fault
	}
	return err
}
