package sqldb_test

import (
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestAClockIsComparedWithTheDatabases(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		c := sqldb.Clock{DB: db}
		if err := c.Compare(t.Context()); err != nil || c.Behind() != 0 { // it is on the same machine
			t.Errorf("behind by %v, %v", c.Behind(), err)
		}
	})
}

func TestAClockIsCorrected(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		behind, took time.Duration
		want         time.Duration
	}{
		{"right", 0, time.Millisecond, 0},
		{"nearly right", 900 * time.Millisecond, time.Millisecond, 0},
		{"behind", 2 * time.Hour, 0, 2 * time.Hour},
		{"ahead", -2 * time.Hour, 0, -2 * time.Hour},
		{"an answer that took long", 3 * time.Second, 4 * time.Second, 0},
	} {
		c := sqldb.Clock{}
		ended := time.Now()
		c.Correct(ended.Add(tt.behind-tt.took/2).Round(0), ended.Add(-tt.took), ended)
		if c.Behind() != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, c.Behind(), tt.want)
		}
		if d := time.Until(c.Now()); (d - tt.want).Abs() > time.Second {
			t.Errorf("%s: Now is %v from this machine's, want %v", tt.name, d, tt.want)
		}
	}
}

// A reading of the monotonic clock is right before and after a correction, and must not be shifted with the time.
func TestACorrectedTimeHasNoMonotonicReading(t *testing.T) {
	t.Parallel()
	c := sqldb.Clock{}
	if now := c.Now(); now == now.Round(0) {
		t.Error("the time of a right clock has no reading")
	}
	ended := time.Now()
	c.Correct(ended.Add(-2*time.Hour).Round(0), ended, ended)
	if now := c.Now(); now != now.Round(0) {
		t.Error("the corrected time has a reading")
	}
}
