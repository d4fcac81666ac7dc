//go:build linux || darwin

package filelock

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

const (
	servingByte   = int64(1) << 62  // locked for writing by the process that serves
	migratingByte = servingByte - 1 // locked for writing by the process that migrates
	nameBytes     = servingByte + 1 // one of them is locked for reading by each process
	nameCount     = int64(1) << 32
)

// File is an open file with the locks of one handle.
type File struct{ file *os.File }

// Open opens a file and locks the byte of the file's name for this process. It fails if another process has the
// file open by another name or directory. SQLite finds the log by the name of the database file:
// with two names there would be two logs, and the processes would overwrite each other's changes.
//
// The byte is computed from the directory's identity and the base name, so a path with a symbolic
// link or a mounted directory yields the same byte.
func Open(path string) (*File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	l := &File{f}
	if err := l.claimName(path); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

func (l *File) claimName(path string) error {
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

// Serve takes the locks of the process that serves, and returns a function that ends them. The error is ErrServed if
// another process has one.
func (l *File) Serve() (unlock func(), err error) {
	free, err := l.exclude(servingByte)
	if err == nil && !free {
		err = ErrServed
	}
	if err != nil {
		return nil, err
	}
	release := func() { _ = l.set(unix.F_UNLCK, servingByte) }
	closeBeside, err := lockBeside(l.file.Name())
	if err != nil {
		release()
		return nil, err
	}
	return func() { closeBeside(); release() }, nil
}

// Migrate takes the lock of the process that migrates, and returns a function that ends it, or nil if another process has it.
func (l *File) Migrate() (unlock func(), err error) {
	free, err := l.exclude(migratingByte)
	if err != nil || !free {
		return nil, err
	}
	return func() { _ = l.set(unix.F_UNLCK, migratingByte) }, nil
}

// exclude locks one byte for writing, and reports whether it was free.
func (l *File) exclude(at int64) (free bool, err error) {
	err = l.set(unix.F_WRLCK, at)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("lock %s: %w", l.file.Name(), err)
	}
	return true, nil
}

// set locks or unlocks one byte, without waiting.
func (l *File) set(kind int16, at int64) error {
	return unix.FcntlFlock(l.file.Fd(), ofdSetLock, &unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: at, Len: 1})
}

// Close ends the locks of the handle.
func (l *File) Close() error { return l.file.Close() }
