package audienceapi

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/view/activity"
)

// contactActivity registers the list of a contact's activity.
func (api Contacts) contactActivity(r *endpoint.Router) {
	endpoint.Handle(r, "GET /t/{tenant}/api/contacts/{id}/activity", endpoint.Op{
		Name: "listContactActivity", Summary: "List a contact's activity, newest first.",
		Tag: "contacts", Session: true, Pagination: "cursor", Faults: []*fault.Error{contact.ErrNotFound, endpoint.ErrCursor},
	}.ExampleQuery("limit=5"), api.listContactActivity)
}

type listContactActivityRequest struct {
	wire.RecordPath
	ActivityPage
}

type ActivityRow struct {
	ID             activity.ID    `json:"id" format:"uuid"`
	Type           journal.Type   `json:"type"`
	EventName      *string        `json:"event_name,omitempty" doc:"Of a custom event."`
	EventType      *string        `json:"event_type,omitempty" doc:"Of a custom event: the type that was sent with it."`
	OccurredAt     endpoint.Stamp `json:"occurred_at"`
	Source         string         `json:"source" enum:"email,website,form,api,account"`
	Title          string         `json:"title"`
	Properties     map[string]any `json:"properties"`
	BroadcastID    *id.Broadcast  `json:"broadcast_id,omitempty" format:"uuid"`
	SequenceID     *id.Sequence   `json:"sequence_id,omitempty" format:"uuid"`
	Classification *track.Class   `json:"classification,omitempty" doc:"Of an open or a click."`
	Rules          []string       `json:"rules,omitempty" doc:"The rules that determined the classification, such as R5."`
}

func (api Contacts) listContactActivity(ctx context.Context, p auth.Principal, in *listContactActivityRequest) (endpoint.List[ActivityRow], error) {
	var none endpoint.List[ActivityRow]
	contactID, err := wire.RecordID[id.Contact](in.ID, contact.ErrNotFound)
	if err != nil {
		return none, err
	}
	q, err := activityQuery(api.cursors, in.Types, in.Cursor, in.Limit)
	if err != nil {
		return none, err
	}
	c, err := contact.ByID(ctx, api.db, p.Tenant, contactID)
	if err != nil {
		return none, err
	}
	items, next, err := activity.List(ctx, api.db, c, q, broadcast.Names)
	if err != nil {
		return none, err
	}
	rows := make([]ActivityRow, len(items))
	for i, it := range items {
		if rows[i], err = rowOfActivity(it); err != nil {
			return none, err
		}
	}
	return endpoint.Page(rows, activityCursor(api.cursors, next)), nil
}

func rowOfActivity(it activity.Item) (ActivityRow, error) {
	var properties eventProperties
	if err := json.Unmarshal(it.Properties, &properties); err != nil {
		return ActivityRow{}, fmt.Errorf("properties of %s: %w", it.ID, err)
	}
	return ActivityRow{
		ID: it.ID, Type: it.Type, EventName: optional.Pointer(it.EventName), EventType: optional.Pointer(it.EventType), OccurredAt: endpoint.At(it.At), Source: it.Source, Title: it.Title,
		Properties: properties, BroadcastID: optional.Pointer(it.Broadcast), SequenceID: optional.Pointer(it.Sequence), Classification: optional.Pointer(it.Classification), Rules: it.Rules,
	}, nil
}
