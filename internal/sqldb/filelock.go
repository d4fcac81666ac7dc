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

// Processes that open an SQLite database learn of each other by locks on bytes of
// the file itself, far behind all content and behind the 512 bytes from 1<<30 on
// that SQLite locks. So they find each other whatever name each of them used: a
// symbolic link, a hard link, a path that is mounted elsewhere.
//
// The locks belong to an open file description (F_OFD_SETLK), as those of the
// SQLite driver do. Other kinds would not be safe beside it:
//   - a process loses its classic fcntl locks when it closes any descriptor of
//     the file;
//   - on macOS flock and fcntl share one table of locks, so that flock on the
//     database would shut SQLite out of it. (On Linux they are apart.)
//
// The kernel drops the locks when the process ends, however it ends.
const (
	servingByte = int64(1) << 62  // locked for writing by the process that serves
	nameBytes   = servingByte + 1 // one of them is locked for reading by each process
	nameCount   = int64(1) << 32
)

// fileLock holds the locks of one handle.
type fileLock struct{ file *os.File }

// lockFile notes that this process uses the database, and refuses when another
// uses it by a name in another place. SQLite keeps the log beside the file and
// finds it by the file's name: with two names there would be two logs, and each
// process would overwrite what the other wrote.
//
// The byte stands for the directory's identity and the name in it, so the same
// name by way of a symbolic link or a mounted directory is the same byte.
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
			return fmt.Errorf("ask for locks of %s: %w", path, err)
		}
		if taken.Type != unix.F_UNLCK {
			return fmt.Errorf("%w: %s; use the name that the other process uses", ErrOtherName, path)
		}
	}
	return nil
}

// nameByte returns the byte that stands for the place of a file.
func nameByte(path string) (int64, error) {
	info, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return 0, err
	}
	dir, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, fmt.Errorf("%s: the file system does not say which directory it is", filepath.Dir(path))
	}
	h := fnv.New64a()
	place := binary.BigEndian.AppendUint64(nil, uint64(dir.Dev))
	_, _ = h.Write(binary.BigEndian.AppendUint64(place, uint64(dir.Ino)))
	_, _ = io.WriteString(h, filepath.Base(path))
	return nameBytes + int64(h.Sum64()%uint64(nameCount)), nil
}

// serve takes the lock of the process that serves, and returns how to give it back.
func (l *fileLock) serve() (unlock func(), err error) {
	err = l.set(unix.F_WRLCK, servingByte)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return nil, ErrServed
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", l.file.Name(), err)
	}
	return func() { _ = l.set(unix.F_UNLCK, servingByte) }, nil
}

// set sets or lifts the lock on one byte, without waiting.
func (l *fileLock) set(kind int16, at int64) error {
	return unix.FcntlFlock(l.file.Fd(), ofdSetLock, &unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: at, Len: 1})
}

func (l *fileLock) close() error { return l.file.Close() }
