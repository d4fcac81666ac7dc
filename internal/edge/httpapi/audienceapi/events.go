package audienceapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/audience/event"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Events serves custom events.
type Events struct {
	db       *sqldb.DB
	recorder *event.Recorder
}

// NewEvents returns the operations on custom events.
func NewEvents(e wire.Env, recorder *event.Recorder) Events {
	return Events{db: e.DB, recorder: recorder}
}

// Register adds the operations on custom events.
func (api Events) Register(r *endpoint.Router) {
	endpoint.Handle(r, "POST /t/{tenant}/api/events", endpoint.Op{
		Name: "recordEvent", Summary: "Record an event of a contact.",
		Description: "contact_id wins over contact_email. An unknown address creates a contact if the account's auto_create_on_event is on. A type adds canonical names of known properties and returns warnings; the event is recorded in any case.",
		Tag:         "events", Scope: auth.EventsWrite, Status: http.StatusAccepted, Faults: []*fault.Error{contact.ErrNotFound, contact.ErrLimit},
	}.ExampleBody(`{"event_name": "order_placed", "type": "order_placed", "contact_email": "ann@example.org", "properties": {"order_id": "A-1001", "value": 49.9, "currency": "EUR", "items": [{"sku": "mug", "quantity": 2}]}, "idempotency_key": "order-A-1001"}`), api.recordEvent, checkEvent)
	endpoint.Handle(r, "POST /t/{tenant}/api/events/batch", endpoint.Op{
		Name: "recordEvents", Summary: "Record up to 500 events.",
		Description: "Each event is checked and recorded on its own: the results are in the order of the events, and those that are not recorded have an error as a single request would.",
		Tag:         "events", Scope: auth.EventsWrite, Status: http.StatusAccepted, Faults: []*fault.Error{event.ErrLimit},
	}.ExampleBody(`{"events": [{"event_name": "logged_in", "contact_email": "ann@example.org", "occurred_at": "2026-02-28T08:30:00Z"}, {"event_name": "invoice_paid", "contact_id": "$CONTACT_ID", "properties": {"invoice": 7}}]}`), api.recordEvents)
}

type recordEventRequest struct {
	Body EventInput
}

// EventInput is an event to record.
type EventInput struct {
	EventName      string                        `json:"event_name" doc:"1 to 128 characters."`
	ContactID      endpoint.Opt[string]          `json:"contact_id" format:"uuid" doc:"This or contact_email is required."`
	ContactEmail   endpoint.Opt[string]          `json:"contact_email" doc:"The contact's address."`
	Type           endpoint.Opt[string]          `json:"type" doc:"The kind of activity, such as order_placed."`
	Properties     endpoint.Opt[eventProperties] `json:"properties" doc:"At most 32 KB, and 8 levels of objects and arrays."`
	OccurredAt     endpoint.Opt[string]          `json:"occurred_at" doc:"RFC 3339; now when absent."`
	IdempotencyKey endpoint.Opt[string]          `json:"idempotency_key" doc:"1 to 128 characters. A repeat within 7 days returns the first answer."`
}

// eventProperties are properties with their numbers as sent.
type eventProperties map[string]any

// UnmarshalJSON reads an object.
func (p *eventProperties) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode((*map[string]any)(p))
}

// Schema is that of any object.
func (eventProperties) Schema(endpoint.Registry) *endpoint.Schema {
	return &endpoint.Schema{Type: endpoint.TypeObject, AdditionalProperties: true}
}

// input returns the event, and adds to p the problems of texts that it cannot parse. Package event
// checks the rest.
func (in *EventInput) input(p *fault.Problems) event.Input {
	out := event.Input{
		Name: in.EventName, Type: in.Type.Or(""), Email: in.ContactEmail.Or(""), Properties: in.Properties.Or(nil), Key: in.IdempotencyKey.Or(""),
	}
	if text := in.ContactID; text.Given() {
		c, ok := id.Parse[id.Contact](text.Value)
		if out.Contact = c; !ok {
			p.Add("contact_id", "must be a UUID")
		}
	}
	if text := in.OccurredAt; text.Given() {
		at, err := endpoint.ParseTime(text.Value)
		if out.OccurredAt = at; err != nil {
			p.Add("occurred_at", err.Error())
		}
	}
	if in.IdempotencyKey.Given() && out.Key == "" {
		p.Add("idempotency_key", "must have 1 to 128 characters")
	}
	return out
}

// complete returns the error for all problems of an event, if there are any in p.
func complete(p *fault.Problems, in event.Input) error {
	if p.Any() {
		in.AddProblems(p)
	}
	return p.Err()
}

func checkEvent(_ auth.Principal, in *recordEventRequest) error {
	var p fault.Problems
	in.Body.input(&p).AddProblems(&p)
	return p.Err()
}

