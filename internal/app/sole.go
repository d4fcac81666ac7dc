//go:build unix

package app

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// soleServer makes sure that no other process serves the SQLite database in
// file: what another one has on the wire would be taken for abandoned, and sent
// again. It returns how to let the next one in. PostgreSQL, without a file, is
// served by any number. The operating system lets go of the lock when the process
// ends, however it ends.
func soleServer(file string) (unlock func(), err error) {
	if file == "" {
		return func() {}, nil
	}
	f, err := os.OpenFile(file+".serving", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("another process already serves the database %s: stop it first, or give this one a --data-dir of its own; several processes need PostgreSQL", file)
		}
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return func() { _ = f.Close() }, nil
}
