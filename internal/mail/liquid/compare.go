package liquid

import (
	"reflect"
	"slices"
	"strings"
	"time"
)

// equal is the operator ==.
func (s *state) equal(a, b any) bool {
	if word, ok := a.(special); ok {
		return s.equalSpecial(word, b)
	}
	if word, ok := b.(special); ok {
		return s.equalSpecial(word, a)
	}
	switch x := a.(type) {
	case nil, bool:
		return a == b
	case int64, float64:
		order, ok := compareNumbers(a, b)
		return ok && order == 0
	case string, Raw:
		if kindOf(b) != "a text" {
			return false
		}
		left, right := s.text(a), s.text(b)
		return len(left) == len(right) && s.tick(len(left)) && left == right
	case time.Time, zoned:
		left, _ := timeOf(a)
		right, ok := timeOf(b)
		return ok && left.Equal(right)
	case span:
		return a == b
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) || !s.enterNested() {
			return false
		}
		defer s.leaveNested()
		for i := range x {
			if !s.tick(nodeCost) || !s.equal(s.normalize(x[i]), s.normalize(y[i])) {
				return false
			}
		}
		return true
	case map[string]any, Object:
		return s.equalObjects(a, b)
	}
	return b != nil && reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

func (s *state) equalObjects(a, b any) bool {
	switch b.(type) {
	case map[string]any, Object:
	default:
		return false
	}
	x, y := s.sequence(a), s.sequence(b)
	if x.len() != y.len() || !s.enterNested() {
		return false
	}
	defer s.leaveNested()
	for _, name := range x.names {
		left, right := s.field(a, name, false), s.field(b, name, false)
		if !s.tick(nodeCost) || !s.equal(left, right) {
			return false
		}
	}
	return true
}

// equalSpecial reports whether v is empty or blank.
func (s *state) equalSpecial(word special, v any) bool {
	switch v := v.(type) {
	case special:
		return v == word
	case nil:
		return word == blankValue
	case bool:
		return word == blankValue && !v
	case string:
		return v == "" || word == blankValue && s.tick(len(v)) && strings.TrimFunc(v, isSpace) == ""
	case Raw:
		return s.equalSpecial(word, string(v))
	case []any, map[string]any, Object:
		return s.sequence(v).len() == 0
	}
	return false
}

// compare orders two values of one kind; ok is false if they have no order. A date can also be compared
// with a text that the date filter accepts.
func (s *state) compare(a, b any) (order int, ok bool) {
	ka, kb := kindOf(a), kindOf(b)
	switch {
	case ka == "a number" && kb == "a number":
		return compareNumbers(a, b)
	case ka == "a text" && kb == "a text":
		left, right := s.text(a), s.text(b)
		s.tick(min(len(left), len(right)))
		return strings.Compare(left, right), true
	case ka == "a date" || kb == "a date":
		left, okLeft := s.date(a)
		right, okRight := s.date(b)
		return left.Compare(right), okLeft && okRight
	}
	return 0, false
}

// contains is the operator contains.
func (s *state) contains(v, part any) bool {
	if !truthy(part) {
		return false
	}
	switch v := v.(type) {
	case string:
		text := s.text(part)
		return s.tick(len(v)) && strings.Contains(v, text)
	case Raw:
		return s.contains(string(v), part)
	case []any:
		for _, item := range v {
			if s.equal(s.normalize(item), part) {
				return true
			}
			if !s.tick(nodeCost) {
				return false
			}
		}
	case span:
		n, ok := part.(int64)
		return ok && v.low <= n && n <= v.high
	case map[string]any:
		text := s.text(part)
		_, ok := v[text]
		return s.tick(len(text)) && ok
	case Object:
		text := s.text(part)
		if s.tick(len(text)) && slices.Contains(v.Names(), text) {
			return true
		}
	case Drop:
		return v.Field(s.text(part)) != nil
	}
	return false
}

func timeOf(v any) (time.Time, bool) {
	switch v := v.(type) {
	case time.Time:
		return v, true
	case zoned:
		return v.Time, true
	}
	return time.Time{}, false
}
