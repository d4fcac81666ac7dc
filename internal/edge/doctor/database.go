package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/senders/hold"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// The oldest version of PostgreSQL that the program is tested with, and the connections of a process.
const (
	oldestPostgres = 150000
	poolSize       = 20
)

// database opens the database, unless there is none yet, and examines it.
func (e *examination) database(ctx context.Context, n *notes) {
	subject := "PostgreSQL"
	if strings.HasPrefix(e.DatabaseURL, "sqlite:") {
		file, err := sqldb.SQLiteFile(e.DatabaseURL, e.DataDir)
		if err != nil {
			n.fail("SQLite", "set PACKETBOAT_DATABASE_URL to sqlite:FILE", "%s", err)
			return
		}
		subject = file
		info, err := os.Stat(file)
		if errors.Is(err, fs.ErrNotExist) {
			n.warn(file, "start packetboat serve, which creates it, or set PACKETBOAT_DATABASE_URL to where it is", "there is no database yet")
			return
		}
		if err != nil {
			n.fail(file, "let the user that runs packetboat use the file", "%s", err)
			return
		}
		e.modeOf(n, file, info, 0o077, "chmod 600 "+file)
	}
	db, err := sqldb.Open(ctx, e.DatabaseURL, sqldb.Options{DataDir: e.DataDir, MaxConns: 2})
	if err != nil {
		advice := "start the database, and check PACKETBOAT_DATABASE_URL and whether this machine may connect"
		if subject != "PostgreSQL" {
			advice = "check PACKETBOAT_DATABASE_URL, the file and its disk"
		}
		n.fail(subject, advice, "it cannot be opened: %s", err)
		return
	}
	if e.usableDatabase(ctx, n, db, subject) {
		e.db.Store(db)
		return
	}
	_ = db.Close()
}

// usableDatabase examines an open database, and reports whether its tables can be read.
func (e *examination) usableDatabase(ctx context.Context, n *notes, db *sqldb.DB, subject string) bool {
	if db.Dialect() == sqldb.Postgres {
		info, err := db.Server(ctx)
		if err != nil {
			n.fail(subject, "start the database, and check whether the user may connect to it", "%s", err)
			return false
		}
		e.server(n, info)
	}
	schema, err := db.Schema(ctx)
	switch {
	case errors.Is(err, sqldb.ErrOldSchema):
		n.fail(subject, "use another database", "the schema does not fit this program: %s", err)
		return false
	case errors.Is(err, sqldb.ErrNewerSchema):
		n.fail(subject, "use the version of packetboat that the database was last used with, or a newer one", "the schema does not fit this program: %s", err)
		return false
	case err != nil:
		n.fail(subject, "check the log of the database", "the schema cannot be read: %s", err)
		return false
	case len(schema.Missing) > 0:
		n.warn(subject, "make a backup, stop what serves the database, and start packetboat serve, or run packetboat migrate", "migrations are missing (%d)", len(schema.Missing))
		return false
	}
	if db.Dialect() == sqldb.SQLite {
		quickCheck(ctx, n, db)
		if size, err := db.LogSize(); err == nil && size > sqldb.MaxLog {
			n.warn(db.File()+"-wal", "end what reads from the database without an end, such as a backup that hangs or sqlite3 that was left open", "the log of the database has %d MB", size>>20)
		}
	}
	if err := e.Touch(ctx, db); err != nil {
		n.fail(subject, "check the disk of the database, and whether it is read-only", "it accepts no writes: %s", err)
	} else {
		n.ok(subject, "it accepts writes, and its schema is up to date")
	}
	e.sameKey(ctx, n, db, subject)
	return true
}

// checkWithin is the time limit of the search for damage in an SQLite database.
const checkWithin = 20 * time.Second

// quickCheck looks for damage in an SQLite database.
func quickCheck(ctx context.Context, n *notes, db *sqldb.DB) {
	ctx, cancel := context.WithTimeout(ctx, checkWithin)
	defer cancel()
	damage, err := db.QuickCheck(ctx)
	switch {
	case ctx.Err() != nil:
		n.skip(db.File(), "it is too large to be searched for damage within %d seconds; PRAGMA quick_check of sqlite3 does that", int(checkWithin.Seconds()))
	case err != nil:
		n.fail(db.File(), "look at the log of the system for errors of the disk", "it cannot be searched for damage: %s", err)
	case len(damage) > 0:
		n.fail(db.File(), "stop what uses it, keep a copy, and restore a backup, or save what can be read with sqlite3 and its command .recover", "it is damaged: %s", strings.Join(damage, "; "))
	default:
		n.ok(db.File(), "no damage was found")
	}
}

