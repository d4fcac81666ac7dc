package internal

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fromList is the objection to statements that write rows of several tenants. A database that
// distributes its rows by tenant determines the node of a statement from the parameters; PostgreSQL
// alone plans such statements better, too.
const fromList = "writes rows whose tenants are in a list; bind one tenant as a parameter"

// given precedes the alias of a list of parameters (sqldb.Table) in a statement.
const given = "given_"

var (
	createTable = regexp.MustCompile(`(?is)CREATE TABLE (?:IF NOT EXISTS )?(\w+) \((.*?)\n\)`)
	dropTable   = regexp.MustCompile(`(?i)DROP TABLE (?:IF EXISTS )?(\w+)`)
	ownsTenant  = regexp.MustCompile(`(?m)^\s*tenant_id\s`)
	lineComment = regexp.MustCompile(`--[^\n]*`)
	spansAll    = regexp.MustCompile(`/\*\s*all tenants: \S.*?\*/`)
	verb        = regexp.MustCompile(`(?i)\b(SELECT|INSERT|UPDATE|DELETE|WITH)\b`)

	// tableRef finds the tables of a statement without joins by commas.
	tableRef = regexp.MustCompile(`(?i)\b(?:FROM|JOIN|INTO|UPDATE|USING)\s+(\w+|` + unknown + `)`)
	// commas finds joins by commas.
	commas = regexp.MustCompile(`(?i)\bFROM\s+\w+(\s+(AS\s+)?\w+)?\s*,\s*\w`)

	// bound finds where a statement has a tenant as a parameter, or as a column that it inserts.
	bound = regexp.MustCompile(`(?i)\btenant_id\s*(?:=|IN)\s*\(?\s*(?:CAST\s*\(\s*)?\$\d|\(\s*tenant_id\s*,[^)]*\)\s*(?:=|IN|>)|INTO\s+\w+\s*\([^)]*\btenant_id\b`)

	// listed finds references to the tenant of a table, which may be a list of parameters.
	listed = regexp.MustCompile(`(?i)\b(\w+)\.tenant_id\b`)
	// changing finds the parts of statements that write.
	changing = regexp.MustCompile(`(?i)\b(INSERT\s+INTO|UPDATE\s+\w+\s+(?:AS\s+\w+\s+)?SET|DELETE\s+FROM)\b`)

	// joined finds where the tenant of a table is that of another one.
	joined = regexp.MustCompile(`(?i)\btenant_id\s*=\s*(\w+)\.tenant_id`)
)

// allTables returns the tables that the migrations leave, and the text of their columns.
func allTables(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("sqldb/migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no migrations: %v", err)
	}
	tables := map[string]string{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range dropTable.FindAllStringSubmatch(string(text), -1) { // a table that is made anew in the same file stays
			delete(tables, m[1])
		}
		for _, m := range createTable.FindAllStringSubmatch(string(text), -1) {
			tables[m[1]] = m[2]
		}
	}
	return tables
}

// tenantTables returns the tables whose rows belong to tenants.
func tenantTables(t *testing.T) map[string]bool {
	t.Helper()
	tables := map[string]bool{}
	for name, columns := range allTables(t) {
		if ownsTenant.MatchString(columns) {
			tables[name] = true
		}
	}
	return tables
}

