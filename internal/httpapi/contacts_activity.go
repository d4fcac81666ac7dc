package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/packetboat/packetboat/internal/activity"
	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/broadcast"
	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/endpoint"
	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/journal"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/track"
)

// contactActivity registers the timeline of a contact.
func (api contactsAPI) contactActivity(r *endpoint.Router) {
	endpoint.Handle(r, "GET /t/{tenant}/api/contacts/{id}/activity", endpoint.Op{
		Name: "listContactActivity", Summary: "List a contact's activity, newest first.",
		Tag: "contacts", Session: true, Pagination: "cursor", Faults: []*fault.Error{contact.ErrNotFound, endpoint.ErrCursor},
	}.Asking("limit=5"), api.listContactActivity)
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

type listContactActivityRequest struct {
	ContactPath
	Types  string `query:"types" doc:"Comma separated, such as email_opened,stage_changed; all when absent."`
	Cursor string `query:"cursor"`
	Limit  string `query:"limit" doc:"1 to 200; 50 when absent."`
}

func (api contactsAPI) listContactActivity(ctx context.Context, p auth.Principal, in *listContactActivityRequest) (endpoint.List[activityRow], error) {
	var none endpoint.List[activityRow]
	who, err := in.contact()
	if err != nil {
		return none, err
	}
	q := activity.Query{Limit: endpoint.Limit(in.Limit)}
	for _, t := range endpoint.CommaList(in.Types) {
		q.Types = append(q.Types, journal.Type(t))
	}
	if in.Cursor != "" {
		c, err := api.cursors.Decode(in.Cursor, "occurred_at", "desc")
		if err != nil || c.LastValue == nil {
			return none, endpoint.ErrCursor
		}
		at, err := strconv.ParseInt(*c.LastValue, 10, 64)
		if err != nil {
			return none, endpoint.ErrCursor
		}
		q.After = &activity.Position{At: sqldb.Time(at), ID: id.Read[activity.ID](c.LastID)}
	}
	c, err := contact.ByID(ctx, api.db, p.Tenant, who)
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
		cursor = api.cursors.Encode(endpoint.Cursor{
			Sort: "occurred_at", Dir: "desc", LastValue: new(strconv.FormatInt(sqldb.Micros(next.At), 10)), LastID: next.ID.String(),
		})
	}
	return endpoint.Page(rows, cursor), nil
}
