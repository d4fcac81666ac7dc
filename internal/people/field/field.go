package field

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/slug"
)

// Type is the type of a field's values. It never changes.
type Type string

// The types.
const (
	String   Type = "string"
	Number   Type = "number"
	Boolean  Type = "boolean"
	Date     Type = "date"
	DateTime Type = "datetime"
	Time     Type = "time"
	Enum     Type = "enum"
	Tags     Type = "tags"
	Email    Type = "email"
	URL      Type = "url"
	TimeZone Type = "timezone"
	Country  Type = "country"
	Currency Type = "currency"
	Contact  Type = "contact"
)

// Types returns all types.
func Types() []Type {
	return []Type{String, Number, Boolean, Date, DateTime, Time, Enum, Tags, Email, URL, TimeZone, Country, Currency, Contact}
}

// Constraint says whether only the enum values are allowed, or others too.
type Constraint string

// The constraints.
const (
	Strict Constraint = "strict"
	Open   Constraint = "open"
)

// Field is one declared custom field.
type Field struct {
	ID           id.Field
	Name         string
	Key          string
	Type         Type
	EnumValues   []string // nil: none
	Constraint   Constraint
	CurrencyCode string // empty unless the type is Currency
	Default      any    // nil, or a valid value
	CreatedAt    time.Time
}

// The faults of this package.
var (
	ErrNotFound     = fault.New(fault.NotFound, "NOT_FOUND", "there is no such custom field")
	ErrInvalid      = fault.New(fault.Invalid, "INVALID_FIELD", "the custom field's definition is not valid")
	ErrDuplicateKey = fault.New(fault.Conflict, "DUPLICATE_FIELD_KEY", "a custom field with this key exists")
	ErrInUse        = fault.New(fault.Conflict, "FIELD_IN_USE", "the custom field is still in use")
	ErrLimit        = fault.New(fault.Invalid, "LIMIT_EXCEEDED", "a tenant may declare at most 200 custom fields")
	ErrUnknown      = fault.New(fault.Invalid, "UNKNOWN_FIELD", "a custom field is not declared")
	ErrValue        = fault.New(fault.Invalid, "INVALID_FIELD_VALUE", "a value does not fit its custom field")
)

const (
	maxFields     = 200
	maxName       = 200
	maxEnumValues = 500
	maxEnumValue  = 255
)

// Draft is the input for a new field.
type Draft struct {
	Name         string
	Key          string // empty: derived from Name
	Type         Type
	EnumValues   []string
	Constraint   Constraint // empty: Strict
	CurrencyCode string
	Default      any
}

var keyPattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// Key derives a field key from a name.
func Key(name string) string {
	key := slug.Derive(name, '_')
	if key[0] <= '9' {
		key = "cf_" + key
	}
	return strings.TrimRight(key[:min(len(key), slug.MaxLen)], "_")
}

// Check validates the draft.
func (d Draft) Check() error {
	_, err := d.field(time.Time{})
	return err
}

// field validates the draft and returns the field.
func (d Draft) field(now time.Time) (Field, error) {
	f := Field{
		ID: id.New[id.Field](), Name: cleanName(d.Name), Key: d.Key, Type: d.Type,
		Constraint: d.Constraint, EnumValues: d.EnumValues, CreatedAt: now.UTC().Truncate(time.Microsecond),
	}
	var p problems
	p.name(f.Name)
	if !slices.Contains(Types(), f.Type) {
		p.add("field_type", "must be one of %s", join(Types()))
	}
	if f.Key == "" {
		f.Key = Key(f.Name)
	}
	if !keyPattern.MatchString(f.Key) {
		p.add("field_key", "must begin with a letter and hold only a-z, 0-9 and _, at most 64 characters")
	}
	if f.Type == Currency || d.CurrencyCode != "" {
		code, ok := CurrencyCode(d.CurrencyCode)
		if !ok {
			p.add("currency_code", "must be a currency code of three letters (ISO 4217)")
		}
		if f.Type == Currency {
			f.CurrencyCode = code
		}
	}
	f.finish(&p, d.Default)
	return f, p.err()
}

// Change holds the changes of an update; nil leaves a part unchanged. Key, Type and CurrencyCode
// never change; they are here so that requests with other values are refused.
type Change struct {
	Name         *string
	EnumValues   *[]string
	Constraint   *Constraint
	Default      *any
	Key          *string
	Type         *Type
	CurrencyCode *string
}

// Check validates the name, the enum values and the constraint, independently of the field.
func (c Change) Check() error {
	c.Key, c.Type, c.CurrencyCode, c.Default = nil, nil, nil, nil
	_, err := Field{Type: String}.change(c)
	return err
}

