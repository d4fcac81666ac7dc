package render

import (
	"context"
	"errors"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/cache"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/links"
	"github.com/packetboat/packetboat/internal/mail/liquid"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Sender is the data of a mail that do not depend on its recipient. It contains no DKIM key, since
// the handlers of pages and links, which use it too, need none.
type Sender struct {
	Tenant   tenant.Tenant
	Identity sender.Identity
	Domain   sender.Domain
	Type     sender.EmailType
	Fields   field.Catalog    // with the defaults of fields that a contact lacks
	Footer   *liquid.Template // of the tenant's brand; nil: none
}

// Consent returns the consent that the mail needs from its recipient.
func (s *Sender) Consent() contact.Consent {
	return contact.Consent{TypeKey: s.Type.Key, Category: s.Type.Category}
}

// UnsubscribeScope returns the scope of a one-click unsubscribe. It is everything if the email
// type has been deleted.
func (s *Sender) UnsubscribeScope() contact.UnsubscribeScope {
	if s.Tenant.Settings.UnsubscribeScope == tenant.UnsubscribeGlobal || s.Type.Key == "" {
		return contact.UnsubscribeScope{Everything: true}
	}
	return contact.UnsubscribeScope{TypeKey: s.Type.Key, Category: s.Type.Category}
}

// TrackingHost returns the host of opens and clicks, with its port if there is one.
func (s *Sender) TrackingHost() string { return s.Domain.TrackingHost }

// ContentHost returns the host of the pages for recipients.
func (s *Sender) ContentHost() string {
	if s.Identity.ContentHost != nil && *s.Identity.ContentHost != "" {
		return *s.Identity.ContentHost
	}
	return s.Domain.TrackingHost
}

// WithUTM returns the target of a link with the UTM parameters that it lacks.
func (s *Sender) WithUTM(c content.Context, target string) string {
	if !c.UTM {
		return target
	}
	source := s.Identity.UTMCode
	if source == "" {
		source = s.Tenant.Slug
	}
	return links.AddUTM(target, links.UTM{Source: source, Medium: "email", Campaign: c.UTMCampaign, Content: c.UTMContent})
}

// Senders loads senders and caches them for less than a second: messages do not read settings
// again, and a change of settings takes effect within a second.
type Senders struct {
	DB  *sqldb.DB
	Now func() time.Time

	kept cache.Cache[senderKey, *Sender]
}

type senderKey struct {
	tenant   id.Tenant
	identity id.Identity
	typ      id.EmailType
}

// keepSender is how long a sender is cached.
const keepSender = 900 * time.Millisecond

// Get returns the sender of an identity's mails of a type. The error for a record that does not
// exist is that of its package, such as sender.ErrIdentityNotFound.
func (s *Senders) Get(ctx context.Context, t id.Tenant, identity id.Identity, typ id.EmailType) (*Sender, error) {
	key := senderKey{t, identity, typ}
	return s.kept.Load(key, s.Now(), keepSender, func() (*Sender, error) { return s.load(ctx, key) })
}

// Reload is Get without the cache.
func (s *Senders) Reload(ctx context.Context, t id.Tenant, identity id.Identity, typ id.EmailType) (*Sender, error) {
	key, now := senderKey{t, identity, typ}, s.Now()
	fresh, err := s.load(ctx, key)
	if err != nil {
		return nil, err
	}
	s.kept.Put(key, fresh, now, keepSender)
	return fresh, nil
}

// Past is Get for mail that was sent long ago: if its identity or type has been deleted, that part
// is empty. If the tenant was deleted, the error is tenant.ErrNotFound.
func (s *Senders) Past(ctx context.Context, t id.Tenant, identity id.Identity, typ id.EmailType) (*Sender, error) {
	out, err := s.Get(ctx, t, identity, typ)
	if err == nil || !missing(err) || errors.Is(err, tenant.ErrNotFound) {
		return out, err
	}
	return s.remains(ctx, t, identity, typ)
}

// PastReload is Past without the cache.
func (s *Senders) PastReload(ctx context.Context, t id.Tenant, identity id.Identity, typ id.EmailType) (*Sender, error) {
	out, err := s.Reload(ctx, t, identity, typ)
	if err == nil || !missing(err) || errors.Is(err, tenant.ErrNotFound) {
		return out, err
	}
	return s.remains(ctx, t, identity, typ)
}

// remains returns the existing parts of a sender of which some were deleted.
func (s *Senders) remains(ctx context.Context, t id.Tenant, identity id.Identity, typ id.EmailType) (*Sender, error) {
	out := &Sender{}
	var err error
	if out.Tenant, err = tenant.ByID(ctx, s.DB, t); err != nil {
		return nil, err
	}
	out.Footer = out.Tenant.Settings.Brand.FooterTemplate()
	if out.Identity, err = sender.IdentityByID(ctx, s.DB, t, identity); err != nil && !missing(err) {
		return nil, err
	}
	if out.Type, err = sender.EmailTypeByID(ctx, s.DB, t, typ); err != nil && !missing(err) {
		return nil, err
	}
	return out, nil
}

func missing(err error) bool {
	f, ok := errors.AsType[*fault.Error](err)
	return ok && f.Kind == fault.NotFound
}

func (s *Senders) load(ctx context.Context, key senderKey) (*Sender, error) {
	var out Sender
	var err error
	if out.Tenant, err = tenant.ByID(ctx, s.DB, key.tenant); err != nil {
		return nil, err
	}
	out.Footer = out.Tenant.Settings.Brand.FooterTemplate()
	if out.Identity, err = sender.IdentityByID(ctx, s.DB, key.tenant, key.identity); err != nil {
		return nil, err
	}
	if out.Domain, err = sender.DomainByID(ctx, s.DB, key.tenant, out.Identity.Domain); err != nil {
		return nil, err
	}
	if !key.typ.IsZero() { // mails that confirm a subscription have none
		if out.Type, err = sender.EmailTypeByID(ctx, s.DB, key.tenant, key.typ); err != nil {
			return nil, err
		}
	}
	if out.Fields, err = field.Load(ctx, s.DB, key.tenant); err != nil {
		return nil, err
	}
	return &out, nil
}
