package inspect

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/packetboat/packetboat/internal/mail/hook"
	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/mail/sns"
)

// Webhook is what a request of a provider says.
type Webhook struct {
	Accepted bool           `json:"accepted"`
	Reason   string         `json:"reason"` // why it was refused; empty: it was not
	Type     string         `json:"type"`   // of a message of SNS; else empty
	Topic    string         `json:"topic"`  // of a message of SNS: whoever acts on it must compare it
	Events   []WebhookEvent `json:"events"`
}

// WebhookEvent is one event in the terms of the hook for any relay.
type WebhookEvent struct {
	ID                string       `json:"id"`
	Event             hook.Kind    `json:"event"`
	Name              string       `json:"name"` // the provider's
	MessageID         string       `json:"message_id"`
	ProviderMessageID string       `json:"provider_message_id"`
	Address           string       `json:"address"`
	Code              int          `json:"code"` // 0: none
	Status            string       `json:"status"`
	Reason            string       `json:"reason"`
	Class             reply.Reason `json:"class"` // empty unless it bounced
	Hard              bool         `json:"hard"`
	At                string       `json:"at"` // empty: not known
}

// ReadHeaders reads header fields from a JSON object of texts, or lists of texts, by name.
func ReadHeaders(text []byte) (http.Header, error) {
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, fmt.Errorf("header fields: %w", err)
	}
	h := http.Header{}
	for name, value := range fields {
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		for _, v := range list {
			h.Add(name, fmt.Sprint(v))
		}
	}
	return h, nil
}

// ReadWebhook verifies and reads the body of a request of a provider: ses, sendgrid, mailgun, postmark or
// generic. The key is what each verifies with (docs/inspect.md). The error is about the name of the
// provider.
func ReadWebhook(provider string, body []byte, h http.Header, key string, now time.Time) (Webhook, error) {
	w := Webhook{Events: []WebhookEvent{}}
	var events []hook.Event
	var err error
	switch provider {
	case "ses":
		events, err = w.readSES(body, key, now)
	case "sendgrid":
		events, err = hook.SendGrid(body, h, key, now)
	case "mailgun":
		events, err = hook.Mailgun(body, key, now)
	case "postmark":
		events, err = hook.Postmark(body, h, key)
	case "generic":
		if events, err = hook.Generic(body); len(events) > hook.MaxEvents {
			err = hook.ErrMalformed
		}
	default:
		return w, fmt.Errorf("unknown provider %q: it must be ses, sendgrid, mailgun, postmark or generic", provider)
	}
	if err != nil {
		w.Reason = err.Error()
		return w, nil
	}
	w.Accepted = true
	for _, e := range events {
		one := WebhookEvent{
			ID: e.ID, Event: e.Kind, Name: e.Name, MessageID: e.MessageID, ProviderMessageID: e.ProviderID, Address: e.Recipient.Address,
			Code: e.Recipient.SMTPCode, Status: e.Recipient.Status, Reason: e.Recipient.Diagnostic,
		}
		if e.Kind == hook.Bounced {
			one.Class, one.Hard = e.Recipient.Verdict.Reason, e.Recipient.Verdict.Class == reply.Hard
		}
		if !e.At.IsZero() {
			one.At = e.At.Format(time.RFC3339)
		}
		w.Events = append(w.Events, one)
	}
	return w, nil
}

// readSES verifies a message of SNS with the certificate in key, and reads the notification in it.
func (w *Webhook) readSES(body []byte, key string, now time.Time) ([]hook.Event, error) {
	m, err := sns.Parse(body)
	if err != nil {
		return nil, err
	}
	w.Type, w.Topic = string(m.Type), m.TopicArn
	if err := sns.CheckCertURL(m.SigningCertURL); err != nil {
		return nil, err
	}
	cert, err := sns.Certificate([]byte(key), now)
	if err != nil {
		return nil, err
	}
	if err := m.Verify(cert); err != nil || m.Type != sns.Notification {
		return nil, err
	}
	events, err := hook.SES(m.MessageID, m.Message)
	if errors.Is(err, hook.ErrMalformed) { // SES tests a new topic with a sentence
		return nil, nil
	}
	return events, err
}
