package campaignapi

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/sqldb"
)

type rescheduleBroadcastRequest struct {
	ID   string `path:"broadcast_id" as:"text" format:"uuid" doc:"The broadcast's id."`
	Body struct {
		SkippedDates endpoint.Opt[[]string] `json:"skipped_dates" nullable:"false" doc:"The whole list, at most 60 days."`
	}
}

func (api Broadcasts) rescheduleBroadcast(ctx context.Context, p auth.Principal, in *rescheduleBroadcastRequest) (broadcastAnswer, error) {
	if !in.Body.SkippedDates.Given() {
		var bad fault.Problems
		bad.Add("skipped_dates", "required")
		return broadcastAnswer{}, bad.Err()
	}
	return api.changeStatus(func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast, now time.Time) error {
		return broadcast.Reschedule(ctx, db, tenant, bid, in.Body.SkippedDates.Value, now)
	})(ctx, p, &broadcastPath{ID: in.ID})
}

// transition changes the status of a broadcast, or returns the fault why it cannot.
type transition func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast, now time.Time) error

// changeStatus returns the handler that applies a transition and answers with the broadcast.
func (api Broadcasts) changeStatus(do transition) func(context.Context, auth.Principal, *broadcastPath) (broadcastAnswer, error) {
	return func(ctx context.Context, p auth.Principal, in *broadcastPath) (broadcastAnswer, error) {
		bid, ok := id.Parse[id.Broadcast](in.ID)
		if !ok {
			return broadcastAnswer{}, broadcast.ErrNotFound
		}
		if err := do(ctx, api.db, p.Tenant, bid, api.now()); err != nil {
			return broadcastAnswer{}, err
		}
		b, err := broadcast.Load(ctx, api.db, p.Tenant, bid)
		if err != nil {
			return broadcastAnswer{}, err
		}
		return api.viewBroadcast(ctx, p, b)
	}
}

func pauseByUser(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast, now time.Time) error {
	return broadcast.Pause(ctx, db, tenant, bid, broadcast.ByUser, now)
}
