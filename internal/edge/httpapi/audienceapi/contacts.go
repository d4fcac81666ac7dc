// Package audienceapi has the operations on the people who get mail, and on how they are chosen: contacts
// and their activity, custom fields, stages, scores, events, forms, segments, saved filters and the
// suppression list. What contacts can unsubscribe from is in sendingapi, with the email types.
package audienceapi

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/people/maildomain"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Contacts serves contacts.
type Contacts struct {
	db           *sqldb.DB
	box          *secret.Box
	cursors      *endpoint.Cursors
	log          *slog.Logger
	now          func() time.Time
	saver        *contact.Saver
	providers    *maildomain.Providers
	personalData []contact.PersonalData
}

// NewContacts returns the operations on contacts. personal are the tables with data to export and to erase.
func NewContacts(e wire.Env, saver *contact.Saver, providers *maildomain.Providers, personal []contact.PersonalData) Contacts {
	return Contacts{
		db: e.DB, box: e.Box, cursors: e.Cursors, log: e.Log, now: e.Now, saver: saver, providers: providers, personalData: personal,
	}
}

// On also replaces the saver, since one that saves the contacts of many requests together has its own transactions.
func (api Contacts) On(db *sqldb.DB) Contacts {
	api.db, api.saver = db, &contact.Saver{DB: db, Rules: api.saver.Rules, Listed: api.saver.Listed, Now: api.saver.Now}
	return api
}

// Register adds the operations on contacts.
func (api Contacts) Register(r *endpoint.Router) {
	api.contactActivity(r)
	api.contactLife(r)
	api.contactsBulk(r)
	api.contactsSearch(r)
	api.contactsTransfer(r)
	read := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "contacts", Scope: auth.ContactsRead, Faults: faults}
	}
	list := read("listContacts", "List contacts, newest first.", endpoint.ErrCursor)
	list.Pagination, list.FieldFaults = "cursor", selectorFaults("")
	endpoint.Handle(r, "GET /t/{tenant}/api/contacts", list.ExampleQuery("limit=2"), api.listContacts)
	count := read("countContacts", "Count contacts.")
	count.FieldFaults = selectorFaults("")
	endpoint.Handle(r, "GET /t/{tenant}/api/contacts/count", count, api.countContacts)
	endpoint.Handle(r, "GET /t/{tenant}/api/contacts/lookup",
		read("lookupContact", "Get a contact by address or external_id.", contact.ErrNotFound, contact.ErrMissingIdentifier).Revised(contact.Revisions).ExampleQuery("email=ann@example.org"), api.lookupContact)
	endpoint.Handle(r, "GET /t/{tenant}/api/contacts/{id}",
		read("getContact", "Get a contact.", contact.ErrNotFound).Revised(contact.Revisions), api.getContact)
	api.consents(r)
	api.eligibility(r)
	endpoint.Handle(r, "GET /t/{tenant}/api/contacts/{id}/lists",
		read("listContactLists", "List the static lists a contact is on.", contact.ErrNotFound), api.listContactLists)

	write := []*fault.Error{
		contact.ErrInvalidStage, contact.ErrInvalidEmailType, contact.ErrDuplicateExternalID, contact.ErrLimit,
		field.ErrUnknown, field.ErrValue,
	}
	endpoint.Handle(r, "POST /t/{tenant}/api/contacts", endpoint.Op{
		Name: "createContact", Summary: "Create a contact; an address that exists already is refused.",
		Tag: "contacts", Scope: auth.ContactsWrite, Status: http.StatusCreated,
		Faults: append([]*fault.Error{contact.ErrDuplicateEmail}, write...),
	}.ExampleBody(`{"email": "ada@example.com", "first_name": "Ada", "last_name": "Lovelace", "country": "GB", "tags": ["press"], "subscriptions": {"newsletter": true}}`).Revised(contact.Revisions).Once(), wire.Once(api, api.db, Contacts.createContact), checkNewContact)
	endpoint.Handle(r, "PUT /t/{tenant}/api/contacts", endpoint.Op{
		Name: "upsertContact", Summary: "Create the contact with an address (201) or update it (200).",
		Description: "custom_fields and subscriptions are merged key by key, and null removes a key; tags are added, never removed; absent fields are not changed.",
		Tag:         "contacts", Scope: auth.ContactsWrite, Statuses: []int{http.StatusCreated}, Faults: write,
	}.ExampleBody(`{"email": "grace@example.com", "first_name": "Grace", "tags": ["press"], "source": "website"}`).Revised(contact.Revisions), api.upsertContact, checkUpsert)
}

