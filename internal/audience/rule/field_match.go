package rule

import (
	"slices"
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
		holds = t.matches(op, f.Value, env, t.value(s))
	}
	return holds != negative
}

// matches evaluates a positive operator on a value.
func (t target) matches(op Operator, v Value, env Env, value any) bool {
	switch value := value.(type) {
	case nil:
		return false
	case *string:
		return value != nil && t.matchesText(op, v, env, *value)
	case string:
		return t.matchesText(op, v, env, value)
	case int64:
		return matchesNumber(op, v, float64(value))
	case float64:
		return matchesNumber(op, v, value)
	case bool:
		return op == IsSet || value == (op == IsTrue || op == Equals && v.Bool)
	case time.Time:
		return matchesMoment(op, v, env, value)
	case *time.Time:
		return value != nil && matchesMoment(op, v, env, *value)
	case []string:
		return matchesTags(op, v, value)
	case []any:
		list := make([]string, 0, len(value))
		for _, e := range value {
			if tag, ok := e.(string); ok {
				list = append(list, tag)
			}
		}
		return matchesTags(op, v, list)
	}
	return false
}

func (t target) matchesText(op Operator, v Value, env Env, s string) bool {
	switch {
	case s == "":
		return false
	case op == IsSet:
		return true
	}
	switch t.kind {
	case dateKind:
		day, err := time.Parse(time.DateOnly, s)
		if err != nil {
			return false
		}
		if op == AnniversaryInNext {
			return anniversary(v.Span, env).holds(day)
		}
		return days(op, v, env).holds(day)
	case clockKind:
		return matchesClock(op, v, seconds(s))
	case textKind:
		s = fold(s)
		return slices.ContainsFunc(v.Texts, func(needle string) bool { return compare(op, s, fold(needle)) })
	}
	return slices.Contains(v.Texts, s)
}

func matchesNumber(op Operator, v Value, n float64) bool {
	switch op {
	case IsSet:
		return true
	case In:
		return slices.Contains(v.Numbers, n)
	case Between:
		return v.Numbers[0] <= n && n <= v.Numbers[1]
	case GreaterThan:
		return n > v.Numbers[0]
	case GreaterOrEqual:
		return n >= v.Numbers[0]
	case LessThan:
		return n < v.Numbers[0]
	case LessOrEqual:
		return n <= v.Numbers[0]
	}
	return n == v.Numbers[0]
}

func matchesMoment(op Operator, v Value, env Env, at time.Time) bool {
	return op == IsSet || slices.ContainsFunc(intervals(op, v, env), func(i interval) bool { return i.holds(at) })
}

func matchesClock(op Operator, v Value, s string) bool {
	first := seconds(v.Texts[0])
	switch op {
	case Before:
		return s < first
	case After:
		return s > first
	case Between:
		second := seconds(v.Texts[1])
		if first > second { // includes midnight
			return s >= first || s <= second
		}
		return s >= first && s <= second
	}
	return s == first
}

func matchesTags(op Operator, v Value, have []string) bool {
	has := func(tag string) bool { return slices.Contains(have, tag) }
	switch op {
	case IsSet:
		return len(have) > 0
	case HasAll:
		return !slices.ContainsFunc(v.Texts, func(tag string) bool { return !has(tag) })
	}
	return slices.ContainsFunc(v.Texts, has)
}
