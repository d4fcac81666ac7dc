package endpoint

import (
	"context"
	"errors"
	"net/http"
	"os"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
)

// withTimeout sets the time limit d of a request; zero means none. After it the context ends, which cancels
// statements in the database, and reading the body fails.
func (x *call) withTimeout(r *http.Request, d time.Duration) (*http.Request, context.CancelFunc) {
	if d == 0 {
		x.ctx = r.Context()
		x.setReadDeadline(time.Time{})
		return r, func() {}
	}
	ctx, end := fault.Within(r.Context(), d)
	x.ctx = ctx
	if r.Body == nil || r.Body == http.NoBody {
		x.setReadDeadline(time.Time{})
	} else if by, ok := ctx.Deadline(); ok {
		x.setReadDeadline(by)
	}
	return r.WithContext(ctx), end
}

// setReadDeadline sets the deadline of reading from the caller; zero means none. It must be removed when the
// body is complete: the server reads on to detect that the caller disconnects, and would report the
// deadline as that.
func (x *call) setReadDeadline(t time.Time) {
	_ = http.NewResponseController(x.w).SetReadDeadline(t) // a recorder in a test has none
}

// clearReadDeadline is called when the body is complete.
func (x *call) clearReadDeadline() { x.setReadDeadline(time.Time{}) }

// isReadTimeout reports whether err means that the body did not arrive in time.
func isReadTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// errTooSlow is the fault for that.
var errTooSlow = fault.ErrDeadline.Sayf("the body did not arrive in time")
