package auth

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/workingcopy"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ErrForbidden refuses a user whose role does not suffice.
var ErrForbidden = fault.New(fault.Forbidden, "FORBIDDEN", "your role does not allow this")

// ErrLastOwner refuses to leave a tenant without an owner.
var ErrLastOwner = fault.New(fault.Conflict, "IN_USE", "this is the tenant's last owner; make another member an owner first")

// ErrMember means that the person is already a member of the tenant.
var ErrMember = fault.New(fault.Conflict, "DUPLICATE_EMAIL", "this person is a member already")

// MemberStatus is the status of a membership.
type MemberStatus string

// The statuses of a membership.
const (
	MemberInvited  MemberStatus = "invited" // until the link is followed
	MemberActive   MemberStatus = "active"
	MemberDisabled MemberStatus = "disabled"
)

// Member is a user of one tenant.
type Member struct {
	User        id.User
	Email       string
	Name        string
	Role        Role
	Status      MemberStatus
	LastLoginAt *time.Time
	CreatedAt   time.Time
	MailFailed  string // why the invitation could not be mailed; empty if it was, or may still be
}

// Membership is one tenant of a user.
type Membership struct {
	Tenant id.Tenant
	Slug   string
	Name   string
	Role   Role
}

// Memberships returns the tenants of a user, by slug.
func Memberships(ctx context.Context, db *sqldb.DB, user id.User) ([]Membership, error) {
	rows, err := db.Query(ctx, `
		SELECT t.tenant_id, t.slug, t.name, m.role
		FROM membership m JOIN tenant t ON t.tenant_id = m.tenant_id
		WHERE m.user_id = $1 AND m.status = 'active' AND NOT m.withheld AND t.status <> 'deleted'
		ORDER BY t.slug /* all tenants: a person works in several */`, user)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (Membership, error) {
		var m Membership
		err := scan(&m.Tenant, &m.Slug, &m.Name, &m.Role)
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("list memberships: %w", err)
	}
	return list, nil
}

// memberQuery shows a withheld membership as invited, since both end with a new invitation. The login of
// somebody who has not accepted may be a stranger's: only its address, which the inviter gave, is shown.
const memberQuery = `
	SELECT u.id, u.email, CASE WHEN m.withheld OR m.status = 'invited' THEN u.email ELSE u.name END, m.role,
		CASE WHEN m.withheld AND m.status = 'active' THEN 'invited' ELSE m.status END,
		CASE WHEN m.withheld OR m.status = 'invited' THEN NULL ELSE u.last_login_at END, m.created_at,
		CASE WHEN m.status = 'invited' AND m.mail_due_at IS NULL THEN COALESCE(m.mail_error, '') ELSE '' END
	FROM membership m JOIN app_user u ON u.id = m.user_id
	WHERE m.tenant_id = $1 `

func scanMember(scan func(...any) error) (Member, error) {
	var m Member
	var login sql.NullInt64
	var created int64
	if err := scan(&m.User, &m.Email, &m.Name, &m.Role, &m.Status, &login, &created, &m.MailFailed); err != nil {
		return Member{}, err
	}
	m.LastLoginAt, m.CreatedAt = sqldb.NullTime(login), sqldb.Time(created)
	return m, nil
}

// Members returns the members of a tenant, by address.
func Members(ctx context.Context, db *sqldb.DB, tenant id.Tenant) ([]Member, error) {
	rows, err := db.Query(ctx, memberQuery+`ORDER BY u.email`, tenant)
	list, err := sqldb.Collect(rows, err, scanMember)
	if err != nil {
		return nil, fmt.Errorf("list members: %w", err)
	}
	return list, nil
}

// MemberAddresses returns the addresses of a tenant's active members whose logins are proven. Anybody can sign
// up with the address of somebody else, who must not receive mail that the tenant writes.
func MemberAddresses(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (map[string]bool, error) {
	rows, err := db.Query(ctx, `
		SELECT u.email FROM membership m JOIN app_user u ON u.id = m.user_id
		WHERE m.tenant_id = $1 AND m.status = 'active' AND NOT m.withheld AND u.proven_at IS NOT NULL`, tenant)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (s string, err error) {
		err = scan(&s)
		return s, err
	})
	if err != nil {
		return nil, fmt.Errorf("list addresses of members: %w", err)
	}
	addresses := map[string]bool{}
	for _, a := range list {
		addresses[a] = true
	}
	return addresses, nil
}

// MemberOf returns one member of a tenant, or ErrNoUser.
func MemberOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, user id.User) (Member, error) {
	m, err := scanMember(db.QueryRow(ctx, memberQuery+`AND m.user_id = $2`, tenant, user).Scan)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Member{}, ErrNoUser
	}
	if err != nil {
		return Member{}, fmt.Errorf("load member: %w", err)
	}
	return m, nil
}

// AddMember makes a user an active member on behalf of the operator. An invited or disabled member
// becomes active with the new role. A login that is not proven is confirmed first, which voids its
// password; see ConfirmEmail.
func AddMember(ctx context.Context, db *sqldb.DB, tenant id.Tenant, user id.User, role Role, by By, now time.Time) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		if _, err := ConfirmEmail(ctx, tx, user, "", now); err != nil {
			return err
		}
		return addMember(ctx, tx, tenant, user, role, by, now)
	})
}

func addMember(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, user id.User, role Role, by By, now time.Time) error {
	return tx.InTx(ctx, func(tx *sqldb.DB) error {
		if err := upsertMember(ctx, tx, tenant, user, role, MemberActive, now); err != nil {
			return err
		}
		return Audit(ctx, tx, by.Did(tenant, "member.add", "user", user.String(), now))
	})
}

