package accountapi

import (
	"context"
	"net/http"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Users serves the members of a tenant.
type Users struct {
	db    *sqldb.DB
	login *auth.Login
	now   func() time.Time
}

// NewUsers returns the operations on the members of a tenant.
func NewUsers(e wire.Env, login *auth.Login) Users { return Users{db: e.DB, login: login, now: e.Now} }

// Register adds the operations on the members of a tenant.
func (api Users) Register(r *endpoint.Router) {
	endpoint.Handle(r, "GET /t/{tenant}/api/users", endpoint.Op{
		Name:    "listMembers",
		Summary: "List the tenant's members.",
		Tag:     "members",
		Session: true,
		Role:    auth.Viewer,
	}, api.listMembers)
	endpoint.Handle(r, "POST /t/{tenant}/api/users/invite", endpoint.Op{
		Name:    "inviteMember",
		Summary: "Invite a person; the response contains the invitation link unless it is mailed. A member whose invitation could not be mailed gets a link that is shown.",
		Tag:     "members",
		Session: true,
		Role:    auth.Admin,
		Status:  http.StatusCreated,
		Faults:  []*fault.Error{auth.ErrForbidden, auth.ErrMember, auth.ErrTooManyInvited, auth.ErrTooOften},
	}.ExampleBody(`{"email": "grace@example.com", "role": "editor"}`).Once(), api.inviteMember, checkInvitation)
	endpoint.Handle(r, "PUT /t/{tenant}/api/users/{id}", endpoint.Op{
		Name:    "updateMember",
		Summary: "Change a member's role or status.",
		Tag:     "members",
		Session: true,
		Role:    auth.Admin,
		Faults:  []*fault.Error{auth.ErrForbidden, auth.ErrNoUser, auth.ErrLastOwner},
	}.ExampleBody(`{"role": "editor"}`), api.updateMember, checkMember)
	endpoint.Handle(r, "DELETE /t/{tenant}/api/users/{id}", endpoint.Op{
		Name:    "removeMember",
		Summary: "End a membership.",
		Tag:     "members",
		Session: true,
		Role:    auth.Admin,
		Faults:  []*fault.Error{auth.ErrForbidden, auth.ErrNoUser, auth.ErrLastOwner},
	}, api.removeMember)
}

// Member is a user with a role in a tenant.
type Member struct {
	ID          id.User           `json:"id"`
	Email       string            `json:"email"`
	Name        string            `json:"name" doc:"The address until the person accepts."`
	Role        auth.Role         `json:"role" enum:"viewer,editor,admin,owner"`
	Status      auth.MemberStatus `json:"status" enum:"invited,active,disabled"`
	LastLoginAt *endpoint.Stamp   `json:"last_login_at" doc:"Null until the person accepts."`
	CreatedAt   endpoint.Stamp    `json:"created_at"`

	InvitationFailed *string `json:"invitation_failed" doc:"Why the invitation could not be mailed within an hour; null otherwise. Inviting again shows the link."`
}

func (api Users) listMembers(ctx context.Context, p auth.Principal, _ *struct{}) (endpoint.List[Member], error) {
	list, err := auth.Members(ctx, api.db, p.Tenant)
	if err != nil {
		return endpoint.List[Member]{}, err
	}
	rows := make([]Member, len(list))
	for i, m := range list {
		rows[i] = rowOfMember(m)
	}
	return endpoint.Whole(rows), nil
}

func rowOfMember(m auth.Member) Member {
	return Member{
		ID: m.User, Email: m.Email, Name: m.Name, Role: m.Role, Status: m.Status,
		LastLoginAt: endpoint.AtOr(m.LastLoginAt), CreatedAt: endpoint.At(m.CreatedAt),
		InvitationFailed: optional.Pointer(m.MailFailed),
	}
}

type inviteMemberRequest struct {
	Body struct {
		Email string    `json:"email"`
		Role  auth.Role `json:"role"`
	}
}

type invitedMember struct {
	Member
	AcceptURL *string `json:"accept_url" doc:"The link to accept the invitation. Null if the installation mails it."`
}

func checkInvitation(_ auth.Principal, in *inviteMemberRequest) error {
	return auth.CheckInvitation(in.Body.Email, in.Body.Role)
}

func (api Users) inviteMember(ctx context.Context, p auth.Principal, in *inviteMemberRequest) (invitedMember, error) {
	var out invitedMember
	_, _, err := api.login.Invite(ctx, p, in.Body.Email, in.Body.Role, api.now(), func(tx *sqldb.DB, m auth.Member, link string) error {
		out = invitedMember{rowOfMember(m), optional.Pointer(link)}
		return endpoint.Remember(ctx, tx, out)
	})
	return out, err
}

type updateMemberRequest struct {
	ID   string `path:"id" as:"text" format:"uuid" doc:"The user's id."`
	Body struct {
		Role   endpoint.Opt[auth.Role]         `json:"role" nullable:"false"`
		Status endpoint.Opt[auth.MemberStatus] `json:"status" nullable:"false"`
	}
}

func checkMember(_ auth.Principal, in *updateMemberRequest) error { return in.change().Check() }

func (api Users) updateMember(ctx context.Context, p auth.Principal, in *updateMemberRequest) (Member, error) {
	user, err := wire.RecordID[id.User](in.ID, auth.ErrNoUser)
	if err != nil {
		return Member{}, err
	}
	m, err := auth.ChangeMember(ctx, api.db, p, user, in.change(), api.now())
	if err != nil {
		return Member{}, err
	}
	return rowOfMember(m), nil
}

func (in *updateMemberRequest) change() auth.MemberChange {
	return auth.MemberChange{Role: in.Body.Role.Pointer(), Status: in.Body.Status.Pointer()}
}

func (api Users) removeMember(ctx context.Context, p auth.Principal, in *struct {
	ID string `path:"id" as:"text" format:"uuid" doc:"The user's id."`
}) (endpoint.None, error) {
	user, err := wire.RecordID[id.User](in.ID, auth.ErrNoUser)
	if err != nil {
		return endpoint.None{}, err
	}
	return endpoint.None{}, auth.RemoveMember(ctx, api.db, p, user, api.now())
}
