package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/form"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// follow passes the journal to the follower.
func follow(t *testing.T, db *sqldb.DB) {
	t.Helper()
	e := journal.Engine{DB: db, Log: slog.New(slog.DiscardHandler), Followers: []journal.Follower{webhook.Follower(func() time.Time { return noon })}}
	if err := e.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// person creates a contact, which appends an entry to the journal.
func person(t *testing.T, db *sqldb.DB, of id.Tenant, email string) contact.Contact {
	t.Helper()
	c, err := contact.Create(t.Context(), db, of, email, contact.Change{}, contact.Rules{}, noon)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// event is the body of a delivery.
type event struct {
	Type      string         `json:"type"`
	Timestamp string         `json:"timestamp"`
	Slug      string         `json:"tenant_slug"`
	Data      map[string]any `json:"data"`
}

// events returns the bodies of the deliveries to an endpoint, oldest first.
func events(t *testing.T, db *sqldb.DB, e webhook.Endpoint) []event {
	t.Helper()
	list, err := webhook.Deliveries(t.Context(), db, e.Tenant, e.ID, id.Delivery{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]event, len(list))
	for i, d := range list {
		full, err := webhook.DeliveryByID(t.Context(), db, e.Tenant, e.ID, d.ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(full.RequestBody), &out[len(list)-1-i]); err != nil {
			t.Fatal(err)
		}
		if full.EventType != out[len(list)-1-i].Type {
			t.Errorf("a delivery of type %s has the body %s", full.EventType, full.RequestBody)
		}
	}
	return out
}

func types(list []event) (names []string) {
	for _, e := range list {
		names = append(names, e.Type)
	}
	return names
}

// documented returns the examples of docs/webhooks.md by event type.
func documented(t *testing.T) map[string]map[string]any {
	t.Helper()
	text, err := os.ReadFile("../../../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := map[string]map[string]any{}
	for _, m := range regexp.MustCompile("(?s)### ([a-z_.]+)\n\n[^#]*?```json\n(.*?)\n```").FindAllSubmatch(text, -1) {
		var data map[string]any
		if err := json.Unmarshal(m[2], &data); err != nil {
			t.Errorf("%s: the example is not JSON: %v", m[1], err)
		}
		examples[string(m[1])] = data
	}
	return examples
}

// entriesOf returns a journal entry of each type that events are made of.
func entriesOf(of id.Tenant, c id.Contact) []journal.Entry {
	named := func(t journal.Type, name string, data any) journal.Entry {
		return journal.Entry{Tenant: of, Type: t, Name: name, At: noon, Data: data}
	}
	about := func(t journal.Type, name string, data any) journal.Entry {
		e := named(t, name, data)
		e.Contact = c
		return e
	}
	mail := func(t journal.Type, data any) journal.Entry {
		e := about(t, "", data)
		e.Send, e.Message = id.New[id.Send](), id.New[id.Message]()
		return e
	}
	record := id.NewText()
	refusal := outbox.Refusal{Class: "hard", Category: "mailbox", Code: 550, Enhanced: "5.1.1", Text: "550 no", NextAttemptAt: new(noon)}
	return []journal.Entry{
		about(journal.ContactUpdated, "", map[string]any{"fields": []string{"first_name"}}),
		about(journal.ContactDeleted, "", nil), about(journal.ContactRestored, "", nil),
		about(journal.SubscriptionChanged, "", map[string]any{"email_type_key": "newsletter", "subscribed": true}),
		about(journal.SubscriptionChanged, "", map[string]any{"scope": "global", "subscribed": false}),
		about(journal.SubscriptionChanged, "", map[string]any{"email_type_key": "newsletter", "subscribed": nil}), // no event
		mail(journal.EmailSent, nil), mail(journal.EmailDelivered, nil), mail(journal.EmailDeferred, refusal),
		mail(journal.EmailOpened, track.Engaged{Classification: track.Human, First: true}),
		mail(journal.EmailOpened, track.Engaged{Classification: track.Bot, Withdrawn: true}), // no event
		mail(journal.EmailClicked, track.Engaged{Classification: track.Human, LinkURL: "https://example.com/?a=1&b=2"}),
		mail(journal.EmailBounced, refusal), mail(journal.EmailComplained, nil), mail(journal.EmailFailed, refusal),
		named(journal.BroadcastScheduled, record, nil), named(journal.BroadcastStarted, record, nil),
		named(journal.BroadcastPaused, record, map[string]string{"pause_reason": "user"}), named(journal.BroadcastResumed, record, nil),
		named(journal.BroadcastCompleted, record, nil), named(journal.BroadcastFailed, record, map[string]string{"code": "no_recipients"}),
		named(journal.BroadcastCancelled, record, nil), named(journal.BroadcastUnscheduled, record, nil), // the last is no event
		about(journal.SequenceEnrolled, record, map[string]any{"enrollment_id": record}),
		about(journal.SequenceCompleted, record, map[string]any{"enrollment_id": record, "outcome": "completed"}),
		about(journal.SequenceExited, record, map[string]any{"enrollment_id": record, "exit_reason": "goal_reached", "outcome": "converted"}),
		about(journal.FormSubmitted, "signup", form.Entry{Form: id.New[id.Form](), Submission: id.New[id.FormSubmission](), URL: "https://www.example.com/join"}),
		about(journal.CustomEvent, "order", journal.Event{Type: "order_placed", Properties: map[string]any{"value": 9.5}}),
		about(journal.ListAdded, "", map[string]any{"segment_key": "readers"}), about(journal.ListRemoved, "", map[string]any{"segment_key": "readers"}),
		about(journal.SuppressionAdded, "", map[string]any{"email": "ann@example.org", "reason": "manual"}),
		named(journal.SuppressionRemoved, "", map[string]any{"email": "gone@example.org"}),
		named(journal.DomainVerified, record, nil), named(journal.DomainFailed, record, map[string]any{"reason": "dns_lost"}),
		named(journal.DomainPaused, record, map[string]any{"reason": "complaint_rate", "rate": 0.01}),
		named(journal.MTADown, record, nil), named(journal.MTARecovered, record, nil),
		named(journal.ImportCompleted, record, map[string]any{"rows": 3}),
		about(journal.TagAdded, "vip", nil), // no event
	}
}

func TestEveryEventIsSentAsDocumented(t *testing.T) {
	t.Parallel()
	examples := documented(t)
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme := account(t, db, "acme")
		e := endpoint(t, db, acme, webhook.AllEvents)
		c := person(t, db, acme, "ann@example.org")
		if err := journal.Append(t.Context(), db, entriesOf(acme, c.ID)...); err != nil {
			t.Fatal(err)
		}
		follow(t, db)
		seen := map[string]bool{webhook.WebhookTest: true}
		for _, ev := range events(t, db, e) {
			seen[ev.Type] = true
			if ev.Slug != "acme" || ev.Timestamp != "2026-03-01T12:00:00.000Z" {
				t.Errorf("event = %+v", ev)
			}
			got, want := slices.Sorted(maps.Keys(ev.Data)), slices.Sorted(maps.Keys(examples[ev.Type]))
			if !slices.Equal(got, want) {
				t.Errorf("%s has the fields %v, documented are %v", ev.Type, got, want)
			}
			if _, personal := ev.Data["contact_id"]; personal && ev.Type != webhook.SuppressionRemoved {
				if ev.Data["contact_id"] != c.ID.String() || ev.Data["email"] != "ann@example.org" {
					t.Errorf("%s = %v", ev.Type, ev.Data)
				}
			}
			if ev.Type == webhook.SequenceExited && (ev.Data["outcome"] != "converted" || ev.Data["exit_reason"] != "goal_reached") {
				t.Errorf("%s = %v", ev.Type, ev.Data)
			}
			if ev.Type == webhook.EmailClicked && ev.Data["link_url"] != "https://example.com/?a=1&b=2" {
				t.Errorf("link_url = %v", ev.Data["link_url"])
			}
		}
		for _, typ := range webhook.EventTypes() {
			if !seen[typ] {
				t.Errorf("no event of type %s was sent", typ)
			}
			if examples[typ] == nil {
				t.Errorf("docs/webhooks.md has no example of %s", typ)
			}
		}
		if n := len(events(t, db, e)); n != len(entriesOf(acme, c.ID))-4+1+1 { // four are no events, a delivery is two, and the contact was created
			t.Errorf("%d events were sent", n)
		}
	})
}

// TestNumbersOfEventsAreSentAsReceived sends whole numbers that no 64-bit floating point number represents, such as
// the ids of orders.
func TestNumbersOfEventsAreSentAsReceived(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme := account(t, db, "acme")
		e := endpoint(t, db, acme, webhook.EventRecorded)
		c := person(t, db, acme, "ann@example.org")
		properties := json.RawMessage(`{"properties": {"order_id": 9007199254740993, "items": [{"sku": 12345678901234567890}]}}`)
		if err := journal.Append(t.Context(), db, journal.Entry{Tenant: acme, Type: journal.CustomEvent, Name: "order", Contact: c.ID, At: noon, Data: properties}); err != nil {
			t.Fatal(err)
		}
		follow(t, db)
		list, err := webhook.Deliveries(t.Context(), db, acme, e.ID, id.Delivery{}, 10)
		if err != nil || len(list) != 1 {
			t.Fatalf("deliveries = %v, %v", list, err)
		}
		full, err := webhook.DeliveryByID(t.Context(), db, acme, e.ID, list[0].ID)
		if want := `"properties":{"items":[{"sku":12345678901234567890}],"order_id":9007199254740993}`; err != nil || !strings.Contains(full.RequestBody, want) {
			t.Errorf("the body is %s, %v; want %s", full.RequestBody, err, want)
		}
	})
}

