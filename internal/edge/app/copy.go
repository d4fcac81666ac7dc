package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbcopy"
	"github.com/packetboat/packetboat/internal/sqldb/filelock"
)

// Copy copies the installation in the SQLite database at from to the PostgreSQL database at to,
// which must be empty or the target of an interrupted copy. No process may serve the source
// meanwhile, and cfg must have its secret key.
func Copy(ctx context.Context, cfg Config, from, to string, o dbcopy.Options) (report dbcopy.Report, err error) {
	source, done, err := copySource(ctx, cfg, from)
	if err != nil {
		return dbcopy.Report{}, err
	}
	defer func() { err = errors.Join(err, done()) }()
	return dbcopy.Run(ctx, source, to, o)
}

// copySource opens the source for exclusive use until done is called.
func copySource(ctx context.Context, cfg Config, from string) (source *sqldb.DB, done func() error, err error) {
	file, err := sqldb.SQLiteFile(from, cfg.DataDir)
	if err != nil {
		return nil, nil, err
	}
	if _, err := os.Stat(file); err != nil { // opening would create it
		return nil, nil, fmt.Errorf("open the source: %w", err)
	}
	db, err := sqldb.Open(ctx, "sqlite:"+file, sqldb.Options{})
	if err != nil {
		return nil, nil, fmt.Errorf("open the source: %w", err)
	}
	if err := holdsKey(ctx, cfg, db); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	serving, err := db.Serve(ctx)
	if errors.Is(err, filelock.ErrServed) {
		err = fmt.Errorf("a process serves the database %s: stop it first, or copy when it has ended", db.File())
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("the source: %w", err), db.Close())
	}
	return db, func() error { serving.Stop(); return db.Close() }, nil
}

// holdsKey checks that cfg has the secret key of the source, since sealed values are copied
// unchanged. It does not create a key.
func holdsKey(ctx context.Context, cfg Config, source *sqldb.DB) error {
	if _, err := source.Schema(ctx); err != nil {
		return fmt.Errorf("the source: %w", err)
	}
	var begun string
	err := source.QueryRow(ctx, `SELECT fingerprint FROM secret_key WHERE name = 'main'`).Scan(&begun)
	if err != nil {
		return fmt.Errorf("%w: it holds no installation (%w)", dbcopy.ErrSource, err)
	}
	key := cfg.SecretKey
	if key == nil {
		key, err = secret.Kept(cfg.DataDir)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("there is no secret.key in %s: name its directory with --data-dir, or set PACKETBOAT_SECRET_KEY", cfg.DataDir)
		}
		if err != nil {
			return err
		}
	}
	box, err := secret.NewBox(key)
	if err != nil {
		return err
	}
	if fingerprint(box) != begun {
		return errors.New("the secret key is not the one that the source was begun with: name the directory of its secret.key with --data-dir, or set PACKETBOAT_SECRET_KEY to what that file holds")
	}
	return nil
}
