package form

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
)

// FieldType says what a field of a form is bound to.
type FieldType string

// The types of fields.
const (
	ContactField FieldType = "contact"      // a column of contacts, or email
	CustomField  FieldType = "custom_field" // by its key
	ConsentField FieldType = "consent"      // an email type by its key, or category:<id>
	HiddenField  FieldType = "hidden"       // a contact column or a custom field that visitors do not see
	TextBlock    FieldType = "text_block"   // text between the fields; bound to nothing
)

// FieldTypes returns all types.
func FieldTypes() []FieldType {
	return []FieldType{ContactField, CustomField, ConsentField, HiddenField, TextBlock}
}

// Input is the control by which a field is filled in.
type Input string

// The inputs.
const (
	InputText     Input = "text"
	InputEmail    Input = "email"
	InputTel      Input = "tel"
	InputURL      Input = "url"
	InputNumber   Input = "number"
	InputDate     Input = "date"
	InputSelect   Input = "select"
	InputRadio    Input = "radio"
	InputCheckbox Input = "checkbox"
	InputTextarea Input = "textarea"
	InputHidden   Input = "hidden"
)

// Inputs returns all inputs.
func Inputs() []Input {
	return []Input{InputText, InputEmail, InputTel, InputURL, InputNumber, InputDate, InputSelect, InputRadio, InputCheckbox, InputTextarea, InputHidden}
}

// Field is one field of a form.
type Field struct {
	ID          string    `json:"id"`
	Type        FieldType `json:"type"`
	Binding     string    `json:"binding,omitempty"`
	Label       string    `json:"label"`
	Placeholder string    `json:"placeholder,omitempty"`
	HelpText    string    `json:"help_text,omitempty"`
	Required    bool      `json:"required"`
	Input       Input     `json:"input,omitempty"`
	Options     []string  `json:"options,omitempty"`
	Default     any       `json:"default_value,omitempty"` // a string, number or boolean; nil: none
	Param       string    `json:"param,omitempty"`         // of a hidden field: a parameter of the page's URL
	SortOrder   int       `json:"sort_order"`
}

// Limits of fields.
const (
	maxFields   = 50
	maxLabel    = 2000
	maxOptions  = 200
	maxOption   = 200
	maxParam    = 100
	maxSortable = 1_000_000
)

// emailBinding is the binding of the one field that every form needs.
const emailBinding = "email"

// categoryPrefix precedes the id of a category in the binding of a consent.
const categoryPrefix = "category:"

// category returns the category of a consent's binding; ok is false for an email type.
func (f Field) category() (c id.Category, ok bool) {
	text, ok := strings.CutPrefix(f.Binding, categoryPrefix)
	if !ok {
		return c, false
	}
	return id.Parse[id.Category](text)
}

// boundTo returns the contact column that a contact or hidden field is bound to; ok is false if it is
// none.
func (f Field) boundTo() (t contact.Text, ok bool) {
	if f.Type != ContactField && f.Type != HiddenField {
		return "", false
	}
	t, ok = contact.ParseText(f.Binding)
	return t, ok && t != contact.ExternalID && t != contact.Source
}

// isEmail reports whether the field is that of the address.
func (f Field) isEmail() bool { return f.Type == ContactField && f.Binding == emailBinding }

// bindings are what fields can be bound to.
type bindings struct {
	catalog field.Catalog
	types   contact.Types
}

var fieldID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// checkFields validates the fields of a form and returns them in their order, with defaults set.
func (b bindings) checkFields(p *fault.Problems, in []Field) []Field {
	out := slices.Clone(in)
	if len(out) > maxFields {
		p.Add("fields", fmt.Sprintf("at most %d fields", maxFields))
		return out
	}
	ids, bound := map[string]bool{}, map[string]bool{}
	for i := range out {
		f := &out[i]
		add := func(name, message string) { p.Add(fmt.Sprintf("fields[%d].%s", i, name), message) }
		if f.ID == "" {
			for n := i + 1; f.ID == "" || ids[f.ID]; n++ {
				f.ID = fmt.Sprintf("f%d", n)
			}
		}
		switch {
		case !fieldID.MatchString(f.ID):
			add("id", "must have 1 to 64 letters, digits, hyphens or underscores")
		case ids[f.ID]:
			add("id", "another field has this id")
		}
		ids[f.ID] = true
		f.checkTexts(add)
		b.checkBinding(f, add)
		b.checkInput(f, add)
		if f.Type != TextBlock {
			key := string(f.Type) + ":" + f.Binding
			if f.Type == HiddenField {
				key = string(CustomField) + ":" + f.Binding
				if _, ok := f.boundTo(); ok {
					key = string(ContactField) + ":" + f.Binding
				}
			}
			if bound[key] {
				add("binding", "another field is bound to this")
			}
			bound[key] = true
		}
	}
	slices.SortStableFunc(out, func(a, b Field) int { return a.SortOrder - b.SortOrder })
	return out
}

