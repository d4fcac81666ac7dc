package endpoint

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/netip"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ServeHTTP serves every request: by the operation of its route, or with an error if there is none.
func (r *Router) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	res := newResponse(w, req, &r.gzipWriters)
	x := &call{router: r, w: res, id: requestID(req), ip: ClientIP(req, r.TrustedProxies)}
	x.ctx = context.WithValue(req.Context(), callKey{}, x)
	if strings.HasPrefix(req.URL.Path, "/t/") { // operations of the installation must not wait for a tenant's
		x.ctx = sqldb.ForCaller(x.ctx)
	}
	req = req.WithContext(x.ctx)
	h := res.Header()
	h.Set("X-Request-Id", x.id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	begun := r.Now()
	defer func() {
		if cause := recover(); cause != nil {
			r.failAfterPanic(x, cause)
		}
		res.finish()
		took := r.Now().Sub(begun)
		r.Log.Debug("request", "method", req.Method, "operation", x.operationName(), "status", res.status, "request", x.id, "took", took)
		if r.Took != nil {
			r.Took(x.operationName(), res.status, took)
		}
	}()
	found := r.findHandler(x, req)
	if found == nil {
		return
	}
	found.ServeHTTP(res, req)
}

// findHandler returns the handler for req, or writes an error: 404, or 405 with the methods of the route.
func (r *Router) findHandler(x *call, req *http.Request) http.Handler {
	if !sanePath(req.URL.Path) || path.Clean(req.URL.EscapedPath()) != req.URL.EscapedPath() {
		x.refuseUnrouted(req, ErrNotFound)
		return nil
	}
	found, _ := r.mux.Handler(req)
	if _, ours := found.(operationHandler); ours {
		return r.mux // it also sets the path values
	}
	said := probe{http.Header{}, 0}
	found.ServeHTTP(&said, req)
	if said.status == http.StatusMethodNotAllowed {
		x.w.Header().Set("Allow", said.header.Get("Allow"))
		x.refuseUnrouted(req, ErrMethod.Sayf("the route exists, but not with %s", shortMethod(req.Method)))
		return nil
	}
	x.refuseUnrouted(req, ErrNotFound)
	return nil
}

// refuseUnrouted answers a request that has no route. A caller with a valid credential sees the limit of
// that. Each is counted as for other routes, an invalid one too: the limit that is shown tells them apart.
func (x *call) refuseUnrouted(req *http.Request, err error) {
	req, end := x.withTimeout(req, x.router.Timeout)
	defer end()
	ctx := req.Context()
	x.setFailureLimit(ctx)
	if slug, _, ok := strings.Cut(strings.TrimPrefix(req.URL.Path, "/t/"), "/"); ok && strings.HasPrefix(req.URL.Path, "/t/") && sanePath(slug) {
		if limited, ok := fault.As(x.countUnrouted(req, slug)); ok && limited.Kind == fault.Limited {
			err = limited
		}
	}
	x.refuse(err)
}

func (x *call) countUnrouted(req *http.Request, slug string) error {
	ctx := req.Context()
	tenant, err := x.router.Gate.Tenant(ctx, slug)
	if err != nil {
		return err
	}
	p, err := x.router.Gate.Authenticate(ctx, tenant, slug, req)
	if f, ok := fault.As(err); ok && f.Kind == fault.Unauthenticated && (req.Header.Get("X-API-Key") != "" || req.Header.Get("Cookie") != "") {
		return x.countRequest(ctx, failureRule, ratelimit.Address(x.ip))
	}
	if err != nil {
		return err
	}
	return x.countRequest(ctx, x.router.rateLimit, bucketOf(p))
}

// sanePath reports whether a path can be a route: valid text without NUL.
func sanePath(p string) bool {
	return utf8.ValidString(p) && !strings.ContainsRune(p, 0)
}

func shortMethod(m string) string {
	if len(m) > 20 {
		return "this method"
	}
	return m
}

// probe records the status that the mux would have sent.
type probe struct {
	header http.Header
	status int
}

func (p *probe) Header() http.Header         { return p.header }
func (p *probe) Write(b []byte) (int, error) { return len(b), nil }
func (p *probe) WriteHeader(status int)      { p.status = status }

// failAfterPanic writes the response after a panic.
func (r *Router) failAfterPanic(x *call, cause any) {
	if cause == http.ErrAbortHandler {
		panic(cause)
	}
	err, ok := cause.(error)
	if !ok {
		err = fmt.Errorf("%v", cause)
	}
	x.fail(fmt.Errorf("panic: %w", err))
}

func (x *call) operationName() string {
	if x.route == nil {
		return ""
	}
	return x.route.Name
}

const idAlphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._-"

// requestID returns the id that a proxy or client gave the request, if it is safe to log, or a new one.
func requestID(r *http.Request) string {
	given := r.Header.Get("X-Request-Id")
	if len(given) >= 1 && len(given) <= 128 && strings.Trim(given, idAlphabet) == "" {
		return given
	}
	return strings.ToLower(rand.Text())
}

// FromProxy reports whether a request comes directly from a trusted proxy, whose headers about the client
// are believed.
func FromProxy(r *http.Request, trusted []netip.Prefix) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	ip := peer.Addr().Unmap().WithZone("")
	return err == nil && slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// ClientIP returns the address of the caller: the peer or, if the peer is a trusted proxy, the last address
// in X-Forwarded-For that is not one.
func ClientIP(r *http.Request, trusted []netip.Prefix) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	ip := peer.Addr().Unmap().WithZone("")
	var hops []string
	for _, h := range r.Header.Values("X-Forwarded-For") {
		hops = append(hops, strings.Split(h, ",")...)
	}
	for _, hop := range slices.Backward(hops) {
		if !slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(ip) }) {
			break
		}
		hop = strings.TrimSpace(hop)
		before, err := netip.ParseAddr(hop)
		if err != nil {
			withPort, err := netip.ParseAddrPort(hop)
			if err != nil {
				break
			}
			before = withPort.Addr()
		}
		ip = before.Unmap().WithZone("")
	}
	return ip
}
