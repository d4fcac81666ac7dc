//go:build linux || darwin

package sqldb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Processes that have an SQLite database open detect each other by locks on bytes of the file
// itself, far beyond its content and the 512 bytes from 1<<30 on that SQLite locks. This works
// whatever name each process opened the file by: a symbolic link, a hard link, or a path under
// another mount.
//
// The locks belong to an open file description (F_OFD_SETLK), like those of the SQLite driver.
// Other kinds would conflict with these:
// - a process loses its classic fcntl locks when it closes any descriptor of the file;
// - on macOS, flock and fcntl share one table of locks, so that flock on the database would block
// SQLite. (On Linux they are separate.)
//
// The kernel releases the locks when the process ends, for any reason.
const (
	servingByte = int64(1) << 62  // locked for writing by the process that serves
	nameBytes   = servingByte + 1 // one of them is locked for reading by each process
	nameCount   = int64(1) << 32
)

// fileLock is the locks of one handle.
type fileLock struct{ file *os.File }

// lockFile locks the byte of the file's name for this process. It fails if another process has the
// file open by another name or directory. SQLite finds the log by the name of the database file:
// with two names there would be two logs, and the processes would overwrite each other's changes.
//
// The byte is computed from the directory's identity and the base name, so a path with a symbolic
// link or a mounted directory yields the same byte.
func lockFile(path string) (*fileLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	l := &fileLock{f}
	if err := l.claimName(path); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

func (l *fileLock) claimName(path string) error {
	mine, err := nameByte(path)
	if err != nil {
		return err
	}
	if err := l.set(unix.F_RDLCK, mine); err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	for _, other := range []struct{ from, to int64 }{{nameBytes, mine}, {mine + 1, nameBytes + nameCount}} {
		if other.from == other.to { // a length of 0 would mean "to the end"
			continue
		}
		taken := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Start: other.from, Len: other.to - other.from}
		if err := unix.FcntlFlock(l.file.Fd(), ofdGetLock, &taken); err != nil {
			return fmt.Errorf("read the locks of %s: %w", path, err)
		}
		if taken.Type != unix.F_UNLCK {
			return fmt.Errorf("%w: %s; use the name that the other process uses", ErrOtherName, path)
		}
	}
	return nil
}

// nameByte returns the byte to lock for a path.
func nameByte(path string) (int64, error) {
	info, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return 0, err
	}
	dir, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, fmt.Errorf("%s: the file system has no inode numbers", filepath.Dir(path))
	}
	h := fnv.New64a()
	place := binary.BigEndian.AppendUint64(nil, uint64(dir.Dev))
	_, _ = h.Write(binary.BigEndian.AppendUint64(place, uint64(dir.Ino)))
	_, _ = io.WriteString(h, filepath.Base(path))
	return nameBytes + int64(h.Sum64()%uint64(nameCount)), nil
}

// lockServing locks the byte of the process that serves, and returns a function that unlocks it.
// The error is ErrServed if another process has locked it.
func (l *fileLock) lockServing() (unlock func(), err error) {
	err = l.set(unix.F_WRLCK, servingByte)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return nil, ErrServed
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", l.file.Name(), err)
	}
	return func() { _ = l.set(unix.F_UNLCK, servingByte) }, nil
}

// set locks or unlocks one byte, without waiting.
func (l *fileLock) set(kind int16, at int64) error {
	return unix.FcntlFlock(l.file.Fd(), ofdSetLock, &unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: at, Len: 1})
}

func (l *fileLock) close() error { return l.file.Close() }
