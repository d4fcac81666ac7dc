// Package app holds the tests of the application in a browser: the whole program, on both databases, and Chromium.
package app

import (
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
)

func TestMain(m *testing.M) { e2etest.Main(m) }
