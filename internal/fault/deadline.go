package fault

import (
	"context"
	"time"
)

// ErrDeadline reports work that was ended because it took longer than a request
// may take. It has the code of every other outage; its details tell it apart.
var ErrDeadline = New(Unavailable, "UNAVAILABLE", "the request took longer than it may; try again, or ask for less").
	With(map[string]string{"reason": "deadline"})

// Within returns a context that ends after d with ErrDeadline as its cause.
func Within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, ErrDeadline)
}

// Late reports whether ctx has ended because its time was up.
func Late(ctx context.Context) bool { return context.Cause(ctx) == error(ErrDeadline) }

// Timely returns err, or ErrDeadline because of err when the time of ctx is up
// and err is no fault itself: a driver's error may say anything then.
func Timely(ctx context.Context, err error) error {
	if err == nil || !Late(ctx) {
		return err
	}
	if f, ok := As(err); ok && f.Kind != Internal {
		return err
	}
	return ErrDeadline.Because(err)
}
