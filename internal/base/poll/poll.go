// Package poll runs loops that check for work at intervals.
package poll

import (
	"context"
	"log/slog"
	"time"
)

// Loop calls Poll when it starts, then each time an interval has passed or it is woken. If Poll
// reports that there is more, it is called again at once, or with Rest after a rest. An error is logged
// and followed by a pause.
type Loop struct {
	Poll   func(ctx context.Context) (more bool, err error)
	Every  time.Duration        // from the end of one call of Poll to the next; required unless Pause is set
	Pause  func() time.Duration // called after each Poll, in place of Every; may be nil
	Wake   <-chan struct{}      // ends a pause; may be nil
	Rest   bool                 // if there is more, rest as long as Poll took: others have half of the time
	Log    *slog.Logger
	Failed string // log message for errors of Poll, such as "count segments failed"
}

// Run runs the loop until ctx ends, and returns nil. An error after the end of ctx is not logged.
func (l Loop) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	wake := l.Wake
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-wake:
		}
		wake = l.Wake
		begun := time.Now()
		more, err := l.Poll(ctx)
		if err != nil && ctx.Err() == nil {
			l.Log.Error(l.Failed, "err", err)
		}
		switch {
		case more && err == nil && l.Rest:
			timer.Reset(time.Since(begun))
			wake = nil // what has come up is looked at after the rest
		case more && err == nil:
			timer.Reset(0)
		case l.Pause != nil:
			timer.Reset(l.Pause())
		default:
			timer.Reset(l.Every)
		}
	}
}
