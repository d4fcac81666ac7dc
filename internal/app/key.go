package app

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/packetboat/packetboat/internal/secret"
	"github.com/packetboat/packetboat/internal/sqldb"
)

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
