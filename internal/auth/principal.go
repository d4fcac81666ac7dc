// Package auth knows who is asking, and what they may do: API keys with scopes,
// people with roles, and the records of both.
package auth

import (
	"net/netip"
	"slices"

	"github.com/packetboat/packetboat/internal/id"
)

// Kind says by what credential a caller was known.
type Kind int

// The kinds of caller. The zero Kind is a caller without a credential.
const (
	KindNone    Kind = iota // nobody: public operations only
	KindKey                 // an API key: scopes decide
	KindSession             // a person signed in with a browser: the role decides
)

// Role is what a member may do in one tenant.
type Role string

// The roles, least first. A role may do whatever a lesser one may.
const (
	Viewer Role = "viewer"
	Editor Role = "editor"
	Admin  Role = "admin"
	Owner  Role = "owner"
)

// Roles returns the roles, least first.
func Roles() []Role { return []Role{Viewer, Editor, Admin, Owner} }

// Valid reports whether r is one of the roles.
func (r Role) Valid() bool { return slices.Contains(Roles(), r) }

// AtLeast reports whether r may do what least may. An unknown role may nothing.
func (r Role) AtLeast(least Role) bool {
	return r.Valid() && slices.Index(Roles(), r) >= slices.Index(Roles(), least)
}

// Principal is who is asking, and in which tenant.
//
// On a tenant's routes Tenant is set whatever the credential. On the routes of
// the installation (sign-in and the like) it is empty, and so is Role.
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

	IP netip.Addr // of the caller, behind trusted proxies
}

// IsKey reports whether the caller holds an API key. What it is shown and may
// write is the public form; everybody else sees the session form.
func (p Principal) IsKey() bool { return p.Kind == KindKey }

// Has reports whether the caller's key grants s, directly or by implication.
// A session has no scopes: its role was checked before the operation ran, and
// Has is true for it.
func (p Principal) Has(s Scope) bool {
	switch p.Kind {
	case KindKey:
		return p.Scopes.Has(s)
	case KindSession:
		return true
	}
	return false
}

// Actor names who did something, for records that outlive the caller.
type Actor struct {
	Type string `json:"type" doc:"api_key, user or system"`
	ID   string `json:"id"`
	Name string `json:"name"`
}

// System is the actor of what the program does by itself.
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
