package rule

import (
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// Formula is a rule that depends on attributes of contacts alone. It is evaluated on the distinct values of each
// attribute, which package columnar has in memory.
type Formula struct {
	Test   *Test // of a leaf
	Any    bool  // one of the parts must hold; otherwise all
	Negate bool
	Parts  []Formula
}

// Test is a leaf of a formula.
type Test struct {
	Attribute
	target target
	holds  func(value any) bool // for a value that is known
}

// Attribute is a column of table contact, or a custom field.
type Attribute struct {
	Name   string // of the column, or the key of the field
	Custom bool
}

// OnList is the attribute of contacts whose address is on the suppression list: its value is Yes, or not known.
var OnList = Attribute{Name: "listed"}

// Yes is the value of OnList.
const Yes = "true"

// maxTests is the number of leaves of a formula.
const maxTests = 200

// Formula returns the rule as a formula; ok is false if it depends on anything but attributes.
func (t Tree) Formula(env Env) (f Formula, ok bool) {
	left := maxTests
	return t.Root.formula(env, &left)
}

// formula returns the formula of a group, and takes the number of its leaves from left.
func (g Group) formula(env Env, left *int) (Formula, bool) {
	f := Formula{Any: g.Logic == Or && len(g.Conditions) > 0, Negate: g.Negate, Parts: make([]Formula, len(g.Conditions))}
	for i, c := range g.Conditions {
		var ok bool
		if inner, group := c.(Group); group {
			f.Parts[i], ok = inner.formula(env, left)
		} else {
			f.Parts[i], ok = formulaOf(c, env, left)
		}
		if !ok {
			return Formula{}, false
		}
	}
	return f, true
}

func formulaOf(c Condition, env Env, left *int) (Formula, bool) {
	if *left--; *left < 0 {
		return Formula{}, false
	}
	switch c := c.(type) {
	case Field:
		return c.formula(env)
	case Suppression:
		return Formula{Test: &Test{OnList, target{kind: textKind}, func(any) bool { return true }}, Negate: c.Operator == NotListed}, true
	case InSegment:
		f := Formula{Any: true, Negate: c.Operator == NotIn}
		for _, key := range c.Keys {
			if s, inner, ok := env.into(key); ok {
				part, ok := s.Tree.Root.formula(inner, left)
				if !ok {
					return Formula{}, false
				}
				f.Parts = append(f.Parts, part)
			}
		}
		return f, true
	case Broken:
		return Formula{Any: true, Negate: c.Negative}, true
	}
	return Formula{}, false
}

func (f Field) formula(env Env) (Formula, bool) {
	t, problem, _ := env.field(f.Name)
	op, negative := f.Operator.positive()
	switch {
	case problem != "":
		return Formula{Any: true, Negate: negative}, t.place != elsewhere
	case t.place == elsewhere && t.kind == choiceKind:
		stages := map[string]bool{}
		for _, s := range f.stages(env) {
			stages[s.String()] = true
		}
		stage := target{kind: choiceKind, place: ofContact, name: "stage_id"}
		return Formula{Negate: negative, Test: &Test{Attribute{Name: stage.name}, stage, func(v any) bool {
			text, _ := v.(string)
			return op == IsSet || stages[text]
		}}}, true
	case t.place == ofContact && t.kind != referenceKind, t.place == ofCustom:
		prepared := sync.OnceValue(func() func(any) bool { return t.matcher(op, f.Value, env) })
		holds := func(v any) bool { return prepared()(v) }
		return Formula{Negate: negative, Test: &Test{Attribute{t.name, t.place == ofCustom}, t, holds}}, true
	}
	return Formula{}, false
}

// Holds evaluates the test on a value of its attribute, as the text that package columnar keeps. ok is false if the
// value is not of the attribute's type, as of a custom field that had another type before: SQL says what that means.
func (t *Test) Holds(text string) (holds, ok bool) {
	value, ok := t.target.decode(text)
	return ok && value != nil && t.holds(value), ok
}

// decode is the inverse of TextOf for the values of an attribute. Without a value it returns nil.
func (t target) decode(text string) (value any, ok bool) {
	if t.place == ofCustom {
		if json.Unmarshal([]byte(text), &value) != nil {
			return nil, false
		}
		return t.typed(value)
	}
	switch t.kind {
	case numberKind:
		n, err := strconv.ParseFloat(text, 64)
		return n, err == nil
	case booleanKind:
		return text == Yes || text == "1", true
	case momentKind:
		n, err := strconv.ParseInt(text, 10, 64)
		return sqldb.Time(n), err == nil
	case tagsKind:
		var list []string
		err := json.Unmarshal([]byte(text), &list)
		return list, err == nil
	}
	return text, t.storesText(text)
}

// typed returns a value of a custom field as matches needs it; ok is false if it is not of the type that the field
// has now.
func (t target) typed(value any) (_ any, ok bool) {
	switch v := value.(type) {
	case nil:
		return nil, t.kind != tagsKind // which SQL takes for tags
	case string:
		if t.kind == momentKind {
			at, err := time.Parse(time.RFC3339, v)
			return at, err == nil && at.Format(storedMoment) == v
		}
		ok = t.storesText(v)
	case float64:
		ok = t.kind == numberKind
	case bool:
		ok = t.kind == booleanKind
	case []any:
		ok = t.kind == tagsKind && !slices.ContainsFunc(v, func(e any) bool { _, text := e.(string); return !text })
	}
	return value, ok
}

// storesText reports whether a field stores a text in this form. Of others SQL and matcher differ.
func (t target) storesText(s string) bool {
	switch t.kind {
	case numberKind, booleanKind, momentKind, tagsKind:
		return false
	case dateKind:
		return s == "" || parses(s, time.DateOnly)
	case clockKind:
		return s == "" || parses(s, "15:04") || parses(s, time.TimeOnly)
	case textKind:
		return !t.lower || s == fold(s)
	}
	return true
}

func parses(s, layout string) bool {
	_, err := time.Parse(layout, s)
	return err == nil && len(s) == len(layout)
}

// TextOf returns the text of a value of an attribute as a database's driver returns it; known is false for NULL.
func TextOf(value any) (text string, known bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case []byte:
		return string(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	case bool:
		return strconv.FormatBool(v), true
	case time.Time:
		return strconv.FormatInt(sqldb.Micros(v), 10), true
	}
	return "", false
}

// SQL returns the expression for the attribute of row c of table contact. The text of its value is TextOf.
func (a Attribute) SQL(db *sqldb.DB) string {
	switch {
	case a.Custom:
		return "CAST(c.custom_fields -> '" + a.Name + "' AS TEXT)"
	case a.Name == "stage_id":
		return db.UUIDText("c.stage_id")
	}
	return "c." + a.Name
}
