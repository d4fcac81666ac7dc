package revision

import "errors"

// ErrOvertaken means that a record was written since it was read, so that a change that was made from
// what was read must not be stored.
var ErrOvertaken = errors.New("the record was written meanwhile")

// maxTries bounds Retry. An attempt is overtaken only when another writer succeeds, so writers lose at
// most as often as there are others of the same record. Only a comparison that never holds, which is a
// mistake of the program, gets as far as this.
const maxTries = 100

// Retry calls write until its error is not ErrOvertaken. write reads a record without a lock, prepares a
// change that may take long, and stores it only if the record is still the one that was read.
func Retry[T any](write func() (T, error)) (T, error) {
	for try := 1; ; try++ {
		v, err := write()
		if !errors.Is(err, ErrOvertaken) || try == maxTries {
			return v, err
		}
	}
}
