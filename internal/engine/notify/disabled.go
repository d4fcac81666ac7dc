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

// disabledEvery is how often DisabledEndpoints looks for disabled endpoints.
const disabledEvery = 30 * time.Second

// DisabledEndpoints mails the admins and owners of tenants whose endpoints the program disabled. One process at
// a time runs it. A mail that failed is sent again at the next interval, to all of them.
type DisabledEndpoints struct {
	DB  *sqldb.DB
	Log *slog.Logger
	// Mail sends a mail over the installation's relay; nil without one: then it is only logged.
	Mail func(ctx context.Context, to, subject, text string) error
}

// Run mails until ctx ends.
func (d *DisabledEndpoints) Run(ctx context.Context) error {
	tick := func(ctx context.Context) (bool, error) { return false, d.Tick(ctx) }
	return poll.Loop{Poll: tick, Every: disabledEvery, Log: d.Log, Failed: "mail admins about webhook endpoints failed"}.Run(ctx)
}

// Tick mails about the endpoints that were disabled since.
func (d *DisabledEndpoints) Tick(ctx context.Context) error {
	list, err := webhook.DisabledUnmailed(ctx, d.DB)
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := d.notify(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

func (d *DisabledEndpoints) notify(ctx context.Context, e webhook.Endpoint) error {
	account, err := tenant.ByID(ctx, d.DB, e.Tenant)
	if err != nil {
		return err
	}
	members, err := auth.Members(ctx, d.DB, e.Tenant)
	if err != nil {
		return err
	}
	proven, err := auth.MemberAddresses(ctx, d.DB, e.Tenant)
	if err != nil {
		return err
	}
	subject, text := disabledText(account, e)
	mailed := 0
	for _, m := range members {
		if d.Mail == nil || !proven[m.Email] || m.Role != auth.Admin && m.Role != auth.Owner {
			continue
		}
		if err := d.Mail(ctx, m.Email, subject, text); err != nil {
			return fmt.Errorf("mail an admin: %w", err)
		}
		mailed++
	}
	if mailed == 0 {
		d.Log.Warn("webhook endpoint disabled, and no admin was mailed", "tenant", e.Tenant, "endpoint", e.ID, "reason", e.DisabledReason)
	}
	return webhook.MarkMailed(ctx, d.DB, e.Tenant, e.ID)
}

// disabledText returns the mail about an endpoint. It names the host alone, since the rest of a URL may
// be secret.
func disabledText(account tenant.Tenant, e webhook.Endpoint) (subject, text string) {
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
