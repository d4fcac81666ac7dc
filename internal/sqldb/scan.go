package sqldb

import (
	"encoding/json"
	"fmt"
	"time"
)

// The destinations below are scanned without reflection, which database/sql uses for pointers to
// pointers, named strings and numbers, and which is slow for pages of wide rows.

// ToText returns a destination for a text; NULL sets it to empty.
func ToText[T ~string](p *T) any { return intoText[T]{p} }

// ToNullText returns a destination for a text that may be NULL.
func ToNullText(p **string) any { return intoNullText{p} }

// ToInt returns a destination for an integer.
func ToInt(p *int64) any { return intoInt{p} }

// ToTime returns a destination for a time.
func ToTime(p *time.Time) any { return intoTime{p} }

// ToNullTime returns a destination for a time that may be NULL.
func ToNullTime(p **time.Time) any { return intoNullTime{p} }

// ToJSON returns a destination for a JSON column, which is decoded into p.
func ToJSON(p any) any { return intoJSON{into: p} }

// ToNonEmptyJSON is ToJSON for columns that are mostly {} or []: these are not decoded and leave p
// unchanged.
func ToNonEmptyJSON(p any) any { return intoJSON{into: p, keepEmpty: true} }

type (
	intoText[T ~string] struct{ p *T }
	intoNullText        struct{ p **string }
	intoInt             struct{ p *int64 }
	intoTime            struct{ p *time.Time }
	intoNullTime        struct{ p **time.Time }
	intoJSON            struct {
		into      any
		keepEmpty bool
	}
)

// Scan reads src.
func (d intoText[T]) Scan(src any) error {
	switch v := src.(type) {
	case string:
		*d.p = T(v)
	case []byte:
		*d.p = T(v)
	case nil:
		*d.p = ""
	default:
		return scanError(src, "text")
	}
	return nil
}

// Scan reads src.
func (d intoNullText) Scan(src any) error {
	switch v := src.(type) {
	case string:
		*d.p = &v
	case []byte:
		*d.p = new(string(v))
	case nil:
		*d.p = nil
	default:
		return scanError(src, "text")
	}
	return nil
}

// Scan reads src.
func (d intoInt) Scan(src any) error {
	v, ok := src.(int64)
	if !ok {
		return scanError(src, "an integer")
	}
	*d.p = v
	return nil
}

// Scan reads src.
func (d intoTime) Scan(src any) error {
	v, ok := src.(int64)
	if !ok {
		return scanError(src, "a time")
	}
	*d.p = Time(v)
	return nil
}

// Scan reads src.
func (d intoNullTime) Scan(src any) error {
	switch v := src.(type) {
	case int64:
		*d.p = new(Time(v))
	case nil:
		*d.p = nil
	default:
		return scanError(src, "a time")
	}
	return nil
}

// Scan decodes src.
func (d intoJSON) Scan(src any) error {
	var text []byte
	switch v := src.(type) {
	case string:
		text = []byte(v)
	case []byte:
		text = v
	default:
		return scanError(src, "JSON")
	}
	if d.keepEmpty && len(text) <= 2 { // {} or []
		return nil
	}
	return json.Unmarshal(text, d.into)
}

func scanError(src any, want string) error {
	return fmt.Errorf("sqldb: a column contains %T, not %s", src, want)
}
