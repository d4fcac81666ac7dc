package deliver

import (
	"context"

	"github.com/packetboat/packetboat/internal/base/cache"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
)

// returnPaths caches where the bounces of tenants come back to, for laneCacheFor.
type returnPaths = cache.Cache[id.Tenant, lane.ReturnPath]

// receives reports whether mail for the return path of a domain comes to this installation, so that
// recipients can unsubscribe by mail.
func (e *Engine) receives(ctx context.Context, d sender.Domain) (bool, error) {
	if !e.ReceivesMail {
		return false, nil
	}
	bounces, err := e.returnPaths.Load(d.Tenant, e.Now(), laneCacheFor, func() (lane.ReturnPath, error) {
		return sender.ReturnPathOf(ctx, e.DB, d.Tenant)
	})
	return !d.BouncesAtRelay(bounces), err
}
