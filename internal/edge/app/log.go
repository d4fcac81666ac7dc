package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/packetboat/packetboat/internal/sqldb"
)

const (
	logInterval = 15 * time.Second // between looks at the log of the SQLite database
	logPatience = 2 * time.Second  // for readers, while nothing is written
)

// databaseLog keeps the log of an SQLite database small.
type databaseLog struct {
	db     *sqldb.DB
	log    *slog.Logger
	max    int64
	warned int64 // size that was logged; 0: it was small
}

// look empties the log if it is large, and warns if a reader prevents that: when it begins and each time the log has doubled.
func (l *databaseLog) look(ctx context.Context) error {
	size, err := l.db.LogSize()
	if err != nil {
		return err
	}
	if size > l.max {
		if _, err := l.db.EmptyLog(ctx, logPatience); err != nil {
			return err
		}
		if size, err = l.db.LogSize(); err != nil {
			return err
		}
	}
	switch {
	case size <= l.max && l.warned > 0:
		l.log.Info("the log of the database is small again")
		l.warned = 0
	case size > l.max && size >= 2*l.warned:
		l.log.Warn("the log of the database grows, because something reads from it without an end; look for a backup that hangs, or sqlite3 that was left open", "file", l.db.File()+"-wal", "bytes", size)
		l.warned = size
	}
	return nil
}

// newLogSize measures the log of an SQLite database.
func newLogSize(db *sqldb.DB) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "packetboat_sqlite_log_bytes",
		Help: "Size of the log (-wal) of the SQLite database.",
	}, func() float64 {
		size, _ := db.LogSize()
		return float64(size)
	})
}