func TestEndpointsGetOnlyTheTypesTheyChose(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme, other := account(t, db, "acme"), account(t, db, "other")
		theirs := endpoint(t, db, other, webhook.AllEvents)
		one, two := endpoint(t, db, acme, webhook.ContactCreated), endpoint(t, db, acme, webhook.EmailSent, webhook.ContactUpdated)
		idle := endpoint(t, db, acme, webhook.AllEvents)
		if _, err := webhook.Update(t.Context(), db, acme, idle.ID, webhook.Fields{Active: new(false)}, webhook.Rules{}, noon); err != nil {
			t.Fatal(err)
		}
		c := person(t, db, acme, "ann@example.org")
		if err := journal.Append(t.Context(), db, entriesOf(acme, c.ID)...); err != nil {
			t.Fatal(err)
		}
		follow(t, db)
		for e, want := range map[id.Webhook][]string{
			one.ID: {webhook.ContactCreated}, two.ID: {webhook.ContactUpdated, webhook.ContactUpdated, webhook.EmailSent, webhook.EmailSent}, idle.ID: nil,
		} {
			if got := types(events(t, db, webhook.Endpoint{ID: e, Tenant: acme})); !slices.Equal(got, want) {
				t.Errorf("endpoint %s was sent %v, want %v", e, got, want)
			}
		}
		if got := events(t, db, theirs); len(got) != 0 {
			t.Errorf("the other tenant was sent %v", got)
		}
		follow(t, db)
		if got := events(t, db, one); len(got) != 1 {
			t.Errorf("following twice sends %d events", len(got))
		}
	})
}

