package public_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/edge/public"
	"github.com/packetboat/packetboat/internal/engine/inbound/inboundtest"
	"github.com/packetboat/packetboat/internal/mail/imapbox/dovecottest"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/mail/sns/snstest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/consent"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// returned is a tenant that gets reports in one way.
type returned struct {
	*inboundtest.Fixture
	t     *testing.T
	other *inboundtest.Fixture // another tenant
	lane  lane.Config
	pass  func(kind, outbox.Message) // one report about one message
}

// way is one way in which reports come.
type way struct {
	name  string
	kinds []kind // that it can carry
	open  func(r *returned)
	state outbox.State // of messages before any report
	proof string       // consent that an unsubscribe leaves
}

var mails = []kind{hardBounce, softBounce, blockBounce, complaint, notSpam, unsubscribe, optOut, delivery, delay, autoReply, forged, foreign}

var ways = []way{
	{"listener", mails, (*returned).openListener, outbox.Delivered, consent.Mailto},
	{"mailbox", mails, (*returned).openMailbox, outbox.Delivered, consent.Mailto},
	{"ses", []kind{hardBounce, softBounce, blockBounce, complaint, notSpam, unsubscribe, delivery, delay, forged, foreign}, (*returned).openSES, outbox.Sent, consent.Provider},
	{"hook", []kind{hardBounce, softBounce, blockBounce, complaint, delivery, delay, forged, foreign}, (*returned).openHook, outbox.Delivered, ""},
}

// newReturned makes two tenants with messages, of which the first gets reports in a way.
func newReturned(t *testing.T, db *sqldb.DB, w way, people int) *returned {
	t.Helper()
	r := &returned{Fixture: inboundtest.New(t, db, "acme", people), other: inboundtest.New(t, db, "globex", 1), t: t}
	r.lane = r.Lane
	w.open(r)
	r.exec(`UPDATE outbox SET state = $2 WHERE tenant_id = $1`, r.Tenant, string(w.state))
	return r
}

func (r *returned) exec(text string, args ...any) {
	r.t.Helper()
	if _, err := r.DB.Exec(r.t.Context(), text, args...); err != nil {
		r.t.Fatal(err)
	}
}

func (r *returned) messageID(m outbox.Message) string {
	return "<" + r.Keys.MessageID(m.ID) + "@" + r.Host() + ">"
}

// aboutOther is the message of the other tenant for reports about that, otherwise m.
func (r *returned) aboutOther(k kind, m outbox.Message) outbox.Message {
	if k == foreign {
		return r.other.Messages[0]
	}
	return m
}

// mail is a report by mail, and the address that it comes to. Reports without an envelope of their own come to
// the address feedback.
func (r *returned) mail(k kind, m outbox.Message, feedback string) (to, text string) {
	m = r.aboutOther(k, m)
	to = "b." + string(r.Keys.ReturnPath(m.ID, broadcasttest.Now)) + "@" + r.Host()
	switch k {
	case hardBounce, foreign:
		return to, inboundtest.Failure(m.Email, "550 5.1.1 no such user")
	case softBounce:
		return to, inboundtest.Failure(m.Email, "552 5.2.2 mailbox full")
	case blockBounce:
		return to, inboundtest.Failure(m.Email, "550 5.7.1 blocked by policy")
	case complaint:
		return feedback, inboundtest.Complaint("abuse", r.messageID(m))
	case notSpam:
		return feedback, inboundtest.Complaint("not-spam", r.messageID(m))
	case optOut:
		return feedback, inboundtest.Complaint("opt-out", r.messageID(m))
	case unsubscribe:
		return "u." + string(r.Keys.UnsubscribeAddress(m.ID, broadcasttest.Now)) + "@" + r.Host(), "From: someone@elsewhere.example\nSubject: unsubscribe\n\n"
	case delivery:
		return to, inboundtest.Status(m.Email, "delivered", "2.0.0", "")
	case delay:
		return to, inboundtest.Status(m.Email, "delayed", "4.2.2", "452 4.2.2 mailbox full")
	case autoReply:
		return to, inboundtest.AutoReply(m.Email)
	case forged:
		return strings.Replace(to, "b.", "b.a", 1), inboundtest.Failure(m.Email, "550 5.1.1 no such user")
	}
	r.t.Fatalf("no mail is %s", k)
	return "", ""
}

// openListener lets mail come by SMTP.
func (r *returned) openListener() {
	r.pass = func(k kind, m outbox.Message) {
		want := 250
		if k == forged {
			want = 550
		}
		if code := r.Deliver(r.mail(k, m, inboundtest.Feedback)); code != want {
			r.t.Fatalf("%s: reply %d, want %d", k, code, want)
		}
	}
}

// openMailbox lets mail come to a mailbox that is read by IMAP.
func (r *returned) openMailbox() {
	s := dovecottest.Start(r.t)
	r.lane = r.Mailbox(s.TLSPort, smtpclient.Implicit)
	reader := r.Reader(s)
	r.pass = func(k kind, m outbox.Message) {
		s.DeliverAt(inboundtest.Delivered(r.mail(k, m, "bounces@relay.test")), r.Now())
		r.exec(`UPDATE bounce_mailbox SET next_read_at = 0 WHERE tenant_id = $1`, r.Tenant)
		r.Read(reader)
		if state := r.MailboxState(r.lane); state.LastError != "" || state.ReadAt == nil {
			r.t.Fatalf("%s: the mailbox is %+v", k, state)
		}
	}
}

