// Package destination stores what processes find out about the destinations of direct delivery: that a
// provider asked for less mail, that servers cannot be reached, or that TLS with a server fails. All
// processes of an installation use it, and it outlives them.
//
// Destinations belong to no tenant: providers see the addresses that mail comes from.
package destination

import (
	"context"
	"fmt"
	"math"
	"net/netip"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// Keep is how long something is stored after it was last found out.
const Keep = 72 * time.Hour

// Key identifies a destination, as it sees one of the installation's addresses.
type Key struct {
	Source netip.Addr
	Name   string // a directmx.Route.Destination
}

// State is what is known of a destination. Times are zero if there is none.
type State struct {
	Key
	Suspended   time.Time // nothing is sent before
	Reason      string    // of Suspended
	Slow        time.Time // from when on connections are added one by one
	Hint        time.Time // when the provider last asked for less mail
	TLSRequired time.Time // when the servers last refused mail in clear
	Down        time.Time // since when the servers cannot be reached; zero while they can
	Retry       time.Time // while down: when they are tried again
	Backoff     time.Duration

	Window   float64   // connections that its answers allow, of all processes together; 0 if that is not known
	WindowAt time.Time // when that last changed
}

// Window is what a process found out about the number of connections that a destination accepts.
type Window struct {
	Key
	Window float64 // connections, if no other process has stored a number lately
	Change float64 // of the number that is stored
	Most   float64 // that the destination can have
}

// WindowLasts is how long the number of connections of a destination is used after it last changed.
const WindowLasts = 6 * time.Hour

// Save stores states. Of each time the later one counts, whichever process stored it, except for those
// about servers that cannot be reached: of these the last ones count.
func Save(ctx context.Context, db *sqldb.DB, list []State, now time.Time) error {
	if len(list) == 0 {
		return nil
	}
	t := db.Table("source TEXT", "name TEXT", "suspended_until BIGINT", "reason TEXT", "slow_at BIGINT", "hint_at BIGINT",
		"tls_required_at BIGINT", "down_at BIGINT", "retry_at BIGINT", "backoff BIGINT")
	for _, s := range list {
		t.Add(s.Source.String(), s.Name, sqldb.MicrosOrZero(s.Suspended), s.Reason, sqldb.MicrosOrZero(s.Slow), sqldb.MicrosOrZero(s.Hint), sqldb.MicrosOrZero(s.TLSRequired),
			sqldb.MicrosOrZero(s.Down), sqldb.MicrosOrZero(s.Retry), s.Backoff.Microseconds())
	}
	later := func(column string) string {
		return column + " = " + db.Greatest("destination."+column, "excluded."+column)
	}
	_, err := db.Exec(ctx, `
		INSERT INTO destination (source, name, suspended_until, reason, slow_at, hint_at, tls_required_at, down_at, retry_at, backoff, changed_at)
		SELECT v.source, v.name, v.suspended_until, v.reason, v.slow_at, v.hint_at, v.tls_required_at, v.down_at, v.retry_at, v.backoff, $1
		FROM `+t.As("v", 2)+` WHERE true
		ON CONFLICT (source, name) DO UPDATE SET
			reason = CASE WHEN excluded.suspended_until > destination.suspended_until THEN excluded.reason ELSE destination.reason END,
			`+later("suspended_until")+`, `+later("slow_at")+`, `+later("hint_at")+`, `+later("tls_required_at")+`,
			down_at = excluded.down_at, retry_at = excluded.retry_at, backoff = excluded.backoff, changed_at = excluded.changed_at`,
		t.Args(now.UnixMicro())...)
	if err != nil {
		return fmt.Errorf("save the states of destinations: %w", err)
	}
	return nil
}

// SaveWindows adds the changes of windows to those that are stored, so that the changes of all processes count.
func SaveWindows(ctx context.Context, db *sqldb.DB, list []Window, now time.Time) error {
	if len(list) == 0 {
		return nil
	}
	keys := db.Table("source TEXT", "name TEXT")
	t := db.Table("source TEXT", "name TEXT", "own BIGINT", "change BIGINT", "most BIGINT")
	for _, w := range list {
		keys.Add(w.Source.String(), w.Name)
		t.Add(w.Source.String(), w.Name, milli(w.Window), milli(w.Change), milli(w.Most))
	}
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		// Locks the rows in one order, so that processes do not block each other.
		if _, err := tx.Exec(ctx, `
			INSERT INTO destination (source, name, suspended_until, reason, slow_at, hint_at, tls_required_at, down_at, retry_at, backoff, changed_at)
			SELECT v.source, v.name, 0, '', 0, 0, 0, 0, 0, 0, CAST($1 AS BIGINT) FROM `+keys.As("v", 2)+` WHERE true ORDER BY v.source, v.name
			ON CONFLICT (source, name) DO UPDATE SET changed_at = `+db.Greatest("destination.changed_at", "excluded.changed_at"),
			keys.Args(now.UnixMicro())...); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `
			UPDATE destination SET window_at = $1, window_milli = CASE WHEN destination.window_at < $2 THEN v.own
				WHEN destination.window_milli + v.change < 1000 THEN 1000
				WHEN destination.window_milli + v.change > v.most THEN v.most ELSE destination.window_milli + v.change END
			FROM `+t.As("v", 3)+` WHERE destination.source = v.source AND destination.name = v.name`,
			t.Args(now.UnixMicro(), now.Add(-WindowLasts).UnixMicro())...)
		return err
	})
	if err != nil {
		return fmt.Errorf("save how many connections destinations accept: %w", err)
	}
	return nil
}

