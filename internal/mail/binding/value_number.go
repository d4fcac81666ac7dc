package binding

import (
	"cmp"
	"strconv"
	"strings"
)

// plainNumber returns a JSON number in plain decimals; false when that takes too
// many characters. Without an exponent it is as it was.
func plainNumber(n string) (string, bool) {
	mantissa, exponent, shifted := cutExponent(n)
	if !shifted {
		return n, len(n) <= maxDigits
	}
	shift, err := strconv.Atoi(exponent)
	if err != nil || shift < -maxDigits || shift > maxDigits || len(mantissa) > maxDigits {
		return "", false
	}
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	point := len(whole) + shift
	if point <= 0 {
		digits = strings.Repeat("0", 1-point) + digits
		point = 1
	}
	if point > len(digits) {
		digits += strings.Repeat("0", point-len(digits))
	}
	whole, fraction = strings.TrimLeft(digits[:point], "0"), strings.TrimRight(digits[point:], "0")
	if whole == "" {
		whole = "0"
	}
	out := whole
	if fraction != "" {
		out += "." + fraction
	}
	if negative && strings.Trim(out, "0.") != "" {
		out = "-" + out
	}
	return out, len(out) <= maxDigits
}

func cutExponent(n string) (mantissa, exponent string, found bool) {
	i := strings.IndexAny(n, "eE")
	if i < 0 {
		return n, "", false
	}
	return n[:i], n[i+1:], true
}

// isWhole reports whether a plain number has nothing after its point.
func isWhole(s string) bool {
	_, fraction, _ := strings.Cut(s, ".")
	return strings.Trim(fraction, "0") == ""
}

// compareNumbers orders two plain numbers exactly.
func compareNumbers(a, b string) int {
	a, below := strings.CutPrefix(a, "-")
	b, alsoBelow := strings.CutPrefix(b, "-")
	switch {
	case below && alsoBelow:
		return compareSizes(b, a)
	case below && !isZero(a) || below && !isZero(b):
		return -1
	case alsoBelow && !isZero(a) || alsoBelow && !isZero(b):
		return 1
	}
	return compareSizes(a, b)
}

func isZero(s string) bool { return strings.Trim(s, "0.") == "" }

// compareSizes orders two plain numbers without sign.
func compareSizes(a, b string) int {
	a, aFraction, _ := strings.Cut(a, ".")
	b, bFraction, _ := strings.Cut(b, ".")
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(
		cmp.Compare(len(a), len(b)),
		strings.Compare(a, b),
		strings.Compare(strings.TrimRight(aFraction, "0"), strings.TrimRight(bFraction, "0")),
	)
}
