package savedfilter

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

const columns = `id, name, filters, definition, search, statuses, sort, ascending, columns, shared, created_by, created_at, updated_at`

func scan(row func(...any) error) (Filter, error) {
	var f Filter
	var filters, statuses, shown string
	var definition, search sql.NullString
	var created, updated int64
	err := row(&f.ID, &f.Name, &filters, &definition, &search, &statuses, &f.Sort, &f.Asc, &shown, &f.Shared, &f.CreatedBy, &created, &updated)
	if err != nil {
		return Filter{}, err
	}
	f.Filters, f.Search = json.RawMessage(filters), search.String
	if definition.Valid {
		f.Definition = json.RawMessage(definition.String)
	}
	f.CreatedAt, f.UpdatedAt = sqldb.Time(created), sqldb.Time(updated)
	f.Statuses, f.Columns = []contact.Status{}, []string{}
	if err := json.Unmarshal([]byte(statuses), &f.Statuses); err != nil {
		return Filter{}, fmt.Errorf("statuses of saved filter %s: %w", f.ID, err)
	}
	if err := json.Unmarshal([]byte(shown), &f.Columns); err != nil {
		return Filter{}, fmt.Errorf("columns of saved filter %s: %w", f.ID, err)
	}
	return f, nil
}

// values returns the columns that a write sets, in the order of columns, without the id, the author
// and the times.
func (f Filter) values() ([]any, error) {
	statuses, err := json.Marshal(f.Statuses)
	if err != nil {
		return nil, err
	}
	shown, err := json.Marshal(f.Columns)
	if err != nil {
		return nil, err
	}
	return []any{
		f.Name, string(f.Filters), sqldb.Null(string(f.Definition)), sqldb.Null(f.Search), string(statuses),
		f.Sort, f.Asc, string(shown), f.Shared,
	}, nil
}

// List returns the filters visible to p, by name.
func List(ctx context.Context, db *sqldb.DB, p auth.Principal) ([]Filter, error) {
	filters, err := all(ctx, db, p.Tenant)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(filters, func(f Filter) bool { return !f.sees(p) }), nil
}

func all(ctx context.Context, db *sqldb.DB, tenant id.Tenant) ([]Filter, error) {
	rows, err := db.Query(ctx, `SELECT `+columns+` FROM saved_filter WHERE tenant_id = $1 ORDER BY `+db.SortText("name")+`, id`, tenant)
	list, err := sqldb.Collect(rows, err, scan)
	if err != nil {
		return nil, fmt.Errorf("list saved filters: %w", err)
	}
	return list, nil
}

// ByID returns one filter, or ErrNotFound if it is not visible to p.
func ByID(ctx context.Context, db *sqldb.DB, p auth.Principal, filter id.SavedFilter) (Filter, error) {
	return find(ctx, db, p, filter, " ")
}

func find(ctx context.Context, db *sqldb.DB, p auth.Principal, filter id.SavedFilter, lock string) (Filter, error) {
	f, err := scan(db.QueryRow(ctx, `SELECT `+columns+` FROM saved_filter WHERE tenant_id = $1 AND id = $2`+lock, p.Tenant, filter).Scan)
	if errors.Is(err, sqldb.ErrNoRows) || err == nil && !f.sees(p) {
		return Filter{}, ErrNotFound
	}
	if err != nil {
		return Filter{}, fmt.Errorf("read a saved filter: %w", err)
	}
	return f, nil
}

// changeable returns a filter that p may change, and locks its row.
func changeable(ctx context.Context, tx *sqldb.DB, p auth.Principal, filter id.SavedFilter) (Filter, error) {
	f, err := find(ctx, tx, p, filter, tx.ForUpdate())
	if err == nil && !f.mayChange(p) {
		return Filter{}, auth.ErrForbidden.Sayf("only the user who saved a filter, and admins, may change it")
	}
	return f, err
}

// Create creates a filter of p. Absent fields have the defaults of a list of contacts; the filter
// is shared by default.
func Create(ctx context.Context, db *sqldb.DB, p auth.Principal, ch Change, now time.Time) (Filter, error) {
	now = now.UTC().Truncate(time.Microsecond)
	f := Filter{
		ID: id.New[id.SavedFilter](), Filters: json.RawMessage(`[]`), Statuses: []contact.Status{}, Sort: contact.ByCreated,
		Columns: []string{}, Shared: true, CreatedBy: p.User, CreatedAt: now, UpdatedAt: now,
	}
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		if err := f.change(ctx, tx, p.Tenant, ch); err != nil {
			return err
		}
		values, err := f.values()
		if err != nil {
			return err
		}
		var n int
		if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM saved_filter WHERE tenant_id = $1`, p.Tenant).Scan(&n); err != nil {
			return err
		}
		if n >= maxFilters {
			return ErrLimit.Sayf("a tenant may have at most %d saved filters", maxFilters)
		}
		_, err = tx.Exec(ctx, `
			INSERT INTO saved_filter (tenant_id, id, created_by, created_at, updated_at,
				name, filters, definition, search, statuses, sort, ascending, columns, shared)
			VALUES ($1, $2, $3, $4, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
			append([]any{p.Tenant, f.ID, sqldb.Null(f.CreatedBy), sqldb.Micros(now)}, values...)...)
		return err
	})
	if err != nil {
		return Filter{}, fmt.Errorf("save a filter: %w", err)
	}
	return f, nil
}

// Update applies a change to a filter.
func Update(ctx context.Context, db *sqldb.DB, p auth.Principal, filter id.SavedFilter, ch Change, now time.Time) (Filter, error) {
	var f Filter
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		var err error
		if f, err = changeable(ctx, tx, p, filter); err != nil {
			return err
		}
		if err := f.change(ctx, tx, p.Tenant, ch); err != nil {
			return err
		}
		f.UpdatedAt = now.UTC().Truncate(time.Microsecond)
		values, err := f.values()
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			UPDATE saved_filter SET name = $4, filters = $5, definition = $6, search = $7, statuses = $8,
				sort = $9, ascending = $10, columns = $11, shared = $12, updated_at = $3
			WHERE tenant_id = $1 AND id = $2`, append([]any{p.Tenant, f.ID, sqldb.Micros(f.UpdatedAt)}, values...)...)
		return err
	})
	if err != nil {
		return Filter{}, fmt.Errorf("change a saved filter: %w", err)
	}
	return f, nil
}

// Delete deletes a filter.
func Delete(ctx context.Context, db *sqldb.DB, p auth.Principal, filter id.SavedFilter) error {
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		f, err := changeable(ctx, tx, p, filter)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `DELETE FROM saved_filter WHERE tenant_id = $1 AND id = $2`, p.Tenant, f.ID)
		return err
	})
	if err != nil {
		return fmt.Errorf("delete a saved filter: %w", err)
	}
	return nil
}
