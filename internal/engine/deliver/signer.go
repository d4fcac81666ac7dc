package deliver

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/cache"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/mail/dkim"
	"github.com/packetboat/packetboat/internal/secret"
	"github.com/packetboat/packetboat/internal/sender"
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

// signerKey identifies a key: a domain's new key has a new selector.
type signerKey struct {
	tenant   id.Tenant
	domain   id.Domain
	selector string
}

// Of returns the signer of a domain. Opening a key is expensive, so signers are cached.
func (s *Signers) Of(ctx context.Context, d sender.Domain) (*dkim.Signer, error) {
	key := signerKey{d.Tenant, d.ID, d.DKIMSelector}
	if kept, ok := s.kept.Get(key, time.Time{}); ok {
		return kept, nil
	}
	private, selector, err := sender.DomainKey(ctx, s.DB, s.Box, d.Tenant, d.ID)
	if err != nil {
		return nil, err
	}
	fast, err := dkim.NewKey(private, s.Library)
	if err != nil {
		return nil, err
	}
	signer, err := dkim.New(d.Name, selector, fast)
	if err != nil {
		return nil, err
	}
	s.kept.Put(signerKey{d.Tenant, d.ID, selector}, signer, time.Time{}, 0)
	return signer, nil
}
