package accountapi

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Sessions serves signing in and sessions.
type Sessions struct {
	db      *sqldb.DB
	baseURL *url.URL
	login   *auth.Login
	now     func() time.Time
	demo    bool
	version string
}

// NewSessions returns the operations on signing in and sessions. demo and version are shown before signing in.
func NewSessions(e wire.Env, login *auth.Login, version string, demo bool) Sessions {
	return Sessions{db: e.DB, baseURL: e.BaseURL, login: login, now: e.Now, demo: demo, version: version}
}

// Register adds the operations on signing in and sessions.
func (api Sessions) Register(r *endpoint.Router) {
	public := func(name, summary string, status int, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{
			Name: name, Summary: summary, Tag: "session", Public: true, Installation: true,
			Status: status, Faults: append(faults, auth.ErrTooOften),
		}
	}
	person := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "session", Session: true, Installation: true, Faults: faults}
	}
	endpoint.Handle(r, "POST /api/auth/signup",
		public("signUp", "Create a tenant and its owner.", http.StatusCreated, auth.ErrSignupDisabled, auth.ErrInvalidToken, auth.ErrDuplicateEmail, tenant.ErrDuplicateSlug).ExampleBody(`{"tenant_name": "Acme Books", "tenant_slug": "acme-books", "name": "Ada Lovelace", "email": "ada@example.com", "password": "$PASSWORD", "setup_token": "$TOKEN"}`), api.signUp)
	endpoint.Handle(r, "POST /api/auth/login",
		public("logIn", "Sign in and start a session.", http.StatusOK, auth.ErrCredentials).ExampleBody(`{"email": "$EMAIL", "password": "$PASSWORD"}`), api.logIn)
	endpoint.Handle(r, "POST /api/auth/login-link",
		public("logInByLink", "Sign in with the token of a link that the operator made; it works once.", http.StatusOK, auth.ErrInvalidToken).WithTitle("Log in by link").ExampleBody(`{"token": "$TOKEN"}`), api.logInByLink)
	endpoint.Handle(r, "GET /api/auth/session",
		person("getSession", "Get the session's user and memberships."), api.getSession)
	api.ownSessions(r, person)
	api.links(r, public, person)
	endpoint.Handle(r, "POST /api/auth/logout",
		person("logOut", "End the session."), api.logOut)
	endpoint.Handle(r, "POST /api/auth/password/forgot",
		public("forgotPassword", "Request a link to reset the password.", http.StatusAccepted).ExampleBody(`{"email": "ada@example.com"}`), api.forgotPassword)
	endpoint.Handle(r, "POST /api/auth/password/reset",
		public("resetPassword", "Set a new password with the token of a link; all sessions end.", http.StatusNoContent, auth.ErrInvalidToken).ExampleBody(`{"token": "$TOKEN", "password": "$PASSWORD"}`), api.resetPassword)
	endpoint.Handle(r, "POST /api/auth/password/change",
		person("changePassword", "Change the password; the other sessions end.", auth.ErrCredentials, auth.ErrTooOften).ExampleBody(`{"current_password": "$PASSWORD", "new_password": "$NEW_PASSWORD"}`), api.changePassword)
	endpoint.Handle(r, "POST /api/auth/invitations/accept",
		public("acceptInvitation", "Accept an invitation and start a session.", http.StatusOK, auth.ErrInvalidToken, auth.ErrCredentials).ExampleBody(`{"token": "$TOKEN", "name": "Ada Lovelace", "password": "$PASSWORD"}`), api.acceptInvitation)
}

type signUpRequest struct {
	Body struct {
		TenantName string               `json:"tenant_name"`
		TenantSlug string               `json:"tenant_slug"`
		Name       string               `json:"name"`
		Email      string               `json:"email"`
		Password   string               `json:"password"`
		SetupToken endpoint.Opt[string] `json:"setup_token"`
	}
}

// sessionBegun is the answer that starts a session: it sets the cookie.
type sessionBegun struct {
	SessionView
	cookie *http.Cookie
}

// SessionView is a session with its user and the user's memberships.
type SessionView struct {
	User        sessionUser         `json:"user"`
	Memberships []sessionMembership `json:"memberships"`
	ExpiresAt   endpoint.Stamp      `json:"expires_at"`
}

type sessionUser struct {
	ID    id.User `json:"id"`
	Email string  `json:"email"`
	Name  string  `json:"name"`
}

