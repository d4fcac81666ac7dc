package route

import (
	"crypto/sha256"
	"encoding/binary"
)

// Weighted returns the index of one of several weights, of which at least one is positive. The
// choice depends only on the key and the weights, and an index is chosen as often as its weight's
// share of the sum: the first eight bytes of the key's SHA-256 are a place between 0 and the sum.
func Weighted(key string, weights []float64) int {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	sum := sha256.Sum256([]byte(key))
	// A float64 represents the upper 53 bits exactly, so the quotient is less than 1.
	x := float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53) * total
	reached, last := 0.0, 0
	for i, w := range weights {
		if w > 0 {
			last = i
		}
		if reached += w; reached > x {
			return i
		}
	}
	return last // rounding made the sum of weights too small
}
