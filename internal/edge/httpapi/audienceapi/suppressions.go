package audienceapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Suppressions serves the suppression list.
type Suppressions struct {
	db      *sqldb.DB
	cursors *endpoint.Cursors
	now     func() time.Time
}

// NewSuppressions returns the operations on the suppression list.
func NewSuppressions(e wire.Env) Suppressions {
	return Suppressions{db: e.DB, cursors: e.Cursors, now: e.Now}
}

// On returns the operations on another handle.
func (api Suppressions) On(db *sqldb.DB) Suppressions { api.db = db; return api }

// Register adds the operations on the suppression list.
func (api Suppressions) Register(r *endpoint.Router) {
	write := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "suppressions", Scope: auth.SuppressionWrite, Faults: faults}
	}
	endpoint.Handle(r, "GET /t/{tenant}/api/suppressions", endpoint.Op{
		Name: "listSuppressions", Summary: "List every suppressed address, newest first.",
		Description: "Signed-in users get a page if they send limit or cursor; API keys always get the whole list.",
		Tag:         "suppressions", Scope: auth.SuppressionRead, Faults: []*fault.Error{endpoint.ErrCursor},
	}, api.listSuppressions)
	add := write("addSuppression", "Add an address to the suppression list, or replace its reason.").Once()
	add.Status = http.StatusCreated
	endpoint.Handle(r, "POST /t/{tenant}/api/suppressions", add.ExampleBody(`{"email": "gone@example.com", "reason": "asked by phone"}`), wire.Once(api, api.db, Suppressions.addSuppression), checkSuppression)
	endpoint.Handle(r, "DELETE /t/{tenant}/api/suppressions",
		write("removeSuppression", "Remove an address from the suppression list; this resubscribes no contact.").ExampleQuery("email=gone@example.org"), api.removeSuppression)
	endpoint.Handle(r, "POST /t/{tenant}/api/suppressions/bulk",
		write("suppressContacts", "Suppress the addresses of contacts and unsubscribe them.", suppression.ErrTooMany).Once().ExampleBody(`{"contact_ids": ["$CONTACT_ID"], "reason": "manual"}`), wire.Once(api, api.db, Suppressions.suppressContacts), checkSuppressed)
	imported := write("importSuppressions", "Suppress many addresses.", suppression.ErrLimit).Once()
	imported.MaxBody = 5 * endpoint.Megabyte
	endpoint.Handle(r, "POST /t/{tenant}/api/suppressions/import", imported.ExampleBody(`{"emails": ["gone@example.com", "left@example.com"], "reason": "manual"}`), wire.Once(api, api.db, Suppressions.importSuppressions))
}

type listSuppressionsRequest struct {
	Search string `query:"search" doc:"A part of the address."`
	Reason string `query:"reason" doc:"Exactly this reason."`
	Cursor string `query:"cursor" doc:"Of signed-in users: the next page."`
	Limit  string `query:"limit" as:"integer" minimum:"1" maximum:"200" doc:"Of signed-in users: the length of a page; a number outside of the bounds becomes the nearest of them. The whole list when limit and cursor are absent."`
}

type suppressionRow struct {
	TenantID  id.Tenant      `json:"tenant_id" format:"uuid"`
	Email     string         `json:"email" format:"email"`
	Reason    *string        `json:"reason"`
	CreatedAt endpoint.Stamp `json:"created_at"`
}

func (api Suppressions) listSuppressions(ctx context.Context, p auth.Principal, in *listSuppressionsRequest) (endpoint.Stream[suppressionRow], error) {
	f := suppression.Filter{Search: in.Search, Reason: in.Reason}
	if !p.IsKey() && (in.Cursor != "" || in.Limit != "") {
		return api.pageOfSuppressions(ctx, p.Tenant, f, in.Cursor, endpoint.Limit(in.Limit))
	}
	list := suppression.All(ctx, api.db, p.Tenant, f)
	return endpoint.Stream[suppressionRow]{Rows: func(yield func(suppressionRow, error) bool) {
		for e, err := range list {
			if !yield(rowOfSuppression(p.Tenant, e), err) {
				return
			}
		}
	}}, nil
}

