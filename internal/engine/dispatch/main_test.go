package dispatch_test

import (
	"flag"
	"os"
	"testing"
)

// Every check of a property here is a handful of transactions on a real
// database; thirty of them, not the hundred rapid would make.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "30"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
