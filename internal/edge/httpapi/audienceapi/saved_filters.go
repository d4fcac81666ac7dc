package audienceapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/audience/savedfilter"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// SavedFilters serves saved filters.
type SavedFilters struct {
	db  *sqldb.DB
	now func() time.Time
}

// NewSavedFilters returns the operations on saved filters.
func NewSavedFilters(e wire.Env) SavedFilters { return SavedFilters{db: e.DB, now: e.Now} }

// On returns the operations on another handle.
func (api SavedFilters) On(db *sqldb.DB) SavedFilters { api.db = db; return api }

// Register adds the operations on saved filters.
func (api SavedFilters) Register(r *endpoint.Router) {
	op := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "saved filters", Session: true, Faults: faults}
	}
	write := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		w := op(name, summary, append(faults, savedfilter.ErrLimit)...)
		w.FieldFaults = selectorFaults("")
		return w
	}
	endpoint.Handle(r, "GET /t/{tenant}/api/saved-filters",
		op("listSavedFilters", "List your own and shared saved filters, by name; admins see all."), api.ListSavedFilters)
	create := write("createSavedFilter", "Save a filter.").Once()
	create.Status = http.StatusCreated
	endpoint.Handle(r, "POST /t/{tenant}/api/saved-filters", create.ExampleBody(`{"name": "Readers in Germany", "filters": [{"field": "country", "operator": "equals", "value": "DE"}], "columns": ["email", "city"], "shared": true}`), wire.Once(api, api.db, SavedFilters.createSavedFilter), checkNewSavedFilter)
	endpoint.Handle(r, "GET /t/{tenant}/api/saved-filters/{id}",
		op("getSavedFilter", "Get a saved filter.", savedfilter.ErrNotFound), api.getSavedFilter)
	endpoint.Handle(r, "PUT /t/{tenant}/api/saved-filters/{id}",
		write("updateSavedFilter", "Update a saved filter; absent fields are not changed. Only admins may update another member's.", savedfilter.ErrNotFound).ExampleBody(`{"name": "Germany", "sort": "email", "dir": "asc"}`), api.updateSavedFilter, checkSavedFilter)
	endpoint.Handle(r, "DELETE /t/{tenant}/api/saved-filters/{id}",
		op("deleteSavedFilter", "Delete a saved filter; only admins may delete another member's.", savedfilter.ErrNotFound), api.deleteSavedFilter)
}

type SavedFilterRow struct {
	ID         id.SavedFilter `json:"id" format:"uuid"`
	Name       string         `json:"name"`
	Filters    filterArray    `json:"filters"`
	Definition ruleObject     `json:"definition"`
	Search     *string        `json:"search"`
	Status     *string        `json:"status" doc:"Comma separated, as in the query of GET /contacts."`
	Sort       contact.Sort   `json:"sort"`
	Dir        string         `json:"dir" enum:"asc,desc"`
	Columns    []string       `json:"columns"`
	Shared     bool           `json:"shared"`
	CreatedBy  id.User        `json:"created_by" format:"uuid"`
	CreatedAt  endpoint.Stamp `json:"created_at"`
	UpdatedAt  endpoint.Stamp `json:"updated_at"`
}

func (api SavedFilters) ListSavedFilters(ctx context.Context, p auth.Principal, _ *struct{}) (endpoint.List[SavedFilterRow], error) {
	list, err := savedfilter.List(ctx, api.db, p)
	if err != nil {
		return endpoint.List[SavedFilterRow]{}, err
	}
	rows := make([]SavedFilterRow, len(list))
	for i, f := range list {
		rows[i] = rowOfSavedFilter(f)
	}
	return endpoint.Whole(rows), nil
}

func rowOfSavedFilter(f savedfilter.Filter) SavedFilterRow {
	statuses := make([]string, len(f.Statuses))
	for i, s := range f.Statuses {
		statuses[i] = string(s)
	}
	row := SavedFilterRow{
		ID: f.ID, Name: f.Name, Filters: filterArray(f.Filters), Definition: ruleObject(f.Definition),
		Search: optional.Pointer(f.Search), Status: optional.Pointer(strings.Join(statuses, ",")), Sort: f.Sort, Dir: "desc",
		Columns: f.Columns, Shared: f.Shared, CreatedBy: f.CreatedBy,
		CreatedAt: endpoint.At(f.CreatedAt), UpdatedAt: endpoint.At(f.UpdatedAt),
	}
	if f.Asc {
		row.Dir = "asc"
	}
	return row
}

