package sqldb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// MaxLog is the size in bytes that the log of an SQLite database (-wal) should not exceed. SQLite writes from its beginning again when
// everything in it is in the file and no reader needs it; readers that overlap, or one that takes hours, make it grow.
const MaxLog = 128 << 20

// LogSize returns the size of the log of an SQLite database in bytes; 0 with PostgreSQL.
func (db *DB) LogSize() (int64, error) {
	if db.dialect != SQLite {
		return 0, nil
	}
	info, err := os.Stat(db.file + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// EmptyLog empties the log of an SQLite database, and reports whether it could. It waits for readers at most for a time, in which
// nothing is written.
func (db *DB) EmptyLog(ctx context.Context, within time.Duration) (emptied bool, err error) {
	if err := db.writer.acquire(ctx); err != nil {
		return false, err
	}
	defer db.writer.release()
	wait := func(d time.Duration) error {
		_, err := db.writer.conn.ExecContext(context.WithoutCancel(ctx), fmt.Sprintf(`PRAGMA busy_timeout = %d`, d.Milliseconds()))
		return err
	}
	if err := wait(within); err != nil {
		return false, err
	}
	var busy, pages, moved int
	err = db.writer.conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &pages, &moved)
	if err := errors.Join(err, wait(sqliteBusyMillis*time.Millisecond)); err != nil {
		return false, fmt.Errorf("empty the log of the database: %w", err)
	}
	return busy == 0, nil
}
