package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/broadcast"
	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/field"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/lane"
	"github.com/packetboat/packetboat/internal/manuscript"
	"github.com/packetboat/packetboat/internal/segment"
	"github.com/packetboat/packetboat/internal/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/suppression"
	"github.com/packetboat/packetboat/internal/tenant"
)

// The names of the demo's records.
const (
	demoSlug      = "demo"
	demoEmail     = "owner@example.com"
	demoDomain    = "example.com"
	demoEmailType = "newsletter"
	demoList      = "newsletter_readers"
)

// prepare creates the tenant and its records unless they exist, and returns it with the
// credentials.
func (d demo) prepare(ctx context.Context) (tenant.Tenant, demoAccess, error) {
	access, err := loadDemoAccess(d.dir)
	if err != nil {
		return tenant.Tenant{}, access, fmt.Errorf("read %s: %w", demoFile, err)
	}
	before := access
	known := access.Password != ""
	if !known {
		access = demoAccess{Email: demoEmail, Password: demoPassword()}
	}
	hash, err := auth.NewPasswords().Hash(ctx, access.Password)
	if err != nil {
		return tenant.Tenant{}, access, err
	}
	var t tenant.Tenant
	err = d.db.InTx(ctx, func(tx *sqldb.DB) (err error) {
		if t, err = tenant.BySlug(ctx, tx, demoSlug); errors.Is(err, tenant.ErrNotFound) {
			t, err = d.create(ctx, tx)
		} else if err == nil {
			err = mine(ctx, tx, t)
		}
		if err != nil {
			return err
		}
		if err := d.owner(ctx, tx, t.ID, access.Email, hash, !known); err != nil {
			return fmt.Errorf("owner: %w", err)
		}
		if access.APIKey, err = d.key(ctx, tx, t.ID, access.APIKey); err != nil {
			return fmt.Errorf("API key: %w", err)
		}
		return d.track(ctx, tx, t.ID)
	})
	if err != nil || access == before {
		return t, access, err
	}
	return t, access, access.save(d.dir)
}

// mine returns an error if a tenant called demo was not created by the demo.
func mine(ctx context.Context, tx *sqldb.DB, t tenant.Tenant) error {
	u, err := auth.UserByEmail(ctx, tx, demoEmail)
	if err == nil {
		_, err = auth.MemberOf(ctx, tx, t.ID, u.ID)
	}
	if errors.Is(err, auth.ErrNoUser) {
		return fmt.Errorf("this database has a tenant %q that the demo did not make; use packetboat serve, or another --data-dir", demoSlug)
	}
	return err
}

// owner creates the user and the membership unless they exist. A password that is not in the demo's
// file any more is replaced.
func (d demo) owner(ctx context.Context, tx *sqldb.DB, t id.Tenant, email, hash string, forgotten bool) error {
	u, err := auth.UserByEmail(ctx, tx, email)
	switch {
	case errors.Is(err, auth.ErrNoUser):
		if u, err = auth.CreateUser(ctx, tx, email, "Demo Owner", hash, d.now); err != nil {
			return err
		}
	case err != nil:
		return err
	case forgotten:
		if err := auth.SetPassword(ctx, tx, u.ID, hash, d.now); err != nil {
			return err
		}
	default:
		if _, err := auth.ConfirmEmail(ctx, tx, u.ID, hash, d.now); err != nil {
			return err
		}
	}
	if _, err := auth.MemberOf(ctx, tx, t, u.ID); !errors.Is(err, auth.ErrNoUser) {
		return err
	}
	return auth.AddMember(ctx, tx, t, u.ID, auth.Owner, auth.BySystem, d.now)
}

// key returns the API key, and creates it if the tenant has none.
func (d demo) key(ctx context.Context, tx *sqldb.DB, t id.Tenant, secret string) (string, error) {
	if secret != "" {
		have, err := auth.KeyKnown(ctx, tx, t, secret)
		if err != nil || have {
			return secret, err
		}
	}
	_, secret, err := auth.CreateKey(ctx, tx, t, auth.NewKey{
		Name: "demo", Scopes: auth.AllScopes().Strings(), Secret: secret,
	}, auth.BySystem, d.now)
	return secret, err
}

// track sets the host of links in mails to the one that is served.
func (d demo) track(ctx context.Context, tx *sqldb.DB, t id.Tenant) error {
	dom, err := sender.DomainByName(ctx, tx, t, demoDomain)
	if errors.Is(err, sender.ErrDomainNotFound) { // deleted by a user; do not create it again
		return nil
	}
	if err != nil || dom.TrackingLive && dom.TrackingHost == d.trackingHost {
		return err
	}
	return d.verify(ctx, tx, t)
}

// verify does what packetboat domain verify --force does.
func (d demo) verify(ctx context.Context, tx *sqldb.DB, t id.Tenant) error {
	dom, err := sender.ForceVerify(ctx, tx, t, demoDomain, d.trackingHost, d.now)
	if err != nil {
		return fmt.Errorf("verify %s: %w", demoDomain, err)
	}
	return auth.Audit(ctx, tx, auth.BySystem.Did(t, "domain.verify", "sending_domain", dom.ID.String(), d.now))
}

