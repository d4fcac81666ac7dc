package endpoint

import (
	"context"
	"net/http"
	"reflect"
	"strings"

	"github.com/packetboat/packetboat/internal/account/auth"
)

// Handle adds an operation to the table: its route, such as
// "POST /t/{tenant}/api/suppressions", its declaration, and its function.
//
// In is a struct with fields tagged path, query or header, and a field Body for a JSON body, or a field
// Upload for a form with a file. Out is the body of the response. It may have the methods Status() int, if
// success has more than one status, and Headers() http.Header.
//
// When fn runs, all checks described in the package comment have passed. A Check adds to the problems of a
// body whose fields break the rules of their types.
func Handle[In, Out any](r *Router, pattern string, op Op, fn func(ctx context.Context, p auth.Principal, in *In) (Out, error), checks ...Check[In]) {
	rt := newRoute(pattern, op, *new(Out))
	rt.hasCheck = len(checks) > 0
	r.describe(rt, reflect.TypeFor[In](), reflect.TypeFor[Out]())
	r.routes = append(r.routes, rt)
	r.mux.Handle(pattern, operationHandler(func(w http.ResponseWriter, req *http.Request) {
		x := callOf(req.Context())
		x.route = rt
		req, end := x.withTimeout(req, rt.timeout(r.Timeout))
		defer end()
		if err := serveOperation(x, req, fn, checks); err != nil {
			x.fail(err)
		}
	}))
}

// operationHandler is the type of our handlers in the mux. The mux's own handlers, for 404 and 405, have
// other types.
type operationHandler func(http.ResponseWriter, *http.Request)

// ServeHTTP serves the operation.
func (h operationHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h(w, r) }

// route is one operation with its path.
type route struct {
	Op
	method, path   string
	params         []param
	body           *bodyType // of the body, or of an upload's options; nil without either
	bodySchema     *Schema   // the schema of the same
	bodyIndex      []int     // the field of In for the body
	bodyOptional   bool
	upload         []int   // the field of In for an Upload; nil without one
	mayNameFile    bool    // whether the options of the upload may name its file
	responseSchema *Schema // nil for a response that is not JSON
	eventSchema    *Schema // of the data of the events of a stream
	beginsSession  bool    // the response sets a cookie
	hasCheck       bool    // it has a Check
}

// newRoute returns the route of an operation whose response is an out.
func newRoute(pattern string, op Op, out any) *route {
	method, path, ok := strings.Cut(pattern, " ")
	if !ok {
		panic("endpoint: a route is a method, a space and a path: " + pattern)
	}
	if op.MaxBody == 0 && op.Installation { // callers need no credential
		op.MaxBody = 16 << 10
	}
	if op.Status == 0 {
		op.Status = http.StatusOK
		if _, none := out.(None); none {
			op.Status = http.StatusNoContent
		}
	}
	if _, ok := out.(hasStatus); ok && op.listed() && len(op.Statuses) == 0 {
		panic("endpoint: " + op.Name + " answers with several statuses and must name them")
	}
	_, file := out.(Download)
	_, events := out.(EventStream)
	if (file || events) != (len(op.Produces) > 0) {
		panic("endpoint: " + op.Name + " must name the media types of its response if it is not JSON, and only then")
	}
	if events != (op.Event != nil) {
		panic("endpoint: " + op.Name + " must describe the data of its events if it is a stream of them, and only then")
	}
	_, headed := out.(hasHeaders)
	return &route{Op: op, method: method, path: path, beginsSession: headed && op.Public}
}

// Optional methods of a response.
type (
	hasStatus  interface{ Status() int }
	hasHeaders interface{ Headers() http.Header }
)

// serveOperation performs all checks of a request, runs the operation and writes its response. The caller
// writes the response for the error.
func serveOperation[In, Out any](x *call, req *http.Request, fn func(context.Context, auth.Principal, *In) (Out, error), checks []Check[In]) error {
	ctx := req.Context()
	if err := x.router.admit(x, req); err != nil {
		return err
	}
	if done, err := x.replayIfStored(req); done || err != nil {
		return err
	}
	in := new(In)
	if err := x.readInput(req, reflect.ValueOf(in).Elem()); err != nil {
		return err
	}
	if x.problems.Any() {
		if x.partial {
			for _, check := range checks {
				x.addProblemsOf(check(x.principal, in))
			}
		}
		return x.route.problemFault(&x.problems)
	}
	ctx = x.writeContext(ctx)
	if x.claim != nil {
		return runOnce(ctx, x, func() (Out, error) { return fn(ctx, x.principal, in) })
	}
	out, err := fn(ctx, x.principal, in)
	if err != nil {
		return err
	}
	return x.writeResult(out)
}

// writeResult writes the response of an operation.
func (x *call) writeResult(out any) error {
	h := x.w.Header()
	x.setETag()
	if out, ok := out.(hasHeaders); ok {
		for name, values := range out.Headers() {
			for _, v := range values {
				h.Add(name, v)
			}
		}
	}
	if file, ok := out.(Download); ok {
		return x.writeDownload(file)
	}
	if events, ok := out.(EventStream); ok {
		x.writeEvents(events)
		return nil
	}
	status := x.successStatus(out)
	if !allowsBody(status) {
		x.w.WriteHeader(status)
		return nil
	}
	h.Set("Content-Type", jsonType)
	x.w.WriteHeader(status)
	return writeJSON(x.w, out)
}

// successStatus returns the status of a success.
func (x *call) successStatus(out any) int {
	if s, ok := out.(hasStatus); ok {
		return s.Status()
	}
	return x.route.Status
}
