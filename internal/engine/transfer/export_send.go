package transfer

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Subject selects what an export of a send contains.
type Subject string

// The subjects of exports.
const (
	Recipients Subject = "recipients"
	Bounces    Subject = "bounces"
)

// SendExport is a request for a file of the recipients or the bounces of a send.
type SendExport struct {
	Send    id.Send         `json:"send"`
	Subject Subject         `json:"what"`
	Format  FileFormat      `json:"format"`        // empty: CSV
	BOM     bool            `json:"bom,omitempty"` // as in ExportRequest
	Status  []outbox.Status `json:"status,omitempty"`
	Variant string          `json:"variant,omitempty"`
	Search  string          `json:"search,omitempty"`
}

// sendFields are the columns of CSV files.
var sendFields = map[Subject][]string{
	Recipients: {
		"contact_id", "email", "status", "variant_id", "sending_identity_email", "mta_config_key", "content_version", "planned_for",
		"sent_at", "delivered_at", "first_opened_at", "first_clicked_at", "bounced_at", "bounce_type", "complained_at",
		"unsubscribed_at", "skip_reason", "error",
	},
	Bounces: {"contact_id", "email", "type", "category", "smtp_code", "enhanced_code", "message", "bounced_at"},
}

// StartSendExport validates a request and queues the job; name is that of the send.
func StartSendExport(ctx context.Context, db *sqldb.DB, tenant id.Tenant, name string, r SendExport, by auth.Actor, now time.Time) (job.Job, error) {
	var p problems
	if r.Format == "" {
		r.Format = CSV
	}
	if mediaTypes[r.Format] == "" {
		p.Add("format", "must be csv or ndjson")
	}
	if sendFields[r.Subject] == nil {
		p.Add("what", "must be recipients or bounces")
	}
	if r.Subject == Bounces {
		const only = "is for recipients"
		if len(r.Status) > 0 {
			p.Add("status", only)
		}
		if r.Variant != "" {
			p.Add("variant_id", only)
		}
		if r.Search != "" {
			p.Add("search", only)
		}
	}
	if err := p.err(); err != nil {
		return job.Job{}, err
	}
	title := map[Subject]string{Recipients: "Recipients of %s", Bounces: "Bounces of %s"}[r.Subject]
	return job.Create(ctx, db, job.Draft{
		Tenant: tenant, Kind: job.Export, Title: fmt.Sprintf(title, name), Scope: auth.ReportsRead, Params: exportParams{Send: &r}, By: by,
	}, now)
}

// fields are the columns of the file; none: whole objects.
func (r SendExport) fields() []string {
	if r.Format == NDJSON {
		return nil
	}
	return sendFields[r.Subject]
}

func (r SendExport) listing(w *job.Work, e Exporter) listing {
	if r.Subject == Bounces {
		return bounces{w, r.Send, e}
	}
	return recipients{w, r.Send, outbox.Recipients{Status: r.Status, Variant: r.Variant, Search: r.Search}, e}
}

// recipients are the recipients that an export writes.
type recipients struct {
	*job.Work
	send id.Send
	q    outbox.Recipients
	Exporter
}

func (l recipients) count(ctx context.Context) (int, error) {
	return outbox.CountRecipients(ctx, l.DB, l.Job.Tenant, l.send, l.q)
}

func (l recipients) next(ctx context.Context, at *written) ([][]byte, error) {
	q := l.q
	q.After, q.Limit = at.After, exportPage
	list, more, err := outbox.List(ctx, l.DB, l.Job.Tenant, l.send, q)
	if err != nil {
		return nil, err
	}
	at.Done = !more
	if len(list) > 0 {
		at.After = list[len(list)-1].Contact
	}
	return l.Recipients(ctx, l.Job.Tenant, list)
}

// bounces are the bounces that an export writes, newest first: those that had come when it began to
// write.
type bounces struct {
	*job.Work
	send id.Send
	Exporter
}

func (l bounces) count(ctx context.Context) (n int, err error) {
	classes, err := outbox.BounceCounts(ctx, l.DB, l.Job.Tenant, l.send, outbox.BounceClass, exportPage)
	for _, c := range classes {
		n += c.Count
	}
	return n, err
}

func (l bounces) next(ctx context.Context, at *written) ([][]byte, error) {
	list, more, err := outbox.ListBounces(ctx, l.DB, l.Job.Tenant, l.send, at.Bounce, exportPage)
	if err != nil {
		return nil, err
	}
	at.Done = !more
	if len(list) > 0 {
		last := list[len(list)-1]
		at.Bounce = &outbox.BouncePosition{At: last.At, Message: last.Message}
	}
	return l.Bounces(list)
}
