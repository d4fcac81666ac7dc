// Package accountapi has the operations on the account itself: its settings, users and sessions, API keys,
// the audit log, jobs, working copies and webhook endpoints.
package accountapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Account serves the account of a tenant.
type Account struct {
	db   *sqldb.DB
	box  *secret.Box
	gate *auth.Gate
	now  func() time.Time
}

// NewAccount returns the operations on the account of a tenant.
func NewAccount(e wire.Env, gate *auth.Gate) Account {
	return Account{db: e.DB, box: e.Box, gate: gate, now: e.Now}
}

// On returns the operations on another handle.
func (api Account) On(db *sqldb.DB) Account { api.db = db; return api }

// Register adds the operations on the account of a tenant.
func (api Account) Register(r *endpoint.Router) {
	api.identitySecret(r)
	api.webhookSecret(r)
	endpoint.Handle(r, "GET /t/{tenant}/api/settings/account", endpoint.Op{
		Name:        "getAccount",
		Summary:     "Get the account settings.",
		Description: "Any valid key may call this, which also tests a connection.",
		Tag:         "account",
		Mode:        endpoint.Free,
	}.Revised(tenant.Revisions), api.getAccount)
	endpoint.Handle(r, "PUT /t/{tenant}/api/settings/account", endpoint.Op{
		Name:    "updateAccount",
		Summary: "Update account settings; absent fields keep their values.",
		Tag:     "account",
		Session: true,
		Role:    auth.Admin,
		Faults:  []*fault.Error{sender.ErrUnknownEmailType, sender.ErrUnknownIdentity, lane.ErrUnknown},
	}.ExampleBody(`{"name": "Acme Books", "timezone": "Europe/London", "website_url": "https://www.example.com/", "postal_address": {"line1": "1 High Street", "city": "London", "postal_code": "N1 1AA", "country": "GB"}, "default_email_type_key": "newsletter"}`).IfMatch(tenant.Revisions), api.updateAccount, checkAccount)
	endpoint.Handle(r, "DELETE /t/{tenant}/api/settings/account", endpoint.Op{
		Name:    "deleteTenant",
		Summary: "Delete the tenant permanently.",
		Tag:     "account",
		Session: true,
		Role:    auth.Owner,
		Status:  http.StatusAccepted,
	}.ExampleBody(`{"confirm_slug": "$SLUG"}`).IfMatch(tenant.Revisions), api.deleteTenant)
}

// AccountView is the public form of an account.
type AccountView struct {
	TenantID                    id.Tenant               `json:"tenant_id"`
	Slug                        string                  `json:"slug"`
	Name                        string                  `json:"name"`
	Timezone                    string                  `json:"timezone"`
	Locale                      string                  `json:"locale"`
	CurrencyCode                string                  `json:"currency_code"`
	WebsiteURL                  *string                 `json:"website_url"`
	LogoURL                     *string                 `json:"logo_url"`
	PostalAddress               tenant.PostalAddress    `json:"postal_address"`
	DefaultSendingIdentityEmail *string                 `json:"default_sending_identity_email"`
	DefaultEmailTypeKey         *string                 `json:"default_email_type_key"`
	DefaultMTAConfigKey         *string                 `json:"default_mta_config_key"`
	AutoCreateOnEvent           bool                    `json:"auto_create_on_event"`
	IdentitySigningEnabled      bool                    `json:"identity_signing_enabled"`
	SiteKey                     string                  `json:"site_key"`
	TrackingDefaults            accountTracking         `json:"tracking_defaults"`
	SendWindow                  accountWindow           `json:"send_window"`
	SunsetDays                  int                     `json:"sunset_days"`
	SunsetMinSends              int                     `json:"sunset_min_sends"`
	UnsubscribeScope            tenant.UnsubscribeScope `json:"unsubscribe_scope" enum:"type,global"`
	DoubleOptInDefault          bool                    `json:"double_opt_in_default"`
	TrackedDomains              []string                `json:"tracked_domains"`
	Retention                   accountRetention        `json:"retention" doc:"How many days data are kept."`
	ContactLimit                *int                    `json:"contact_limit"`
	BillableContacts            int                     `json:"billable_contacts"`
	CreatedAt                   endpoint.Stamp          `json:"created_at"`
	UpdatedAt                   endpoint.Stamp          `json:"updated_at"`
}

