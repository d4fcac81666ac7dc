package content

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/liquid"
	"github.com/packetboat/packetboat/internal/mail/textpart"
	"github.com/packetboat/packetboat/internal/people/contact"
	custom "github.com/packetboat/packetboat/internal/people/field"
)

// trialTime is the time limit for rendering a text for one contact. It is longer than at a send, so
// that a short delay of the machine causes no warning.
const trialTime = 2 * time.Second

// trial renders texts as recipients get them.
type trial struct {
	fields custom.Catalog
	params map[string]any
	paths  []string // of data that is declared
	now    time.Time
}

// contacts returns a contact with all fields, and one with none.
func (tr trial) contacts() []*contact.Contact {
	return []*contact.Contact{fullContact(tr.fields, tr.now), {ID: id.New[id.Contact](), Email: "ann@example.com"}}
}

// failures returns how a template fails to render for a contact with all fields, or for one with none.
func (tr trial) failures(ctx context.Context, template *liquid.Template) ([]Trouble, error) {
	var found []Trouble
	for _, c := range tr.contacts() {
		_, err := template.Append(ctx, nil, trialEnv{c, tr.fields, tr.params, tr.now, &found}, liquid.NewBudget(liquid.Limits{Time: trialTime}))
		t := Trouble{Code: CodeMayFail}
		if e, ok := errors.AsType[*liquid.RenderError](err); ok {
			t.Line, t.Message = e.Line, e.Message
		} else if errors.Is(err, liquid.ErrLimit) {
			t.Message = "it takes more than a recipient's mail may: loop turns, output or time"
		} else if err != nil {
			return nil, err // an error of ctx
		} else {
			continue
		}
		found = append(found, t)
	}
	return found, nil
}

// empty reports whether nothing is left of a required text for a contact with all fields, or for one with
// none.
func (tr trial) empty(ctx context.Context, text Text) ([]Trouble, error) {
	source, mode := text.Source, liquid.HTML
	switch text.Form {
	case Plain:
		mode = liquid.Text
	case MJML:
		source = text.HTML
	}
	template, err := liquid.Parse(source, liquid.Options{Mode: mode})
	if err != nil || strings.TrimSpace(source) == "" {
		return nil, nil // Check reports it
	}
	var found []Trouble
	for i, c := range tr.contacts() {
		out, err := template.Append(ctx, nil, trialEnv{c, tr.fields, tr.params, tr.now, &[]Trouble{}}, liquid.NewBudget(liquid.Limits{Time: trialTime}))
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err != nil || text.Form == Plain && len(bytes.TrimSpace(out)) > 0 || text.Form != Plain && textpart.Read(string(out), nil).Shown {
			continue
		}
		who := [...]string{"every field", "no field"}[i]
		found = append(found, Trouble{Code: CodeMayFail, Message: "it is empty for a contact with " + who + " set: such recipients get no mail"})
	}
	return found, nil
}

// fullContact returns a contact with a value in every field.
func fullContact(fields custom.Catalog, now time.Time) *contact.Contact {
	c := &contact.Contact{
		ID: id.New[id.Contact](), Email: "ann@example.com", EmailDomain: "example.com", Stage: id.New[id.Stage](),
		ExternalID: new("c-1"), FirstName: new("Ann"), LastName: new("Archer"), FullName: new("Ann Archer"), Title: new("Dr"), Company: new("Archer & Sons"),
		Phone: new("+31 20 123 4567"), Website: new("https://example.com/"), Timezone: new("Europe/Amsterdam"), AddressLine1: new("1 High Street"), AddressLine2: new("Back door"),
		City: new("Amsterdam"), State: new("NH"), PostalCode: new("1012 AB"), Country: new("NL"), Source: new("import"),
		Tags: []string{"vip", "news"}, Status: contact.Active, ProspectScore: 12, CustomerScore: 34, CreatedAt: now, UpdatedAt: now, ScoreUpdatedAt: &now,
		CustomFields: map[string]any{},
	}
	for key, f := range fields {
		c.CustomFields[key] = trialValue(f)
	}
	return c
}

