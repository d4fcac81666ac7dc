//go:build unix

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// lockBeside locks a file beside the database. This lock is the only one that some earlier versions use, and
// the only one on systems without locks of open file descriptions. The error is ErrServed if another process has it.
func lockBeside(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path+".serving", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err = f.Chmod(0o600); err == nil {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrServed
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil
}
