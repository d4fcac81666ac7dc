package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

var (
	errDepth  = fmt.Errorf("at most %d levels of objects and arrays", maxDepth)
	errText   = errors.New("texts must be UTF-8 without NUL")
	errNumber = errors.New("a number is out of range")
)

// appendValue appends a JSON value without white space. depth is the level of an object or array.
func appendValue(b []byte, v any, depth int) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case string:
		if !storable(v) {
			return b, errText
		}
		return appendString(b, v), nil
	case json.Number:
		return appendNumber(b, v)
	case float64:
		return appendFloat(b, v)
	case map[string]any:
		return appendObject(b, v, depth)
	case []any:
		return appendArray(b, v, depth)
	}
	return b, fmt.Errorf("a value of type %T is not JSON", v)
}

func appendObject(b []byte, m map[string]any, depth int) ([]byte, error) {
	if depth > maxDepth {
		return b, errDepth
	}
	var space [16]string
	names := space[:0]
	for name := range m {
		if !storable(name) {
			return b, errText
		}
		names = append(names, name)
	}
	slices.Sort(names)
	var err error
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, name), ':')
		if b, err = appendValue(b, m[name], depth+1); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

func appendArray(b []byte, list []any, depth int) ([]byte, error) {
	if depth > maxDepth {
		return b, errDepth
	}
	var err error
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendValue(b, v, depth+1); err != nil {
			return b, err
		}
	}
	return append(b, ']'), nil
}

// storable reports whether both databases store a text.
func storable(s string) bool { return strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) }

// appendString appends a JSON string (RFC 8259, section 7).
func appendString(b []byte, s string) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[from:i]...)
		from = i + 1
		if c < 0x20 {
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		} else {
			b = append(b, '\\', c)
		}
	}
	return append(append(b, s[from:]...), '"')
}

// maxDigits is the length of numbers that are stored as they were sent. PostgreSQL refuses numbers
// with more than 16383 digits after the point, also as 1e-20000.
const maxDigits = 40

// appendNumber appends a number as it was sent, or as float64 if it is long or has an exponent.
func appendNumber(b []byte, n json.Number) ([]byte, error) {
	if len(n) <= maxDigits && !strings.ContainsAny(string(n), "eE") {
		return append(b, n...), nil
	}
	f, err := n.Float64()
	if err != nil {
		return b, errNumber
	}
	return appendFloat(b, f)
}

func appendFloat(b []byte, f float64) ([]byte, error) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return b, errNumber
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64), nil
}
