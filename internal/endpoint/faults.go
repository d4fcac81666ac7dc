package endpoint

import "github.com/packetboat/packetboat/internal/fault"

// The faults that any operation may answer with. What is known
// of a tenant or a credential is declared where it is kept.
var (
	ErrNotFound     = fault.New(fault.NotFound, "NOT_FOUND", "there is nothing here")
	ErrMethod       = fault.New(fault.MethodNotAllowed, "METHOD_NOT_ALLOWED", "the route exists, but not with this method")
	ErrUnauthorized = fault.New(fault.Unauthenticated, "UNAUTHORIZED", "a valid credential is needed")
	ErrCSRF         = fault.New(fault.Forbidden, "CSRF_FAILED", "a browser may change things only from our own origin")
	ErrRateLimited  = fault.New(fault.Limited, "RATE_LIMITED", "too many requests")
	ErrKeyForbidden = fault.New(fault.Forbidden, "API_KEY_FORBIDDEN", "this route is not open to API keys")
	ErrScope        = fault.New(fault.Forbidden, "INSUFFICIENT_SCOPE", "the API key lacks the scope this needs")
	ErrRole         = fault.New(fault.Forbidden, "FORBIDDEN", "your role does not allow this")
	ErrTooLarge     = fault.New(fault.TooLarge, "PAYLOAD_TOO_LARGE", "the body is too large")
	ErrMediaType    = fault.New(fault.Unsupported, "UNSUPPORTED_MEDIA_TYPE", "send JSON, as application/json")
	ErrJSON         = fault.New(fault.Invalid, "INVALID_JSON", "the body is not a JSON object")
	ErrInProgress   = fault.New(fault.Conflict, "IDEMPOTENCY_IN_PROGRESS", "a request with this Idempotency-Key is still running; try again")
	ErrInternal     = fault.New(fault.Internal, "INTERNAL_ERROR", "something went wrong on our side; tell us the request id")
	ErrUnavailable  = fault.New(fault.Unavailable, "UNAVAILABLE", "something we depend on is down; try again soon")
)
