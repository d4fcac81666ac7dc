// Package crash holds the tests of processes that end: the whole program, killed, stopped and with several processes, on
// both databases.
package crash

import (
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
)

func TestMain(m *testing.M) { e2etest.Main(m) }