func TestEntriesOfTenantsWithoutEndpointsAreSkipped(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme := account(t, db, "acme")
		f := webhook.Follower(time.Now)
		f.Follow = func(_ context.Context, _ *sqldb.DB, entries []journal.Entry) error {
			return fmt.Errorf("%d entries were followed", len(entries))
		}
		e := journal.Engine{DB: db, Log: slog.New(slog.DiscardHandler), Followers: []journal.Follower{f}}
		person(t, db, acme, "ann@example.org")
		if err := e.Drain(t.Context()); err != nil {
			t.Error(err)
		}
		endpoint(t, db, acme, webhook.AllEvents)
		person(t, db, acme, "bob@example.org")
		if err := e.Drain(t.Context()); err == nil || !strings.Contains(err.Error(), "1 entries") {
			t.Errorf("with an endpoint: %v", err)
		}
	})
}

func TestEventsNameTheBroadcastOfAMail(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		a, err := tenant.Create(ctx, db, "acme", "Acme", "", noon, sender.Newsletter)
		if err != nil {
			t.Fatal(err)
		}
		typ, err := sender.EmailTypeByKey(ctx, db, a.ID, "newsletter")
		if err != nil {
			t.Fatal(err)
		}
		e := endpoint(t, db, a.ID, webhook.EmailSent, webhook.ContactUnsubscribed)
		c := person(t, db, a.ID, "ann@example.org")
		send, b := id.New[id.Send](), id.New[id.Broadcast]()
		err = db.InTx(ctx, func(tx *sqldb.DB) error {
			return outbox.Create(ctx, tx, outbox.Send{Tenant: a.ID, ID: send, Source: outbox.FromBroadcast(b), EmailType: typ.ID}, outbox.Terms{}, noon)
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := journal.Append(ctx, db, journal.Entry{Tenant: a.ID, Type: journal.EmailSent, Contact: c.ID, Send: send, Message: id.New[id.Message](), At: noon}); err != nil {
			t.Fatal(err)
		}
		scope := contact.UnsubscribeScope{Everything: true, Send: send, Message: id.New[id.Message]()}
		if err := contact.Unsubscribe(ctx, db, a.ID, c.ID, scope, noon); err != nil {
			t.Fatal(err)
		}
		follow(t, db)
		got := events(t, db, e)
		if len(got) != 2 {
			t.Fatalf("%d events were sent, want 2", len(got))
		}
		for _, ev := range got {
			if ev.Data["broadcast_id"] != b.String() || ev.Data["sequence_id"] != nil {
				t.Errorf("%s = %v", ev.Type, ev.Data)
			}
		}
		if got[0].Data["email_type_key"] != "newsletter" {
			t.Errorf("%s = %v", got[0].Type, got[0].Data)
		}
	})
}
