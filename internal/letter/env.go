package letter

import (
	"context"
	"strings"
	"sync"
	"time"

	"packetboat/internal/contact"
	"packetboat/internal/content"
	"packetboat/internal/mail/links"
	"packetboat/internal/mail/liquid"
	"packetboat/internal/track"
)

// env answers what a letter's Liquid asks for (contract 10.4): our own URLs
// first, then the named objects, then the contact's fields, then its custom
// fields by their keys.
type env struct {
	Letter
	scheme   string
	subject  string // once rendered
	signer   *track.Signer
	scratch  []byte
	location *time.Location
	err      error // of a link that could not be rendered
}

// Now is the time of writing, in the zone in which dates are shown.
func (e *env) Now() time.Time { return e.Letter.Now.In(e.location) }

// Lookup returns the value of a name that stands alone, or begins a path.
func (e *env) Lookup(name string) (any, bool) {
	switch name {
	case "unsubscribe_url":
		return e.page(track.Unsubscribe), true
	case "preferences_url":
		return e.page(track.Preferences), true
	case "view_in_browser_url":
		return e.page(track.View), true
	case content.PixelVariable:
		if e.WithoutPixel {
			return "data:,", true
		}
		return e.url(e.Sender.TrackingHost(), track.OpenPixel, 0, "") + ".gif", true
	case "contact":
		return person{e.Contact}, true
	case "account":
		return account{e.Sender}, true
	case "broadcast":
		return map[string]any{"id": string(e.Content.Context.Broadcast), "name": e.Content.Context.BroadcastName}, true
	case "email":
		return map[string]any{"subject": e.subject, "preheader": e.Content.Preheader, "type": e.Sender.Type.Key}, true
	case "now":
		return e.Now(), true
	}
	if n, ok := content.LinkVariable(name); ok {
		return e.link(n)
	}
	if v, ok := e.Contact.Value(name); ok {
		return v, true
	}
	v, ok := e.Contact.CustomFields[name]
	return v, ok
}

// link returns the tracked address of link n. One whose target holds Liquid is
// rendered now, and travels inside the signature.
func (e *env) link(n int) (any, bool) {
	if n >= len(e.Content.Links) {
		return nil, false
	}
	template := e.Content.Targets[n]
	if template == nil {
		return e.url(e.Sender.TrackingHost(), track.ClickLink, n, ""), true
	}
	b, err := template.Append(context.Background(), nil, e, liquid.NewBudget(liquid.Limits{}))
	if err != nil {
		e.err = err
		return nil, false
	}
	target := strings.TrimSpace(string(b))
	if links.CheckTarget(target) != nil { // an author's link that this contact's data spoil leads nowhere
		return target, true
	}
	return e.url(e.Sender.TrackingHost(), track.ClickLink, n, e.Sender.WithUTM(e.Content.Context, target)), true
}

// page returns the address of a page we serve to the recipient.
func (e *env) page(kind track.Kind) string { return e.url(e.Sender.ContentHost(), kind, 0, "") }

func (e *env) url(host string, kind track.Kind, link int, target string) string {
	b := append(e.scratch[:0], e.scheme...)
	b = append(b, "://"...)
	b = append(b, host...)
	b = append(b, "/_q/"...)
	b = append(b, byte(kind), '/')
	b = e.signer.Append(b, kind, link, target)
	e.scratch = b
	return string(b)
}

// person is {{ contact }}.
type person struct{ *contact.Contact }

// Field returns one field.
func (p person) Field(name string) any {
	if name == "custom_fields" {
		return p.CustomFields
	}
	v, _ := p.Value(name)
	return v
}

// account is {{ account }}.
type account struct{ *Sender }

// Field returns one field.
func (a account) Field(name string) any {
	s := a.Tenant.Settings
	switch name {
	case "name":
		return a.Tenant.Name
	case "website_url":
		return text(s.WebsiteURL)
	case "logo_url":
		return text(s.LogoURL)
	case "postal_address":
		return s.PostalAddress.String()
	}
	return nil
}

func text(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}

// zones keeps the time zones that were asked for.
var zones zoneCache

type zoneCache struct{ kept sync.Map }

func (z *zoneCache) load(name string) (*time.Location, error) {
	if l, ok := z.kept.Load(name); ok {
		return l.(*time.Location), nil
	}
	l, err := time.LoadLocation(name)
	if err == nil {
		z.kept.Store(name, l)
	}
	return l, err
}