// pageOfSuppressions returns a page of the list.
func (api Suppressions) pageOfSuppressions(ctx context.Context, t id.Tenant, f suppression.Filter, cursor string, limit int) (endpoint.Stream[suppressionRow], error) {
	var out endpoint.Stream[suppressionRow]
	var after *suppression.Entry
	if cursor != "" {
		c, err := api.cursors.Decode(cursor, "created_at", "desc")
		if err != nil || c.LastValue == nil {
			return out, endpoint.ErrCursor
		}
		at, err := strconv.ParseInt(*c.LastValue, 10, 64)
		if err != nil {
			return out, endpoint.ErrCursor
		}
		after = &suppression.Entry{Email: c.LastID, AddedAt: sqldb.Time(at)}
	}
	list, err := suppression.Page(ctx, api.db, t, f, after, limit+1)
	if err != nil {
		return out, err
	}
	if len(list) > limit {
		list = list[:limit]
		last := list[limit-1]
		out.Next = api.cursors.Encode(endpoint.Cursor{
			Sort: "created_at", Dir: "desc", LastValue: new(strconv.FormatInt(sqldb.Micros(last.AddedAt), 10)), LastID: last.Email,
		})
	}
	out.Rows = func(yield func(suppressionRow, error) bool) {
		for _, e := range list {
			if !yield(rowOfSuppression(t, e), nil) {
				return
			}
		}
	}
	return out, nil
}

func rowOfSuppression(t id.Tenant, e suppression.Entry) suppressionRow {
	return suppressionRow{t, e.Email, optional.Pointer(e.Reason), endpoint.At(e.AddedAt)}
}

type addSuppressionRequest struct {
	Body struct {
		Email  string               `json:"email"`
		Reason endpoint.Opt[string] `json:"reason" doc:"Replaces the stored reason; absent clears it."`
	}
}

func checkSuppression(_ auth.Principal, in *addSuppressionRequest) error {
	return suppression.Check(in.Body.Email, in.Body.Reason.Or(""))
}

func (api Suppressions) addSuppression(ctx context.Context, p auth.Principal, in *addSuppressionRequest) (suppressionRow, error) {
	e, err := suppression.Add(ctx, api.db, p.Tenant, in.Body.Email, in.Body.Reason.Or(""), api.now())
	if err != nil {
		return suppressionRow{}, err
	}
	return rowOfSuppression(p.Tenant, e), nil
}

type removeSuppressionRequest struct {
	Email string `query:"email" required:"true" doc:"The address."`
}

func (api Suppressions) removeSuppression(ctx context.Context, p auth.Principal, in *removeSuppressionRequest) (endpoint.None, error) {
	return endpoint.None{}, suppression.Remove(ctx, api.db, p.Tenant, in.Email, api.now())
}

type suppressContactsRequest struct {
	Body struct {
		ContactIDs []string             `json:"contact_ids" doc:"1 to 500."`
		Reason     endpoint.Opt[string] `json:"reason" doc:"sunset when absent."`
	}
}

type suppressedContacts struct {
	Suppressed int `json:"suppressed" doc:"Number of contacts that exist."`
}

func checkSuppressed(_ auth.Principal, in *suppressContactsRequest) error {
	_, err := contactIDs(in.Body.ContactIDs)
	return err
}

func (api Suppressions) suppressContacts(ctx context.Context, p auth.Principal, in *suppressContactsRequest) (suppressedContacts, error) {
	ids, err := contactIDs(in.Body.ContactIDs)
	if err != nil {
		return suppressedContacts{}, err
	}
	n, err := suppression.SuppressContacts(ctx, api.db, p.Tenant, ids, in.Body.Reason.Or(""), api.now())
	return suppressedContacts{n}, err
}

// contactIDs parses the contact_ids of a body.
func contactIDs(texts []string) ([]id.Contact, error) {
	var problems fault.Problems
	ids := make([]id.Contact, 0, len(texts))
	for _, text := range texts {
		c, ok := id.Parse[id.Contact](text)
		if !ok {
			problems.AddElement("contact_ids", "must be a UUID")
		}
		ids = append(ids, c)
	}
	return ids, problems.Err()
}

type importSuppressionsRequest struct {
	Body struct {
		Emails []string             `json:"emails" doc:"1 to 10000."`
		Reason endpoint.Opt[string] `json:"reason" doc:"import when absent."`
	}
}

type importedSuppressions struct {
	Added   int      `json:"added"`
	Updated int      `json:"updated"`
	Invalid []string `json:"invalid" doc:"Values that are not addresses, as sent."`
}

func (api Suppressions) importSuppressions(ctx context.Context, p auth.Principal, in *importSuppressionsRequest) (importedSuppressions, error) {
	r, err := suppression.Import(ctx, api.db, p.Tenant, in.Body.Emails, in.Body.Reason.Or(""), api.now())
	return importedSuppressions{r.Added, r.Updated, r.Invalid}, err
}
