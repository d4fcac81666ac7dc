package hook_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/mail/hook"
	"github.com/packetboat/packetboat/internal/mail/reply"
)

// FuzzRequestsOfProviders reads bodies that a provider has signed. Whatever they contain, each event has a kind, a
// bounce has a verdict, and a time can be stored.
func FuzzRequestsOfProviders(f *testing.F) {
	for _, seed := range []string{
		`[{"event": "bounce", "email": "A@x.example", "type": "bounce", "status": "5.1.1", "reason": "550 5.1.1 no such user", "timestamp": 1772366400}]`,
		`[{"event": "dropped", "reason": "Bounced Address", "timestamp": "NaN"}]`,
		`[{"message_id": "<x@y>", "event": "bounced", "code": "550", "status": "5.1.1", "reason": "no such user", "at": "2026-03-01T12:00:00Z"}]`,
		`{"event": "failed", "severity": "permanent", "recipient": "a@x.example", "delivery-status": {"code": 550, "message": "5.1.1 no such user"}}`,
		`{"RecordType": "Bounce", "Type": "HardBounce", "Email": "a@x.example", "ID": 42, "Details": "smtp;550 5.1.1 no such user"}`,
		`{"RecordType": "SubscriptionChange", "Recipient": "a@x.example", "SuppressSending": true, "SuppressionReason": "HardBounce"}`,
		`{"notificationType": "Bounce", "bounce": {"bounceType": "Permanent", "bouncedRecipients": [{"emailAddress": "a@x.example", "diagnosticCode": "smtp; 550 no"}]}}`,
		`{"eventType": "Reject", "reject": {"reason": "Bad content"}}`,
		`"Successfully validated SNS topic"`, `null`, `[null]`, `{}`, ``,
	} {
		f.Add(seed)
	}
	s := newSendGrid(f)
	f.Fuzz(func(t *testing.T, body string) {
		read := func(name string, events []hook.Event, err error) {
			if err != nil && events != nil {
				t.Errorf("%s: events beside %v", name, err)
			}
			for _, e := range events {
				switch e.Kind {
				case hook.Bounced:
					if v := e.Recipient.Verdict; v.Class != reply.Hard && v.Class != reply.Soft && v.Class != reply.Block {
						t.Errorf("%s: a bounce has the verdict %+v", name, v)
					}
				case hook.Delivered, hook.Deferred, hook.Complained, hook.Unsubscribed, hook.None:
				default:
					t.Errorf("%s: kind %q", name, e.Kind)
				}
				if year := e.At.Year(); !e.At.IsZero() && (year < 0 || year > 9999) {
					t.Errorf("%s: the year %d", name, year)
				}
			}
		}
		events, err := hook.SendGrid([]byte(body), s.headers(t, seconds(noon), body), s.key, noon)
		read("sendgrid", events, err)
		if len(events) > hook.MaxEvents {
			t.Errorf("%d events", len(events))
		}
		if json.Valid([]byte(body)) {
			events, err = hook.Mailgun([]byte(mailgun("k", seconds(noon), "t", body)), "k", noon)
			read("mailgun", events, err)
		}
		events, err = hook.Mailgun([]byte(body), "k", noon)
		read("mailgun, not signed", events, err)
		if err == nil {
			t.Error("Mailgun needs no signature")
		}
		events, err = hook.Postmark([]byte(body), http.Header{"X-Postmark-Secret": {"k"}}, "k")
		read("postmark", events, err)
		events, err = hook.SES("1", body)
		read("ses", events, err)
		events, err = hook.Generic([]byte(body))
		read("generic", events, err)
	})
}

// FuzzSendGridSignatures reads any headers and keys, and never accepts a signature of another body.
func FuzzSendGridSignatures(f *testing.F) {
	s := newSendGrid(f)
	const body = `[]`
	h := s.headers(f, seconds(noon), body)
	valid := h.Get("X-Twilio-Email-Event-Webhook-Signature")
	f.Add(valid, seconds(noon), s.key)
	f.Add("", "", "")
	f.Add("MAYCAQECAQE=", "1e300", "-----BEGIN PUBLIC KEY-----\nAA==\n-----END PUBLIC KEY-----\n")
	f.Fuzz(func(t *testing.T, signature, stamp, key string) {
		h := http.Header{"X-Twilio-Email-Event-Webhook-Signature": {signature}, "X-Twilio-Email-Event-Webhook-Timestamp": {stamp}}
		if _, err := hook.SendGrid([]byte(body+" "), h, key, noon.Add(time.Second)); err == nil && key == s.key {
			t.Errorf("accepted with the signature %q of another body", signature)
		}
	})
}