// recordedEvent is the answer for an event.
type recordedEvent struct {
	EventID   id.Entry   `json:"event_id" format:"uuid"`
	ContactID id.Contact `json:"contact_id" format:"uuid"`
	Warnings  []string   `json:"warnings,omitempty" doc:"Recommended properties that are missing, and the like."`
}

func (api Events) recordEvent(ctx context.Context, p auth.Principal, in *recordEventRequest) (recordedEvent, error) {
	var problems fault.Problems
	input := in.Body.input(&problems)
	if err := complete(&problems, input); err != nil {
		return recordedEvent{}, err
	}
	list, err := api.recorder.Record(ctx, p.Tenant, []event.Input{input})
	if err != nil {
		return recordedEvent{}, err
	}
	return recordedEvent{list[0].ID, list[0].Contact, list[0].Warnings}, list[0].Err
}

type recordEventsRequest struct {
	Body eventBatch
}

// eventBatch are events to record.
type eventBatch struct {
	Events []eventItem `json:"events" doc:"1 to 500."`
}

// ReadTree takes the events over as they are.
func (b *eventBatch) ReadTree(tree any) {
	fields, _ := tree.(map[string]any)
	list, _ := fields["events"].([]any)
	b.Events = make([]eventItem, len(list))
	for i, v := range list {
		b.Events[i].value = v
	}
}

// eventItem is an event of a batch as received. It is checked on its own, not with the body.
type eventItem struct{ value any }

// UnmarshalJSON reads any value.
func (e *eventItem) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &e.value) }

// Schema describes an event without the types of its fields, so that a wrong one does not fail the
// other events.
func (eventItem) Schema(endpoint.Registry) *endpoint.Schema {
	return &endpoint.Schema{
		Description: "An event as in POST /events.",
		Properties: map[string]*endpoint.Schema{
			"event_name": {}, "contact_id": {}, "contact_email": {}, "type": {}, "properties": {}, "occurred_at": {}, "idempotency_key": {},
		},
	}
}

// input parses the event, and adds all its problems to p.
func (e eventItem) input(p *fault.Problems) event.Input {
	fields, ok := e.value.(map[string]any)
	if !ok {
		p.Add("", "expected object")
		return event.Input{}
	}
	text := func(name string) endpoint.Opt[string] {
		s, ok := fields[name].(string)
		if !ok && fields[name] != nil {
			p.Add(name, "expected string")
		}
		return endpoint.Opt[string]{Set: ok, Value: s}
	}
	in := EventInput{
		EventName: text("event_name").Value, ContactID: text("contact_id"), ContactEmail: text("contact_email"), Type: text("type"),
		OccurredAt: text("occurred_at"), IdempotencyKey: text("idempotency_key"),
	}
	properties, ok := fields["properties"].(map[string]any)
	if !ok && fields["properties"] != nil {
		p.Add("properties", "expected object")
	}
	in.Properties = endpoint.Some[eventProperties](properties)
	return in.input(p)
}

// recordedEvents are the answers for the events of a batch.
type recordedEvents struct {
	Results []eventResult `json:"results" doc:"In the order of the events."`
}

// eventResult is a recordedEvent, or an error.
type eventResult struct {
	EventID   *id.Entry           `json:"event_id,omitempty" format:"uuid"`
	ContactID *id.Contact         `json:"contact_id,omitempty" format:"uuid"`
	Warnings  []string            `json:"warnings,omitempty"`
	Error     *endpoint.ItemError `json:"error,omitempty" doc:"The only field of an event that was not recorded."`
}

func (api Events) recordEvents(ctx context.Context, p auth.Principal, in *recordEventsRequest) (recordedEvents, error) {
	switch n := len(in.Body.Events); {
	case n == 0:
		return recordedEvents{}, fault.Input(fault.Field{Path: "events", Message: fmt.Sprintf("must hold 1 to %d events", event.MaxBatch)})
	case n > event.MaxBatch:
		return recordedEvents{}, event.ErrLimit
	}
	out := recordedEvents{Results: make([]eventResult, len(in.Body.Events))}
	var list []event.Input
	var at []int
	for i, item := range in.Body.Events {
		var problems fault.Problems
		input := item.input(&problems)
		if err := complete(&problems, input); err != nil {
			out.Results[i].setError(err)
			continue
		}
		list, at = append(list, input), append(at, i)
	}
	if len(list) == 0 {
		return out, nil
	}
	results, err := api.recorder.Record(ctx, p.Tenant, list)
	if err != nil {
		return recordedEvents{}, err
	}
	for n, r := range results {
		one := &out.Results[at[n]]
		if r.Err != nil {
			one.setError(r.Err)
			continue
		}
		one.EventID, one.ContactID, one.Warnings = &r.ID, &r.Contact, r.Warnings
	}
	return out, nil
}

// setError sets the error of an event; err is a fault.
func (r *eventResult) setError(err error) {
	f, ok := fault.As(err)
	if !ok {
		f = endpoint.ErrInternal
	}
	r.Error = new(endpoint.ErrorOf(f))
}
