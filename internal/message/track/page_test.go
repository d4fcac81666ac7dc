package track

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Pages have each row once, in order, and do not divide the rows of one time.
func TestPagesByTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		rows := rapid.SliceOfN(rapid.IntRange(0, 12), 0, 40).Draw(r, "rows")
		slices.Sort(rows)
		limit := rapid.IntRange(1, 10).Draw(r, "limit")
		at := func(row int) time.Time { return time.UnixMicro(int64(row)) }
		var got []int
		after := -1
		for more := true; more; {
			var page []int
			var err error
			page, more, err = pageByTime(limit, at, func(n int) ([]int, error) {
				rest := slices.DeleteFunc(slices.Clone(rows), func(row int) bool { return row <= after })
				return rest[:min(n, len(rest))], nil
			})
			if err != nil || more && len(page) == 0 {
				r.Fatal(page, more, err)
			}
			if got = append(got, page...); more {
				after = page[len(page)-1]
			}
		}
		if !slices.Equal(got, rows) {
			r.Fatalf("the pages have %v, want %v", got, rows)
		}
	})
}
