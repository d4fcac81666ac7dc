package spread

import "slices"

// Over returns the n days from first on, but for those that are skipped.
func Over(first Day, n int, skipped []Day) []Day {
	list := make([]Day, 0, max(0, n))
	for i := range n {
		if d := first.Add(i); !slices.Contains(skipped, d) {
			list = append(list, d)
		}
	}
	return list
}

// MaxDays bounds a window that is given by its last day.
const MaxDays = 366

// Until returns the days from first to last, both of them meant, but for those
// that are skipped. At most MaxDays are looked at.
func Until(first, last Day, skipped []Day) []Day {
	n := 0
	for n < MaxDays && first.Add(n) <= last {
		n++
	}
	return Over(first, n, skipped)
}
