package rule

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

func (f Field) sql(b *builder) string {
	t, problem, _ := b.env.field(f.Name)
	if t.place == elsewhere {
		return f.delegate(b, t)
	}
	op, negative := f.Operator.positive()
	return b.unless(negative, func() string {
		if problem != "" {
			return never
		}
		return b.field(t, op, f.Value)
	})
}

// delegate renders a field that has a leaf type of its own, or is stored as an id.
func (f Field) delegate(b *builder, t target) string {
	if t.kind != choiceKind {
		return f.other(t).sql(b)
	}
	op, negative := f.Operator.positive()
	return b.unless(negative, func() string {
		if op == IsSet {
			return "c.stage_id IS NOT NULL"
		}
		stages := f.stages(b.env)
		if len(stages) == 0 {
			return never
		}
		return b.known(target{nullable: true}, "c.stage_id", "c.stage_id"+in(b, stages))
	})
}

// other returns the equivalent leaf.
func (f Field) other(t target) leaf {
	if t.kind == listKind {
		return List{Keys: f.Value.Texts, Operator: f.Operator}
	}
	if key, ok := strings.CutPrefix(f.Name, typePrefix); ok {
		return Subscription{TypeKey: key, Operator: f.Operator}
	}
	return Subscription{Category: id.Read[id.Category](strings.TrimPrefix(f.Name, categoryPrefix)), Operator: f.Operator}
}

// stages returns the existing stages among the field's values.
func (f Field) stages(env Env) []id.Stage {
	var list []id.Stage
	for _, s := range f.Value.Texts {
		if st, ok := env.stage(s); ok {
			list = append(list, st.ID)
		}
	}
	return list
}

// field renders a positive operator as a predicate that is not NULL if b.denied.
func (b *builder) field(t target, op Operator, v Value) string {
	if t.place == ofActivity || t.place == ofTouch {
		b.activity = true
	}
	if t.place != ofDomain {
		return b.test(t, op, v)
	}
	denied := b.denied
	b.denied = false // a subquery in IN yields no row for NULL
	defer func() { b.denied = denied }()
	return "c.email_domain IN (SELECT d.domain FROM mail_domain AS d WHERE " + b.test(t, op, v) + ")"
}

func (b *builder) test(t target, op Operator, v Value) string {
	switch t.kind {
	case textKind:
		return b.text(t, op, v)
	case numberKind:
		return b.number(t, op, v)
	case booleanKind:
		return b.boolean(t, op, v)
	case dateKind:
		return b.day(t, op, v)
	case momentKind:
		return b.moment(t, op, v)
	case clockKind:
		return b.clock(t, op, v)
	case tagsKind:
		return b.tags(t, op, v)
	}
	x := b.string(t)
	switch {
	case t.kind == referenceKind && t.place != ofCustom:
		return b.key(x, op, v)
	case op == IsSet:
		return b.known(t, x, x+" <> ''")
	}
	return b.known(t, x, x+in(b, v.Texts))
}

// key compares an id column that is never NULL.
func (b *builder) key(x string, op Operator, v Value) string {
	switch {
	case op == IsSet:
		return x + " IS NOT NULL"
	case x == "c.tenant_id":
		tests := make([]string, len(v.Texts))
		for i, s := range v.Texts {
			tests[i] = x + " = " + b.arg(id.ReadTenant(s)) // an invalid value becomes 0, which is no tenant's id
		}
		return "(" + strings.Join(tests, " OR ") + ")"
	}
	ids := make([]id.Contact, len(v.Texts))
	for i, s := range v.Texts {
		ids[i] = id.Read[id.Contact](s)
	}
	return x + in(b, ids)
}

// string renders the text of a field, or of a reference.
func (b *builder) string(t target) string {
	switch t.place {
	case ofCustom:
		return b.db.JSONText("c.custom_fields", t.name)
	case ofTouch:
		return b.db.JSONText("a.touch", t.name)
	}
	return t.column()
}

func (t target) column() string {
	switch t.place {
	case ofActivity:
		return contact.ActivityColumn(t.name)
	case ofDomain:
		return "d." + t.name
	}
	return "c." + t.name
}

// known turns a predicate over a field's value x from NULL into false. Outside a negation it is
// left unchanged, so that an index can serve it.
func (b *builder) known(t target, x, predicate string) string {
	switch {
	case !b.denied:
	case t.place == ofCustom || t.place == ofTouch:
		return "COALESCE(" + predicate + ", FALSE)"
	case t.nullable:
		return "(" + x + " IS NOT NULL AND " + predicate + ")"
	}
	return "(" + predicate + ")"
}

