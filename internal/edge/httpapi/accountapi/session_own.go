package accountapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
)

// ownSessions registers what a page for signing in shows, and the operations of users on their own sessions
// and name.
func (api Sessions) ownSessions(r *endpoint.Router, person func(name, summary string, faults ...*fault.Error) endpoint.Op) {
	endpoint.Handle(r, "GET /api/auth/options", endpoint.Op{
		Name: "getSignInOptions", Summary: "Get what is possible before signing in.", Title: "Sign-in options",
		Tag: "session", Public: true, Installation: true, Status: http.StatusOK,
	}, api.signInOptions)
	endpoint.Handle(r, "GET /api/auth/sessions",
		person("listOwnSessions", "List your sessions, those used last first.").WithTitle("List sessions"), api.listOwnSessions)
	endpoint.Handle(r, "DELETE /api/auth/sessions/{id}",
		person("endOwnSession", "End one of your sessions. Ending the present one signs you out.", auth.ErrUnknownSession).WithTitle("End session"), api.endOwnSession)
	endpoint.Handle(r, "PUT /api/auth/profile",
		person("updateProfile", "Change your name.").ExampleBody(`{"name": "Ada Lovelace"}`), api.updateProfile, checkProfile)
}

// signInOptions is what is possible before signing in.
type signInOptions struct {
	SetupRequired bool   `json:"setup_required" doc:"No user exists: sign-up needs the setup token that the program has logged."`
	SignupEnabled bool   `json:"signup_enabled" doc:"Anybody may sign up."`
	AccountMail   bool   `json:"account_mail" doc:"Invitations and links to reset passwords are mailed. Otherwise they are shown to the inviter, and printed by the operator's commands."`
	Demo          bool   `json:"demo"`
	BaseURL       string `json:"base_url"`
	Version       string `json:"version" doc:"Of the program."`
}

func (api Sessions) signInOptions(ctx context.Context, _ auth.Principal, _ *struct{}) (signInOptions, error) {
	known, err := auth.AnyUser(ctx, api.db)
	return signInOptions{
		SetupRequired: !known, SignupEnabled: known && api.login.SignupEnabled, AccountMail: api.login.Mail != nil,
		Demo: api.demo, BaseURL: strings.TrimSuffix(api.baseURL.String(), "/"), Version: api.version,
	}, err
}

type ownSession struct {
	ID         id.Session     `json:"id" format:"uuid"`
	Current    bool           `json:"current" doc:"The session of this request."`
	CreatedAt  endpoint.Stamp `json:"created_at"`
	LastSeenAt endpoint.Stamp `json:"last_seen_at" doc:"To the minute."`
	IP         *string        `json:"ip" doc:"The address of the sign-in."`
	UserAgent  *string        `json:"user_agent" doc:"Of the sign-in."`
	ExpiresAt  endpoint.Stamp `json:"expires_at"`
}

func (api Sessions) listOwnSessions(ctx context.Context, p auth.Principal, _ *struct{}) (endpoint.List[ownSession], error) {
	list, err := auth.Sessions(ctx, api.db, p.User, api.now())
	if err != nil {
		return endpoint.List[ownSession]{}, err
	}
	rows := make([]ownSession, len(list))
	for i, s := range list {
		rows[i] = ownSession{
			ID: s.ID, Current: s.ID == p.Session, CreatedAt: endpoint.At(s.CreatedAt), LastSeenAt: endpoint.At(s.LastSeenAt),
			IP: optional.Pointer(s.IP), UserAgent: optional.Pointer(s.Agent), ExpiresAt: endpoint.At(s.ExpiresAt),
		}
	}
	return endpoint.Whole(rows), nil
}

func (api Sessions) endOwnSession(ctx context.Context, p auth.Principal, in *wire.RecordPath) (endpoint.None, error) {
	s, err := wire.RecordID[id.Session](in.ID, auth.ErrUnknownSession)
	if err != nil {
		return endpoint.None{}, err
	}
	return endpoint.None{}, auth.EndOwnSession(ctx, api.db, p.User, s)
}

type updateProfileRequest struct {
	Body struct {
		Name string `json:"name" doc:"1 to 200 characters on one line."`
	}
}

func checkProfile(_ auth.Principal, in *updateProfileRequest) error {
	return auth.CheckName(in.Body.Name)
}

func (api Sessions) updateProfile(ctx context.Context, p auth.Principal, in *updateProfileRequest) (SessionView, error) {
	e, err := api.login.Rename(ctx, p, in.Body.Name)
	if err != nil {
		return SessionView{}, err
	}
	return viewOfSession(e), nil
}
