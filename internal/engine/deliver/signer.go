package deliver

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/base/cache"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/mail/dkim"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Signers opens the DKIM keys of sending domains. Only sending needs them: other users of a sender,
// such as the pages for recipients, load a render.Sender, which has no key.
type Signers struct {
	DB      *sqldb.DB
	Box     *secret.Box
	Library dkim.Library // signs faster than Go; nil: none

	kept cache.Cache[signerKey, *dkim.Signer]
}

// signerKey identifies the keys of a domain: new ones have new selectors.
type signerKey struct {
	tenant   id.Tenant
	domain   id.Domain
	selector string
	second   string // of the Ed25519 key
}

// Of returns the signer of a domain: by its RSA key and, if the domain's owner has published that, by
// its Ed25519 key. Opening a key is expensive, so signers are cached.
func (s *Signers) Of(ctx context.Context, d sender.Domain) (*dkim.Signer, error) {
	key := signerKey{d.Tenant, d.ID, d.DKIMSelector, d.Ed25519Selector()}
	if kept, ok := s.kept.Get(key, time.Time{}); ok {
		return kept, nil
	}
	keys, err := sender.OpenKeys(ctx, s.DB, s.Box, d.Tenant, d.ID)
	if err != nil {
		return nil, err
	}
	fast, err := dkim.NewKey(keys.RSA, s.Library)
	if err != nil {
		return nil, err
	}
	signer, err := dkim.New(d.Name, keys.Selector, fast)
	if err != nil {
		return nil, err
	}
	if keys.Ed25519 != nil {
		second, err := dkim.NewEd25519Key(keys.Ed25519)
		if err != nil {
			return nil, err
		}
		other, err := dkim.New(d.Name, keys.Ed25519Selector, second)
		if err != nil {
			return nil, err
		}
		signer = signer.And(other)
	}
	s.kept.Put(signerKey{d.Tenant, d.ID, keys.Selector, keys.Ed25519Selector}, signer, time.Time{}, 0)
	return signer, nil
}
