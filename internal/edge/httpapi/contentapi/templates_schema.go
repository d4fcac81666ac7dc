package contentapi

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/packetboat/packetboat/internal/edge/endpoint"
)

// schemaInput is a part of a schema as received: an array of entries, which package binding parses.
type schemaInput json.RawMessage

// UnmarshalJSON copies the text.
func (l *schemaInput) UnmarshalJSON(b []byte) error { *l = slices.Clone(b); return nil }

// Schema is that of an array of objects.
func (schemaInput) Schema(endpoint.Registry) *endpoint.Schema {
	return &endpoint.Schema{Type: endpoint.TypeArray, Nullable: true, Items: &endpoint.Schema{Type: endpoint.TypeObject, AdditionalProperties: true}}
}

// rawPart returns a part of a schema as received: nil if the field is absent, an empty array for
// null.
func rawPart(o endpoint.Opt[schemaInput]) json.RawMessage {
	switch {
	case !o.Set:
		return nil
	case o.Null:
		return json.RawMessage(`[]`)
	}
	return json.RawMessage(o.Value)
}

// schemaPart is a part of a schema in an answer: an array of E.
type schemaPart[E any] json.RawMessage

// MarshalJSON writes the text.
func (l schemaPart[E]) MarshalJSON() ([]byte, error) { return json.RawMessage(l).MarshalJSON() }

// Schema is that of an array of entries.
func (schemaPart[E]) Schema(all endpoint.Registry) *endpoint.Schema {
	return &endpoint.Schema{Type: endpoint.TypeArray, Items: all.Schema(reflect.TypeFor[E](), true, "")}
}

// schemaPartOf encodes a part of a schema.
func schemaPartOf[E, T any](entries []T) schemaPart[E] {
	if len(entries) == 0 {
		return schemaPart[E](`[]`)
	}
	b, err := json.Marshal(entries)
	if err != nil { // they were read from JSON
		panic(err)
	}
	return b
}

// parameterEntry declares a parameter of a template, a block or a row of a section.
type parameterEntry struct {
	Name       string         `json:"name"`
	Type       string         `json:"type" enum:"text,textarea,rich_text,html,url,image,email,color,number,boolean,date,datetime,select,list"`
	Required   bool           `json:"required"`
	Label      *string        `json:"label"`
	HelpText   *string        `json:"help_text"`
	Validation map[string]any `json:"validation" doc:"As the type has it: min_length, max_length, pattern, schemes, min, max, integer, options, min_items, max_items."`
	Sample     parameterValue `json:"sample"`
	Default    parameterValue `json:"default"`
}

// parameterValue is a value of a parameter.
type parameterValue struct{}

// Schema is that of a text, a number, a boolean, a list of texts or null.
func (parameterValue) Schema(endpoint.Registry) *endpoint.Schema {
	return scalarOr(&endpoint.Schema{Type: endpoint.TypeArray, Items: &endpoint.Schema{Type: endpoint.TypeString}})
}

// contactValue is a value of a contact's data.
type contactValue struct{}

// Schema is that of any JSON value.
func (contactValue) Schema(endpoint.Registry) *endpoint.Schema {
	return scalarOr(&endpoint.Schema{Type: endpoint.TypeArray, Items: &endpoint.Schema{}}, &endpoint.Schema{Type: endpoint.TypeObject, AdditionalProperties: true})
}

// scalarOr returns the schema of a text, a number, a boolean, null, or one of the others.
func scalarOr(also ...*endpoint.Schema) *endpoint.Schema {
	return &endpoint.Schema{AnyOf: append([]*endpoint.Schema{
		{Type: endpoint.TypeString}, {Type: endpoint.TypeNumber}, {Type: endpoint.TypeBoolean}, {Type: "null"},
	}, also...)}
}

// sectionEntry declares a part that is repeated for each row.
type sectionEntry struct {
	Name     string           `json:"name"`
	Label    *string          `json:"label"`
	HelpText *string          `json:"help_text"`
	Required bool             `json:"required"`
	Min      int              `json:"min"`
	Max      int              `json:"max"`
	Item     []parameterEntry `json:"item_schema"`
}

// SlotEntry declares a place for a block.
type SlotEntry struct {
	Name      string   `json:"name"`
	Label     *string  `json:"label"`
	HelpText  *string  `json:"help_text"`
	TagFilter []string `json:"tag_filter"`
	Required  bool     `json:"required"`
	Allowed   []string `json:"allowed_strategies" doc:"Some of fixed, random and empty."`
	Default   string   `json:"default_strategy" enum:"fixed,random,empty"`
}

// groupEntry groups parameters, sections and slots in an editor.
type groupEntry struct {
	Name       string   `json:"name"`
	Label      *string  `json:"label"`
	HelpText   *string  `json:"help_text"`
	Parameters []string `json:"parameters"`
	Sections   []string `json:"sections"`
	Slots      []string `json:"slots"`
	Collapsed  bool     `json:"collapsed"`
}

// expectEntry declares data of a contact that the Liquid uses.
type expectEntry struct {
	Path     string          `json:"path"`
	Type     string          `json:"type" enum:"string,number,boolean,date,datetime,array,object"`
	Required bool            `json:"required"`
	Label    *string         `json:"label"`
	Fallback contactValue    `json:"fallback"`
	Item     []propertyEntry `json:"item_schema"`
	Sample   contactValue    `json:"sample"`
}

// propertyEntry declares a property of the elements of an expected array.
type propertyEntry struct {
	Name     string  `json:"name"`
	Type     string  `json:"type" enum:"string,number,boolean,date,datetime,array,object"`
	Required bool    `json:"required"`
	Label    *string `json:"label"`
}
