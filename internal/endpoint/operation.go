package endpoint

import (
	"context"
	"net/http"
	"reflect"
	"strings"

	"github.com/packetboat/packetboat/internal/auth"
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
	rt.checked = len(checks) > 0
	r.describe(rt, reflect.TypeFor[In](), reflect.TypeFor[Out]())
	r.routes = append(r.routes, rt)
	r.mux.Handle(pattern, handler(func(w http.ResponseWriter, req *http.Request) {
		x := exchangeOf(req.Context())
		x.route = rt
		req, end := x.within(req, rt.timeout(r.Timeout))
		defer end()
		if err := serve(x, req, fn, checks); err != nil {
			x.fail(err)
		}
	}))
}

// handler is the type under which the mux keeps our operations: its own answers of 404 and 405 have
// another type.
type handler func(http.ResponseWriter, *http.Request)

// ServeHTTP serves the operation.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h(w, r) }

// route is one operation with its path.
type route struct {
	Op
	method, path  string
	params        []param
	body          *bodyType // of the body, or of an upload's options; nil without either
	bodySchema    *Schema   // the schema of the same
	bodyIndex     []int     // the field of In for the body
	bodyOptional  bool
	upload        []int   // the field of In for an Upload; nil without one
	answer        *Schema // nil for a response that is not JSON
	beginsSession bool    // the response sets a cookie
	checked       bool    // it has a Check
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
	if _, ok := out.(statused); ok && op.listed() && len(op.Statuses) == 0 {
		panic("endpoint: " + op.Name + " answers with several statuses and must name them")
	}
	_, headed := out.(headed)
	return &route{Op: op, method: method, path: path, beginsSession: headed && op.Public}
}

// Optional methods of a response.
type (
	statused interface{ Status() int }
	headed   interface{ Headers() http.Header }
)

// serve performs all checks of a request, runs the operation and writes its response. The caller writes the
// response for the error.
func serve[In, Out any](x *exchange, req *http.Request, fn func(context.Context, auth.Principal, *In) (Out, error), checks []Check[In]) error {
	ctx := req.Context()
	if err := x.router.admit(x, req); err != nil {
		return err
	}
	if done, err := x.replayed(req); done || err != nil {
		return err
	}
	in := new(In)
	if err := x.read(req, reflect.ValueOf(in).Elem()); err != nil {
		return err
	}
	if x.problems.Any() {
		if x.partial {
			for _, check := range checks {
				x.addFrom(check(x.principal, in))
			}
		}
		return x.route.problem(&x.problems)
	}
	if x.claim != nil {
		return once(ctx, x, func() (Out, error) { return fn(ctx, x.principal, in) })
	}
	out, err := fn(ctx, x.principal, in)
	if err != nil {
		return err
	}
	return x.write(out)
}

// write writes the response of an operation.
func (x *exchange) write(out any) error {
	h := x.w.Header()
	if out, ok := out.(headed); ok {
		for name, values := range out.Headers() {
			for _, v := range values {
				h.Add(name, v)
			}
		}
	}
	if file, ok := out.(Download); ok {
		return x.download(file)
	}
	status := x.status(out)
	if !bodied(status) {
		x.w.WriteHeader(status)
		return nil
	}
	h.Set("Content-Type", jsonType)
	x.w.WriteHeader(status)
	return writeJSON(x.w, out)
}

// status returns the status of a success.
func (x *exchange) status(out any) int {
	if s, ok := out.(statused); ok {
		return s.Status()
	}
	return x.route.Status
}