type accountTracking struct {
	TrackingEnabled bool `json:"tracking_enabled"`
	UTMEnabled      bool `json:"utm_enabled"`
	HoneypotLinks   bool `json:"honeypot_links"`
}

type accountRetention struct {
	EventsDays      int `json:"events_days" doc:"Events and changes of contacts, 30 to 3650."`
	EngagementDays  int `json:"engagement_days" doc:"Opens and clicks, and other activity about mails, 90 to 3650. Reports keep their numbers."`
	DeliveriesDays  int `json:"deliveries_days" doc:"Deliveries of webhooks, 3 to 400."`
	RawRequestsDays int `json:"raw_requests_days" doc:"IP addresses and user agents of opens and clicks, 1 to 400. Their classification is kept."`
}

type accountWindow struct {
	Start string `json:"start"`
	End   string `json:"end"`
}

// AccountSessionView is the session form of an account.
type AccountSessionView struct {
	AccountView
	DefaultSendingIdentityID *id.Identity  `json:"default_sending_identity_id"`
	DefaultEmailTypeID       *id.EmailType `json:"default_email_type_id"`
	DefaultMTAConfigID       *id.Lane      `json:"default_mta_config_id"`
	Status                   tenant.Status `json:"status" enum:"active,paused"`
	PauseReason              *string       `json:"pause_reason"`
}

func (api Account) getAccount(ctx context.Context, p auth.Principal, _ *struct{}) (wire.Form[AccountView, AccountSessionView], error) {
	t, err := tenant.ByID(ctx, api.db, p.Tenant)
	if err != nil {
		return wire.Form[AccountView, AccountSessionView]{}, err
	}
	full, err := api.accountOf(ctx, t)
	if err != nil {
		return wire.Form[AccountView, AccountSessionView]{}, err
	}
	return wire.FormFor(p, func() AccountView { return full.AccountView }, func() AccountSessionView { return full }), nil
}

// accountOf returns the session form as the record of the response.
func (api Account) accountOf(ctx context.Context, t tenant.Tenant) (AccountSessionView, error) {
	endpoint.SetRevision(ctx, t.Revision)
	return api.View(ctx, t)
}

// View returns the session form, which contains the public form.
func (api Account) View(ctx context.Context, t tenant.Tenant) (AccountSessionView, error) {
	s := t.Settings
	v := AccountSessionView{
		AccountView: AccountView{
			TenantID: t.ID, Slug: t.Slug, Name: t.Name,
			Timezone: s.Timezone, Locale: s.Locale, CurrencyCode: s.CurrencyCode,
			WebsiteURL: s.WebsiteURL, LogoURL: s.LogoURL, PostalAddress: s.PostalAddress,
			AutoCreateOnEvent: s.AutoCreateOnEvent,
			SiteKey:           t.SiteKey,
			TrackingDefaults:  accountTracking{s.Tracking.Enabled, s.Tracking.UTM, s.Tracking.Honeypot},
			SendWindow:        accountWindow{s.SendWindow.Start, s.SendWindow.End},
			SunsetDays:        s.SunsetDays, SunsetMinSends: s.SunsetMinSends,
			UnsubscribeScope: s.UnsubscribeScope, DoubleOptInDefault: s.DoubleOptInDefault,
			TrackedDomains: s.TrackedDomains, ContactLimit: t.ContactLimit,
			Retention: accountRetention{s.Retention.Events, s.Retention.Engagement, s.Retention.Deliveries, s.Retention.RawRequests},
			CreatedAt: endpoint.At(t.CreatedAt), UpdatedAt: endpoint.At(t.UpdatedAt),
		},
		Status: t.Status,
	}
	if t.PauseReason != "" {
		v.PauseReason = &t.PauseReason
	}
	var err error
	if v.IdentitySigningEnabled, err = auth.IdentitySigned(ctx, api.db, t.ID); err != nil {
		return v, err
	}
	if v.BillableContacts, err = contact.Billable(ctx, api.db, t.ID); err != nil {
		return v, err
	}
	// A default whose record was deleted is null.
	if !s.DefaultIdentity.IsZero() {
		switch i, err := sender.IdentityByID(ctx, api.db, t.ID, s.DefaultIdentity); {
		case err == nil:
			v.DefaultSendingIdentityID, v.DefaultSendingIdentityEmail = &i.ID, &i.Address
		case !errors.Is(err, sender.ErrIdentityNotFound):
			return v, err
		}
	}
	if !s.DefaultEmailType.IsZero() {
		switch e, err := sender.EmailTypeByID(ctx, api.db, t.ID, s.DefaultEmailType); {
		case err == nil:
			v.DefaultEmailTypeID, v.DefaultEmailTypeKey = &e.ID, &e.Key
		case !errors.Is(err, sender.ErrEmailTypeNotFound):
			return v, err
		}
	}
	if !s.DefaultLane.IsZero() {
		switch c, err := lane.ByID(ctx, api.db, t.ID, s.DefaultLane); {
		case err == nil:
			v.DefaultMTAConfigID, v.DefaultMTAConfigKey = &c.ID, &c.Key
		case !errors.Is(err, lane.ErrNotFound):
			return v, err
		}
	}
	return v, nil
}

