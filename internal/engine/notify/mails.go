package notify

import (
	"context"
	"log/slog"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/poll"
	"github.com/packetboat/packetboat/internal/campaign/notice"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// mailsEvery is how often Mails looks for notices without a wake-up.
const mailsEvery = 10 * time.Second

// Mails sends the notices that steps of sequences and actions of automations write to users. One
// process at a time runs it. A notice is sent again if the process ends before it has noted that it
// was sent.
type Mails struct {
	DB   *sqldb.DB
	Log  *slog.Logger
	Now  func() time.Time
	Wake <-chan struct{} // notices were added; may be nil
	// Mail sends a mail over the installation's relay; nil without one: notices are dropped.
	Mail func(ctx context.Context, to, subject, text string) error
}

// Run sends until ctx ends.
func (m *Mails) Run(ctx context.Context) error {
	return poll.Loop{Poll: m.Tick, Every: mailsEvery, Wake: m.Wake, Log: m.Log, Failed: "send notices failed"}.Run(ctx)
}

// Tick sends some of the notices of each tenant that are due, and reports whether there may be more.
func (m *Mails) Tick(ctx context.Context) (more bool, err error) {
	if err := notice.Prune(ctx, m.DB, m.Now()); err != nil {
		return false, err
	}
	tenants, err := notice.DueTenants(ctx, m.DB, m.Now())
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

// send sends notices of a tenant to those of its users who still are, and returns how many it took.
func (m *Mails) send(ctx context.Context, t id.Tenant) (int, error) {
	list, err := notice.Due(ctx, m.DB, t, m.Now())
	if err != nil || len(list) == 0 {
		return 0, err
	}
	users, err := auth.MemberAddresses(ctx, m.DB, t)
	if err != nil {
		return 0, err
	}
	for _, n := range list {
		if err := m.sendOne(ctx, t, n, users[n.To]); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}

func (m *Mails) sendOne(ctx context.Context, t id.Tenant, n notice.Notice, isUser bool) error {
	if m.Mail == nil || !isUser {
		reason := "the installation has no relay for its own mail"
		if m.Mail != nil {
			reason = "the recipient is no user of the account any more"
		}
		m.Log.Warn("notice dropped", "tenant", t, "notice", n.ID, "reason", reason)
		return notice.Drop(ctx, m.DB, t, n)
	}
	err := m.Mail(ctx, n.To, n.Subject, n.Body)
	if err == nil {
		return notice.Sent(context.WithoutCancel(ctx), m.DB, t, n, m.Now())
	}
	if ctx.Err() != nil {
		return err
	}
	again, failed := notice.Failed(ctx, m.DB, t, n, m.Now())
	m.Log.Warn("send notice failed", "tenant", t, "notice", n.ID, "again", again, "err", err)
	return failed
}
