package report

import "math"

// Interval is the bounds between which a rate lies with a confidence of 95 %.
type Interval struct{ Low, High float64 }

// z95 is the quantile of the normal distribution that leaves 2.5 % on each side.
const z95 = 1.959963984540054

// IntervalOf returns the Wilson score interval of n out of a number of independent cases (E. B. Wilson, "Probable
// Inference, the Law of Succession, and Statistical Inference", Journal of the American Statistical Association 22
// (1927), 209-212). Unlike the usual plus or minus, it also holds for few cases, and for rates near 0 and 1. Without
// cases it is from 0 to 1. More than all cases, as counts that are not independent may say, are all.
func IntervalOf(n, of int) Interval {
	if of <= 0 {
		return Interval{0, 1}
	}
	n = min(max(n, 0), of)
	cases := float64(of)
	p, zz := float64(n)/cases, z95*z95/cases
	middle := (p + zz/2) / (1 + zz)
	half := z95 / (1 + zz) * math.Sqrt(p*(1-p)/cases+zz/(4*cases))
	i := Interval{middle - half, middle + half}
	if n == 0 { // exactly, not only up to rounding
		i.Low = 0
	}
	if n == of {
		i.High = 1
	}
	return i
}

// Rounded returns the interval with four decimals, as rates have.
func (i Interval) Rounded() Interval { return Interval{rounded(i.Low), rounded(i.High)} }

// Interval returns the interval of n as a share of the group's recipients.
func (g Group) Interval(n int) Interval { return IntervalOf(n, g.Recipients) }

// Ahead returns the index of the group whose interval lies above those of all others, or -1: as long as intervals
// overlap, chance may explain what differs. count returns what is compared of a group.
func Ahead(groups []Group, count func(Group) int) int {
	if len(groups) < 2 {
		return -1
	}
	for i, g := range groups {
		low, ahead := g.Interval(count(g)).Low, true
		for j, other := range groups {
			ahead = ahead && (i == j || other.Interval(count(other)).High < low)
		}
		if ahead {
			return i
		}
	}
	return -1
}
