package sqldb

import (
	"context"
	"fmt"
	"time"
)

// ServerInfo is what a PostgreSQL server says about itself.
type ServerInfo struct {
	Version  int               // such as 150007
	Standby  bool              // it accepts no writes
	Time     time.Time         // by its clock
	ByBytes  bool              // texts of the database are sorted as bytes, as SQLite sorts them
	Settings map[string]string // fsync, full_page_writes, synchronous_commit, max_connections, server_encoding
}

// Server asks the PostgreSQL server about itself.
func (db *DB) Server(ctx context.Context) (ServerInfo, error) {
	info := ServerInfo{Settings: map[string]string{}}
	var micros int64
	err := db.QueryRow(ctx, `
		SELECT current_setting('server_version_num')::INTEGER, pg_is_in_recovery(), (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT,
			'B' < 'a' AND 'a-c' < 'ab' AND 'z' < 'é'`).
		Scan(&info.Version, &info.Standby, &micros, &info.ByBytes)
	if err != nil {
		return info, fmt.Errorf("ask the database server about itself: %w", err)
	}
	info.Time = Time(micros)
	rows, err := db.Query(ctx, `
		SELECT name, setting FROM pg_settings
		WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', 'max_connections', 'server_encoding')`)
	err = Each(rows, err, func(scan func(...any) error) error {
		var name, value string
		err := scan(&name, &value)
		info.Settings[name] = value
		return err
	})
	if err != nil {
		return info, fmt.Errorf("read the settings of the database server: %w", err)
	}
	return info, nil
}
