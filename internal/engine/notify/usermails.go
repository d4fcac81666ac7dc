package notify

import (
	"context"
	"log/slog"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/poll"
	"github.com/packetboat/packetboat/internal/campaign/usermail"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// userMailsEvery is how often UserMails looks for mails without a wake-up.
const userMailsEvery = 10 * time.Second

// UserMails sends the mails that steps of sequences and actions of automations write to users. One
// process at a time runs it. A mail is sent again if the process ends before it has noted that it
// was sent.
type UserMails struct {
	DB   *sqldb.DB
	Log  *slog.Logger
	Now  func() time.Time
	Wake <-chan struct{} // mails were added; may be nil
	// Mail sends a mail over the installation's relay; nil without one: mails are dropped.
	Mail func(ctx context.Context, to, subject, text string) error
}

// Run sends until ctx ends.
func (m *UserMails) Run(ctx context.Context) error {
	return poll.Loop{Poll: m.Tick, Every: userMailsEvery, Wake: m.Wake, Log: m.Log, Failed: "send mails to users failed"}.Run(ctx)
}

// Tick sends some of the mails of each tenant that are due, and reports whether there may be more.
func (m *UserMails) Tick(ctx context.Context) (more bool, err error) {
	if err := usermail.Prune(ctx, m.DB, m.Now()); err != nil {
		return false, err
	}
	tenants, err := usermail.DueTenants(ctx, m.DB, m.Now())
	if err != nil {
		return false, err
	}
	for _, t := range tenants {
		n, err := m.send(ctx, t)
		if err != nil {
			return false, err
		}
		more = more || n > 0
	}
	return more, nil
}

// send sends mails of a tenant to those of its users who still are, and returns how many it took.
func (m *UserMails) send(ctx context.Context, t id.Tenant) (int, error) {
	list, err := usermail.Due(ctx, m.DB, t, m.Now())
	if err != nil || len(list) == 0 {
		return 0, err
	}
	users, err := auth.MemberAddresses(ctx, m.DB, t)
	if err != nil {
		return 0, err
	}
	for _, mail := range list {
		if err := m.sendOne(ctx, t, mail, users[mail.To]); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}

func (m *UserMails) sendOne(ctx context.Context, t id.Tenant, mail usermail.Mail, isUser bool) error {
	if m.Mail == nil || !isUser {
		reason := "the installation has no relay for its own mail"
		if m.Mail != nil {
			reason = "the recipient is no user of the tenant any more, or has not proven the address"
		}
		m.Log.Warn("mail to user dropped", "tenant", t, "mail", mail.ID, "reason", reason)
		return usermail.Drop(ctx, m.DB, t, mail)
	}
	err := m.Mail(ctx, mail.To, mail.Subject, mail.Body)
	if err == nil {
		return usermail.Sent(context.WithoutCancel(ctx), m.DB, t, mail, m.Now())
	}
	if ctx.Err() != nil {
		return err
	}
	again, failed := usermail.Failed(ctx, m.DB, t, mail, m.Now())
	m.Log.Warn("send mail to user failed", "tenant", t, "mail", mail.ID, "again", again, "err", err)
	return failed
}
