package library

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Filter selects entries, and a page of them.
type Filter struct {
	Statuses []Status // any of these; empty: all but archived
	Search   string   // substring of the name, ignoring case
	Offset   int
	Limit    int
}

// ParseStatuses parses names of statuses.
func ParseStatuses(names []string) ([]Status, error) {
	list := make([]Status, 0, len(names))
	for _, n := range names {
		s, err := ParseStatus(n)
		if err != nil {
			return nil, ErrStatus.Sayf("status must be a comma list of draft, published, archived")
		}
		list = append(list, s)
	}
	return list, nil
}

// List returns a page of entries without their content, most recently updated first, and the total
// number.
func List(ctx context.Context, db *sqldb.DB, tenant id.Tenant, f Filter) (list []Entry, total int, err error) {
	if len(f.Statuses) == 0 {
		f.Statuses = []Status{Draft, Published}
	}
	if f.Search = strings.TrimSpace(f.Search); f.Search != "" {
		list, total, err = searchNames(ctx, db, tenant, f)
	} else {
		list, total, err = page(ctx, db, tenant, f)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("list library entries: %w", err)
	}
	return list, total, nil
}

const newestFirst = ` ORDER BY e.updated_at DESC, e.id`

func page(ctx context.Context, db *sqldb.DB, tenant id.Tenant, f Filter) (list []Entry, total int, err error) {
	statuses := sqldb.List(db, f.Statuses)
	err = db.QueryRow(ctx, `SELECT COUNT(*) FROM library_entry WHERE tenant_id = $1 AND status`+db.In(2), tenant, statuses).Scan(&total)
	if err != nil {
		return nil, 0, err
	}
	rows, err := db.Query(ctx, `
		SELECT `+columns+` FROM library_entry AS e WHERE e.tenant_id = $1 AND e.status`+db.In(2)+newestFirst+` LIMIT $3 OFFSET $4`,
		tenant, statuses, f.Limit, f.Offset)
	list, err = sqldb.Collect(rows, err, one)
	return list, total, err
}

// searchNames compares names in Go, because SQLite folds only ASCII letters.
func searchNames(ctx context.Context, db *sqldb.DB, tenant id.Tenant, f Filter) (list []Entry, total int, err error) {
	part := strings.ToLower(f.Search)
	found := []id.LibraryEntry{}
	rows, err := db.Query(ctx, `
		SELECT e.id, e.name FROM library_entry AS e WHERE e.tenant_id = $1 AND e.status`+db.In(2)+newestFirst,
		tenant, sqldb.List(db, f.Statuses))
	err = sqldb.Each(rows, err, func(row func(...any) error) error {
		var entry id.LibraryEntry
		var name string
		err := row(&entry, &name)
		if strings.Contains(strings.ToLower(name), part) {
			found = append(found, entry)
		}
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	total = len(found)
	found = found[min(f.Offset, total):]
	found = found[:min(f.Limit, len(found))]
	rows, err = db.Query(ctx, `SELECT `+columns+` FROM library_entry AS e WHERE e.tenant_id = $1 AND e.id`+db.In(2), tenant, sqldb.List(db, found))
	list, err = sqldb.Collect(rows, err, one)
	slices.SortFunc(list, func(a, b Entry) int { return slices.Index(found, a.ID) - slices.Index(found, b.ID) })
	return list, total, err
}

func one(row func(...any) error) (Entry, error) { return scan(row) }

// Names returns the names of those of the entries that exist.
func Names(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.LibraryEntry) (map[id.LibraryEntry]string, error) {
	rows, err := db.Query(ctx, `SELECT id, name FROM library_entry WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	names, err := sqldb.Names[id.LibraryEntry](rows, err)
	if err != nil {
		return nil, fmt.Errorf("read the names of library entries: %w", err)
	}
	return names, nil
}
