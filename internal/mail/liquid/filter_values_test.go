package liquid

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// uncomparable is a Drop that cannot be compared by ==.
type uncomparable []string

func (u uncomparable) Field(string) any { return u }

// TestFiltersTakeAnything gives every filter every kind of value: it may fail,
// but it must not panic, nor go on when its budget is used up.
func TestFiltersTakeAnything(t *testing.T) {
	if testing.Short() {
		t.Skip("this takes long under the race detector")
	}
	t.Parallel()
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	values := []any{
		nil, true, false, int64(0), int64(-1), int64(3), int64(math.MaxInt64), int64(math.MinInt64),
		0.5, -2.0, math.MaxFloat64, math.SmallestNonzeroFloat64, math.NaN(), math.Inf(1), math.Inf(-1),
		"", " ", "a b", "-7", "1.5", "EUR", "\xff\xfe", "<p>größe</p>", "%Y%-d%", strings.Repeat("9", 400),
		Raw("<b>&amp;</b>"), now, zoned{now}, span{1, 3}, span{math.MinInt64, math.MaxInt64}, emptyValue, blankValue,
		[]any{}, []any{nil, "b", "a"}, []any{int64(2), 1.5}, []any{true, "x", []any{int64(1), []any{nil}}},
		[]any{map[string]any{"k": "v"}, map[string]any{}}, map[string]any{"k": nil, "a b": []any{}}, uncomparable{"x"},
		[]any{uncomparable{"x"}, uncomparable{"x"}}, time.UTC,
	}
	for name, f := range filters {
		for i, in := range values {
			for j, first := range values {
				for k, second := range values {
					if k > 0 && (i+j+k)%4 != 0 {
						continue // a quarter of the combinations
					}
					s := &state{
						ctx: t.Context(), env: Values{At: now}, html: second == nil, line: 1,
						budget: NewBudget(Limits{Work: 1 << 14, Time: time.Minute}),
					}
					s.start()
					args := []any{first, second}[:f.max]
					out := f.apply(s, in, args)
					s.print(out)
					if _, ok := errors.AsType[*RenderError](s.err); s.err != nil && !ok && !errors.Is(s.err, ErrLimit) {
						t.Fatalf("%v | %s: %v gave the error %v", in, name, args, s.err)
					}
					if f.max < 2 {
						break
					}
				}
				if f.max < 1 {
					break
				}
			}
		}
	}
}

// TestValuesCompareWithAnything does the same for the operators.
func TestValuesCompareWithAnything(t *testing.T) {
	t.Parallel()
	values := []any{nil, true, int64(1), 1.0, "1", Raw("1"), time.Time{}, span{1, 1}, emptyValue, []any{int64(1)}, map[string]any{"1": nil}, uncomparable{}}
	s := &state{ctx: t.Context(), env: Values{}, budget: NewBudget(Limits{Time: time.Minute}), line: 1}
	s.start()
	for i, a := range values {
		for j, b := range values {
			equal := s.equal(a, b)
			if equal != s.equal(b, a) {
				t.Errorf("%v == %v, but not the other way round", a, b)
			}
			if _, ok := a.(uncomparable); i == j && !equal && !ok {
				t.Errorf("%v is not equal to itself", a)
			}
			s.compare(a, b)
			s.contains(a, b)
			s.index(a, b)
		}
	}
}