// server examines the settings of a PostgreSQL server.
func (e *examination) server(n *notes, info sqldb.ServerInfo) {
	const subject = "PostgreSQL"
	if info.Version < oldestPostgres {
		n.warn(subject, "update it to version 15 or later, with which packetboat is tested", "the server has version %d", info.Version/10000)
	} else {
		n.ok(subject, "the server has version %d.%d", info.Version/10000, info.Version%10000)
	}
	if info.Standby {
		n.fail(subject, "name the primary server in PACKETBOAT_DATABASE_URL", "the server is a standby, which accepts no writes")
	}
	for _, name := range []string{"fsync", "full_page_writes"} {
		if info.Settings[name] == "off" {
			n.warn(subject, "set "+name+" = on in postgresql.conf: a power failure can destroy the database", "%s is off", name)
		}
	}
	if info.Settings["synchronous_commit"] == "off" {
		n.warn(subject, "set synchronous_commit = on: messages could be sent twice after a crash", "synchronous_commit is off")
	}
	if info.Settings["server_encoding"] != "UTF8" {
		n.fail(subject, "create the database with --encoding=UTF8", "the encoding of the database is %s", info.Settings["server_encoding"])
	}
	if !info.ByBytes {
		n.warn(subject, "copy the data to a database that was created with --lc-collate=C: pg_dump and pg_restore do that", "the database sorts texts by the rules of a language, so that contacts sorted by address are in another order")
	}
	if most, err := strconv.Atoi(info.Settings["max_connections"]); err == nil && most < 2*poolSize {
		n.warn(subject, "set max_connections to at least 25 for each process", "the server allows %d connections, and each process opens up to %d", most, poolSize)
	}
	e.drift(n, "the database's clock", info.Time.Sub(e.Now()))
}

// The differences of clocks for which there are findings.
const (
	drifting = 2 * time.Second
	wrong    = 30 * time.Second
)

// drift adds the difference between another clock and this machine's.
func (e *examination) drift(n *notes, what string, by time.Duration) {
	advice := "synchronize the clocks of all machines, for example with chrony: signatures, links and plans depend on the time"
	switch {
	case by.Abs() > wrong:
		n.fail("", advice, "%s differs from this machine's by %s", what, by.Round(time.Second))
	case by.Abs() > drifting:
		n.warn("", advice, "%s differs from this machine's by %s", what, by.Round(time.Second/10))
	default:
		n.ok("", "%s agrees with this machine's", what)
	}
}

// sameKey compares the secret key with the one the database was created with.
func (e *examination) sameKey(ctx context.Context, n *notes, db *sqldb.DB, subject string) {
	stored, err := e.Fingerprint(ctx, db)
	switch {
	case err != nil:
		n.fail(subject, "check the log of the database", "%s", err)
	case stored == "":
	case e.box.Load() == nil:
		n.fail(subject, "bring back secret.key into the data directory, or set PACKETBOAT_SECRET_KEY to what it held", "it was created with a secret key that is missing here")
	case e.KeyFingerprint(e.box.Load()) != stored:
		n.fail(subject, "bring back the secret.key that belongs to this database, or set PACKETBOAT_SECRET_KEY to what it held", "it was created with another secret key")
	default:
		n.ok(subject, "the secret key belongs to it")
	}
}

// state examines what keeps mail from being sent, in the database.
func (e *examination) state(ctx context.Context, n *notes) {
	db := e.db.Load()
	if db == nil {
		n.skip("", "the database cannot be used")
		return
	}
	since, err := hold.Since(ctx, db)
	switch {
	case err != nil:
		n.fail("", "check the log of the database", "%s", err)
		return
	case since != nil:
		n.warn("", "packetboat release lets them go on", "all sends are held since %s", since.Format(time.RFC3339))
	}
	list, err := tenant.List(ctx, db)
	switch {
	case err != nil:
		n.fail("", "check the log of the database", "%s", err)
		return
	case len(list) == 0:
		n.warn("", "follow the link in the log of packetboat serve, or use packetboat tenant create", "there is no tenant yet")
	default:
		n.ok("", "%d tenants", len(list))
	}
	for _, t := range list {
		if t.Status == tenant.Paused {
			n.warn(t.Slug, "packetboat tenant resume --slug "+t.Slug, "the tenant is paused, so nothing is sent for it")
		}
	}
}
