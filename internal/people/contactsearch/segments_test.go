package contactsearch

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// After any sequence of new segments, merging leaves few that are not full, and writes no entry often.
func TestMergingLeavesFewSegments(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var list []segment
		last, all, written := int64(0), 0, 0
		add := func(n int) {
			last++
			list = append(list, segment{last, n})
		}
		for _, n := range rapid.SliceOfN(rapid.OneOf(rapid.IntRange(minSegment, 2*minSegment), rapid.IntRange(minSegment, segmentSize)), 1, 200).Draw(t, "new") {
			add(n)
			all += n
			for small := mergeable(list, minSegment, segmentSize); len(small) > 0; small = mergeable(list, minSegment, segmentSize) {
				sum := 0
				for _, s := range small {
					if s.entries >= segmentSize {
						t.Fatalf("a full segment is merged: %v", small)
					}
					sum += s.entries
				}
				if len(small) < 2 || sum >= 2*segmentSize {
					t.Fatalf("%d entries are merged: %v", sum, small)
				}
				list = slices.DeleteFunc(list, func(s segment) bool { return slices.Contains(small, s) })
				add(min(sum, segmentSize))
				if sum > segmentSize {
					add(sum - segmentSize)
				}
				written += sum
			}
		}
		if most := all*8/7/segmentSize + 8; len(list) > most {
			t.Errorf("%d entries are in %d segments, want at most %d", all, len(list), most)
		}
		if written > 3*all {
			t.Errorf("%d entries were written again for %d", written, all)
		}
	})
}
