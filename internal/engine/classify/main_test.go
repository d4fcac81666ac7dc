package classify

import (
	"flag"
	"os"
	"testing"

	"pgregory.net/rapid"
)

// A run of a property on a database is many transactions, so there are 25 runs rather than rapid's
// default of 100. Properties without a database are checked by checkOften.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "25"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// checkOften checks a property in 100 runs.
func checkOften(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	for range 4 {
		rapid.Check(t, property)
	}
}
