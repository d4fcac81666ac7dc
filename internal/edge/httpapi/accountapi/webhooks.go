package accountapi

import (
	"context"
	"net/http"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Webhooks serves webhook endpoints and their deliveries.
type Webhooks struct {
	db      *sqldb.DB
	box     *secret.Box
	cursors *endpoint.Cursors
	rules   webhook.Rules
	now     func() time.Time
}

// NewWebhooks returns the operations on webhook endpoints and their deliveries.
func NewWebhooks(e wire.Env, rules webhook.Rules) Webhooks {
	return Webhooks{db: e.DB, box: e.Box, cursors: e.Cursors, rules: rules, now: e.Now}
}

// On returns the operations on another handle.
func (api Webhooks) On(db *sqldb.DB) Webhooks { api.db = db; return api }

// Register adds the operations on webhook endpoints.
func (api Webhooks) Register(r *endpoint.Router) {
	const path = "/t/{tenant}/api/settings/webhooks"
	op := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "webhooks", Session: true, Role: auth.Admin, Faults: faults}
	}
	accepted := func(op endpoint.Op) endpoint.Op {
		op.Status = http.StatusAccepted
		return op
	}
	create := op("createWebhook", "Create a webhook endpoint; its secret is shown once.", webhook.ErrTooMany).Once().Revised(webhook.Revisions)
	create.Status = http.StatusCreated
	endpoint.Handle(r, "GET "+path, op("listWebhooks", "List the webhook endpoints, newest first."), api.listWebhooks)
	endpoint.Handle(r, "POST "+path, create.ExampleBody(`{"url": "https://example.com/hooks/mail", "description": "CRM", "event_types": ["email.bounced", "contact.unsubscribed"]}`), wire.Once(api, api.db, Webhooks.createWebhook), api.checkNewWebhook)
	endpoint.Handle(r, "GET "+path+"/{id}", op("getWebhook", "Get a webhook endpoint.", webhook.ErrNotFound).Revised(webhook.Revisions), api.getWebhook)
	endpoint.Handle(r, "PUT "+path+"/{id}", op("updateWebhook", "Update a webhook endpoint; activating a disabled one makes it healthy.", webhook.ErrNotFound).IfMatch(webhook.Revisions).ExampleBody(`{"event_types": ["*"], "active": true}`), api.updateWebhook, api.checkWebhook)
	endpoint.Handle(r, "DELETE "+path+"/{id}", op("deleteWebhook", "Delete a webhook endpoint with its deliveries.", webhook.ErrNotFound).IfMatch(webhook.Revisions), api.deleteWebhook)
	endpoint.Handle(r, "POST "+path+"/{id}/rotate-secret", op("rotateWebhookSecret", "Replace the secret of a webhook endpoint; requests are signed with both for 24 hours.", webhook.ErrNotFound).IfMatch(webhook.Revisions), api.rotateWebhookSecret)
	endpoint.Handle(r, "POST "+path+"/{id}/test", accepted(op("testWebhook", "Send the event webhook.test to a webhook endpoint.", webhook.ErrNotFound, webhook.ErrDisabled)).Once(), wire.Once(api, api.db, Webhooks.testWebhook))
	list := op("listWebhookDeliveries", "List the deliveries to a webhook endpoint, newest first.", webhook.ErrNotFound, endpoint.ErrCursor)
	list.Pagination = "cursor"
	endpoint.Handle(r, "GET "+path+"/{id}/deliveries", list.ExampleQuery("limit=2"), api.listWebhookDeliveries)
	endpoint.Handle(r, "GET "+path+"/{id}/deliveries/{delivery_id}", op("getWebhookDelivery", "Get a delivery with its request and the answer of the last attempt.", webhook.ErrNoDelivery), api.getWebhookDelivery)
	endpoint.Handle(r, "POST "+path+"/{id}/deliveries/{delivery_id}/replay", accepted(op("replayWebhookDelivery", "Attempt a delivery again now, whatever its status.", webhook.ErrNotFound, webhook.ErrNoDelivery, webhook.ErrDisabled)), api.replayWebhookDelivery)
	describeWebhooks(r)
}

