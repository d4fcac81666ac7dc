package demo_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/packetboat/packetboat/internal/edge/demo"
)

func TestTheClockNeverPassesThePresent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		c := demo.NewClock(began.Add(-time.Hour))
		expect := func(what string, before time.Duration) {
			t.Helper()
			if got := time.Since(c.Now()); got != before {
				t.Errorf("%s: the clock is %s behind, want %s", what, got, before)
			}
		}
		expect("at first", time.Hour)
		time.Sleep(time.Minute)
		expect("a minute later", time.Hour)
		c.Forward(began.Add(-2 * time.Hour))
		expect("put back", time.Hour)
		c.Forward(began.Add(-30 * time.Minute))
		expect("put forward", 31*time.Minute)
		c.Forward(began.Add(24 * time.Hour))
		expect("put into the future", 0)
		time.Sleep(time.Hour)
		expect("an hour later", 0)
		c = demo.NewClock(began.Add(365 * 24 * time.Hour))
		expect("begun in the future", 0)
	})
}
