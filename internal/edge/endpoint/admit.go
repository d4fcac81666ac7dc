package endpoint

import (
	"context"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
)

// The rate limits of callers without a valid credential.
var (
	failureRule   = ratelimit.Rule{Name: "denied", Max: 60, Window: time.Minute}    // failed credentials of an address
	discoveryRule = ratelimit.Rule{Name: "discover", Max: 120, Window: time.Minute} // discovery by an address
)

// admit performs the checks that come before the body: tenant, credential, rate, route class, scope or
// role.
func (r *Router) admit(x *call, req *http.Request) error {
	ctx, op := req.Context(), x.route
	x.setDeprecation(req)
	p := auth.Principal{IP: x.ip, Agent: req.UserAgent()}
	if !op.Installation {
		p.TenantSlug = req.PathValue("tenant")
		tenant, err := r.Gate.Tenant(ctx, p.TenantSlug)
		if err != nil {
			x.setFailureLimit(ctx)
			return err
		}
		p.Tenant = tenant
	}
	if op.Public {
		x.principal = p
		// Operations that begin a session need the protection, too: a foreign site must not sign a
		// browser in to an account of its choice.
		if op.Installation && r.origin.Check(req) != nil {
			x.setFailureLimit(ctx)
			return ErrCSRF
		}
		return nil
	}
	known, err := r.Gate.Authenticate(ctx, p.Tenant, p.TenantSlug, req)
	if err != nil {
		return x.countFailure(ctx, err)
	}
	known.Tenant, known.TenantSlug, known.IP, known.Agent = p.Tenant, p.TenantSlug, p.IP, p.Agent
	x.principal = known
	if known.Kind == auth.KindSession && r.origin.Check(req) != nil {
		x.setFailureLimit(ctx)
		return ErrCSRF
	}
	if err := x.countRequest(ctx, r.rateLimit, bucketOf(known)); err != nil {
		return err
	}
	return x.authorize(op)
}

// setDeprecation sets the headers of a deprecated operation (RFC 9745) and of its successor (RFC 8288).
func (x *call) setDeprecation(req *http.Request) {
	op := x.route
	if op.DeprecatedAt.IsZero() {
		return
	}
	h := x.w.Header()
	h.Set("Deprecation", "@"+strconv.FormatInt(op.DeprecatedAt.Unix(), 10))
	for _, next := range x.router.routes {
		if next.Name == op.Successor {
			path := strings.Replace(next.path, "{tenant}", req.PathValue("tenant"), 1)
			h.Set("Link", "<"+x.router.baseURL()+path+`>; rel="successor-version"`)
		}
	}
}

func bucketOf(p auth.Principal) string {
	if p.IsKey() {
		return "key:" + p.KeyID.String()
	}
	return "session:" + p.Session.String()
}

// countFailure counts a failed credential against the caller's address. After too many, it returns the
// fault of the rate limit instead of err.
func (x *call) countFailure(ctx context.Context, err error) error {
	f, ok := fault.As(err)
	if !ok || f.Kind != fault.Unauthenticated {
		x.setFailureLimit(ctx)
		return err
	}
	x.w.Header().Set("WWW-Authenticate", `ApiKey header="X-API-Key"`)
	if limited := x.countRequest(ctx, failureRule, ratelimit.Address(x.ip)); limited != nil {
		return limited
	}
	return err
}

// setFailureLimit sets the headers for the limit of the caller's address, which are replaced later if a
// credential is valid.
func (x *call) setFailureLimit(ctx context.Context) {
	s, err := x.router.Limiter.Peek(ctx, failureRule, ratelimit.Address(x.ip), x.router.Now())
	if err == nil {
		x.setRateLimit(s)
	}
}