type listContactsRequest struct {
	ContactSelector
	ContactPage
}

// ContactSelector is a selector in a query.
type ContactSelector struct {
	Status     string `query:"status" as:"list" enum:"active,pending,unsubscribed,bounced,complained,suppressed" doc:"With any of these statuses; all but suppressed when absent."`
	Search     string `query:"search" doc:"Every word must occur in names, company or address."`
	Filters    string `query:"filters" doc:"JSON array of {field, operator, value}, all of which must match."`
	Definition string `query:"definition" doc:"JSON definition as of a dynamic segment, which must match too."`
}

// ContactPage selects a page of a list of contacts.
type ContactPage struct {
	endpoint.CursorQuery
	Sort string `query:"sort" as:"text" enum:"city,company,country,created_at,customer_score,deliverability_status,do_not_contact,email,first_name,global_status,last_activity_at,last_email_clicked_at,last_email_opened_at,last_email_sent_at,last_name,last_page_viewed_at,member_added_at,phone,postal_code,prospect_score,source,stage_id,state,title,total_emails_clicked,total_emails_opened,total_emails_sent,updated_at" doc:"A field of the contact; created_at when unknown. When absent: member_added_at for the members of a list, otherwise created_at."`
	Dir  string `query:"dir" as:"text" enum:"asc,desc" default:"desc" doc:"The direction of the order."`
}

// Contact is a contact in answers.
type Contact struct {
	ID           id.Contact `json:"id" format:"uuid"`
	TenantID     id.Tenant  `json:"tenant_id" format:"uuid"`
	Email        string     `json:"email" format:"email"`
	ExternalID   *string    `json:"external_id" doc:"The caller's own record key."`
	FirstName    *string    `json:"first_name"`
	LastName     *string    `json:"last_name"`
	FullName     *string    `json:"full_name" doc:"The name as entered in one field."`
	Title        *string    `json:"title"`
	Company      *string    `json:"company"`
	Phone        *string    `json:"phone"`
	Website      *string    `json:"website"`
	Timezone     *string    `json:"timezone" doc:"IANA name."`
	AddressLine1 *string    `json:"address_line1"`
	AddressLine2 *string    `json:"address_line2"`
	City         *string    `json:"city"`
	State        *string    `json:"state"`
	PostalCode   *string    `json:"postal_code"`
	Country      *string    `json:"country" doc:"ISO 3166-1 alpha-2."`
	Source       *string    `json:"source"`
	StageID      *id.Stage  `json:"stage_id" format:"uuid"`

	CustomFields          map[string]any       `json:"custom_fields"`
	Tags                  []string             `json:"tags"`
	Subscriptions         map[string]bool      `json:"subscriptions" doc:"By email type key; a missing key means subscribed."`
	CategorySubscriptions map[id.Category]bool `json:"category_subscriptions" doc:"By email category id; decides for the types of that category."`

	GlobalStatus            contact.Status         `json:"global_status" enum:"active,pending,unsubscribed,bounced,complained,suppressed"`
	StatusBeforeSuppress    *contact.Status        `json:"status_before_suppress"`
	DoNotContact            bool                   `json:"do_not_contact"`
	BounceType              *string                `json:"bounce_type" enum:"hard,soft"`
	DeliverabilityStatus    contact.Deliverability `json:"deliverability_status" enum:"healthy,watch,at_risk,suppressed"`
	DeliverabilityReason    *string                `json:"deliverability_reason"`
	DeliverabilityUpdatedAt endpoint.Stamp         `json:"deliverability_updated_at"`

	CreatedAt      endpoint.Stamp  `json:"created_at"`
	UpdatedAt      endpoint.Stamp  `json:"updated_at"`
	AnonymizedAt   *endpoint.Stamp `json:"anonymized_at"`
	SuppressedAt   *endpoint.Stamp `json:"suppressed_at"`
	UnsubscribedAt *endpoint.Stamp `json:"unsubscribed_at"`
	MemberAddedAt  *endpoint.Stamp `json:"member_added_at" doc:"In member lists only."`
	ScoreUpdatedAt *endpoint.Stamp `json:"score_updated_at"`

	LastActivityAt      *endpoint.Stamp `json:"last_activity_at"`
	LastActivityPending *bool           `json:"last_activity_pending,omitempty" doc:"true while the event behind last_activity_at is not yet classified as a person's. Absent in answers to writes."`
	LastEmailSentAt     *endpoint.Stamp `json:"last_email_sent_at"`
	LastEmailOpenedAt   *endpoint.Stamp `json:"last_email_opened_at"`
	LastEmailClickedAt  *endpoint.Stamp `json:"last_email_clicked_at"`
	LastPageViewedAt    *endpoint.Stamp `json:"last_page_viewed_at"`
	TotalEmailsSent     int64           `json:"total_emails_sent"`
	TotalEmailsOpened   int64           `json:"total_emails_opened"`
	TotalEmailsClicked  int64           `json:"total_emails_clicked"`
	ProspectScore       float64         `json:"prospect_score"`
	CustomerScore       float64         `json:"customer_score"`

	ContactTouches

	EmailDomain  string  `json:"email_domain"`
	MXRecord     *string `json:"mx_record"`
	SMTPProvider *string `json:"smtp_provider"`
}

