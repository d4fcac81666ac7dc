package accountapi

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/asset"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Brand serves how the mails of an account look.
type Brand struct {
	db      *sqldb.DB
	baseURL *url.URL
	now     func() time.Time
}

// NewBrand returns the operations on the brand of an account.
func NewBrand(e wire.Env) Brand { return Brand{db: e.DB, baseURL: e.BaseURL, now: e.Now} }

// Register adds the operations on the brand.
func (api Brand) Register(r *endpoint.Router) {
	endpoint.Handle(r, "GET /t/{tenant}/api/settings/brand", endpoint.Op{
		Name: "getBrand", Summary: "Get the brand: how mails of the account look.", Tag: "brand", Session: true, Role: auth.Viewer,
	}.Revised(tenant.Revisions), api.getBrand)
	endpoint.Handle(r, "PUT /t/{tenant}/api/settings/brand", endpoint.Op{
		Name: "updateBrand", Summary: "Update the brand; absent fields keep their values, and null is the default.",
		Description: "New mails and starters begin with it, and Liquid prints it as brand. What prints it changes at once, as it does with the account settings, also in broadcasts that are being sent. The revision is that of the account settings.",
		Tag:         "brand", Session: true, Role: auth.Admin,
	}.ExampleBody(`{"colors": {"primary": "#12507b", "text": "#1f2a35"}, "fonts": {"heading": "Georgia, serif"}, "button": {"radius": 4}, "footer": "Bricks since 1981"}`).IfMatch(tenant.Revisions), api.updateBrand, checkBrand)
}

// brandView is a brand in answers.
type brandView struct {
	Colors  brandColors `json:"colors"`
	Fonts   brandFonts  `json:"fonts"`
	LogoID  *id.Asset   `json:"logo_asset_id" format:"uuid"`
	LogoURL *string     `json:"logo_url" doc:"Of the image logo_asset_id, or else logo_url of the account settings."`
	Button  brandButton `json:"button"`
	Width   int         `json:"width" doc:"Of the content of mails, in pixels."`
	Footer  string      `json:"footer" doc:"Liquid."`
}

type brandColors struct {
	Primary    string  `json:"primary"`
	Secondary  *string `json:"secondary" doc:"Null: primary."`
	Text       string  `json:"text"`
	Background string  `json:"background" doc:"Around the content."`
	Surface    string  `json:"surface" doc:"Behind the content."`
}

type brandFonts struct {
	Heading string `json:"heading" doc:"A list of font families, as CSS has them."`
	Body    string `json:"body"`
}

type brandButton struct {
	Color     *string `json:"color" doc:"Behind the text. Null: colors.primary."`
	TextColor string  `json:"text_color"`
	Radius    int     `json:"radius" doc:"Of the corners, in pixels."`
}

func (api Brand) viewOf(t tenant.Tenant) brandView {
	b := t.Settings.Brand
	v := brandView{
		Colors: brandColors(b.Colors), Fonts: brandFonts(b.Fonts), Button: brandButton(b.Button), Width: b.Width, Footer: b.Footer, LogoURL: t.Settings.LogoURL,
	}
	if !b.Logo.IsZero() {
		v.LogoID, v.LogoURL = &b.Logo, new(api.baseURL.JoinPath(b.LogoPath).String())
	}
	return v
}

func (api Brand) show(ctx context.Context, db *sqldb.DB, p auth.Principal) (brandView, error) {
	t, err := tenant.ByID(ctx, db, p.Tenant)
	endpoint.SetRevision(ctx, t.Revision)
	return api.viewOf(t), err
}

func (api Brand) getBrand(ctx context.Context, p auth.Principal, _ *struct{}) (brandView, error) {
	return api.show(ctx, api.db, p)
}

type updateBrandRequest struct {
	Body struct {
		Colors endpoint.Opt[brandColorsChange] `json:"colors"`
		Fonts  endpoint.Opt[brandFontsChange]  `json:"fonts"`
		Logo   endpoint.Opt[string]            `json:"logo_asset_id" doc:"An image of the account."`
		Button endpoint.Opt[brandButtonChange] `json:"button"`
		Width  endpoint.Opt[int]               `json:"width" doc:"320 to 1000."`
		Footer endpoint.Opt[string]            `json:"footer" doc:"Liquid, at most 4,000 bytes."`
	}
}

type brandColorsChange struct {
	Primary    endpoint.Opt[string] `json:"primary" doc:"Colours are such as #12507b."`
	Secondary  endpoint.Opt[string] `json:"secondary"`
	Text       endpoint.Opt[string] `json:"text"`
	Background endpoint.Opt[string] `json:"background"`
	Surface    endpoint.Opt[string] `json:"surface"`
}