type updateAccountRequest struct {
	Body struct {
		Name         endpoint.Opt[string] `json:"name" nullable:"false"`
		Timezone     endpoint.Opt[string] `json:"timezone" nullable:"false"`
		Locale       endpoint.Opt[string] `json:"locale" nullable:"false"`
		CurrencyCode endpoint.Opt[string] `json:"currency_code" nullable:"false"`
		WebsiteURL   endpoint.Opt[string] `json:"website_url"`
		LogoURL      endpoint.Opt[string] `json:"logo_url"`

		PostalAddress endpoint.Opt[accountAddressChange] `json:"postal_address"`

		DefaultSendingIdentityEmail endpoint.Opt[string] `json:"default_sending_identity_email"`
		DefaultSendingIdentityID    endpoint.Opt[string] `json:"default_sending_identity_id"`
		DefaultEmailTypeKey         endpoint.Opt[string] `json:"default_email_type_key"`
		DefaultEmailTypeID          endpoint.Opt[string] `json:"default_email_type_id"`
		DefaultMTAConfigKey         endpoint.Opt[string] `json:"default_mta_config_key"`
		DefaultMTAConfigID          endpoint.Opt[string] `json:"default_mta_config_id"`

		AutoCreateOnEvent  endpoint.Opt[bool]                    `json:"auto_create_on_event" nullable:"false"`
		TrackingDefaults   endpoint.Opt[accountTrackingChange]   `json:"tracking_defaults" nullable:"false"`
		SendWindow         endpoint.Opt[accountWindowChange]     `json:"send_window" nullable:"false"`
		SunsetDays         endpoint.Opt[int]                     `json:"sunset_days" nullable:"false"`
		SunsetMinSends     endpoint.Opt[int]                     `json:"sunset_min_sends" nullable:"false"`
		UnsubscribeScope   endpoint.Opt[tenant.UnsubscribeScope] `json:"unsubscribe_scope" nullable:"false"`
		DoubleOptInDefault endpoint.Opt[bool]                    `json:"double_opt_in_default" nullable:"false"`
		TrackedDomains     endpoint.Opt[[]string]                `json:"tracked_domains"`
		Retention          endpoint.Opt[accountRetentionChange]  `json:"retention" nullable:"false"`
	}
}

type accountAddressChange struct {
	Line1      endpoint.Opt[string] `json:"line1"`
	Line2      endpoint.Opt[string] `json:"line2"`
	City       endpoint.Opt[string] `json:"city"`
	State      endpoint.Opt[string] `json:"state"`
	PostalCode endpoint.Opt[string] `json:"postal_code"`
	Country    endpoint.Opt[string] `json:"country"`
}

type accountTrackingChange struct {
	TrackingEnabled endpoint.Opt[bool] `json:"tracking_enabled" nullable:"false"`
	UTMEnabled      endpoint.Opt[bool] `json:"utm_enabled" nullable:"false"`
	HoneypotLinks   endpoint.Opt[bool] `json:"honeypot_links" nullable:"false"`
}

type accountRetentionChange struct {
	EventsDays      endpoint.Opt[int] `json:"events_days" nullable:"false"`
	EngagementDays  endpoint.Opt[int] `json:"engagement_days" nullable:"false"`
	DeliveriesDays  endpoint.Opt[int] `json:"deliveries_days" nullable:"false"`
	RawRequestsDays endpoint.Opt[int] `json:"raw_requests_days" nullable:"false"`
}

