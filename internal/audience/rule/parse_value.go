package rule

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/calendar"
)

// whole parses a required integer within limits.
func (p *parser) whole(n *node, path string, least, most int) int {
	if n == nil {
		p.add(path, "required")
		return 0
	}
	num, ok := n.value.(json.Number)
	if !ok {
		p.add(path, "must be a number")
		return 0
	}
	f, err := strconv.ParseFloat(num.String(), 64)
	if err != nil || f != math.Trunc(f) || f < float64(least) || f > float64(most) {
		p.add(path, "must be a whole number from %d to %d", least, most)
		return 0
	}
	return int(f)
}

// number parses a number.
func (p *parser) number(n *node, path string) float64 {
	num, ok := n.value.(json.Number)
	if !ok {
		p.add(path, "must be a number")
		return 0
	}
	f, err := strconv.ParseFloat(num.String(), 64)
	if err != nil {
		p.add(path, "is too large a number")
		return 0
	}
	if f == 0 { // -0 becomes 0
		return 0
	}
	return f
}

// window parses {"in_the_last": span} or {"from", "to"}; nil if absent.
func (l leafReader) window(member string) *Window {
	n := l.n.member(member)
	if n == nil {
		return nil
	}
	path := l.path + "." + member
	if n.object == nil {
		l.add(path, `must be an object: {"in_the_last": {amount, unit}} or {"from", "to"}`)
		return nil
	}
	l.only(n, path, "in_the_last", "from", "to")
	last, from, to := n.member("in_the_last"), n.member("from"), n.member("to")
	if last != nil {
		if from != nil || to != nil {
			l.add(path, "has either in_the_last, or from and to")
		}
		return &Window{InTheLast: new(l.span(last, path+".in_the_last"))}
	}
	if from == nil && to == nil {
		return nil
	}
	w := &Window{}
	if from != nil {
		w.From = new(l.date(from, path+".from"))
	}
	if to != nil {
		w.To = new(l.date(to, path+".to"))
	}
	if from != nil && to != nil && w.From.after(*w.To) {
		l.add(path, "from must not be after to")
	}
	return w
}

// span parses {"amount", "unit"}.
func (p *parser) span(n *node, path string) Span {
	if n.object == nil {
		p.add(path, `must be an object such as {"amount": 30, "unit": "day"}`)
		return Span{}
	}
	p.only(n, path, "amount", "unit")
	s := Span{Amount: p.whole(n.member("amount"), path+".amount", 1, maxSpan)}
	unit, _ := n.text("unit")
	switch s.Unit = Unit(strings.TrimSuffix(strings.ToLower(unit), "s")); s.Unit {
	case Hour, Day, Week, Month, Year:
	default:
		p.add(path+".unit", "must be hour, day, week, month or year")
	}
	return s
}

// date parses a time or a day.
func (p *parser) date(n *node, path string) Date {
	s, ok := n.value.(string)
	if d, parsed := parseDate(strings.TrimSpace(s)); ok && parsed {
		return d
	}
	p.add(path, "must be a date such as 2026-03-01, or a date and time such as 2026-03-01T09:30:00Z")
	return Date{}
}

// parseDate reads the forms of times in requests, and days.
func parseDate(s string) (Date, bool) {
	if t, ok := calendar.ParseMoment(s); ok {
		return Date{t.Truncate(time.Microsecond), false}, true
	}
	t, ok := calendar.ParseDay(s)
	return Date{t, true}, ok
}

// day parses a day. Of a date and time it returns the date as written, since a field of dates
// ignores the time.
func (p *parser) day(n *node, path string) Date {
	s, _ := n.value.(string)
	s = strings.TrimSpace(s)
	if _, ok := calendar.ParseMoment(s); ok {
		s = s[:strings.IndexAny(s, "Tt ")]
	}
	d, ok := parseDate(s)
	if !ok || !d.Day {
		p.add(path, "must be a date such as 2026-03-01")
	}
	return d
}

// after reports whether d is entirely after e in any time zone.
func (d Date) after(e Date) bool {
	slack := time.Duration(0)
	if d.Day != e.Day { // a local day begins up to 14 hours before that in UTC and ends up to 12 hours after it
		slack = 36 * time.Hour
	}
	return d.Moment.After(e.Moment.Add(slack))
}