// create creates the tenant with everything it needs to send. It is one transaction, so that an
// interrupted first run leaves nothing incomplete.
func (d demo) create(ctx context.Context, tx *sqldb.DB) (tenant.Tenant, error) {
	t, err := tenant.Create(ctx, tx, demoSlug, "Harbour Books", "Europe/Amsterdam", d.now, TenantSetup()...)
	if err != nil {
		return t, err
	}
	if _, err := sender.CreateDomain(ctx, tx, d.box, t.ID, sender.DomainDraft{Domain: demoDomain}, d.now); err != nil {
		return t, err
	}
	if err := d.verify(ctx, tx, t.ID); err != nil {
		return t, err
	}
	typ, err := sender.EmailTypeByKey(ctx, tx, t.ID, demoEmailType)
	if err != nil {
		return t, err
	}
	sink, err := lane.Create(ctx, tx, d.box, t.ID, lane.Fields{Name: new("Mailbox"), Type: new(lane.Sink)}, lane.Rules{}, d.now)
	if err != nil {
		return t, err
	}
	from, err := sender.CreateIdentity(ctx, tx, t.ID, sender.IdentityFields{
		Address: new("news@" + demoDomain), DisplayName: new("Harbour Books"), EmailTypes: &[]id.EmailType{typ.ID}, Active: new(true),
	}, d.now)
	if err != nil {
		return t, err
	}
	s := t.Settings
	s.DefaultMTAConfig, s.DefaultIdentity = sink.ID, from.ID
	s.WebsiteURL = new("https://www.example.com")
	s.PostalAddress = tenant.PostalAddress{Line1: new("Quay 7"), PostalCode: new("3011 AA"), City: new("Rotterdam"), Country: new("NL")}
	if err := tenant.SaveSettings(ctx, tx, t.ID, t.Name, s, d.now); err != nil {
		return t, err
	}
	list, err := d.people(ctx, tx, t)
	if err != nil {
		return t, err
	}
	if err := d.templates(ctx, tx, t.ID); err != nil {
		return t, err
	}
	return t, d.draft(ctx, tx, t.ID, typ.ID, list)
}

// people creates the contacts, with their custom fields, and puts them on a list.
func (d demo) people(ctx context.Context, tx *sqldb.DB, t tenant.Tenant) (id.Segment, error) {
	for _, f := range []field.Draft{
		{Name: "Books bought", Key: "books_bought", Type: field.Number},
		{Name: "Favourite genre", Key: "favourite_genre", Type: field.Enum, EnumValues: demoGenres},
		{Name: "Member since", Key: "member_since", Type: field.Date},
	} {
		if _, err := field.Create(ctx, tx, t.ID, f, d.now); err != nil {
			return id.Segment{}, err
		}
	}
	types, err := sender.EmailTypes(ctx, tx, t.ID)
	if err != nil {
		return id.Segment{}, err
	}
	rules := contact.Rules{Listed: suppression.Listed}
	for _, typ := range types {
		rules.Types.EmailTypes = append(rules.Types.EmailTypes, contact.EmailType{ID: typ.ID, Key: typ.Key, Category: typ.Category})
	}
	var all segment.People
	for _, p := range demoContacts(d.now) {
		c, err := contact.Create(ctx, tx, t.ID, p.email, p.change, rules, d.now)
		if err != nil {
			return id.Segment{}, err
		}
		all.IDs = append(all.IDs, c.ID)
	}
	list, err := segment.CreateList(ctx, tx, t.ID, segment.Change{Name: new("Newsletter readers")}, d.now)
	if err != nil {
		return id.Segment{}, err
	}
	_, err = segment.Add(ctx, tx, t.ID, list.ID, all, d.now)
	return list.ID, err
}

// draft creates a broadcast that starts as soon as it is scheduled.
func (d demo) draft(ctx context.Context, tx *sqldb.DB, t id.Tenant, typ id.EmailType, list id.Segment) error {
	_, err := broadcast.Create(ctx, manuscript.Author{DB: tx, MJML: d.mjml, Now: d.now}, t, broadcast.Change{
		Name: new("Autumn list"),
		Content: &manuscript.Change{Parts: map[manuscript.Field]*string{
			manuscript.Subject: new(demoSubject), manuscript.Preheader: new(demoPreheader), manuscript.BodyHTML: new(demoHTML),
		}},
		EmailType: &typ, Include: &[]id.Segment{list}, Tags: &[]string{"autumn"}, Start: &broadcast.Start{At: &d.now},
	}, auth.System)
	return err
}

// demoPassword returns a password of 80 random bits.
func demoPassword() string {
	var b strings.Builder
	for i, c := range strings.ToLower(rand.Text())[:16] {
		if i > 0 && i%4 == 0 {
			b.WriteByte('-')
		}
		b.WriteRune(c)
	}
	return b.String()
}
