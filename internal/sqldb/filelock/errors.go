// Package filelock lets the processes that have an SQLite database open detect each other, by locks on
// bytes of the file itself, far beyond its content and the 512 bytes from 1<<30 on that SQLite locks.
// This works whatever name each process opened the file by: a symbolic link, a hard link, or a path
// under another mount. The process that serves locks a file beside the database as well; on systems other than Linux and macOS, that
// is the only lock.
//
// The locks belong to an open file description (F_OFD_SETLK), like those of the SQLite driver.
// Other kinds would conflict with these:
// - a process loses its classic fcntl locks when it closes any descriptor of the file;
// - on macOS, flock and fcntl share one table of locks, so that flock on the database would block
// SQLite. (On Linux they are separate.)
//
// The kernel releases the locks when the process ends, for any reason.
package filelock

import "errors"

var (
	// ErrServed means that another process serves the SQLite database.
	ErrServed = errors.New("another process already serves the database")
	// ErrOtherName means that another process has the SQLite database open by another name, for
	// which SQLite uses another log.
	ErrOtherName = errors.New("the database is in use under another name")
)
