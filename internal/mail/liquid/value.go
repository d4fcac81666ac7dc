package liquid

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"
)

// special is the value of the words empty and blank.
type special int

const (
	emptyValue special = iota
	blankValue
)

// zoned is a time that the filter time_zone has converted.
type zoned struct{ time.Time }

// normalize converts v to one of the types of the package.
func (s *state) normalize(v any) any {
	switch v := v.(type) {
	case nil, bool, int64, float64, string, Raw, jsonText, time.Time, []any, map[string]any, span, special, zoned:
		return v
	case int:
		return int64(v)
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, err := v.Float64()
		if err != nil {
			return string(v)
		}
		return f
	case Drop:
		return v
	case *string:
		if v == nil {
			return nil
		}
		return *v
	case Appender:
		return s.resolvePeeked(v)
	case []string:
		if !s.chargeElements(len(v)) {
			return nil
		}
		list := make([]any, len(v))
		for i, text := range v {
			list[i] = text
		}
		return list
	case *time.Time:
		if v == nil {
			return nil
		}
		return *v
	case fmt.Stringer:
		if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer && p.IsNil() {
			return nil
		}
		return v.String()
	}
	return s.normalizeReflected(reflect.ValueOf(v))
}

// normalizeByReference is normalize, but returns texts that are held by reference unchanged.
func (s *state) normalizeByReference(v any) any {
	switch v := v.(type) {
	case *string:
		if v == nil {
			return nil
		}
		return v
	case Appender:
		return v
	}
	return s.normalize(v)
}

// normalizeReflected converts named and less common types by their underlying types.
func (s *state) normalizeReflected(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool()
	case reflect.String:
		return v.String()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if n := v.Uint(); n <= math.MaxInt64 {
			return int64(n)
		}
		return float64(v.Uint())
	case reflect.Float32, reflect.Float64:
		return v.Float()
	case reflect.Pointer:
		if !v.IsNil() && v.Elem().CanInterface() {
			return s.normalize(v.Elem().Interface())
		}
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String || !s.chargeElements(2*v.Len()) {
			return nil
		}
		object := make(map[string]any, v.Len())
		for name, item := range v.Seq2() {
			object[name.String()] = item.Interface()
		}
		return object
	case reflect.Slice:
		if !s.chargeElements(v.Len()) {
			return nil
		}
		list := make([]any, v.Len())
		for i := range list {
			list[i] = v.Index(i).Interface()
		}
		return list
	}
	return nil
}

func truthy(v any) bool { return v != nil && v != false }

// kindOf returns the kind of a value for messages.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case bool:
		return "a boolean"
	case int64, float64:
		return "a number"
	case string, Raw:
		return "a text"
	case time.Time, zoned:
		return "a date"
	case []any, span:
		return "a list"
	}
	return "an object"
}

// field returns v.name; if dotted, also the size, first and last of v.
func (s *state) field(v any, name string, dotted bool) any {
	return s.resolvePeeked(s.fieldByReference(v, name, dotted))
}

// fieldByReference is field, but returns texts by reference.
func (s *state) fieldByReference(v any, name string, dotted bool) any {
	switch v := v.(type) {
	case map[string]any:
		if item, ok := v[name]; ok {
			return s.normalizeByReference(item)
		}
	case Drop:
		if item := s.normalizeByReference(v.Field(name)); item != nil {
			return item
		}
	}
	if !dotted {
		return nil
	}
	v = s.resolvePeeked(v)
	switch name {
	case "size":
		return s.size(v)
	case "first":
		return s.first(v)
	case "last":
		return s.last(v)
	}
	return nil
}

// index returns v[key].
func (s *state) index(v, key any) any {
	switch key := key.(type) {
	case string:
		if !s.tick(len(key)) {
			return nil
		}
		return s.field(v, key, false)
	case Raw:
		return s.index(v, string(key))
	case int64:
		list, ok := v.([]any)
		if !ok {
			return nil
		}
		n := int64(len(list))
		if key < 0 {
			key += n
		}
		if key >= 0 && key < n {
			return s.normalize(list[key])
		}
	}
	return nil
}

// size returns the number of characters, elements or fields; nil for other values.
func (s *state) size(v any) any {
	switch v := v.(type) {
	case string:
		s.tick(len(v))
		return int64(utf8.RuneCountInString(v))
	case Raw:
		return s.size(string(v))
	case []any, span, map[string]any, Object:
		return int64(s.sequence(v).len())
	}
	return nil
}

func (s *state) first(v any) any {
	switch v := v.(type) {
	case string:
		_, n := utf8.DecodeRuneInString(v)
		return v[:n]
	case Raw:
		_, n := utf8.DecodeRuneInString(string(v))
		return v[:n]
	case []any, span, map[string]any, Object:
		if list := s.sequence(v); list.len() > 0 {
			return list.at(s, 0)
		}
	}
	return nil
}

func (s *state) last(v any) any {
	switch v := v.(type) {
	case string:
		_, n := utf8.DecodeLastRuneInString(v)
		return v[len(v)-n:]
	case Raw:
		_, n := utf8.DecodeLastRuneInString(string(v))
		return v[len(v)-n:]
	case []any, span:
		if list := s.sequence(v); list.len() > 0 {
			return list.at(s, list.len()-1)
		}
	}
	return nil
}

// text returns what a value prints, before escaping.
func (s *state) text(v any) string {
	switch v := v.(type) {
	case nil, special:
		return ""
	case string:
		return v
	case Raw:
		return string(v)
	case jsonText:
		return string(v)
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return formatFloat(v)
	case time.Time:
		return v.In(s.env.Now().Location()).Format("2006-01-02 15:04:05 -0700")
	case zoned:
		return v.Format("2006-01-02 15:04:05 -0700")
	case span:
		return strconv.FormatInt(v.low, 10) + ".." + strconv.FormatInt(v.high, 10)
	}
	return string(s.appendText(nil, v, false))
}

// appendText appends the text of lists, concatenated, and of objects, formatted like JSON. It charges for
// each part before appending it.
func (s *state) appendText(dst []byte, v any, quoted bool) []byte {
	if !s.enterNested() {
		return dst
	}
	defer s.leaveNested()
	separator := ""
	switch v := v.(type) {
	case []any:
		if quoted {
			dst, separator = append(dst, '['), ","
		}
		for i, item := range v {
			if i > 0 {
				dst = append(dst, separator...)
			}
			if dst = s.appendText(dst, s.normalize(item), quoted); !s.charge(2) {
				return dst
			}
		}
		if quoted {
			dst = append(dst, ']')
		}
		return dst
	case map[string]any, Object:
		dst = append(dst, '{')
		list := s.sequence(v)
		for i, name := range list.names {
			if i > 0 {
				dst = append(dst, ',')
			}
			if !s.charge(len(name) + 4) {
				return dst
			}
			dst = append(strconv.AppendQuote(dst, name), ':')
			dst = s.appendText(dst, s.field(v, name, false), true)
		}
		return append(dst, '}')
	case Drop:
		return dst
	}
	text := s.text(v)
	if !s.charge(len(text) + 2) {
		return dst
	}
	if _, isText := v.(string); isText && quoted {
		return strconv.AppendQuote(dst, text)
	}
	if v == nil && quoted {
		text = "null"
	}
	return append(dst, text...)
}
