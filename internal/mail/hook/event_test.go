package hook_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/mail/hook"
	"github.com/packetboat/packetboat/internal/mail/reply"
)

// TestGenericReadsEvents reads the hook for any relay.
func TestGenericReadsEvents(t *testing.T) {
	t.Parallel()
	events, err := hook.Generic([]byte(`[
		{"message_id": "<m@x>", "event": "bounced", "code": 550, "status": "5.1.1", "reason": "no such user", "at": "2026-03-01T13:00:00+01:00"},
		{"event": "bounced", "code": "452", "status": "4.2.2", "reason": "smtp; 452 4.2.2 mailbox full", "at": "yesterday"},
		{"event": "deferred"}, {"event": "delivered"}, {"event": "complained"}, {"event": "unsubscribed"}, {"event": "opened"}, {"event": ""}]`))
	if err != nil {
		t.Fatal(err)
	}
	var kinds []hook.Kind
	for _, e := range events {
		kinds = append(kinds, e.Kind)
	}
	// A relay cannot unsubscribe: only the recipient or a provider that asks the recipient can.
	if got, want := fmt.Sprint(kinds), "[bounced bounced deferred delivered complained none none none]"; got != want {
		t.Errorf("kinds %s, want %s", got, want)
	}
	if e := events[0]; e.MessageID != "<m@x>" || !e.At.Equal(noon) || e.At.Location() != time.UTC || e.Recipient.Verdict.Class != reply.Hard {
		t.Errorf("the first event: %+v", e)
	}
	if e := events[1]; !e.At.IsZero() || e.Recipient.Verdict.Class != reply.Soft || e.Recipient.Verdict.Reason != reply.MailboxFull {
		t.Errorf("the second event: %+v", e)
	}
	for _, body := range []string{"", "x", "{}", "null", `[{"event": 1}]`, `["x"]`} {
		if list, err := hook.Generic([]byte(body)); !errors.Is(err, hook.ErrMalformed) {
			t.Errorf("%s: %v, %v", body, list, err)
		}
	}
	if list, err := hook.Generic([]byte("[]")); err != nil || list == nil || len(list) != 0 {
		t.Errorf("no events: %v, %v", list, err)
	}
}

// TestPermanenceIsTheProviders gives the same answer of a server with what the provider says beside it: what
// is temporary is never a hard bounce, and what is permanent without a known reason is a bad address.
func TestPermanenceIsTheProviders(t *testing.T) {
	t.Parallel()
	s := newSendGrid(t)
	grid := func(kind string) func(string) ([]hook.Event, error) {
		return func(text string) ([]hook.Event, error) {
			body := fmt.Sprintf(`[{"event": "bounce", "type": %q, "email": "A@x.example", "reason": %q}]`, kind, text)
			return hook.SendGrid([]byte(body), s.headers(t, seconds(noon), body), s.key, noon)
		}
	}
	mark := func(kind string) func(string) ([]hook.Event, error) {
		return func(text string) ([]hook.Event, error) {
			return hook.Postmark(fmt.Appendf(nil, `{"RecordType": "Bounce", "Type": %q, "Email": "<A@x.example>", "Details": %q}`, kind, text), http.Header{"X-Postmark-Secret": {"k"}}, "k")
		}
	}
	amazon := func(kind string) func(string) ([]hook.Event, error) {
		return func(text string) ([]hook.Event, error) {
			return hook.SES("1", fmt.Sprintf(`{"notificationType": "Bounce", "bounce": {"bounceType": %q, "bounceSubType": "General", "bouncedRecipients": [{"emailAddress": "A@x.example", "diagnosticCode": %q}]}}`, kind, text))
		}
	}
	for name, tt := range map[string]struct {
		permanent, temporary func(string) ([]hook.Event, error)
	}{"sendgrid": {grid("bounce"), grid("blocked")}, "postmark": {mark("HardBounce"), mark("SoftBounce")}, "ses": {amazon("Permanent"), amazon("Transient")}} {
		for text, want := range map[string]reply.Reason{"": reply.InvalidRecipient, "something went wrong": reply.InvalidRecipient, "550 5.1.1 no such user": reply.InvalidRecipient, "smtp; 552 5.2.2 mailbox full": reply.MailboxFull} {
			events, err := tt.permanent(text)
			if err != nil || len(events) != 1 || events[0].Kind != hook.Bounced || events[0].Recipient.Verdict.Reason != want || events[0].Recipient.Address != "a@x.example" {
				t.Errorf("%s, permanent %q: %+v, %v; want %s", name, text, events, err, want)
			}
			events, err = tt.temporary(text)
			if err != nil || len(events) != 1 || events[0].Kind != hook.Bounced || events[0].Recipient.Verdict.Class == reply.Hard || events[0].Recipient.Verdict.Class == "" {
				t.Errorf("%s, temporary %q: %+v, %v", name, text, events, err)
			}
		}
	}
}

// TestTimesThatAreNoneAreZero reads events with times that no clock shows.
func TestTimesThatAreNoneAreZero(t *testing.T) {
	t.Parallel()
	s := newSendGrid(t)
	for _, at := range []string{`"NaN"`, `"Inf"`, `"-1"`, `0`, `1e300`, `"x"`, `null`, `{}`, `[]`, `true`} {
		body := `[{"event": "delivered", "timestamp": ` + at + `}]`
		events, err := hook.SendGrid([]byte(body), s.headers(t, seconds(noon), body), s.key, noon)
		if err != nil || len(events) != 1 || !events[0].At.IsZero() {
			t.Errorf("%s: %+v, %v", at, events, err)
		}
	}
}
