package app

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/packetboat/packetboat/internal/secret"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// fingerprint tells a secret key from others, and nothing else about it.
func fingerprint(box *secret.Box) string { return hex.EncodeToString(box.Derive("fingerprint")[:8]) }

// sameKey makes sure that the secret key is the one the database was begun
// with. With another, sealed passwords would not open, and no link in a mail
// that has left would be valid.
func sameKey(ctx context.Context, db *sqldb.DB, box *secret.Box) error {
	mine := fingerprint(box)
	if _, err := db.Exec(ctx, `INSERT INTO secret_key (name, fingerprint) VALUES ('main', $1) ON CONFLICT DO NOTHING`, mine); err != nil {
		return fmt.Errorf("note the secret key: %w", err)
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
