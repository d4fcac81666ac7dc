package auth

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Limits of mailing one invitation.
const (
	tryInvitation  = time.Hour       // how long a mail that fails is tried again
	pauseInvite    = time.Minute     // after the first failure; pauses double
	leaseInvite    = 2 * time.Minute // longer than taskTimeout
	maxMailReason  = 300             // bytes
	mailsAtOnce    = 20
	maxNameInMails = 60 // characters
)

// MailRefusal is the error of a mail that a relay refused. Users may see its text, unlike that of other errors,
// which tell about the operator's network.
type MailRefusal struct{ Reply string }

func (e *MailRefusal) Error() string { return "mail refused: " + e.Reply }

// queueInvitation makes the mail of an invitation due.
func queueInvitation(ctx context.Context, tx *sqldb.DB, t id.Tenant, user id.User, inviter string, now time.Time) error {
	_, err := tx.Exec(ctx, `
		UPDATE membership SET mail_due_at = $3, mail_until = $4, mail_inviter = $5
		WHERE tenant_id = $1 AND user_id = $2`, t, user, now.UnixMicro(), now.Add(tryInvitation).UnixMicro(), plainName(inviter))
	if err != nil {
		return fmt.Errorf("queue the mail of an invitation: %w", err)
	}
	return nil
}

// invitationFailed reports whether the last invitation of an address to a tenant could not be mailed.
func invitationFailed(ctx context.Context, db *sqldb.DB, t id.Tenant, email string) (bool, error) {
	u, err := UserByEmail(ctx, db, email)
	if err != nil {
		if errors.Is(err, ErrNoUser) {
			err = nil
		}
		return false, err
	}
	m, err := MemberOf(ctx, db, t, u.ID)
	if errors.Is(err, ErrNoUser) {
		err = nil
	}
	return m.MailFailed != "", err
}

// dueInvitation is an invitation whose mail is due, leased to this process.
type dueInvitation struct {
	tenant  id.Tenant
	user    id.User
	role    Role
	inviter string
	until   time.Time
	lease   int64
}

// MailInvitations mails invitations that are due, and reports whether there may be more.
func (d *Login) MailInvitations(ctx context.Context, now time.Time) (more bool, err error) {
	if d.Mail == nil {
		return false, nil
	}
	rows, err := d.DB.Query(ctx, `
		SELECT tenant_id, user_id FROM membership
		WHERE mail_due_at <= $1 ORDER BY mail_due_at LIMIT $2 /* all tenants: the installation's relay sends for them */`, now.UnixMicro(), mailsAtOnce)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (i dueInvitation, err error) {
		err = scan(&i.tenant, &i.user)
		return i, err
	})
	if err != nil {
		return false, fmt.Errorf("find invitations to mail: %w", err)
	}
	for _, i := range list {
		if err := d.mailInvitation(ctx, i.tenant, i.user, now); err != nil {
			return false, err
		}
	}
	return len(list) == mailsAtOnce, nil
}

// mailInvitation mails an invitation, if it is due and no other process does. A mail that fails is due again
// later, with another link, since only a hash of the link is stored.
func (d *Login) mailInvitation(ctx context.Context, t id.Tenant, user id.User, now time.Time) error {
	i, token, err := d.leaseInvitation(ctx, t, user, now)
	if err != nil || token == "" {
		return err
	}
	u, err := UserByID(ctx, d.DB, user)
	if err != nil {
		return err
	}
	account, err := tenant.ByID(ctx, d.DB, t)
	if err != nil {
		return err
	}
	subject, text := i.text(account, InviteLink(d.BaseURL, token))
	failure := d.Mail(ctx, u.Email, subject, text)
	ctx = context.WithoutCancel(ctx)
	if failure == nil {
		return i.end(ctx, d.DB, nil, "")
	}
	reason := "the installation's relay could not be reached, or did not take the mail"
	var refused *MailRefusal
	if errors.As(failure, &refused) {
		reason = strings.ToValidUTF8(refused.Reply[:min(len(refused.Reply), maxMailReason)], "")
	}
	var next *time.Time
	if now.Before(i.until) {
		began := i.until.Add(-tryInvitation)
		next = new(now.Add(max(now.Sub(began), pauseInvite)))
		if next.After(i.until) {
			next = &i.until
		}
	}
	d.Log.Error("mail invitation failed", "tenant", t, "again", next != nil, "err", failure)
	return i.end(ctx, d.DB, next, reason)
}

// leaseInvitation leases an invitation that is due, and issues a token for its mail. The token is empty if it
// is not due.
func (d *Login) leaseInvitation(ctx context.Context, t id.Tenant, user id.User, now time.Time) (i dueInvitation, token string, err error) {
	err = d.DB.InTx(ctx, func(tx *sqldb.DB) error {
		i, token = dueInvitation{tenant: t, user: user, lease: now.Add(leaseInvite).UnixMicro()}, ""
		var until int64
		var inviter sql.NullString
		err := tx.QueryRow(ctx, `
			UPDATE membership SET mail_due_at = $4
			WHERE tenant_id = $1 AND user_id = $2 AND mail_due_at <= $3 AND status = 'invited'
			RETURNING role, mail_inviter, mail_until`, t, user, now.UnixMicro(), i.lease).Scan(&i.role, &inviter, &until)
		if errors.Is(err, sqldb.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		i.inviter, i.until = inviter.String, sqldb.Time(until)
		token, err = issueToken(ctx, tx, oneTime{purpose: forInvite, user: user, tenant: t, proves: true}, inviteAge, now)
		return err
	})
	if err != nil {
		return i, "", fmt.Errorf("lease an invitation: %w", err)
	}
	return i, token, nil
}

// end stores the result of an attempt: when the next one is due, or nil, and why it failed, or "".
func (i dueInvitation) end(ctx context.Context, db *sqldb.DB, next *time.Time, reason string) error {
	_, err := db.Exec(ctx, `
		UPDATE membership SET mail_due_at = $4, mail_error = $5
		WHERE tenant_id = $1 AND user_id = $2 AND mail_due_at = $3`, i.tenant, i.user, i.lease, sqldb.NullMicros(next), sqldb.Null(reason))
	if err != nil {
		return fmt.Errorf("store the result of mailing an invitation: %w", err)
	}
	return nil
}

// text returns the mail of an invitation. Nothing in it is of the inviter's choice but two names without links.
func (i dueInvitation) text(account tenant.Tenant, link string) (subject, text string) {
	who, where := i.inviter, plainName(account.Name)
	if who == "" {
		who = "Somebody"
	}
	if where == "" {
		where = account.Slug
	}
	return "You are invited to " + where, fmt.Sprintf(
		"Hello,\n\n%s invites you to work with them in %s, as %s.\nWithin seven days, accept here:\n\n%s\n", who, where, i.role, link)
}

// plainName returns a name for a mail to people who have not agreed to receive any from its owner: short, and
// without what mail programs show as a link, such as https://example.com, example.com and a@example.com.
func plainName(name string) string {
	runes := []rune(strings.ToValidUTF8(name, " "))
	for i, r := range runes {
		switch {
		case unicode.IsLetter(r), unicode.IsMark(r), unicode.IsDigit(r), strings.ContainsRune(" -'’,&+()", r):
		case r == '.' && (i+1 == len(runes) || runes[i+1] == ' '): // of an abbreviation
		default:
			runes[i] = ' '
		}
	}
	name = strings.Join(strings.Fields(string(runes)), " ")
	if utf8.RuneCountInString(name) > maxNameInMails {
		name = strings.TrimSpace(string([]rune(name)[:maxNameInMails]))
	}
	return name
}
