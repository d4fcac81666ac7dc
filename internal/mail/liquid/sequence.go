package liquid

import (
	"maps"
	"math"
	"slices"
)

// span is the range (low..high). Its numbers are generated one at a time.
type span struct{ low, high int64 }

func (r span) len() int {
	if r.high < r.low {
		return 0
	}
	n := uint64(r.high) - uint64(r.low)
	if n >= math.MaxInt {
		return math.MaxInt
	}
	return int(n) + 1
}

// sequence is what a loop iterates over: elements, the numbers of a range, or the fields of an object as
// pairs of name and value.
type sequence struct {
	items  []any
	span   span
	isSpan bool
	names  []string
	object any
}

// sequence returns the value as a list. A text is a list with one element; other values that are not
// lists are empty lists.
func (s *state) sequence(v any) sequence {
	switch v := v.(type) {
	case []any:
		return sequence{items: v}
	case span:
		return sequence{span: v, isSpan: true}
	case string:
		if v != "" {
			return sequence{items: []any{v}}
		}
	case Raw:
		if v != "" {
			return sequence{items: []any{v}}
		}
	case map[string]any:
		if s.chargeElements(len(v)) {
			return sequence{names: slices.Sorted(maps.Keys(v)), object: v}
		}
	case Object:
		if names := v.Names(); s.chargeElements(len(names)) {
			return sequence{names: names, object: v}
		}
	}
	return sequence{}
}

func (q sequence) len() int {
	if q.isSpan {
		return q.span.len()
	}
	return max(len(q.items), len(q.names))
}

func (q sequence) at(s *state, i int) any {
	switch {
	case q.isSpan:
		return q.span.low + int64(i)
	case q.object != nil:
		return []any{q.names[i], s.field(q.object, q.names[i], false)}
	}
	return s.normalize(q.items[i])
}

// list returns a value for filters on lists: nested lists are flattened, a single value is a list of
// one, nil is an empty list. The result may be the value itself and must not be changed.
func (s *state) list(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		if !s.tick(len(v)) {
			return nil
		}
		if !slices.ContainsFunc(v, isList) {
			return v
		}
		return s.flatten(nil, v)
	case span:
		n := v.len()
		if !s.chargeElements(n) {
			return nil
		}
		items := make([]any, n)
		for i := range items {
			items[i] = v.low + int64(i)
		}
		return items
	}
	if !s.chargeElements(1) {
		return nil
	}
	return []any{v}
}

func (s *state) flatten(dst, list []any) []any {
	if !s.enterNested() || !s.chargeElements(len(list)) {
		return dst
	}
	defer s.leaveNested()
	for _, item := range list {
		if item = s.normalize(item); isList(item) {
			dst = s.flatten(dst, item.([]any))
		} else {
			dst = append(dst, item)
		}
	}
	return dst
}

func isList(v any) bool {
	switch v.(type) {
	case []any:
		return true
	case nil, bool, int64, float64, string, Raw, map[string]any, Drop:
		return false
	}
	return false
}