type accountWindowChange struct {
	Start endpoint.Opt[string] `json:"start" nullable:"false"`
	End   endpoint.Opt[string] `json:"end" nullable:"false"`
}

func checkAccount(_ auth.Principal, in *updateAccountRequest) error {
	t := tenant.Tenant{Name: "-", Settings: tenant.Defaults("UTC")}
	in.apply(&t)
	return tenant.CheckSettings(t.Name, t.Settings)
}

func (api Account) updateAccount(ctx context.Context, p auth.Principal, in *updateAccountRequest) (AccountSessionView, error) {
	now := api.now()
	var t tenant.Tenant
	err := api.db.InTx(ctx, func(tx *sqldb.DB) (err error) {
		if t, err = tenant.Lock(ctx, tx, p.Tenant); err != nil {
			return err
		}
		before, err := api.auditForm(ctx, tx, t)
		if err != nil {
			return err
		}
		in.apply(&t)
		if err := in.resolve(ctx, tx, &t); err != nil {
			return err
		}
		if err := sender.FollowReturnPath(ctx, tx, t.ID, now, func() error {
			return tenant.SaveSettings(ctx, tx, t.ID, t.Name, t.Settings, now)
		}); err != nil {
			return err
		}
		if t, err = tenant.ByID(ctx, tx, t.ID); err != nil {
			return err
		}
		after, err := api.auditForm(ctx, tx, t)
		if err != nil {
			return err
		}
		entry := p.Did("account.update", "tenant", t.ID.String(), now)
		if entry.Changes, err = auth.Changes(before, after); err != nil {
			return err
		}
		return auth.Audit(ctx, tx, entry)
	})
	if err != nil {
		return AccountSessionView{}, err
	}
	return api.accountOf(ctx, t)
}

// auditForm returns the account as the audit log compares it.
func (api Account) auditForm(ctx context.Context, tx *sqldb.DB, t tenant.Tenant) (AccountSessionView, error) {
	api.db = tx
	v, err := api.View(ctx, t)
	v.BillableContacts = 0
	return v, err
}

// apply sets the fields of t that refer to no other record.
func (in *updateAccountRequest) apply(t *tenant.Tenant) {
	b, s := &in.Body, &t.Settings
	wire.SetIfGiven(&t.Name, b.Name)
	wire.SetIfGiven(&s.Timezone, b.Timezone)
	wire.SetIfGiven(&s.Locale, b.Locale)
	wire.SetIfGiven(&s.CurrencyCode, b.CurrencyCode)
	wire.SetOrClear(&s.WebsiteURL, b.WebsiteURL)
	wire.SetOrClear(&s.LogoURL, b.LogoURL)
	if b.PostalAddress.Null {
		s.PostalAddress = tenant.PostalAddress{}
	}
	address := b.PostalAddress.Value
	wire.SetOrClear(&s.PostalAddress.Line1, address.Line1)
	wire.SetOrClear(&s.PostalAddress.Line2, address.Line2)
	wire.SetOrClear(&s.PostalAddress.City, address.City)
	wire.SetOrClear(&s.PostalAddress.State, address.State)
	wire.SetOrClear(&s.PostalAddress.PostalCode, address.PostalCode)
	wire.SetOrClear(&s.PostalAddress.Country, address.Country)
	wire.SetIfGiven(&s.AutoCreateOnEvent, b.AutoCreateOnEvent)
	wire.SetIfGiven(&s.Tracking.Enabled, b.TrackingDefaults.Value.TrackingEnabled)
	wire.SetIfGiven(&s.Tracking.UTM, b.TrackingDefaults.Value.UTMEnabled)
	wire.SetIfGiven(&s.Tracking.Honeypot, b.TrackingDefaults.Value.HoneypotLinks)
	wire.SetIfGiven(&s.SendWindow.Start, b.SendWindow.Value.Start)
	wire.SetIfGiven(&s.SendWindow.End, b.SendWindow.Value.End)
	wire.SetIfGiven(&s.SunsetDays, b.SunsetDays)
	wire.SetIfGiven(&s.SunsetMinSends, b.SunsetMinSends)
	wire.SetIfGiven(&s.UnsubscribeScope, b.UnsubscribeScope)
	wire.SetIfGiven(&s.DoubleOptInDefault, b.DoubleOptInDefault)
	wire.SetIfGiven(&s.Retention.Events, b.Retention.Value.EventsDays)
	wire.SetIfGiven(&s.Retention.Engagement, b.Retention.Value.EngagementDays)
	wire.SetIfGiven(&s.Retention.Deliveries, b.Retention.Value.DeliveriesDays)
	wire.SetIfGiven(&s.Retention.RawRequests, b.Retention.Value.RawRequestsDays)
	if b.TrackedDomains.Set {
		s.TrackedDomains = append([]string{}, b.TrackedDomains.Value...)
	}
}