// objection returns what is wrong with a statement, or nothing: the rows of each tenant table in it
// must be restricted to one tenant.
func objection(text string, tables map[string]bool) string {
	const unreadable = "is not written out where it is sent"
	if text == tooMany {
		return "has too many variants (maxWork): make it of fewer alternative pieces, or of pieces that do not contain each other"
	}
	if !verb.MatchString(text) {
		return unreadable
	}
	if changing.MatchString(text) {
		for _, m := range listed.FindAllStringSubmatch(text, -1) {
			if strings.Contains(text, given+m[1]) {
				return fromList
			}
		}
	}
	if spansAll.MatchString(text) {
		return ""
	}
	text = lineComment.ReplaceAllString(text, "")
	if commas.MatchString(text) {
		return "joins by a comma, after which this test does not find the tables"
	}
	var named []string
	for _, m := range tableRef.FindAllStringSubmatch(text, -1) {
		name := strings.ToLower(m[1])
		if name == unknown {
			return unreadable
		}
		if tables[name] {
			named = append(named, name)
		}
	}
	if len(named) == 0 {
		return ""
	}
	restricted := len(bound.FindAllString(text, -1))
	carried := 0
	for _, m := range joined.FindAllStringSubmatch(text, -1) {
		if strings.Contains(text, given+m[1]) {
			restricted++
		} else {
			carried++
		}
	}
	switch {
	case restricted == 0:
		return "names " + strings.Join(named, ", ") + " and binds no tenant_id"
	case restricted+carried < len(named):
		return "names " + strings.Join(named, ", ") + " and does not restrict each of them to the tenant"
	}
	return ""
}

// TestEveryStatementIsBoundToATenant reads the SQL of the program. A statement that concerns all
// tenants says so in a comment in its text: /* all tenants: why */.
func TestEveryStatementIsBoundToATenant(t *testing.T) {
	tables := tenantTables(t)
	if len(tables) < 10 {
		t.Fatalf("only %d tenant tables found in the migrations", len(tables))
	}
	all, err := statements(".")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 100 {
		t.Fatalf("only %d statements found", len(all))
	}
	seen := map[statement]bool{}
	for _, s := range all {
		if seen[s] {
			continue
		}
		seen[s] = true
		if o := objection(s.text, tables); o != "" {
			t.Errorf("internal/%s: the statement %s; if it concerns all tenants, add the comment /* all tenants: why */:\n%s", s.place, o, strings.TrimSpace(s.text))
		}
	}
	t.Logf("%d statements, %d tenant tables", len(seen), len(tables))
}

func TestObjectionsToStatements(t *testing.T) {
	tables := map[string]bool{"contact": true, "segment_member": true}
	for _, tt := range []struct {
		name, text string
		ok         bool
	}{
		{"one table, bound", `SELECT email FROM contact WHERE tenant_id = $1 AND id = $2`, true},
		{"one table without a tenant", `SELECT email FROM contact WHERE id = $1`, false},
		{"tenant selected only", `SELECT tenant_id, email FROM contact WHERE id = $1`, false},
		{"update without a tenant", `UPDATE contact SET email = $2 WHERE id = $1`, false},
		{"delete of everything", `DELETE FROM contact`, false},
		{"insert", `INSERT INTO contact (tenant_id, id) VALUES ($1, $2)`, true},
		{"insert without a tenant", `INSERT INTO contact (id) VALUES ($1)`, false},
		{"joined", `SELECT 1 FROM contact c JOIN segment_member m ON m.tenant_id = c.tenant_id AND m.contact_id = c.id WHERE c.tenant_id = $1`, true},
		{"joined by id alone", `SELECT 1 FROM contact c JOIN segment_member m ON m.contact_id = c.id WHERE c.tenant_id = $1`, false},
		{"joined without a tenant", `SELECT 1 FROM contact c JOIN segment_member m ON m.tenant_id = c.tenant_id`, false},
		{"subquery without a tenant", `DELETE FROM contact WHERE tenant_id = $1 AND id IN (SELECT contact_id FROM segment_member)`, false},
		{"list of parameters", `UPDATE contact SET email = v.email FROM ` + given + `v WHERE contact.tenant_id = v.tenant_id AND contact.id = v.id`, false},
		{"list of parameters of one tenant", `UPDATE contact SET email = v.email FROM ` + given + `v WHERE contact.tenant_id = $1 AND contact.id = v.id`, true},
		{"inserted with the tenants of a list", `INSERT INTO contact (tenant_id, id) SELECT v.tenant_id, v.id FROM ` + given + `v /* all tenants: many */`, false},
		{"read with the tenants of a list", `SELECT c.email FROM contact c JOIN ` + given + `v ON c.tenant_id = v.tenant_id AND c.id = v.id`, true},
		{"reason given", `DELETE FROM contact WHERE created_at < $1 /* all tenants: by age */`, true},
		{"reason empty", `DELETE FROM contact WHERE created_at < $1 /* all tenants: */`, false},
		{"not a tenant's table", `SELECT pos FROM journal_cursor WHERE name = $1`, true},
		{"commented out", "SELECT email FROM contact -- WHERE tenant_id = $1\n", false},
		{"join with a comma", `SELECT 1 FROM contact c, segment_member m WHERE c.tenant_id = $1`, false},
		{"unknown table", `SELECT 1 FROM ` + unknown + ` WHERE tenant_id = $1`, false},
		{"unknown", unknown, false},
		{"too many variants", tooMany, false},
	} {
		if got := objection(tt.text, tables); (got == "") != tt.ok {
			t.Errorf("%s: objection = %q; want an objection: %t", tt.name, got, !tt.ok)
		}
	}
}

