package webhook

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
)

// Event is the body of a request.
type Event struct {
	Type       string `json:"type"`
	Timestamp  string `json:"timestamp" format:"date-time" doc:"When the event occurred."`
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

// Data of events. Fields that do not apply are null. The tags describe the fields in the OpenAPI document.

// ContactData is the part of each event about a contact. The address is null once the contact is
// anonymised.
type ContactData struct {
	ContactID id.Contact `json:"contact_id" format:"uuid"`
	Email     *string    `json:"email" doc:"Null once the contact is anonymised."`
}

type contactUpdated struct {
	ContactData
	Fields []string `json:"fields" doc:"Names of the fields that changed."`
}

type contactDeleted struct {
	ContactData
	Anonymized bool `json:"anonymized"`
}

type subscriptionData struct {
	ContactData
	Scope        string  `json:"scope" enum:"type,category,global"`
	EmailTypeKey *string `json:"email_type_key"`
	CategoryID   *string `json:"category_id" format:"uuid"`

	// Of the mail by which the contact unsubscribed; null otherwise.
	BroadcastID *id.Broadcast `json:"broadcast_id" format:"uuid" doc:"Of the mail whose link was used."`
	SequenceID  *id.Sequence  `json:"sequence_id" format:"uuid" doc:"Of the mail whose link was used."`
}

// MailData is the part of each event about a message. The address is the one it was sent to.
type MailData struct {
	ContactData
	MessageID    id.Message    `json:"message_id" format:"uuid"`
	BroadcastID  *id.Broadcast `json:"broadcast_id" format:"uuid"`
	SequenceID   *id.Sequence  `json:"sequence_id" format:"uuid"`
	EmailTypeKey *string       `json:"email_type_key"`
	VariantID    *string       `json:"variant_id"`
}

type OpenData struct {
	MailData
	Classification string `json:"classification" enum:"human,privacy" doc:"privacy: by a proxy that hides readers."`
	First          bool   `json:"first" doc:"Whether it is the first of the message."`
}

type clickData struct {
	OpenData
	LinkURL string `json:"link_url" doc:"The link as authored."`
}

// RefusalData is the answer of a mail server, or the reason of ours.
type RefusalData struct {
	MailData
	Category     *string `json:"category"`
	SMTPCode     *int    `json:"smtp_code" doc:"RFC 5321 section 4.2."`
	EnhancedCode *string `json:"enhanced_code" doc:"RFC 3463."`
	Message      *string `json:"message" doc:"The text of the answer."`
}

type bounceData struct {
	RefusalData
	BounceType string `json:"bounce_type" enum:"hard,soft"`
}

type deferralData struct {
	RefusalData
	NextAttemptAt *string `json:"next_attempt_at" format:"date-time"`
}

type BroadcastData struct {
	BroadcastID id.Broadcast `json:"broadcast_id" format:"uuid"`
	Name        *string      `json:"name" doc:"Null if the broadcast was deleted meanwhile."`
}

type broadcastPaused struct {
	BroadcastData
	PauseReason string `json:"pause_reason"`
}

type broadcastFailed struct {
	BroadcastData
	FailureCode string `json:"failure_code"`
}

type SequenceData struct {
	ContactData
	SequenceID   string `json:"sequence_id" format:"uuid"`
	EnrollmentID string `json:"enrollment_id" format:"uuid"`
}

type sequenceCompleted struct {
	SequenceData
	Outcome string `json:"outcome" doc:"Always completed."`
}

type sequenceExited struct {
	SequenceData
	ExitReason string `json:"exit_reason" doc:"As in the enrollments of a sequence."`
	Outcome    string `json:"outcome" enum:"converted,unsubscribed,exited_early,failed" doc:"converted: the contact met a goal."`
}

type formData struct {
	ContactData
	FormID       id.Form           `json:"form_id" format:"uuid"`
	FormSlug     string            `json:"form_slug"`
	SubmissionID id.FormSubmission `json:"submission_id" format:"uuid"`
	PageURL      *string           `json:"page_url" doc:"Of the page with the form, if the browser sent it."`
	Values       map[string]any    `json:"values" doc:"Text fields of the contact by name, and custom_fields by key."`
}

type recordedData struct {
	ContactData
	EventID    id.Entry       `json:"event_id" format:"uuid"`
	EventName  string         `json:"event_name"`
	EventType  *string        `json:"event_type"`
	Properties map[string]any `json:"properties"`
}

// properties are those of a custom event, with numbers as they were sent.
type properties map[string]any

// UnmarshalJSON decodes an object.
func (p *properties) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode((*map[string]any)(p))
}

type memberData struct {
	ContactData
	SegmentKey string `json:"segment_key"`
}

type suppressionData struct {
	Email     *string     `json:"email" doc:"Null once the contact is anonymised."`
	Reason    *string     `json:"reason"`
	ContactID *id.Contact `json:"contact_id" format:"uuid" doc:"Null if no contact has the address."`
}

type DomainData struct {
	DomainID id.Domain `json:"domain_id" format:"uuid"`
	Domain   *string   `json:"domain" doc:"Null if the domain was deleted meanwhile."`
}

type domainTrouble struct {
	DomainData
	Reason string `json:"reason"`
}

type domainPaused struct {
	DomainData
	Reason string `json:"reason"`
	PauseRate
}

// PauseRate is the rate for which a domain was paused.
type PauseRate struct {
	Rate       *float64 `json:"rate" doc:"The measured rate. This and the following are null unless reason is complaint_rate or bounce_rate."`
	Count      *int     `json:"count" doc:"How many complaints or hard bounces there were."`
	Deliveries *int     `json:"deliveries" doc:"How many mails were accepted."`
	Hours      *int     `json:"window_hours" doc:"The time in which they were counted."`
}

type mtaData struct {
	MTAConfigID  id.Lane `json:"mta_config_id" format:"uuid"`
	MTAConfigKey *string `json:"mta_config_key" doc:"Null if the MTA config was deleted meanwhile."`
}

type importData struct {
	JobID  string       `json:"job_id" format:"uuid"`
	Result importCounts `json:"result"`
}

// importCounts is the result of an import's job, in rows of its file.
type importCounts struct {
	Rows    int64 `json:"rows" doc:"Rows that are not empty."`
	Created int64 `json:"created"`
	Updated int64 `json:"updated" doc:"Rows for an existing contact."`
	Skipped int64 `json:"skipped"`
	Invalid int64 `json:"invalid" doc:"Rows in the file of errors."`
}

type testData struct {
	WebhookID id.Webhook `json:"webhook_id" format:"uuid"`
	Message   string     `json:"message"`
}

// personal are the keys of data with personal data, and what redact replaces their values by.
var personal = map[string]json.RawMessage{
	"email":      json.RawMessage(`null`),
	"message":    json.RawMessage(`null`), // a mail server's text often has the address
	"reason":     json.RawMessage(`null`),
	"properties": json.RawMessage(`{}`),
	"values":     json.RawMessage(`{}`),
	"page_url":   json.RawMessage(`null`),
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
