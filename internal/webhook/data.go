package webhook

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/packetboat/packetboat/internal/id"
)

// Event is the body of a request.
type Event struct {
	Type       string `json:"type"`
	Timestamp  string `json:"timestamp"` // when it occurred
	TenantSlug string `json:"tenant_slug"`
	Data       any    `json:"data"`
}

// timestamp returns a time as the API writes it.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// encodeEvent returns the body of a request. Characters of HTML are not escaped.
func encodeEvent(e Event) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return "", err
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// Data of events. Fields that may not apply are null unless they are marked omitempty.

// contactData is the part of each event about a contact. The address is null once the contact is
// anonymised.
type contactData struct {
	ContactID id.Contact `json:"contact_id"`
	Email     *string    `json:"email"`
}

type contactUpdated struct {
	contactData
	Fields []string `json:"fields"`
}

type contactDeleted struct {
	contactData
	Anonymized bool `json:"anonymized"`
}

type subscriptionData struct {
	contactData
	Scope        string  `json:"scope"` // type, category or global
	EmailTypeKey *string `json:"email_type_key"`
	CategoryID   *string `json:"category_id"`

	// Of the mail by which the contact unsubscribed; null otherwise.
	BroadcastID *id.Broadcast `json:"broadcast_id"`
	SequenceID  *id.Sequence  `json:"sequence_id"`
}

// mailData is the part of each event about a message. The address is the one it was sent to.
type mailData struct {
	contactData
	MessageID    id.Message    `json:"message_id"`
	BroadcastID  *id.Broadcast `json:"broadcast_id"`
	SequenceID   *id.Sequence  `json:"sequence_id"`
	EmailTypeKey *string       `json:"email_type_key"`
	VariantID    *string       `json:"variant_id"`
}

type openData struct {
	mailData
	Classification string `json:"classification"` // human or privacy
	First          bool   `json:"first"`
}

type clickData struct {
	openData
	LinkURL string `json:"link_url"`
}

// refusalData is the answer of a mail server, or the reason of ours.
type refusalData struct {
	mailData
	Category     *string `json:"category"`
	SMTPCode     *int    `json:"smtp_code"`
	EnhancedCode *string `json:"enhanced_code"`
	Message      *string `json:"message"`
}

type bounceData struct {
	refusalData
	BounceType string `json:"bounce_type"` // hard or soft
}

type deferralData struct {
	refusalData
	NextAttemptAt *string `json:"next_attempt_at"`
}

type broadcastData struct {
	BroadcastID id.Broadcast `json:"broadcast_id"`
	Name        *string      `json:"name"` // null: it was deleted
	PauseReason string       `json:"pause_reason,omitempty"`
	FailureCode string       `json:"failure_code,omitempty"`
}

type sequenceData struct {
	contactData
	SequenceID   string `json:"sequence_id"`
	EnrollmentID string `json:"enrollment_id,omitempty"`
	ExitReason   string `json:"exit_reason,omitempty"`
	Outcome      string `json:"outcome,omitempty"`
}

type formData struct {
	contactData
	FormSlug string          `json:"form_slug"`
	Values   json.RawMessage `json:"values"`
}

type recordedData struct {
	contactData
	EventID    id.Entry       `json:"event_id"`
	EventName  string         `json:"event_name"`
	EventType  *string        `json:"event_type"`
	Properties map[string]any `json:"properties"`
}

type memberData struct {
	contactData
	SegmentKey string `json:"segment_key"`
}

type suppressionData struct {
	Email     *string     `json:"email"`
	Reason    *string     `json:"reason"`
	ContactID *id.Contact `json:"contact_id"` // null: no contact has the address
}

type domainData struct {
	DomainID id.Domain `json:"domain_id"`
	Domain   *string   `json:"domain"`
	Reason   string    `json:"reason,omitempty"`
}

type mtaData struct {
	MTAConfigID  id.MTAConfig `json:"mta_config_id"`
	MTAConfigKey *string      `json:"mta_config_key"`
}

type importData struct {
	JobID  string          `json:"job_id"`
	Result json.RawMessage `json:"result"`
}

type testData struct {
	WebhookID id.Webhook `json:"webhook_id"`
	Message   string     `json:"message"`
}

// personal are the keys of data with personal data, and what redact replaces their values by.
var personal = map[string]json.RawMessage{
	"email":      json.RawMessage(`null`),
	"message":    json.RawMessage(`null`), // a mail server's text often has the address
	"reason":     json.RawMessage(`null`),
	"properties": json.RawMessage(`{}`),
	"values":     json.RawMessage(`{}`),
}

// redact returns the body of a request about a person without personal data, and whether it had any.
func redact(body string) (string, bool, error) {
	var e struct {
		Event
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		return "", false, err
	}
	var data map[string]json.RawMessage
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return "", false, err
	}
	changed := false
	for key, empty := range personal {
		if v, ok := data[key]; ok && string(v) != string(empty) {
			data[key], changed = empty, true
		}
	}
	if !changed {
		return body, false, nil
	}
	e.Event.Data = data
	text, err := encodeEvent(e.Event)
	return text, true, err
}

// orNil returns nil for a zero value.
func orNil[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}