// describeWebhooks adds the requests to webhook endpoints to the documents, one for each event type.
func describeWebhooks(r *endpoint.Router) {
	for _, k := range webhook.Kinds() {
		e := k.ExampleEvent()
		r.AddWebhooks(endpoint.Webhook{
			Name: k.Type, Summary: k.Summary, Tag: "webhooks", Example: e, Of: map[string]any{"type": k.Type, "data": e.Data},
			Headers: []endpoint.Header{
				{Name: "Webhook-Id", Description: "The same in all attempts of a delivery.", Example: "msg_01930000-0000-7000-8000-000000000001"},
				{Name: "Webhook-Timestamp", Description: "When this attempt was made, in seconds since 1970.", Example: 1772366400},
				{Name: "Webhook-Signature", Description: "v1 and the HMAC-SHA256 of id, timestamp and body, in base64; during a rotation of the secret two of them, separated by a space (Standard Webhooks).", Example: "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="},
			},
			Answers: map[string]string{
				"2XX":     "The event is accepted, if the answer comes within 15 seconds.",
				"410":     "The endpoint is disabled.",
				"default": "The delivery has failed, also by a redirect, and is attempted again up to seven times within 28 hours.",
			},
		})
	}
}

// webhookEvents is an event type in requests and answers.
type webhookEvent string

// Schema lists the event types.
func (webhookEvent) Schema(endpoint.Registry) *endpoint.Schema {
	s := &endpoint.Schema{Type: endpoint.TypeString}
	for _, t := range append([]string{webhook.AllEvents}, webhook.EventTypes()...) {
		s.Enum = append(s.Enum, t)
	}
	return s
}

type WebhookRow struct {
	ID             id.Webhook      `json:"id" format:"uuid"`
	URL            string          `json:"url"`
	Description    *string         `json:"description"`
	EventTypes     []webhookEvent  `json:"event_types"`
	Active         bool            `json:"active"`
	Status         webhook.Status  `json:"status" enum:"healthy,failing,disabled" doc:"failing: the last attempt failed."`
	DisabledReason *webhook.Reason `json:"disabled_reason" enum:"gone,failing" doc:"gone: it answered 410; failing: all attempts of five days failed; null: it is active, or a user disabled it."`
	LastSuccessAt  *endpoint.Stamp `json:"last_success_at"`
	LastFailureAt  *endpoint.Stamp `json:"last_failure_at"`
	CreatedAt      endpoint.Stamp  `json:"created_at"`
}

// webhookWithSecret is an endpoint with its secret, which is shown only once.
type webhookWithSecret struct {
	WebhookRow
	Secret string `json:"secret" doc:"whsec_ and 32 bytes in base64."`
}

func rowOfWebhook(e webhook.Endpoint) WebhookRow {
	row := WebhookRow{
		ID: e.ID, URL: e.URL, Description: optional.Pointer(e.Description), EventTypes: make([]webhookEvent, len(e.EventTypes)), Active: e.Active,
		Status: e.Status(), DisabledReason: optional.Pointer(e.DisabledReason), LastSuccessAt: endpoint.AtOr(e.LastSuccessAt),
		LastFailureAt: endpoint.AtOr(e.LastFailureAt), CreatedAt: endpoint.At(e.CreatedAt),
	}
	for i, t := range e.EventTypes {
		row.EventTypes[i] = webhookEvent(t)
	}
	return row
}

func (api Webhooks) listWebhooks(ctx context.Context, p auth.Principal, _ *struct{}) (endpoint.List[WebhookRow], error) {
	list, err := webhook.List(ctx, api.db, p.Tenant)
	if err != nil {
		return endpoint.List[WebhookRow]{}, err
	}
	rows := make([]WebhookRow, len(list))
	for i, e := range list {
		rows[i] = rowOfWebhook(e)
	}
	return endpoint.Whole(rows), nil
}

// webhookBody is the body of a create or an update; a new endpoint needs a URL and event types.
type webhookBody struct {
	URL         endpoint.Opt[string]   `json:"url" nullable:"false" doc:"https, without user name and fragment. Required when an endpoint is created."`
	Description endpoint.Opt[string]   `json:"description"`
	EventTypes  endpoint.Opt[[]string] `json:"event_types" nullable:"false" doc:"A list of event types, or [\"*\"]. Required when an endpoint is created."`
	Active      endpoint.Opt[bool]     `json:"active" nullable:"false" doc:"true when absent from a create."`
}

func (b webhookBody) fields() webhook.Fields {
	return webhook.Fields{URL: b.URL.Pointer(), Description: wire.NullAsZero(b.Description), EventTypes: b.EventTypes.Pointer(), Active: b.Active.Pointer()}
}

type createWebhookRequest struct{ Body webhookBody }

func (api Webhooks) checkNewWebhook(_ auth.Principal, in *createWebhookRequest) error {
	return in.Body.fields().CheckNew(api.rules)
}

