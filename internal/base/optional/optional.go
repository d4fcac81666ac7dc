// Package optional converts between a value that may be missing and its forms in Go and JSON.
package optional

// Pointer returns a pointer to v, or nil for the zero value, which is null in JSON.
func Pointer[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}

// Value returns what p points to, or the zero value for nil.
func Value[T any](p *T) T {
	if p == nil {
		return *new(T)
	}
	return *p
}

// List returns list, never nil, so that its JSON is an array.
func List[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
