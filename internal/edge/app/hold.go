package app

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/senders/hold"
)

// beginHold holds all sends if the server was started with that option. Otherwise it releases a
// hold of an earlier run, if this process has the database to itself. With several processes,
// restarting one must not release the mail of all: the hold stays until the operator releases it.
func (s *Server) beginHold(ctx context.Context) error {
	db := s.Store.DB
	if s.Hold {
		if err := hold.Set(ctx, db, time.Now()); err != nil {
			return err
		}
	}
	since, err := hold.Since(ctx, db)
	if err != nil || since == nil {
		return err
	}
	if !s.Hold && alone(db) {
		s.Log.Info("held sends resumed", "since", since)
		_, err := hold.Release(ctx, db)
		return err
	}
	s.Log.Warn("all sends are held; packetboat release resumes them", "since", since)
	return nil
}

// unlessHeld returns a loop that runs send while sends are not held.
func (s *Server) unlessHeld(name string, send func(ctx context.Context) error) loop {
	return loop{name, func(ctx context.Context) error {
		tick := time.NewTicker(hold.PollInterval)
		defer tick.Stop()
		return hold.Run(ctx, s.Store.DB, tick.C, s.Log.With("engine", name), send)
	}}
}
