package spread

import (
	"cmp"
	"slices"
)

// MaxMore is the maximum number of days that are added after the window of a send. Messages that do
// not fit even then are held back.
const MaxMore = 366

// Cap is the maximum number of messages on a day.
type Cap struct {
	Max    int
	Capped bool // false: no maximum
}

// UpTo returns a cap of n messages, or of 0 if n is negative.
func UpTo(n int) Cap { return Cap{max(0, n), true} }

func (c Cap) clamp(n int) int {
	if c.Capped {
		return min(n, max(0, c.Max))
	}
	return n
}

// Load is the input of a plan: numbers of messages by lane, and the days for them.
type Load struct {
	Days    []Day                 // of the window, none skipped, in order
	Skipped []Day                 // never used
	Extend  bool                  // use days after the window if necessary
	Next    Day                   // the first day after the window
	Waiting map[string]int        // messages by lane
	Has     map[Day]int           // messages that a day has already; they count when days are made even
	Total   func(Day) Cap         // of a day, over all lanes
	Lane    func(string, Day) Cap // of a day, on one lane
}

// Quota is the number of messages for a lane and a day.
type Quota struct {
	Lane string `json:"lane"`
	Day  Day    `json:"day"`
	N    int    `json:"n"`
}

// Plan assigns each message a day, or holds it back. Days get equal numbers as far as possible, the
// first ones one more if the number does not divide. Messages beyond the capacity of a day move to
// the next, and after the last day of the window to days after it, if Extend is set. Quotas are
// sorted by lane, then by day, and are never 0.
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

// extend assigns messages to days after the window.
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

// fit returns how many of the wanted messages, by lane, the caps of a day allow.
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

// even divides n among the days of the window so that, with the messages that each has already, they
// differ as little as possible. The earliest get the remainder.
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

// apportion divides n in proportion to the weights, by the largest-remainder method; the first wins a
// tie. No part exceeds its weight, unless n exceeds the sum of the weights.
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
