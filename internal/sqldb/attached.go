package sqldb

import "reflect"

// Attached returns the value of a type that belongs to the database of a handle, such as a cache of what is stored
// there. create makes it at the first call.
func Attached[T any](db *DB, create func() *T) *T {
	v, ok := db.attached.Load(reflect.TypeFor[T]())
	if !ok {
		v, _ = db.attached.LoadOrStore(reflect.TypeFor[T](), create())
	}
	return v.(*T)
}
