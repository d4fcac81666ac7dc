package sqldb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"

	"github.com/ncruces/go-sqlite3"
)

// makePrivate creates the file of an SQLite database if it does not exist, and makes it and the two
// files beside it readable and writable for its owner only, whatever the umask and their modes
// were.
//
// SQLite creates the log (-wal) with the mode of the database, because of dsn. The index of the log
// (-shm) would be readable by others, so an empty one is created first.
func makePrivate(file string) error {
	for _, f := range []struct {
		path string
		flag int
	}{
		{file, os.O_RDWR | os.O_CREATE},
		{file + "-wal", os.O_RDWR},
		{file + "-shm", os.O_RDWR | os.O_CREATE},
	} {
		err := setPrivateMode(f.path, f.flag)
		if err != nil && (f.flag&os.O_CREATE != 0 || !errors.Is(err, fs.ErrNotExist)) {
			return fmt.Errorf("restrict the database to its owner: %w", err)
		}
	}
	return nil
}

func setPrivateMode(path string, flag int) error {
	f, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if runtime.GOOS == "windows" { // files there have no modes of this kind
		return nil
	}
	info, err := f.Stat()
	if err != nil || info.Mode().Perm() == 0o600 {
		return err
	}
	if err := f.Chmod(0o600); err != nil && info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("other users may read %s, and its mode cannot be changed (run chmod 600 as its owner): %w", path, err)
	}
	return nil
}

// explainFile says of an error of SQLite which file it is about and what to do, if it is about the file as a whole rather
// than a statement.
func explainFile(file string, err error) error {
	for _, e := range []struct {
		code   sqlite3.ErrorCode
		advice string
	}{
		{sqlite3.NOTADB, "it is no SQLite database, or was overwritten: name another file with PACKETBOAT_DATABASE_URL, or restore a backup"},
		{sqlite3.CORRUPT, "it is damaged: stop what uses it, keep a copy, and restore a backup, or save what can be read with sqlite3 and its command .recover"},
		{sqlite3.FULL, "its disk is full: make room, and start again"},
		{sqlite3.IOERR, "its disk is full or fails: look at its free space and at the log of the system"},
		{sqlite3.READONLY, "it cannot be written: check its owner and mode, those of its directory, and whether the disk is mounted read-only"},
		{sqlite3.CANTOPEN, "it cannot be opened: check its owner and mode, and those of its directory"},
	} {
		if errors.Is(err, e.code) {
			return &fileError{text: fmt.Sprintf("the database %s: %s (%v)", file, e.advice, e.code), cause: err}
		}
	}
	return err
}

// fileError has a text of its own, since the driver's names the wrong cause, such as an invalid pragma.
type fileError struct {
	text  string
	cause error
}

// Error returns the text.
func (e *fileError) Error() string { return e.text }

// Unwrap returns the error of the driver.
func (e *fileError) Unwrap() error { return e.cause }

// Describe says of an error which file it is about and what to do, if it is about an SQLite database as a whole. It is for
// errors that end a program.
func (db *DB) Describe(err error) error {
	if db.dialect != SQLite || err == nil {
		return err
	}
	return explainFile(db.file, err)
}

// QuickCheck looks for damage in an SQLite database, by its structure, and returns at most five findings. It reads the whole file.
func (db *DB) QuickCheck(ctx context.Context) ([]string, error) {
	rows, err := db.Query(ctx, `SELECT quick_check FROM pragma_quick_check LIMIT 5`)
	list, err := Collect(rows, err, func(scan func(...any) error) (s string, err error) { return s, scan(&s) })
	if errors.Is(err, sqlite3.CORRUPT) { // so damaged that the check itself ends
		return []string{err.Error()}, nil
	}
	return slices.DeleteFunc(list, func(s string) bool { return s == "ok" }), err
}
