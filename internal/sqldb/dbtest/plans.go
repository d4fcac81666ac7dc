package dbtest

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// ReadsTenant marks a statement, in a comment inside its text, that reads a tenant
// from end to end although it names keys, and says why: /* reads the tenant: … */
const ReadsTenant = "/* reads the tenant: "

// planned are the databases in which the plans of the tests' statements are read:
// one whose tables are empty, and one whose tables have rows, never analysed.
type planned struct {
	databases map[string]*sqldb.DB
	keys      map[string][]string // by table: the columns that find a few rows of a tenant
	indexes   map[string][]string // their columns; empty for an expression
	few       map[string]bool     // indexes of a few rows: jobs that run, files that belong to none

	mu   sync.Mutex
	seen map[string]bool
}

var plans = sync.OnceValues(openPlans)

// watchPlans returns what is to be told of every statement of a test, and
// registers the check of their plans. Each text is checked once in a process.
func watchPlans(t testing.TB) func(text string, args []any) {
	var mu sync.Mutex
	var texts []string
	if os.Getenv(CitusWorkers) != "" { // the nodes make the plans
		return nil
	}
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		if len(texts) == 0 || t.Failed() {
			return
		}
		p, err := plans()
		if err != nil {
			t.Errorf("open the databases for plans: %v", err)
			return
		}
		for _, text := range texts {
			if !p.first(text) {
				continue
			}
			found, err := p.faults(context.Background(), text)
			if err != nil {
				t.Errorf("explain %s: %v", text, err)
			}
			for _, f := range found {
				t.Errorf("%s\n%s", f, brief(text))
			}
		}
	})
	seen := map[string]bool{}
	return func(text string, _ []any) {
		mu.Lock()
		defer mu.Unlock()
		if !seen[text] && !byTest() {
			seen[text] = true
			texts = append(texts, text)
		}
	}
}

// byTest reports whether a statement that is just being run is written in a test.
func byTest() bool {
	callers := make([]uintptr, 16)
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	for {
		f, more := frames.Next()
		if !strings.Contains(f.Function, "internal/sqldb.") || !more {
			return strings.HasSuffix(f.File, "_test.go")
		}
	}
}

// brief is a statement on a line, without what may be left out of the middle.
func brief(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 1000 {
		return text[:150] + " … " + text[len(text)-800:]
	}
	return text
}

// first reports whether a text was not seen before.
func (p *planned) first(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.seen[text]
	p.seen[text] = true
	return !was
}

var explainable = regexp.MustCompile(`(?is)^\s*(?:/\*.*?\*/\s*)?(SELECT|INSERT|UPDATE|DELETE|WITH)\b`)

// faults returns how the plans of a statement read a tenant from end to end
// although it names keys.
func (p *planned) faults(ctx context.Context, text string) ([]string, error) {
	if !explainable.MatchString(text) || strings.Contains(text, ReadsTenant) || strings.Contains(text, sqldb.PlannedAnew) {
		return nil, nil
	}
	var list []string
	for _, name := range []string{"empty", "grown"} {
		raw, err := p.databases[name].Explain(ctx, text)
		if err != nil {
			return nil, err
		}
		var plans []struct{ Plan node }
		if err := json.Unmarshal(raw, &plans); err != nil {
			return nil, err
		}
		for _, plan := range plans {
			for _, f := range p.read(plan.Plan, nil) {
				list = append(list, "on "+name+" tables, "+f)
			}
		}
	}
	return list, nil
}

// node is a step of a plan.
type node struct {
	Type       string `json:"Node Type"`
	Relation   string `json:"Relation Name"`
	Alias      string
	Index      string `json:"Index Name"`
	IndexCond  string `json:"Index Cond"`
	Filter     string
	HashCond   string `json:"Hash Cond"`
	MergeCond  string `json:"Merge Cond"`
	JoinFilter string `json:"Join Filter"`
	Plans      []node
}

