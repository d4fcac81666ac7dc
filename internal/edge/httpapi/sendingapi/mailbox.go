package sendingapi

import (
	"bytes"
	"context"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/content/mailbox"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Mailbox serves the messages that sinks accepted.
type Mailbox struct {
	db      *sqldb.DB
	cursors *endpoint.Cursors
}

// NewMailbox returns the operations on the messages that sinks accepted.
func NewMailbox(e wire.Env) Mailbox { return Mailbox{db: e.DB, cursors: e.Cursors} }

// Register adds the operations on the messages that sinks accepted.
func (api Mailbox) Register(r *endpoint.Router) {
	op := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "mta configs", Session: true, Faults: append(faults, lane.ErrNotFound)}
	}
	list := op("listSinkMessages", "List the messages that an MTA config of type sink accepted, newest first.", endpoint.ErrCursor)
	list.Pagination = "cursor"
	remove := op("clearSinkMessages", "Delete the messages that an MTA config of type sink accepted.")
	remove.Role = auth.Admin
	endpoint.Handle(r, "GET /t/{tenant}/api/mta-configs/{id}/messages", list, api.listSinkMessages)
	endpoint.Handle(r, "GET /t/{tenant}/api/mta-configs/{id}/messages/{message_id}", op("getSinkMessage", "Get a message that a sink accepted, with its parts."), api.getSinkMessage)
	raw := op("getRawSinkMessage", "Get the source of a message that a sink accepted (message/rfc822).").WithTitle("Raw sink message")
	raw.Produces = []string{rawMail}
	endpoint.Handle(r, "GET /t/{tenant}/api/mta-configs/{id}/messages/{message_id}/raw", raw, api.getRawSinkMessage)
	endpoint.Handle(r, "DELETE /t/{tenant}/api/mta-configs/{id}/messages", remove, api.clearSinkMessages)
}

// rawMail is the media type of the source of a message.
const rawMail = "message/rfc822"

type listSinkMessagesRequest struct {
	wire.RecordPath
	Search string `query:"search" doc:"A part of the subject or of an address, in any case."`
	endpoint.CursorQuery
}

type SinkMessageRow struct {
	ID         id.SinkMessage `json:"id" format:"uuid"`
	MailFrom   string         `json:"mail_from"`
	To         string         `json:"to"`
	Subject    string         `json:"subject"`
	Size       int            `json:"size"`
	ReceivedAt endpoint.Stamp `json:"received_at"`
}

func (api Mailbox) listSinkMessages(ctx context.Context, p auth.Principal, in *listSinkMessagesRequest) (endpoint.List[SinkMessageRow], error) {
	q := mailbox.Query{Search: in.Search, Limit: endpoint.Limit(in.Limit)}
	if in.Cursor != "" {
		after, err := wire.DecodeTimePosition[id.SinkMessage](api.cursors, in.Cursor, "received_at")
		if err != nil {
			return endpoint.List[SinkMessageRow]{}, err
		}
		q.After = &mailbox.Position{At: after.At, ID: after.ID}
	}
	var err error
	if q.Lane, err = api.sink(ctx, p, in.RecordPath); err != nil {
		return endpoint.List[SinkMessageRow]{}, err
	}
	list, more, err := mailbox.List(ctx, api.db, p.Tenant, q)
	if err != nil {
		return endpoint.List[SinkMessageRow]{}, err
	}
	rows := make([]SinkMessageRow, len(list))
	for i, m := range list {
		rows[i] = rowOfSinkMessage(m)
	}
	next := ""
	if more {
		last := list[len(list)-1]
		next = wire.TimePosition[id.SinkMessage]{At: last.ReceivedAt, ID: last.ID}.Encode(api.cursors, "received_at")
	}
	return endpoint.Page(rows, next), nil
}

// sink returns the id of the MTA config that a path names, if there is one.
func (api Mailbox) sink(ctx context.Context, p auth.Principal, in wire.RecordPath) (id.Lane, error) {
	config, err := wire.RecordID[id.Lane](in.ID, lane.ErrNotFound)
	if err != nil {
		return id.Lane{}, err
	}
	_, err = lane.ByID(ctx, api.db, p.Tenant, config)
	return config, err
}

func rowOfSinkMessage(m mailbox.Message) SinkMessageRow {
	return SinkMessageRow{m.ID, m.MailFrom, m.To, m.Subject, m.Size, endpoint.At(m.ReceivedAt)}
}

type sinkMessagePath struct {
	wire.RecordPath
	MessageID string `path:"message_id" as:"text" format:"uuid" doc:"The message's id."`
}

type sinkMessage struct {
	SinkMessageRow
	Headers [][2]string `json:"headers" doc:"Name and value of each, in their order. Encoded words (RFC 2047) are decoded; the source has them as they came."`
	HTML    *string     `json:"html"`
	Text    *string     `json:"text"`
}

func (api Mailbox) getSinkMessage(ctx context.Context, p auth.Principal, in *sinkMessagePath) (sinkMessage, error) {
	config, err := api.sink(ctx, p, in.RecordPath)
	if err != nil {
		return sinkMessage{}, err
	}
	message, err := in.message()
	if err != nil {
		return sinkMessage{}, err
	}
	m, parts, err := mailbox.Get(ctx, api.db, p.Tenant, config, message)
	if err != nil {
		return sinkMessage{}, err
	}
	return sinkMessage{rowOfSinkMessage(m), parts.Headers, optional.Pointer(parts.HTML), optional.Pointer(parts.Text)}, nil
}

func (in sinkMessagePath) message() (id.SinkMessage, error) {
	return wire.RecordID[id.SinkMessage](in.MessageID, mailbox.ErrNotFound)
}

func (api Mailbox) getRawSinkMessage(ctx context.Context, p auth.Principal, in *sinkMessagePath) (endpoint.Download, error) {
	config, err := api.sink(ctx, p, in.RecordPath)
	if err != nil {
		return endpoint.Download{}, err
	}
	message, err := in.message()
	if err != nil {
		return endpoint.Download{}, err
	}
	_, raw, err := mailbox.Raw(ctx, api.db, p.Tenant, config, message)
	if err != nil {
		return endpoint.Download{}, err
	}
	return endpoint.Download{
		Name: message.String() + ".eml", MediaType: rawMail, Size: int64(len(raw)), Content: bytes.NewReader(raw),
	}, nil
}

func (api Mailbox) clearSinkMessages(ctx context.Context, p auth.Principal, in *wire.RecordPath) (endpoint.None, error) {
	config, err := api.sink(ctx, p, *in)
	if err != nil {
		return endpoint.None{}, err
	}
	return endpoint.None{}, mailbox.Clear(ctx, api.db, p.Tenant, config)
}
