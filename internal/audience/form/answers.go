package form

import (
	"slices"
	"strconv"
	"strings"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
)

// Answers are the valid values of a submission, as it stores them.
type Answers struct {
	Texts        map[contact.Text]string `json:"contact,omitempty"`
	CustomFields map[string]any          `json:"custom_fields,omitempty"`
}

// Values returns the answers in one object, as contacts have them: text fields by name, and the custom
// fields by key under custom_fields if there are any.
func (a Answers) Values() map[string]any {
	values := make(map[string]any, len(a.Texts)+1)
	for name, text := range a.Texts {
		values[string(name)] = text
	}
	if len(a.CustomFields) > 0 {
		values["custom_fields"] = a.CustomFields
	}
	return values
}

// Given is a consent that a submission gives.
type Given struct {
	Binding string `json:"binding"` // as in Field
	Wording string `json:"wording"` // the field's label at that time
}

// answers validates what was submitted. The address is returned apart.
func (f Form) answers(b bindings, s Submitted) (email string, a Answers, given []Given, err error) {
	var p fault.Problems
	a = Answers{Texts: map[contact.Text]string{}, CustomFields: map[string]any{}}
	given = []Given{}
	for _, one := range f.Fields {
		path := one.name()
		if !s.Encoded {
			path = "fields." + one.Binding
		}
		switch one.Type {
		case ConsentField:
			yes := s.Consents[one.Binding]
			if one.Required && !yes {
				p.Add(consentPrefix+one.Binding, "is required")
			}
			if yes && b.hasConsent(one) {
				given = append(given, Given{one.Binding, one.Label})
			}
		case ContactField, HiddenField, CustomField:
			v, problem := one.value(s)
			text, isText := one.boundTo()
			switch {
			case problem != "":
				p.Add(path, problem)
			case one.isEmail():
				email = parseAddress(&p, path, v)
			case isText && v != nil:
				checkText(&p, path, text, v, a.Texts)
			case !isText && v != nil:
				b.checkCustom(&p, path, one, v, a.CustomFields)
			}
		}
	}
	return email, a, given, p.Err()
}

// name returns the name of the field's input.
func (f Field) name() string {
	if _, text := f.boundTo(); !text && f.Type != ContactField && f.Type != ConsentField {
		return customPrefix + f.Binding
	}
	if f.Type == ConsentField {
		return consentPrefix + f.Binding
	}
	return f.Binding
}

// value returns what was submitted for a field, nil for nothing, or a problem.
func (f Field) value(s Submitted) (v any, problem string) {
	v, given := s.Values[f.name()]
	if !given {
		v = s.Values[f.Binding]
	}
	if text, ok := v.(string); ok {
		v = strings.TrimSpace(text)
		if v == "" {
			v = nil
		}
	}
	if list, ok := v.([]any); ok && len(list) == 0 {
		v = nil
	}
	if v == nil && f.Type == HiddenField {
		v = f.Default
	}
	missing := v == nil
	if f.Input == InputCheckbox && f.Required {
		on, ok := boolean(v)
		missing = missing || ok && !on
	}
	if missing && f.Required && f.Type != HiddenField {
		return nil, "is required"
	}
	if len(f.Options) == 0 {
		return v, ""
	}
	for _, one := range elements(v) {
		text, ok := one.(string)
		if !ok || !slices.Contains(f.Options, text) {
			return nil, "must be one of the options"
		}
	}
	return v, ""
}

// elements returns the elements of a list, or the value alone; nothing for nil.
func elements(v any) []any {
	if v == nil {
		return nil
	}
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}

func parseAddress(p *fault.Problems, path string, v any) string {
	text, ok := v.(string)
	if !ok {
		p.Add(path, "must be an email address")
		return ""
	}
	email, err := address.Normalize(text)
	if err != nil {
		p.Add(path, "must be an email address")
	}
	return email
}

// checkText validates the value of a contact column by the rules of contacts.
func checkText(p *fault.Problems, path string, t contact.Text, v any, to map[contact.Text]string) {
	text, ok := v.(string)
	if !ok {
		p.Add(path, "must be a string")
		return
	}
	d := contact.Draft{Email: "a@example.com", Change: contact.Change{Texts: map[contact.Text]*string{t: &text}}}
	if err := d.Check(); err != nil {
		p.Add(path, problemOf(err))
		return
	}
	to[t] = text
}