// ContactTouches are the first and the last source that led a contact to the tenant.
type ContactTouches struct {
	FirstTouchAt         *endpoint.Stamp `json:"first_touch_at"`
	FirstTouchCampaign   *string         `json:"first_touch_campaign"`
	FirstTouchCountry    *string         `json:"first_touch_country"`
	FirstTouchLandingURL *string         `json:"first_touch_landing_url"`
	FirstTouchMedium     *string         `json:"first_touch_medium"`
	FirstTouchReferrer   *string         `json:"first_touch_referrer"`
	FirstTouchSource     *string         `json:"first_touch_source"`
	FirstTouchTimezone   *string         `json:"first_touch_timezone"`
	LastTouchAt          *endpoint.Stamp `json:"last_touch_at"`
	LastTouchCampaign    *string         `json:"last_touch_campaign"`
	LastTouchMedium      *string         `json:"last_touch_medium"`
	LastTouchSource      *string         `json:"last_touch_source"`
}

func (api Contacts) listContacts(ctx context.Context, p auth.Principal, in *listContactsRequest) (endpoint.List[Contact], error) {
	return api.listPage(ctx, p, in.input(), in.ContactPage, endpoint.Limit(in.Limit))
}

// listPage returns the answer with a page of the contacts that the selector chooses.
func (api Contacts) listPage(ctx context.Context, p auth.Principal, choice segment.SelectorInput, page ContactPage, limit int) (endpoint.List[Contact], error) {
	sel, err := segment.Select(ctx, api.db, p.Tenant, choice, api.now())
	if err != nil {
		return endpoint.List[Contact]{}, err
	}
	q, err := api.parsePage(page, sel, contact.ParseSort(page.Sort))
	if err != nil {
		return endpoint.List[Contact]{}, err
	}
	q.Limit = limit
	list, err := contact.List(ctx, api.db, p.Tenant, q)
	if err != nil {
		return endpoint.List[Contact]{}, err
	}
	return api.contactList(ctx, p.Tenant, q, list)
}

// parsePage returns the query for a page. sort is the parsed parameter of the page.
func (api Contacts) parsePage(p ContactPage, sel contact.Selector, sort contact.Sort) (contact.Query, error) {
	q := contact.Query{Selector: sel, Sort: sort, Asc: strings.EqualFold(p.Dir, "asc"), Limit: endpoint.Limit(p.Limit)}
	if p.Cursor == "" {
		return q, nil
	}
	c, err := api.cursors.Decode(p.Cursor, string(q.Sort), direction(q))
	if err != nil {
		return q, err
	}
	q.After = &contact.Position{Value: c.LastValue, ID: id.Read[id.Contact](c.LastID)}
	return q, nil
}