// countRequest counts a request against a rate limit; it returns ErrRateLimited if the limit is exceeded.
func (x *call) countRequest(ctx context.Context, rule ratelimit.Rule, key string) error {
	s, err := x.router.Limiter.Acquire(ctx, rule, key, x.router.Now())
	if err != nil {
		return err
	}
	x.setRateLimit(s)
	if s.Allowed {
		return nil
	}
	wait := ceilSeconds(s.Reset)
	x.w.Header().Set("Retry-After", strconv.Itoa(wait))
	return ErrRateLimited.Sayf("Rate limit of %d requests per minute exceeded; retry in %d s", s.Limit, wait)
}

func (x *call) setRateLimit(s ratelimit.State) {
	h := x.w.Header()
	h.Set("X-RateLimit-Limit", strconv.Itoa(s.Limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(max(s.Remaining, 0)))
	h.Set("X-RateLimit-Reset", strconv.Itoa(ceilSeconds(s.Reset)))
}

// ceilSeconds returns d in seconds, rounded up, so that a caller that waits this long waits long enough.
func ceilSeconds(d time.Duration) int { return int(math.Ceil(max(d, 0).Seconds())) }

// setRetryAfter sets the header Retry-After for a fault of kind Limited.
func (x *call) setRetryAfter(f *fault.Error) {
	if f.Kind != fault.Limited {
		return
	}
	h := x.w.Header()
	if w, ok := f.Details.(interface{ RetryAfter() time.Duration }); ok {
		h.Set("Retry-After", strconv.Itoa(ceilSeconds(w.RetryAfter())))
	} else if h.Get("Retry-After") == "" {
		h.Set("Retry-After", "60")
	}
}

// authorize checks route class, then scope or role.
func (x *call) authorize(op *route) error {
	p := x.principal
	if !p.IsKey() {
		if !op.Installation && !p.Role.AtLeast(op.role(op.method)) {
			return ErrRole.Sayf("this needs the role %s", op.role(op.method))
		}
		return nil
	}
	if op.Session {
		return ErrKeyForbidden
	}
	need := op.scopes()
	missing := func(s auth.Scope) bool { return !p.Has(s) }
	switch op.mode() {
	case All:
		if i := slices.IndexFunc(need, missing); i >= 0 {
			return LacksScope(need[i])
		}
	case Any, ByType, ByJob:
		if len(need) > 0 && !slices.ContainsFunc(need, p.Has) {
			return LacksScope(need...)
		}
	}
	return nil
}

// LacksScope returns the fault for a key that has none of scopes, for operations whose scope depends on
// the record.
func LacksScope(scopes ...auth.Scope) error {
	names := auth.Set(scopes).Strings()
	f := ErrScope.With(map[string][]string{"scopes": names})
	if len(names) == 1 {
		return f.Sayf("the API key lacks the scope %s", names[0])
	}
	return f
}

// Need returns a fault unless a key has the scope. Operations in mode ByType or ByJob call it after
// loading the record. Sessions pass.
func Need(p auth.Principal, s auth.Scope) error {
	if p.IsKey() && !p.Has(s) {
		return LacksScope(s)
	}
	return nil
}

var _ http.Handler = (*Router)(nil)

// Gate finds tenants and authenticates requests. The router calls it before it reads anything else of a
// request.
type Gate interface {
	// Tenant returns the tenant with a slug. If it is unknown or deleted, the error is a fault of kind
	// NotFound with code TENANT_NOT_FOUND.
	Tenant(ctx context.Context, slug string) (id.Tenant, error)

	// Authenticate returns the principal of r, from its X-API-Key header or else its session cookie. The
	// tenant is that of the path; both arguments are empty for routes of the installation, which accept
	// only sessions. The router sets the principal's IP.
	//
	// A missing or invalid credential is a fault of kind Unauthenticated with code UNAUTHORIZED; a session
	// whose user is not a member of the tenant is TENANT_NOT_FOUND. The router checks the origin.
	Authenticate(ctx context.Context, tenant id.Tenant, slug string, r *http.Request) (auth.Principal, error)

	// Holds reports whether a session that Authenticate has returned, with its tenant and role, would be
	// returned again. It does not extend the session. The router calls it during streams of events.
	Holds(ctx context.Context, p auth.Principal) (bool, error)
}
