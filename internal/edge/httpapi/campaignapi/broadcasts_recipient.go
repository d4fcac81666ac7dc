package campaignapi

import (
	"context"
	"strings"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/view/recipient"
)

// recipient registers the evidence about one recipient.
func (api Broadcasts) recipient(r *endpoint.Router) {
	endpoint.Handle(r, "GET /t/{tenant}/api/broadcasts/{broadcast_id}/recipients/{contact_id}", endpoint.Op{
		Name:    "getBroadcastRecipient",
		Summary: "Get one recipient of a broadcast, with the mail, the attempts to send it, and the opens and clicks.",
		Description: "message is the mail rendered again, with the values that the contact had then as far as they are stored (rendered_with); its links record nothing. " +
			"It is null if no server was given the mail, or if it cannot be rendered any more because its content or the contact's data are gone. Hits whose class is still pending are included; " +
			"hits_deleted is the number of those that the account's retention has deleted. Retention also empties agent and network.",
		Tag:     "reports",
		Session: true,
		Faults:  []*fault.Error{broadcast.ErrNotFound, outbox.ErrNoRecipient},
	}, api.getBroadcastRecipient)
}

type getBroadcastRecipientRequest struct {
	ID      string `path:"broadcast_id" as:"text" format:"uuid" doc:"The broadcast's id."`
	Contact string `path:"contact_id" as:"text" format:"uuid" doc:"The contact's id."`
}

// recipientEvidence is a recipient with everything that is known about the message.
type recipientEvidence struct {
	RecipientRow
	Message     *recipientMessage  `json:"message"`
	Attempts    []recipientAttempt `json:"attempts"`
	Hits        []recipientHit     `json:"hits"`
	HitsDeleted int                `json:"hits_deleted" doc:"Opens and clicks that retention has deleted."`
}

// recipientMessage is a mail as it was sent.
type recipientMessage struct {
	Subject        string  `json:"subject"`
	From           *string `json:"from" doc:"Name and address, such as News <news@example.com>; null if the sending identity was deleted."`
	HTML           string  `json:"html"`
	Text           string  `json:"text"`
	VariantID      *string `json:"variant_id"`
	ContentVersion int     `json:"content_version"`

	RenderedWith recipient.RenderedWith `json:"rendered_with" enum:"sent,current" doc:"The contact's values: sent, those that the mail has; current, today's where those are not stored."`
}

// recipientAttempt is an attempt to send a message.
type recipientAttempt struct {
	At           endpoint.Stamp `json:"at" doc:"When the result came; if it is unknown, when the attempt began."`
	MTAConfigKey *string        `json:"mta_config_key"`
	Code         *int           `json:"code" doc:"Of the SMTP reply; null: no server answered."`
	Reply        *string        `json:"reply" doc:"The server's words, or what kept it from answering; null: not known, or erased."`
}

// recipientHit is an open or a click.
type recipientHit struct {
	Kind    string         `json:"kind" enum:"open,click"`
	At      endpoint.Stamp `json:"at"`
	LinkURL *string        `json:"link_url" doc:"Of a click; null for a fetch of the invisible link."`
	Class   track.Class    `json:"class" enum:"pending,bot,privacy,human"`
	Rules   []string       `json:"rules" doc:"The ids of the rules and signals that decided; empty while the class is pending."`
	Agent   *string        `json:"agent"`
	Network *string        `json:"network" doc:"The /24 or /64 of the address, with its operator if that is known."`
}

func (api Broadcasts) getBroadcastRecipient(ctx context.Context, p auth.Principal, in *getBroadcastRecipientRequest) (recipientEvidence, error) {
	var none recipientEvidence
	bid, err := wire.RecordID[id.Broadcast](in.ID, broadcast.ErrNotFound)
	if err != nil {
		return none, err
	}
	b, err := broadcast.Head(ctx, api.db, p.Tenant, bid)
	if err != nil {
		return none, err
	}
	cid, err := wire.RecordID[id.Contact](in.Contact, outbox.ErrNoRecipient)
	if err != nil {
		return none, err
	}
	found, err := api.evidence.Find(ctx, p.Tenant, b.Send, cid)
	if err != nil {
		return none, err
	}
	rows, err := recipientRows(ctx, api.db, p.Tenant, []outbox.Record{found.Record})
	if err != nil {
		return none, err
	}
	lanes := make([]id.Lane, len(found.Attempts))
	for i, a := range found.Attempts {
		lanes[i] = a.Lane
	}
	names, err := broadcast.LoadRouteNames(ctx, api.db, p.Tenant, lanes, nil)
	if err != nil {
		return none, err
	}
	out := recipientEvidence{RecipientRow: rows[0], Message: recipientMessageOf(found), Attempts: []recipientAttempt{}, Hits: []recipientHit{}, HitsDeleted: found.Deleted}
	for _, a := range found.Attempts {
		row := recipientAttempt{At: endpoint.At(a.At), MTAConfigKey: wire.NameOf(names.Lanes, a.Lane), Reply: optional.Pointer(a.Reply)}
		if a.Code != 0 {
			row.Code = &a.Code
		}
		out.Attempts = append(out.Attempts, row)
	}
	for _, h := range found.Hits {
		out.Hits = append(out.Hits, api.recipientHit(h))
	}
	return out, nil
}

func recipientMessageOf(r *recipient.Recipient) *recipientMessage {
	if r.Mail == nil {
		return nil
	}
	m := &recipientMessage{Subject: r.Mail.Subject, HTML: r.Mail.HTML, Text: r.Mail.Text, VariantID: optional.Pointer(r.Variant), ContentVersion: r.ContentVersion, RenderedWith: r.Mail.RenderedWith}
	if r.Mail.From != "" {
		m.From = new(render.Mailbox(r.Mail.FromName, r.Mail.From))
	}
	return m
}

func (api Broadcasts) recipientHit(h track.Hit) recipientHit {
	row := recipientHit{
		Kind: "open", At: endpoint.At(h.At), LinkURL: optional.Pointer(h.URL), Class: h.Class,
		Rules: append([]string{}, strings.Fields(h.Rule)...), Agent: optional.Pointer(h.Agent), Network: optional.Pointer(api.network(h.IP)),
	}
	if h.Click {
		row.Kind = "click"
	}
	return row
}
