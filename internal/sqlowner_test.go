package internal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// apartFromOwners are packages that use tables of others by their nature, and are not checked:
// dbcopy copies whatever tables there are, and sqldb knows the tenants of a distributed database.
// retention deletes the rows of deleted tenants with statements that contain no table's name.
var apartFromOwners = []string{"sqldb", "sqldb/dbcopy"}

var (
	writes = regexp.MustCompile(`\b(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM)\s+(\w+)`)
	reads  = regexp.MustCompile(`\b(?:FROM|JOIN|USING)\s+(\w+)`)
	// inserters are the methods of sqldb.Table with the name of a table as an argument.
	inserters = []string{"Insert", "QueueInsert", "Update", "QueueUpdate", "Load"}
)

// tableUse is which packages write and read each table.
type tableUse struct {
	known           map[string]string
	writers, reader map[string]map[string]bool // table → package
}

func newTableUse(known map[string]string) tableUse {
	return tableUse{known, map[string]map[string]bool{}, map[string]map[string]bool{}}
}

// add adds what the literals of a file of a package name. A statement of several literals is read in
// parts, each of which names its tables.
func (u tableUse) add(pkg string, f *ast.File) {
	note := func(to map[string]map[string]bool, table string) {
		if _, ok := u.known[table]; ok {
			if to[table] == nil {
				to[table] = map[string]bool{}
			}
			to[table][pkg] = true
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			text := lineComment.ReplaceAllString(literal(n), "")
			for _, m := range writes.FindAllStringSubmatch(text, -1) {
				note(u.writers, m[1])
			}
			for _, m := range reads.FindAllStringSubmatch(writes.ReplaceAllString(text, ""), -1) {
				note(u.reader, m[1])
			}
		case *ast.CallExpr:
			if slices.Contains(inserters, called(n)) {
				for _, a := range n.Args {
					note(u.writers, literal(a))
				}
			}
		}
		return true
	})
}

// literal returns the value of a string literal, or nothing.
func literal(e ast.Node) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	text, _ := strconv.Unquote(lit.Value)
	return text
}

// readers returns for each package the owners of the foreign tables that it reads, sorted, and the
// tables that several packages write.
func (u tableUse) readers() (readers map[string][]string, shared []string) {
	readers = map[string][]string{}
	for table := range u.known {
		if len(u.writers[table]) > 1 {
			shared = append(shared, table+": "+strings.Join(slices.Sorted(maps.Keys(u.writers[table])), ", "))
		}
		for owner := range u.writers[table] {
			for pkg := range u.reader[table] {
				if pkg != owner && !slices.Contains(readers[pkg], owner) {
					readers[pkg] = append(readers[pkg], owner)
				}
			}
		}
	}
	for _, list := range readers {
		slices.Sort(list)
	}
	slices.Sort(shared)
	return readers, shared
}

// TestATableIsWrittenByOnePackage finds the owner of each table, and compares the packages that read
// tables of others with the list in ARCHITECTURE.md.
func TestATableIsWrittenByOnePackage(t *testing.T) {
	use := newTableUse(allTables(t))
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		pkg := filepath.ToSlash(filepath.Dir(file))
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasSuffix(d.Name(), "test")): // dbtest and the like
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || slices.Contains(apartFromOwners, pkg):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err == nil {
			use.add(pkg, f)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(use.writers) < 100 {
		t.Fatalf("writers of only %d tables were found", len(use.writers))
	}
	for table := range use.known {
		if len(use.writers[table]) == 0 {
			t.Errorf("no package writes the table %s", table)
		}
	}
	found, shared := use.readers()
	for _, s := range shared {
		t.Errorf("a table is written by several packages: %s", s)
	}
	documented, why := documentedReaders(t)
	if diff := cmp.Diff(documented, found); diff != "" {
		t.Errorf("ARCHITECTURE.md does not list who reads tables of other packages (-documented +found):\n%s", diff)
	}
	for pkg, owners := range found {
		for _, owner := range owners {
			if above(owner, pkg) && why[pkg] == "" {
				t.Errorf("%s reads tables of %s, which is above it; ARCHITECTURE.md gives no reason", pkg, owner)
			}
		}
	}
}

// above reports whether the folder of a package is above that of another one.
func above(pkg, other string) bool {
	return slices.Index(folders, strings.Split(pkg, "/")[0]) < slices.Index(folders, strings.Split(other, "/")[0])
}

// documentedReaders returns the table of readers in ARCHITECTURE.md, and the remarks in it.
func documentedReaders(t *testing.T) (readers map[string][]string, why map[string]string) {
	t.Helper()
	page, err := os.ReadFile("../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "\n| package | reads tables of | why |\n|---|---|---|\n")
	if !ok {
		t.Fatal("ARCHITECTURE.md has no table of readers")
	}
	readers, why = map[string][]string{}, map[string]string{}
	for line := range strings.Lines(rest) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 {
			break
		}
		pkg := path.Clean(strings.Trim(cells[1], " `"))
		for owner := range strings.SplitSeq(cells[2], ",") {
			readers[pkg] = append(readers[pkg], strings.Trim(owner, " `"))
		}
		why[pkg] = strings.TrimSpace(cells[3])
	}
	return readers, why
}

func TestUsesOfTablesAreFound(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "a.go", "package a\n"+`
		const columns = "id FROM nothing"
		func read() { db.Query(ctx, "SELECT 1 FROM one AS o "+join+" JOIN two ON true") }
		func write(t *sqldb.Table) {
			db.Exec(ctx, "INSERT INTO three SELECT id FROM four -- and FROM five\n")
			db.Exec(ctx, "DELETE FROM six USING seven")
			db.Exec(ctx, "UPDATE eight SET n = 1 FROM one")
			t.Insert(ctx, db, "nine", tenant)
		}`, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]string{}
	for _, name := range []string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine"} {
		known[name] = ""
	}
	use := newTableUse(known)
	use.add("a", f)
	if diff := cmp.Diff([]string{"eight", "nine", "six", "three"}, slices.Sorted(maps.Keys(use.writers))); diff != "" {
		t.Errorf("written: %s", diff)
	}
	if diff := cmp.Diff([]string{"four", "one", "seven", "two"}, slices.Sorted(maps.Keys(use.reader))); diff != "" {
		t.Errorf("read: %s", diff)
	}
	other := newTableUse(known)
	other.add("a", f)
	other.add("b", f)
	if _, shared := other.readers(); len(shared) != 4 {
		t.Errorf("two packages write the same four tables: %v", shared)
	}
}
