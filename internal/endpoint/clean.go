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

	"packetboat/internal/fault"
)

// cleaner goes through a parsed body before its rules are checked. It drops
// the fields that nobody knows, so that what was checked is what the operation
// sees; normalises text; and notes null where it means nothing, numbers that no
// machine holds, and text that no database does.
type cleaner struct {
	strict   bool
	path     []byte
	problems []fault.Field
}

func (c *cleaner) note(message string) {
	c.problems = append(c.problems, fault.Field{Path: string(c.path), Message: message})
}

func (c *cleaner) clean(s *shape, v any) any {
	switch v := v.(type) {
	case string:
		return c.text(v)
	case json.Number:
		return c.number(s, v)
	case []any:
		elem := anything
		if s.kind == list {
			elem = s.elem
		}
		for i := range v {
			c.in("["+strconv.Itoa(i)+"]", func() {
				if v[i] == nil && elem.kind != open && s.kind == list {
					c.note("must not be null")
				}
				v[i] = c.clean(elem, v[i])
			})
		}
	case map[string]any:
		if s.kind == record {
			c.record(s, v)
			return v
		}
		return c.mapping(s, v)
	}
	return v
}

var anything = &shape{}

// in runs f with a step added to the path.
func (c *cleaner) in(step string, f func()) {
	n := len(c.path)
	if n > 0 && step[0] != '[' {
		c.path = append(c.path, '.')
	}
	c.path = append(c.path, step...)
	f()
	c.path = c.path[:n]
}

func (c *cleaner) record(s *shape, v map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(v)) {
		m, known := s.fields[name]
		if !known {
			if c.strict {
				c.in(shown(name), func() { c.note("is not a field of this request") })
			}
			delete(v, name)
			continue
		}
		c.in(name, func() {
			switch {
			case v[name] != nil:
				v[name] = c.clean(m.shape, v[name])
			case !m.nullable:
				c.note("must not be null")
			case m.kind == list:
				v[name] = []any{}
			}
		})
	}
}

func (c *cleaner) mapping(s *shape, v map[string]any) map[string]any {
	elem := anything
	if s.kind == mapping {
		elem = s.elem
	}
	clean := make(map[string]any, len(v))
	for _, name := range slices.Sorted(maps.Keys(v)) {
		c.in(shown(name), func() { clean[c.text(name)] = c.clean(elem, v[name]) })
	}
	return clean
}

// shown is a stranger's key as part of a path: not endless, never empty.
func shown(name string) string {
	const most = 100
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "…"
	}
	if name == "" || strings.HasPrefix(name, "[") {
		return strconv.Quote(name)
	}
	return name
}

func (c *cleaner) text(s string) string {
	if plain(s) {
		if strings.IndexByte(s, 0) >= 0 {
			c.note(badText(s))
		}
		return s
	}
	if bad := badText(s); bad != "" {
		c.note(bad)
	}
	return norm.NFC.String(s)
}

// number returns n as Go can read it back: 5.0 where an integer is wanted is 5.
func (c *cleaner) number(s *shape, n json.Number) any {
	f, err := n.Float64()
	if err != nil || math.IsInf(f, 0) {
		c.note("is out of range")
		return json.Number("0")
	}
	if s.kind != integer {
		return n
	}
	if _, err := n.Int64(); err == nil {
		return n
	}
	if f != math.Trunc(f) {
		return n // the schema says so
	}
	whole, ok := new(big.Float).SetPrec(128).SetString(string(n))
	if !ok {
		return n
	}
	i, accuracy := whole.Int64()
	if accuracy != big.Exact {
		c.note("is out of range")
		return json.Number("0")
	}
	return json.Number(strconv.FormatInt(i, 10))
}