// problemOf returns the message of the first problem of a fault.
func problemOf(err error) string {
	if f, ok := fault.As(err); ok {
		if d, ok := f.Details.(fault.Fields); ok && len(d.Fields) > 0 {
			return d.Fields[0].Message
		}
	}
	return "is not valid"
}

// checkCustom validates the value of a custom field. Inputs of HTML have only texts, which are
// converted to the type of the field.
func (b bindings) checkCustom(p *fault.Problems, path string, one Field, v any, to map[string]any) {
	custom, ok := b.catalog[one.Binding]
	if !ok {
		return // deleted since
	}
	text, isText := v.(string)
	switch custom.Type {
	case field.Number, field.Currency:
		if n, err := strconv.ParseFloat(text, 64); isText && err == nil {
			v = n
		}
	case field.Boolean:
		if on, ok := boolean(v); ok {
			v = on
		}
	case field.Tags:
		v = elements(v)
	}
	value, expected, fits := custom.Value(v)
	if !fits {
		p.Add(path, "must be "+expected)
		return
	}
	to[one.Binding] = value
}

// boolean returns the value of a checkbox.
func boolean(v any) (on, ok bool) {
	switch v := v.(type) {
	case bool:
		return v, true
	case string:
		switch strings.ToLower(v) {
		case "true", "on", "yes", "1":
			return true, true
		case "false", "off", "no", "0":
			return false, true
		}
	}
	return false, false
}

// consentKeys returns the keys of given consents as contact.Change has them. What was deleted since
// is left out.
func (b bindings) consentKeys(given []Given) (types, categories map[string]*bool) {
	types, categories = map[string]*bool{}, map[string]*bool{}
	for _, g := range given {
		one := Field{Type: ConsentField, Binding: g.Binding}
		if !b.hasConsent(one) {
			continue
		}
		if c, ok := one.category(); ok {
			categories[c.String()] = new(true)
		} else {
			types[g.Binding] = new(true)
		}
	}
	return types, categories
}

// scope returns what a consent is about, and false if it was deleted since.
func (b bindings) scope(g Given) (s contact.UnsubscribeScope, ok bool) {
	one := Field{Type: ConsentField, Binding: g.Binding}
	if !b.hasConsent(one) {
		return s, false
	}
	if c, is := one.category(); is {
		return contact.UnsubscribeScope{Category: c}, true
	}
	s.TypeKey = g.Binding
	for _, t := range b.types.EmailTypes {
		if t.Key == g.Binding {
			s.Category = t.Category
		}
	}
	return s, true
}

// change returns the change of a contact that the answers make, without fields that were deleted
// since.
func (a Answers) change(b bindings) contact.Change {
	ch := contact.Change{Texts: map[contact.Text]*string{}, CustomFields: map[string]any{}}
	for t, text := range a.Texts {
		ch.Texts[t] = &text
	}
	for key, v := range a.CustomFields {
		if f, ok := b.catalog[key]; ok {
			if value, _, fits := f.Value(v); fits {
				ch.CustomFields[key] = value
			}
		}
	}
	return ch
}

// onlyEmpty removes from a change what the contact has already.
func onlyEmpty(ch *contact.Change, c contact.Contact) {
	for t := range ch.Texts {
		if has(c, t) {
			delete(ch.Texts, t)
		}
	}
	if _, full := ch.Texts[contact.FullName]; full && (c.FirstName != nil || c.LastName != nil) {
		// The first and last name of a contact that has one are not derived from the full name.
		for t, present := range map[contact.Text]*string{contact.FirstName: c.FirstName, contact.LastName: c.LastName} {
			if _, given := ch.Texts[t]; !given {
				ch.Texts[t] = present
			}
		}
	}
	for key := range ch.CustomFields {
		if _, given := c.CustomFields[key]; given {
			delete(ch.CustomFields, key)
		}
	}
}

// has reports whether the contact has a text.
func has(c contact.Contact, t contact.Text) bool {
	v, _ := c.Value(string(t))
	switch v := v.(type) {
	case nil:
		return false
	case string:
		return v != ""
	case *string:
		return v != nil && *v != ""
	}
	return true
}
