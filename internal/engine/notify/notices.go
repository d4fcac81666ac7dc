package notify

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/poll"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// noticeEvery is how often Notices looks for disabled endpoints.
const noticeEvery = 30 * time.Second

// Notices mails the admins and owners of tenants whose endpoints the program disabled. One process at
// a time runs it. A mail that failed is sent again at the next interval, to all of them.
type Notices struct {
	DB  *sqldb.DB
	Log *slog.Logger
	// Mail sends a mail over the installation's relay; nil without one: then it is only logged.
	Mail func(ctx context.Context, to, subject, text string) error
}

// Run mails until ctx ends.
func (n *Notices) Run(ctx context.Context) error {
	tick := func(ctx context.Context) (bool, error) { return false, n.Tick(ctx) }
	return poll.Loop{Poll: tick, Every: noticeEvery, Log: n.Log, Failed: "mail admins about webhook endpoints failed"}.Run(ctx)
}

// Tick mails about the endpoints that were disabled since.
func (n *Notices) Tick(ctx context.Context) error {
	list, err := webhook.Notices(ctx, n.DB)
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := n.notify(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

func (n *Notices) notify(ctx context.Context, e webhook.Endpoint) error {
	account, err := tenant.ByID(ctx, n.DB, e.Tenant)
	if err != nil {
		return err
	}
	members, err := auth.Members(ctx, n.DB, e.Tenant)
	if err != nil {
		return err
	}
	subject, text := noticeText(account, e)
	mailed := 0
	for _, m := range members {
		if n.Mail == nil || m.Status != auth.MemberActive || m.Role != auth.Admin && m.Role != auth.Owner {
			continue
		}
		if err := n.Mail(ctx, m.Email, subject, text); err != nil {
			return fmt.Errorf("mail an admin: %w", err)
		}
		mailed++
	}
	if mailed == 0 {
		n.Log.Warn("webhook endpoint disabled, and no admin was mailed", "tenant", e.Tenant, "endpoint", e.ID, "reason", e.DisabledReason)
	}
	return webhook.NoticeSent(ctx, n.DB, e.Tenant, e.ID)
}

// noticeText returns the mail about an endpoint. It names the host alone, since the rest of a URL may
// be secret.
func noticeText(account tenant.Tenant, e webhook.Endpoint) (subject, text string) {
	host := "unknown host"
	if u, err := url.Parse(e.URL); err == nil {
		host = u.Host
	}
	why := "All attempts to deliver events to it have failed for five days."
	if e.DisabledReason == webhook.Gone {
		why = "It answered with the status 410 (Gone), which asks for no more events."
	}
	name := ""
	if e.Description != "" {
		name = " (" + e.Description + ")"
	}
	subject = "Webhook endpoint disabled: " + host
	text = fmt.Sprintf("The webhook endpoint at %s%s of %s was disabled.\n\n%s\n\nEvents that happen from now on are not sent to it. "+
		"To continue, set it to active again; deliveries that failed can be replayed.\n\nEndpoint: %s\n", host, name, account.Name, why, e.ID)
	return subject, text
}
