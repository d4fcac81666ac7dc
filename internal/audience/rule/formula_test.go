package rule_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/audience/columnar"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/contactlog"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// changing is a tenant whose contacts change at random.
type changing struct {
	sample
	t        *testing.T
	db       *sqldb.DB
	contacts []id.Contact
}

// change changes, adds, suppresses or releases a contact, and logs that.
func (c *changing) change(ctx context.Context) error {
	return c.db.InTx(ctx, func(tx *sqldb.DB) error {
		one, like := pick(c.Rand, c.contacts...), pick(c.Rand, c.contacts...)
		if c.IntN(4) == 0 {
			n := len(c.contacts)
			one = c.insert(c.t, tx, acme, n)
			c.contacts = append(c.contacts, one)
		}
		if err := contactlog.Append(ctx, tx, acme, []id.Contact{one}); err != nil {
			return err
		}
		var address string
		if err := tx.QueryRow(ctx, `SELECT email FROM contact WHERE tenant_id = $1 AND id = $2`, acme, one).Scan(&address); err != nil {
			return err
		}
		switch c.IntN(4) {
		case 0:
			_, err := tx.Exec(ctx, `INSERT INTO suppression (tenant_id, email, created_at) VALUES ($1, $2, 1) ON CONFLICT DO NOTHING`, acme, address)
			if err != nil {
				return err
			}
			return contactlog.AppendAddresses(ctx, tx, acme, []string{address})
		case 1:
			if _, err := tx.Exec(ctx, `DELETE FROM suppression WHERE tenant_id = $1 AND email = $2`, acme, address); err != nil {
				return err
			}
			return contactlog.AppendAddresses(ctx, tx, acme, []string{address})
		}
		_, err := tx.Exec(ctx, `
			UPDATE contact SET country = x.country, city = x.city, custom_fields = x.custom_fields, tags = x.tags, stage_id = x.stage_id,
				global_status = x.global_status, do_not_contact = x.do_not_contact, anonymized_at = x.anonymized_at, prospect_score = x.prospect_score
			FROM contact AS x WHERE contact.tenant_id = $1 AND contact.id = $2 AND x.tenant_id = $1 AND x.id = $3`, acme, one, like)
		return err
	})
}

// countSQL counts with SQL, within an evaluation.
func countSQL(ctx context.Context, db *sqldb.DB, tree rule.Tree, env rule.Env) (n columnar.Counts, err error) {
	c, err := tree.Condition(db, env)
	if err != nil {
		return n, err
	}
	args := []any{acme}
	where := c.Text(func(v any) string {
		args = append(args, v)
		return fmt.Sprintf("$%d", len(args))
	})
	const members = `c.global_status <> 'pending' AND c.anonymized_at IS NULL`
	err = db.QueryRow(ctx, `
		SELECT COUNT(*), COUNT(CASE WHEN `+members+` THEN 1 END),
			COUNT(CASE WHEN `+members+` AND c.global_status = 'active' AND NOT c.do_not_contact AND x.email IS NULL THEN 1 END)
		FROM contact c `+contact.WithActivity+`LEFT JOIN suppression x ON x.tenant_id = c.tenant_id AND x.email = c.email
		WHERE c.tenant_id = $1 AND (`+where+`)`, args...).Scan(&n.All, &n.Members, &n.Sendable)
	return n, err
}

