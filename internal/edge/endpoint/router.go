// Package endpoint serves declared operations over HTTP: routing, the checks before an operation in one
// order, decoding, faults to statuses, encoding, discovery and the OpenAPI document.
//
// An operation is one declaration and one function from values to values. The router does the same for
// all of them:
//
//	route (404, 405) → tenant (404) → credential, and for sessions the origin
//	(401, 403) → rate (429) → route class (403) → scope or role (403) → size,
//	media type, JSON (413, 415, 400) → fields, all at once (400) → the function
//
// Bodies are first parsed and normalized: unknown fields are dropped, null is distinguished from absent,
// and text that a database would refuse is reported. Then they are checked against the schemas of their
// types. Package huma makes the schemas and checks single values.
package endpoint

import (
	"compress/gzip"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/edge/static"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Options are the dependencies and limits of a Router.
type Options struct {
	Gate           Gate
	Limiter        *ratelimit.Limiter
	DB             *sqldb.DB   // stores idempotency keys
	Box            *secret.Box // seals responses to sessions that are stored; nil: their idempotency keys are ignored
	BaseURL        *url.URL    // the public address
	TrustedProxies []netip.Prefix
	RatePerMinute  int           // of a key and of a session; 0 means 1000
	Timeout        time.Duration // of a JSON request; 0 means 30 s
	Now            func() time.Time
	Log            *slog.Logger
	// Took is called with the duration of each request; may be nil.
	Took func(operation string, status int, took time.Duration)
}

// Router is the table of operations, and serves them. All operations must be added with Handle before it
// serves.
type Router struct {
	Options
	mux              *http.ServeMux
	schemas          Registry
	routes           []*route
	webhooks         []Webhook
	published        []func() (*static.Text, error)
	documents        func() (documents, error)
	shallow          shallowSchemas
	responseExamples map[string]json.RawMessage // examples of responses, by operation
	tags             map[string]string          // descriptions of tags in the documents
	origin           *http.CrossOriginProtection
	rateLimit        ratelimit.Rule

	keyWait     time.Duration // how long a repeat waits for the first
	gzipWriters sync.Pool     // of *gzip.Writer
}

// New returns a router without operations.
func New(o Options) *Router {
	if o.RatePerMinute == 0 {
		o.RatePerMinute = 1000
	}
	if o.Timeout == 0 {
		o.Timeout = jsonTimeout
	}
	rt := &Router{
		Options:     o,
		mux:         http.NewServeMux(),
		schemas:     newRegistry(),
		origin:      http.NewCrossOriginProtection(),
		rateLimit:   ratelimit.Rule{Name: "api", Max: o.RatePerMinute, Window: time.Minute},
		keyWait:     keyWait,
		gzipWriters: sync.Pool{New: func() any { return gzip.NewWriter(nil) }},
	}
	if o.BaseURL != nil {
		// A proxy may rewrite Host, so our own origin is named too.
		_ = rt.origin.AddTrustedOrigin(o.BaseURL.Scheme + "://" + o.BaseURL.Host)
	}
	rt.shallow.Registry = rt.schemas
	rt.documents = sync.OnceValues(rt.writeDocuments)
	return rt
}

// Version is the version of the API.
const Version = "1.0.0"