// TestVariantsOfStatementsAreBounded: the texts of a place that combines many alternatives, or pieces
// that contain each other, are not enumerated.
func TestVariantsOfStatementsAreBounded(t *testing.T) {
	var sum, assigned strings.Builder
	for i := range 40 {
		fmt.Fprintf(&sum, "+v%d", i)
		fmt.Fprintf(&assigned, "\tv%d := \" a\"\n\tv%d = \" b\"\n", i, i)
	}
	for name, text := range map[string]string{
		"alternatives": "func f() {\n" + assigned.String() + "\tdb.Exec(ctx, \"DELETE FROM contact\"" + sum.String() + ")\n}",
		"cycle": `func f() {
	w.WriteString("SELECT 1" + w.String() + w.String() + w.String() + w.String())
	w.WriteString("SELECT 2" + w.String() + w.String() + w.String() + w.String())
	db.Exec(ctx, w.String())
}`,
	} {
		s := newSource()
		if err := s.add("a.go", "package a\n"+text); err != nil {
			t.Fatal(err)
		}
		found := s.statements()
		if len(found) != 1 || found[0].text != tooMany || !strings.HasPrefix(found[0].place, "a.go:") {
			t.Errorf("%s: %d statements; want one with the text %q and its place", name, len(found), tooMany)
		}
	}
}

func TestStatementsAreFoundHoweverTheyAreWritten(t *testing.T) {
	s := newSource()
	if err := s.add("a.go", "package a\n"+`
		const columns = "id, email"
		func direct() { db.Query(ctx, "SELECT "+columns+" FROM contact WHERE id"+db.In(1)) }
		func local() {
			q := "DELETE FROM contact"
			if late { q += " WHERE id = $1" }
			db.Exec(ctx, q)
		}
		func helper(where string) { tx.QueryRow(ctx, "SELECT 1 FROM contact WHERE "+where) }
		func callers() { helper("id = $1"); helper("email = $1") }
		func listed() { db.Exec(ctx, "UPDATE contact SET email = v.email FROM "+t.As("v", 1)) }
		func closure() {
			read := func(query string) { db.Query(ctx, query) }
			read("SELECT 2 FROM contact")
		}
		func field() {
			for _, s := range []struct{ text string }{{"DELETE FROM session"}} { db.Exec(ctx, s.text) }
		}
		func builder() {
			w.from.WriteString("contact c")
			db.Query(ctx, "SELECT 3 FROM "+w.from.String())
		}`); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, st := range s.statements() {
		found[strings.TrimSpace(st.text)] = true
	}
	for _, want := range []string{
		"SELECT id, email FROM contact WHERE id" + unknown,
		"DELETE FROM contact WHERE id = $1",
		"SELECT 1 FROM contact WHERE id = $1",
		"SELECT 1 FROM contact WHERE email = $1",
		"UPDATE contact SET email = v.email FROM  " + given + "v",
		"SELECT 2 FROM contact",
		"DELETE FROM session",
		"SELECT 3 FROM contact c",
	} {
		if !found[want] {
			t.Errorf("the statement %q is not in %q", want, slices.Sorted(maps.Keys(found)))
		}
	}
}