func (f *Field) checkTexts(add func(name, message string)) {
	text := func(name string, s *string, most int, required bool) {
		*s = strings.TrimSpace(norm.NFC.String(*s))
		n := utf8.RuneCountInString(*s)
		switch {
		case strings.ContainsRune(*s, 0) || n > most:
			add(name, fmt.Sprintf("at most %d characters, without NUL", most))
		case n == 0 && required:
			add(name, "required")
		}
	}
	text("label", &f.Label, maxLabel, f.Type != HiddenField)
	text("placeholder", &f.Placeholder, maxOption, false)
	text("help_text", &f.HelpText, maxLabel, false)
	text("param", &f.Param, maxParam, false)
	if f.Param != "" && f.Type != HiddenField {
		add("param", "only hidden fields have one")
	}
	if f.SortOrder < -maxSortable || f.SortOrder > maxSortable {
		add("sort_order", fmt.Sprintf("must be between %d and %d", -maxSortable, maxSortable))
	}
	switch v := f.Default.(type) {
	case nil, bool, float64:
	case string:
		if utf8.RuneCountInString(v) > maxLabel || strings.ContainsRune(v, 0) {
			add("default_value", fmt.Sprintf("at most %d characters, without NUL", maxLabel))
		}
	default:
		add("default_value", "must be a string, a number or a boolean")
	}
}

func (b bindings) checkBinding(f *Field, add func(name, message string)) {
	switch f.Type {
	case ContactField:
		if _, ok := f.boundTo(); !ok && f.Binding != emailBinding {
			add("binding", "must be email or a text field of contacts that visitors may fill in")
		}
	case CustomField:
		if problem := b.customProblem(f.Binding); problem != "" {
			add("binding", problem)
		}
	case HiddenField:
		if _, ok := f.boundTo(); !ok && b.customProblem(f.Binding) != "" {
			add("binding", "must be a text field of contacts or the key of a custom field")
		}
	case ConsentField:
		if !b.hasConsent(*f) {
			add("binding", "must be the type_key of an email type, or category:<id>")
		}
	case TextBlock:
		if f.Binding != "" {
			add("binding", "a text block is bound to nothing")
		}
	default:
		add("type", "must be contact, custom_field, consent, hidden or text_block")
	}
}

func (b bindings) customProblem(key string) string {
	switch f, ok := b.catalog[key]; {
	case !ok:
		return "must be the key of a custom field"
	case f.Type == field.Contact:
		return "a reference to a contact cannot be filled in by visitors"
	}
	return ""
}

func (b bindings) hasConsent(f Field) bool {
	if c, ok := f.category(); ok {
		return slices.Contains(b.types.Categories, c)
	}
	return slices.ContainsFunc(b.types.EmailTypes, func(t contact.EmailType) bool { return t.Key == f.Binding })
}

// inputsOf are the inputs that fields of a type may have.
var inputsOf = map[FieldType][]Input{
	ContactField: {InputText, InputEmail, InputTel, InputURL, InputSelect, InputRadio, InputTextarea},
	CustomField:  {InputText, InputEmail, InputTel, InputURL, InputNumber, InputDate, InputSelect, InputRadio, InputCheckbox, InputTextarea},
	ConsentField: {InputCheckbox},
	HiddenField:  {InputHidden},
}

// checkInput sets the default of the input and its options, and validates them.
func (b bindings) checkInput(f *Field, add func(name, message string)) {
	custom := b.catalog[f.Binding]
	if f.Input == "" {
		f.Input = defaultInput(*f, custom)
	}
	allowed, known := inputsOf[f.Type]
	switch {
	case !known:
		f.Input = ""
	case f.isEmail() && f.Input != InputEmail:
		add("input", "must be email")
	case !slices.Contains(allowed, f.Input):
		add("input", fmt.Sprintf("a field of type %s has one of %s", f.Type, joined(allowed)))
	}
	choice := f.Input == InputSelect || f.Input == InputRadio
	if choice && len(f.Options) == 0 && f.Type == CustomField {
		f.Options = slices.Clone(custom.EnumValues)
		if len(f.Options) > maxOptions {
			f.Options = f.Options[:maxOptions]
		}
	}
	switch {
	case !choice && len(f.Options) > 0:
		add("options", "only inputs select and radio have options")
	case choice && (len(f.Options) == 0 || len(f.Options) > maxOptions):
		add("options", fmt.Sprintf("required: 1 to %d options", maxOptions))
	}
	for i, o := range f.Options {
		o = strings.TrimSpace(norm.NFC.String(o))
		if n := utf8.RuneCountInString(o); n == 0 || n > maxOption || strings.ContainsRune(o, 0) || slices.Contains(f.Options[:i], o) {
			add("options", fmt.Sprintf("must be different texts of 1 to %d characters", maxOption))
			return
		}
		f.Options[i] = o
	}
}

func joined(list []Input) string {
	names := make([]string, len(list))
	for i, n := range list {
		names[i] = string(n)
	}
	return strings.Join(names, ", ")
}

func defaultInput(f Field, custom field.Field) Input {
	switch f.Type {
	case ConsentField:
		return InputCheckbox
	case HiddenField:
		return InputHidden
	case TextBlock:
		return ""
	case ContactField:
		switch f.Binding {
		case emailBinding:
			return InputEmail
		case string(contact.Phone):
			return InputTel
		case string(contact.Website):
			return InputURL
		}
		return InputText
	}
	switch custom.Type {
	case field.Number, field.Currency:
		return InputNumber
	case field.Boolean:
		return InputCheckbox
	case field.Date:
		return InputDate
	case field.Email:
		return InputEmail
	case field.URL:
		return InputURL
	case field.Enum:
		return InputSelect
	}
	return InputText
}
