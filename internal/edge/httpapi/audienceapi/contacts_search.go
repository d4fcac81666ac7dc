package audienceapi

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/people/contact"
)

// contactsSearch registers the search with a selector in the body.
func (api Contacts) contactsSearch(r *endpoint.Router) {
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
	Body *struct {
		ContactSelectorBody
		Lacking endpoint.Opt[[]string] `json:"lacking" doc:"Fields of contacts, at most 10: how many of the counted contacts lack each."`
	}
}

// maxLacking is how many fields a count looks at.
const maxLacking = 10

type selectorCount struct {
	Count   int             `json:"count"`
	Lacking *[]lackingField `json:"lacking,omitempty" doc:"With lacking in the request, in its order."`
}

type lackingField struct {
	Field string `json:"field"`
	Count int    `json:"count" doc:"Contacts without a value."`
}

func (in *countRequest) selector() ContactSelectorBody {
	if in.Body == nil {
		return ContactSelectorBody{}
	}
	return in.Body.ContactSelectorBody
}

// lacking returns the fields that contacts may lack.
func (in *countRequest) lacking() []string {
	if in.Body == nil {
		return nil
	}
	return in.Body.Lacking.Or(nil)
}

func checkCount(_ auth.Principal, in *countRequest) error {
	if err := contact.CheckSearch(in.selector().Search.Or("")); err != nil {
		return err
	}
	var bad fault.Problems
	if len(in.lacking()) > maxLacking {
		bad.Add("lacking", fmt.Sprintf("must have at most %d fields", maxLacking))
	}
	return bad.Err()
}

func (api Contacts) countBySelector(ctx context.Context, p auth.Principal, in *countRequest) (selectorCount, error) {
	if err := checkCount(p, in); err != nil {
		return selectorCount{}, err
	}
	all, err := api.countSelected(ctx, p, in.selector().input())
	if err != nil || in.lacking() == nil {
		return selectorCount{Count: all.Count}, err
	}
	lacking := make([]lackingField, len(in.lacking()))
	for i, name := range in.lacking() {
		within := in.selector().input()
		if within.Filters, err = withFilter(within.Filters, name, "is_not_set"); err != nil {
			return selectorCount{}, err
		}
		n, err := api.countSelected(ctx, p, within)
		if err != nil {
			return selectorCount{}, err
		}
		lacking[i] = lackingField{name, n.Count}
	}
	return selectorCount{all.Count, &lacking}, nil
}

// withFilter adds a filter to an array of filters.
func withFilter(filters json.RawMessage, name, operator string) (json.RawMessage, error) {
	var list []json.RawMessage
	if len(filters) > 0 {
		if err := json.Unmarshal(filters, &list); err != nil {
			return nil, contact.ErrInvalidFilters.Because(err)
		}
	}
	one, err := json.Marshal(map[string]string{"field": name, "operator": operator})
	if err != nil {
		return nil, err
	}
	return json.Marshal(append(list, one))
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
	Definition wire.Definition          `json:"definition,omitempty" doc:"A definition as of a dynamic segment, which must match too."`
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

func (api Contacts) searchContacts(ctx context.Context, p auth.Principal, in *searchContactsRequest) (endpoint.List[Contact], error) {
	b := in.Body
	page := ContactPage{CursorQuery: endpoint.CursorQuery{Cursor: b.Cursor.Or("")}, Sort: b.Sort.Or(""), Dir: b.Dir.Or("")}
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
