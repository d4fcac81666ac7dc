package public

import (
	"context"
	"sync"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/outbox"
	"github.com/packetboat/packetboat/internal/track"
)

// origin is what mails say, and who sent them.
type origin struct {
	content  id.Content
	identity id.Identity
}

// origins remembers which contents and identities the tokens of clicks name. The
// zero value is ready for use. It is safe for concurrent use.
type origins struct {
	mu   sync.RWMutex
	kept map[originKey]origin
}

type originKey struct {
	tenant id.Tenant
	origin track.Origin
}

// maxOrigins bounds what is remembered; a send has one for each of its variants
// and identities.
const maxOrigins = 4096

// origin returns what the mail of a click says, and who sent it. Only the first
// click of many mails that are alike in that asks the database.
func (p *Recipient) origin(ctx context.Context, t track.Token) (origin, error) {
	key := originKey{t.Tenant, t.Origin}
	p.origins.mu.RLock()
	o, known := p.origins.kept[key]
	p.origins.mu.RUnlock()
	if known {
		return o, nil
	}
	m, err := outbox.Find(ctx, p.DB, t.Tenant, t.Message)
	if err != nil {
		return origin{}, err
	}
	o = origin{m.Content, m.Identity}
	if track.OriginOf(o.content, o.identity) != t.Origin {
		return o, nil
	}
	p.origins.mu.Lock()
	defer p.origins.mu.Unlock()
	if p.origins.kept == nil || len(p.origins.kept) >= maxOrigins {
		p.origins.kept = map[originKey]origin{}
	}
	p.origins.kept[key] = o
	return o, nil
}
