package contact_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// storedAndCounted returns the stored numbers of a tenant's contacts, and those of its rows.
func storedAndCounted(t *testing.T, db *sqldb.DB, tenant id.Tenant) (stored, counted contact.ByStatus) {
	t.Helper()
	err := db.Evaluate(t.Context(), tenant.String(), func(ctx context.Context, db *sqldb.DB) (err error) {
		if stored, err = contact.CountByStatus(ctx, db, tenant); err == nil {
			counted, err = contact.RecountByStatus(ctx, db, tenant)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return stored, counted
}

// mustBeCounted compares the stored numbers of both tenants' contacts with their rows.
func mustBeCounted(t *testing.T, db *sqldb.DB) {
	t.Helper()
	for _, tenant := range []id.Tenant{acme, other} {
		if stored, counted := storedAndCounted(t, db, tenant); stored != counted {
			t.Errorf("%v contacts of %d are stored, in the order %v; there are %v", stored, tenant, contact.Statuses(), counted)
		}
	}
}

// saving are ways to save drafts of addresses that may be known, and of one that is new.
var saving = []trigger{
	{"create all", true, func(l life, ids []id.Contact, now time.Time) error {
		return l.saveAll(ids, contact.Draft{Mode: contact.Creating}, now)
	}},
	{"create those expected to be new", true, func(l life, ids []id.Contact, now time.Time) error {
		return l.saveAll(ids, contact.Draft{Mode: contact.Creating, New: true}, now)
	}},
	{"create missing ones", true, func(l life, ids []id.Contact, now time.Time) error {
		return l.saveAll(ids, contact.Draft{Mode: contact.CreatingMissing}, now)
	}},
	{"upsert unverified ones", true, func(l life, ids []id.Contact, now time.Time) error {
		return l.saveAll(ids, contact.Draft{Change: contact.Change{Unverified: true}}, now)
	}},
	{"upsert with unsubscribed", true, func(l life, ids []id.Contact, now time.Time) error {
		return l.saveAll(ids, contact.Draft{Change: contact.Change{Status: contact.Unsubscribed}}, now)
	}},
	{"upsert with suppressed", true, func(l life, ids []id.Contact, now time.Time) error {
		return l.saveAll(ids, contact.Draft{Change: contact.Change{Status: contact.Suppressed}}, now)
	}},
	{"load", true, func(l life, ids []id.Contact, now time.Time) error {
		return l.db.InTx(l.Context(), func(tx *sqldb.DB) error {
			drafts := []contact.Draft{{Email: id.New[id.Contact]().String() + "@load.example"}, {Email: id.New[id.Contact]().String() + "@load.example"}}
			drafts = append(drafts, drafts[0])
			_, err := contact.LoadAll(l.Context(), tx, acme, drafts, rules, now)
			return err
		})
	}},
	{"a load that fails", true, func(l life, ids []id.Contact, now time.Time) error {
		_ = l.db.InTx(l.Context(), func(tx *sqldb.DB) error {
			c, err := contact.ByID(l.Context(), tx, acme, ids[0])
			if err == nil {
				_, err = contact.LoadAll(l.Context(), tx, acme, []contact.Draft{{Email: id.New[id.Contact]().String() + "@load.example"}, {Email: c.Email}}, rules, now)
			}
			return err
		})
		return nil
	}},
	{"a bounce that is withdrawn", true, func(l life, ids []id.Contact, now time.Time) error {
		return l.follow(ids, bounce("hard", now), journal.Entry{Type: journal.BounceWithdrawn, At: now})
	}},
	{"a withdrawn bounce", true, func(l life, ids []id.Contact, now time.Time) error {
		return l.follow(ids, journal.Entry{Type: journal.BounceWithdrawn, At: now})
	}},
	{"a bounce and a complaint", true, func(l life, ids []id.Contact, now time.Time) error {
		return l.follow(ids, bounce("hard", now), journal.Entry{Type: journal.EmailComplained, At: now})
	}},
	{"a bounce of a contact that does not exist", true, func(l life, ids []id.Contact, now time.Time) error {
		return l.follow([]id.Contact{id.New[id.Contact]()}, bounce("hard", now))
	}},
}

// saveAll saves drafts of the addresses of contacts, each twice, and of a new one.
func (l life) saveAll(ids []id.Contact, d contact.Draft, now time.Time) error {
	fresh := d
	fresh.Email = id.New[id.Contact]().String() + "@new.example"
	drafts := []contact.Draft{fresh, fresh}
	err := l.each(ids, func(c contact.Contact) error {
		d.Email = c.Email
		drafts = append(drafts, d, d)
		return nil
	})
	if err == nil {
		_, err = contact.SaveAll(l.Context(), l.db, acme, drafts, rules, now)
	}
	return err
}

// Whatever happens to contacts, the stored numbers are those of their rows.
func TestContactsAreCountedByStatus(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	all := append(append([]trigger{}, triggers...), saving...)
	each(t, func(t *testing.T, db *sqldb.DB) {
		l, dice := life{t, db}, rand.New(rand.NewPCG(seed, 1))
		var ids []id.Contact
		for n, s := range append(contact.Statuses(), contact.Statuses()...) {
			ids = append(ids, l.inStatus(fmt.Sprintf("%s%d@example.org", s, n), s))
		}
		now := noon
		for n := range 500 {
			tr := all[dice.IntN(len(all))]
			dice.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
			now = now.Add(time.Hour)
			if err := tr.fire(l, ids[:1+dice.IntN(4)], now); err != nil {
				t.Fatalf("%s: %v", tr.name, err)
			}
			if n%5 != 0 {
				continue
			}
			if mustBeCounted(t, db); t.Failed() {
				t.Fatalf("after %q", tr.name)
			}
			if len(ids) < 60 {
				ids = append(ids, l.inStatus(fmt.Sprintf("more%d@example.org", n), contact.Statuses()[n/5%6]))
			}
		}
	})
}

// Writers at the same time count each contact once.
func TestContactsAreCountedByConcurrentWriters(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		l := life{t, db}
		const writers = 6
		var ids []id.Contact
		for i := range 8 {
			ids = append(ids, l.inStatus(fmt.Sprintf("m%d@example.org", i), contact.Active))
		}
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range 25 {
					var err error
					switch some := ids[i%4 : i%4+4]; (w + i) % 5 {
					case 0:
						_, err = contact.Delete(t.Context(), db, acme, some, noon)
					case 1:
						_, err = contact.Restore(t.Context(), db, acme, some, nil, noon)
					case 2:
						_, err = contact.ResetStatus(t.Context(), db, acme, some, noon)
					case 3:
						err = l.follow(some, bounce("hard", noon.Add(time.Duration(i)*time.Hour)))
					default: // the same addresses as the other writers
						_, err = contact.SaveAll(t.Context(), db, acme, []contact.Draft{
							{Email: fmt.Sprintf("n%d@example.org", i), New: true}, {Email: fmt.Sprintf("n%d@example.org", i+1)},
						}, rules, noon)
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		var parts int
		if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM contact_count WHERE tenant_id = $1`, acme).Scan(&parts); err != nil {
			t.Fatal(err)
		}
		if most := map[sqldb.Dialect]int{sqldb.SQLite: 1, sqldb.Postgres: writers + 1}[db.Dialect()]; parts > most {
			t.Errorf("the tenant has %d rows of numbers, want at most %d", parts, most)
		}
	})
}

// A selector of statuses alone counts what it lists.
func TestCountsByStatusAreThoseOfLists(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		l := life{t, db}
		for n, s := range contact.Statuses() {
			for i := range n + 1 {
				l.inStatus(fmt.Sprintf("%s%d@example.org", s, i), s)
			}
		}
		for _, want := range [][]contact.Status{nil, {contact.Suppressed}, {contact.Active, contact.Active}, {contact.Bounced, contact.Suppressed, contact.Pending}, contact.Statuses()} {
			sel := contact.Selector{Statuses: want, Search: "  "}
			n, err := contact.Count(t.Context(), db, acme, sel)
			if err != nil {
				t.Fatal(err)
			}
			p, err := contact.List(t.Context(), db, acme, contact.Query{Selector: sel, Limit: 100})
			if err != nil || n != len(p.Contacts) {
				t.Errorf("%v: %d are counted, %d listed, %v", want, n, len(p.Contacts), err)
			}
		}
		none, err := contact.CountByStatus(t.Context(), db, id.Tenant(103))
		if err != nil || none != (contact.ByStatus{}) {
			t.Errorf("a tenant without contacts has %v, %v", none, err)
		}
	})
}

// The rows of a transaction that fails are not counted, and a repair adds what is missing.
func TestCountsAreOfTheTransaction(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		l := life{t, db}
		l.inStatus("a@example.org", contact.Active)
		failed := fmt.Errorf("failed")
		err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
			if _, err := contact.Create(t.Context(), tx, acme, "b@example.org", contact.Change{}, rules, noon); err != nil {
				return err
			}
			n, err := contact.Count(t.Context(), tx, acme, contact.Selector{})
			if n != 2 || err != nil {
				t.Errorf("within the transaction %d contacts are counted, %v", n, err)
			}
			return failed
		})
		if err != failed {
			t.Fatal(err)
		}
		for _, text := range []string{`UPDATE contact_count SET active = 7, bounced = 2 WHERE tenant_id = $1`, `DELETE FROM contact_count WHERE tenant_id = $1`} {
			if _, err := db.Exec(t.Context(), text, acme); err != nil {
				t.Fatal(err)
			}
			if added, err := contact.CorrectCounts(t.Context(), db, acme); err != nil || added == (contact.ByStatus{}) {
				t.Errorf("%s: %v was added, %v", text, added, err)
			}
			mustBeCounted(t, db)
		}
	})
}

// An upgrade counts the contacts there are.
func TestTheMigrationCountsContacts(t *testing.T) {
	text, err := os.ReadFile("../../sqldb/migrations/20261130152000_contact_count.sql")
	if err != nil {
		t.Fatal(err)
	}
	fill := regexp.MustCompile(`(?s)INSERT INTO contact_count .*?;`).FindString(string(text))
	each(t, func(t *testing.T, db *sqldb.DB) {
		l := life{t, db}
		for n, s := range contact.Statuses() {
			for i := range n + 1 {
				l.inStatus(fmt.Sprintf("%s%d@example.org", s, i), s)
			}
		}
		for _, statement := range []string{`DELETE FROM contact_count`, fill} {
			if _, err := db.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		stored, _ := storedAndCounted(t, db, acme)
		if diff := cmp.Diff(contact.ByStatus{1, 2, 3, 4, 5, 6}, stored); diff != "" {
			t.Errorf("the migration counts wrongly:\n%s", diff)
		}
	})
}

// A function that writes contacts' statuses counts them (queueCounts), and the tests above cover it.
func TestFunctionsThatWriteStatusesAreKnown(t *testing.T) {
	t.Parallel()
	known := map[string]bool{
		"contact.saveStatuses": true, "contact.clearContacts": true, "contact.queueEscalate": true, "contact.queueRestore": true, // by their callers
		"contact.insert": true, "contact.queueUpdate": true, // by mergeState.save
	}
	rows := regexp.MustCompile(`(?i)\b(?:INSERT\s+INTO|DELETE\s+FROM)\s+contact\b|\bUPDATE\s+contact\s+SET\b[^;]*\bglobal_status\s*=`)
	found := map[string]bool{}
	tree := os.DirFS("../..")
	err := fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(tree, path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && writesStatuses(fn, rows) {
				found[f.Name.Name+"."+fn.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(known, found); diff != "" {
		t.Errorf("functions that write statuses differ (-known +found):\n%s", diff)
	}
}

// writesStatuses reports whether a function contains a statement that does, or calls a method of
// sqldb.Table that writes contacts.
func writesStatuses(fn *ast.FuncDecl, rows *regexp.Regexp) bool {
	var texts strings.Builder
	found := false
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if s, err := strconv.Unquote(n.Value); err == nil {
				texts.WriteString(s + " ")
			}
		case *ast.CallExpr:
			sel, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || !strings.Contains(" Load Insert QueueInsert Update QueueUpdate ", " "+sel.Sel.Name+" ") {
				return true
			}
			for _, a := range n.Args {
				if lit, ok := a.(*ast.BasicLit); ok && lit.Value == `"contact"` {
					found = true
				}
			}
		}
		return true
	})
	return found || rows.MatchString(texts.String())
}
