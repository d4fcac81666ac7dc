package traffic

import "math"

// Rate returns n/of, or 0 if of is 0.
func Rate(n, of int) float64 {
	if of <= 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// AtLeast returns the lower bound of Wilson's 95 % interval for the rate, so that a few events
// among a few messages have little weight.
func AtLeast(n, of int) float64 {
	if n <= 0 || of <= 0 {
		return 0
	}
	const z = 1.959964 // quantile of the normal distribution
	p, m := min(Rate(n, of), 1), float64(of)
	centre := p + z*z/(2*m)
	spread := z * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(0, (centre-spread)/(1+z*z/m))
}

// ComplaintRate is the share of deliveries that recipients complained about, by Rate or AtLeast.
func (c Counts) ComplaintRate(rate func(n, of int) float64) float64 {
	return rate(c.Complained, c.Delivered)
}

// HardBounceRate is the share of hard bounces in all messages that were accepted or permanently
// refused, by Rate or AtLeast.
func (c Counts) HardBounceRate(rate func(n, of int) float64) float64 {
	return rate(c.Hard+c.Late, c.Delivered+c.Hard+c.Block)
}
