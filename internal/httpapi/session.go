package httpapi

import (
	"context"
	"net/http"

	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/endpoint"
	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/tenant"
)

// session registers the operations by which people come and go. They belong to
// the installation, not to a tenant.
func (a *API) session(r *endpoint.Router) {
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
		public("signUp", "Make a tenant and its owner.", http.StatusCreated, auth.ErrSignupDisabled, auth.ErrInvalidToken, auth.ErrDuplicateEmail, tenant.ErrDuplicateSlug).Sending(`{"tenant_name": "Acme Books", "tenant_slug": "acme-books", "name": "Ada Lovelace", "email": "ada@example.com", "password": "$PASSWORD", "setup_token": "$TOKEN"}`), a.signUp)
	endpoint.Handle(r, "POST /api/auth/login",
		public("logIn", "Begin a session.", http.StatusOK, auth.ErrCredentials).Sending(`{"email": "$EMAIL", "password": "$PASSWORD"}`), a.logIn)
	endpoint.Handle(r, "GET /api/auth/session",
		person("getSession", "Get the session's user and memberships."), a.getSession)
	endpoint.Handle(r, "POST /api/auth/logout",
		person("logOut", "End the session."), a.logOut)
	endpoint.Handle(r, "POST /api/auth/password/forgot",
		public("forgotPassword", "Ask for a link by which to choose a new password.", http.StatusAccepted).Sending(`{"email": "ada@example.com"}`), a.forgotPassword)
	endpoint.Handle(r, "POST /api/auth/password/reset",
		public("resetPassword", "Choose a new password by a link; every session ends.", http.StatusNoContent, auth.ErrInvalidToken).Sending(`{"token": "$TOKEN", "password": "$PASSWORD"}`), a.resetPassword)
	endpoint.Handle(r, "POST /api/auth/password/change",
		person("changePassword", "Replace the password; the other sessions end.", auth.ErrCredentials, auth.ErrTooOften).Sending(`{"current_password": "$PASSWORD", "new_password": "$NEW_PASSWORD"}`), a.changePassword)
	endpoint.Handle(r, "POST /api/auth/invitations/accept",
		public("acceptInvitation", "Accept an invitation and begin a session.", http.StatusOK, auth.ErrInvalidToken, auth.ErrCredentials).Sending(`{"token": "$TOKEN", "name": "Ada Lovelace", "password": "$PASSWORD"}`), a.acceptInvitation)
}

// SessionView is the session as its user sees it.
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

// sessionBegun is a session whose cookie goes out with it.
type sessionBegun struct {
	SessionView
	cookie *http.Cookie
}

// Headers carries the cookie.
func (s sessionBegun) Headers() http.Header { return http.Header{"Set-Cookie": {s.cookie.String()}} }

func (a *API) cookie(token string) *http.Cookie { return auth.SessionCookie(a.BaseURL, token) }

func (a *API) begun(e auth.SignedIn, err error) (sessionBegun, error) {
	if err != nil {
		return sessionBegun{}, err
	}
	return sessionBegun{viewOfSession(e), a.cookie(e.Token)}, nil
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

func (a *API) signUp(ctx context.Context, p auth.Principal, in *signUpRequest) (sessionBegun, error) {
	b := in.Body
	return a.begun(a.Login.SignUp(ctx, auth.SignUp{
		TenantName: b.TenantName, TenantSlug: b.TenantSlug,
		Name: b.Name, Email: b.Email, Password: b.Password, SetupToken: b.SetupToken.Value,
	}, p.IP, a.Now()))
}

type logInRequest struct {
	Body struct {
		Email    string `json:"email"`
		Password string `json:"password"`
	}
}

func (a *API) logIn(ctx context.Context, p auth.Principal, in *logInRequest) (sessionBegun, error) {
	return a.begun(a.Login.SignIn(ctx, in.Body.Email, in.Body.Password, p.IP, a.Now()))
}

func (a *API) getSession(ctx context.Context, p auth.Principal, _ *struct{}) (SessionView, error) {
	e, err := a.Login.Current(ctx, p)
	if err != nil {
		return SessionView{}, err
	}
	return viewOfSession(e), nil
}

func (a *API) logOut(ctx context.Context, p auth.Principal, _ *struct{}) (endpoint.None, error) {
	return endpoint.None{}, auth.EndSession(ctx, a.DB, p.Session)
}

type forgotPasswordRequest struct {
	Body struct {
		Email string `json:"email"`
	}
}

// linkRequested is an empty object: it does not tell whether the address is known.
type linkRequested struct{}

func (a *API) forgotPassword(ctx context.Context, p auth.Principal, in *forgotPasswordRequest) (linkRequested, error) {
	return linkRequested{}, a.Login.Forgot(ctx, in.Body.Email, p.IP, a.Now())
}

type resetPasswordRequest struct {
	Body struct {
		Token    string `json:"token"`
		Password string `json:"password"`
	}
}

func (a *API) resetPassword(ctx context.Context, p auth.Principal, in *resetPasswordRequest) (endpoint.None, error) {
	return endpoint.None{}, a.Login.Reset(ctx, in.Body.Token, in.Body.Password, p.IP, a.Now())
}

type changePasswordRequest struct {
	Body struct {
		CurrentPassword string `json:"current_password"`
		NewPassword     string `json:"new_password"`
	}
}

func (a *API) changePassword(ctx context.Context, p auth.Principal, in *changePasswordRequest) (endpoint.None, error) {
	return endpoint.None{}, a.Login.Change(ctx, p, in.Body.CurrentPassword, in.Body.NewPassword, a.Now())
}

type acceptInvitationRequest struct {
	Body struct {
		Token    string `json:"token"`
		Name     string `json:"name"`
		Password string `json:"password"`
	}
}

func (a *API) acceptInvitation(ctx context.Context, p auth.Principal, in *acceptInvitationRequest) (sessionBegun, error) {
	return a.begun(a.Login.Accept(ctx, in.Body.Token, in.Body.Name, in.Body.Password, p.IP, a.Now()))
}
