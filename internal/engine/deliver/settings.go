package deliver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/cache"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
)

// errNoSender means that the identity, the content or the lane of a message was deleted, so that
// the message can never be sent.
var errNoSender = errors.New("no way to send")

// laneSettings is the configuration and health of a lane.
type laneSettings struct {
	config lane.Config
	smtp   smtpclient.Config
	secret string // of type ses: the secret access key
	health lane.Health
	until  time.Time // when they are loaded again
}

// same reports whether workers with settings s can go on with settings o.
func (s *laneSettings) same(o *laneSettings) bool {
	a, b := s.smtp, o.smtp
	return s.config.Type == o.config.Type && s.config.Caps == o.config.Caps && s.config.RetryMaxAge == o.config.RetryMaxAge &&
		a.Host == b.Host && a.Port == b.Port && a.TLS == b.TLS && a.Auth == b.Auth &&
		a.Username == b.Username && a.Password == b.Password && a.HELO == b.HELO && a.Guard == b.Guard &&
		s.signs() == o.signs() &&
		s.config.Direct.TLS == o.config.Direct.TLS && slices.Equal(s.config.Direct.IPs, o.config.Direct.IPs) &&
		s.config.SES.SameAccount(o.config.SES) && s.secret == o.secret &&
		slices.Equal(s.config.Sink.FailPatterns, o.config.Sink.FailPatterns)
}

// down returns a deferral if the lane is down. Package watch probes it and marks it as up; no mail
// is used to try it.
func (s *laneSettings) down(now time.Time) *deferral {
	if s.health.State != lane.Down {
		return nil
	}
	return &deferral{until: now.Add(inactiveRetry), reason: "its lane is down", down: s.health.Since}
}

// signs reports whether mail of the lane gets our DKIM signature.
func (s *laneSettings) signs() bool { return signs(s.config) }

// signs reports whether mail of a lane gets our DKIM signature. SES signs for the sender's domain
// itself, and changes headers that our signature would cover.
func signs(c lane.Config) bool {
	return c.Type != lane.SES && (c.Type != lane.SMTP || c.SMTP.DKIMSign)
}

// settings loads lanes and caches them for laneCacheFor.
type settings struct {
	engine *Engine
	kept   cache.Cache[laneKey, *laneSettings]
}

func (s *settings) get(ctx context.Context, t id.Tenant, config id.Lane) (*laneSettings, error) {
	now := s.engine.Now()
	return s.kept.Load(laneKey{t, config}, now, laneCacheFor, func() (*laneSettings, error) { return s.load(ctx, t, config, now) })
}

func (s *settings) load(ctx context.Context, t id.Tenant, config id.Lane, now time.Time) (*laneSettings, error) {
	c, err := lane.ByID(ctx, s.engine.DB, t, config)
	if err != nil {
		return nil, noSenderIfNotFound(err)
	}
	fresh := &laneSettings{config: c, until: now.Add(laneCacheFor)}
	if c.Type == lane.SMTP {
		password, err := lane.Password(ctx, s.engine.DB, s.engine.Box, t, config)
		if err != nil {
			return nil, err
		}
		fresh.smtp = c.SMTP.Client(password, netguard.Guard{AllowPrivate: s.engine.AllowPrivate})
	}
	if c.Type == lane.DirectMX {
		fresh.config = c.WithDirectLimits()
	}
	if c.Type == lane.SES {
		if fresh.secret, err = lane.Password(ctx, s.engine.DB, s.engine.Box, t, config); err != nil {
			return nil, err
		}
	}
	states, err := lane.StatesOf(ctx, s.engine.DB, t, []id.Lane{config})
	fresh.health = states[config]
	return fresh, err
}

const (
	laneCacheFor  = 3 * time.Second // how long a lane's settings are used before they are loaded again
	inactiveRetry = 5 * time.Second // until a message that something inactive keeps back is tried again
)

// prepareJob loads what a message needs besides its contact. It returns a *deferral if something is
// paused or inactive, and errNoSender if something was deleted.
func (e *Engine) prepareJob(ctx context.Context, it outbox.Item) (*job, error) {
	c, err := e.Contents.Get(ctx, it.Tenant, it.Content)
	if errors.Is(err, content.ErrGone) {
		return nil, fmt.Errorf("%w: its content is gone", errNoSender)
	}
	if err != nil {
		return nil, err
	}
	s, err := e.Senders.Get(ctx, it.Tenant, it.Identity, c.Context.EmailType)
	if err != nil {
		return nil, noSenderIfNotFound(err)
	}
	d, err := e.sends.get(ctx, it.Tenant, it.Send)
	if err != nil {
		return nil, err
	}
	l, err := e.laneFor(ctx, &it, d)
	if err != nil {
		return nil, err
	}
	if why := obstacle(s, l); why != "" {
		return nil, &deferral{until: e.Now().Add(inactiveRetry), reason: why}
	}
	j := &job{item: it, content: c, sender: s, lane: l, send: d}
	if j.receives, err = e.receives(ctx, s.Domain); err != nil {
		return nil, err
	}
	if l.signs() {
		if j.signer, err = e.Signers.Of(ctx, s.Domain); err != nil {
			return nil, noSenderIfNotFound(err)
		}
	}
	return j, nil
}

// laneFor returns the lane for a message: its own or, while that is down, another one of its
// identity. In that case it sets it.Lane.
func (e *Engine) laneFor(ctx context.Context, it *outbox.Item, d *send) (*laneSettings, error) {
	own, err := e.settings.get(ctx, it.Tenant, it.Lane)
	if err != nil || own.health.State != lane.Down || d.picker == nil {
		return own, err
	}
	down := map[id.Lane]bool{}
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

// obstacle returns why a sender's mail cannot be sent by a lane at the moment, or "".
func obstacle(s *render.Sender, l *laneSettings) string {
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

// noSenderIfNotFound turns a fault of kind NotFound into errNoSender: a deleted record does not
// come back.
func noSenderIfNotFound(err error) error {
	if f, ok := fault.As(err); ok && f.Kind == fault.NotFound {
		return fmt.Errorf("%w: %s", errNoSender, f.Message)
	}
	return err
}
