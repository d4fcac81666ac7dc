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

	"github.com/packetboat/packetboat/internal/ratelimit"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Options are what a Router leans on.
type Options struct {
	Gate           Gate
	Limiter        *ratelimit.Limiter
	DB             *sqldb.DB // keeps what Idempotency-Key needs
	BaseURL        *url.URL  // where the world finds us
	TrustedProxies []netip.Prefix
	RatePerMinute  int           // of a key and of a session; 0 means 1000
	Timeout        time.Duration // of a JSON request; 0 means 30 s
	Now            func() time.Time
	Log            *slog.Logger
	// Took hears how long each request took; may be nil.
	Took func(operation string, status int, took time.Duration)
}

// Router is the table of operations, and serves them.
// It is filled with Handle before it serves, not after.
type Router struct {
	Options
	mux     *http.ServeMux
	schemas Registry
	routes  []*route
	cut     cutter
	answers map[string]json.RawMessage // examples, by operation
	origin  *http.CrossOriginProtection
	window  ratelimit.Rule

	keyWait time.Duration // how long a repeat waits for the first
	zips    sync.Pool     // of *gzip.Writer
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
		Options: o,
		mux:     http.NewServeMux(),
		schemas: newRegistry(),
		origin:  http.NewCrossOriginProtection(),
		window:  ratelimit.Rule{Name: "api", Max: o.RatePerMinute, Window: time.Minute},
		keyWait: keyWait,
		zips:    sync.Pool{New: func() any { return gzip.NewWriter(nil) }},
	}
	if o.BaseURL != nil {
		// A proxy may rewrite Host, so our own origin is named too.
		_ = rt.origin.AddTrustedOrigin(o.BaseURL.Scheme + "://" + o.BaseURL.Host)
	}
	rt.cut.Registry = rt.schemas
	return rt
}

// Version is the version of the API.
const Version = "1.0.0"
