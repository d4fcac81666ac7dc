package accountapi

import (
	"context"
	"net/http"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
)

// links registers what the pages of links show, and accepting an invitation while signed in.
func (api Sessions) links(r *endpoint.Router, public func(string, string, int, ...*fault.Error) endpoint.Op, person func(string, string, ...*fault.Error) endpoint.Op) {
	endpoint.Handle(r, "POST /api/auth/link",
		public("checkLink", "Describe a link for signing up, signing in, resetting a password or accepting an invitation, without redeeming it.", http.StatusOK, auth.ErrInvalidToken, auth.ErrSignupDisabled).WithTitle("Check link").ExampleBody(`{"kind": "password_reset", "token": "$TOKEN"}`), api.checkLink, checkLinkKind)
	endpoint.Handle(r, "POST /api/auth/invitations/join",
		person("joinTenant", "Accept an invitation as the signed-in user.", auth.ErrInvalidToken, auth.ErrTooOften, auth.ErrForbidden).ExampleBody(`{"token": "$TOKEN"}`), api.joinTenant)
}

type checkLinkRequest struct {
	Body struct {
		Kind  auth.LinkKind `json:"kind" enum:"signup,password_reset,invitation,login"`
		Token string        `json:"token" doc:"May be empty for signup where sign-up is enabled."`
	}
}

func checkLinkKind(_ auth.Principal, in *checkLinkRequest) error {
	var p fault.Problems
	if !in.Body.Kind.Valid() {
		p.Add("kind", "must be signup, password_reset, invitation or login")
	}
	return p.Err()
}

// linkView is what the page of a link shows.
type linkView struct {
	Kind       auth.LinkKind     `json:"kind" enum:"signup,password_reset,invitation,login"`
	Expired    bool              `json:"expired" doc:"Of an invitation. Other expired links are INVALID_TOKEN."`
	Email      *string           `json:"email" doc:"Of the login; null for signup."`
	Name       *string           `json:"name" doc:"Of the login; null for an invitation that was not mailed."`
	TenantName *string           `json:"tenant_name" doc:"Of the tenant that the invitation is for."`
	Role       *auth.Role        `json:"role" enum:"viewer,editor,admin,owner"`
	Password   auth.LinkPassword `json:"password" enum:"new,current,either,none" doc:"What to send: a new password, that of the login, or either of both. A link for signing in needs none."`
	Senders    []string          `json:"senders" doc:"Names of at most 5 members who can send a new invitation, if this one is expired."`
}

func (api Sessions) checkLink(ctx context.Context, _ auth.Principal, in *checkLinkRequest) (linkView, error) {
	l, err := api.login.LinkOf(ctx, in.Body.Kind, in.Body.Token, api.now())
	v := linkView{
		Kind: l.Kind, Expired: l.Expired, Email: optional.Pointer(l.Email), Name: optional.Pointer(l.Name), TenantName: optional.Pointer(l.Tenant), Role: optional.Pointer(l.Role),
		Password: l.Password, Senders: []string{},
	}
	v.Senders = append(v.Senders, l.Senders...)
	return v, err
}

type joinTenantRequest struct {
	Body struct {
		Token string `json:"token"`
	}
}

func (api Sessions) joinTenant(ctx context.Context, p auth.Principal, in *joinTenantRequest) (SessionView, error) {
	e, err := api.login.Join(ctx, p, in.Body.Token, api.now())
	if err != nil {
		return SessionView{}, err
	}
	return viewOfSession(e), nil
}
