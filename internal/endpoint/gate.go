package endpoint

import (
	"context"
	"net/http"

	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/id"
)

// Gate knows tenants and credentials. The router asks it before it reads
// anything else of a request.
type Gate interface {
	// Tenant returns the tenant that lives at slug. For a slug that is unknown
	// or deleted it returns a fault of kind NotFound with code TENANT_NOT_FOUND.
	Tenant(ctx context.Context, slug string) (id.Tenant, error)

	// Authenticate says who sent r, from its X-API-Key header or else its
	// session cookie. The tenant is the one of the path; both it and its slug
	// are empty on the routes of the installation, where only sessions are
	// known. The router fills in the principal's IP.
	//
	// A missing or bad credential is a fault of kind Unauthenticated with code
	// UNAUTHORIZED; a session whose user is no member of the
	// tenant is TENANT_NOT_FOUND. Cross-origin requests are the router's matter.
	Authenticate(ctx context.Context, tenant id.Tenant, slug string, r *http.Request) (auth.Principal, error)
}
