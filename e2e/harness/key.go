package harness

import (
	"bytes"
	"context"
	"crypto/rsa"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// sharedKey is the secret key of programs on a server of their own, where
// several processes must have the same.
var sharedKey = bytes.Repeat([]byte{7}, secret.KeyBytes)

// Box returns what the program seals secrets and signs links with.
func (p *Program) Box() (*secret.Box, error) {
	key := sharedKey
	if p.Database == "" {
		var err error
		if key, err = secret.FromFile(p.Dir); err != nil {
			return nil, err
		}
	}
	return secret.NewBox(key)
}

// SigningKey returns the DKIM key that the program signs a domain's mail with.
func (p *Program) SigningKey(ctx context.Context, db *sqldb.DB, domain string) (*rsa.PrivateKey, error) {
	box, err := p.Box()
	if err != nil {
		return nil, err
	}
	var tenant id.Tenant
	if err := db.QueryRow(ctx, `SELECT tenant_id FROM tenant WHERE slug = $1`, Tenant).Scan(&tenant); err != nil {
		return nil, err
	}
	d, err := sender.DomainByName(ctx, db, tenant, domain)
	if err != nil {
		return nil, err
	}
	private, _, err := sender.DomainKey(ctx, db, box, tenant, d.ID)
	return private, err
}
