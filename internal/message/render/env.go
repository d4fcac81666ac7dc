package render

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/links"
	"github.com/packetboat/packetboat/internal/mail/liquid"
	"github.com/packetboat/packetboat/internal/mail/markup"
	"github.com/packetboat/packetboat/internal/message/track"
)

// env resolves the names in a mail's Liquid: the URLs of Packetboat first, then the named objects,
// then the contact's fields, then its custom fields by their keys.
type env struct {
	Mail
	scheme   string
	subject  string // once rendered
	signer   *track.Signer
	scratch  []byte
	location *time.Location
	ctx      context.Context
	budget   *liquid.Budget
	pages    [4]string      // addresses of the pages, once used
	address  *string        // the account's postal address, once used
	signed   []signed       // an address for each link, the pixel's and the invisible link's
	targets  map[int]string // of dynamic links, once used
	err      error          // of a link that could not be rendered

	inPreheader bool
	inFooter    bool

	unread []string // what Liquid left as it is, of the part being rendered

	noting bool              // noted is filled in
	noted  map[string]string // what links lead to, by their printed addresses; nothing for what is invisible
}

// reset clears the env, except for memory that the next mail reuses.
func (e *env) reset() {
	clear(e.signed)
	clear(e.noted)
	*e = env{scratch: e.scratch[:0], signed: e.signed[:0], noted: e.noted}
}

// Now returns the time of rendering, in the zone in which dates are shown.
func (e *env) Now() time.Time { return e.Mail.Now.In(e.location) }

// maxUnread is the maximum number of notes about one part.
const maxUnread = 20

// Note stores what Liquid leaves as it is, for previews.
func (e *env) Note(_ int, message string) {
	if e.Preview && len(e.unread) < maxUnread && !slices.Contains(e.unread, message) {
		e.unread = append(e.unread, message)
	}
}

