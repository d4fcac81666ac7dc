package httpapi

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/endpoint"
	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/segment"
)

// contactsSearch registers the search with a selector in the body.
func (api contactsAPI) contactsSearch(r *endpoint.Router) {
	endpoint.Handle(r, "POST /t/{tenant}/api/contacts/search", endpoint.Op{
		Name: "searchContacts", Summary: "List contacts by a selector in the body, which may be longer than a URL.",
		Description: "Rules, answer and cursors are those of GET /contacts. status is a comma separated list or an array.",
		Tag:         "contacts", Scope: auth.ContactsRead, Role: auth.Viewer, Pagination: "cursor",
		Faults: []*fault.Error{endpoint.ErrCursor}, FieldFaults: selectorFaults(""),
	}.ExampleBody(`{"status": ["active"], "filters": [{"field": "country", "operator": "equals", "value": "DE"}], "sort": "email", "dir": "asc", "limit": 10}`), api.searchContacts, checkSearch)
	endpoint.Handle(r, "POST /t/{tenant}/api/contacts/count", endpoint.Op{
		Name: "countContactsBySelector", Summary: "Count contacts by a selector in the body, which may be longer than a URL.",
		Tag: "contacts", Session: true, Role: auth.Viewer, FieldFaults: selectorFaults(""),
	}.WithTitle("Count by selector").ExampleBody(`{"status": ["active"], "filters": [{"field": "country", "operator": "equals", "value": "DE"}]}`), api.countBySelector, checkCount)
}

type countRequest struct {
	Body *ContactSelectorBody
}

func (in *countRequest) selector() ContactSelectorBody {
	if in.Body == nil {
		return ContactSelectorBody{}
	}
	return *in.Body
}

func checkCount(_ auth.Principal, in *countRequest) error {
	b := in.selector()
	return contact.CheckSearch(b.Search.Or(""))
}

func (api contactsAPI) countBySelector(ctx context.Context, p auth.Principal, in *countRequest) (count, error) {
	return api.countSelected(ctx, p, in.selector().input())
}

type searchContactsRequest struct {
	Body struct {
		ContactSelectorBody
		Sort   endpoint.Opt[string] `json:"sort" doc:"A field of the contact; created_at when absent or unknown."`
		Dir    endpoint.Opt[string] `json:"dir" doc:"asc or desc; desc when absent."`
		Limit  endpoint.Opt[int]    `json:"limit" doc:"1 to 200; other values become the nearest of them. 50 when absent."`
		Cursor endpoint.Opt[string] `json:"cursor"`
	}
}

// ContactSelectorBody is a selector in a body.
type ContactSelectorBody struct {
	Status     endpoint.Opt[statusList] `json:"status" doc:"A comma separated list or an array; all but suppressed when absent or empty."`
	Search     endpoint.Opt[string]     `json:"search" doc:"Every word must occur in names, company or address."`
	Filters    filterArray              `json:"filters,omitempty" nullable:"true" doc:"All of them must match."`
	Definition definition               `json:"definition,omitempty" doc:"A definition as of a dynamic segment, which must match too."`
}

// statusList is a list of statuses: a comma separated text or an array.
type statusList []string

// UnmarshalJSON reads a comma separated list or an array.
func (s *statusList) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err == nil {
		*s = endpoint.CommaList(text)
		return nil
	}
	return json.Unmarshal(b, (*[]string)(s))
}

// Schema is that of a string or an array of strings.
func (statusList) Schema(endpoint.Registry) *endpoint.Schema {
	return &endpoint.Schema{OneOf: []*endpoint.Schema{
		{Type: endpoint.TypeString, Nullable: true}, {Type: endpoint.TypeArray, Items: &endpoint.Schema{Type: endpoint.TypeString}},
	}}
}

// filterArray is an array of filters as received.
type filterArray json.RawMessage

// UnmarshalJSON copies the text.
func (f *filterArray) UnmarshalJSON(b []byte) error { *f = slices.Clone(b); return nil }

// MarshalJSON writes the text.
func (f filterArray) MarshalJSON() ([]byte, error) { return json.RawMessage(f).MarshalJSON() }

// Schema is that of an array of conditions.
func (filterArray) Schema(endpoint.Registry) *endpoint.Schema {
	return &endpoint.Schema{Type: endpoint.TypeArray, Nullable: true, Items: &endpoint.Schema{
		Type: endpoint.TypeObject, AdditionalProperties: true, Properties: map[string]*endpoint.Schema{
			"field": {Type: endpoint.TypeString}, "operator": {Type: endpoint.TypeString}, "value": {},
		},
	}}
}

func checkSearch(_ auth.Principal, in *searchContactsRequest) error {
	return contact.CheckSearch(in.Body.Search.Or(""))
}

func (api contactsAPI) searchContacts(ctx context.Context, p auth.Principal, in *searchContactsRequest) (endpoint.List[Contact], error) {
	b := in.Body
	page := ContactPage{Cursor: b.Cursor.Or(""), Sort: b.Sort.Or(""), Dir: b.Dir.Or("")}
	limit := min(max(b.Limit.Or(endpoint.DefaultLimit), 1), endpoint.MaxLimit)
	return api.listPage(ctx, p, b.input(), page, limit)
}

func (b ContactSelectorBody) input() segment.SelectorInput {
	return segment.SelectorInput{
		Status: b.Status.Or(nil), Search: b.Search.Or(""),
		Filters: json.RawMessage(b.Filters), Definition: json.RawMessage(b.Definition),
	}
}

// selectorFaults are the faults of the fields of the selector at path.
func selectorFaults(path string) map[string]*fault.Error {
	return map[string]*fault.Error{
		path + "status":     contact.ErrInvalidStatus,
		path + "filters":    contact.ErrInvalidFilters,
		path + "definition": segment.ErrInvalidDefinition,
	}
}

// ruleObject is a definition as received.
type ruleObject json.RawMessage

// UnmarshalJSON copies the text.
func (o *ruleObject) UnmarshalJSON(b []byte) error { *o = slices.Clone(b); return nil }

// MarshalJSON writes the text.
func (o ruleObject) MarshalJSON() ([]byte, error) { return json.RawMessage(o).MarshalJSON() }

// Schema is that of a group of conditions.
func (ruleObject) Schema(endpoint.Registry) *endpoint.Schema {
	return &endpoint.Schema{Type: endpoint.TypeObject, Nullable: true, AdditionalProperties: true, Properties: map[string]*endpoint.Schema{
		"logic": {Type: endpoint.TypeString}, "conditions": {Type: endpoint.TypeArray, Items: &endpoint.Schema{Type: endpoint.TypeObject, AdditionalProperties: true}},
		"negate": {Type: endpoint.TypeBoolean},
	}}
}
