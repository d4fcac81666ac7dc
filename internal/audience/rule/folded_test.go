package rule_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// However many conditions of a tree compare a text, it is folded once per row, and unrelated
// conditions stay where an index can serve them.
func TestATextIsFoldedOncePerRow(t *testing.T) {
	t.Parallel()
	contains := func(field string, n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf(`{"field":%q,"operator":"contains","value":"x%dö"}`, field, i)
		}
		return strings.Join(list, ",")
	}
	group := func(logic, conditions string) string {
		return `{"logic":"` + logic + `","conditions":[` + conditions + `]}`
	}
	const unrelated = `{"field":"prospect_score","operator":"greater_than","value":1}`
	env := rule.Env{Now: noon, Schema: whole()}
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for definition, want := range map[string]int{
			group("or", contains("company", 100)):                                                                                   1,
			group("and", unrelated+","+contains("company", 50)):                                                                     1,
			group("or", contains("company", 50)+","+contains("city", 50)):                                                           2,
			group("and", group("or", contains("company", 3))+","+group("or", contains("company", 4)+","+unrelated)):                 1,
			group("and", group("or", contains("company", 3))+","+group("or", contains("city", 4)+","+contains("city", 1))):          2,
			group("or", `{"logic":"or","negate":true,"conditions":[`+contains("custom_fields.string", 5)+`]},`+contains("city", 1)): 2,
			group("or", contains("city", 1)):                                                                                        1,
		} {
			text, args := selection(t, db, []byte(definition), env)
			if got := lowers(t, db, text, args); got != want {
				t.Errorf("%.150s… folds %d times for a row, want %d", definition, got, want)
			}
		}
	})
}

// selection returns the query of the contacts that a definition selects.
func selection(t *testing.T, db *sqldb.DB, definition []byte, env rule.Env) (text string, args []any) {
	t.Helper()
	tree, err := rule.ParseDefinition(definition, env.Schema)
	if err != nil {
		t.Fatalf("%s: %v", definition, err)
	}
	c, err := tree.Condition(db, env)
	if err != nil {
		t.Fatal(err)
	}
	args = []any{acme}
	where := c.Text(func(v any) string {
		args = append(args, v)
		return fmt.Sprintf("$%d", len(args))
	})
	return `SELECT c.id FROM contact c WHERE c.tenant_id = $1 AND (` + where + `)`, args
}

// lowers returns how often a text is folded per row, according to the query plan.
func lowers(t *testing.T, db *sqldb.DB, text string, args []any) (n int) {
	t.Helper()
	explain, column := `EXPLAIN `, 0
	if db.Dialect() == sqldb.Postgres {
		explain = `EXPLAIN (VERBOSE) `
	}
	// EXPLAIN is no SELECT, so it runs on the writing connection.
	rows, err := db.Query(t.Context(), explain+text, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i, name := range columns {
		into[i] = &values[i]
		if name == "p4" {
			column = i
		}
	}
	node := ""
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		line := strings.TrimSpace(fmt.Sprint(values[column]))
		if db.Dialect() == sqldb.Postgres {
			// A node above the one that computes a column repeats its expression.
			output := strings.HasPrefix(line, "Output:")
			if !output && !strings.HasPrefix(line, "Filter:") {
				node = line
			}
			if output && !strings.Contains(node, "Result ") {
				continue
			}
		}
		n += strings.Count(line, "lower(")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return n
}
