package binding

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/packetboat/packetboat/internal/base/optional"
)

// Diff is the changes to a binding after its template changed.
type Diff struct {
	TemplateChanged bool      `json:"template_changed"` // set by the caller, which knows both contents
	Added           []Added   `json:"added"`
	Removed         []Removed `json:"removed"`
	Changed         []Changed `json:"changed"`
	Issues          []Issue   `json:"issues"` // of the merged binding
}

// Added is a new declaration of the template.
type Added struct {
	Path     string          `json:"path"` // parameters.cta, sections.products[].price
	Required bool            `json:"required"`
	Value    json.RawMessage `json:"value"` // its new value, or null
}

// Removed is a declaration that the template does not have any more.
type Removed struct {
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value"` // the bound value, or null; of a field, one value for each row
}

// Changed is a declaration that differs, or a value that could not be kept. From and To contain
// only the differences.
type Changed struct {
	Path      string          `json:"path"`
	From      map[string]any  `json:"from"`
	To        map[string]any  `json:"to"`
	ValueKept bool            `json:"value_kept"`
	Value     json.RawMessage `json:"value,omitempty"` // the value that was not kept
}

// Rebase converts a binding from the schema that it was made for to the current schema. A value
// whose name is still declared with a compatible type stays, even if it breaks a current rule,
// which is then among the issues. Other values and rows over the maximum are removed, slots whose
// block does not match any more get their default strategy, and new declarations get their default.
// Values are not moved between names.
func Rebase(base Schema, raw json.RawMessage, theirs Schema, pool Pool) (json.RawMessage, Diff) {
	r := rebase{pool: pool}
	m := objectOf(raw)
	merged := map[string]any{
		"parameters": r.fields(whereParameter, base.Parameters, theirs.Parameters, []map[string]any{asObject(m["parameters"])})[0],
		"sections":   r.sections(base.Sections, theirs.Sections, asObject(m["sections"])),
		"slots":      r.slots(base.Slots, theirs.Slots, asObject(m["slots"])),
	}
	out := written(merged)
	_, issues := Lenient(theirs, out, pool, "")
	return out, Diff{
		Added:   optional.List(r.added),
		Removed: optional.List(r.removed),
		Changed: optional.List(r.changed),
		Issues:  optional.List(issues),
	}
}

// rebase collects the differences.
type rebase struct {
	pool    Pool
	added   []Added
	removed []Removed
	changed []Changed
}

// objectOf decodes a binding; if it is not an object, the result is empty.
func objectOf(raw json.RawMessage) map[string]any {
	v, err := decode(raw)
	if err != nil {
		return nil
	}
	return asObject(v)
}