func (b *builder) text(t target, op Operator, v Value) string {
	x := b.string(t)
	if op == IsSet {
		return b.known(t, x, x+" <> ''")
	}
	raw := x
	folded := make([]string, len(v.Texts))
	for i, s := range v.Texts {
		folded[i] = fold(s)
	}
	switch {
	case t.lower:
	case t.place == ofDomain: // d is not visible outside the subquery, so fold here
		x = b.fold(x, folded)
	default:
		x = b.folded(x, folded)
	}
	switch op {
	case Equals, In:
		return b.known(t, raw, x+in(b, folded))
	case Contains:
		return b.known(t, raw, b.contains(x, folded[0]))
	}
	return b.known(t, raw, x+" LIKE "+b.arg(pattern(op, folded[0]))+` ESCAPE '\'`)
}

func (b *builder) number(t target, op Operator, v Value) string {
	x := t.column()
	switch {
	case t.place == ofCustom:
		x = b.db.JSONNumber("c.custom_fields", t.name)
	case t.whole: // compare an integer column with any number
		x = "CAST(" + x + " AS DOUBLE PRECISION)"
	}
	compare := ""
	switch op {
	case IsSet:
		return x + " IS NOT NULL"
	case In:
		return b.known(t, x, x+b.db.In(b.place(sqldb.Numbers(b.db, v.Numbers))))
	case Between:
		return b.known(t, x, x+" BETWEEN "+b.arg(v.Numbers[0])+" AND "+b.arg(v.Numbers[1]))
	case GreaterThan:
		compare = " > "
	case GreaterOrEqual:
		compare = " >= "
	case LessThan:
		compare = " < "
	case LessOrEqual:
		compare = " <= "
	default:
		compare = " = "
	}
	return b.known(t, x, x+compare+b.arg(v.Numbers[0]))
}

func (b *builder) boolean(t target, op Operator, v Value) string {
	x := t.column()
	if t.place == ofCustom {
		x = b.db.JSONBool("c.custom_fields", t.name)
	}
	switch {
	case op == IsSet:
		return x + " IS NOT NULL"
	case op == IsTrue, op == Equals && v.Bool:
		return b.known(t, x, x)
	}
	return b.known(t, x, "NOT "+x)
}

// day tests a field of dates, stored as YYYY-MM-DD.
func (b *builder) day(t target, op Operator, v Value) string {
	x := b.db.Bytewise(b.string(t))
	switch op {
	case IsSet:
		return b.known(t, x, x+" <> ''")
	case AnniversaryInNext:
		s := anniversary(v.Span, b.env)
		p := x + " < " + b.arg(dayText(s.before))
		if !s.whole {
			join := " AND "
			if s.from > s.to {
				join = " OR "
			}
			md := "substr(" + x + ", 6, 5)"
			p += " AND (" + md + " >= " + b.arg(s.from) + join + md + " <= " + b.arg(s.to) + ")"
		}
		return b.known(t, x, p+" AND "+x+" <> ''")
	}
	return b.known(t, x, b.within(x, days(op, v, b.env), func(at time.Time) any { return dayText(at) })+" AND "+x+" <> ''")
}

// moment tests a field of times: microseconds in a column, a number in touch, text in UTC with
// milliseconds in a custom field.
func (b *builder) moment(t target, op Operator, v Value) string {
	switch t.place {
	case ofCustom:
		return ranges(b, t, b.db.Bytewise(b.string(t)), "TEXT", op, v, momentText)
	case ofTouch:
		return ranges(b, t, b.db.JSONNumber("a.touch", t.name), "DOUBLE PRECISION", op, v, func(at time.Time) float64 { return float64(sqldb.Micros(at)) })
	}
	p := ranges(b, t, t.column(), "BIGINT", op, v, sqldb.Micros)
	if t.place == ofContact && t.name == "created_at" {
		if more := b.made(op, v); more != "" {
			return "(" + p + more + ")"
		}
	}
	return p
}

// made adds a range of ids to a range of created_at. Contact ids are UUIDv7 generated at
// created_at, so the primary key serves it.
func (b *builder) made(op Operator, v Value) string {
	if op == IsSet {
		return ""
	}
	list := intervals(op, v, b.env)
	if len(list) != 1 {
		return ""
	}
	p := ""
	if from := list[0].from; !from.IsZero() {
		p += " AND c.id >= " + b.arg(id.FirstAt[id.Contact](from))
	}
	if to := list[0].to; !to.IsZero() {
		p += " AND c.id < " + b.arg(id.FirstAt[id.Contact](to.Add(time.Millisecond)))
	}
	return p
}