// Counts in memory are those of SQL, for random rules, while contacts change, and whatever a process has missed
// of the changes.
func TestCountsInMemoryAgreeWithSQL(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		stages(t, db)
		c := &changing{sample: newSampleAt(time.Date(2026, 3, 29, 10, 30, 0, 0, time.UTC)), t: t, db: db}
		c.zone = loadZone(t, "Europe/Berlin")
		for n := range 150 {
			c.contacts = append(c.contacts, c.insert(t, db, acme, n))
			c.insert(t, db, other, n)
		}
		now := time.Now()
		columnar.Of(db).MinContacts = 0
		loader := &columnar.Loader{DB: db, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now }}
		tick := func() {
			if _, err := loader.Tick(ctx); err != nil {
				t.Fatal(err)
			}
		}
		tick()
		sch, rounds, compared := schema(), 0, 0
		leaf := func() map[string]any {
			if c.IntN(10) == 0 {
				return map[string]any{"type": "suppression", "operator": pick(c.Rand, "listed", "not_listed")}
			}
			return c.leaf(sch)
		}
		// drawn returns a rule about attributes.
		drawn := func(env rule.Env) (text string, tree rule.Tree, f rule.Formula) {
			for {
				text = encoded(c.group(3, leaf))
				tree, err := rule.Reparse([]byte(text), sch)
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				if f, ok := tree.Formula(env); ok {
					return text, tree, f
				}
			}
		}
		count := func(f rule.Formula, then func(db *sqldb.DB, n columnar.Counts) error) error {
			return db.Evaluate(ctx, "acme", func(ctx context.Context, db *sqldb.DB) error {
				n, ok, err := columnar.Of(db).Count(ctx, db, acme, f)
				if !ok || err != nil {
					return err
				}
				return then(db, n)
			})
		}
		for range 200 { // all attributes are asked for
			_, _, f := drawn(rule.Env{Now: c.now, Schema: sch})
			if err := count(f, func(*sqldb.DB, columnar.Counts) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		tick()
		rapid.Check(t, func(rt *rapid.T) {
			c.Rand = rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
			for range c.IntN(3) {
				if err := c.change(ctx); err != nil {
					rt.Fatal(err)
				}
			}
			switch c.IntN(30) {
			case 0: // the log ends before the process reads it, and counts are left to SQL for a while
				if compared < 5 {
					break
				}
				if err := contactlog.Trim(ctx, db, now.Add(time.Hour)); err != nil {
					rt.Fatal(err)
				}
			case 1: // after an hour, everything is read anew
				now = now.Add(20 * time.Minute)
				tick()
			case 2, 3, 4, 5, 6, 7, 8, 9:
				now = now.Add(time.Minute)
				tick()
			}
			env := rule.Env{Now: c.now.Add(pick(c.Rand, 0, -10*time.Hour, -28*24*time.Hour)), Schema: sch}
			env.Zone = loadZone(t, pick(c.Rand, zones...))
			text, tree, f := drawn(env)
			rounds++
			err := count(f, func(db *sqldb.DB, got columnar.Counts) error {
				compared++
				want, err := countSQL(ctx, db, tree, env)
				if got != want {
					rt.Fatalf("%s at %s: %+v in memory, %+v in the database", text, env.Now, got, want)
				}
				return err
			})
			if err != nil {
				rt.Fatal(err)
			}
		})
		if compared < rounds/5 {
			t.Errorf("only %d of %d were counted in memory", compared, rounds)
		}
	})
}

// testOf returns the test of a rule of one leaf.
func testOf(t *testing.T, leaf string) *rule.Test {
	t.Helper()
	tree, err := rule.ParseDefinition(one(leaf), schema())
	if err != nil {
		t.Fatalf("%s: %v", leaf, err)
	}
	f, ok := tree.Formula(rule.Env{Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Schema: schema()})
	if !ok || len(f.Parts) != 1 || f.Parts[0].Test == nil {
		t.Fatalf("%s: not a test", leaf)
	}
	return f.Parts[0].Test
}

