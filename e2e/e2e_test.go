// Package e2e holds the tests of the whole program: the real binary, in a
// process of its own, against a real SMTP server in another, on both databases.
package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// The binaries under test, built once.
var program, sinkProgram string

func TestMain(m *testing.M) {
	flag.Parse()
	waitTogether()
	os.Exit(run(m))
}

// waitTogether lets more tests run at the same time than there are processors, unless -parallel says how
// many: most of the time they wait for the programs that they started.
func waitTogether() {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0)))
	}
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "packetboat-e2e")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program, sinkProgram = filepath.Join(dir, "packetboat"), filepath.Join(dir, "smtpsink")
	for path, pkg := range map[string]string{program: "../cmd/packetboat", sinkProgram: "./sink/cmd/smtpsink"} {
		build := exec.Command("go", "build", "-o", path, pkg)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build %s: %v\n%s", pkg, err, out)
			return 1
		}
	}
	return m.Run()
}

// start starts the program on an empty database and makes it able to send to a
// sink of its own. Both are stopped when the test ends.
func start(t *testing.T, address string, sinkArgs ...string) (*harness.Program, *harness.Ready, *harness.Sink) {
	t.Helper()
	return startWith(t, &harness.Program{}, address, sinkArgs...)
}

// startWith is start with arguments and environment of the test's own.
func startWith(t *testing.T, p *harness.Program, address string, sinkArgs ...string) (*harness.Program, *harness.Ready, *harness.Sink) {
	t.Helper()
	begin(t, p, address)
	ready, err := p.Ready(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err := harness.StartSink(context.WithoutCancel(t.Context()), sinkProgram, t.TempDir(), sinkArgs...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	return p, ready, s
}

// begin starts the program on a database. It is stopped when the test ends.
func begin(t *testing.T, p *harness.Program, address string) {
	t.Helper()
	p.Path, p.Dir = program, t.TempDir()
	if d, ok := sqliteFile(address); !ok {
		p.Database = address
	} else {
		p.Dir = d
	}
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
}

// sqliteFile returns the directory of an SQLite address.
func sqliteFile(address string) (dir string, ok bool) {
	const scheme = "sqlite:"
	if len(address) < len(scheme) || address[:len(scheme)] != scheme {
		return "", false
	}
	return filepath.Dir(address[len(scheme):]), true
}

// database opens the program's database beside it.
func database(t *testing.T, p *harness.Program) *sqldb.DB {
	t.Helper()
	address := p.Database
	if address == "" {
		address = "sqlite:packetboat.db"
	}
	db, err := sqldb.Open(t.Context(), address, sqldb.Options{DataDir: p.Dir, MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// each runs f on a fresh database of each dialect, side by side.
func each(t *testing.T, f func(t *testing.T, address string)) {
	t.Helper()
	dbtest.Addresses(t, f)
}
