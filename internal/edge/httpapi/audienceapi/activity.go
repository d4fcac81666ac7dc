package audienceapi

import (
	"context"
	"strings"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/audience/event"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/view/activity"
)

// Activity serves the activity of all contacts, and suggestions of values that occur.
type Activity struct {
	db      *sqldb.DB
	cursors *endpoint.Cursors
}

// NewActivity returns the operations on the activity of all contacts, and suggestions of values that occur.
func NewActivity(e wire.Env) Activity { return Activity{db: e.DB, cursors: e.Cursors} }

// Register adds the operations on activity.
func (api Activity) Register(r *endpoint.Router) {
	endpoint.Handle(r, "GET /t/{tenant}/api/activity", endpoint.Op{
		Name: "listActivity", Summary: "List the activity of all contacts, newest first.",
		Description: "Rows are those of a contact's activity, with the contact. Without contact_id, sent and delivered mails, memberships of lists and changes of scores are left out.",
		Tag:         "events", Session: true, Pagination: "cursor", Faults: []*fault.Error{endpoint.ErrCursor},
	}.ExampleQuery("types=event,email_clicked&limit=5"), api.listActivity)
	endpoint.Handle(r, "GET /t/{tenant}/api/suggestions", endpoint.Op{
		Name: "listSuggestions", Summary: "Suggest names and values that occur: at most 50, the latest first.",
		Description: "tags and values of a field are those of the 2000 contacts updated last. Names and properties of events have counts.",
		Tag:         "events", Session: true,
	}.ExampleQuery("for=event_properties&event_name=order_placed"), api.listSuggestions)
}

type listActivityRequest struct {
	EventName string `query:"event_name" doc:"Only custom events with this name."`
	ContactID string `query:"contact_id" format:"uuid" doc:"Only of this contact."`
	ActivityPage
}

// ActivityPage selects a page of activity.
type ActivityPage struct {
	Types string `query:"types" as:"list" enum:"contact_anonymized,contact_created,contact_deleted,contact_restored,contact_updated,email_bounced,email_clicked,email_complained,email_deferred,email_delivered,email_failed,email_opened,email_sent,email_unsubscribed,event,form_submitted,list_added,list_removed,opt_in_confirmed,opt_in_requested,page_viewed,score_changed,sequence_completed,sequence_enrolled,sequence_exited,stage_changed,subscription_changed,suppression_added,suppression_removed,tag_added,tag_removed" doc:"Only of these types; all when absent."`
	endpoint.CursorQuery
}

// feedRow is a row of a contact's activity with its contact.
type feedRow struct {
	ActivityRow
	Contact feedContact `json:"contact"`
}

type feedContact struct {
	ID    id.Contact `json:"id" format:"uuid"`
	Email string     `json:"email" format:"email"`
	Name  *string    `json:"name"`
}

func (api Activity) listActivity(ctx context.Context, p auth.Principal, in *listActivityRequest) (endpoint.List[feedRow], error) {
	var none endpoint.List[feedRow]
	q, err := activityQuery(api.cursors, in.Types, in.Cursor, in.Limit)
	if err != nil {
		return none, err
	}
	q.EventName = in.EventName
	items, next, err := api.readActivity(ctx, p.Tenant, in.ContactID, q)
	if err != nil {
		return none, err
	}
	labels, err := contact.Labels(ctx, api.db, p.Tenant, contactsOf(items))
	if err != nil {
		return none, err
	}
	rows := make([]feedRow, len(items))
	for i, it := range items {
		row, err := rowOfActivity(it)
		if err != nil {
			return none, err
		}
		l := labels[it.Contact]
		rows[i] = feedRow{row, feedContact{it.Contact, l.Email, optional.Pointer(l.Name)}}
	}
	return endpoint.Page(rows, activityCursor(api.cursors, next)), nil
}

// readActivity returns a page of the activity of all contacts, or of one.
func (api Activity) readActivity(ctx context.Context, t id.Tenant, contactID string, q activity.Query) ([]activity.Item, *activity.Position, error) {
	if contactID == "" {
		return activity.Feed(ctx, api.db, t, q, broadcast.Names)
	}
	one, ok := id.Parse[id.Contact](contactID)
	if !ok {
		return nil, nil, fault.Input(fault.Field{Path: "contact_id", Message: "must be a UUID"})
	}
	c, err := contact.ByID(ctx, api.db, t, one)
	if err != nil {
		if f, ok := fault.As(err); ok && f.Is(contact.ErrNotFound) { // a filter that matches nothing
			return nil, nil, nil
		}
		return nil, nil, err
	}
	return activity.List(ctx, api.db, c, q, broadcast.Names)
}

