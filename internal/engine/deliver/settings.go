package deliver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/cache"
	"github.com/packetboat/packetboat/internal/content"
	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/lane"
	"github.com/packetboat/packetboat/internal/letter"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/outbox"
	"github.com/packetboat/packetboat/internal/sender"
	"github.com/packetboat/packetboat/internal/tenant"
)

// errNoSender says that the sender, the content or the lane of a message is gone
// or cannot be used, so that it can never be sent.
var errNoSender = errors.New("no way to send")

// laneSettings is a lane as it is configured at the moment.
type laneSettings struct {
	config lane.Config
	smtp   smtpclient.Config
	health lane.Health
	until  time.Time // when they are read again
}

// same reports whether a lane at work needs no change for these settings.
func (s *laneSettings) same(o *laneSettings) bool {
	a, b := s.smtp, o.smtp
	return s.config.Type == o.config.Type && s.config.Caps == o.config.Caps && s.config.RetryMaxAge == o.config.RetryMaxAge &&
		a.Host == b.Host && a.Port == b.Port && a.TLS == b.TLS && a.Auth == b.Auth &&
		a.Username == b.Username && a.Password == b.Password && a.HELO == b.HELO && a.Guard == b.Guard &&
		s.signs() == o.signs()
}

// down says that the lane was found to be down, and when to look again. Whether
// it is up again is tried by the watch (package watch), not with mail.
func (s *laneSettings) down(now time.Time) *deferral {
	if s.health.State != lane.Down {
		return nil
	}
	return &deferral{until: now.Add(holdFor), reason: "its lane is down", down: s.health.Since}
}

// signs reports whether we put a DKIM signature on what goes by the lane.
func (s *laneSettings) signs() bool { return signs(s.config) }

func signs(c lane.Config) bool { return c.Type != lane.SMTP || c.SMTP.DKIMSign }

// settings loads lanes and keeps them for a moment.
type settings struct {
	engine *Engine
	kept   cache.Cache[laneKey, *laneSettings]
}

func (s *settings) get(ctx context.Context, t id.Tenant, config id.MTAConfig) (*laneSettings, error) {
	now := s.engine.Now()
	return s.kept.Load(laneKey{t, config}, now, keepSettings, func() (*laneSettings, error) { return s.load(ctx, t, config, now) })
}

func (s *settings) load(ctx context.Context, t id.Tenant, config id.MTAConfig, now time.Time) (*laneSettings, error) {
	c, err := lane.ByID(ctx, s.engine.DB, t, config)
	if err != nil {
		return nil, gone(err)
	}
	fresh := &laneSettings{config: c, until: now.Add(keepSettings)}
	if c.Type == lane.SMTP {
		password, err := lane.Password(ctx, s.engine.DB, s.engine.Box, t, config)
		if err != nil {
			return nil, err
		}
		fresh.smtp = c.SMTP.Client(password, smtpclient.Guard{AllowPrivate: s.engine.AllowPrivate})
	}
	states, err := lane.StatesOf(ctx, s.engine.DB, t, []id.MTAConfig{config})
	fresh.health = states[config]
	return fresh, err
}

const (
	keepSettings = 3 * time.Second // how long a lane's settings are used without looking again
	holdFor      = 5 * time.Second // until what holds a message is looked at again
)

// prepare gathers what the message needs besides its contact. It returns a *held
// when what the message needs is switched off or paused and may come back.
func (e *Engine) prepare(ctx context.Context, it outbox.Item) (*job, error) {
	c, err := e.Contents.Get(ctx, it.Tenant, it.Content)
	if errors.Is(err, content.ErrGone) {
		return nil, fmt.Errorf("%w: its content is gone", errNoSender)
	}
	if err != nil {
		return nil, err
	}
	s, err := e.Senders.Get(ctx, it.Tenant, it.Identity, c.Context.EmailType)
	if err != nil {
		return nil, gone(err)
	}
	d, err := e.sends.get(ctx, it.Tenant, it.Send)
	if err != nil {
		return nil, err
	}
	l, err := e.carrier(ctx, &it, d)
	if err != nil {
		return nil, err
	}
	if why := obstacle(s, l); why != "" {
		return nil, &deferral{until: e.Now().Add(holdFor), reason: why}
	}
	j := &job{item: it, content: c, sender: s, lane: l, send: d}
	if l.signs() {
		if j.signer, err = e.Signers.Of(ctx, s.Domain); err != nil {
			return nil, gone(err)
		}
	}
	return j, nil
}

// carrier returns the lane that carries a message: its own, or while that is down
// another of its sender's.
func (e *Engine) carrier(ctx context.Context, it *outbox.Item, d *send) (*laneSettings, error) {
	own, err := e.settings.get(ctx, it.Tenant, it.Lane)
	if err != nil || own.health.State != lane.Down || d.picker == nil {
		return own, err
	}
	down := map[id.MTAConfig]bool{}
	for _, l := range d.lanes {
		s, err := e.settings.get(ctx, it.Tenant, l)
		if err != nil && !errors.Is(err, errNoSender) {
			return nil, err
		}
		down[l] = err != nil || s.health.State == lane.Down || !s.config.Active
	}
	other := d.picker.Failover(it.Contact, it.Identity, it.Lane, down)
	if other == it.Lane {
		return own, nil
	}
	it.Lane = other
	return e.settings.get(ctx, it.Tenant, other)
}

// obstacle says what keeps a sender's mail back at the moment.
func obstacle(s *letter.Sender, l *laneSettings) string {
	switch {
	case s.Tenant.Status != tenant.Active:
		return "the tenant is not active"
	case !s.Identity.Active:
		return "the sending identity is not active"
	case s.Domain.Status != sender.Verified:
		return "the sending domain is not verified"
	case s.Domain.Paused:
		return "the sending domain is paused"
	case s.Domain.TrackingStatus != sender.Live:
		return "the tracking domain is not live"
	case !l.config.Active:
		return "the MTA config is not active"
	}
	return ""
}

// gone turns "not found" into errNoSender: only a record that was deleted is
// never coming back.
func gone(err error) error {
	if f, ok := fault.As(err); ok && f.Kind == fault.NotFound {
		return fmt.Errorf("%w: %s", errNoSender, f.Message)
	}
	return err
}
