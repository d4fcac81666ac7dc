package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/endpoint"
	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/suppression"
)

// suppressionsAPI serves the suppression list.
type suppressionsAPI struct {
	db  *sqldb.DB
	now func() time.Time
}

// register adds the operations on the suppression list.
func (api suppressionsAPI) register(r *endpoint.Router) {
	write := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "suppressions", Scope: auth.SuppressionWrite, Faults: faults}
	}
	endpoint.Handle(r, "GET /t/{tenant}/api/suppressions", endpoint.Op{
		Name: "listSuppressions", Summary: "List every suppressed address, newest first.",
		Tag: "suppressions", Scope: auth.SuppressionRead,
	}, api.listSuppressions)
	add := write("addSuppression", "Add an address to the suppression list, or replace its reason.")
	add.Status = http.StatusCreated
	endpoint.Handle(r, "POST /t/{tenant}/api/suppressions", add.ExampleBody(`{"email": "gone@example.com", "reason": "asked by phone"}`), api.addSuppression, checkSuppression)
	endpoint.Handle(r, "DELETE /t/{tenant}/api/suppressions",
		write("removeSuppression", "Remove an address from the suppression list; this resubscribes no contact.").ExampleQuery("email=gone@example.org"), api.removeSuppression)
	endpoint.Handle(r, "POST /t/{tenant}/api/suppressions/bulk",
		write("suppressContacts", "Suppress the addresses of contacts and unsubscribe them.", suppression.ErrTooMany).ExampleBody(`{"contact_ids": ["$CONTACT_ID"], "reason": "manual"}`), api.suppressContacts, checkSuppressed)
	imported := write("importSuppressions", "Suppress many addresses.", suppression.ErrLimit)
	imported.MaxBody = 5 * endpoint.Megabyte
	endpoint.Handle(r, "POST /t/{tenant}/api/suppressions/import", imported.ExampleBody(`{"emails": ["gone@example.com", "left@example.com"], "reason": "manual"}`), api.importSuppressions)
}

type listSuppressionsRequest struct {
	Search string `query:"search" doc:"A part of the address."`
	Reason string `query:"reason" doc:"Exactly this reason."`
}

type suppressionRow struct {
	TenantID  id.Tenant      `json:"tenant_id" format:"uuid"`
	Email     string         `json:"email" format:"email"`
	Reason    *string        `json:"reason"`
	CreatedAt endpoint.Stamp `json:"created_at"`
}

func (api suppressionsAPI) listSuppressions(ctx context.Context, p auth.Principal, in *listSuppressionsRequest) (endpoint.Stream[suppressionRow], error) {
	list := suppression.All(ctx, api.db, p.Tenant, suppression.Filter{Search: in.Search, Reason: in.Reason})
	return endpoint.Stream[suppressionRow]{Rows: func(yield func(suppressionRow, error) bool) {
		for e, err := range list {
			if !yield(rowOfSuppression(p.Tenant, e), err) {
				return
			}
		}
	}}, nil
}

func rowOfSuppression(t id.Tenant, e suppression.Entry) suppressionRow {
	return suppressionRow{t, e.Email, orNull(e.Reason), endpoint.At(e.AddedAt)}
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

func (api suppressionsAPI) addSuppression(ctx context.Context, p auth.Principal, in *addSuppressionRequest) (suppressionRow, error) {
	e, err := suppression.Add(ctx, api.db, p.Tenant, in.Body.Email, in.Body.Reason.Or(""), api.now())
	if err != nil {
		return suppressionRow{}, err
	}
	return rowOfSuppression(p.Tenant, e), nil
}

type removeSuppressionRequest struct {
	Email string `query:"email" required:"true"`
}

func (api suppressionsAPI) removeSuppression(ctx context.Context, p auth.Principal, in *removeSuppressionRequest) (endpoint.None, error) {
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

func (api suppressionsAPI) suppressContacts(ctx context.Context, p auth.Principal, in *suppressContactsRequest) (suppressedContacts, error) {
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

func (api suppressionsAPI) importSuppressions(ctx context.Context, p auth.Principal, in *importSuppressionsRequest) (importedSuppressions, error) {
	r, err := suppression.Import(ctx, api.db, p.Tenant, in.Body.Emails, in.Body.Reason.Or(""), api.now())
	return importedSuppressions{r.Added, r.Updated, r.Invalid}, err
}
