package endpoint

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/id"
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
		x.setFailureLimit(ctx)
		// Operations that begin a session need the protection, too: a foreign site must not sign a
		// browser in to an account of its choice.
		if op.Installation && r.origin.Check(req) != nil {
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
			return auth.LacksScope(need[i])
		}
	case Any, ByType, ByJob:
		if len(need) > 0 && !slices.ContainsFunc(need, p.Has) {
			return auth.LacksScope(need...)
		}
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
