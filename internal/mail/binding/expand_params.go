package binding

import "encoding/json"

// Params returns the value of param for the Liquid of the bodies that Expand returns: each
// parameter by its name, and for each slot with a block, by the slot's name after an underscore,
// the parameters of the block. (Expand replaces param.title in the block's Liquid by
// param._hero.title; no parameter's name begins with an underscore.)
//
// A parameter without a value is nil, so that {% if param.x %} is false. A number is an int64 or a
// float64, a boolean a bool, a list a []any; everything else is the text, sanitised if it is rich
// text, and is escaped when Liquid prints it. All of it can be stored as JSON, provided that
// numbers are decoded as json.Number.
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
