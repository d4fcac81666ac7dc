package campaignapi

import (
	"context"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
)

type cloneBroadcastRequest struct {
	ID   string `path:"broadcast_id" as:"text" format:"uuid" doc:"The broadcast's id."`
	Body *struct {
		Name endpoint.Opt[string] `json:"name" nullable:"false" doc:"1 to 200 characters. Default: the name of the original and (copy)."`
	}
}

func (api Broadcasts) cloneBroadcast(ctx context.Context, p auth.Principal, in *cloneBroadcastRequest) (broadcastAnswer, error) {
	var name *string
	if in.Body != nil {
		name = in.Body.Name.Pointer()
	}
	bid, err := wire.RecordID[id.Broadcast](in.ID, broadcast.ErrNotFound)
	if err != nil {
		return broadcastAnswer{}, err
	}
	b, err := broadcast.NewClone(ctx, api.db, p.Tenant, bid, name, p.Actor(), api.now())
	if err != nil {
		return broadcastAnswer{}, err
	}
	return api.insertBroadcast(ctx, p, b)
}

type archiveBroadcastsRequest struct {
	Body struct {
		IDs []string `json:"ids" doc:"1 to 100 uuids."`
	}
}

type archivedBroadcasts struct {
	Archived []id.Broadcast `json:"archived"`
	Skipped  []id.Broadcast `json:"skipped" doc:"Unknown, not ended, or archived already."`
}

func (api Broadcasts) archiveBroadcasts(ctx context.Context, p auth.Principal, in *archiveBroadcastsRequest) (archivedBroadcasts, error) {
	var bad fault.Problems
	ids := make([]id.Broadcast, len(in.Body.IDs))
	for i, text := range in.Body.IDs {
		var ok bool
		if ids[i], ok = id.Parse[id.Broadcast](text); !ok {
			bad.AddElement("ids", "must be a uuid")
		}
	}
	if err := bad.Err(); err != nil {
		return archivedBroadcasts{}, err
	}
	archived, skipped, err := broadcast.ArchiveAll(ctx, api.db, p.Tenant, ids, api.now())
	return archivedBroadcasts{endpoint.NonNil(archived), endpoint.NonNil(skipped)}, err
}
