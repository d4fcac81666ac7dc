package hook_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/mail/hook"
	"github.com/packetboat/packetboat/internal/mail/reply"
)

// TestSESSaysWhatHappened reads each kind of notification, of feedback and of event publishing.
func TestSESSaysWhatHappened(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want string // kind, reason and address of each event
	}{
		{`"notificationType": "Bounce", "bounce": {"bounceType": "Permanent", "bounceSubType": "Suppressed", "bouncedRecipients": [{"emailAddress": "a@x.example"}]}`, "bounced suppressed_by_provider a@x.example"},
		{`"eventType": "Bounce", "bounce": {"bounceType": "Permanent", "bounceSubType": "OnAccountSuppressionList", "bouncedRecipients": [{"emailAddress": "a@x.example"}]}`, "bounced suppressed_by_provider a@x.example"},
		{`"eventType": "Bounce", "bounce": {"bounceType": "Transient", "bounceSubType": "MailboxFull", "bouncedRecipients": [{"emailAddress": "a@x.example"}, {"emailAddress": "B@x.example"}]}`, "bounced mailbox_full a@x.example; bounced mailbox_full b@x.example"},
		{`"eventType": "Bounce", "bounce": {"bounceType": "transient", "bounceSubType": "messagetoolarge", "bouncedRecipients": [{}]}`, "bounced message_too_large "},
		{`"eventType": "Bounce", "bounce": {"bounceType": "Transient", "bounceSubType": "ContentRejected", "bouncedRecipients": [{}]}`, "bounced spam_content "},
		{`"eventType": "Bounce", "bounce": {"bounceType": "Transient", "bounceSubType": "AttachmentRejected", "bouncedRecipients": [{}]}`, "bounced virus_or_attachment "},
		{`"eventType": "Bounce", "bounce": {"bounceType": "Permanent"}`, ""},
		{`"eventType": "Bounce"`, "none  "},
		{`"eventType": "Complaint", "complaint": {"complaintFeedbackType": "abuse", "complainedRecipients": [{"emailAddress": "A@x.example"}]}`, "complained  a@x.example"},
		{`"eventType": "Complaint", "complaint": {"complainedRecipients": [{"emailAddress": "a@x.example"}]}`, "complained  a@x.example"},
		{`"eventType": "Complaint", "complaint": {"complaintFeedbackType": "not-spam", "complainedRecipients": [{"emailAddress": "a@x.example"}]}`, "none  a@x.example"},
		{`"eventType": "Complaint", "complaint": {"complaintFeedbackType": "auth-failure", "complainedRecipients": [{"emailAddress": "a@x.example"}]}`, "none  a@x.example"},
		{`"eventType": "Delivery", "delivery": {"recipients": ["A@x.example"], "smtpResponse": "250 ok"}`, "delivered  a@x.example"},
		{`"eventType": "DeliveryDelay", "deliveryDelay": {"delayedRecipients": [{"emailAddress": "a@x.example"}]}`, "deferred  a@x.example"},
		{`"eventType": "Reject", "reject": {"reason": "Bad content"}`, "bounced virus_or_attachment "},
		{`"eventType": "Subscription", "subscription": {"newTopicPreferences": {"unsubscribeAll": true}}`, "unsubscribed  "},
		{`"eventType": "Subscription", "subscription": {"newTopicPreferences": {"unsubscribeAll": false}}`, "none  "},
		{`"eventType": "Send"`, "none  "},
		{`"eventType": "Open"`, "none  "},
		{`"eventType": "Something new"`, "none  "},
	} {
		events, err := hook.SES("sns-1", `{"mail": {"messageId": "ses-1", "timestamp": "2026-03-01T12:00:00Z", "headers": [{"name": "message-id", "value": "<m@x>"}]}, `+tt.text+`}`)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
		}
		var got []string
		for _, e := range events {
			got = append(got, fmt.Sprintf("%s %s %s", e.Kind, e.Recipient.Verdict.Reason, e.Recipient.Address))
			if e.ID != "sns-1" || e.ProviderID != "ses-1" || e.MessageID != "<m@x>" || !e.At.Equal(noon) {
				t.Errorf("%s: %+v", tt.text, e)
			}
		}
		if strings.Join(got, "; ") != tt.want {
			t.Errorf("%s: %q, want %q", tt.text, got, tt.want)
		}
	}
}

// TestSESTimesOfTheEventComeFirst takes the time of the mail only where the event has none.
func TestSESTimesOfTheEventComeFirst(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]time.Time{"2026-03-01T12:05:00Z": noon.Add(5 * time.Minute), "": noon, "soon": noon} {
		events, err := hook.SES("1", `{"eventType": "Delivery", "mail": {"timestamp": "2026-03-01T12:00:00Z"}, "delivery": {"timestamp": "`+at+`", "recipients": ["a@x.example"]}}`)
		if err != nil || len(events) != 1 || !events[0].At.Equal(want) {
			t.Errorf("%q: %+v, %v", at, events, err)
		}
	}
}

// TestSESRefusesWhatIsNoNotification refuses the sentence with which SES announces a topic, too.
func TestSESRefusesWhatIsNoNotification(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "x", "null", "[]", "{}", `"Successfully validated SNS topic for Amazon SES event publishing."`, `{"eventType": 1}`} {
		if events, err := hook.SES("1", text); !errors.Is(err, hook.ErrMalformed) {
			t.Errorf("%s: %v, %v", text, events, err)
		}
	}
}

// TestSESNotificationsAreBounded ignores recipients after the thousandth.
func TestSESNotificationsAreBounded(t *testing.T) {
	t.Parallel()
	text := `{"eventType": "Delivery", "delivery": {"recipients": ["a@x.example"` + strings.Repeat(`, "a@x.example"`, hook.MaxEvents) + `]}}`
	if events, err := hook.SES("1", text); err != nil || len(events) != hook.MaxEvents {
		t.Errorf("%d events, %v", len(events), err)
	}
}

// TestRejectsOfSESSayWhy keeps what SES found, without control characters.
func TestRejectsOfSESSayWhy(t *testing.T) {
	t.Parallel()
	events, err := hook.SES("1", `{"eventType": "Reject", "reject": {"reason": "Bad\r\ncontent"}}`)
	if err != nil || len(events) != 1 || events[0].Recipient.Verdict.Class != reply.Block || strings.ContainsAny(events[0].Recipient.Diagnostic, "\r\n") || !strings.Contains(events[0].Recipient.Diagnostic, "Bad") {
		t.Errorf("%+v, %v", events, err)
	}
}
