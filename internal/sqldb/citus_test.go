package sqldb_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Each table is in one of the lists of citus.sql.
func TestCitusScriptNamesEveryTable(t *testing.T) {
	db := dbtest.Postgres(t)
	lists := map[string][]string{} // by the name of the list
	for _, m := range regexp.MustCompile(`(?s)(\w+) TEXT\[\] := ARRAY\[(.*?)\]`).FindAllStringSubmatch(sqldb.CitusScript, -1) {
		for _, name := range regexp.MustCompile(`'(\w+)'`).FindAllStringSubmatch(m[2], -1) {
			lists[m[1]] = append(lists[m[1]], name[1])
		}
	}
	named := map[string]string{}
	for list, tables := range lists {
		for _, name := range tables {
			if named[name] != "" {
				t.Errorf("%s is in the lists %s and %s", name, named[name], list)
			}
			named[name] = list
		}
	}
	rows, err := db.Query(t.Context(), `
		SELECT c.relname, EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id')
		FROM pg_class AS c WHERE c.relkind = 'r' AND c.relnamespace = CAST(current_schema() AS regnamespace)
			AND c.relname NOT LIKE 'schema\_%' AND c.relname NOT IN ('home', 'journal_news')`)
	owned := map[string]bool{}
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (_ struct{}, err error) {
		var name string
		var tenant bool
		err = scan(&name, &tenant)
		owned[name] = tenant
		return struct{}{}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, tenant := range owned {
		switch list := named[name]; {
		case list == "":
			t.Errorf("no list of citus.sql has the table %s", name)
		case list == "by_tenant" && !tenant:
			t.Errorf("%s is distributed by tenant_id, a column it does not have", name)
		}
	}
	for name := range named {
		if _, ok := owned[name]; !ok {
			t.Errorf("citus.sql names %s, which is not a table", name)
		}
	}
	// A table comes after those it refers to.
	order := slices.Concat(lists["everywhere"], lists["by_group"], lists["by_tenant"])
	rows, err = db.Query(t.Context(), `SELECT CAST(CAST(conrelid AS regclass) AS TEXT) || ' ' || CAST(CAST(confrelid AS regclass) AS TEXT) FROM pg_constraint WHERE contype = 'f'`)
	pairs, err := sqldb.Collect(rows, err, func(scan func(...any) error) (s string, err error) { return s, scan(&s) })
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range pairs {
		table, other, _ := strings.Cut(pair, " ")
		if (named[table] == "coordinator") != (named[other] == "coordinator") || slices.Index(order, table) < slices.Index(order, other) {
			t.Errorf("%s refers to %s, which comes later in citus.sql or is on another node", table, other)
		}
	}
}
