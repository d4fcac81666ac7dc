package spread

import (
	"cmp"
	"slices"
)

// MaxMore is how many days may be added after the window of a send. Messages for
// which there is no room even then are held back.
const MaxMore = 366

// Cap is a bound on a day's messages.
type Cap struct {
	Max    int
	Capped bool // false: there is none
}

// UpTo is the cap of n messages; less than none is none.
func UpTo(n int) Cap { return Cap{max(0, n), true} }

func (c Cap) clamp(n int) int {
	if c.Capped {
		return min(n, max(0, c.Max))
	}
	return n
}

// Load is what has to be spread: so many messages on each lane, over days.
type Load struct {
	Days    []Day                 // of the window, none skipped, in order
	Skipped []Day                 // never used
	Extend  bool                  // go on after the window, if it takes that long
	Next    Day                   // the first day after the window
	Waiting map[string]int        // messages by lane
	Has     map[Day]int           // messages that a day carries already, which count when days are made even
	Total   func(Day) Cap         // of a day, over all lanes
	Lane    func(string, Day) Cap // of a day, on one lane
}

// Quota is how many messages leave on a lane on a day.
type Quota struct {
	Lane string `json:"lane"`
	Day  Day    `json:"day"`
	N    int    `json:"n"`
}

// Plan gives every message of the load a day, or holds it back: the days are
// made as even as can be, the first ones carrying what does not divide; what
// exceeds a day's capacity moves on to the next, and after the last to as many
// more as Extend grants. Quotas come by lane, then by day, and are never 0.
func (l Load) Plan() (quotas []Quota, heldBack map[string]int) {
	lanes := make([]string, 0, len(l.Waiting))
	for lane, n := range l.Waiting {
		if n > 0 {
			lanes = append(lanes, lane)
		}
	}
	slices.Sort(lanes)
	left, carried, total := make([]int, len(lanes)), make([]int, len(lanes)), 0
	for i, lane := range lanes {
		left[i] = l.Waiting[lane]
		total += left[i]
	}
	days := l.even(total)
	fill := func(day Day, want []int) {
		given := l.fit(day, lanes, want)
		for i, n := range given {
			carried[i] = want[i] - n
			if n > 0 {
				quotas = append(quotas, Quota{lanes[i], day, n})
			}
		}
	}
	for d, day := range l.Days {
		want := apportion(days[d], left)
		for i := range want {
			left[i] -= want[i]
			want[i] += carried[i]
		}
		fill(day, want)
	}
	if len(l.Days) == 0 {
		carried = left
	}
	if l.Extend {
		l.extend(carried, fill)
	}
	heldBack = map[string]int{}
	for i, n := range carried {
		if n > 0 {
			heldBack[lanes[i]] = n
		}
	}
	slices.SortStableFunc(quotas, func(a, b Quota) int { return cmp.Or(cmp.Compare(a.Lane, b.Lane), cmp.Compare(a.Day, b.Day)) })
	return quotas, heldBack
}

// extend fills days after the window.
func (l Load) extend(carried []int, fill func(Day, []int)) {
	for i := range MaxMore {
		if !slices.ContainsFunc(carried, func(n int) bool { return n > 0 }) {
			return
		}
		if day := l.Next.Add(i); !slices.Contains(l.Skipped, day) {
			fill(day, slices.Clone(carried))
		}
	}
}

// fit returns how many of the messages that should leave on a day can.
func (l Load) fit(day Day, lanes []string, want []int) []int {
	given, sum := make([]int, len(want)), 0
	for i, n := range want {
		given[i] = n
		if n > 0 && l.Lane != nil {
			given[i] = l.Lane(lanes[i], day).clamp(n)
		}
		sum += given[i]
	}
	if sum == 0 || l.Total == nil {
		return given
	}
	if most := l.Total(day).clamp(sum); most < sum {
		return apportion(most, given)
	}
	return given
}

// even divides n over the days of the window so that, with what each of them
// has already, they differ as little as can be; what does not divide goes to the
// earliest.
func (l Load) even(n int) []int {
	shares := make([]int, len(l.Days))
	if len(shares) == 0 {
		return shares
	}
	has := make([]int, len(l.Days))
	for i, d := range l.Days {
		has[i] = max(0, l.Has[d])
	}
	needed := func(level int) int {
		sum := 0
		for _, h := range has {
			sum += max(0, level-h)
		}
		return sum
	}
	// The highest level to which n messages can raise all the days.
	low, high := 0, n+slices.Max(has)
	for low < high {
		if mid := (low + high + 1) / 2; needed(mid) <= n {
			low = mid
		} else {
			high = mid - 1
		}
	}
	rest := n - needed(low)
	for i, h := range has {
		shares[i] = max(0, low-h)
		if h <= low && rest > 0 {
			shares[i]++
			rest--
		}
	}
	return shares
}

// apportion divides n in proportion to the weights, by the largest remainders,
// the first winning a tie. No part exceeds its weight as long as n does not
// exceed their sum.
func apportion(n int, weights []int) []int {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	parts := make([]int, len(weights))
	if sum == 0 {
		return parts
	}
	n = min(n, sum)
	order := make([]int, len(weights))
	rest := n
	for i, w := range weights {
		parts[i] = n * w / sum
		rest -= parts[i]
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(n*weights[b]%sum, n*weights[a]%sum) })
	for _, i := range order[:rest] {
		parts[i]++
	}
	return parts
}
