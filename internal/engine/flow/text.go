package flow

import (
	"context"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/mail/liquid"
	"github.com/packetboat/packetboat/internal/people/contact"
)

// texts are parsed templates by their source; nil: it cannot be parsed.
type texts map[string]*liquid.Template

func (t texts) parse(source string) *liquid.Template {
	template, known := t[source]
	if !known {
		template, _ = liquid.Parse(source, liquid.Options{}) // was checked when it was stored
		t[source] = template
	}
	return template
}

// render renders a short text for a subject. A text that fails to render is empty.
func (e *effects) render(s *subject, source string) string {
	if !strings.Contains(source, "{") {
		return source
	}
	template := e.texts.parse(source)
	if template == nil {
		return ""
	}
	text, err := e.renderTemplate(s, template)
	if err != nil {
		return ""
	}
	return text
}

func (e *effects) renderTemplate(s *subject, template *liquid.Template) (string, error) {
	trigger, err := journal.DecodeTrigger(s.trigger)
	if err != nil {
		return "", err
	}
	out, err := template.Append(context.Background(), nil, scope{e.people[s.contact], trigger, s.actor, &e.account, e.now}, nil)
	return string(out), err
}

// scope resolves the names in the Liquid of steps.
type scope struct {
	contact *contact.Contact
	event   journal.Trigger
	actor   *actor
	account *tenant.Tenant
	now     time.Time
}

// Now returns the time of rendering.
func (s scope) Now() time.Time { return s.now }

// Lookup returns the value of a name: the contact, the event that enrolled it, the account, the
// sequence or automation, or a field of the contact.
func (s scope) Lookup(name string) (any, bool) {
	switch name {
	case "contact":
		return person{s.contact}, true
	case "event":
		return s.event, true
	case "account":
		return map[string]any{"name": s.account.Name, "website_url": s.account.Settings.WebsiteURL}, true
	case s.actor.kind:
		return map[string]any{"id": s.actor.id, "name": s.actor.name}, true
	case "now":
		return s.now, true
	}
	if v, ok := s.contact.Value(name); ok {
		return v, true
	}
	v, ok := s.contact.CustomFields[name]
	return v, ok
}

// person is {{ contact }}.
type person struct{ *contact.Contact }

// Field returns one field of the contact.
func (p person) Field(name string) any {
	if name == "custom_fields" {
		return p.CustomFields
	}
	v, _ := p.Value(name)
	return v
}

// Names returns the names of the fields.
func (person) Names() []string { return contact.ColumnNames() }