// contactsOf returns the contacts of items, each once.
func contactsOf(items []activity.Item) []id.Contact {
	seen := map[id.Contact]bool{}
	var list []id.Contact
	for _, it := range items {
		if !seen[it.Contact] {
			seen[it.Contact] = true
			list = append(list, it.Contact)
		}
	}
	return list
}

// activityQuery parses the parameters of a list of activity.
func activityQuery(cursors *endpoint.Cursors, types, cursor, limit string) (activity.Query, error) {
	q := activity.Query{Limit: endpoint.Limit(limit)}
	var err error
	if q.Types, err = activity.ParseTypes(endpoint.CommaList(types)); err != nil {
		return q, err
	}
	if cursor != "" {
		after, err := wire.DecodeTimePosition[activity.ID](cursors, cursor, "occurred_at")
		if err != nil {
			return q, err
		}
		q.After = &activity.Position{At: after.At, ID: after.ID}
	}
	return q, nil
}

// activityCursor returns the cursor for a position, or an empty text for none.
func activityCursor(cursors *endpoint.Cursors, next *activity.Position) string {
	if next == nil {
		return ""
	}
	return wire.TimePosition[activity.ID]{At: next.At, ID: next.ID}.Encode(cursors, "occurred_at")
}

// maxSuggestions is the length of a list of suggestions.
const maxSuggestions = 50

type listSuggestionsRequest struct {
	For       string `query:"for" required:"true" enum:"tags,event_names,event_properties,field" doc:"Of what values are suggested."`
	Field     string `query:"field" doc:"With for=field: a text field of contacts, email_domain, or custom_fields.<field_key>."`
	EventName string `query:"event_name" doc:"With for=event_properties: only properties of events with this name."`
	Q         string `query:"q" doc:"A part of the value, in any case."`
}

type suggestion struct {
	Value      string         `json:"value"`
	Count      *int64         `json:"count,omitempty" doc:"Events with it."`
	LastSeenAt endpoint.Stamp `json:"last_seen_at"`
	Kinds      []string       `json:"kinds,omitempty" doc:"Of a property's values: array, boolean, date, number, string."`
}

func (api Activity) listSuggestions(ctx context.Context, p auth.Principal, in *listSuggestionsRequest) (endpoint.List[suggestion], error) {
	var none endpoint.List[suggestion]
	var seen []event.Seen
	var err error
	switch in.For {
	case "event_names":
		seen, err = event.Names(ctx, api.db, p.Tenant, in.Q, maxSuggestions)
	case "event_properties":
		seen, err = event.Properties(ctx, api.db, p.Tenant, in.EventName, in.Q, maxSuggestions)
	default:
		return api.suggestValues(ctx, p.Tenant, in)
	}
	if err != nil {
		return none, err
	}
	rows := make([]suggestion, len(seen))
	for i, s := range seen {
		rows[i] = suggestion{s.Value, &s.Count, endpoint.At(s.LastAt), s.Kinds}
	}
	return endpoint.Whole(rows), nil
}

// suggestValues suggests tags or values of a field.
func (api Activity) suggestValues(ctx context.Context, t id.Tenant, in *listSuggestionsRequest) (endpoint.List[suggestion], error) {
	name := in.Field
	if in.For == "tags" {
		name = "tags"
	}
	values, known, err := contact.Recent(ctx, api.db, t, name)
	if err == nil && (!known || in.For == "field" && name == "tags") {
		err = fault.Input(fault.Field{Path: "field", Message: "must be a text field of contacts, email_domain or custom_fields.<field_key>"})
	}
	if err != nil {
		return endpoint.List[suggestion]{}, err
	}
	rows := []suggestion{}
	for _, v := range values {
		if len(rows) < maxSuggestions && strings.Contains(strings.ToLower(v.Text), strings.ToLower(in.Q)) {
			rows = append(rows, suggestion{Value: v.Text, LastSeenAt: endpoint.At(v.LastAt)})
		}
	}
	return endpoint.Whole(rows), nil
}
