package httpapi

import (
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
)

// orNull returns nil for a zero value, so that it is null in JSON.
func orNull[T comparable](s T) *T {
	if s == *new(T) {
		return nil
	}
	return &s
}

// nullAsZero returns the value of a field, the zero value for null, and nil if the field is absent.
func nullAsZero[T any](o endpoint.Opt[T]) *T {
	if !o.Set {
		return nil
	}
	return new(o.Or(*new(T)))
}

// nullAsNil returns a pointer to the value of a field, a pointer to nil for null, and nil if the
// field is absent.
func nullAsNil[T any](o endpoint.Opt[T]) **T {
	if !o.Set {
		return nil
	}
	return new(o.Pointer())
}

// setIfGiven replaces v by the value of a field that has one.
func setIfGiven[T any](v *T, o endpoint.Opt[T]) { *v = o.Or(*v) }

// setOrClear replaces v by the value of a field. Null and an empty text clear v, an absent field
// does not change it.
func setOrClear(v **string, o endpoint.Opt[string]) {
	if !o.Set {
		return
	}
	if *v = o.Pointer(); *v != nil && **v == "" {
		*v = nil
	}
}

// queryTime parses a time in a query; nil if it is absent.
func queryTime(p *fault.Problems, name, text string) *time.Time {
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

// nameOf returns the name of an id, or nil.
func nameOf[K comparable](names map[K]string, v K) *string {
	if name, ok := names[v]; ok {
		return &name
	}
	return nil
}

// accepted is the answer to a request that a job performs.
type accepted struct {
	JobID id.Job `json:"job_id" format:"uuid"`
}
