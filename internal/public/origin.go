package public

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/cache"
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
	kept cache.Cache[originKey, origin] // a send has one for each of its variants and identities
}

type originKey struct {
	tenant id.Tenant
	origin track.Origin
}

// origin returns what the mail of a click says, and who sent it. Only the first
// click of many mails that are alike in that asks the database.
func (p *Recipient) origin(ctx context.Context, t track.Token) (origin, error) {
	key := originKey{t.Tenant, t.Origin}
	if o, known := p.origins.kept.Get(key, time.Time{}); known {
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
	p.origins.kept.Put(key, o, time.Time{}, 0)
	return o, nil
}
