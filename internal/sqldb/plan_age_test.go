package sqldb

import (
	"testing"
	"time"
)

func TestPlansAreOutgrown(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	made := planAge{rows: 100_000, at: at}
	for _, tt := range []struct {
		name string
		rows int64
		now  time.Time
		want bool
	}{
		{"no rows since", 100_000, at.Add(time.Hour), false},
		{"few rows in a long time", 100_000 + maxPlanRows - 1, at.Add(time.Hour), false},
		{"many rows in a short time", 100_000 + maxPlanRows, at.Add(minPlanTime / 2), false},
		{"a table may have filled", 100_000 + maxPlanRows, at.Add(minPlanTime), true},
		{"all tables together have doubled", 200_000, at, true},
	} {
		if got := made.outgrown(tt.rows, tt.now); got != tt.want {
			t.Errorf("%s: outgrown = %v, want %v", tt.name, got, tt.want)
		}
	}
}