// Lookup returns the value of a name that stands alone, or begins a path.
func (e *env) Lookup(name string) (any, bool) {
	switch name {
	case "unsubscribe_url":
		return e.page(unsubscribePage), true
	case "preferences_url":
		return e.page(preferencesPage), true
	case "view_in_browser_url":
		return e.page(viewPage), true
	case "subscribe_confirm_url":
		if e.Content.Context.Confirmation {
			return e.page(confirmPage), true
		}
		return nil, false
	case content.PixelVariable:
		if e.WithoutPixel {
			return e.note("data:,", ""), true
		}
		return e.sign(len(e.Content.Links), track.OpenPixel), true
	case content.HoneypotVariable:
		if e.WithoutPixel || e.Preview {
			return e.note("#", ""), true
		}
		return e.sign(len(e.Content.Links)+1, track.ClickLink), true
	case "contact":
		return person{e}, true
	case "account":
		return account{e}, true
	case "brand":
		if e.hasField("brand") {
			return fieldAndBrand{brand{e}}, true
		}
		return brand{e}, true
	case "broadcast":
		return campaign{e}, true
	case "sequence":
		return sequence{e}, true
	case "event":
		return e.Event, true
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
	return e.custom(name)
}

// custom returns the contact's value of a custom field, or the field's default.
func (e *env) custom(key string) (any, bool) {
	if v := e.Contact.CustomFields[key]; v != nil {
		return plain(v), true
	}
	if f, ok := e.Sender.Fields[key]; ok && f.Default != nil {
		return plain(f.Default), true
	}
	return nil, false
}

// hasField reports whether the account has a custom field with a key.
func (e *env) hasField(key string) bool {
	_, ok := e.Sender.Fields[key]
	return ok || e.Contact.CustomFields[key] != nil
}

// customFields is {{ contact.custom_fields }}.
type customFields struct{ *env }

// Field returns one custom field.
func (c customFields) Field(key string) any {
	v, _ := c.custom(key)
	return v
}

// Names returns the keys of the fields that have a value or a default.
func (c customFields) Names() []string {
	keys := make([]string, 0, len(c.Contact.CustomFields))
	for key, v := range c.Contact.CustomFields {
		if v != nil {
			keys = append(keys, key)
		}
	}
	for key, f := range c.Sender.Fields {
		if f.Default != nil && c.Contact.CustomFields[key] == nil {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// plain converts a whole float64, as JSON decodes numbers, to an int64, which prints without a
// decimal point.
func plain(v any) any {
	if f, ok := v.(float64); ok && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int64(f)
	}
	return v
}

// link returns the tracked address of link n. A target with Liquid is rendered now and becomes
// part of the signed address; so does the target of every link of a test send, which is not in the
// database.
func (e *env) link(n int) (any, bool) {
	if n >= len(e.Content.Links) {
		return nil, false
	}
	template := e.Content.Targets[n]
	switch {
	case template == nil && e.Direct && !e.Content.Links[n].Dynamic:
		return e.note(e.Sender.WithUTM(e.Content.Context, e.Content.Links[n].URL), e.Content.Links[n].URL), true
	case template == nil && e.Content.Links[n].Dynamic:
		return target{e, n}, true
	case template == nil && e.Preview:
		return e.carrying(n, e.Content.Links[n].URL), true
	case template == nil:
		return e.sign(n, track.ClickLink), true
	}
	known, ok := e.targets[n]
	if !ok {
		if e.targets == nil {
			e.targets = map[int]string{}
		}
		e.targets[n] = "" // in case the target refers to itself
		b, err := template.Append(e.ctx, nil, e, e.budget)
		if err != nil {
			e.err = err
			return nil, false
		}
		known = strings.TrimSpace(string(b))
		e.targets[n] = known
	}
	return e.carrying(n, known), true
}

// target is a link whose target is rendered where the link stands, since it depends on variables of
// the body: {{ packetboat_link_3[target] }}.
type target struct {
	env *env
	n   int
}

// Field returns the tracked address of the link with a rendered target, in which everything but Raw
// values is escaped.
func (t target) Field(name string) any {
	return t.env.carrying(t.n, strings.TrimSpace(markup.UnescapeValue(name)))
}

// carrying returns the address of link n that contains its target.
func (e *env) carrying(n int, target string) string {
	tagged := e.Sender.WithUTM(e.Content.Context, target)
	if e.Direct && links.CheckTarget(tagged) == nil {
		return e.note(tagged, target)
	}
	if links.CheckTarget(tagged) != nil || len(tagged) > track.MaxTarget { // not a target that we redirect to, with this contact's data
		return target
	}
	e.scratch = e.appendURL(e.scratch[:0], e.Sender.TrackingHost(), track.ClickLink, n, tagged)
	return e.note(string(e.scratch), target)
}

// note stores what a printed address leads to, if the HTML is read afterwards, and returns the address.
func (e *env) note(printed, target string) string {
	if e.noting {
		if e.noted == nil {
			e.noted = map[string]string{}
		}
		e.noted[printed] = target
	}
	return printed
}

// authored returns what an address of the HTML leads to, as the author wrote it.
func (e *env) authored(address string) string {
	if target, ok := e.noted[address]; ok {
		return target
	}
	return address
}

// The pages we serve to the recipient.
const (
	unsubscribePage = iota
	preferencesPage
	viewPage
	confirmPage
)

// page returns the address of a page, which is signed once for all parts.
func (e *env) page(n int) *string {
	if e.pages[n] == "" {
		kind := [...]track.Kind{track.Unsubscribe, track.Preferences, track.View, track.Confirm}[n]
		e.scratch = e.appendURL(e.scratch[:0], e.Sender.ContentHost(), kind, 0, "")
		e.pages[n] = string(e.scratch)
	}
	return &e.pages[n]
}

func (e *env) appendURL(dst []byte, host string, kind track.Kind, link int, target string) []byte {
	dst = append(dst, e.scheme...)
	dst = append(dst, "://"...)
	dst = append(dst, host...)
	dst = append(dst, "/_q/"...)
	dst = append(dst, byte(kind), '/')
	return e.signer.Append(dst, kind, link, target)
}

// signed is an address that is signed while it is printed, which saves a copy.
type signed struct {
	env  *env
	kind track.Kind
	link int
}

// sign returns the address of link n. The two numbers after the last link are those of the pixel and of
// the invisible link.
func (e *env) sign(n int, kind track.Kind) *signed {
	if need := len(e.Content.Links) + 2; len(e.signed) < need {
		e.signed = slices.Grow(e.signed[:0], need)[:need]
	}
	s := &e.signed[n]
	*s = signed{e, kind, n}
	if n > len(e.Content.Links) {
		s.link = track.HoneypotLink
	}
	return s
}

// AppendTo appends the address.
func (s *signed) AppendTo(dst []byte) []byte {
	from := len(dst)
	if s.kind == track.OpenPixel {
		dst = append(s.env.appendURL(dst, s.env.Sender.TrackingHost(), s.kind, 0, ""), ".gif"...)
	} else {
		dst = s.env.appendURL(dst, s.env.Sender.TrackingHost(), s.kind, s.link, "")
	}
	if s.env.noting {
		target := ""
		if s.kind == track.ClickLink && s.link != track.HoneypotLink {
			target = s.env.Content.Links[s.link].URL
		}
		s.env.note(string(dst[from:]), target)
	}
	return dst
}

// person is {{ contact }}.
type person struct{ *env }

// Field returns one field.
func (p person) Field(name string) any {
	if name == "custom_fields" {
		return customFields(p)
	}
	v, _ := p.Contact.Value(name)
	return v
}

// campaign is {{ broadcast }}.
type campaign struct{ *env }

// Field returns one field.
func (c campaign) Field(name string) any {
	switch name {
	case "id":
		return c.Content.Context.Broadcast.String()
	case "name":
		return &c.Content.Context.BroadcastName
	}
	return nil
}

// Names returns the names of the fields.
func (campaign) Names() []string { return []string{"id", "name"} }

// sequence is {{ sequence }}.
type sequence struct{ *env }

// Field returns one field.
func (s sequence) Field(name string) any {
	switch name {
	case "id":
		return s.Content.Context.Sequence.String()
	case "name":
		return &s.Content.Context.SequenceName
	}
	return nil
}

// Names returns the names of the fields.
func (sequence) Names() []string { return []string{"id", "name"} }

// email is {{ email }}: the contact's address if it stands alone, else an object with fields of the mail.
type email struct{ *env }

// String returns the contact's address.
func (m email) String() string { return m.Contact.Email }

// AppendTo appends the contact's address.
func (m email) AppendTo(dst []byte) []byte { return append(dst, m.Contact.Email...) }

// Field returns one field.
func (m email) Field(name string) any {
	switch name {
	case "subject":
		return &m.subject
	case "preheader":
		if m.inPreheader { // the preheader refers to itself
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
		return &m.Sender.Type.Key
	}
	return nil
}

// account is {{ account }}.
type account struct{ *env }

// Field returns one field.
func (a account) Field(name string) any {
	s := &a.Sender.Tenant.Settings
	switch name {
	case "name":
		return &a.Sender.Tenant.Name
	case "website_url":
		return s.WebsiteURL
	case "logo_url":
		return s.LogoURL
	case "postal_address":
		if a.address == nil {
			a.address = new(s.PostalAddress.String())
		}
		return a.address
	}
	return nil
}

// zones caches time zones by name.
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
