package deliver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"packetboat/internal/content"
	"packetboat/internal/fault"
	"packetboat/internal/id"
	"packetboat/internal/lane"
	"packetboat/internal/mail/smtpclient"
	"packetboat/internal/outbox"
)

// errNoSender says that the sender, the content or the lane of a message is gone
// or cannot be used, so that it can never be sent.
var errNoSender = errors.New("no way to send")

// laneSettings is a lane as it is configured at the moment.
type laneSettings struct {
	config lane.Config
	smtp   smtpclient.Config
	until  time.Time // when to look again
}

// same reports whether a lane at work needs no change for these settings.
func (s *laneSettings) same(o *laneSettings) bool {
	a, b := s.smtp, o.smtp
	return s.config.Type == o.config.Type && s.config.Caps == o.config.Caps && s.config.RetryMaxAge == o.config.RetryMaxAge &&
		a.Host == b.Host && a.Port == b.Port && a.TLS == b.TLS && a.Auth == b.Auth &&
		a.Username == b.Username && a.Password == b.Password && a.HELO == b.HELO && a.Guard == b.Guard &&
		s.signs() == o.signs()
}

// signs reports whether we put a DKIM signature on what goes by the lane.
func (s *laneSettings) signs() bool { return s.config.Type != lane.SMTP || s.config.SMTP.DKIMSign }

// settings loads lanes and keeps them for a moment.
type settings struct {
	engine *Engine
	mu     sync.Mutex
	kept   map[id.MTAConfig]*laneSettings
}

func (s *settings) get(ctx context.Context, tenant id.Tenant, config id.MTAConfig) (*laneSettings, error) {
	now := s.engine.Now()
	s.mu.Lock()
	k := s.kept[config]
	s.mu.Unlock()
	if k != nil && k.config.Tenant == tenant && now.Before(k.until) {
		return k, nil
	}
	c, err := lane.ByID(ctx, s.engine.DB, tenant, config)
	if err != nil {
		return nil, gone(err)
	}
	fresh := &laneSettings{config: c, until: now.Add(keepSettings)}
	if c.Type == lane.SMTP {
		password, err := lane.Password(ctx, s.engine.DB, s.engine.Box, tenant, config)
		if err != nil {
			return nil, err
		}
		fresh.smtp = c.SMTP.Client(password, smtpclient.Guard{AllowPrivate: s.engine.AllowPrivate})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[id.MTAConfig]*laneSettings{}
	}
	s.kept[config] = fresh
	return fresh, nil
}

// keepSettings is how long a lane's settings are used without looking again.
const keepSettings = 3 * time.Second

// prepare gathers what the message needs besides its contact.
func (e *Engine) prepare(ctx context.Context, it outbox.Item) (job, error) {
	c, err := e.Contents.Get(ctx, it.Tenant, it.Content)
	if errors.Is(err, content.ErrGone) {
		return job{}, fmt.Errorf("%w: its content is gone", errNoSender)
	}
	if err != nil {
		return job{}, err
	}
	s, err := e.Senders.Get(ctx, it.Tenant, it.Identity, c.Context.EmailType)
	if err != nil {
		return job{}, gone(err)
	}
	l, err := e.settings.get(ctx, it.Tenant, it.Lane)
	if err != nil {
		return job{}, err
	}
	return job{item: it, content: c, sender: s, lane: l}, nil
}

// gone turns "not found" into errNoSender: only a record that was deleted is
// never coming back.
func gone(err error) error {
	if f, ok := fault.As(err); ok && f.Kind == fault.NotFound {
		return fmt.Errorf("%w: %s", errNoSender, f.Message)
	}
	return err
}
