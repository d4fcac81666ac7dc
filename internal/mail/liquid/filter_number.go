package liquid

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"
)

func abs(s *state, in any, _ []any) any {
	switch n := toNumber(in).(type) {
	case int64:
		if n < 0 {
			return s.arithmetic('-', int64(0), n)
		}
		return n
	case float64:
		return math.Abs(n)
	}
	return int64(0)
}

func atLeast(_ *state, in any, args []any) any {
	a, b := toNumber(in), toNumber(args[0])
	if order, _ := compareNumbers(a, b); order < 0 {
		return b
	}
	return a
}

func atMost(_ *state, in any, args []any) any {
	a, b := toNumber(in), toNumber(args[0])
	if order, _ := compareNumbers(a, b); order > 0 {
		return b
	}
	return a
}

func floor(s *state, in any, _ []any) any {
	return s.fromInt(floorRational(rational(toNumber(in))))
}

func ceil(s *state, in any, _ []any) any {
	r := rational(toNumber(in))
	n := floorRational(r.Neg(r))
	return s.fromInt(n.Neg(n))
}

func roundFilter(s *state, in any, args []any) any {
	return s.round(in, int(toInt(argument(args, 0))))
}

func plus(s *state, in any, args []any) any         { return s.arithmetic('+', in, args[0]) }
func minus(s *state, in any, args []any) any        { return s.arithmetic('-', in, args[0]) }
func times(s *state, in any, args []any) any        { return s.arithmetic('*', in, args[0]) }
func dividedBy(s *state, in any, args []any) any    { return s.divide(in, args[0]) }
func moduloFilter(s *state, in any, args []any) any { return s.modulo(in, args[0]) }

// money prints an amount in a currency: with the sign of well-known ones, otherwise with the code after
// it. A nil stays nil.
func money(s *state, in any, args []any) any {
	code := s.text(args[0])
	if err := checkCurrency(code); err != nil {
		return s.fail("%s", err)
	}
	if in == nil || in == "" {
		return nil
	}
	amount := decimal(toNumber(in), minorDigits(code))
	symbol := ""
	switch code {
	case "EUR":
		symbol = "€"
	case "USD":
		symbol = "$"
	case "GBP":
		symbol = "£"
	case "JPY":
		symbol = "¥"
	default:
		return amount + " " + code
	}
	if number, negative := strings.CutPrefix(amount, "-"); negative {
		return "-" + symbol + number
	}
	return symbol + amount
}

// prepareMoney checks a currency that is a literal in the template.
func prepareMoney(args []expr, _ map[string]*time.Location) error {
	l, ok := args[0].(literal)
	if !ok {
		return nil
	}
	code, _ := l.v.(string)
	return checkCurrency(code)
}

func checkCurrency(code string) error {
	if len(code) != 3 || strings.ContainsFunc(code, func(c rune) bool { return c < 'A' || c > 'Z' }) {
		return fmt.Errorf(`money takes a currency such as "EUR"`)
	}
	return nil
}

// minorDigits returns the number of decimals of a currency (ISO 4217).
func minorDigits(code string) int {
	switch code {
	case "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF",
		"UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF":
		return 0
	case "BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND":
		return 3
	case "CLF", "UYW":
		return 4
	}
	return 2
}

// decimal formats a number with a fixed number of decimals.
func decimal(n any, decimals int) string {
	return new(big.Rat).SetFrac(scaleByPowerOf10(n, decimals), pow10(decimals)).FloatString(decimals)
}
