package sqldb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
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