type brandFontsChange struct {
	Heading endpoint.Opt[string] `json:"heading" doc:"At most 10 known families, the last of which is serif, sans-serif or monospace."`
	Body    endpoint.Opt[string] `json:"body"`
}

type brandButtonChange struct {
	Color     endpoint.Opt[string] `json:"color"`
	TextColor endpoint.Opt[string] `json:"text_color"`
	Radius    endpoint.Opt[int]    `json:"radius" doc:"0 to 50."`
}

// apply sets the fields of b that refer to no other record. It returns the problems of all fields.
func (in *updateBrandRequest) apply(b *tenant.Brand) (bad fault.Problems) {
	r, base := &in.Body, tenant.DefaultBrand()
	if r.Colors.Null {
		b.Colors = base.Colors
	}
	c := r.Colors.Value
	setOrDefault(&b.Colors.Primary, c.Primary, base.Colors.Primary)
	setOrDefault(&b.Colors.Text, c.Text, base.Colors.Text)
	setOrDefault(&b.Colors.Background, c.Background, base.Colors.Background)
	setOrDefault(&b.Colors.Surface, c.Surface, base.Colors.Surface)
	wire.SetOrClear(&b.Colors.Secondary, c.Secondary)
	if r.Fonts.Null {
		b.Fonts = base.Fonts
	}
	setOrDefault(&b.Fonts.Heading, r.Fonts.Value.Heading, base.Fonts.Heading)
	setOrDefault(&b.Fonts.Body, r.Fonts.Value.Body, base.Fonts.Body)
	if r.Button.Null {
		b.Button = base.Button
	}
	wire.SetOrClear(&b.Button.Color, r.Button.Value.Color)
	setOrDefault(&b.Button.TextColor, r.Button.Value.TextColor, base.Button.TextColor)
	setOrDefault(&b.Button.Radius, r.Button.Value.Radius, base.Button.Radius)
	setOrDefault(&b.Width, r.Width, base.Width)
	setOrDefault(&b.Footer, r.Footer, base.Footer)
	if r.Logo.Null {
		b.Logo, b.LogoPath = id.Asset{}, ""
	}
	b.Normalize(&bad)
	if r.Logo.Given() {
		if _, ok := id.Parse[id.Asset](r.Logo.Value); !ok {
			bad.Add("logo_asset_id", "must be a uuid")
		}
	}
	return bad
}

// setOrDefault sets v to a field of a request, or for null to a default.
func setOrDefault[T any](v *T, field endpoint.Opt[T], base T) {
	switch {
	case field.Given():
		*v = field.Value
	case field.Null:
		*v = base
	}
}

func checkBrand(_ auth.Principal, in *updateBrandRequest) error {
	b := tenant.DefaultBrand()
	bad := in.apply(&b)
	return bad.Err()
}

func (api Brand) updateBrand(ctx context.Context, p auth.Principal, in *updateBrandRequest) (brandView, error) {
	now := api.now()
	err := wire.AuditedUpdate(ctx, api.db, p, wire.Update{
		Action: "update", Target: "brand", ID: p.Tenant.String(), Table: tenant.Revisions, Key: p.Tenant,
		Show: func(tx *sqldb.DB) (any, error) {
			t, err := tenant.ByID(ctx, tx, p.Tenant)
			return api.viewOf(t), err
		},
		Do: func(tx *sqldb.DB) error {
			if err := tenant.Revisions.Check(ctx, tx, p.Tenant, p.Tenant); err != nil {
				return err
			}
			t, err := tenant.ByID(ctx, tx, p.Tenant)
			if err != nil {
				return err
			}
			b := t.Settings.Brand
			bad := in.apply(&b)
			if in.Body.Logo.Given() {
				logo, _ := id.Parse[id.Asset](in.Body.Logo.Value)
				a, err := asset.Lock(ctx, tx, p.Tenant, logo)
				switch {
				case errors.Is(err, asset.ErrNotFound) && !logo.IsZero():
					bad.Add("logo_asset_id", "names no image of this account")
				case err != nil && !errors.Is(err, asset.ErrNotFound):
					return err
				}
				b.Logo, b.LogoPath = a.ID, a.Path()
			}
			if bad.Any() {
				return bad.Err()
			}
			return tenant.SaveBrand(ctx, tx, p.Tenant, b, now)
		},
	}, now)
	if err != nil {
		return brandView{}, err
	}
	return api.show(ctx, api.db, p)
}
