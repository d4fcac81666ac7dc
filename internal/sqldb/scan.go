package sqldb

import (
	"fmt"
	"time"
)

// The destinations below read columns without reflection: database/sql takes
// its slow path for pointers to pointers, named strings and numbers, which is
// what a page of wide rows is made of.

// ToText reads a text into a string of any name; NULL leaves it empty.
func ToText[T ~string](p *T) any { return intoText[T]{p} }

// ToNullText reads a text that may be NULL.
func ToNullText(p **string) any { return intoNullText{p} }

// ToInt reads a whole number.
func ToInt(p *int64) any { return intoInt{p} }

// ToTime reads a time as the database keeps it.
func ToTime(p *time.Time) any { return intoTime{p} }

// ToNullTime reads a time that may be NULL.
func ToNullTime(p **time.Time) any { return intoNullTime{p} }

type (
	intoText[T ~string] struct{ p *T }
	intoNullText        struct{ p **string }
	intoInt             struct{ p *int64 }
	intoTime            struct{ p *time.Time }
	intoNullTime        struct{ p **time.Time }
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
		return scanError(src, "a whole number")
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

func scanError(src any, want string) error {
	return fmt.Errorf("sqldb: a column holds %T, not %s", src, want)
}
