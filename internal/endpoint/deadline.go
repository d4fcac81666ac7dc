package endpoint

import (
	"context"
	"errors"
	"net/http"
	"os"
	"time"

	"github.com/packetboat/packetboat/internal/fault"
)

// within gives a request the time limit d; zero means none. When it is over, the context ends, and with
// it the work in the database, and reading the body fails.
func (x *exchange) within(r *http.Request, d time.Duration) (*http.Request, context.CancelFunc) {
	if d == 0 {
		x.ctx = r.Context()
		x.arriveBy(time.Time{})
		return r, func() {}
	}
	ctx, end := fault.Within(r.Context(), d)
	x.ctx = ctx
	if r.Body == nil || r.Body == http.NoBody {
		x.arriveBy(time.Time{})
	} else if by, ok := ctx.Deadline(); ok {
		x.arriveBy(by)
	}
	return r.WithContext(ctx), end
}

// arriveBy sets the deadline of reading from the caller; zero means none. It must be removed when the
// body is complete: the server reads on to detect that the caller disconnects, and would report the
// deadline as that.
func (x *exchange) arriveBy(t time.Time) {
	_ = http.NewResponseController(x.w).SetReadDeadline(t) // a recorder in a test has none
}

// arrived is called when the body is complete.
func (x *exchange) arrived() { x.arriveBy(time.Time{}) }

// tooSlow reports whether err means that the body did not arrive in time.
func tooSlow(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// errTooSlow is the fault for that.
var errTooSlow = fault.ErrDeadline.Sayf("the body did not arrive in time")
