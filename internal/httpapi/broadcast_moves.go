package httpapi

import (
	"context"
	"time"

	"packetboat/internal/auth"
	"packetboat/internal/broadcast"
	"packetboat/internal/id"
	"packetboat/internal/sqldb"
)

// mover moves a broadcast to another status, or refuses.
type mover func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast, now time.Time) error

func pauseByUser(ctx context.Context, db *sqldb.DB, tenant id.Tenant, bid id.Broadcast, now time.Time) error {
	return broadcast.Pause(ctx, db, tenant, bid, broadcast.ByUser, now)
}

// moveBroadcast returns the operation that makes a move and shows the outcome.
func (a *API) moveBroadcast(do mover) func(context.Context, auth.Principal, *broadcastPath) (broadcastAnswer, error) {
	return func(ctx context.Context, p auth.Principal, in *broadcastPath) (broadcastAnswer, error) {
		bid, ok := id.Parse[id.Broadcast](in.ID)
		if !ok {
			return broadcastAnswer{}, broadcast.ErrNotFound
		}
		if err := do(ctx, a.DB, p.Tenant, bid, a.Now()); err != nil {
			return broadcastAnswer{}, err
		}
		b, err := broadcast.Load(ctx, a.DB, p.Tenant, bid)
		if err != nil {
			return broadcastAnswer{}, err
		}
		return a.viewBroadcast(ctx, p, b)
	}
}
