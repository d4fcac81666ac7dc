package app

import (
	"context"
	"time"
)

// clockInterval is the time between comparisons of this machine's clock with the database's.
const clockInterval = 5 * time.Second

// comparison returns what corrects the clock of the engines; nil if they have a clock of their own.
func (s *Server) comparison() func(ctx context.Context) error {
	if s.clock != nil {
		return nil
	}
	return s.shared.Compare
}

// compareClocks corrects the clock of the API and the engines, and logs when it begins and ceases to differ from this machine's.
func (s *Server) compareClocks(ctx context.Context) error {
	before := s.shared.Behind()
	if err := s.shared.Compare(ctx); err != nil {
		return err
	}
	behind := s.shared.Behind()
	switch {
	case behind == 0 && before != 0:
		s.Log.Info("the clock of this machine agrees with the database's again")
	case (behind - before).Abs() > time.Second:
		s.Log.Warn("the clock of this machine is wrong, or the database's; the database's is used", "behind", behind.Round(time.Second/10))
	}
	return nil
}