func upsertMember(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, user id.User, role Role, status MemberStatus, now time.Time) error {
	if !role.Valid() {
		return fault.Input(fault.Field{Path: "role", Message: "must be viewer, editor, admin or owner"})
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO membership (tenant_id, user_id, role, status, created_at)
		VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (tenant_id, user_id) DO UPDATE SET role = excluded.role, status = excluded.status, mail_due_at = NULL, mail_error = NULL`,
		tenant, user, role, status, now.UnixMicro())
	if err != nil {
		return fmt.Errorf("save membership: %w", err)
	}
	return nil
}

// MemberChange holds the changes to a membership; nil leaves a field unchanged.
type MemberChange struct {
	Role   *Role
	Status *MemberStatus
}

// Check validates the change, independently of the member.
func (c MemberChange) Check() error {
	var problems fault.Problems
	if c.Role != nil && !c.Role.Valid() {
		problems.Add("role", "must be viewer, editor, admin or owner")
	}
	if c.Status != nil && *c.Status != MemberActive && *c.Status != MemberDisabled {
		problems.Add("status", "must be active or disabled")
	}
	return problems.Err()
}

// auditForm returns what admins change of a member.
func (m Member) auditForm() any { return map[string]any{"role": m.Role, "status": m.Status} }

// ChangeMember changes a membership. Admins may change all members except owners, owners may change
// all. A tenant keeps at least one active owner.
func ChangeMember(ctx context.Context, db *sqldb.DB, p Principal, user id.User, c MemberChange, now time.Time) (Member, error) {
	if err := c.Check(); err != nil {
		return Member{}, err
	}
	var m Member
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		owners, err := lockOwners(ctx, tx, p.Tenant)
		if err != nil {
			return err
		}
		if m, err = MemberOf(ctx, tx, p.Tenant, user); err != nil {
			return err
		}
		if m.Role == Owner && !p.Role.AtLeast(Owner) || c.Role != nil && *c.Role == Owner && !p.Role.AtLeast(Owner) {
			return ErrForbidden.Sayf("only an owner may change owners")
		}
		if c.Status != nil && m.Status == MemberInvited { // a disabled member could be enabled without having accepted
			return fault.Input(fault.Field{Path: "status", Message: "the invitation has not been accepted yet; remove the member to withdraw it"})
		}
		before := m
		if c.Role != nil {
			m.Role = *c.Role
		}
		if c.Status != nil {
			m.Status = *c.Status
		}
		if owners.isOnly(user) && (m.Role != Owner || m.Status != MemberActive) {
			return ErrLastOwner
		}
		if err := saveMember(ctx, tx, p.Tenant, m, c.Status != nil); err != nil {
			return err
		}
		if m.Status == MemberDisabled {
			if err := revokeInvitations(ctx, tx, p.Tenant, user); err != nil {
				return err
			}
		}
		entry := p.Did("member.update", "user", user.String(), now)
		if entry.Changes, err = Changes(before.auditForm(), m.auditForm()); err != nil {
			return err
		}
		return Audit(ctx, tx, entry)
	})
	if err != nil {
		return Member{}, err
	}
	return m, nil
}

// saveMember stores a changed membership. The status is only written if it was changed, because the
// one shown for a withheld membership differs from the stored one.
func saveMember(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, m Member, status bool) error {
	_, err := tx.Exec(ctx, `
		UPDATE membership SET role = $3, status = CASE WHEN $5 THEN $4 ELSE status END
		WHERE tenant_id = $1 AND user_id = $2`,
		tenant, m.User, m.Role, m.Status, status)
	if err != nil {
		return fmt.Errorf("change membership: %w", err)
	}
	return nil
}

// RemoveMember deletes a membership with the user's working copies; the user's memberships in other
// tenants remain.
func RemoveMember(ctx context.Context, db *sqldb.DB, p Principal, user id.User, now time.Time) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		owners, err := lockOwners(ctx, tx, p.Tenant)
		if err != nil {
			return err
		}
		m, err := MemberOf(ctx, tx, p.Tenant, user)
		if err != nil {
			return err
		}
		if m.Role == Owner && !p.Role.AtLeast(Owner) {
			return ErrForbidden.Sayf("only an owner may remove owners")
		}
		if owners.isOnly(user) {
			return ErrLastOwner
		}
		if _, err := tx.Exec(ctx, `DELETE FROM membership WHERE tenant_id = $1 AND user_id = $2`, p.Tenant, user); err != nil {
			return fmt.Errorf("end membership: %w", err)
		}
		if err := workingcopy.DeleteOfUser(ctx, tx, p.Tenant, user); err != nil {
			return err
		}
		if err := revokeInvitations(ctx, tx, p.Tenant, user); err != nil {
			return err
		}
		return Audit(ctx, tx, p.Did("member.remove", "user", user.String(), now))
	})
}

type owners []id.User

func (o owners) isOnly(user id.User) bool { return len(o) == 1 && o[0] == user }

// lockOwners returns the active owners and locks their rows, so that two of them cannot resign
// concurrently.
func lockOwners(ctx context.Context, tx *sqldb.DB, tenant id.Tenant) (owners, error) {
	rows, err := tx.Query(ctx, `
		SELECT user_id FROM membership
		WHERE tenant_id = $1 AND role = 'owner' AND status = 'active' AND NOT withheld
		ORDER BY user_id`+tx.ForUpdate(), tenant)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (u id.User, err error) {
		err = scan(&u)
		return u, err
	})
	if err != nil {
		return nil, fmt.Errorf("list owners: %w", err)
	}
	return list, nil
}
