package deliver

import (
	"context"
	"errors"
	"sync"
	"time"

	"packetboat/internal/broadcast"
	"packetboat/internal/id"
	"packetboat/internal/outbox"
)

// send is what there is to know of a send while its messages leave.
type send struct {
	id      id.Send
	perHour int             // 0: no limit
	ways    *broadcast.Ways // nil: none recorded
	lanes   []id.MTAConfig  // that the ways lead by
	until   time.Time       // when to look again
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
	fresh := &send{id: which}
	of, err := outbox.Broadcasts(ctx, s.engine.DB, t, []id.Send{which})
	if err != nil {
		return nil, err
	}
	bid, ok := of[which]
	if !ok {
		return fresh, nil
	}
	b, err := broadcast.Head(ctx, s.engine.DB, t, bid)
	if errors.Is(err, broadcast.ErrNotFound) {
		return fresh, nil
	}
	if err != nil {
		return nil, err
	}
	fresh.perHour = b.Delivery.PerHour
	run, err := broadcast.LoadRun(ctx, s.engine.DB, t, bid)
	if err != nil || len(run.Routes) == 0 {
		return fresh, err
	}
	fresh.ways = broadcast.NewWays(run.Routes)
	for _, r := range run.Routes {
		fresh.lanes = append(fresh.lanes, r.Lane)
	}
	return fresh, nil
}
