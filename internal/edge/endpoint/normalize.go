package endpoint

import (
	"encoding/json"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// normalizer processes a parsed body before its rules are checked. It drops unknown fields, so that the
// operation gets what was checked; normalizes text; and reports null where it is not allowed, numbers that
// no Go type can represent, and text that a database would refuse.
type normalizer struct {
	strict  bool
	path    []byte
	element bool   // the current value is an element of the array at path
	array   string // that path, once it was needed
	found   *findings
}

func (c *normalizer) report(message string) {
	if c.element {
		if c.array == "" {
			c.array = string(c.path)
		}
		c.found.AddElement(c.array, message)
		return
	}
	c.found.add(string(c.path), message)
}

func (c *normalizer) normalize(s *bodyType, v any) any {
	switch v := v.(type) {
	case string:
		return c.normalizeText(v)
	case json.Number:
		return c.normalizeNumber(s, v)
	case []any:
		c.normalizeArray(s, v)
	case map[string]any:
		if s.kind == record {
			c.normalizeRecord(s, v)
			return v
		}
		return c.normalizeMapping(s, v)
	}
	return v
}

var anything = &bodyType{}

// normalizeArray normalizes the elements of an array, unless there are too many, which is reported instead.
func (c *normalizer) normalizeArray(s *bodyType, v []any) {
	elem := anything
	if s.kind == list {
		elem = s.elem
	}
	if s.maxItems > 0 && len(v) > s.maxItems {
		return
	}
	c.array = ""
	for i := range v {
		switch {
		case c.found.Truncated():
			return
		case isContainer(v[i]):
			c.withStep("["+strconv.Itoa(i)+"]", func() { v[i] = c.normalize(elem, v[i]) })
			c.array = ""
		default:
			c.element = true
			if v[i] == nil && elem.kind != open && s.kind == list {
				c.report("must not be null")
			}
			v[i] = c.normalize(elem, v[i])
			c.element = false
		}
	}
}

// withStep runs f with a step added to the path.
func (c *normalizer) withStep(step string, f func()) {
	n := len(c.path)
	if n > 0 && step[0] != '[' {
		c.path = append(c.path, '.')
	}
	c.path = append(c.path, step...)
	f()
	c.path = c.path[:n]
}

func (c *normalizer) normalizeRecord(s *bodyType, v map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if c.found.Truncated() {
			return
		}
		m, known := s.fields[name]
		if !known {
			if c.strict {
				c.withStep(pathKey(name), func() { c.report("is not a field of this request") })
			}
			delete(v, name)
			continue
		}
		c.withStep(name, func() {
			switch {
			case v[name] != nil:
				v[name] = c.normalize(m.bodyType, v[name])
			case !m.nullable:
				c.report("must not be null")
			case m.kind == list:
				v[name] = []any{}
			}
		})
	}
}

func (c *normalizer) normalizeMapping(s *bodyType, v map[string]any) map[string]any {
	elem := anything
	if s.kind == mapping {
		elem = s.elem
	}
	clean := make(map[string]any, len(v))
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if c.found.Truncated() {
			return clean
		}
		c.withStep(pathKey(name), func() { clean[c.normalizeText(name)] = c.normalize(elem, v[name]) })
	}
	return clean
}

// pathKey returns a key of an unknown field as part of a path: truncated, never empty.
func pathKey(name string) string {
	const most = 100
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "…"
	}
	if name == "" || strings.HasPrefix(name, "[") {
		return strconv.Quote(name)
	}
	return name
}

func (c *normalizer) normalizeText(s string) string {
	if isASCII(s) {
		if strings.IndexByte(s, 0) >= 0 {
			c.report(textProblem(s))
		}
		return s
	}
	if bad := textProblem(s); bad != "" {
		c.report(bad)
	}
	return norm.NFC.String(s)
}

// normalizeNumber returns n in a form that Go can parse: 5.0 as an integer is 5.
func (c *normalizer) normalizeNumber(s *bodyType, n json.Number) any {
	f, err := n.Float64()
	if err != nil || math.IsInf(f, 0) {
		c.report("is out of range")
		return json.Number("0")
	}
	if s.kind != integer {
		return n
	}
	if _, err := n.Int64(); err == nil {
		return n
	}
	if f != math.Trunc(f) {
		return n // the schema check reports it
	}
	whole, ok := new(big.Float).SetPrec(128).SetString(string(n))
	if !ok {
		return n
	}
	i, accuracy := whole.Int64()
	if accuracy != big.Exact {
		c.report("is out of range")
		return json.Number("0")
	}
	return json.Number(strconv.FormatInt(i, 10))
}