// A custom field may have had another type when a value was written. What SQL makes of such a value is not repeated here.
func TestValuesThatTheTypeOfAFieldDoesNotHaveAreLeftToSQL(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		leaf      string
		fit, left []string // JSON, or the text of a column
	}{
		{`{"field": "custom_fields.date", "operator": "before", "value": "2026-03-01"}`, []string{`"2026-02-28"`, `""`, `null`},
			[]string{`"abc"`, `"2026-02-30"`, `"2026-02-28T10:00:00.000Z"`, `5`, `["2026-02-28"]`, `{}`, `x`}},
		{`{"field": "custom_fields.date", "operator": "is_set"}`, []string{`"2026-02-28"`}, []string{`"abc"`, `true`}},
		{`{"field": "custom_fields.datetime", "operator": "before", "value": "2026-03-01"}`, []string{`"2026-02-28T10:00:00.000Z"`},
			[]string{`"2026-02-28"`, `"2026-02-28T10:00:00Z"`, `"2026-02-28T10:00:00.000+02:00"`, `"2026-02-28T10:00:00,000Z"`, `""`, `1`}},
		{`{"field": "custom_fields.time", "operator": "before", "value": "09:30"}`, []string{`"09:29"`, `"09:29:59"`, `""`},
			[]string{`"abc"`, `"9:29"`, `"09:2"`, `"25:00"`, `"09:29:59.5"`, `9`}},
		{`{"field": "custom_fields.email", "operator": "equals", "value": "ann@example.org"}`, []string{`"ann@example.org"`, `"ann"`}, []string{`"Ann@example.org"`, `"é"`, `false`}},
		{`{"field": "custom_fields.string", "operator": "equals", "value": "Ann"}`, []string{`"ANN"`, `"5"`, `""`}, []string{`5`, `true`, `["ann"]`}},
		{`{"field": "custom_fields.enum", "operator": "equals", "value": "pro"}`, []string{`"pro"`, `"Pro"`}, []string{`5`, `["pro"]`}},
		{`{"field": "custom_fields.number", "operator": "equals", "value": 5}`, []string{`5`, `5.5`}, []string{`"5"`, `true`}},
		{`{"field": "custom_fields.boolean", "operator": "is_true"}`, []string{`true`}, []string{`"true"`, `1`}},
		{`{"field": "custom_fields.tags", "operator": "has_any", "value": ["a"]}`, []string{`["a"]`, `[]`}, []string{`"a"`, `[1]`, `["a", 1]`, `null`}},
		{`{"field": "email", "operator": "equals", "value": "ann@example.org"}`, []string{`bob@example.org`}, []string{`Ann@example.org`}},
	} {
		test := testOf(t, tt.leaf)
		for _, text := range tt.fit {
			if _, ok := test.Holds(text); !ok {
				t.Errorf("%s: %s is left to SQL", tt.leaf, text)
			}
		}
		for _, text := range tt.left {
			if holds, ok := test.Holds(text); ok {
				t.Errorf("%s: %s: %v, though it is not of the field's type", tt.leaf, text, holds)
			}
		}
	}
}

// What a test needs is made once, not for each value: comparing one allocates little, whatever the number of operands.
func TestATestIsPreparedOnce(t *testing.T) { // not parallel: it counts the allocations of the process
	var many []string
	for i := range 900 {
		many = append(many, fmt.Sprintf(`"NAME %d"`, i))
	}
	list := "[" + strings.Join(many, ", ") + "]"
	for leaf, text := range map[string]string{
		`{"field": "first_name", "operator": "in", "value": ` + list + `}`:                                              "nobody",
		`{"field": "tags", "operator": "has_any", "value": ` + list + `}`:                                               `["a"]`,
		`{"field": "created_at", "operator": "anniversary_in_next", "value": {"amount": 7, "unit": "day"}}`:             "1700000000000000",
		`{"field": "created_at", "operator": "in_the_last", "value": {"amount": 7, "unit": "day"}}`:                     "1700000000000000",
		`{"field": "custom_fields.date", "operator": "anniversary_in_next", "value": {"amount": 7, "unit": "day"}}`:     `"2024-02-29"`,
		`{"field": "custom_fields.datetime", "operator": "anniversary_in_next", "value": {"amount": 7, "unit": "day"}}`: `"2024-02-29T12:00:00.000Z"`,
	} {
		test := testOf(t, leaf)
		n := testing.AllocsPerRun(10, func() {
			if _, ok := test.Holds(text); !ok {
				t.Errorf("%s: %s is not a value", leaf, text)
			}
		})
		if n > 20 {
			t.Errorf("%.60s…: %v allocations for a value", leaf, n)
		}
	}
}
