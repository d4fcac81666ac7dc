package sqldb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
)

// private makes the file of an SQLite database when there is none, and lets only
// its owner read and write it and the two files that SQLite keeps beside it,
// whatever the umask is and whatever their modes were before.
//
// SQLite makes the log (-wal) with the mode of the database, which dsn asks for;
// the index of the log (-shm) it would make readable by everybody, so an empty
// one is put there first.
func private(file string) error {
	for _, f := range []struct {
		path string
		flag int
	}{
		{file, os.O_RDWR | os.O_CREATE},
		{file + "-wal", os.O_RDWR},
		{file + "-shm", os.O_RDWR | os.O_CREATE},
	} {
		err := narrow(f.path, f.flag)
		if err != nil && (f.flag&os.O_CREATE != 0 || !errors.Is(err, fs.ErrNotExist)) {
			return fmt.Errorf("make the database private: %w", err)
		}
	}
	return nil
}

func narrow(path string, flag int) error {
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
