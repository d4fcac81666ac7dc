// Package demo creates the tenant that "packetboat demo" serves: an account with everything it needs
// to send, contacts, and a history (History): what its owner and its readers did in the weeks before the
// first start. The history consists of calls of the API and requests for the links of mails at times of the past;
// all that follows from them, such as deliveries, bounces, verdicts and reports, is done by the engines of
// the program, whose clock it sets.
package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/content/template/starter"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// The names of the demo's records.
const (
	Slug      = "demo"
	email     = "owner@example.com"
	domain    = "example.com"
	emailType = "newsletter"
	list      = "newsletter_readers"
)

// Account creates the demo's tenant in a database.
type Account struct {
	DB           *sqldb.DB
	Box          *secret.Box
	Dir          string // of the file with the credentials
	TrackingHost string // the host of links in mails, with its port
	Stock        string // the URL of StockSystem; empty: it is not served
	MJML         *mjml.Compiler
	Setup        []tenant.Setup // of each new tenant
	Now          time.Time
}

// Prepare creates the tenant and its records unless they exist, and returns it with the
// credentials.
func (d Account) Prepare(ctx context.Context) (tenant.Tenant, Access, error) {
	access, err := loadAccess(d.Dir)
	if err != nil {
		return tenant.Tenant{}, access, fmt.Errorf("read %s: %w", File, err)
	}
	before := access
	known := access.Password != ""
	if !known {
		access = Access{Email: email, Password: password()}
	}
	hash, err := auth.NewPasswords().Hash(ctx, access.Password)
	if err != nil {
		return tenant.Tenant{}, access, err
	}
	var t tenant.Tenant
	err = d.DB.InTx(ctx, func(tx *sqldb.DB) (err error) {
		if t, err = tenant.BySlug(ctx, tx, Slug); errors.Is(err, tenant.ErrNotFound) {
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
		if err := d.moveStock(ctx, tx, t.ID); err != nil {
			return err
		}
		return d.track(ctx, tx, t.ID)
	})
	if err != nil || access == before {
		return t, access, err
	}
	return t, access, access.save(d.Dir)
}

// mine returns an error if a tenant called demo was not created by the demo.
func mine(ctx context.Context, tx *sqldb.DB, t tenant.Tenant) error {
	u, err := auth.UserByEmail(ctx, tx, email)
	if err == nil {
		_, err = auth.MemberOf(ctx, tx, t.ID, u.ID)
	}
	if errors.Is(err, auth.ErrNoUser) {
		return fmt.Errorf("this database has a tenant %q that the demo did not make; use packetboat serve, or another --data-dir", Slug)
	}
	return err
}

// owner creates the user and the membership unless they exist. A password that is not in the demo's
// file any more is replaced.
func (d Account) owner(ctx context.Context, tx *sqldb.DB, t id.Tenant, email, hash string, forgotten bool) error {
	u, err := auth.UserByEmail(ctx, tx, email)
	switch {
	case errors.Is(err, auth.ErrNoUser):
		if u, err = auth.CreateUser(ctx, tx, email, "Demo Owner", hash, d.Now); err != nil {
			return err
		}
	case err != nil:
		return err
	case forgotten:
		if err := auth.SetPassword(ctx, tx, u.ID, hash, d.Now); err != nil {
			return err
		}
	default:
		if _, err := auth.ConfirmEmail(ctx, tx, u.ID, hash, d.Now); err != nil {
			return err
		}
	}
	if _, err := auth.MemberOf(ctx, tx, t, u.ID); !errors.Is(err, auth.ErrNoUser) {
		return err
	}
	return auth.AddMember(ctx, tx, t, u.ID, auth.Owner, auth.BySystem, d.Now)
}

// key returns the API key, and creates it if the tenant has none.
func (d Account) key(ctx context.Context, tx *sqldb.DB, t id.Tenant, secret string) (string, error) {
	if secret != "" {
		have, err := auth.KeyKnown(ctx, tx, t, secret)
		if err != nil || have {
			return secret, err
		}
	}
	_, secret, err := auth.CreateKey(ctx, tx, t, auth.NewKey{
		Name: "demo", Scopes: auth.AllScopes().Strings(), Secret: secret,
	}, auth.BySystem, d.Now)
	return secret, err
}

// track sets the host of links in mails to the one that is served.
func (d Account) track(ctx context.Context, tx *sqldb.DB, t id.Tenant) error {
	dom, err := sender.DomainByName(ctx, tx, t, domain)
	if errors.Is(err, sender.ErrDomainNotFound) { // deleted by a user; do not create it again
		return nil
	}
	if err != nil || dom.TrackingLive && dom.TrackingHost == d.TrackingHost {
		return err
	}
	return d.verify(ctx, tx, t, d.Now)
}

// verify does what packetboat domain verify --force does.
func (d Account) verify(ctx context.Context, tx *sqldb.DB, t id.Tenant, now time.Time) error {
	dom, err := sender.ForceVerify(ctx, tx, t, domain, d.TrackingHost, now)
	if err != nil {
		return fmt.Errorf("verify %s: %w", domain, err)
	}
	return auth.Audit(ctx, tx, auth.BySystem.Did(t, "domain.verify", "sending_domain", dom.ID.String(), now))
}

// create creates the tenant with everything it needs to send. It is one transaction, so that an
// interrupted first run leaves nothing incomplete.
//
// The tenant is older than the demo, so that it can have a history.
func (d Account) create(ctx context.Context, tx *sqldb.DB) (tenant.Tenant, error) {
	began := d.Now.UTC().Truncate(day).Add(-past)
	t, err := tenant.Create(ctx, tx, Slug, "Harbour Books", "Europe/Amsterdam", began, d.Setup...)
	if err != nil {
		return t, err
	}
	if _, err := sender.CreateDomain(ctx, tx, d.Box, t.ID, sender.DomainDraft{Domain: domain}, began); err != nil {
		return t, err
	}
	if err := d.verify(ctx, tx, t.ID, began); err != nil {
		return t, err
	}
	typ, err := sender.EmailTypeByKey(ctx, tx, t.ID, emailType)
	if err != nil {
		return t, err
	}
	sink, err := lane.Create(ctx, tx, d.Box, t.ID, lane.Fields{Name: new(mailbox), Type: new(lane.Sink)}, lane.Rules{}, began)
	if err != nil {
		return t, err
	}
	from, err := sender.CreateIdentity(ctx, tx, t.ID, sender.IdentityFields{
		Address: new("news@" + domain), DisplayName: new("Harbour Books"), EmailTypes: &[]id.EmailType{typ.ID}, Active: new(true),
	}, began)
	if err != nil {
		return t, err
	}
	s := t.Settings
	s.DefaultLane, s.DefaultIdentity = sink.ID, from.ID
	s.WebsiteURL = new("https://www.example.com")
	s.PostalAddress = tenant.PostalAddress{Line1: new("Quay 7"), PostalCode: new("3011 AA"), City: new("Rotterdam"), Country: new("NL")}
	if err := tenant.SaveSettings(ctx, tx, t.ID, t.Name, s, began); err != nil {
		return t, err
	}
	list, err := d.people(ctx, tx, t, began)
	if err != nil {
		return t, err
	}
	if err := d.templates(ctx, tx, t.ID, began); err != nil {
		return t, err
	}
	return t, d.draft(ctx, tx, t.ID, typ.ID, list)
}

// people creates the contacts, with their custom fields, and puts them on a list.
func (d Account) people(ctx context.Context, tx *sqldb.DB, t tenant.Tenant, began time.Time) (id.Segment, error) {
	for _, f := range []field.Draft{
		{Name: "Books bought", Key: "books_bought", Type: field.Number},
		{Name: "Favourite genre", Key: "favourite_genre", Type: field.Enum, EnumValues: genres},
		{Name: "Member since", Key: "member_since", Type: field.Date},
	} {
		if _, err := field.Create(ctx, tx, t.ID, f, began); err != nil {
			return id.Segment{}, err
		}
	}
	types, err := sender.EmailTypes(ctx, tx, t.ID)
	if err != nil {
		return id.Segment{}, err
	}
	rules := contact.Rules{Listed: suppression.QueueListed}
	for _, typ := range types {
		rules.Types.EmailTypes = append(rules.Types.EmailTypes, contact.EmailType{ID: typ.ID, Key: typ.Key, Category: typ.Category})
	}
	stages, err := contact.Stages(ctx, tx, t.ID)
	if err != nil {
		return id.Segment{}, err
	}
	stageIDs := map[string]string{}
	for _, s := range stages {
		stageIDs[s.Name] = s.ID.String()
	}
	// The readers of the newsletter came in the first weeks, those who bought in the shop ever since.
	joined := func(n int) time.Time { return began.Add(time.Duration(n) * joining / people) }
	const together = 50 // contacts that are put on a list at a time
	var all []id.Contact
	for n, p := range contacts(d.Now) {
		if p.stage != "" {
			p.change.Stage = new(stageIDs[p.stage])
		}
		c, err := contact.Create(ctx, tx, t.ID, p.email, p.change, rules, joined(n))
		if err != nil {
			return id.Segment{}, err
		}
		all = append(all, c.ID)
	}
	fill := func(name string, first, last int) (id.Segment, error) {
		l, err := segment.CreateList(ctx, tx, t.ID, segment.Change{Name: new(name)}, began)
		for n := first; n < last && err == nil; n += together {
			upTo := min(n+together, last)
			_, err = segment.Add(ctx, tx, t.ID, l.ID, segment.People{IDs: all[n:upTo]}, joined(upTo))
		}
		return l.ID, err
	}
	if _, err := fill("Shop customers", people-buyers, people); err != nil {
		return id.Segment{}, err
	}
	return fill("Newsletter readers", 0, readers)
}

// templates creates the starter templates and blocks. A program built without the MJML compiler has
// none.
func (d Account) templates(ctx context.Context, tx *sqldb.DB, t id.Tenant, began time.Time) error {
	if !d.MJML.Available() {
		return nil
	}
	for _, b := range starter.Blocks() {
		if _, _, err := template.CreateBlock(ctx, tx, d.MJML, t, b.Change(), began); err != nil {
			return fmt.Errorf("block %s: %w", b.Slug, err)
		}
	}
	for _, s := range starter.All() {
		if _, _, err := template.Create(ctx, tx, d.MJML, t, s.Change(), began); err != nil {
			return fmt.Errorf("template %s: %w", s.Slug, err)
		}
	}
	return nil
}

// draft creates a broadcast that starts as soon as it is scheduled.
func (d Account) draft(ctx context.Context, tx *sqldb.DB, t id.Tenant, typ id.EmailType, list id.Segment) error {
	_, err := broadcast.Create(ctx, draft.Author{DB: tx, MJML: d.MJML, Now: d.Now}, t, broadcast.Change{
		Name: new("Autumn list"),
		Content: &draft.Change{Parts: map[draft.Field]*string{
			draft.Subject: new(subject), draft.Preheader: new(preheader), draft.BodyHTML: new(html),
		}},
		EmailType: &typ, Include: &[]id.Segment{list}, Tags: &[]string{"autumn"}, Start: &broadcast.Start{At: &d.Now},
	}, auth.System)
	return err
}

// password returns a password of 80 random bits.
func password() string {
	var b strings.Builder
	for i, c := range strings.ToLower(rand.Text())[:16] {
		if i > 0 && i%4 == 0 {
			b.WriteByte('-')
		}
		b.WriteRune(c)
	}
	return b.String()
}
