// Package e2etest runs the program for the tests of e2e/app, e2e/mail and e2e/crash: the real binary, in a process
// of its own, against a real SMTP server in another, on both databases.
package e2etest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
)

// Main builds the programs under test, and runs the tests of a package.
func Main(m *testing.M) {
	flag.Parse()
	waitTogether()
	dir, err := build()
	code := 1
	if err == nil {
		code = m.Run()
	}
	if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
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

// The programs under test, by their packages.
const (
	program     = "github.com/packetboat/packetboat/cmd/packetboat"
	sinkProgram = "github.com/packetboat/packetboat/e2e/sink/cmd/smtpsink"
)

// build builds the programs under test at its first call, and returns their directory. Each test binary builds them:
// all share Go's build cache, so that the later ones only link.
var build = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "packetboat-e2e"); err != nil {
		return "", err
	}
	for _, name := range []string{program, sinkProgram} {
		cmd := exec.Command("go", "build", "-o", dir, name)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return dir, fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
	}
	return dir, nil
})

// path returns the file of a program under test.
func path(t *testing.T, name string) string {
	t.Helper()
	dir, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, filepath.Base(name))
}

// SinkProgram returns the file of the SMTP sink.
func SinkProgram(t *testing.T) string {
	t.Helper()
	return path(t, sinkProgram)
}