// read looks at a step and those below it. above are the conditions that are
// checked after it.
func (p *planned) read(n node, above []string) []string {
	var list []string
	if slices.Contains([]string{"Limit", "Aggregate", "WindowAgg"}, n.Type) {
		above = nil // what is checked after this cannot be looked up below it
	}
	above = append(slices.Clone(above), n.HashCond, n.MergeCond, n.JoinFilter)
	if keys, ok := p.keys[n.Relation]; ok && strings.HasSuffix(n.Type, "Scan") && !p.narrow(n) {
		conditions := strings.Join(append([]string{n.Filter}, above...), " ")
		for _, k := range keys {
			column := regexp.QuoteMeta(n.Alias + "." + k)
			if regexp.MustCompile(`\b` + column + ` = |= ` + column + `\b`).MatchString(conditions) {
				list = append(list, fmt.Sprintf("%s of %s by %q reads the tenant, and is given %s", n.Type, n.Relation, n.Index+" "+n.IndexCond, k))
			}
		}
	}
	for _, below := range n.Plans {
		list = append(list, p.read(below, above)...)
	}
	return list
}

// narrow reports whether a scan looks up more than a tenant in its index.
func (p *planned) narrow(n node) bool {
	if n.Type == "Bitmap Heap Scan" || strings.HasPrefix(n.Type, "Bitmap") && len(n.Plans) > 0 {
		return slices.ContainsFunc(n.Plans, func(below node) bool {
			below.Alias = n.Alias
			return p.narrow(below)
		})
	}
	if p.few[n.Index] {
		return true
	}
	columns := p.indexes[n.Index]
	if len(columns) > 0 && columns[0] == "tenant_id" {
		columns = columns[1:]
	}
	return len(columns) > 0 && (columns[0] == "" || regexp.MustCompile(`\b`+columns[0]+`\b`).MatchString(n.IndexCond))
}

//go:embed grown.postgres.sql
var grown string

func openPlans() (*planned, error) {
	server := os.Getenv(Variable)
	admin, err := sql.Open("pgx", server)
	if err != nil {
		return nil, err
	}
	defer admin.Close()
	admin.SetMaxOpenConns(1)
	p := &planned{databases: map[string]*sqldb.DB{}, keys: map[string][]string{}, indexes: map[string][]string{}, few: map[string]bool{}, seen: map[string]bool{}}
	ctx := context.Background()
	for name, script := range map[string]string{"empty": "SELECT 1", "grown": grown} {
		database, err := postgresMade(admin, server, "plans_"+name+"_", script)
		if err != nil {
			return nil, err
		}
		if p.databases[name], err = sqldb.Open(ctx, named(server, database), sqldb.Options{MaxConns: 1}); err != nil {
			return nil, err
		}
	}
	return p, p.learn(ctx)
}

// learn reads which columns indexes have, and which of them find few rows.
func (p *planned) learn(ctx context.Context) error {
	rows, err := p.databases["empty"].Query(ctx, `
		SELECT r.relname, x.relname, i.indisunique AND i.indpred IS NULL, i.indnkeyatts, k.place, COALESCE(a.attname, ''),
			COALESCE(pg_get_expr(i.indpred, i.indrelid), '')
		FROM pg_index AS i
		JOIN pg_class AS r ON r.oid = i.indrelid JOIN pg_class AS x ON x.oid = i.indexrelid
		CROSS JOIN LATERAL unnest(CAST(i.indkey AS SMALLINT[])) WITH ORDINALITY AS k(number, place)
		LEFT JOIN pg_attribute AS a ON a.attrelid = r.oid AND a.attnum = k.number
		WHERE r.relnamespace = CAST(current_schema() AS regnamespace)
			AND EXISTS (SELECT 1 FROM pg_attribute AS t WHERE t.attrelid = r.oid AND t.attname = 'tenant_id')
		ORDER BY x.relname, k.place`)
	err = sqldb.Each(rows, err, func(row func(...any) error) error {
		var table, name, column, predicate string
		var unique bool
		var columns, place int
		if err := row(&table, &name, &unique, &columns, &place, &column, &predicate); err != nil {
			return err
		}
		p.indexes[name] = append(p.indexes[name], column)
		if strings.HasPrefix(table, "job") && predicate != "" {
			p.few[name] = true
		}
		few := unique && columns == 2 || slices.Contains([]string{"contact_id", "message_id", "send_id", "send_id"}, column)
		if place == 2 && few && !slices.Contains(p.keys[table], column) {
			p.keys[table] = append(p.keys[table], column)
		}
		return nil
	})
	return err
}
