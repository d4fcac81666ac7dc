package wire

import (
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
)

// NullAsZero returns the value of a field, the zero value for null, and nil if the field is absent.
func NullAsZero[T any](o endpoint.Opt[T]) *T {
	if !o.Set {
		return nil
	}
	return new(o.Or(*new(T)))
}

// NullAsNil returns a pointer to the value of a field, a pointer to nil for null, and nil if the
// field is absent.
func NullAsNil[T any](o endpoint.Opt[T]) **T {
	if !o.Set {
		return nil
	}
	return new(o.Pointer())
}

// SetIfGiven replaces v by the value of a field that has one.
func SetIfGiven[T any](v *T, o endpoint.Opt[T]) { *v = o.Or(*v) }

// SetOrClear replaces v by the value of a field. Null and an empty text clear v, an absent field
// does not change it.
func SetOrClear(v **string, o endpoint.Opt[string]) {
	if !o.Set {
		return
	}
	if *v = o.Pointer(); *v != nil && **v == "" {
		*v = nil
	}
}

// QueryTime parses a time in a query; nil if it is absent.
func QueryTime(p *fault.Problems, name, text string) *time.Time {
	if text == "" {
		return nil
	}
	t, err := endpoint.ParseTime(text)
	if err != nil {
		p.Add(name, err.Error())
		return nil
	}
	return &t
}

// NameOf returns the name of an id, or nil.
func NameOf[K comparable](names map[K]string, v K) *string {
	if name, ok := names[v]; ok {
		return &name
	}
	return nil
}

// Accepted is the answer to a request that a job performs.
type Accepted struct {
	JobID id.Job `json:"job_id" format:"uuid"`
}
