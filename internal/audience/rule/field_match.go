package rule

import (
	"slices"
	"sort"
	"time"
)

func (f Field) match(env Env, s *Subject) bool {
	t, problem, _ := env.field(f.Name)
	op, negative := f.Operator.positive()
	holds := false
	switch {
	case t.place == elsewhere && t.kind != choiceKind:
		return f.other(t).match(env, s)
	case t.place == elsewhere:
		stage := s.Contact.Stage
		holds = !stage.IsZero() && (op == IsSet || slices.Contains(f.stages(env), stage))
	case problem == "":
		value := t.value(s)
		holds = value != nil && t.matcher(op, f.Value, env)(value)
	}
	return holds != negative
}

// matcher returns whether a positive operator holds for a value. What depends on the operator and its operand alone is made once,
// so that a value costs as much whatever the number of operands. Values of other types than the field's do not match.
func (t target) matcher(op Operator, v Value, env Env) func(value any) bool {
	switch t.kind {
	case numberKind:
		return numberMatcher(op, v)
	case booleanKind:
		return func(value any) bool {
			b, known := value.(bool)
			return known && (op == IsSet || b == (op == IsTrue || op == Equals && v.Bool))
		}
	case momentKind:
		return momentMatcher(op, v, env)
	case tagsKind:
		return tagsMatcher(op, v)
	}
	holds := func(string) bool { return true }
	if op != IsSet {
		holds = t.textMatcher(op, v, env)
	}
	return func(value any) bool {
		switch s := value.(type) {
		case string:
			return s != "" && holds(s)
		case *string:
			return s != nil && *s != "" && holds(*s)
		}
		return false
	}
}

// textMatcher is matcher for texts that are not empty.
func (t target) textMatcher(op Operator, v Value, env Env) func(s string) bool {
	switch t.kind {
	case dateKind:
		var holds func(day time.Time) bool
		if op == AnniversaryInNext {
			holds = anniversary(v.Span, env).holds
		} else {
			holds = days(op, v, env).holds
		}
		return func(s string) bool {
			day, err := time.Parse(time.DateOnly, s)
			return err == nil && holds(day)
		}
	case clockKind:
		return clockMatcher(op, v)
	case textKind:
		needles := make([]string, len(v.Texts))
		for i, s := range v.Texts {
			needles[i] = fold(s)
		}
		if op == Equals || op == In {
			equal := oneOf(needles)
			return func(s string) bool { return equal(fold(s)) }
		}
		return func(s string) bool {
			s = fold(s)
			return slices.ContainsFunc(needles, func(needle string) bool { return compare(op, s, needle) }) // there is one
		}
	}
	return oneOf(v.Texts)
}

// oneOf returns whether a value is one of a list.
func oneOf[T comparable](list []T) func(T) bool {
	if len(list) == 1 {
		return func(x T) bool { return x == list[0] }
	}
	set := make(map[T]bool, len(list))
	for _, x := range list {
		set[x] = true
	}
	return func(x T) bool { return set[x] }
}

func numberMatcher(op Operator, v Value) func(value any) bool {
	holds := func(n float64) bool { return compareNumbers(op, v.Numbers, n) }
	if op == In {
		holds = oneOf(v.Numbers)
	}
	return func(value any) bool {
		switch n := value.(type) {
		case int64:
			return holds(float64(n))
		case float64:
			return holds(n)
		}
		return false
	}
}

func compareNumbers(op Operator, with []float64, n float64) bool {
	switch op {
	case IsSet:
		return true
	case Between:
		return with[0] <= n && n <= with[1]
	case GreaterThan:
		return n > with[0]
	case GreaterOrEqual:
		return n >= with[0]
	case LessThan:
		return n < with[0]
	case LessOrEqual:
		return n <= with[0]
	}
	return n == with[0]
}

func momentMatcher(op Operator, v Value, env Env) func(value any) bool {
	var list []interval // in order, and apart
	if op != IsSet {
		list = intervals(op, v, env)
	}
	holds := func(at time.Time) bool {
		if op == IsSet {
			return true
		}
		i := sort.Search(len(list), func(i int) bool { return list[i].to.IsZero() || at.Before(list[i].to) })
		return i < len(list) && list[i].holds(at)
	}
	return func(value any) bool {
		switch at := value.(type) {
		case time.Time:
			return holds(at)
		case *time.Time:
			return at != nil && holds(*at)
		}
		return false
	}
}

func clockMatcher(op Operator, v Value) func(s string) bool {
	first, second := seconds(v.Texts[0]), ""
	if op == Between {
		second = seconds(v.Texts[1])
	}
	return func(s string) bool {
		s = seconds(s)
		switch {
		case op == Before:
			return s < first
		case op == After:
			return s > first
		case op == Between && first > second: // includes midnight
			return s >= first || s <= second
		case op == Between:
			return s >= first && s <= second
		}
		return s == first
	}
}

func tagsMatcher(op Operator, v Value) func(value any) bool {
	asked := oneOf(v.Texts)
	holds := func(have []string) bool {
		switch {
		case op == IsSet:
			return len(have) > 0
		case op == HasAll && len(v.Texts) > len(have): // the texts differ from each other
			return false
		case op == HasAll:
			return !slices.ContainsFunc(v.Texts, func(tag string) bool { return !slices.Contains(have, tag) })
		}
		return slices.ContainsFunc(have, asked)
	}
	return func(value any) bool {
		switch have := value.(type) {
		case []string:
			return holds(have)
		case []any:
			list := make([]string, 0, len(have))
			for _, e := range have {
				if tag, ok := e.(string); ok {
					list = append(list, tag)
				}
			}
			return holds(list)
		}
		return false
	}
}
