package endpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/calendar"
)

// None is a response without a body: 204.
type None struct{}

// Opt is a body field that distinguishes absent, null and a value. It is never required; null is an error
// if the field is tagged nullable:"false".
type Opt[T any] struct {
	Set   bool // the field is present
	Null  bool // and null
	Value T
}

// Some returns an Opt with the value v.
func Some[T any](v T) Opt[T] { return Opt[T]{Set: true, Value: v} }

// Given reports whether the field has a value.
func (o Opt[T]) Given() bool { return o.Set && !o.Null }

// Or returns the value, or otherwise if the field is absent or null.
func (o Opt[T]) Or(otherwise T) T {
	if o.Given() {
		return o.Value
	}
	return otherwise
}

// Pointer returns the value, or nil if the field is absent or null.
func (o Opt[T]) Pointer() *T {
	if o.Given() {
		return &o.Value
	}
	return nil
}

// UnmarshalJSON reads null or a T.
func (o *Opt[T]) UnmarshalJSON(b []byte) error {
	*o = Opt[T]{Set: true}
	if bytes.Equal(b, []byte("null")) {
		o.Null = true
		return nil
	}
	return json.Unmarshal(b, &o.Value)
}

// MarshalJSON writes null or the value.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if !o.Given() {
		return []byte("null"), nil
	}
	return json.Marshal(o.Value)
}

// Schema returns T's schema, which also allows null.
func (o Opt[T]) Schema(r Registry) *Schema {
	t := reflect.TypeFor[T]()
	s := r.Schema(t, true, t.Name())
	if s.Ref == "" && s.Type != "" { // a schema without a type allows null
		c := *s
		c.Nullable = true
		return &c
	}
	return s
}

func (o Opt[T]) elemType() reflect.Type { return reflect.TypeFor[T]() }

// optional is implemented by every Opt[T].
type optional interface{ elemType() reflect.Type }

// Stamp is a time in the format of responses: UTC, milliseconds, Z.
type Stamp time.Time

// At returns t as a Stamp.
func At(t time.Time) Stamp { return Stamp(t) }

// AtOr returns t as a Stamp, or nil if t is nil.
func AtOr(t *time.Time) *Stamp {
	if t == nil {
		return nil
	}
	return new(Stamp(*t))
}

const stampLayout = "2006-01-02T15:04:05.000Z"

// String returns the stamp in the format of responses.
func (s Stamp) String() string { return time.Time(s).UTC().Format(stampLayout) }

// MarshalJSON writes the stamp as a JSON string.
func (s Stamp) MarshalJSON() ([]byte, error) { return []byte(`"` + s.String() + `"`), nil }

// UnmarshalJSON reads a JSON string in a format of ParseTime.
func (s *Stamp) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	t, err := ParseTime(text)
	*s = Stamp(t)
	return err
}

// Schema returns the schema of a date-time.
func (s Stamp) Schema(Registry) *Schema {
	return &Schema{Type: TypeString, Format: "date-time"}
}

var errTime = errors.New("must be a date and time such as 2026-03-01T09:30:00Z")

// ParseTime parses a time in the forms of calendar.ParseMoment, which are those of RFC 3339 and more, or a
// date, which is its first moment in UTC. The error can be the message of a field's problem.
func ParseTime(s string) (time.Time, error) {
	s = strings.TrimSpace(s)
	t, ok := calendar.ParseMoment(s)
	if !ok {
		t, ok = calendar.ParseDay(s)
	}
	if !ok {
		return time.Time{}, errTime
	}
	return t, nil
}
