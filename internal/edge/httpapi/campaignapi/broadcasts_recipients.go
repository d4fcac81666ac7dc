package campaignapi

import (
	"context"
	"slices"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// recipients registers the list of recipients.
func (api Broadcasts) recipients(r *endpoint.Router) {
	endpoint.Handle(r, "GET /t/{tenant}/api/broadcasts/{broadcast_id}/recipients", endpoint.Op{
		Name:        "listBroadcastRecipients",
		Summary:     "List the recipients of a broadcast with the state of their messages.",
		Description: "Empty before the send is prepared. The order does not change during the send.",
		Tag:         "reports",
		Scope:       auth.ReportsRead,
		Pagination:  "cursor",
		Faults:      []*fault.Error{broadcast.ErrNotFound, outbox.ErrStatus, endpoint.ErrCursor},
	}, api.listBroadcastRecipients)
}

type listBroadcastRecipientsRequest struct {
	ID        string `path:"broadcast_id" as:"text" format:"uuid" doc:"The broadcast's id."`
	Status    string `query:"status" as:"list" enum:"pending,queued,sent,delivered,deferred,bounced,failed,skipped,held_back,cancelled" doc:"With any of these statuses; all when absent."`
	VariantID string `query:"variant_id" doc:"Recipients of this variant."`
	Search    string `query:"search" doc:"A part of the address."`
	endpoint.CursorQuery
}

// RecipientRow is one message of a broadcast.
type RecipientRow struct {
	ContactID      id.Contact      `json:"contact_id" format:"uuid"`
	Email          string          `json:"email"`
	VariantID      *string         `json:"variant_id"`
	Sender         *string         `json:"sending_identity_email"`
	MTAConfigKey   *string         `json:"mta_config_key"`
	Status         outbox.Status   `json:"status" enum:"pending,queued,sent,delivered,deferred,bounced,failed,skipped,held_back,cancelled"`
	ContentVersion int             `json:"content_version"`
	PlannedFor     *endpoint.Stamp `json:"planned_for"`
	SentAt         *endpoint.Stamp `json:"sent_at"`
	DeliveredAt    *endpoint.Stamp `json:"delivered_at"`
	FirstOpenedAt  *endpoint.Stamp `json:"first_opened_at"`
	FirstClickedAt *endpoint.Stamp `json:"first_clicked_at"`
	BouncedAt      *endpoint.Stamp `json:"bounced_at"`
	BounceType     *string         `json:"bounce_type" enum:"hard,soft"`
	ComplainedAt   *endpoint.Stamp `json:"complained_at"`
	UnsubscribedAt *endpoint.Stamp `json:"unsubscribed_at"`
	SkipReason     *string         `json:"skip_reason"`
	Error          *string         `json:"error"`
}

func (api Broadcasts) listBroadcastRecipients(ctx context.Context, p auth.Principal, in *listBroadcastRecipientsRequest) (endpoint.List[RecipientRow], error) {
	var none endpoint.List[RecipientRow]
	q, err := in.parse(api.cursors)
	if err != nil {
		return none, err
	}
	bid, err := wire.RecordID[id.Broadcast](in.ID, broadcast.ErrNotFound)
	if err != nil {
		return none, err
	}
	b, err := broadcast.Head(ctx, api.db, p.Tenant, bid)
	if err != nil {
		return none, err
	}
	records, more, err := outbox.List(ctx, api.db, p.Tenant, b.Send, q)
	if err != nil {
		return none, err
	}
	rows, err := recipientRows(ctx, api.db, p.Tenant, records)
	if err != nil {
		return none, err
	}
	next := ""
	if more {
		next = api.cursors.Encode(endpoint.Cursor{Sort: byContact, Dir: "asc", LastID: records[len(records)-1].Contact.String()})
	}
	return endpoint.Page(rows, next), nil
}

// parse parses the query.
func (in *listBroadcastRecipientsRequest) parse(cursors *endpoint.Cursors) (outbox.Recipients, error) {
	q := outbox.Recipients{Variant: in.VariantID, Search: in.Search, Limit: endpoint.Limit(in.Limit)}
	var err error
	if q.Status, err = outbox.ParseStatuses(endpoint.CommaList(in.Status)); err != nil || in.Cursor == "" {
		return q, err
	}
	c, err := cursors.Decode(in.Cursor, byContact, "asc")
	q.After = id.Read[id.Contact](c.LastID)
	return q, err
}

// byContact is the name in cursors of the order of recipients.
const byContact = "contact_id"

// recipientRows returns the rows of messages, with the first opens and clicks that are not classified
// as a machine's.
func recipientRows(ctx context.Context, db *sqldb.DB, tenant id.Tenant, records []outbox.Record) ([]RecipientRow, error) {
	sent := make(map[id.Message]id.Contact, len(records))
	var lanes []id.Lane
	var senders []id.Identity
	for _, r := range records {
		sent[r.ID] = r.Contact
		if !slices.Contains(lanes, r.Lane) {
			lanes = append(lanes, r.Lane)
		}
		if !slices.Contains(senders, r.Identity) {
			senders = append(senders, r.Identity)
		}
	}
	names, err := broadcast.LoadRouteNames(ctx, db, tenant, lanes, senders)
	if err != nil {
		return nil, err
	}
	did, err := track.LoadFirstTimes(ctx, db, tenant, sent)
	if err != nil {
		return nil, err
	}
	rows := make([]RecipientRow, len(records))
	for i, r := range records {
		rows[i] = recipientOf(r, did[r.ID], names)
	}
	return rows, nil
}

func recipientOf(r outbox.Record, did track.FirstTimes, names broadcast.RefNames) RecipientRow {
	row := RecipientRow{
		ContactID: r.Contact, Email: r.Email, VariantID: optional.Pointer(r.Variant), Sender: wire.NameOf(names.Identities, r.Identity),
		MTAConfigKey: wire.NameOf(names.Lanes, r.Lane), Status: r.Status(), ContentVersion: r.ContentVersion,
		SentAt: endpoint.AtOr(r.SentAt), FirstOpenedAt: endpoint.AtOr(did.Opened), FirstClickedAt: endpoint.AtOr(did.Clicked),
		ComplainedAt: endpoint.AtOr(did.Complained), UnsubscribedAt: endpoint.AtOr(did.Unsubscribed),
		BounceType: optional.Pointer(string(r.Bounce())), SkipReason: optional.Pointer(r.SkipReason), Error: optional.Pointer(r.Error),
	}
	switch r.State {
	case outbox.Queued:
		if r.Status() != outbox.StatusPending {
			row.PlannedFor = new(endpoint.At(r.DueAt))
		}
	case outbox.Delivered:
		row.DeliveredAt = endpoint.AtOr(r.EndedAt)
	case outbox.Bounced:
		row.BouncedAt = endpoint.AtOr(r.EndedAt)
	}
	return row
}
