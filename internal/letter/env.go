package letter

import (
	"context"
	"math"
	"strings"
	"sync"
	"time"

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
	ctx      context.Context
	budget   *liquid.Budget
	custom   map[string]any // custom fields with their defaults, once asked for
	targets  map[int]string // of dynamic links, once asked for
	err      error          // of a link that could not be rendered

	inPreheader bool
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
		return person{e}, true
	case "account":
		return account{e.Sender}, true
	case "broadcast":
		return map[string]any{"id": string(e.Content.Context.Broadcast), "name": e.Content.Context.BroadcastName}, true
	case "email":
		return email{e}, true
	case "param":
		return e.Content.Params, true
	case "now":
		return e.Now(), true
	}
	if n, ok := content.LinkVariable(name); ok {
		return e.link(n)
	}
	if v, ok := e.Contact.Value(name); ok {
		return v, true
	}
	v, ok := e.customFields()[name]
	return v, ok
}

// customFields returns the contact's custom fields, and the defaults of those it
// has no value of.
func (e *env) customFields() map[string]any {
	if e.custom != nil {
		return e.custom
	}
	e.custom = make(map[string]any, len(e.Contact.CustomFields))
	for key, f := range e.Sender.Fields {
		if f.Default != nil {
			e.custom[key] = plain(f.Default)
		}
	}
	for key, v := range e.Contact.CustomFields {
		if v != nil {
			e.custom[key] = plain(v)
		}
	}
	return e.custom
}

// plain turns a whole number, which JSON makes a float64, into one that prints
// without a decimal point.
func plain(v any) any {
	if f, ok := v.(float64); ok && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int64(f)
	}
	return v
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
	target, ok := e.targets[n]
	if !ok {
		if e.targets == nil {
			e.targets = map[int]string{}
		}
		e.targets[n] = "" // should it ask for itself
		b, err := template.Append(e.ctx, nil, e, e.budget)
		if err != nil {
			e.err = err
			return nil, false
		}
		target = strings.TrimSpace(string(b))
		e.targets[n] = target
	}
	tagged := e.Sender.WithUTM(e.Content.Context, target)
	if links.CheckTarget(tagged) != nil || len(tagged) > track.MaxTarget { // what this contact's data make of it is not vouched for by us
		return target, true
	}
	return e.url(e.Sender.TrackingHost(), track.ClickLink, n, tagged), true
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
type person struct{ *env }

// Field returns one field.
func (p person) Field(name string) any {
	if name == "custom_fields" {
		return p.customFields()
	}
	v, _ := p.Contact.Value(name)
	return v
}

// email is {{ email }}: alone the contact's address, else something of the mail.
type email struct{ *env }

// String returns the contact's address.
func (m email) String() string { return m.Contact.Email }

// Field returns one field.
func (m email) Field(name string) any {
	switch name {
	case "subject":
		return m.subject
	case "preheader":
		if m.inPreheader { // it asks for itself
			return nil
		}
		m.inPreheader = true
		defer func() { m.inPreheader = false }()
		b, err := m.Content.PreheaderTemplate.Append(m.ctx, nil, m.env, m.budget)
		if err != nil {
			m.err = err
		}
		return string(b)
	case "type":
		return m.Sender.Type.Key
	}
	return nil
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
type zones struct{ kept sync.Map }

func (z *zones) load(name string) (*time.Location, error) {
	if l, ok := z.kept.Load(name); ok {
		return l.(*time.Location), nil
	}
	l, err := time.LoadLocation(name)
	if err == nil {
		z.kept.Store(name, l)
	}
	return l, err
}
