package endpoint

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/packetboat/packetboat/internal/fault"
)

// envelope is the body of every refusal.
type envelope struct {
	StatusCode int    `json:"statusCode,omitempty"` // of a 429, and of nothing else
	Reason     reason `json:"error"`
}

type reason struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Details any    `json:"details,omitempty"`
}

// statusOf is the one table of kinds and statuses.
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
	e := envelope{Reason: reason{f.Code, clipped(f.Message), f.Details}}
	if details, ok := f.Details.(fault.Fields); ok {
		fields := make([]fault.Field, len(details.Fields))
		for i, one := range details.Fields {
			fields[i] = fault.Field{Path: clipped(one.Path), Message: clipped(one.Message)}
		}
		e.Reason.Details = fault.Fields{Fields: fields, Truncated: details.Truncated}
	}
	if status == http.StatusTooManyRequests {
		e.StatusCode = status
	}
	return status, e
}

// clipped returns s, cut to 500 bytes: messages may quote what was sent, which can be of any length.
func clipped(s string) string {
	const most = 500
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// faultOf returns the fault that answers err. An error that is no fault is logged
// once, with its chain, and becomes INTERNAL_ERROR, or UNAVAILABLE when it says
// that the database cannot be reached.
func (r *Router) faultOf(x *exchange, err error) *fault.Error {
	err = fault.Timely(x.ctx, err)
	f, ok := fault.As(err)
	switch {
	case ok && f.Kind != fault.Internal && f.Kind != fault.Unavailable:
		return f
	case ok && f.Kind == fault.Unavailable:
		r.Log.Warn("unavailable", "err", err, "request", x.id, "operation", x.operation())
		return f
	case errors.Is(err, context.Canceled):
		return ErrUnavailable // the caller has gone
	case outage(err):
		r.Log.Error("database does not answer", "err", err, "request", x.id)
		return ErrUnavailable
	}
	r.Log.Error("request failed", "err", err, "request", x.id, "operation", x.operation())
	return ErrInternal.With(map[string]string{"request_id": x.id})
}

// outage reports whether err says that the database cannot be reached, rather
// than that it refused.
func outage(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		// 08: connection; 53: out of resources; 57P: shutting down or starting.
		return strings.HasPrefix(pg.Code, "08") || strings.HasPrefix(pg.Code, "53") || strings.HasPrefix(pg.Code, "57P")
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.DeadlineExceeded) || pgconn.SafeToRetry(err)
}
