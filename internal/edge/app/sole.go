//go:build unix

package app

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/filelock"
)

// soleServer makes sure that no other process serves the SQLite database: a second one would
// consider attempts in flight of the first as abandoned, and repeat them. It returns a function
// that releases the locks. PostgreSQL may be served by any number of processes. The operating
// system releases both locks when the process ends for any reason.
//
// The lock on the database file (sqldb.DB.Serve) works whatever name the file was opened by. The
// lock on a separate file is the only one that earlier versions use, and the only one on systems
// without locks of open file descriptions.
func soleServer(db *sqldb.DB) (unlock func(), err error) {
	file := db.File()
	if file == "" {
		return func() {}, nil
	}
	taken := fmt.Errorf("%w %s: stop it first, or give this one a --data-dir of its own; several processes need PostgreSQL", filelock.ErrServed, file)
	giveUp, err := db.Serve()
	if errors.Is(err, filelock.ErrServed) {
		return nil, taken
	}
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(file+".serving", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		giveUp()
		return nil, err
	}
	err = f.Chmod(0o600)
	if err == nil {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err != nil {
		_ = f.Close()
		giveUp()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, taken
		}
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return func() {
		_ = f.Close()
		giveUp()
	}, nil
}