func (api Webhooks) createWebhook(ctx context.Context, p auth.Principal, in *createWebhookRequest) (webhookWithSecret, error) {
	var out webhookWithSecret
	err := wire.Audited(ctx, api.db, p, "create", "webhook", api.now(), func(tx *sqldb.DB) (string, error) {
		e, key, err := webhook.Create(ctx, tx, api.box, p.Tenant, in.Body.fields(), api.rules, api.now())
		out = webhookWithSecret{rowOfWebhook(e), key}
		endpoint.SetRevision(ctx, e.Revision)
		return e.ID.String(), err
	})
	return out, err
}

func (api Webhooks) getWebhook(ctx context.Context, p auth.Principal, in *wire.RecordPath) (WebhookRow, error) {
	which, err := wire.RecordID[id.Webhook](in.ID, webhook.ErrNotFound)
	if err != nil {
		return WebhookRow{}, err
	}
	e, err := webhook.ByID(ctx, api.db, p.Tenant, which)
	if err != nil {
		return WebhookRow{}, err
	}
	endpoint.SetRevision(ctx, e.Revision)
	return rowOfWebhook(e), nil
}

type updateWebhookRequest struct {
	wire.RecordPath
	Body webhookBody
}

func (api Webhooks) checkWebhook(_ auth.Principal, in *updateWebhookRequest) error {
	return in.Body.fields().Check(api.rules)
}

func (api Webhooks) updateWebhook(ctx context.Context, p auth.Principal, in *updateWebhookRequest) (WebhookRow, error) {
	which, err := wire.RecordID[id.Webhook](in.ID, webhook.ErrNotFound)
	if err != nil {
		return WebhookRow{}, err
	}
	var row WebhookRow
	err = wire.AuditedUpdate(ctx, api.db, p, wire.Update{
		Action: "update", Target: "webhook", ID: which.String(), Table: webhook.Revisions, Key: which,
		Show: func(tx *sqldb.DB) (any, error) {
			e, err := webhook.ByID(ctx, tx, p.Tenant, which)
			row := rowOfWebhook(e)
			row.Status, row.DisabledReason, row.LastSuccessAt, row.LastFailureAt = "", nil, nil, nil
			return row, err
		},
		Do: func(tx *sqldb.DB) error {
			e, err := webhook.Update(ctx, tx, p.Tenant, which, in.Body.fields(), api.rules, api.now())
			row = rowOfWebhook(e)
			endpoint.SetRevision(ctx, e.Revision)
			return err
		},
	}, api.now())
	return row, err
}

func (api Webhooks) deleteWebhook(ctx context.Context, p auth.Principal, in *wire.RecordPath) (endpoint.None, error) {
	which, err := wire.RecordID[id.Webhook](in.ID, webhook.ErrNotFound)
	if err != nil {
		return endpoint.None{}, err
	}
	return endpoint.None{}, wire.Audited(ctx, api.db, p, "delete", "webhook", api.now(), func(tx *sqldb.DB) (string, error) {
		return which.String(), webhook.Delete(ctx, tx, p.Tenant, which, api.now())
	})
}

func (api Webhooks) rotateWebhookSecret(ctx context.Context, p auth.Principal, in *wire.RecordPath) (webhookWithSecret, error) {
	which, err := wire.RecordID[id.Webhook](in.ID, webhook.ErrNotFound)
	if err != nil {
		return webhookWithSecret{}, err
	}
	var out webhookWithSecret
	err = wire.Audited(ctx, api.db, p, "rotate_secret", "webhook", api.now(), func(tx *sqldb.DB) (string, error) {
		e, key, err := webhook.RotateSecret(ctx, tx, api.box, p.Tenant, which, api.now())
		out = webhookWithSecret{rowOfWebhook(e), key}
		endpoint.SetRevision(ctx, e.Revision)
		return which.String(), err
	})
	return out, err
}

type DeliveryRow struct {
	ID            id.Delivery            `json:"id" format:"uuid" doc:"The header webhook-id is msg_ and this id."`
	EventType     webhookEvent           `json:"event_type"`
	Status        webhook.DeliveryStatus `json:"status" enum:"pending,retrying,delivered,failed"`
	Attempts      int                    `json:"attempts"`
	ResponseCode  *int                   `json:"response_code" doc:"Of the last attempt; null: no answer, or no attempt yet."`
	ResponseMS    *int                   `json:"response_ms"`
	Error         *string                `json:"error" doc:"Why there was no answer, or will be no further attempt."`
	NextAttemptAt *endpoint.Stamp        `json:"next_attempt_at"`
	LastAttemptAt *endpoint.Stamp        `json:"last_attempt_at"`
	CreatedAt     endpoint.Stamp         `json:"created_at"`
}

