package fault

import (
	"context"
	"time"
)

// ErrDeadline reports work that was canceled because it exceeded the time limit of a request. It
// has the code of other outages; its details distinguish it.
var ErrDeadline = New(Unavailable, "UNAVAILABLE", "the request took longer than it may; try again, or ask for less").
	With(map[string]string{"reason": "deadline"})

// Within returns a context that ends after d with ErrDeadline as its cause.
func Within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, ErrDeadline)
}

// Late reports whether the deadline of Within has passed.
func Late(ctx context.Context) bool { return context.Cause(ctx) == error(ErrDeadline) }

// Timely returns err, or ErrDeadline because of err if the deadline of ctx has passed and err is no
// fault: a driver's error may be of any kind then.
func Timely(ctx context.Context, err error) error {
	if err == nil || !Late(ctx) {
		return err
	}
	if f, ok := As(err); ok && f.Kind != Internal {
		return err
	}
	return ErrDeadline.Because(err)
}
