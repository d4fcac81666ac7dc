package endpoint

import (
	"context"
	"errors"
	"net/http"

	"github.com/packetboat/packetboat/internal/base/clip"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// maxMessage limits the characters of a message, which may quote what was sent.
const maxMessage = 500

// envelope is the body of every error.
type envelope struct {
	StatusCode int    `json:"statusCode,omitempty"` // only of a 429
	Reason     reason `json:"error"`
}

type reason struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Details any    `json:"details,omitempty"`
}

// ItemError is the error of one item of a response, in the format of the errors of requests.
type ItemError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Details any    `json:"details,omitempty"`
}

// ErrorOf returns a fault as the error of an item.
func ErrorOf(f *fault.Error) ItemError {
	_, e := enveloped(f)
	return ItemError(e.Reason)
}

// statusOf is the table of kinds and statuses.
func statusOf(k fault.Kind) int {
	switch k {
	case fault.Invalid:
		return http.StatusBadRequest
	case fault.Unauthenticated:
		return http.StatusUnauthorized
	case fault.Forbidden:
		return http.StatusForbidden
	case fault.NotFound:
		return http.StatusNotFound
	case fault.MethodNotAllowed:
		return http.StatusMethodNotAllowed
	case fault.Conflict:
		return http.StatusConflict
	case fault.Precondition:
		return http.StatusPreconditionFailed
	case fault.TooLarge:
		return http.StatusRequestEntityTooLarge
	case fault.Unsupported:
		return http.StatusUnsupportedMediaType
	case fault.Unprocessable:
		return http.StatusUnprocessableEntity
	case fault.Limited:
		return http.StatusTooManyRequests
	case fault.Unavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

func enveloped(f *fault.Error) (int, envelope) {
	status := statusOf(f.Kind)
	e := envelope{Reason: reason{f.Code, clip.Ellipsis(f.Message, maxMessage), f.Details}}
	if details, ok := f.Details.(fault.Fields); ok {
		fields := make([]fault.Field, len(details.Fields))
		for i, one := range details.Fields {
			fields[i] = fault.Field{Path: clip.Ellipsis(one.Path, maxMessage), Message: clip.Ellipsis(one.Message, maxMessage)}
		}
		e.Reason.Details = fault.Fields{Fields: fields, Truncated: details.Truncated}
	}
	if status == http.StatusTooManyRequests {
		e.StatusCode = status
	}
	return status, e
}

// faultOf returns the fault for err. An error that is not a fault is logged once, with its chain, and
// becomes INTERNAL_ERROR, or UNAVAILABLE if it means that the database cannot be reached.
func (r *Router) faultOf(x *call, err error) *fault.Error {
	err = fault.Timely(x.ctx, err)
	f, ok := fault.As(err)
	switch {
	case ok && f.Kind != fault.Internal && f.Kind != fault.Unavailable:
		return r.describeConflict(x, f)
	case ok && f.Kind == fault.Unavailable:
		r.Log.Warn("unavailable", "err", err, "request", x.id, "operation", x.operationName())
		return f
	case errors.Is(err, context.Canceled):
		return ErrUnavailable // the caller has disconnected
	case sqldb.IsOutage(err):
		r.Log.Error("database does not answer", "err", err, "request", x.id)
		return ErrUnavailable
	}
	r.Log.Error("request failed", "err", err, "request", x.id, "operation", x.operationName())
	return ErrInternal.With(map[string]string{"request_id": x.id})
}

// The faults that any operation may return. Packages tenant and auth declare those of tenants and
// credentials.
var (
	ErrNotFound     = fault.New(fault.NotFound, "NOT_FOUND", "there is nothing here")
	ErrMethod       = fault.New(fault.MethodNotAllowed, "METHOD_NOT_ALLOWED", "the route exists, but not with this method")
	ErrUnauthorized = fault.New(fault.Unauthenticated, "UNAUTHORIZED", "a valid credential is needed")
	ErrCSRF         = fault.New(fault.Forbidden, "CSRF_FAILED", "a browser may change things only from our own origin")
	ErrRateLimited  = fault.New(fault.Limited, "RATE_LIMITED", "too many requests")
	ErrKeyForbidden = fault.New(fault.Forbidden, "API_KEY_FORBIDDEN", "this route is not open to API keys")
	ErrRole         = fault.New(fault.Forbidden, "FORBIDDEN", "your role does not allow this")
	ErrTooLarge     = fault.New(fault.TooLarge, "PAYLOAD_TOO_LARGE", "the body is too large")
	ErrMediaType    = fault.New(fault.Unsupported, "UNSUPPORTED_MEDIA_TYPE", "send JSON, as application/json")
	ErrJSON         = fault.New(fault.Invalid, "INVALID_JSON", "the body is not a JSON object")
	ErrInProgress   = fault.New(fault.Conflict, "IDEMPOTENCY_IN_PROGRESS", "a request with this Idempotency-Key is still running; try again")
	ErrInternal     = fault.New(fault.Internal, "INTERNAL_ERROR", "something went wrong on our side; tell us the request id")
	ErrUnavailable  = fault.New(fault.Unavailable, "UNAVAILABLE", "something we depend on is down; try again soon")
)