// Changed returns the states that were stored since a time.
func Changed(ctx context.Context, db *sqldb.DB, since time.Time) ([]State, error) {
	rows, err := db.Query(ctx, `
		SELECT source, name, suspended_until, reason, slow_at, hint_at, tls_required_at, down_at, retry_at, backoff, window_milli, window_at
		FROM destination WHERE changed_at >= $1`, since.UnixMicro())
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (s State, err error) {
		var source string
		var suspended, slow, hint, tls, down, retry, backoff, window, windowAt int64
		if err := scan(&source, &s.Name, &suspended, &s.Reason, &slow, &hint, &tls, &down, &retry, &backoff, &window, &windowAt); err != nil {
			return s, err
		}
		s.Window, s.WindowAt = float64(window)/1000, moment(windowAt)
		s.Suspended, s.Slow, s.Hint, s.TLSRequired = moment(suspended), moment(slow), moment(hint), moment(tls)
		s.Down, s.Retry, s.Backoff = moment(down), moment(retry), time.Duration(backoff)*time.Microsecond
		s.Source, err = netip.ParseAddr(source)
		return s, err
	})
	if err != nil {
		return nil, fmt.Errorf("read the states of destinations: %w", err)
	}
	return list, nil
}

// SaveBrokenTLS stores that TLS failed with mail servers.
func SaveBrokenTLS(ctx context.Context, db *sqldb.DB, hosts []string, now time.Time) error {
	if len(hosts) == 0 {
		return nil
	}
	t := db.Table("host TEXT")
	for _, h := range hosts {
		t.Add(h)
	}
	_, err := db.Exec(ctx, `
		INSERT INTO destination_broken_tls (host, failed_at) SELECT DISTINCT v.host, CAST($1 AS BIGINT) FROM `+t.As("v", 2)+` WHERE true
		ON CONFLICT (host) DO UPDATE SET failed_at = excluded.failed_at`, t.Args(now.UnixMicro())...)
	if err != nil {
		return fmt.Errorf("save servers with broken TLS: %w", err)
	}
	return nil
}

// BrokenTLS returns the mail servers with which TLS failed since a time, and when it last did.
func BrokenTLS(ctx context.Context, db *sqldb.DB, since time.Time) (map[string]time.Time, error) {
	found := map[string]time.Time{}
	rows, err := db.Query(ctx, `SELECT host, failed_at FROM destination_broken_tls WHERE failed_at >= $1`, since.UnixMicro())
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var host string
		var at int64
		err := scan(&host, &at)
		found[host] = moment(at)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read servers with broken TLS: %w", err)
	}
	return found, nil
}

// Sweep deletes what has not changed for the time of Keep.
func Sweep(ctx context.Context, db *sqldb.DB, now time.Time) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		before := now.Add(-Keep).UnixMicro()
		if _, err := tx.Exec(ctx, `DELETE FROM destination WHERE changed_at < $1`, before); err != nil {
			return fmt.Errorf("delete old states of destinations: %w", err)
		}
		if _, err := tx.Exec(ctx, `DELETE FROM destination_broken_tls WHERE failed_at < $1`, before); err != nil {
			return fmt.Errorf("delete old servers with broken TLS: %w", err)
		}
		return nil
	})
}

func milli(n float64) int64 { return int64(math.Round(n * 1000)) }

func moment(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return sqldb.Time(us)
}
