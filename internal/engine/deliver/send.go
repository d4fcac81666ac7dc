package deliver

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/base/cache"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/senders/route"
)

// send is the terms of a send, as delivering its messages needs them.
type send struct {
	id      id.Send
	perHour int           // 0: no limit
	picker  *route.Picker // nil: its terms have no routes
	lanes   []id.Lane     // of its routes
}

// sendCacheFor is how long the terms of a send are used before they are read again.
const sendCacheFor = 10 * time.Second

// sends loads the terms of sends and caches them for sendCacheFor.
type sends struct {
	engine *Engine
	kept   cache.Cache[sendKey, *send]
}

func (s *sends) get(ctx context.Context, t id.Tenant, which id.Send) (*send, error) {
	return s.kept.Load(sendKey{t, which}, s.engine.Now(), sendCacheFor, func() (*send, error) { return s.load(ctx, t, which) })
}

func (s *sends) load(ctx context.Context, t id.Tenant, which id.Send) (*send, error) {
	terms, err := outbox.LoadTerms(ctx, s.engine.DB, t, which)
	if err != nil {
		return nil, err
	}
	fresh := &send{id: which, perHour: terms.PerHour, lanes: route.Lanes(terms.Routes)}
	if len(terms.Routes) > 0 {
		fresh.picker = route.NewPicker(terms.Routes)
	}
	return fresh, nil
}
