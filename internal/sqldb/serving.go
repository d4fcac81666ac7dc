package sqldb

import "errors"

var (
	// ErrServed says that another process serves the SQLite database.
	ErrServed = errors.New("another process already serves the database")
	// ErrOtherName says that another process has the SQLite database open by
	// another name, beside which it keeps another log.
	ErrOtherName = errors.New("the database is in use under another name")
)

// Serve makes this handle's process the one that serves an SQLite database, until
// unlock is called or the process ends; others get ErrServed, whatever name they
// opened the file by. They may still use the database. PostgreSQL is served by any
// number.
func (db *DB) Serve() (unlock func(), err error) {
	if db.lock == nil {
		return func() {}, nil
	}
	return db.lock.serve()
}
