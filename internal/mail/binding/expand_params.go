package binding

import "encoding/json"

// Params returns what param means to the Liquid of the bodies that Expand makes:
// each parameter by its name, and for each slot with a block, by the slot's name
// after an underscore, the parameters of that. (Expand has the block's Liquid say
// param._hero.title for param.title; no parameter's name begins like that.)
//
// A parameter that has no value is nil, so that {% if param.x %} does not hold. A
// number is an int64 or a float64, a boolean a bool, a list a []any; everything
// else is the text as it was given, rich text sanitised, and is escaped when
// Liquid prints it. All of it survives being stored as JSON, provided that numbers
// are read back as json.Number.
func (d *Document) Params(b Bound) map[string]any {
	params := constants(b)
	for name, filling := range b.Slots {
		if filling.Block != nil {
			params["_"+name] = constants(filling.Bound)
		}
	}
	return params
}

func constants(b Bound) map[string]any {
	m := make(map[string]any, len(b.Values))
	for name, v := range b.Values {
		m[name] = constant(v)
	}
	return m
}

func constant(v Value) any {
	switch x := v.V.(type) {
	case json.Number:
		if n, err := x.Int64(); err == nil {
			return n
		}
		if f, err := x.Float64(); err == nil {
			return f
		}
		return nil
	case []string:
		list := make([]any, len(x))
		for i, item := range x {
			list[i] = item
		}
		return list
	case string:
		if v.Type == RichText {
			return sanitised(x)
		}
		return x
	case bool:
		return x
	}
	return nil
}
