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

// ReadsTenant begins a comment in the text of a statement that reads all rows of a tenant although
// it has keys as parameters, with the reason: /* reads the tenant: why */
const ReadsTenant = "/* reads the tenant: "

// planChecker reads the plans of the tests' statements on two databases: one whose tables are
// empty, and one whose tables have rows and were never analyzed.
type planChecker struct {
	databases    map[string]*sqldb.DB
	keys         map[string][]string // by table: columns that select a few rows of a tenant
	indexes      map[string][]string // their columns; empty for an expression
	smallIndexes map[string]bool     // partial indexes of a few rows, such as running jobs

	mu   sync.Mutex
	seen map[string]bool
}

var plans = sync.OnceValues(openPlans)

// watchPlans returns a function to call with each statement of a test, and registers the check of
// their plans at the end of the test. A process checks each text once.
func watchPlans(t testing.TB) func(text string, args []any) {
	var mu sync.Mutex
	var texts []string
	if os.Getenv(CitusWorkers) != "" { // plans are made by the nodes
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
			if !p.markSeen(text) {
				continue
			}
			found, err := p.check(context.Background(), text)
			if err != nil {
				t.Errorf("explain %s: %v", text, err)
			}
			for _, f := range found {
				t.Errorf("%s\n%s", f, shorten(text))
			}
		}
	})
	seen := map[string]bool{}
	return func(text string, _ []any) {
		mu.Lock()
		defer mu.Unlock()
		if !seen[text] && !calledByTest() {
			seen[text] = true
			texts = append(texts, text)
		}
	}
}

// calledByTest reports whether the statement that is about to run was called by a test's own code.
func calledByTest() bool {
	callers := make([]uintptr, 16)
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	for {
		f, more := frames.Next()
		if !strings.Contains(f.Function, "internal/sqldb.") || !more {
			return strings.HasSuffix(f.File, "_test.go")
		}
	}
}

// shorten returns a statement in one line, and leaves out the middle of a long one.
func shorten(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 1000 {
		return text[:150] + " … " + text[len(text)-800:]
	}
	return text
}

// markSeen reports whether a text is new.
func (p *planChecker) markSeen(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.seen[text]
	p.seen[text] = true
	return !was
}

var explainable = regexp.MustCompile(`(?is)^\s*(?:/\*.*?\*/\s*)?(SELECT|INSERT|UPDATE|DELETE|WITH)\b`)

// check returns where the plans of a statement read all rows of a tenant although it has keys as
// parameters.
func (p *planChecker) check(ctx context.Context, text string) ([]string, error) {
	if !explainable.MatchString(text) || strings.Contains(text, ReadsTenant) || strings.Contains(text, sqldb.CustomPlan) {
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
			for _, f := range p.checkNode(plan.Plan, nil) {
				list = append(list, "on "+name+" tables, "+f)
			}
		}
	}
	return list, nil
}

// node is a node of a plan.
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

// checkNode checks a node and those below it. above are the conditions that are checked after it.
func (p *planChecker) checkNode(n node, above []string) []string {
	var list []string
	if slices.Contains([]string{"Limit", "Aggregate", "WindowAgg"}, n.Type) {
		above = nil // later conditions cannot be used for lookups below this node
	}
	above = append(slices.Clone(above), n.HashCond, n.MergeCond, n.JoinFilter)
	if keys, ok := p.keys[n.Relation]; ok && strings.HasSuffix(n.Type, "Scan") && !p.isSelective(n) {
		conditions := strings.Join(append([]string{n.Filter}, above...), " ")
		for _, k := range keys {
			column := regexp.QuoteMeta(n.Alias + "." + k)
			if regexp.MustCompile(`\b` + column + ` = |= ` + column + `\b`).MatchString(conditions) {
				list = append(list, fmt.Sprintf("%s of %s by %q reads the tenant, with %s as a parameter", n.Type, n.Relation, n.Index+" "+n.IndexCond, k))
			}
		}
	}
	for _, below := range n.Plans {
		list = append(list, p.checkNode(below, above)...)
	}
	return list
}

// isSelective reports whether a scan has a condition on its index besides the tenant.
func (p *planChecker) isSelective(n node) bool {
	if n.Type == "Bitmap Heap Scan" || strings.HasPrefix(n.Type, "Bitmap") && len(n.Plans) > 0 {
		return slices.ContainsFunc(n.Plans, func(below node) bool {
			below.Alias = n.Alias
			return p.isSelective(below)
		})
	}
	if p.smallIndexes[n.Index] {
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

func openPlans() (*planChecker, error) {
	server := os.Getenv(ServerVariable)
	admin, err := sql.Open("pgx", server)
	if err != nil {
		return nil, err
	}
	defer admin.Close()
	admin.SetMaxOpenConns(1)
	p := &planChecker{databases: map[string]*sqldb.DB{}, keys: map[string][]string{}, indexes: map[string][]string{}, smallIndexes: map[string]bool{}, seen: map[string]bool{}}
	ctx := context.Background()
	for name, script := range map[string]string{"empty": "SELECT 1", "grown": grown} {
		database, err := scriptedTemplate(admin, server, "plans_"+name+"_", script)
		if err != nil {
			return nil, err
		}
		if p.databases[name], err = sqldb.Open(ctx, databaseAddress(server, database), sqldb.Options{MaxConns: 1}); err != nil {
			return nil, err
		}
	}
	return p, p.loadIndexes(ctx)
}

// loadIndexes loads the columns of indexes, and which of these select few rows.
func (p *planChecker) loadIndexes(ctx context.Context) error {
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
			p.smallIndexes[name] = true
		}
		few := unique && columns == 2 || slices.Contains([]string{"contact_id", "message_id", "send_id", "send_id"}, column)
		if place == 2 && few && !slices.Contains(p.keys[table], column) {
			p.keys[table] = append(p.keys[table], column)
		}
		return nil
	})
	return err
}
