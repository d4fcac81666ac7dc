package endpoint

import (
	"net/http"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// ScopeMode is how the scopes of an operation are required of a key.
type ScopeMode string

// The scope modes, as discovery names them.
const (
	All    ScopeMode = "all"     // every scope listed; the zero ScopeMode means this
	Any    ScopeMode = "any"     // at least one
	ByType ScopeMode = "by_type" // at least one; the handler requires that of the record
	ByJob  ScopeMode = "by_job"  // the handler requires the scope that the job was created with
	Free   ScopeMode = "none"    // any valid key
)

// Op is the declaration of one operation. Routing, checks, discovery and documents are derived from it.
type Op struct {
	Name        string // operation id, such as createBroadcast; unique
	Summary     string // one sentence
	Description string // further sentences
	Title       string // two or three words for lists; zero: from Name
	Tag         string // the resource it belongs to
	Example     Example

	Scope  auth.Scope   // the required scope of a key; or
	Scopes []auth.Scope // several, required according to
	Mode   ScopeMode

	Session bool      // sessions only: keys get API_KEY_FORBIDDEN, and it is not listed
	Role    auth.Role // the minimum role of a user; zero: viewer to read, editor to write

	Public       bool // needs no credential; not listed
	Installation bool // the path has no tenant; not listed

	Status   int            // of success; zero: 200, or 204 if the response is None
	Statuses []int          // further statuses of success, if Out has a method Status
	Faults   []*fault.Error // that it may return besides the general faults
	MaxBody  int64          // bytes; zero: 1 MB, 16 KB for operations of the installation
	Produces []string       // media types of a response that is not JSON
	Event    any            // the zero value of the data of the events of an EventStream
	Timeout  time.Duration  // of the whole request; zero: see timeout; negative: none
	Strict   bool           // unknown body fields are errors

	// FieldFaults maps a body path such as "content" to the fault for any problem at or below it,
	// including a wrong type. With several problems, the fault of the first is returned instead of
	// INVALID_INPUT.
	FieldFaults map[string]*fault.Error

	// Revisions is the table of the record that the response shows, whose revision is the ETag (SetRevision).
	// If the operation is Conditional, it writes this record, and checks If-Match (package revision).
	Revisions   revision.Table
	Conditional bool

	Idempotent bool   // supports Idempotency-Key; see Remember
	OncePerKey bool   // supports Idempotency-Key of sessions; see Once
	Pagination string // "none" (the zero value too), "cursor" or "offset"

	DeprecatedAt time.Time // when its deprecation was announced; zero: not deprecated
	Successor    string    // the operation that replaces it
}

// Megabyte is the unit of body limits.
const Megabyte = 1 << 20

func (op *Op) scopes() []auth.Scope {
	if op.Scope != "" {
		return append([]auth.Scope{op.Scope}, op.Scopes...)
	}
	return op.Scopes
}

func (op *Op) mode() ScopeMode {
	if op.Mode == "" {
		return All
	}
	return op.Mode
}

func (op *Op) role(method string) auth.Role {
	switch {
	case op.Role != "":
		return op.Role
	case method == http.MethodGet:
		return auth.Viewer
	}
	return auth.Editor
}

func (op *Op) maxBody() int64 {
	if op.MaxBody == 0 {
		return Megabyte
	}
	return op.MaxBody
}

// Uploads and downloads may take longer than other requests.
const (
	jsonTimeout = 30 * time.Second
	fileTimeout = 5 * time.Minute
)

// timeout returns how long a request may take, including the arrival of its body; zero means no limit.
func (rt *route) timeout(usual time.Duration) time.Duration {
	switch {
	case rt.Timeout != 0:
		return max(rt.Timeout, 0)
	case rt.upload != nil, len(rt.Produces) > 0:
		return fileTimeout
	}
	return usual
}

func (op *Op) pagination() string {
	if op.Pagination == "" {
		return "none"
	}
	return op.Pagination
}

// listed reports whether keys may call the operation, and so whether discovery
// and the document show it.
func (op *Op) listed() bool { return !op.Session && !op.Public && !op.Installation }