// fullDelivery is a delivery with its bodies.
type fullDelivery struct {
	DeliveryRow
	RequestBody  string  `json:"request_body"`
	ResponseBody *string `json:"response_body" doc:"The first 4 KB of the last answer."`
}

func rowOfDelivery(d webhook.Delivery) DeliveryRow {
	return DeliveryRow{
		ID: d.ID, EventType: webhookEvent(d.EventType), Status: d.Status, Attempts: d.Attempts, ResponseCode: d.ResponseCode, ResponseMS: d.ResponseMS,
		Error: optional.Pointer(d.Error), NextAttemptAt: endpoint.AtOr(d.NextAttemptAt), LastAttemptAt: endpoint.AtOr(d.LastAttemptAt), CreatedAt: endpoint.At(d.CreatedAt),
	}
}

func (api Webhooks) testWebhook(ctx context.Context, p auth.Principal, in *wire.RecordPath) (DeliveryRow, error) {
	which, err := wire.RecordID[id.Webhook](in.ID, webhook.ErrNotFound)
	if err != nil {
		return DeliveryRow{}, err
	}
	d, err := webhook.Test(ctx, api.db, p.Tenant, which, api.now())
	if err != nil {
		return DeliveryRow{}, err
	}
	return rowOfDelivery(d), nil
}

type listDeliveriesRequest struct {
	wire.RecordPath
	endpoint.CursorQuery
}

func (api Webhooks) listWebhookDeliveries(ctx context.Context, p auth.Principal, in *listDeliveriesRequest) (endpoint.List[DeliveryRow], error) {
	var none endpoint.List[DeliveryRow]
	which, err := wire.RecordID[id.Webhook](in.ID, webhook.ErrNotFound)
	if err != nil {
		return none, err
	}
	var after wire.TimePosition[id.Delivery]
	if in.Cursor != "" {
		if after, err = wire.DecodeTimePosition[id.Delivery](api.cursors, in.Cursor, "created_at"); err != nil {
			return none, err
		}
	}
	limit := endpoint.Limit(in.Limit)
	list, err := webhook.Deliveries(ctx, api.db, p.Tenant, which, after.ID, limit+1)
	if err != nil {
		return none, err
	}
	next := ""
	if len(list) > limit {
		list = list[:limit]
		last := list[limit-1]
		next = wire.TimePosition[id.Delivery]{At: last.CreatedAt, ID: last.ID}.Encode(api.cursors, "created_at")
	}
	rows := make([]DeliveryRow, len(list))
	for i, d := range list {
		rows[i] = rowOfDelivery(d)
	}
	return endpoint.Page(rows, next), nil
}

type deliveryPath struct {
	wire.RecordPath
	DeliveryID string `path:"delivery_id" as:"text" format:"uuid" doc:"The delivery's id."`
}

// ids parses the ids of the path.
func (p deliveryPath) ids() (e id.Webhook, d id.Delivery, err error) {
	if e, err = wire.RecordID[id.Webhook](p.ID, webhook.ErrNoDelivery); err != nil {
		return e, d, err
	}
	d, err = wire.RecordID[id.Delivery](p.DeliveryID, webhook.ErrNoDelivery)
	return e, d, err
}

func (api Webhooks) getWebhookDelivery(ctx context.Context, p auth.Principal, in *deliveryPath) (fullDelivery, error) {
	e, which, err := in.ids()
	if err != nil {
		return fullDelivery{}, err
	}
	d, err := webhook.DeliveryByID(ctx, api.db, p.Tenant, e, which)
	if err != nil {
		return fullDelivery{}, err
	}
	return fullDelivery{rowOfDelivery(d), d.RequestBody, optional.Pointer(d.ResponseBody)}, nil
}

func (api Webhooks) replayWebhookDelivery(ctx context.Context, p auth.Principal, in *deliveryPath) (DeliveryRow, error) {
	e, which, err := in.ids()
	if err != nil {
		return DeliveryRow{}, err
	}
	d, err := webhook.Replay(ctx, api.db, p.Tenant, e, which, api.now())
	if err != nil {
		return DeliveryRow{}, err
	}
	return rowOfDelivery(d), nil
}
