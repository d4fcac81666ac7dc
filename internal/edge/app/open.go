package app

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/packetboat/packetboat/internal/account/change"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/campaign/automation"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbcopy"
)

// Store is the opened database and the box that seals values with the secret key.
type Store struct {
	DB  *sqldb.DB
	Box *secret.Box

	changes *change.Relay
}

// patience is how long OpenToMigrate waits for PostgreSQL.
const patience = time.Minute

// Open opens the configured database for a command. A new database gets its schema, and the secret key is created unless
// cfg has one; one that lacks migrations is refused, since a program may be serving it that does not know them.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	return open(ctx, cfg, sqldb.Options{DataDir: cfg.DataDir}, func(db *sqldb.DB) error {
		schema, err := db.Settled(ctx)
		if err != nil || !schema.New() {
			return errors.Join(err, schema.Err())
		}
		_, err = db.Migrate(ctx)
		return err
	})
}

// OpenToMigrate is Open for programs that migrate the database and prepare what a new version needs. They are started
// together with PostgreSQL: it waits up to a minute until the server is reachable.
func OpenToMigrate(ctx context.Context, cfg Config, log *slog.Logger) (*Store, error) {
	o := sqldb.Options{DataDir: cfg.DataDir, ServerWait: patience, OnServerWait: func(err error) {
		log.Warn("waiting for PostgreSQL", "err", err, "at_most", patience)
	}}
	s, err := open(ctx, cfg, o, func(db *sqldb.DB) error {
		_, err := db.Migrate(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// prepare adds what earlier versions did not store. The secret key was compared before: it seals.
func (s *Store) prepare(ctx context.Context) error {
	if err := segment.InstallAll(ctx, s.DB, time.Now()); err != nil {
		return err
	}
	if err := sequence.WatchAll(ctx, s.DB, time.Now()); err != nil {
		return err
	}
	return errors.Join(sequence.SealAll(ctx, s.DB, s.Box), automation.SealAll(ctx, s.DB, s.Box))
}

func open(ctx context.Context, cfg Config, o sqldb.Options, migrate func(db *sqldb.DB) error) (_ *Store, err error) {
	if err := emptied(cfg); err != nil {
		return nil, err
	}
	db, err := sqldb.Open(ctx, cfg.DatabaseURL, o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(db.Describe(err), db.Close())
		}
	}()
	if _, err := db.Schema(ctx); err != nil { // before a secret key is created
		return nil, err
	}
	if err := dbcopy.Unfinished(ctx, db); err != nil {
		return nil, err
	}
	if err := migrate(db); err != nil {
		return nil, err
	}
	box, err := openBox(cfg) // after the schema, so that a key beside an empty file means that its content was lost
	if err != nil {
		return nil, err
	}
	if err := sameKey(ctx, db, box); err != nil {
		return nil, err
	}
	s := &Store{DB: db, Box: box, changes: &change.Relay{DB: db, Now: time.Now, Log: slog.Default(), Sources: changedBySends}}
	s.changes.Watch()
	return s, nil
}

// emptied refuses an SQLite database whose content was lost: its file is empty, and the secret key that an installation got with it
// is there. As a new installation it would lose unsubscribes and break the links in sent mails.
func emptied(cfg Config) error {
	file, err := sqldb.SQLiteFile(cfg.DatabaseURL, cfg.DataDir)
	if err != nil { // not SQLite, or refused when it is opened
		return nil
	}
	info, err := os.Stat(file)
	if err != nil || info.Size() > 0 {
		return nil
	}
	if _, err := secret.Kept(cfg.DataDir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("the database %s is empty, though secret.key in %s says that there was an installation: restore a backup of the database, or remove the empty file to begin a new installation", file, cfg.DataDir)
}

// changedBySends returns the broadcasts and sequences that sends belong to, as changes.
func changedBySends(ctx context.Context, db *sqldb.DB, tenant id.Tenant, sends []id.Send) (map[id.Send]change.Change, error) {
	sources, err := outbox.Sources(ctx, db, tenant, sends)
	found := map[id.Send]change.Change{}
	for send, s := range sources {
		switch s.Kind {
		case outbox.KindBroadcast, outbox.KindSeedCopy:
			found[send] = change.Change{Type: change.Broadcast, ID: s.ID.String()}
		case outbox.KindSequenceStep:
			found[send] = change.Change{Type: change.Sequence, ID: s.ID.String()}
		}
	}
	return found, err
}

// openBox returns what seals and signs with the secret key, which is created if there is none.
func openBox(cfg Config) (*secret.Box, error) {
	key := cfg.SecretKey
	if key == nil {
		var err error
		if key, err = secret.FromFile(cfg.DataDir); err != nil {
			return nil, fmt.Errorf("secret key in %s: %w", cfg.DataDir, err)
		}
	}
	return secret.NewBox(key)
}

// Close stores the last hints of what changed, and closes the database.
func (s *Store) Close() error {
	if s.changes != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		_, _ = s.changes.Flush(ctx) // without hints, pages are read again later
	}
	return s.DB.Close()
}

// fingerprint returns a hash that identifies a secret key without revealing it.
func fingerprint(box *secret.Box) string { return hex.EncodeToString(box.Derive("fingerprint")[:8]) }

// sameKey checks that the secret key is the one the database was created with. With another, sealed
// passwords could not be opened, and all links in sent mails would be invalid.
func sameKey(ctx context.Context, db *sqldb.DB, box *secret.Box) error {
	mine := fingerprint(box)
	if _, err := db.Exec(ctx, `INSERT INTO secret_key (name, fingerprint) VALUES ('main', $1) ON CONFLICT DO NOTHING`, mine); err != nil {
		return fmt.Errorf("store the secret key's fingerprint: %w", err)
	}
	var begun string
	if err := db.QueryRow(ctx, `SELECT fingerprint FROM secret_key WHERE name = 'main'`).Scan(&begun); err != nil {
		return fmt.Errorf("check the secret key: %w", err)
	}
	if begun != mine {
		return errors.New("the secret key is not the one this database was begun with: bring back its secret.key into the data directory, or set PACKETBOAT_SECRET_KEY to what that file held")
	}
	return nil
}
