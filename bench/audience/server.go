package main

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/bench/meter"
)

// serverTime returns the processor time that the PostgreSQL server has used
// since it started; 0 on SQLite.
func (s *site) serverTime(ctx context.Context) (time.Duration, error) {
	return meter.Server(ctx, s.Database)
}
