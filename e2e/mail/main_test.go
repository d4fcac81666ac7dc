// Package mail holds the tests of mail: the whole program, on both databases, with other programs that relay, return,
// store and score its mail, and with websites that mail leads to.
package mail

import (
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
)

func TestMain(m *testing.M) { e2etest.Main(m) }
