package endpoint

import (
	"context"
	"errors"
	"net/http"
	"os"
	"time"

	"github.com/packetboat/packetboat/internal/fault"
)

// within gives a request d for all of it; zero is as long as it takes. When the
// time is up its context ends, which ends the work in the database, and the
// server waits no longer for what has not arrived.
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

// arriveBy sets when reading from the caller fails; zero is never. A deadline
// must not outlive the body: the server, which reads on to notice that a caller
// leaves, would take its passing for that.
func (x *exchange) arriveBy(t time.Time) {
	_ = http.NewResponseController(x.w).SetReadDeadline(t) // a recorder in a test has none
}

// arrived is called when the body is complete.
func (x *exchange) arrived() { x.arriveBy(time.Time{}) }

// tooSlow reports whether err says that the body did not arrive in time.
func tooSlow(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// errTooSlow is its fault.
var errTooSlow = fault.ErrDeadline.Sayf("the body did not arrive in time")