// resolve looks up the default records that the request names and sets them in t.
func (in *updateAccountRequest) resolve(ctx context.Context, tx *sqldb.DB, t *tenant.Tenant) error {
	b, s := &in.Body, &t.Settings
	err := setDefault(&s.DefaultIdentity, b.DefaultSendingIdentityID, b.DefaultSendingIdentityEmail,
		func(v id.Identity) (id.Identity, error) {
			i, err := sender.IdentityByID(ctx, tx, t.ID, v)
			return i.ID, replaceFault(err, sender.ErrIdentityNotFound, sender.ErrUnknownIdentity)
		},
		func(address string) (id.Identity, error) {
			list, err := sender.IdentitiesByAddress(ctx, tx, t.ID, []string{address})
			if err != nil {
				return id.Identity{}, err
			}
			return list[0].ID, nil
		})
	if err != nil {
		return err
	}
	err = setDefault(&s.DefaultEmailType, b.DefaultEmailTypeID, b.DefaultEmailTypeKey,
		func(v id.EmailType) (id.EmailType, error) {
			e, err := sender.EmailTypeByID(ctx, tx, t.ID, v)
			return e.ID, replaceFault(err, sender.ErrEmailTypeNotFound, sender.ErrUnknownEmailType)
		},
		func(key string) (id.EmailType, error) {
			e, err := sender.EmailTypeByKey(ctx, tx, t.ID, key)
			return e.ID, err
		})
	if err != nil {
		return err
	}
	return setDefault(&s.DefaultLane, b.DefaultMTAConfigID, b.DefaultMTAConfigKey,
		func(v id.Lane) (id.Lane, error) {
			c, err := lane.ByID(ctx, tx, t.ID, v)
			return c.ID, replaceFault(err, lane.ErrNotFound, lane.ErrUnknown)
		},
		func(key string) (id.Lane, error) {
			c, err := lane.ByKey(ctx, tx, t.ID, key)
			return c.ID, err
		})
}

// setDefault sets v to the record that a request names by id or, without one, by public key. It
// clears v for null and keeps it if both fields are absent.
func setDefault[T ~[16]byte](v *T, byID, byKey endpoint.Opt[string], findID func(T) (T, error), findKey func(string) (T, error)) (err error) {
	switch {
	case byID.Given():
		*v, err = findID(wire.IDOrUnknown[T](byID.Value))
	case byKey.Given():
		*v, err = findKey(byKey.Value)
	case byID.Null || byKey.Null:
		*v = T{}
	}
	return err
}

// replaceFault returns to if err is from, else err.
func replaceFault(err error, from, to *fault.Error) error {
	if errors.Is(err, from) {
		return to
	}
	return err
}

type deleteTenantRequest struct {
	Body struct {
		ConfirmSlug string `json:"confirm_slug"`
	}
}

// deletionBegun is an empty object.
type deletionBegun struct{}

func (api Account) deleteTenant(ctx context.Context, p auth.Principal, in *deleteTenantRequest) (deletionBegun, error) {
	if in.Body.ConfirmSlug != p.TenantSlug {
		return deletionBegun{}, fault.Input(fault.Field{Path: "confirm_slug", Message: "must be the tenant's slug"})
	}
	now := api.now()
	return deletionBegun{}, api.db.InTx(ctx, func(tx *sqldb.DB) error {
		if err := tenant.Revisions.Check(ctx, tx, p.Tenant, p.Tenant); err != nil {
			return err
		}
		if err := tenant.Delete(ctx, tx, p.Tenant, now); err != nil {
			return err
		}
		tx.AfterCommit(api.gate.ClearCache)
		return auth.Audit(ctx, tx, p.Did("tenant.delete", "tenant", p.Tenant.String(), now))
	})
}
