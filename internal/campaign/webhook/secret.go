package webhook

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// secretPrefix precedes the base64 of a secret.
const secretPrefix = "whsec_"

// secretBytes is the length of a secret's key.
const secretBytes = 32

// overlap is how long the previous secret is used after a rotation.
const overlap = 24 * time.Hour

// newSecret returns a new secret as it is shown, and its key.
func newSecret() (text string, key []byte) {
	key = make([]byte, secretBytes)
	_, _ = rand.Read(key) // never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(key), key
}

func secretPlace(tenant id.Tenant, endpoint id.Webhook) string {
	return fmt.Sprintf("webhook:%s:%s:secret", tenant, endpoint)
}

// RotateSecret replaces the secret of an endpoint and returns the new one, which is not shown again.
// Requests are signed with both for 24 hours. A secret that was still valid from an earlier rotation
// ends.
func RotateSecret(ctx context.Context, db *sqldb.DB, box *secret.Box, tenant id.Tenant, endpoint id.Webhook, now time.Time) (Endpoint, string, error) {
	text, key := newSecret()
	var e Endpoint
	err := db.InTx(ctx, func(tx *sqldb.DB) (err error) {
		if e, err = byID(ctx, tx, tenant, endpoint, tx.ForUpdate()); err != nil {
			return err
		}
		if err := Revisions.Check(ctx, tx, tenant, endpoint); err != nil {
			return err
		}
		e.Revision++
		_, err = tx.Exec(ctx, `
			UPDATE webhook_endpoint SET previous_secret = secret, previous_until = $4, secret = $3,
				revision = revision + 1, revised_at = $5, revised_by = $6
			WHERE tenant_id = $1 AND id = $2`,
			tenant, endpoint, box.Seal(key, secretPlace(tenant, endpoint)), now.Add(overlap).UnixMicro(), now.UnixMicro(), revision.By(ctx))
		return err
	})
	if err != nil {
		return Endpoint{}, "", fmt.Errorf("rotate the secret of a webhook endpoint: %w", err)
	}
	return e, text, nil
}

// Target is an endpoint with all that is needed for requests to it.
type Target struct {
	Endpoint
	Keys Keys
}

// LoadTarget returns an endpoint with its keys; ErrNotFound if it was deleted.
func LoadTarget(ctx context.Context, db *sqldb.DB, box *secret.Box, tenant id.Tenant, endpoint id.Webhook) (Target, error) {
	var t Target
	var sealed, previous string
	var until *time.Time
	scan := scanEndpoint(tenant)
	e, err := scan(func(dest ...any) error {
		return db.QueryRow(ctx, `
			SELECT `+endpointColumns+`, secret, previous_secret, previous_until
			FROM webhook_endpoint WHERE tenant_id = $1 AND id = $2`, tenant, endpoint).
			Scan(append(dest, &sealed, sqldb.ToText(&previous), sqldb.ToNullTime(&until))...)
	})
	if errors.Is(err, sqldb.ErrNoRows) {
		return t, ErrNotFound
	}
	if err != nil {
		return t, fmt.Errorf("read a webhook endpoint: %w", err)
	}
	t.Endpoint = e
	place := secretPlace(tenant, endpoint)
	if t.Keys.current, err = box.Open(sealed, place); err != nil {
		return t, fmt.Errorf("open the secret of webhook endpoint %s: %w", endpoint, err)
	}
	if previous != "" && until != nil {
		if t.Keys.previous, err = box.Open(previous, place); err != nil {
			return t, fmt.Errorf("open the secret of webhook endpoint %s: %w", endpoint, err)
		}
		t.Keys.previousUntil = *until
	}
	return t, nil
}

// MessageID returns the value of the header webhook-id for a delivery.
func MessageID(delivery id.Delivery) string { return "msg_" + delivery.String() }
