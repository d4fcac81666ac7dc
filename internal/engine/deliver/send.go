package deliver

import (
	"context"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/outbox"
	"github.com/packetboat/packetboat/internal/route"
)

// send is what there is to know of a send while its messages leave.
type send struct {
	id      id.Send
	perHour int            // 0: no limit
	picker  *route.Picker  // nil: its terms have no routes
	lanes   []id.MTAConfig // of its routes
	until   time.Time      // when to look again
}

const (
	keepSend = 10 * time.Second // how long it is used without looking again
	maxSends = 1000
)

// sends loads them and keeps them for a moment.
type sends struct {
	engine *Engine
	mu     sync.Mutex
	kept   map[sendKey]*send
}

func (s *sends) get(ctx context.Context, t id.Tenant, which id.Send) (*send, error) {
	now, key := s.engine.Now(), sendKey{t, which}
	s.mu.Lock()
	k := s.kept[key]
	s.mu.Unlock()
	if k != nil && now.Before(k.until) {
		return k, nil
	}
	fresh, err := s.load(ctx, t, which)
	if err != nil {
		return nil, err
	}
	fresh.until = now.Add(keepSend)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil || len(s.kept) >= maxSends {
		s.kept = map[sendKey]*send{}
	}
	s.kept[key] = fresh
	return fresh, nil
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
