package audience

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// plannedQuery is a query whose plan is shown; it calls the packages directly.
type plannedQuery struct {
	name string
	ask  func(ctx context.Context, db *sqldb.DB, tenant id.Tenant) error
}

// showPlans prints the plans of a large database for the statements of the
// questions: of PostgreSQL with the measured numbers, of SQLite the query plan.
func showPlans(ctx context.Context, o options, dialect string) (err error) {
	s, err := open(ctx, o, dialect, extent{o.Contacts, o.Entries})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	db, err := s.database(ctx, 2)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var tenant id.Tenant
	if err := db.QueryRow(ctx, `SELECT tenant_id FROM tenant WHERE slug = $1`, harness.Tenant).Scan(&tenant); err != nil {
		return err
	}
	for _, q := range plansOf() {
		if !strings.Contains(q.name, o.Operation) {
			continue
		}
		type statement struct {
			text string
			args []any
		}
		var said []statement
		traced := sqldb.WithQueryTrace(ctx, func(text string, args []any) { said = append(said, statement{text, args}) })
		if err := q.ask(traced, db, tenant); err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		for _, st := range said {
			if !strings.Contains(st.text, "FROM contact c") && !strings.Contains(st.text, "FROM journal") {
				continue // a look at what the tenant has declared
			}
			fmt.Printf("\n%s: %s\n", dialect, q.name)
			if err := explain(ctx, db, st.text, st.args); err != nil {
				return fmt.Errorf("%s: %w", q.name, err)
			}
		}
	}
	return nil
}

func explain(ctx context.Context, db *sqldb.DB, text string, args []any) error {
	fmt.Println("  " + strings.Join(strings.Fields(text), " "))
	if db.Dialect() == sqldb.Postgres {
		rows, err := db.Query(ctx, `EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) `+text, args...)
		lines, err := sqldb.Collect(rows, err, func(row func(...any) error) (line string, err error) { return line, row(&line) })
		for _, line := range lines {
			fmt.Println("    " + line)
		}
		return err
	}
	type step struct {
		id, parent, unused int
		detail             string
	}
	rows, err := db.Query(ctx, `EXPLAIN QUERY PLAN `+text, args...)
	steps, err := sqldb.Collect(rows, err, func(row func(...any) error) (st step, err error) {
		err = row(&st.id, &st.parent, &st.unused, &st.detail)
		return st, err
	})
	depth := map[int]int{}
	for _, st := range steps {
		depth[st.id] = depth[st.parent] + 1
		fmt.Println("  " + strings.Repeat("  ", depth[st.id]) + st.detail)
	}
	return err
}

// plansOf are the questions whose plans are worth reading.
func plansOf() []plannedQuery {
	list := func(name, sort, search string, asc bool, rule any) plannedQuery {
		return plannedQuery{name, func(ctx context.Context, db *sqldb.DB, tenant id.Tenant) error {
			sel, err := selectorOf(ctx, db, tenant, search, rule)
			if err != nil {
				return err
			}
			_, err = contact.List(ctx, db, tenant, contact.Query{Selector: sel, Sort: contact.ParseSort(sort), Asc: asc, Limit: 50})
			return err
		}}
	}
	count := func(name string, rule any) plannedQuery {
		return plannedQuery{"count, " + name, func(ctx context.Context, db *sqldb.DB, tenant id.Tenant) error {
			sel, err := selectorOf(ctx, db, tenant, "", rule)
			if err != nil {
				return err
			}
			_, err = contact.Count(ctx, db, tenant, sel)
			return err
		}}
	}
	deep := plannedQuery{"list, deep", func(ctx context.Context, db *sqldb.DB, tenant id.Tenant) error {
		q := contact.Query{Sort: contact.ByCreated, Limit: 50}
		var at int64
		var who id.Contact
		err := db.QueryRow(ctx, `SELECT created_at, id FROM contact WHERE tenant_id = $1 ORDER BY created_at, id LIMIT 1 OFFSET 1000`, tenant).Scan(&at, &who)
		if err != nil {
			return err
		}
		q.After = &contact.Position{Value: new(strconv.FormatInt(at, 10)), ID: who}
		_, err = contact.List(ctx, db, tenant, q)
		return err
	}}
	return []plannedQuery{
		list("list", "created_at", "", false, nil), deep,
		list("list by last_name", "last_name", "", true, nil), list("list by last_activity_at", "last_activity_at", "", true, nil),
		list("search, common", "created_at", "anna", false, nil), list("search, rare", "created_at", rare, false, nil),
		list("search, nobody", "created_at", "qxyzzyq", false, nil), list("search, two terms", "created_at", "maria garnier", false, nil),
		count("everybody", nil),
		count("2 columns, few", pairSelective), count("2 columns, many", pairBroad),
		count("2 fields, few", pairFields), count("2 fields, many", pairFieldsAll), count("tags, column", pairTags),
		count("5 leaves, few", buyers), count("5 leaves, many", browsers), count("5 leaves, not", sleepers),
		list("list of 5 leaves, few", "created_at", "", false, buyers), list("list of 5 leaves, many", "created_at", "", false, browsers),
	}
}

func selectorOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, search string, rule any) (contact.Selector, error) {
	in := segment.SelectorInput{Search: search}
	if rule != nil {
		var err error
		if in.Definition, err = json.Marshal(rule); err != nil {
			return contact.Selector{}, err
		}
	}
	return segment.Select(ctx, db, tenant, in, time.Now())
}
