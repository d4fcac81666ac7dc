package binding

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/packetboat/packetboat/internal/base/clip"
)

// maxIssues is the maximum number of problems that are reported for a binding.
const maxIssues = 500

// Check checks a binding against a schema. It returns the value of everything that is declared, to
// be used only if there are no issues, and all problems, at most maxIssues: in the order of the
// schema, followed by undeclared names.
//
// A null value is absent. Unknown members of the binding and of a slot are ignored. The seed
// determines the blocks of random slots: they stay the same as long as seed and pool do.
func Check(s Schema, raw json.RawMessage, pool Pool, seed string) (Bound, []Issue) {
	b, issues := Lenient(s, raw, pool, seed)
	if len(issues) > 0 {
		return Bound{}, issues
	}
	return b, nil
}

// checker is the state of one check. It replaces missing and invalid values, so that its result can
// always be shown.
type checker struct {
	pool     Pool
	seed     string
	issues   []Issue
	patterns map[string]matcher
	matching int      // the cost of patterns so far
	fitting  []*Block // of the current random slot
}

// scope is the values for one schema: a template's, or a block's.
type scope struct {
	slot     string // of the block; empty: the template itself
	schema   *Schema
	values   map[string]any // by parameter
	rows     map[string]any // by section
	also     []*Block       // whose names are known, too: the block was chosen randomly from these
	declares string         // "the template", "the block ann"
}

// binding checks a whole binding. A part with the wrong JSON type is one issue.
func (c *checker) binding(s *Schema, raw json.RawMessage) Bound {
	m, whole := c.object(raw)
	values, isValues := c.objectOf(m, "parameters", "names to values")
	rows, isRows := c.objectOf(m, "sections", "names to arrays of rows")
	slots, isSlots := c.objectOf(m, "slots", "names to what fills them")
	t := scope{schema: s, values: values, rows: rows, declares: "the template"}
	return Bound{
		Values: c.reporting(whole && isValues).parameters(t),
		Rows:   c.reporting(whole && isRows).sections(t),
		Slots:  c.reporting(whole && isSlots).slots(s, slots),
	}
}

// reporting returns a checker that reports its issues, or one that drops them.
func (c *checker) reporting(report bool) *checker {
	if report {
		return c
	}
	return &checker{pool: c.pool, seed: c.seed}
}

// object parses the whole binding.
func (c *checker) object(raw json.RawMessage) (map[string]any, bool) {
	const fix = "Send the binding as an object of parameters, sections and slots"
	if len(raw) == 0 {
		c.shape("", "the binding is missing", fix)
		return nil, false
	}
	v, err := decode(raw)
	if err != nil {
		c.shape("", "the binding must be JSON: "+clip.Ellipsis(err.Error(), maxQuoted), fix)
		return nil, false
	}
	m, ok := v.(map[string]any)
	if !ok {
		c.shape("", "the binding must be an object, not "+kind(v), fix)
	}
	return m, ok
}

// objectOf returns one of the three objects of a binding; if absent, an empty one.
func (c *checker) objectOf(m map[string]any, name, of string) (map[string]any, bool) {
	v := m[name]
	part, ok := v.(map[string]any)
	if !ok && v != nil {
		c.shape(name, "must be an object, not "+kind(v), "Send '"+name+"' as an object of "+of)
		return nil, false
	}
	return part, true
}

// parameters returns the value of each parameter of a scope.
func (c *checker) parameters(s scope) map[string]Value {
	list := s.schema.Parameters
	out := make(map[string]Value, len(list))
	known := 0
	for i := range list {
		p := &list[i]
		v, found := s.values[p.Name]
		if found {
			known++
		}
		out[p.Name] = c.parameter(location{slot: s.slot, name: p.Name}, p, v)
	}
	if known < len(s.values) {
		c.unknown(UnknownParam, location{slot: s.slot}, s.values, namesOf(list), s)
	}
	return out
}