// serve serves the hooks, and returns a function that posts to one of them.
func (r *returned) serve(hooks public.Hooks) (post func(kind, string, string)) {
	hooks.DB, hooks.Keys, hooks.Receiver, hooks.Log, hooks.Now = r.DB, r.Keys, r.Receiver, slog.New(slog.DiscardHandler), r.Now
	mux := http.NewServeMux()
	hooks.Routes(mux)
	return func(k kind, path, body string) {
		r.t.Helper()
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequestWithContext(r.t.Context(), http.MethodPost, path+r.Keys.Hook(r.Tenant, r.lane.ID), strings.NewReader(body)))
		if w.Code != http.StatusNoContent {
			r.t.Fatalf("%s: %d %s", k, w.Code, w.Body)
		}
	}
}

// openHook lets a relay post its reports.
func (r *returned) openHook() {
	post := r.serve(public.Hooks{})
	r.pass = func(k kind, m outbox.Message) {
		m = r.aboutOther(k, m)
		e := map[string]any{"message_id": r.messageID(m), "at": r.Now()}
		switch k {
		case hardBounce, foreign:
			e["event"], e["code"], e["status"], e["reason"] = "bounced", 550, "5.1.1", "550 5.1.1 no such user"
		case softBounce:
			e["event"], e["code"], e["status"], e["reason"] = "bounced", 552, "5.2.2", "552 5.2.2 mailbox full"
		case blockBounce:
			e["event"], e["code"], e["status"], e["reason"] = "bounced", 550, "5.7.1", "550 5.7.1 blocked by policy"
		case complaint:
			e["event"] = "complained"
		case delivery:
			e["event"] = "delivered"
		case delay:
			e["event"], e["code"] = "deferred", 452
		case forged:
			e["message_id"], e["event"], e["code"] = "<"+m.ID.String()+".0000000000000000@"+r.Host()+">", "bounced", 550
		}
		body, err := json.Marshal([]any{e})
		if err != nil {
			r.t.Fatal(err)
		}
		post(k, "/_q/hooks/mta/", string(body))
	}
}

// openSES lets SNS post notifications of SES.
func (r *returned) openSES() {
	var err error
	r.lane, err = lane.Create(r.t.Context(), r.DB, broadcasttest.Box(r.t), r.Tenant, lane.Fields{
		Name: new("SES"), Type: new(lane.SES), Region: new("eu-west-1"), AccessKeyID: new("AKIAIOSFODNN7EXAMPLE"), SecretAccessKey: new("x"), TopicARNs: &[]string{topic},
	}, lane.Rules{}, r.Now())
	if err != nil {
		r.t.Fatal(err)
	}
	r.exec(`UPDATE outbox SET lane_id = $2 WHERE tenant_id = $1`, r.Tenant, r.lane.ID)
	a := newAmazon(r.t, r.Now)
	post := r.serve(public.Hooks{SNS: a.client})
	r.pass = func(k kind, m outbox.Message) {
		m = r.aboutOther(k, m)
		name := "ses-" + m.ID.String()
		if k != forged && k != foreign {
			r.exec(`INSERT INTO outbox_provider_id (tenant_id, lane_id, provider_id, message_id) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`, r.Tenant, r.lane.ID, name, m.ID)
		}
		at, messageID := r.Now().Add(-10*time.Minute).Format(time.RFC3339), r.messageID(m) // long enough ago that the message's result is stored
		if k == forged {
			messageID = "<" + m.ID.String() + "@" + r.Host() + ">"
		}
		bounce := func(kind, sub, diagnostic string) map[string]any {
			return map[string]any{"eventType": "Bounce", "bounce": map[string]any{"bounceType": kind, "bounceSubType": sub, "timestamp": at, "bouncedRecipients": []any{
				map[string]any{"emailAddress": m.Email, "diagnosticCode": diagnostic},
			}}}
		}
		complained := func(feedback string) map[string]any {
			return map[string]any{"eventType": "Complaint", "complaint": map[string]any{
				"complaintFeedbackType": feedback, "timestamp": at, "complainedRecipients": []any{map[string]any{"emailAddress": m.Email}},
			}}
		}
		var e map[string]any
		switch k {
		case hardBounce, foreign, forged:
			e = bounce("Permanent", "General", "smtp; 550 5.1.1 no such user")
		case softBounce:
			e = bounce("Transient", "MailboxFull", "smtp; 552 5.2.2 mailbox full")
		case blockBounce:
			e = bounce("Permanent", "General", "smtp; 550 5.7.1 blocked by policy")
		case complaint:
			e = complained("abuse")
		case notSpam:
			e = complained("not-spam")
		case unsubscribe:
			e = map[string]any{"eventType": "Subscription", "subscription": map[string]any{"timestamp": at, "newTopicPreferences": map[string]any{"unsubscribeAll": true}}}
		case delivery:
			e = map[string]any{"eventType": "Delivery", "delivery": map[string]any{"timestamp": at, "recipients": []string{m.Email}, "smtpResponse": "250 ok"}}
		case delay:
			e = map[string]any{"eventType": "DeliveryDelay", "deliveryDelay": map[string]any{"timestamp": at, "delayedRecipients": []any{map[string]any{"emailAddress": m.Email, "status": "4.2.2"}}}}
		}
		e["mail"] = map[string]any{
			"timestamp": broadcasttest.Now.Format(time.RFC3339), "messageId": name, "headers": []any{map[string]any{"name": "Message-ID", "value": messageID}},
		}
		text, err := json.Marshal(e)
		if err != nil {
			r.t.Fatal(err)
		}
		post(k, "/_q/hooks/ses/", a.Sign(snstest.Notification(string(text))))
	}
}
