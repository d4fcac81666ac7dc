package liquid

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// toNumber returns an int64 or a float64. Like Ruby it reads the longest prefix of a text that is a
// number, and converts everything else to 0.
func toNumber(v any) any {
	switch v := v.(type) {
	case int64:
		return v
	case float64:
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v
		}
	case string:
		text := strings.TrimFunc(numberPrefix(v), isSpace)
		if isDecimal(text) {
			if f, err := strconv.ParseFloat(text, 64); err == nil {
				return f
			}
		}
		return leadingInt(text)
	case Raw:
		return toNumber(string(v))
	}
	return int64(0)
}

// numberPrefix returns a prefix of a text that is long enough for any number or date.
func numberPrefix(text string) string { return text[:min(len(text), 1<<10)] }

// toInt is toNumber without the fraction.
func toInt(v any) int64 {
	switch n := toNumber(v).(type) {
	case int64:
		return n
	case float64:
		return truncate(n)
	}
	return 0
}

// truncate returns the whole part of f, or the nearest int64.
func truncate(f float64) int64 {
	switch {
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	}
	return int64(f)
}

// integer returns a whole number, or fails if a filter or tag gets something else.
func (s *state) integer(v any, what string) (int, bool) {
	switch n := v.(type) {
	case int64:
		return int(n), true
	case float64:
		if n == math.Trunc(n) && math.Abs(n) < 1<<53 {
			return int(n), true
		}
	case string:
		if i, err := strconv.Atoi(strings.TrimFunc(numberPrefix(n), isSpace)); err == nil {
			return i, true
		}
	}
	s.fail("%s must be a whole number", what)
	return 0, false
}

func isDecimal(text string) bool {
	whole, fraction, ok := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	return ok && digitsOnly(whole) && digitsOnly(fraction)
}

func digitsOnly(text string) bool {
	for i := range len(text) {
		if !isDigit(text[i]) {
			return false
		}
	}
	return text != ""
}

func leadingInt(text string) any {
	n := 0
	if n < len(text) && (text[n] == '-' || text[n] == '+') {
		n++
	}
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	i, err := strconv.ParseInt(text[:n], 10, 64)
	if err == nil {
		return i
	}
	if f, err := strconv.ParseFloat(text[:n], 64); err == nil {
		return f
	}
	return int64(0)
}

// compareNumbers orders two numbers; ok is false if one of the values is not a number.
func compareNumbers(a, b any) (order int, ok bool) {
	if x, ok := a.(int64); ok {
		if y, ok := b.(int64); ok {
			return cmp.Compare(x, y), true
		}
	}
	x, okX := asFloat(a)
	y, okY := asFloat(b)
	return cmp.Compare(x, y), okX && okY
}

func asFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// rational returns the exact decimal value: 10.1 is 101/10.
func rational(n any) *big.Rat {
	r := new(big.Rat)
	switch n := n.(type) {
	case int64:
		r.SetInt64(n)
	case float64:
		r.SetString(strconv.FormatFloat(n, 'g', -1, 64))
	}
	return r
}

// fromRational returns the float64 nearest to r.
func (s *state) fromRational(r *big.Rat) any {
	f, _ := r.Float64()
	if math.IsInf(f, 0) {
		return s.fail("a number is too large")
	}
	return f
}

// floorRational returns the largest whole number that is not above r.
func floorRational(r *big.Rat) *big.Int {
	q, m := new(big.Int), new(big.Int)
	q.DivMod(r.Num(), r.Denom(), m) // Euclidean; the denominator is positive
	return q
}

// arithmetic implements plus, minus and times.
func (s *state) arithmetic(op byte, a, b any) any {
	a, b = toNumber(a), toNumber(b)
	if x, ok := a.(int64); ok {
		if y, ok := b.(int64); ok {
			if n, ok := integerArithmetic(op, x, y); ok {
				return n
			}
		}
	}
	x, y := rational(a), rational(b)
	switch op {
	case '+':
		x.Add(x, y)
	case '-':
		x.Sub(x, y)
	default:
		x.Mul(x, y)
	}
	return s.fromRational(x)
}

// integerArithmetic returns false if the result overflows.
func integerArithmetic(op byte, x, y int64) (int64, bool) {
	switch op {
	case '+':
		n := x + y
		return n, (n > x) == (y > 0)
	case '-':
		n := x - y
		return n, (n < x) == (y > 0)
	}
	if x == 0 || y == 0 {
		return 0, true
	}
	n := x * y
	return n, n/y == x && (x != math.MinInt64 || y != -1) && (y != math.MinInt64 || x != -1)
}

// divide implements divided_by. Between whole numbers it rounds down.
func (s *state) divide(a, b any) any {
	a, b = toNumber(a), toNumber(b)
	x, y := rational(a), rational(b)
	if y.Sign() == 0 {
		return s.fail("divided by 0")
	}
	x.Quo(x, y)
	if isWhole(a) && isWhole(b) {
		return s.fromInt(floorRational(x))
	}
	return s.fromRational(x)
}

// modulo returns the remainder with the sign of b.
func (s *state) modulo(a, b any) any {
	a, b = toNumber(a), toNumber(b)
	x, y := rational(a), rational(b)
	if y.Sign() == 0 {
		return s.fail("divided by 0")
	}
	times := floorRational(new(big.Rat).Quo(x, y))
	x.Sub(x, y.Mul(y, new(big.Rat).SetInt(times)))
	if isWhole(a) && isWhole(b) {
		return s.fromInt(x.Num())
	}
	return s.fromRational(x)
}

func isWhole(v any) bool {
	_, ok := v.(int64)
	return ok
}

// fromInt returns an int64, or a float64 if n does not fit.
func (s *state) fromInt(n *big.Int) any {
	if n.IsInt64() {
		return n.Int64()
	}
	return s.fromRational(new(big.Rat).SetInt(n))
}

// round rounds half away from zero to a number of decimals; to tens if that is negative.
func (s *state) round(v any, decimals int) any {
	v = toNumber(v)
	decimals = min(max(decimals, -400), 400)
	if isWhole(v) && decimals >= 0 {
		return v
	}
	n := scaleByPowerOf10(v, decimals)
	if decimals <= 0 {
		return s.fromInt(n.Mul(n, pow10(-decimals)))
	}
	return s.fromRational(new(big.Rat).SetFrac(n, pow10(decimals)))
}

// scaleByPowerOf10 returns v times ten to the power of decimals, rounded half away from
// zero.
func scaleByPowerOf10(v any, decimals int) *big.Int {
	r := rational(v)
	if decimals >= 0 {
		r.Mul(r, new(big.Rat).SetInt(pow10(decimals)))
	} else {
		r.Quo(r, new(big.Rat).SetInt(pow10(-decimals)))
	}
	negative := r.Sign() < 0
	n := floorRational(r.Abs(r).Add(r, big.NewRat(1, 2)))
	if negative {
		n.Neg(n)
	}
	return n
}

func pow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// formatFloat formats a float as Ruby does: with a decimal point, and without an exponent unless the
// number is very large or small.
func formatFloat(f float64) string {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return ""
	case f != 0 && (math.Abs(f) >= 1e21 || math.Abs(f) < 1e-9):
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
