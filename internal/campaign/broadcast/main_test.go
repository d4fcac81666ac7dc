package broadcast_test

import (
	"flag"
	"os"
	"testing"
)

// Each run of a property is several transactions on a real database, so there are 30 runs rather
// than rapid's default of 100.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "30"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
