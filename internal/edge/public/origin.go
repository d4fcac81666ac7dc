package public

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/base/cache"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
)

// origin is the content and the sender of a mail.
type origin struct {
	content  id.Content
	identity id.Identity
}

// origins caches the contents and identities of the tokens of clicks. The zero value is ready to use. It is
// safe for concurrent use.
type origins struct {
	byKey cache.Cache[originKey, origin] // one for each variant and identity of a send
}

type originKey struct {
	tenant id.Tenant
	origin track.Origin
}

// origin returns the content and the sender of a click's mail. Only the first click of many mails with the
// same ones queries the database.
func (p *Recipient) origin(ctx context.Context, t track.Token) (origin, error) {
	key := originKey{t.Tenant, t.Origin}
	if o, known := p.origins.byKey.Get(key, time.Time{}); known {
		return o, nil
	}
	m, err := outbox.Find(ctx, p.DB, t.Tenant, t.Message)
	if err != nil {
		return origin{}, err
	}
	o := origin{m.Content, m.Identity}
	if track.OriginOf(o.content, o.identity) != t.Origin {
		return o, nil
	}
	p.origins.byKey.Put(key, o, time.Time{}, 0)
	return o, nil
}
