package httpapi

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/packetboat/packetboat/internal/activity"
	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/broadcast"
	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/endpoint"
	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/journal"
	"github.com/packetboat/packetboat/internal/track"
)

// contactActivity registers the list of a contact's activity.
func (api contactsAPI) contactActivity(r *endpoint.Router) {
	endpoint.Handle(r, "GET /t/{tenant}/api/contacts/{id}/activity", endpoint.Op{
		Name: "listContactActivity", Summary: "List a contact's activity, newest first.",
		Tag: "contacts", Session: true, Pagination: "cursor", Faults: []*fault.Error{contact.ErrNotFound, endpoint.ErrCursor},
	}.ExampleQuery("limit=5"), api.listContactActivity)
}

type listContactActivityRequest struct {
	RecordPath
	Types  string `query:"types" doc:"Comma separated, such as email_opened,stage_changed; all when absent."`
	Cursor string `query:"cursor"`
	Limit  string `query:"limit" doc:"1 to 200; 50 when absent."`
}

type activityRow struct {
	ID             activity.ID    `json:"id" format:"uuid"`
	Type           journal.Type   `json:"type"`
	EventName      *string        `json:"event_name,omitempty" doc:"Of a custom event."`
	OccurredAt     endpoint.Stamp `json:"occurred_at"`
	Source         string         `json:"source" enum:"email,website,form,api,account"`
	Title          string         `json:"title"`
	Properties     map[string]any `json:"properties"`
	BroadcastID    *id.Broadcast  `json:"broadcast_id,omitempty" format:"uuid"`
	SequenceID     *id.Sequence   `json:"sequence_id,omitempty" format:"uuid"`
	Classification *track.Class   `json:"classification,omitempty" doc:"Of an open or a click."`
}

func (api contactsAPI) listContactActivity(ctx context.Context, p auth.Principal, in *listContactActivityRequest) (endpoint.List[activityRow], error) {
	var none endpoint.List[activityRow]
	contactID, err := recordID[id.Contact](in.ID, contact.ErrNotFound)
	if err != nil {
		return none, err
	}
	q := activity.Query{Limit: endpoint.Limit(in.Limit)}
	for _, t := range endpoint.CommaList(in.Types) {
		q.Types = append(q.Types, journal.Type(t))
	}
	if in.Cursor != "" {
		after, err := decodeTimePosition[activity.ID](api.cursors, in.Cursor, "occurred_at")
		if err != nil {
			return none, err
		}
		q.After = &activity.Position{At: after.at, ID: after.id}
	}
	c, err := contact.ByID(ctx, api.db, p.Tenant, contactID)
	if err != nil {
		return none, err
	}
	items, next, err := activity.List(ctx, api.db, c, q, broadcast.Names)
	if err != nil {
		return none, err
	}
	rows := make([]activityRow, len(items))
	for i, it := range items {
		properties := map[string]any{}
		if err := json.Unmarshal(it.Properties, &properties); err != nil {
			return none, fmt.Errorf("properties of %s: %w", it.ID, err)
		}
		rows[i] = activityRow{
			ID: it.ID, Type: it.Type, EventName: orNull(it.EventName), OccurredAt: endpoint.At(it.At), Source: it.Source, Title: it.Title,
			Properties: properties, BroadcastID: orNull(it.Broadcast), SequenceID: orNull(it.Sequence), Classification: orNull(it.Classification),
		}
	}
	cursor := ""
	if next != nil {
		cursor = timePosition[activity.ID]{next.At, next.ID}.encode(api.cursors, "occurred_at")
	}
	return endpoint.Page(rows, cursor), nil
}
