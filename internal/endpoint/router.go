package endpoint

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/limit"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Options are what a Router leans on.
type Options struct {
	Gate           Gate
	Limiter        *limit.Limiter
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
	api     huma.API
	routes  []*route
	cut     cutter
	answers map[string]json.RawMessage // examples, by operation
	origin  *http.CrossOriginProtection
	window  limit.Rule

	keyWait time.Duration // how long a repeat waits for the first
	zips    sync.Pool     // of *gzip.Writer
}

// route is one operation at its place.
type route struct {
	Op
	method, path  string
	huma          *huma.Operation
	in            reflect.Type
	query         []string  // parameters it knows
	body          *bodyType // nil without a body
	bodySchema    *huma.Schema
	bodyOptional  bool
	upload        []int     // the field of in that is an Upload; nil without one
	optionsShape  *bodyType // of an Upload
	beginsSession bool      // its answer sets a cookie
	checked       bool      // it has a Check
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
		origin:  http.NewCrossOriginProtection(),
		window:  limit.Rule{Name: "api", Max: o.RatePerMinute, Window: time.Minute},
		keyWait: keyWait,
		zips:    sync.Pool{New: func() any { return gzip.NewWriter(nil) }},
	}
	if o.BaseURL != nil {
		// A proxy may rewrite Host, so our own origin is named too.
		_ = rt.origin.AddTrustedOrigin(o.BaseURL.Scheme + "://" + o.BaseURL.Host)
	}
	config := huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI:    "3.1.0",
			Info:       &huma.Info{Title: "Email Sending Service API", Version: Version},
			Components: &huma.Components{Schemas: huma.NewMapRegistry("#/components/schemas/", schemaName)},
		},
		Formats:       map[string]huma.Format{jsonType: jsonFormat, problemType: jsonFormat},
		DefaultFormat: jsonType,
		Transformers:  []huma.Transformer{rt.explain},
	}
	config.AllowAdditionalPropertiesByDefault = true
	rt.api = huma.NewAPI(config, adapter{rt})
	rt.cut.Registry = rt.schemas()
	return rt
}

// Version is the version of the API.
const Version = "1.0.0"

// Handle adds an operation to the table: its route, such as
// "POST /t/{tenant}/api/suppressions", its declaration, and its function.
//
// In is a struct with fields tagged path, query or header, and a field Body for
// a JSON body, or a field Upload for a form with a file. Out is the body of the answer. Out may have methods
// Status() int, when success has more than one status, and Headers() http.Header.
//
// By the time fn runs every check up to the fields' own is done (package comment).
// A Check adds to the problems of a body whose fields break the rules of their types.
func Handle[In, Out any](r *Router, pattern string, op Op, fn func(ctx context.Context, p auth.Principal, in *In) (Out, error), checks ...Check[In]) {
	method, path, ok := strings.Cut(pattern, " ")
	if !ok {
		panic("endpoint: a route is a method, a space and a path: " + pattern)
	}
	if op.MaxBody == 0 && op.Installation { // strangers may send these
		op.MaxBody = 16 << 10
	}
	none := reflect.TypeFor[Out]() == reflect.TypeFor[None]()
	if op.Status == 0 {
		op.Status = http.StatusOK
		if none {
			op.Status = http.StatusNoContent
		}
	}
	if _, ok := any(*new(Out)).(interface{ Status() int }); ok && op.listed() && len(op.Statuses) == 0 {
		panic("endpoint: " + op.Name + " answers with several statuses and must name them")
	}
	rt := &route{Op: op, method: method, path: path, in: reflect.TypeFor[In](), checked: len(checks) > 0}
	if _, ok := any(*new(Out)).(interface{ Headers() http.Header }); ok {
		rt.beginsSession = op.Public
	}
	if name := overlooked(rt.in); name != "" {
		panic("endpoint: " + op.Name + " embeds " + name + ", whose parameters would not be read: export it")
	}
	if f, ok := rt.in.FieldByName("Body"); ok {
		rt.body = bodyTypeOf(f.Type)
	}
	r.routes = append(r.routes, rt)
	h := huma.Operation{
		OperationID:      op.Name,
		Method:           method,
		Path:             path,
		Summary:          op.Summary,
		Description:      op.Description,
		DefaultStatus:    op.Status,
		MaxBodyBytes:     -1, // the body was read and measured before
		BodyReadTimeout:  -1,
		SkipValidateBody: true, // likewise
		Hidden:           true, // the document is written from routes
		Metadata:         map[string]any{"route": rt},
	}
	if op.Tag != "" {
		h.Tags = []string{op.Tag}
	}
	operate := func(ctx context.Context, in *In) (Out, error) {
		x := exchangeOf(ctx)
		rt.lend(x, in)
		if x.partial {
			for _, check := range checks {
				x.addFrom(check(x.principal, in))
			}
		}
		return run(ctx, x, func(ctx context.Context) (Out, error) { return fn(ctx, x.principal, in) })
	}
	if none {
		huma.Register(r.api, h, func(ctx context.Context, in *In) (*struct{}, error) {
			_, err := operate(ctx, in)
			return nil, err
		})
		return
	}
	huma.Register(r.api, h, func(ctx context.Context, in *In) (*answer[Out], error) {
		out, err := operate(ctx, in)
		if err != nil {
			return nil, err
		}
		return &answer[Out]{exchangeOf(ctx).status(out), out}, nil
	})
}

// overlooked returns the name of an embedded struct of In that is not exported,
// at any depth, or "": huma passes over it and its parameters.
func overlooked(in reflect.Type) string {
	if in.Kind() == reflect.Pointer {
		in = in.Elem()
	}
	if in.Kind() != reflect.Struct {
		return ""
	}
	for f := range in.Fields() {
		if !f.Anonymous {
			continue
		}
		if !f.IsExported() {
			return f.Name
		}
		if name := overlooked(f.Type); name != "" {
			return name
		}
	}
	return ""
}

// answer is what huma writes.
type answer[Out any] struct {
	Status int
	Body   Out
}

// adapter lets huma register its operations on our mux, behind our checks.
type adapter struct{ rt *Router }

// Handle puts the checks of an operation in front of huma's part of it.
func (a adapter) Handle(h *huma.Operation, serve func(huma.Context)) {
	rt := h.Metadata["route"].(*route)
	rt.huma = h
	a.rt.describe(rt, rt.in)
	a.rt.mux.Handle(rt.method+" "+rt.path, handler(func(w http.ResponseWriter, r *http.Request) {
		x := exchangeOf(r.Context())
		x.route = rt
		r, end := x.within(r, rt.timeout(a.rt.Timeout))
		defer end()
		if err := a.rt.admit(x, r); err != nil {
			x.refuse(err)
			return
		}
		if done, err := x.replayed(r); err != nil {
			x.refuse(err)
			return
		} else if done {
			return
		}
		if err := x.read(r); err != nil {
			x.refuse(err)
			return
		}
		x.humaContext = humago.NewContext(h, r, w)
		serve(x)
	}))
}

// handler is how the mux keeps our operations, so that they can be told from
// the answers it makes up itself.
type handler func(http.ResponseWriter, *http.Request)

// ServeHTTP serves the operation.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h(w, r) }

// ServeHTTP is part of huma's idea of an adapter.
func (a adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.rt.ServeHTTP(w, r) }
