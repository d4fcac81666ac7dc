package binding

import "encoding/json"

// Lenient is Check for previews: its result can always be shown. Missing and invalid values are
// replaced by the sample of the schema or by a placeholder, and slots by notices; the issues are
// those of Check.
func Lenient(s Schema, raw json.RawMessage, pool Pool, seed string) (Bound, []Issue) {
	c := checker{pool: pool, seed: seed}
	b := c.binding(&s, raw)
	if len(c.issues) == 0 {
		return b, nil
	}
	return b, c.issues
}

// Sample returns values for a schema: its samples, or placeholders, one row for each section, and a
// notice for each slot. Templates are rendered with it when they are saved.
func Sample(s Schema) Bound {
	b := Bound{
		Values: make(map[string]Value, len(s.Parameters)),
		Rows:   make(map[string][]map[string]Value, len(s.Sections)),
		Slots:  make(map[string]Filling, len(s.Slots)),
	}
	for i := range s.Parameters {
		b.Values[s.Parameters[i].Name] = defaultValue(&s.Parameters[i])
	}
	for i := range s.Sections {
		b.Rows[s.Sections[i].Name] = []map[string]Value{sampleRow(&s.Sections[i])}
	}
	for i := range s.Slots {
		b.Slots[s.Slots[i].Name] = noticeFilling(&s.Slots[i])
	}
	return b
}

func sampleRow(s *Section) map[string]Value {
	row := make(map[string]Value, len(s.Item))
	for i := range s.Item {
		row[s.Item[i].Name] = defaultValue(&s.Item[i])
	}
	return row
}

// noticeFilling is a slot that shows that a block is missing.
func noticeFilling(sl *Slot) Filling {
	return Filling{Strategy: Empty, Notice: "[slot: " + sl.Name + "]"}
}

// defaultValue returns the value for a parameter without one: its sample, or else its default, or else a
// placeholder.
func defaultValue(p *Parameter) Value {
	for _, raw := range []json.RawMessage{p.Sample, p.Default} {
		if v, ok := stored(p.Type, raw); ok {
			return Value{Type: p.Type, V: v}
		}
	}
	return Value{Type: p.Type, V: placeholderValue(p)}
}

// placeholderValue returns a placeholder value, as far as the type allows one.
func placeholderValue(p *Parameter) any {
	mark := "[" + p.Name + "]"
	switch p.Type {
	case URL:
		return "https://example.com/"
	case Image:
		return "https://placehold.co/600x200/cccccc/cccccc.png"
	case Email:
		return "name@example.com"
	case Color:
		return "#cccccc"
	case Number:
		if v, ok := stored(Number, p.Validation.Min); ok {
			return v
		}
		return json.Number("0")
	case Boolean:
		return false
	case Date, DateTime:
		if v, ok := stored(p.Type, p.Validation.Min); ok {
			return v
		}
		if p.Type == Date {
			return "2030-01-31"
		}
		return "2030-01-31T09:00:00Z"
	case Select:
		if len(p.Validation.Options) > 0 {
			return p.Validation.Options[0].Value
		}
	case List:
		return []string{mark}
	}
	return mark
}

// stored decodes a value of a schema; false if there is none.
func stored(t Type, raw json.RawMessage) (any, bool) {
	if !HasValue(raw) {
		return nil, false
	}
	switch t {
	case Number:
		_, ok := plainNumber(string(raw))
		return json.Number(raw), ok
	case Boolean:
		return string(raw) == "true", true
	case List:
		var list []string
		err := json.Unmarshal(raw, &list)
		return list, err == nil
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}