// parameter returns the value of a parameter, or of a field of a row: the bound value, or else its
// default, or else nothing.
func (c *checker) parameter(at location, p *Parameter, v any) Value {
	if v == nil {
		if held, ok := stored(p.Type, p.Default); ok {
			return Value{Type: p.Type, V: held}
		}
		if !p.Required {
			return Value{Type: p.Type}
		}
		c.issue(at, RequiredMissing, "is required and has no default", "Set %s to "+p.Type.describeValues())
		return defaultValue(p)
	}
	held, ok := c.value(at, p, v)
	if !ok {
		return defaultValue(p)
	}
	return Value{Type: p.Type, V: held}
}

// sections returns the rows of each section of a scope.
func (c *checker) sections(s scope) map[string][]map[string]Value {
	list := s.schema.Sections
	out := make(map[string][]map[string]Value, len(list))
	known := 0
	for i := range list {
		v, found := s.rows[list[i].Name]
		if found {
			known++
		}
		out[list[i].Name] = c.section(s, &list[i], v)
	}
	if known < len(s.rows) {
		c.unknown(UnknownSection, location{slot: s.slot}, s.rows, namesOf(list), s)
	}
	return out
}

// section returns the rows of a section. An unbound section has none, and its limits are not
// checked.
func (c *checker) section(s scope, sec *Section, v any) []map[string]Value {
	at := location{slot: s.slot, section: sec.Name}
	list, ok := v.([]any)
	switch {
	case v == nil && sec.Required:
		c.issue(at, RequiredMissing, "is required", "Set %s to an array of at least "+countOf(sec.minRows(), "row"))
		return []map[string]Value{sampleRow(sec)}
	case v == nil:
		return nil
	case !ok:
		c.invalid(at, "must be an array of rows, not "+kind(v), "Set %s to an array of objects")
		return []map[string]Value{sampleRow(sec)}
	case len(list) < sec.minRows():
		c.issue(at, MinRows, fmt.Sprintf("has %s; at least %d must be there", countOf(len(list), "row"), sec.minRows()), "Add "+countOf(sec.minRows()-len(list), "row")+" to %s")
		if len(list) == 0 {
			return []map[string]Value{sampleRow(sec)}
		}
	case len(list) > sec.Max:
		c.issue(at, MaxRows, fmt.Sprintf("has %s; at most %d are allowed", countOf(len(list), "row"), sec.Max), "Remove "+countOf(len(list)-sec.Max, "row")+" from %s")
		list = list[:max(sec.Max, 0)]
	}
	rows := make([]map[string]Value, 0, len(list))
	for i, v := range list {
		at.row = i + 1
		row, ok := v.(map[string]any)
		if !ok {
			c.invalid(at, "must be an object, not "+kind(v), "Set %s to an object of fields")
			rows = append(rows, sampleRow(sec))
			continue
		}
		rows = append(rows, c.row(at, sec, row, s))
	}
	return rows
}

func (c *checker) row(at location, sec *Section, row map[string]any, s scope) map[string]Value {
	out := make(map[string]Value, len(sec.Item))
	known := 0
	for i := range sec.Item {
		f := &sec.Item[i]
		v, found := row[f.Name]
		if found {
			known++
		}
		at.name = f.Name
		out[f.Name] = c.parameter(at, f, v)
	}
	if known < len(row) {
		at.name = ""
		s.also = nil // fields are those of this section
		c.unknown(UnknownParam, at, row, namesOf(sec.Item), s)
	}
	return out
}

// countOf formats a number of things.
func countOf(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// namesOf returns the declared names, in the order of the schema.
func namesOf[T interface{ name() string }](declared []T) []string {
	out := make([]string, 0, len(declared))
	for _, d := range declared {
		out = append(out, d.name())
	}
	return out
}

// declaredNames returns the names of parameters, or of sections, that any of the blocks declares.
func declaredNames(blocks []*Block, code IssueCode) map[string]bool {
	known := map[string]bool{}
	for _, b := range blocks {
		if code == UnknownSection {
			for i := range b.Schema.Sections {
				known[b.Schema.Sections[i].Name] = true
			}
			continue
		}
		for i := range b.Schema.Parameters {
			known[b.Schema.Parameters[i].Name] = true
		}
	}
	return known
}