func direction(q contact.Query) string {
	if q.Asc {
		return "asc"
	}
	return "desc"
}

// contactList returns the answer with a page of contacts.
func (api Contacts) contactList(ctx context.Context, t id.Tenant, q contact.Query, p contact.Page) (endpoint.List[Contact], error) {
	rows, err := api.rowsForRead(ctx, t, p.Contacts...)
	if err != nil {
		return endpoint.List[Contact]{}, err
	}
	next := ""
	if p.Next != nil {
		next = api.cursors.Encode(endpoint.Cursor{
			Sort: string(q.Sort), Dir: direction(q), LastValue: p.Next.Value, LastID: p.Next.ID.String(),
		})
	}
	return endpoint.Page(rows, next), nil
}

func (s ContactSelector) input() segment.SelectorInput {
	return segment.SelectorInput{
		Status: endpoint.CommaList(s.Status), Search: s.Search,
		Filters: json.RawMessage(s.Filters), Definition: json.RawMessage(s.Definition),
	}
}

type count struct {
	Count int `json:"count"`
}

func (api Contacts) countContacts(ctx context.Context, p auth.Principal, in *ContactSelector) (count, error) {
	return api.countSelected(ctx, p, in.input())
}

// countSelected counts the contacts that a selector selects.
func (api Contacts) countSelected(ctx context.Context, p auth.Principal, in segment.SelectorInput) (count, error) {
	chosen, err := segment.Choose(ctx, api.db, p.Tenant, in)
	if err != nil {
		return count{}, err
	}
	n, err := chosen.Count(ctx, api.db, p.Tenant, api.now())
	return count{n}, err
}

type lookupContactRequest struct {
	Email      string `query:"email" doc:"The contact's address, in any case."`
	ExternalID string `query:"external_id" doc:"The caller's own key of the contact; ignored if email is sent."`
}

func (api Contacts) lookupContact(ctx context.Context, p auth.Principal, in *lookupContactRequest) (Contact, error) {
	var c contact.Contact
	err := error(contact.ErrMissingIdentifier)
	switch {
	case strings.TrimSpace(in.Email) != "":
		c, err = contact.ByEmail(ctx, api.db, p.Tenant, in.Email)
	case strings.TrimSpace(in.ExternalID) != "":
		c, err = contact.ByExternalID(ctx, api.db, p.Tenant, strings.TrimSpace(in.ExternalID))
	}
	if err != nil {
		return Contact{}, err
	}
	endpoint.SetRevision(ctx, c.Revision)
	return api.rowForRead(ctx, c)
}

func (api Contacts) getContact(ctx context.Context, p auth.Principal, in *wire.RecordPath) (Contact, error) {
	c, err := wire.RecordID[id.Contact](in.ID, contact.ErrNotFound)
	if err != nil {
		return Contact{}, err
	}
	found, err := contact.ByID(ctx, api.db, p.Tenant, c)
	if err != nil {
		return Contact{}, err
	}
	endpoint.SetRevision(ctx, found.Revision)
	return api.rowForRead(ctx, found)
}

type contactListRow struct {
	SegmentKey    string         `json:"segment_key"`
	Name          string         `json:"name"`
	Type          segment.Type   `json:"type" enum:"static"`
	MemberAddedAt endpoint.Stamp `json:"member_added_at"`
}

func (api Contacts) listContactLists(ctx context.Context, p auth.Principal, in *wire.RecordPath) (endpoint.List[contactListRow], error) {
	var none endpoint.List[contactListRow]
	c, err := wire.RecordID[id.Contact](in.ID, contact.ErrNotFound)
	if err != nil {
		return none, err
	}
	if _, err := contact.ByID(ctx, api.db, p.Tenant, c); err != nil {
		return none, err
	}
	list, err := segment.Memberships(ctx, api.db, p.Tenant, c)
	if err != nil {
		return none, err
	}
	rows := make([]contactListRow, len(list))
	for i, m := range list {
		rows[i] = contactListRow{m.Segment.Key, m.Segment.Name, m.Segment.Type, endpoint.At(m.AddedAt)}
	}
	return endpoint.Whole(rows), nil
}