// String returns the canonical encoding of the date.
func (d Date) String() string {
	switch {
	case d.Day:
		return d.Moment.Format(time.DateOnly)
	case d.Moment.Nanosecond()%int(time.Millisecond) == 0:
		return d.Moment.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	return d.Moment.UTC().Format("2006-01-02T15:04:05.000000Z")
}

// custom parses a leaf about custom events.
func (l leafReader) custom() Event {
	e := Event{Name: l.eventName(), Window: l.window("window"), Operator: l.operator(Did, DidNot)}
	e.Count, e.Filters = l.count(e.Operator), l.eventFilters()
	return e
}

func (l leafReader) eventFilters() []Property {
	n := l.n.member("filters")
	if n == nil {
		return nil
	}
	return l.properties(n, l.path+".filters")
}

// eventMatch parses one event of a sequence of two.
func (l leafReader) eventMatch(member string) EventMatch {
	n, path := l.n.member(member), l.path+"."+member
	switch {
	case n == nil:
		l.add(path, `required: an object such as {"event_name": "order_placed"}`)
		return EventMatch{}
	case n.object == nil:
		l.add(path, `must be an object such as {"event_name": "order_placed"}; it may also have filters`)
		return EventMatch{}
	}
	l.only(n, path, "event_name", "filters")
	l.n, l.path = n, path
	return EventMatch{Name: l.eventName(), Filters: l.eventFilters()}
}

// within parses a span between two events. Months and years have no fixed length.
func (l leafReader) within(member string) Span {
	n, path := l.n.member(member), l.path+"."+member
	if n == nil {
		l.add(path, `required: an object such as {"amount": 7, "unit": "day"}`)
		return Span{}
	}
	s := l.span(n, path)
	switch s.Unit {
	case Month, Year:
		l.add(path+".unit", "must be hour, day or week, whose length is fixed")
	case Hour, Day, Week:
		if most := maxWithin * 24 / hoursOf[s.Unit]; s.Amount > most {
			l.add(path+".amount", "must be a whole number from 1 to %d", most)
		}
	}
	return s
}

// eventName parses the name of a custom event, without surrounding spaces.
func (l leafReader) eventName() string {
	const member = "event_name"
	text := l.subject(member, maxEventName)
	name := strings.TrimSpace(text)
	if name == "" && text != "" && l.strict {
		l.add(l.path+"."+member, "must be a string that is not empty")
	}
	return name
}

// properties parses the tests of an event's properties.
func (p *parser) properties(n *node, path string) []Property {
	switch {
	case !n.isArray:
		p.add(path, "must be an array of {property, operator, value}")
		return nil
	case len(n.array) > maxFilters:
		p.add(path, "at most %d", maxFilters)
		return nil
	}
	var list []Property
	for i, f := range n.array {
		at := fmt.Sprintf("%s[%d]", path, i)
		if f.object == nil {
			p.add(at, "must be an object {property, operator, value}")
			continue
		}
		list = append(list, leafReader{p, f, at}.property())
		p.only(f, at, "property", "operator", "value")
	}
	return list
}

// propertyOperators are those of texts, numbers, booleans and dates. The type of the value found
// determines which apply.
var propertyOperators = func() []Operator {
	var list []Operator
	for _, k := range []kind{textKind, numberKind, booleanKind, dateKind} {
		list = append(list, operators[k]...)
	}
	return unique(list)
}()

func (l leafReader) property() Property {
	f := Property{Path: l.text("property", true, maxPath), Operator: l.operator(propertyOperators...)}
	if f.Operator == "" || f.Operator.shape() == nothing {
		return f
	}
	n, path := l.n.member("value"), l.path+".value"
	if n == nil {
		l.add(path, "required")
		return f
	}
	switch f.Operator {
	case Contains, NotContains, StartsWith, EndsWith:
		f.Value = l.needle(n, path)
	case GreaterThan, GreaterOrEqual, LessThan, LessOrEqual:
		f.Value = l.number(n, path)
	case On, NotOn, Before, After, OnOrBefore, OnOrAfter:
		f.Value = l.date(n, path)
	case InTheLast, NotInTheLast, InTheNext, MoreThanAgo, AnniversaryInNext:
		f.Value = l.span(n, path)
	case Between:
		f.Value = l.range2(n, path)
	case In, NotIn:
		f.Value = l.scalars(n, path)
	default:
		f.Value = l.scalar(n, path)
	}
	return f
}

// range2 parses two numbers, or two dates.
func (p *parser) range2(n *node, path string) any {
	if !n.isArray || len(n.array) != 2 {
		p.add(path, "must be an array of two values")
		return nil
	}
	if _, ok := n.array[0].value.(json.Number); ok {
		return p.numbers(n, path)
	}
	return p.dates(n, path, p.date)
}

// numbers parses two numbers in ascending order.
func (p *parser) numbers(n *node, path string) []float64 {
	a, b := p.number(n.array[0], path+"[0]"), p.number(n.array[1], path+"[1]")
	if a > b {
		p.add(path, "the first must not be larger than the second")
	}
	return []float64{a, b}
}

// dates parses two dates in ascending order.
func (p *parser) dates(n *node, path string, read func(*node, string) Date) []Date {
	a, b := read(n.array[0], path+"[0]"), read(n.array[1], path+"[1]")
	if a.after(b) {
		p.add(path, "the first must not be after the second")
	}
	return []Date{a, b}
}

// scalar parses a string, a number or a boolean.
func (p *parser) scalar(n *node, path string) any {
	switch v := n.value.(type) {
	case json.Number:
		return p.number(n, path)
	case bool:
		return v
	case string:
		return p.needle(n, path)
	}
	p.add(path, "must be a string, a number, true or false")
	return nil
}

func (p *parser) scalars(n *node, path string) []any {
	if !p.many(n, path) {
		return nil
	}
	list := make([]any, len(n.array))
	for i, e := range n.array {
		list[i] = p.scalar(e, fmt.Sprintf("%s[%d]", path, i))
	}
	return unique(list)
}

// many reports whether n is an array with an allowed number of values.
func (p *parser) many(n *node, path string) bool {
	switch {
	case !n.isArray:
		p.add(path, "must be an array")
	case len(n.array) == 0:
		p.add(path, "must not be empty")
	case len(n.array) > maxInList:
		p.add(path, "at most %d values", maxInList)
	default:
		return true
	}
	return false
}