type sessionMembership struct {
	TenantID   id.Tenant `json:"tenant_id"`
	TenantSlug string    `json:"tenant_slug"`
	TenantName string    `json:"tenant_name"`
	Role       auth.Role `json:"role"`
}

// Headers returns the header that sets the cookie.
func (s sessionBegun) Headers() http.Header { return http.Header{"Set-Cookie": {s.cookie.String()}} }

func (api Sessions) signUp(ctx context.Context, p auth.Principal, in *signUpRequest) (sessionBegun, error) {
	b := in.Body
	return api.newSession(api.login.SignUp(ctx, auth.SignUp{
		TenantName: b.TenantName, TenantSlug: b.TenantSlug,
		Name: b.Name, Email: b.Email, Password: b.Password, SetupToken: b.SetupToken.Value,
	}, p.Client(), api.now()))
}

func (api Sessions) newSession(e auth.SignedIn, err error) (sessionBegun, error) {
	if err != nil {
		return sessionBegun{}, err
	}
	return sessionBegun{viewOfSession(e), api.cookie(e.Token)}, nil
}

func viewOfSession(e auth.SignedIn) SessionView {
	v := SessionView{
		User:        sessionUser{e.Session.User.ID, e.Session.User.Email, e.Session.User.Name},
		Memberships: []sessionMembership{},
		ExpiresAt:   endpoint.At(e.Session.ExpiresAt),
	}
	for _, m := range e.Memberships {
		v.Memberships = append(v.Memberships, sessionMembership{m.Tenant, m.Slug, m.Name, m.Role})
	}
	return v
}

func (api Sessions) cookie(token string) *http.Cookie {
	return auth.SessionCookie(api.baseURL, token)
}

type logInRequest struct {
	Body struct {
		Email    string `json:"email"`
		Password string `json:"password"`
	}
}

func (api Sessions) logIn(ctx context.Context, p auth.Principal, in *logInRequest) (sessionBegun, error) {
	return api.newSession(api.login.SignIn(ctx, in.Body.Email, in.Body.Password, p.Client(), api.now()))
}

type logInByLinkRequest struct {
	Body struct {
		Token string `json:"token"`
	}
}

func (api Sessions) logInByLink(ctx context.Context, p auth.Principal, in *logInByLinkRequest) (sessionBegun, error) {
	return api.newSession(api.login.SignInByLink(ctx, in.Body.Token, p.Client(), api.now()))
}

func (api Sessions) getSession(ctx context.Context, p auth.Principal, _ *struct{}) (SessionView, error) {
	e, err := api.login.Current(ctx, p)
	if err != nil {
		return SessionView{}, err
	}
	return viewOfSession(e), nil
}

func (api Sessions) logOut(ctx context.Context, p auth.Principal, _ *struct{}) (endpoint.None, error) {
	return endpoint.None{}, auth.EndSession(ctx, api.db, p.Session)
}

type forgotPasswordRequest struct {
	Body struct {
		Email string `json:"email"`
	}
}

// linkRequested is an empty object, whether a user has the address or not.
type linkRequested struct{}

func (api Sessions) forgotPassword(ctx context.Context, p auth.Principal, in *forgotPasswordRequest) (linkRequested, error) {
	return linkRequested{}, api.login.Forgot(ctx, in.Body.Email, p.IP, api.now())
}

type resetPasswordRequest struct {
	Body struct {
		Token    string `json:"token"`
		Password string `json:"password"`
	}
}

func (api Sessions) resetPassword(ctx context.Context, p auth.Principal, in *resetPasswordRequest) (endpoint.None, error) {
	return endpoint.None{}, api.login.Reset(ctx, in.Body.Token, in.Body.Password, p.IP, api.now())
}

type changePasswordRequest struct {
	Body struct {
		CurrentPassword string `json:"current_password"`
		NewPassword     string `json:"new_password"`
	}
}

func (api Sessions) changePassword(ctx context.Context, p auth.Principal, in *changePasswordRequest) (endpoint.None, error) {
	return endpoint.None{}, api.login.Change(ctx, p, in.Body.CurrentPassword, in.Body.NewPassword, api.now())
}

type acceptInvitationRequest struct {
	Body struct {
		Token    string `json:"token"`
		Name     string `json:"name"`
		Password string `json:"password"`
	}
}

func (api Sessions) acceptInvitation(ctx context.Context, p auth.Principal, in *acceptInvitationRequest) (sessionBegun, error) {
	return api.newSession(api.login.Accept(ctx, in.Body.Token, in.Body.Name, in.Body.Password, p.Client(), api.now()))
}
