package endpoint

import (
	"context"
	"errors"
	"mime/multipart"
	"net/http"
	"net/netip"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// call is a request and its response on their way through the router.
type call struct {
	ctx       context.Context // of the request; ends at its deadline
	router    *Router
	route     *route
	w         *response
	id        string // request id
	ip        netip.Addr
	principal auth.Principal
	parts     *multipart.Reader  // of a form, read by the operation
	fileName  string             // of the file in the form
	problems  findings           // of the parameters and the body
	partial   bool               // the body was read without the fields in problems
	claim     *claim             // the reservation of an idempotency key
	condition revision.Condition // of If-Match, on the revision of the record
	etag      string             // of the response; empty: none
}

type callKey struct{}

func callOf(ctx context.Context) *call {
	x, _ := ctx.Value(callKey{}).(*call)
	return x
}

// RequestID returns the id of the request that ctx belongs to, or "".
func RequestID(ctx context.Context) string {
	if x := callOf(ctx); x != nil {
		return x.id
	}
	return ""
}

// Actor returns the actor of the request that ctx belongs to; the system, if there is none.
func Actor(ctx context.Context) auth.Actor {
	if x := callOf(ctx); x != nil {
		return x.principal.Actor()
	}
	return auth.System
}

// refuse writes the response for an error before the operation.
func (x *call) refuse(err error) {
	f := x.router.faultOf(x, err)
	status, body := enveloped(f)
	x.setRetryAfter(f)
	x.w.writeJSON(status, body)
}

// fail writes the response for an error, or closes the connection if part of another response was sent.
func (x *call) fail(err error) {
	if x.w.committed() {
		if !errors.Is(x.ctx.Err(), context.Canceled) {
			x.router.Log.Error("request failed after its response began", "err", err, "request", x.id, "operation", x.operationName())
		}
		panic(http.ErrAbortHandler)
	}
	x.w.reset()
	x.refuse(err)
}
