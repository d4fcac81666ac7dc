package report_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/view/report"
)

// Intervals as R's prop.test(n, of, correct = FALSE) gives them.
func TestIntervals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		n, of     int
		low, high float64
	}{
		{0, 0, 0, 1},
		{0, 10, 0, 0.2775},
		{10, 10, 0.7225, 1},
		{11, 10, 0.7225, 1},
		{1000, 10, 0.7225, 1},
		{-1, 10, 0, 0.2775},
		{1, 10, 0.0179, 0.4042},
		{5, 10, 0.2366, 0.7634},
		{81, 263, 0.2553, 0.3662}, // Newcombe 1998, table I
		{15, 148, 0.0624, 0.1605},
		{0, 20, 0, 0.1611},
		{1, 29, 0.0061, 0.1718},
		{2000, 10000, 0.1923, 0.2080},
	} {
		if got := report.IntervalOf(tt.n, tt.of).Rounded(); got.Low != tt.low || got.High != tt.high {
			t.Errorf("%d of %d: %v, want %v to %v", tt.n, tt.of, got, tt.low, tt.high)
		}
	}
}

// The rate is within its interval, which is symmetric, and narrower for more cases.
func TestIntervalsHoldTheirRate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		of := rapid.IntRange(1, 10_000_000).Draw(t, "of")
		n := rapid.IntRange(0, of).Draw(t, "n")
		i, mirrored, more := report.IntervalOf(n, of), report.IntervalOf(of-n, of), report.IntervalOf(4*n, 4*of)
		p := float64(n) / float64(of)
		if i.Low < 0 || i.High > 1 || p < i.Low-1e-12 || p > i.High+1e-12 {
			t.Fatalf("%v holds no %v", i, p)
		}
		if math.Abs(i.Low-(1-mirrored.High)) > 1e-9 || more.High-more.Low >= i.High-i.Low {
			t.Fatalf("%v, of the others %v, of more %v", i, mirrored, more)
		}
	})
}

// A group is ahead only if its interval lies above those of all others.
func TestAGroupIsAhead(t *testing.T) {
	t.Parallel()
	opened := func(g report.Group) int { return g.Opened }
	group := func(recipients, opened int) report.Group { return report.Group{Recipients: recipients, Opened: opened} }
	for _, tt := range []struct {
		name   string
		groups []report.Group
		want   int
	}{
		{"none", nil, -1},
		{"one alone", []report.Group{group(100, 90)}, -1},
		{"nothing sent", []report.Group{group(0, 0), group(0, 0)}, -1},
		{"few", []report.Group{group(10, 2), group(10, 6)}, -1},
		{"many", []report.Group{group(1000, 200), group(1000, 600)}, 1},
		{"the first", []report.Group{group(1000, 600), group(1000, 200)}, 0},
		{"close together", []report.Group{group(1000, 200), group(1000, 230)}, -1},
		{"two ahead of the third", []report.Group{group(1000, 600), group(1000, 610), group(1000, 200)}, -1},
		{"ahead of two", []report.Group{group(1000, 300), group(1000, 310), group(1000, 600)}, 2},
		{"one without recipients", []report.Group{group(1000, 600), group(0, 0)}, -1},
	} {
		if got := report.Ahead(tt.groups, opened); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}
