package binding

import (
	"encoding/json"

	"github.com/packetboat/packetboat/internal/base/id"
)

// Format is the body that is sent.
type Format string

// The formats.
const (
	HTML Format = "html"
	MJML Format = "mjml"
)

// Type is the type of a parameter or of a field of a row.
type Type string

// The types.
const (
	Text     Type = "text"
	Textarea Type = "textarea"
	RichText Type = "rich_text"
	RawHTML  Type = "html"
	URL      Type = "url"
	Image    Type = "image"
	Email    Type = "email"
	Color    Type = "color"
	Number   Type = "number"
	Boolean  Type = "boolean"
	Date     Type = "date"
	DateTime Type = "datetime"
	Select   Type = "select"
	List     Type = "list"
)

// Schema is the declarations of a template. A block has no slots and no expectations.
type Schema struct {
	Parameters []Parameter   `json:"parameters_schema"`
	Sections   []Section     `json:"sections_schema"`
	Slots      []Slot        `json:"slots_schema"`
	Groups     []Group       `json:"groups_schema"`
	Expects    []Expectation `json:"expects_schema"`
}

// Parameter is one typed value, at the top or in a row.
type Parameter struct {
	Name       string          `json:"name"`
	Type       Type            `json:"type"`
	Required   bool            `json:"required"`
	Label      *string         `json:"label"`
	HelpText   *string         `json:"help_text"`
	Validation Validation      `json:"validation"`
	Sample     json.RawMessage `json:"sample"`  // of the type, or null
	Default    json.RawMessage `json:"default"` // of the type, or null
}

// Validation restricts a value beyond its type; which fields apply depends on the type.
type Validation struct {
	MinLength *int            `json:"min_length,omitempty"` // in characters
	MaxLength *int            `json:"max_length,omitempty"`
	Pattern   *string         `json:"pattern,omitempty"` // RE2, of the whole value
	Schemes   []string        `json:"schemes,omitempty"`
	Min       json.RawMessage `json:"min,omitempty"` // a number, a date or a time, depending on the type
	Max       json.RawMessage `json:"max,omitempty"`
	Integer   *bool           `json:"integer,omitempty"`
	Options   []Option        `json:"options,omitempty"`
	MinItems  *int            `json:"min_items,omitempty"`
	MaxItems  *int            `json:"max_items,omitempty"`
}

// Option is a choice of a select; in JSON a string if it has no label.
type Option struct {
	Value string
	Label string
}

// labelled is the JSON of an option with a label.
type labelled struct {
	Value string `json:"value"`
	Label string `json:"label"`
}

// MarshalJSON writes a bare text, or an object of value and label.
func (o Option) MarshalJSON() ([]byte, error) {
	if o.Label == "" {
		return json.Marshal(o.Value)
	}
	return json.Marshal(labelled(o))
}

// UnmarshalJSON reads either form.
func (o *Option) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		*o = Option{}
		return json.Unmarshal(raw, &o.Value)
	}
	return json.Unmarshal(raw, (*labelled)(o))
}

// Section is a part of a body that is repeated for each row.
type Section struct {
	Name     string      `json:"name"`
	Label    *string     `json:"label"`
	HelpText *string     `json:"help_text"`
	Required bool        `json:"required"`
	Min      int         `json:"min"`
	Max      int         `json:"max"`
	Item     []Parameter `json:"item_schema"`
}

// Strategy is how a slot is filled.
type Strategy string

// The strategies.
const (
	Fixed  Strategy = "fixed"  // by the named block
	Random Strategy = "random" // by one of the blocks that match, chosen when content is saved
	Empty  Strategy = "empty"  // not at all
)

// Slot is a place for a block.
type Slot struct {
	Name      string     `json:"name"`
	Label     *string    `json:"label"`
	HelpText  *string    `json:"help_text"`
	TagFilter []string   `json:"tag_filter"` // a block must have all of them
	Required  bool       `json:"required"`
	Allowed   []Strategy `json:"allowed_strategies"`
	Default   Strategy   `json:"default_strategy"`
}

// Group is a group of declarations for an editor.
type Group struct {
	Name       string   `json:"name"`
	Label      *string  `json:"label"`
	HelpText   *string  `json:"help_text"`
	Parameters []string `json:"parameters"`
	Sections   []string `json:"sections"`
	Slots      []string `json:"slots"`
	Collapsed  bool     `json:"collapsed"`
}

// Expectation is a property of the contact that the Liquid of a template
// uses.
type Expectation struct {
	Path     string          `json:"path"` // such as contact.custom_fields.orders
	Type     string          `json:"type"` // string, number, boolean, date, datetime, array or object
	Required bool            `json:"required"`
	Label    *string         `json:"label"`
	Fallback json.RawMessage `json:"fallback"`
	Item     []Property      `json:"item_schema"` // the properties of an array's elements
	Sample   json.RawMessage `json:"sample"`
}

// Property is a property of the elements of an expected array.
type Property struct {
	Name     string  `json:"name"`
	Type     string  `json:"type"` // as of an Expectation
	Required bool    `json:"required"`
	Label    *string `json:"label"`
}

// Bodies are texts with placeholders. An empty text means that there is none.
type Bodies struct {
	Subject string
	HTML    string
	MJML    string
	Text    string
}

// Block is a block for slots.
type Block struct {
	ID     id.Block
	Slug   string
	Name   string
	Tags   []string
	Schema Schema
	Bodies Bodies
}

// Pool contains the blocks of a tenant that are active and have the body that
// the template's format needs.
type Pool interface {
	// Find returns the block with an id or a slug.
	Find(ref string) (*Block, bool)
	// Eligible returns the blocks that have all tags of the slot's filter, by
	// name, then id.
	Eligible(s Slot) []*Block
}
