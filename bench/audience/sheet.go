package audience

import (
	"context"
	"fmt"
	"strings"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// sheet writes rows of one of the tenant's tables, many at a time.
type sheet struct {
	db     *sqldb.DB
	tenant id.Tenant
	head   string // INSERT … SELECT, up to the columns that vary
	cols   []string
	rows   *sqldb.Table
	count  int
}

// newSheet begins rows of a table: same holds columns that are the same
// everywhere, as "name literal"; the others vary, as "name TYPE".
func newSheet(db *sqldb.DB, tenant id.Tenant, table string, same []string, varying ...string) *sheet {
	names, values := []string{"tenant_id"}, []string{db.Param(1, "INTEGER")}
	for _, s := range same {
		name, literal, _ := strings.Cut(s, " ")
		names, values = append(names, name), append(values, literal)
	}
	for _, v := range varying {
		name, _, _ := strings.Cut(v, " ")
		names, values = append(names, name), append(values, "v."+name)
	}
	return &sheet{
		db: db, tenant: tenant, cols: varying, rows: db.Table(varying...),
		head: fmt.Sprintf(`INSERT INTO %s (%s) SELECT %s FROM `, table, strings.Join(names, ", "), strings.Join(values, ", ")),
	}
}

// add appends a row.
func (s *sheet) add(ctx context.Context, values ...any) error {
	s.rows.Add(values...)
	s.count++
	if s.rows.Len() < 5000 {
		return nil
	}
	return s.flush(ctx)
}

// flush writes what was added.
func (s *sheet) flush(ctx context.Context) error {
	if s.rows.Len() == 0 {
		return nil
	}
	_, err := s.db.Exec(ctx, s.head+s.rows.As("v", 2), s.rows.Args(s.tenant)...)
	if err != nil {
		return fmt.Errorf("%.60s: %w", s.head, err)
	}
	s.rows = s.db.Table(s.cols...)
	return nil
}
