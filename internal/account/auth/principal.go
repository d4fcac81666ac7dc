// Package auth authenticates callers and determines what they may do: API keys with scopes, and
// users with roles. It stores both. It also signs and verifies the identity of visitors of tenants'
// websites (IdentitySigner).
package auth

import (
	"net/netip"
	"slices"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
)

// Kind is the kind of credential of a caller.
type Kind int

// The kinds. The zero Kind is a caller without a credential.
const (
	KindNone    Kind = iota // no credential: public operations only
	KindKey                 // an API key: scopes apply
	KindSession             // a signed-in user: the role applies
)

// Role determines what a member may do in a tenant.
type Role string

// The roles in ascending order. Each includes the permissions of those before it.
const (
	Viewer Role = "viewer"
	Editor Role = "editor"
	Admin  Role = "admin"
	Owner  Role = "owner"
)

// Roles returns the roles in ascending order.
func Roles() []Role { return []Role{Viewer, Editor, Admin, Owner} }

// Valid reports whether r is one of the roles.
func (r Role) Valid() bool { return slices.Contains(Roles(), r) }

// AtLeast reports whether r includes the permissions of least. An unknown role has none.
func (r Role) AtLeast(least Role) bool {
	return r.Valid() && slices.Index(Roles(), r) >= slices.Index(Roles(), least)
}

// Principal is the authenticated caller of a request.
//
// On a tenant's routes Tenant is always set. On the routes of the installation, such as sign-in, it
// is zero, and Role is empty.
type Principal struct {
	Tenant     id.Tenant
	TenantSlug string
	Kind       Kind

	KeyID   id.APIKey // of a key
	KeyName string
	Scopes  Set

	User     id.User // of a session
	Session  id.Session
	UserName string
	Email    string
	Role     Role

	IP    netip.Addr // of the client, considering trusted proxies
	Agent string     // of its header User-Agent
}

// Client returns the client that sends the caller's requests.
func (p Principal) Client() Client { return Client{p.IP, p.Agent} }

// IsKey reports whether the caller uses an API key. Such callers read and write the public form of
// resources, all others the session form.
func (p Principal) IsKey() bool { return p.Kind == KindKey }

// Has reports whether the caller's key grants s, directly or by implication. It is true for a
// session, which has no scopes: its role was checked before the operation ran.
func (p Principal) Has(s Scope) bool {
	switch p.Kind {
	case KindKey:
		return p.Scopes.Has(s)
	case KindSession:
		return true
	}
	return false
}

// ErrScope reports a key without a scope that it needs.
var ErrScope = fault.New(fault.Forbidden, "INSUFFICIENT_SCOPE", "the API key lacks the scope this needs")

// ErrAdminsOnly refuses what only admins may do, with a session.
var ErrAdminsOnly = fault.New(fault.Forbidden, "FORBIDDEN", "this needs the role admin")

// LacksScope returns the ErrScope of a key that has none of scopes.
func LacksScope(scopes ...Scope) error {
	names := Set(scopes).Strings()
	f := ErrScope.With(map[string][]string{"scopes": names})
	if len(names) == 1 {
		return f.Sayf("the API key lacks the scope %s", names[0])
	}
	return f
}

// Need returns ErrScope unless the caller's key grants s. It is for what depends on the body or the
// record of a request; the scope of an operation itself is checked before it runs. Sessions pass, except that
// AdminsOnly needs the role.
func (p Principal) Need(s Scope) error {
	if s == AdminsOnly && !p.Role.AtLeast(Admin) {
		return ErrAdminsOnly
	}
	if p.IsKey() && !p.Has(s) {
		return LacksScope(s)
	}
	return nil
}

// Actor identifies the author of a change, in records that remain when the key or user is deleted.
type Actor struct {
	Type string `json:"type" doc:"api_key, user or system"`
	ID   string `json:"id"`
	Name string `json:"name"`
}

// System is the actor of changes by the program itself.
var System = Actor{Type: "system", Name: "system"}

// Actor returns the caller as an actor.
func (p Principal) Actor() Actor {
	switch p.Kind {
	case KindKey:
		return Actor{Type: "api_key", ID: p.KeyID.String(), Name: p.KeyName}
	case KindSession:
		return Actor{Type: "user", ID: p.User.String(), Name: p.UserName}
	}
	return System
}