type createSavedFilterRequest struct{ Body savedFilterBody }

// savedFilterBody is the body of a create or an update; a new filter needs a name.
type savedFilterBody struct {
	Name       endpoint.Opt[string]          `json:"name" nullable:"false"`
	Filters    endpoint.Opt[filterArray]     `json:"filters"`
	Definition endpoint.Opt[wire.Definition] `json:"definition"`
	Search     endpoint.Opt[string]          `json:"search"`
	Status     endpoint.Opt[statusList]      `json:"status" doc:"A comma separated list or an array."`
	Sort       endpoint.Opt[string]          `json:"sort" doc:"created_at when unknown, as in a list of contacts."`
	Dir        endpoint.Opt[string]          `json:"dir" doc:"asc or desc."`
	Columns    endpoint.Opt[[]string]        `json:"columns" doc:"Names of contact fields, custom_fields.<field_key> and subscriptions.<type_key> included."`
	Shared     endpoint.Opt[bool]            `json:"shared" nullable:"false" doc:"true when absent."`
}

func checkNewSavedFilter(_ auth.Principal, in *createSavedFilterRequest) error {
	return in.Body.change().CheckNew()
}

func (api SavedFilters) createSavedFilter(ctx context.Context, p auth.Principal, in *createSavedFilterRequest) (SavedFilterRow, error) {
	f, err := savedfilter.Create(ctx, api.db, p, in.Body.change(), api.now())
	if err != nil {
		return SavedFilterRow{}, err
	}
	return rowOfSavedFilter(f), nil
}

func (b savedFilterBody) change() savedfilter.Change {
	ch := savedfilter.Change{
		Name: b.Name.Pointer(), Search: wire.NullAsZero(b.Search), Sort: wire.NullAsZero(b.Sort), Dir: wire.NullAsZero(b.Dir), Shared: b.Shared.Pointer(),
	}
	if b.Filters.Set {
		ch.Filters = new(json.RawMessage(b.Filters.Or(nil)))
	}
	if b.Definition.Set {
		ch.Definition = new(json.RawMessage(b.Definition.Or(nil)))
	}
	if b.Status.Set {
		ch.Statuses = new([]string(b.Status.Or(nil)))
	}
	if b.Columns.Set {
		ch.Columns = new(b.Columns.Or(nil))
	}
	return ch
}

func (api SavedFilters) getSavedFilter(ctx context.Context, p auth.Principal, in *wire.RecordPath) (SavedFilterRow, error) {
	filter, err := wire.RecordID[id.SavedFilter](in.ID, savedfilter.ErrNotFound)
	if err != nil {
		return SavedFilterRow{}, err
	}
	f, err := savedfilter.ByID(ctx, api.db, p, filter)
	if err != nil {
		return SavedFilterRow{}, err
	}
	return rowOfSavedFilter(f), nil
}

type updateSavedFilterRequest struct {
	wire.RecordPath
	Body savedFilterBody
}

func checkSavedFilter(_ auth.Principal, in *updateSavedFilterRequest) error {
	return in.Body.change().Check()
}

func (api SavedFilters) updateSavedFilter(ctx context.Context, p auth.Principal, in *updateSavedFilterRequest) (SavedFilterRow, error) {
	filter, err := wire.RecordID[id.SavedFilter](in.ID, savedfilter.ErrNotFound)
	if err != nil {
		return SavedFilterRow{}, err
	}
	f, err := savedfilter.Update(ctx, api.db, p, filter, in.Body.change(), api.now())
	if err != nil {
		return SavedFilterRow{}, err
	}
	return rowOfSavedFilter(f), nil
}

func (api SavedFilters) deleteSavedFilter(ctx context.Context, p auth.Principal, in *wire.RecordPath) (endpoint.None, error) {
	filter, err := wire.RecordID[id.SavedFilter](in.ID, savedfilter.ErrNotFound)
	if err != nil {
		return endpoint.None{}, err
	}
	return endpoint.None{}, savedfilter.Delete(ctx, api.db, p, filter)
}