// ranges tests an expression whose type is the result of encode.
func ranges[T int64 | float64 | string](b *builder, t target, x, typ string, op Operator, v Value, encode func(time.Time) T) string {
	if op == IsSet {
		return x + " IS NOT NULL"
	}
	return b.known(t, x, inAny(b, x, typ, intervals(op, v, b.env), encode))
}

// inAny tests whether an expression is in one of several intervals.
func inAny[T int64 | float64 | string](b *builder, x, typ string, list []interval, encode func(time.Time) T) string {
	if len(list) == 1 {
		return b.within(x, list[0], func(at time.Time) any { return encode(at) })
	}
	bounds := make([]T, 0, 2*len(list)) // anniversaries, which have both bounds
	for _, i := range list {
		bounds = append(bounds, encode(i.from), encode(i.to))
	}
	return b.db.InRanges(x, b.place(sqldb.Bounds(b.db, bounds)), typ)
}

// within tests whether an expression is in an interval.
func (b *builder) within(x string, i interval, encode func(time.Time) any) string {
	var tests []string
	if !i.from.IsZero() {
		tests = append(tests, x+" >= "+b.arg(encode(i.from)))
	}
	if !i.to.IsZero() {
		tests = append(tests, x+" < "+b.arg(encode(i.to)))
	}
	return strings.Join(tests, " AND ")
}

// dayText returns a date as stored. Dates outside the years that can be stored become texts that
// sort before or after all stored ones.
func dayText(day time.Time) string {
	switch y := day.Year(); {
	case y < 0:
		return ""
	case y > 9999:
		return ":"
	}
	return day.Format(time.DateOnly)
}

// storedMoment is the layout of times in custom fields, in UTC.
const storedMoment = "2006-01-02T15:04:05.000Z"

// momentText returns the first storable text that is not before at.
func momentText(at time.Time) string {
	at = at.UTC().Add(time.Millisecond - 1).Truncate(time.Millisecond)
	switch y := at.Year(); {
	case y < 1:
		return ""
	case y > 9999:
		return ":"
	}
	return at.Format(storedMoment)
}

func (b *builder) clock(t target, op Operator, v Value) string {
	x := b.string(t)
	if op == IsSet {
		return b.known(t, x, x+" <> ''")
	}
	guard := x + " <> '' AND "
	x = b.db.Bytewise("substr(" + x + " || ':00', 1, 8)")
	first := b.arg(seconds(v.Texts[0]))
	var p string
	switch op {
	case Before:
		p = x + " < " + first
	case After:
		p = x + " > " + first
	case Between:
		join := " AND "
		if seconds(v.Texts[0]) > seconds(v.Texts[1]) { // includes midnight
			join = " OR "
		}
		p = "(" + x + " >= " + first + join + x + " <= " + b.arg(seconds(v.Texts[1])) + ")"
	default:
		p = x + " = " + first
	}
	return b.known(t, x, guard+p)
}

// seconds returns a time of day as HH:MM:SS. Other texts are cut to its length.
func seconds(s string) string {
	s += ":00"
	return s[:min(len(s), len(time.TimeOnly))]
}

func (b *builder) tags(t target, op Operator, v Value) string {
	x := t.column()
	if t.place == ofCustom {
		x = "c.custom_fields -> '" + t.name + "'"
	}
	if op == IsSet {
		return b.known(t, x, x+" <> '[]'")
	}
	if op == HasAny {
		return b.known(t, x, b.db.AnyElement(x, b.place(sqldb.List(b.db, v.Texts))))
	}
	all, err := json.Marshal(v.Texts)
	if err != nil { // strings always encode
		panic("rule: " + err.Error())
	}
	return b.known(t, x, b.db.JSONContains("("+x+")", b.place(string(all))))
}

// joined combines predicates. Many of them are nested as a balanced tree, because databases limit
// the depth of expressions.
func joined(tests []string, logic Logic) string {
	word := " AND "
	if logic == Or {
		word = " OR "
	}
	switch n := len(tests); {
	case n == 0 && logic == Or:
		return never
	case n == 0:
		return always
	case n == 1:
		return tests[0]
	case n > 8:
		return "(" + joined(slices.Clone(tests[:n/2]), logic) + word + joined(tests[n/2:], logic) + ")"
	}
	return "(" + strings.Join(tests, word) + ")"
}
