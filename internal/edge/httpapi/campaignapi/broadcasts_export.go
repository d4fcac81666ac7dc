package campaignapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/engine/transfer"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// export registers the export of recipients and bounces.
func (api Broadcasts) export(r *endpoint.Router) {
	endpoint.Handle(r, "POST /t/{tenant}/api/broadcasts/{broadcast_id}/export", endpoint.Op{
		Name: "exportBroadcast", Summary: "Export the recipients or the bounces of a broadcast to a file, in a job.",
		Description: "The rows are those of GET /broadcasts/{broadcast_id}/recipients, in their order, or of …/bounces, newest first. status, variant_id and search select recipients as there. The file is at GET /jobs/{id}/download.",
		Tag:         "reports", Session: true, Role: auth.Editor, Status: http.StatusAccepted,
		Faults: []*fault.Error{broadcast.ErrNotFound, outbox.ErrStatus, job.ErrLimit},
	}.ExampleBody(`{"what": "recipients", "status": "delivered,bounced", "format": "csv"}`).Once(), wire.Once(api, api.db, Broadcasts.exportBroadcast))
}

type exportBroadcastRequest struct {
	ID   string `path:"broadcast_id" as:"text" format:"uuid" doc:"The broadcast's id."`
	Body struct {
		What      transfer.Subject    `json:"what" enum:"recipients,bounces"`
		Format    transfer.FileFormat `json:"format,omitempty" enum:"csv,ndjson" doc:"csv when absent."`
		BOM       bool                `json:"bom,omitempty" doc:"Whether a CSV file begins with a byte order mark, by which Excel knows UTF-8."`
		Status    string              `json:"status,omitempty" doc:"Comma list of statuses."`
		VariantID string              `json:"variant_id,omitempty" doc:"Recipients of this variant."`
		Search    string              `json:"search,omitempty" doc:"A part of the address."`
	}
}

func (api Broadcasts) exportBroadcast(ctx context.Context, p auth.Principal, in *exportBroadcastRequest) (wire.Accepted, error) {
	b := in.Body
	status, err := outbox.ParseStatuses(endpoint.CommaList(b.Status))
	if err != nil {
		return wire.Accepted{}, err
	}
	of, err := api.headAt(ctx, p, in.ID)
	if err != nil {
		return wire.Accepted{}, err
	}
	j, err := transfer.StartSendExport(ctx, api.db, p.Tenant, of.Name, transfer.SendExport{
		Send: of.Send, Subject: b.What, Format: b.Format, BOM: b.BOM, Status: status, Variant: b.VariantID, Search: b.Search,
	}, p.Actor(), api.now())
	return wire.Accepted{JobID: j.ID}, err
}

// EncodeRecipients encodes recipients for exports, as in lists.
func EncodeRecipients(ctx context.Context, db *sqldb.DB, t id.Tenant, list []outbox.Record) ([][]byte, error) {
	rows, err := recipientRows(ctx, db, t, list)
	if err != nil {
		return nil, err
	}
	return encodeRows(rows)
}

// EncodeBounces encodes bounces for exports, as in lists.
func EncodeBounces(list []outbox.BounceRecord) ([][]byte, error) { return encodeRows(bounceRows(list)) }

func encodeRows[T any](rows []T) ([][]byte, error) {
	docs := make([][]byte, len(rows))
	for i := range rows {
		var err error
		if docs[i], err = json.Marshal(rows[i]); err != nil {
			return nil, err
		}
	}
	return docs, nil
}
