// Package poll runs the loops that look for work at intervals.
package poll

import (
	"context"
	"log/slog"
	"time"
)

// Loop looks for work when it starts, then each time an interval has passed or it
// is woken. A look that found more than it took is followed by the next one at
// once. A look that failed is logged and followed by a pause.
type Loop struct {
	Look   func(ctx context.Context) (more bool, err error)
	Every  time.Duration        // from the end of one look to the next; must be set unless Pause is
	Pause  func() time.Duration // asked instead of Every after each look; may be nil
	Wake   <-chan struct{}      // ends a pause; may be nil
	Log    *slog.Logger
	Failed string // what the log says of a look that failed, such as "count segments failed"
}

// Run runs the loop until ctx ends, and returns nil. An error that only says that
// ctx ended is not logged.
func (l Loop) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-l.Wake:
		}
		more, err := l.Look(ctx)
		if err != nil && ctx.Err() == nil {
			l.Log.Error(l.Failed, "err", err)
		}
		switch {
		case more && err == nil:
			timer.Reset(0)
		case l.Pause != nil:
			timer.Reset(l.Pause())
		default:
			timer.Reset(l.Every)
		}
	}
}
