package sqldb

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/stdlib"
)

// traceKey is the context key of WithQueryTrace.
type traceKey struct{}

// WithQueryTrace returns a context under which trace is called before each statement, with its text
// in the database's dialect and its parameters.
func WithQueryTrace(ctx context.Context, trace func(text string, args []any)) context.Context {
	return context.WithValue(ctx, traceKey{}, trace)
}

func (db *DB) traceQuery(ctx context.Context, text string, args []any) {
	trace, ok := ctx.Value(traceKey{}).(func(string, []any))
	if !ok && db.trace == nil {
		return
	}
	if db.dialect == SQLite {
		text = toSQLite(text).sqlite
	}
	if ok {
		trace(text, args)
	}
	if db.trace != nil {
		db.trace(text, args)
	}
}

var parameter = regexp.MustCompile(`\$(\d+)`)

// Explain returns PostgreSQL's generic plan of a statement, as JSON (EXPLAIN). The statement does
// not run.
func (db *DB) Explain(ctx context.Context, text string) ([]byte, error) {
	most := 0
	for _, m := range parameter.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return nil, err
		}
		most = max(most, n)
	}
	values := ""
	if most > 0 {
		values = "(" + strings.TrimSuffix(strings.Repeat("NULL, ", most), ", ") + ")"
	}
	conn, err := db.pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	var plan []byte
	err = conn.Raw(func(driver any) error {
		pg := driver.(*stdlib.Conn).Conn().PgConn()
		for _, step := range []string{"PREPARE explained AS " + text, "EXPLAIN (FORMAT JSON, VERBOSE) EXECUTE explained" + values, "DEALLOCATE explained"} {
			results, err := pg.Exec(ctx, step).ReadAll()
			if err != nil {
				return fmt.Errorf("%s: %w", step, err)
			}
			for _, r := range results {
				for _, row := range r.Rows {
					plan = append(plan, row[0]...)
				}
			}
		}
		return nil
	})
	return plan, err
}
