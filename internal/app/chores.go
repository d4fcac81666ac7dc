package app

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/ratelimit"
)

// chores are the loops that keep the door and the limits tidy.
func (s *Server) chores(limits *ratelimit.Limiter, door *auth.Login) []loop {
	return []loop{
		s.every("sweep sessions and limits", 10*time.Minute, func(ctx context.Context) error {
			if err := limits.Sweep(ctx, time.Now()); err != nil {
				return err
			}
			return auth.DeleteExpired(ctx, s.Store.DB, time.Now())
		}),
		{"system mail", func(ctx context.Context) error {
			<-ctx.Done()
			door.Wait()
			return nil
		}},
	}
}
