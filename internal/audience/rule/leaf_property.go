package rule

import (
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// propertyTest is a Property evaluated at a time. It passes if any value at the path passes any of
// these tests. Each test applies to values of one type, so the type of the value found determines
// the comparison.
type propertyTest struct {
	deny    bool // negate the result
	any     bool // any value passes
	texts   []string
	match   Operator // operator for texts
	numbers []float64
	ranges  []bound
	bools   []bool
	moments []interval // for strings that are a date and time
	days    *interval  // for strings that are a date, at 00:00 UTC
	season  *season    // likewise
}

// bound is a comparison with a number.
type bound struct {
	operator string // in SQL
	n        float64
}

func (b bound) holds(v float64) bool {
	switch b.operator {
	case ">":
		return v > b.n
	case ">=":
		return v >= b.n
	case "<":
		return v < b.n
	}
	return v <= b.n
}

var bounds = map[Operator]string{GreaterThan: ">", GreaterOrEqual: ">=", LessThan: "<", LessOrEqual: "<="}

// propertyTest evaluates a Property at the time of env.
func (p Property) propertyTest(env Env) propertyTest {
	op, deny := p.Operator.positive()
	q := propertyTest{deny: deny, match: op}
	switch v := p.Value.(type) {
	case nil:
		q.any = op == IsSet
		if op == IsTrue || op == IsFalse {
			q.bools = []bool{op == IsTrue}
		}
	case string:
		q.texts = []string{fold(v)}
	case bool:
		q.bools = []bool{v}
	case float64:
		if operator, ok := bounds[op]; ok {
			q.ranges = []bound{{operator, v}}
		} else {
			q.numbers = []float64{v}
		}
	case []any:
		q.match = Equals
		for _, e := range v {
			switch e := e.(type) {
			case string:
				q.texts = append(q.texts, fold(e))
			case float64:
				q.numbers = append(q.numbers, e)
			case bool:
				q.bools = append(q.bools, e)
			}
		}
	case []float64:
		q.ranges = []bound{{">=", v[0]}, {"<=", v[1]}}
	case Date:
		q.times(op, Value{Dates: []Date{v}}, env)
	case []Date:
		q.times(op, Value{Dates: v}, env)
	case Span:
		q.times(op, Value{Span: v}, env)
	}
	return q
}

func (q *propertyTest) times(op Operator, v Value, env Env) {
	q.moments = intervals(op, v, env)
	if op == AnniversaryInNext {
		q.season = new(anniversary(v.Span, env))
		return
	}
	q.days = new(days(op, v, env))
}

// path is the path of the property in the data of an event.
func (p Property) path() []string {
	return append([]string{"properties"}, strings.Split(p.Path, ".")...)
}

// sql tests the event in row x of journal.
func (p Property) sql(b *builder) string {
	q := p.propertyTest(b.env)
	from := b.db.JSONPath("x.data", p.path(), "v", b.arg)
	passes := "EXISTS (SELECT 1 FROM " + from + " WHERE " + q.sql(b) + ")"
	if q.moments != nil { // parse the value once and compare it with several bounds
		passes = "EXISTS (WITH v AS MATERIALIZED (SELECT day_of(v.text) AS day, moment_of(v.text) AS moment FROM " + from + " WHERE v.kind = 'string')" +
			" SELECT 1 FROM v WHERE " + q.timesSQL(b) + ")"
	}
	if q.deny {
		return not(passes)
	}
	return passes
}

// sql tests a value v with columns kind, text and number.
func (q propertyTest) sql(b *builder) string {
	if q.any {
		return always
	}
	var or []string
	if len(q.texts) > 0 {
		or = append(or, "v.kind = 'string' AND "+b.textual("v.text", q.match, q.texts...))
	}
	for _, n := range q.numbers {
		or = append(or, "v.kind = 'number' AND v.number = "+b.double(n))
	}
	if len(q.ranges) > 0 {
		var within strings.Builder
		within.WriteString("v.kind = 'number'")
		for _, r := range q.ranges {
			within.WriteString(" AND v.number " + r.operator + " " + b.double(r.n))
		}
		or = append(or, within.String())
	}
	for _, is := range q.bools {
		literal := "'false'"
		if is {
			literal = "'true'"
		}
		or = append(or, "v.kind = 'boolean' AND v.text = "+literal)
	}
	return joined(or, Or)
}

// double adds a number as a parameter of type double.
func (b *builder) double(n float64) string { return "CAST(" + b.arg(n) + " AS DOUBLE PRECISION)" }

// timesSQL tests a value v that is a date or a time, but never both.
func (q propertyTest) timesSQL(b *builder) string {
	var or []string
	day := b.db.Bytewise("v.day")
	if q.days != nil {
		or = append(or, b.within(day, *q.days, func(t time.Time) any { return dayText(t) })+" AND v.day IS NOT NULL")
	}
	if q.season != nil {
		or = append(or, q.season.within(b, day)+" AND v.day IS NOT NULL")
	}
	return joined(append(or, inAny(b, "v.moment", "BIGINT", q.moments, sqldb.Micros)+" AND v.moment IS NOT NULL"), Or)
}

// within tests an expression that is a date as text.
func (s season) within(b *builder, x string) string {
	past := x + " < " + b.arg(dayText(s.before))
	if s.whole {
		return past
	}
	logic := And
	if s.from > s.to {
		logic = Or
	}
	monthDay := "substr(" + x + ", 6)"
	return past + " AND " + joined([]string{monthDay + " >= " + b.arg(s.from), monthDay + " <= " + b.arg(s.to)}, logic)
}

// textual applies a positive text operator to an expression that is not NULL, ignoring case; the
// texts are folded.
func (b *builder) textual(x string, op Operator, folded ...string) string {
	x = b.db.Lower(x)
	if from, to := variants(folded); from != "" {
		x = "translate(" + x + ", " + b.arg(from) + ", " + b.arg(to) + ")"
	}
	switch op {
	case Contains, StartsWith, EndsWith:
		return x + " LIKE " + b.arg(pattern(op, folded[0])) + ` ESCAPE '\'`
	}
	return x + in(b, folded)
}

// holds tests the decoded properties of an event.
func (p Property) holds(env Env, properties map[string]any) bool {
	q := p.propertyTest(env)
	found := sqldb.FindJSONPath(map[string]any{"properties": properties}, p.path())
	return slices.ContainsFunc(found, func(v any) bool { return q.passes(env, v) }) != q.deny
}

func (q propertyTest) passes(env Env, v any) bool {
	if q.any {
		return true
	}
	switch v := v.(type) {
	case string:
		return q.passesText(env, v)
	case float64:
		return slices.Contains(q.numbers, v) || len(q.ranges) > 0 && !slices.ContainsFunc(q.ranges, func(b bound) bool { return !b.holds(v) })
	case bool:
		return slices.Contains(q.bools, v)
	}
	return false
}

func (q propertyTest) passesText(env Env, s string) bool {
	folded := fold(s)
	if slices.ContainsFunc(q.texts, func(t string) bool { return compare(q.match, folded, t) }) {
		return true
	}
	if text, ok := sqldb.ParseDay(s); ok {
		day, _ := time.Parse(time.DateOnly, text)
		return q.days != nil && q.days.holds(day) || q.season != nil && q.season.holds(day)
	}
	at, ok := sqldb.ParseMoment(s)
	return ok && slices.ContainsFunc(q.moments, func(i interval) bool { return i.holds(sqldb.Time(at)) })
}