// change returns f with c applied.
func (f Field) change(c Change) (Field, error) {
	var p problems
	if c.Name != nil {
		f.Name = cleanName(*c.Name)
		p.name(f.Name)
	}
	if c.Key != nil && *c.Key != f.Key {
		p.add("field_key", "cannot be changed")
	}
	if c.Type != nil && *c.Type != f.Type {
		p.add("field_type", "cannot be changed")
	}
	if c.CurrencyCode != nil && !strings.EqualFold(*c.CurrencyCode, f.CurrencyCode) {
		p.add("currency_code", "cannot be changed")
	}
	if c.EnumValues != nil {
		f.EnumValues = *c.EnumValues
	}
	if c.Constraint != nil {
		f.Constraint = *c.Constraint
	}
	kept := f.Default
	if c.Default == nil { // a stored default stays, even if it is no longer valid
		f.finish(&p, nil)
		f.Default = kept
		return f, p.err()
	}
	f.finish(&p, *c.Default)
	return f, p.err()
}

// finish validates and completes a new or updated field.
func (f *Field) finish(p *problems, standard any) {
	if f.Constraint == "" {
		f.Constraint = Strict
	}
	if f.Constraint != Strict && f.Constraint != Open {
		p.add("value_constraint", "must be strict or open")
	}
	if f.Type != Enum && f.Type != String {
		f.Constraint = Strict
	}
	f.EnumValues = f.enum(p)
	if f.Type == Enum && f.Constraint == Strict && len(f.EnumValues) == 0 {
		p.add("enum_values", "a strict enum field needs at least one value")
	}
	f.Default = nil
	if standard != nil && !p.at("field_type", "value_constraint", "enum_values") { // otherwise it is unknown which values are valid
		v, expected, ok := f.Value(standard)
		if !ok {
			p.add("default_value", "must be %s", expected)
		}
		f.Default = v
	}
}

func (f *Field) enum(p *problems) []string {
	if len(f.EnumValues) == 0 {
		return nil
	}
	if len(f.EnumValues) > maxEnumValues {
		p.add("enum_values", "at most %d values", maxEnumValues)
		return nil
	}
	list := make([]string, 0, len(f.EnumValues))
	for _, v := range f.EnumValues {
		v = strings.TrimSpace(norm.NFC.String(v))
		if n := utf8.RuneCountInString(v); n == 0 || n > maxEnumValue || strings.ContainsRune(v, 0) {
			p.AddElement("enum_values", fmt.Sprintf("must have 1 to %d characters", maxEnumValue))
			continue
		}
		if !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

func cleanName(s string) string { return strings.TrimSpace(norm.NFC.String(s)) }

func validName(s string) bool {
	n := utf8.RuneCountInString(s)
	return n >= 1 && n <= maxName && !strings.ContainsRune(s, 0)
}

func join[T ~string](list []T) string {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = string(v)
	}
	return strings.Join(texts, ", ")
}

// problems collects the problems of a definition. The code is INVALID_FIELD, unless the only
// problem is the name.
type problems struct{ fault.Problems }

func (p *problems) add(path, format string, args ...any) {
	p.Add(path, fmt.Sprintf(format, args...))
}

func (p *problems) name(s string) {
	if !validName(s) {
		p.add("name", "required, 1 to %d characters", maxName)
	}
}

// at reports whether there is a problem at or below one of the paths.
func (p *problems) at(paths ...string) bool {
	return slices.ContainsFunc(p.Fields().Fields, func(f fault.Field) bool {
		path, _, _ := strings.Cut(f.Path, "[")
		return slices.Contains(paths, path)
	})
}

func (p *problems) err() error {
	switch fields := p.Fields(); {
	case !p.Any():
		return nil
	case len(fields.Fields) == 1 && p.at("name"):
		return p.Err()
	default:
		return fields.As(ErrInvalid)
	}
}

// Catalog is a tenant's fields by key.
type Catalog map[string]Field

// Check validates values and returns them as contacts store them; nil stays nil and means removal.
// All unknown keys are reported together, and so are all invalid values.
func (c Catalog) Check(values map[string]any) (map[string]any, error) {
	out := make(map[string]any, len(values))
	var unknown, mismatch fault.Problems
	var first *mismatchDetails
	for _, key := range slices.Sorted(maps.Keys(values)) {
		f, ok := c[key]
		path := "custom_fields." + key
		if !ok {
			unknown.Add(path, "not a declared custom field")
			continue
		}
		if values[key] == nil {
			out[key] = nil
			continue
		}
		v, expected, ok := f.Value(values[key])
		if !ok {
			mismatch.Add(path, "must be "+expected)
			if first == nil {
				first = &mismatchDetails{FieldKey: key, Expected: expected}
			}
			continue
		}
		out[key] = v
	}
	switch {
	case unknown.Any():
		return nil, unknown.Fields().As(ErrUnknown)
	case mismatch.Any():
		first.Fields = mismatch.Fields()
		return nil, first.Fields.As(ErrValue.With(first))
	}
	return out, nil
}

// Misfit returns the fault of one value.
func Misfit(key, expected string) error {
	list := fault.Listed([]fault.Field{{Path: "custom_fields." + key, Message: "must be " + expected}})
	return list.As(ErrValue.With(&mismatchDetails{key, expected, list}))
}

// mismatchDetails are the first invalid value, and a list of all.
type mismatchDetails struct {
	FieldKey string `json:"field_key"`
	Expected string `json:"expected"`
	fault.Fields
}
