package endpoint

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/netip"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/packetboat/packetboat/internal/auth"
)

// exchange is one request and its answer on their way through the router.
// It stands in for huma's context, so that huma's answers become ours.
type exchange struct {
	humaContext                 // from the moment huma takes over
	ctx         context.Context // of the request; ends when its time is up
	router      *Router
	route       *route
	w           *response
	id          string // request id
	ip          netip.Addr
	principal   auth.Principal
	body        []byte            // as it was cleaned; nil while unread
	parts       *multipart.Reader // of a form, which the operation reads
	problems    findings          // in what was read
	partial     bool              // whether body is what is left without the fields in problems
	code        int               // the status that stands, whatever huma sets
	claim       *claim            // on an idempotency key
}

// humaContext is huma's context under a name that leaves its method Context free.
type humaContext = huma.Context

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// RequestID returns the id of the request that ctx belongs to, or "".
func RequestID(ctx context.Context) string {
	if x := exchangeOf(ctx); x != nil {
		return x.id
	}
	return ""
}

// Actor returns who sent the request that ctx belongs to; the system, when
// there is none.
func Actor(ctx context.Context) auth.Actor {
	if x := exchangeOf(ctx); x != nil {
		return x.principal.Actor()
	}
	return auth.System
}

// Unwrap returns huma's own context.
func (x *exchange) Unwrap() huma.Context { return x.humaContext }

// SetStatus writes the status that the router settled on, if it did.
func (x *exchange) SetStatus(code int) {
	if x.code != 0 {
		code = x.code
	}
	x.humaContext.SetStatus(code)
}

// Header returns a header of the request, but for what huma would negotiate
// over: the body that it sees is JSON, and so is the answer.
func (x *exchange) Header(name string) string {
	switch {
	case name == "Content-Type" && x.body != nil:
		return jsonType
	case name == "Accept":
		return ""
	}
	return x.humaContext.Header(name)
}

// SetHeader sets a header of the answer. Our refusals are plain JSON.
func (x *exchange) SetHeader(name, value string) {
	if name == "Content-Type" && value == problemType {
		value = jsonType
	}
	x.humaContext.SetHeader(name, value)
}

// BodyReader reads the body as it was cleaned.
func (x *exchange) BodyReader() io.Reader {
	if x.body != nil {
		return bytes.NewReader(x.body)
	}
	return x.humaContext.BodyReader()
}

// SetReadDeadline does nothing: the body is here already, and how long a
// request may take is the server's matter.
func (x *exchange) SetReadDeadline(time.Time) error { return nil }

// run calls an operation, unless its request has problems.
func run[Out any](ctx context.Context, x *exchange, call func(context.Context) (Out, error)) (Out, error) {
	var out Out
	if x.problems.Any() {
		return out, x.refusal(x.route.problem(&x.problems))
	}
	out, err := remembered(ctx, x, func() (Out, error) { return call(ctx) })
	if known, ok := errors.AsType[*replay](err); ok {
		return out, known
	}
	if err != nil {
		return out, x.refusal(err)
	}
	if h, ok := any(out).(interface{ Headers() http.Header }); ok {
		for name, values := range h.Headers() {
			for _, v := range values {
				x.w.Header().Add(name, v)
			}
		}
	}
	return out, nil
}

// status returns the status of a success.
func (x *exchange) status(out any) int {
	if s, ok := out.(interface{ Status() int }); ok {
		return s.Status()
	}
	return x.route.Status
}

// refusal is an error as huma passes it on: with status and body settled.
type refusal struct {
	status int
	envelope
}

// Error says what the caller is told.
func (r *refusal) Error() string { return r.Reason.Code + ": " + r.Reason.Message }

// GetStatus tells huma the status.
func (r *refusal) GetStatus() int { return r.status }

func (x *exchange) refusal(err error) *refusal {
	f := x.router.faultOf(x, err)
	status, body := enveloped(f)
	x.headersFor(f)
	return &refusal{status, body}
}

// refuse writes the answer to a request that goes no further.
func (x *exchange) refuse(err error) {
	r := x.refusal(err)
	x.w.writeJSON(r.status, r.envelope)
}