func asObject(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// written encodes decoded values, which cannot fail.
func written(v any) json.RawMessage {
	raw, err := encode(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}

// whereParameter and fieldOf return the paths of parameters and of the fields of a section's rows.
func whereParameter(name string) string { return "parameters." + name }

func fieldOf(section string) func(string) string {
	return func(name string) string { return "sections." + section + "[]." + name }
}

// fields rebases rows with the same parameters: those of a section, or the parameters themselves as
// one row.
func (r *rebase) fields(path func(string) string, base, theirs []Parameter, rows []map[string]any) []map[string]any {
	out := make([]map[string]any, len(rows))
	for i := range out {
		out[i] = map[string]any{}
	}
	before := byName(base)
	for i := range theirs {
		p := &theirs[i]
		old, was := before[p.Name]
		if !was {
			r.addedField(path(p.Name), p, out)
			continue
		}
		delete(before, p.Name)
		r.keptField(path(p.Name), old, p, rows, out)
	}
	for i := range base {
		if name := base[i].Name; before[name] != nil {
			single := len(rows) == 1 && path(name) == whereParameter(name)
			r.removed = append(r.removed, Removed{Path: path(name), Value: column(rows, name, single)})
		}
	}
	return out
}

func (r *rebase) addedField(path string, p *Parameter, out []map[string]any) {
	value := json.RawMessage("null")
	if HasValue(p.Default) {
		value = p.Default
		for _, row := range out {
			row[p.Name] = p.Default
		}
	}
	r.added = append(r.added, Added{Path: path, Required: p.Required, Value: value})
}

func (r *rebase) keptField(path string, old, p *Parameter, rows, out []map[string]any) {
	bound, kept := 0, 0
	for i, row := range rows {
		v := row[p.Name]
		if v == nil {
			continue
		}
		bound++
		if v, ok := convertValue(old.Type, p.Type, v); ok {
			out[i][p.Name] = v
			kept++
		}
	}
	from, to := differences(facetsOf(old), facetsOf(p))
	if len(from) == 0 && len(to) == 0 && kept == bound {
		return
	}
	c := Changed{Path: path, From: from, To: to, ValueKept: bound > 0 && kept == bound}
	if kept < bound {
		c.Value = column(rows, p.Name, path == whereParameter(p.Name))
	}
	r.changed = append(r.changed, c)
}

// column returns the values of a name in rows: the only one, or a list.
func column(rows []map[string]any, name string, single bool) json.RawMessage {
	if single {
		return written(rows[0][name])
	}
	list := make([]any, 0, len(rows))
	some := false
	for _, row := range rows {
		list = append(list, row[name])
		some = some || row[name] != nil
	}
	if !some {
		return json.RawMessage("null")
	}
	return written(list)
}

func byName(list []Parameter) map[string]*Parameter {
	out := make(map[string]*Parameter, len(list))
	for i := range list {
		out[list[i].Name] = &list[i]
	}
	return out
}

// convertValue converts a value to the new type; false if the types are not compatible.
func convertValue(from, to Type, v any) (any, bool) {
	if from == to {
		return v, true
	}
	if to != Text && to != Textarea && to != RichText {
		return nil, false
	}
	switch from {
	case Text, Textarea, URL, Email, Color, Select, Date, DateTime:
		_, ok := v.(string)
		return v, ok
	case Number:
		n, ok := v.(json.Number)
		if !ok {
			return nil, false
		}
		s, ok := plainNumber(string(n))
		return s, ok
	}
	return nil, false
}

// facetsOf returns the properties of a parameter that affect its values.
func facetsOf(p *Parameter) map[string]any {
	return map[string]any{"type": p.Type, "required": p.Required, "validation": written(p.Validation)}
}

// differences returns the facets that differ.
func differences(a, b map[string]any) (from, to map[string]any) {
	from, to = map[string]any{}, map[string]any{}
	for _, k := range slices.Sorted(maps.Keys(a)) {
		if string(written(a[k])) != string(written(b[k])) {
			from[k], to[k] = a[k], b[k]
		}
	}
	return from, to
}

// sections rebases the rows of each section.
func (r *rebase) sections(base, theirs []Section, bound map[string]any) map[string]any {
	out := map[string]any{}
	before := map[string]*Section{}
	for i := range base {
		before[base[i].Name] = &base[i]
	}
	for i := range theirs {
		s := &theirs[i]
		old := before[s.Name]
		if old == nil {
			r.added = append(r.added, Added{Path: "sections." + s.Name, Required: s.Required, Value: json.RawMessage("null")})
			continue
		}
		delete(before, s.Name)
		if rows, ok := r.section(old, s, bound[s.Name]); ok {
			out[s.Name] = rows
		}
	}
	for i := range base {
		if name := base[i].Name; before[name] != nil {
			r.removed = append(r.removed, Removed{Path: "sections." + name, Value: written(bound[name])})
		}
	}
	return out
}

// section rebases the rows of a section; false if it is not bound.
func (r *rebase) section(old, s *Section, v any) ([]map[string]any, bool) {
	list, isBound := v.([]any)
	rows := make([]map[string]any, 0, min(len(list), s.Max))
	for _, row := range list[:min(len(list), s.Max)] {
		rows = append(rows, asObject(row))
	}
	from, to := differences(
		map[string]any{"required": old.Required, "min": old.Min, "max": old.Max},
		map[string]any{"required": s.Required, "min": s.Min, "max": s.Max})
	if len(from) > 0 || len(list) > s.Max {
		c := Changed{Path: "sections." + s.Name, From: from, To: to, ValueKept: isBound && len(list) <= s.Max}
		if len(list) > s.Max {
			c.Value = written(list[s.Max:])
		}
		r.changed = append(r.changed, c)
	}
	return r.fields(fieldOf(s.Name), old.Item, s.Item, rows), isBound
}