// trialValue returns a valid value of a custom field.
func trialValue(f custom.Field) any {
	switch f.Type {
	case custom.Number, custom.Currency:
		return 12.5
	case custom.Boolean:
		return true
	case custom.Date:
		return "2026-03-14"
	case custom.DateTime:
		return "2026-03-14T15:09:26Z"
	case custom.Time:
		return "15:09"
	case custom.Tags:
		return []any{"one", "two"}
	case custom.Email:
		return "ann@example.com"
	case custom.URL:
		return "https://example.com/"
	case custom.TimeZone:
		return "Europe/Amsterdam"
	case custom.Country:
		return "NL"
	case custom.Contact:
		return id.New[id.Contact]().String()
	}
	if len(f.EnumValues) > 0 {
		return f.EnumValues[0]
	}
	return "text"
}

// trialEnv provides the variables like the rendering of a letter, with placeholders for values of
// the send.
type trialEnv struct {
	contact *contact.Contact
	fields  custom.Catalog
	params  map[string]any
	now     time.Time
	notes   *[]Trouble
}

// Note adds a trouble that ends no rendering.
func (e trialEnv) Note(line int, message string) {
	if len(*e.notes) < maxTroubles {
		*e.notes = append(*e.notes, Trouble{Code: CodeDate, Line: line, Message: message})
	}
}

// Now is the time of rendering.
func (e trialEnv) Now() time.Time { return e.now }

// Lookup returns the value of a variable.
func (e trialEnv) Lookup(name string) (any, bool) {
	switch name {
	case "unsubscribe_url", "preferences_url", "view_in_browser_url", PixelVariable, HoneypotVariable:
		return "https://example.com/", true
	case "contact":
		return trialContact{e}, true
	case "account":
		return map[string]any{"name": "Example", "website_url": "https://example.com/", "logo_url": "https://example.com/logo.png", "postal_address": "1 High Street, Amsterdam"}, true
	case "brand":
		if _, ok := e.fields["brand"]; ok {
			return trialFieldAndBrand{e}, true
		}
		return trialBrand, true
	case "broadcast":
		return map[string]any{"id": "b", "name": "News"}, true
	case "email":
		return trialEmail{e}, true
	case "param":
		return e.params, true
	case "now":
		return e.now, true
	}
	if v, ok := e.contact.Value(name); ok {
		return v, true
	}
	return e.own(name)
}

// trialBrand is {{ brand }}.
var trialBrand = map[string]any{
	"colors": map[string]any{"primary": "#12507b", "secondary": "#12507b", "text": "#1f2a35", "background": "#f5f3ee", "surface": "#ffffff"},
	"fonts":  map[string]any{"heading": "Georgia, serif", "body": "Arial, sans-serif"}, "logo_url": "https://example.com/logo.png",
	"button": map[string]any{"color": "#12507b", "text_color": "#ffffff", "radius": int64(8)}, "width": int64(600), "footer": "Footer",
}

// trialFieldAndBrand is {{ brand }} in an account with a custom field of that key: alone the contact's value.
type trialFieldAndBrand struct{ trialEnv }

// Field returns one field.
func (trialFieldAndBrand) Field(name string) any { return trialBrand[name] }

// Value returns the contact's value of the custom field.
func (b trialFieldAndBrand) Value() any {
	v, _ := b.own("brand")
	return v
}

// own returns a custom field of the contact, or its default.
func (e trialEnv) own(key string) (any, bool) {
	v := e.contact.CustomFields[key]
	if v == nil {
		v = e.fields[key].Default
	}
	if f, ok := v.(float64); ok && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int64(f), true
	}
	return v, v != nil
}

// trialContact is {{ contact }}.
type trialContact struct{ trialEnv }

// Field returns one field.
func (c trialContact) Field(name string) any {
	if name == "custom_fields" {
		all := map[string]any{}
		for key := range c.fields {
			if v, ok := c.own(key); ok {
				all[key] = v
			}
		}
		return all
	}
	v, _ := c.contact.Value(name)
	return v
}

// trialEmail is {{ email }}: alone the contact's address.
type trialEmail struct{ trialEnv }

// String returns the contact's address.
func (m trialEmail) String() string { return m.contact.Email }

// AppendTo appends the contact's address.
func (m trialEmail) AppendTo(dst []byte) []byte { return append(dst, m.contact.Email...) }

// Field returns one field.
func (trialEmail) Field(name string) any {
	switch name {
	case "subject", "preheader", "type":
		return "words"
	}
	return nil
}
