package inspect_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/edge/inspect"
)

var atNoon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// verdicts returns the events of a request in short, or why it was refused.
func verdicts(t *testing.T, provider, body string, h http.Header, key string) string {
	t.Helper()
	w, err := inspect.ReadWebhook(provider, []byte(body), h, key, atNoon)
	if err != nil {
		t.Fatal(err)
	}
	if !w.Accepted {
		return "refused: " + w.Reason
	}
	var out []string
	for _, e := range w.Events {
		out = append(out, strings.Trim(strings.Join([]string{string(e.Event), e.Address, string(e.Class), strconv.FormatBool(e.Hard)}, " "), " "))
	}
	return strings.Join(out, "; ")
}

func TestRequestsOfSendGrid(t *testing.T) {
	t.Parallel()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(private.Public())
	if err != nil {
		t.Fatal(err)
	}
	key := base64.StdEncoding.EncodeToString(der)
	signed := func(body string, at time.Time) http.Header {
		stamp := strconv.FormatInt(at.Unix(), 10)
		sum := sha256.Sum256([]byte(stamp + body))
		signature, err := ecdsa.SignASN1(rand.Reader, private, sum[:])
		if err != nil {
			t.Fatal(err)
		}
		h := http.Header{}
		h.Set("X-Twilio-Email-Event-Webhook-Signature", base64.StdEncoding.EncodeToString(signature))
		h.Set("X-Twilio-Email-Event-Webhook-Timestamp", stamp)
		return h
	}
	body := `[{"event": "bounce", "email": "A@x.example", "type": "bounce", "status": "5.1.1", "reason": "550 5.1.1 no such user"},
		{"event": "bounce", "email": "b@x.example", "type": "blocked", "reason": "550 5.1.1 blocked by policy"}, {"event": "spamreport", "email": "c@x.example"},
		{"event": "dropped", "email": "d@x.example", "reason": "Bounced Address"}, {"event": "dropped", "email": "e@x.example", "reason": "Spam Reporting Address"},
		{"event": "deferred", "email": "f@x.example"}, {"event": "delivered", "email": "g@x.example"}, {"event": "group_unsubscribe", "email": "h@x.example"}, {"event": "open", "email": "i@x.example"}]`
	want := "bounced a@x.example invalid_recipient true; bounced b@x.example"
	got := verdicts(t, "sendgrid", body, signed(body, atNoon), key)
	rest := "; complained c@x.example  false; bounced d@x.example suppressed_by_provider true; complained e@x.example  false; deferred f@x.example  false; delivered g@x.example  false; unsubscribed h@x.example  false; none i@x.example  false"
	if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, rest) || strings.Count(got, "true") != 2 {
		t.Errorf("events: %s", got)
	}
	for name, h := range map[string]http.Header{
		"another body": signed(body+" ", atNoon), "no header": {}, "an old one": signed(body, atNoon.Add(-11*time.Minute)), "a future one": signed(body, atNoon.Add(11*time.Minute)),
	} {
		if got := verdicts(t, "sendgrid", body, h, key); !strings.HasPrefix(got, "refused") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestRequestsOfMailgun(t *testing.T) {
	t.Parallel()
	body := func(at time.Time, key, data string) string {
		stamp := strconv.FormatInt(at.Unix(), 10)
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(stamp + "t0ken"))
		return `{"signature": {"timestamp": "` + stamp + `", "token": "t0ken", "signature": "` + hex.EncodeToString(mac.Sum(nil)) + `"}, "event-data": ` + data + `}`
	}
	for data, want := range map[string]string{
		`{"event": "failed", "severity": "permanent", "recipient": "a@x.example", "delivery-status": {"code": 550, "message": "5.1.1 no such user"}}`:   "bounced a@x.example invalid_recipient true",
		`{"event": "failed", "severity": "permanent", "recipient": "a@x.example", "delivery-status": {"code": 550, "message": "5.7.1 spam detected"}}`:  "bounced a@x.example spam_content false",
		`{"event": "failed", "severity": "permanent", "reason": "suppress-bounce", "recipient": "a@x.example", "delivery-status": {"code": 605}}`:       "bounced a@x.example suppressed_by_provider true",
		`{"event": "failed", "severity": "temporary", "recipient": "a@x.example", "delivery-status": {"code": "452", "message": "4.2.2 mailbox full"}}`: "deferred a@x.example  false",
		`{"event": "complained", "recipient": "a@x.example"}`:                                               "complained a@x.example  false",
		`{"event": "unsubscribed", "recipient": "a@x.example"}`:                                             "unsubscribed a@x.example  false",
		`{"event": "delivered", "recipient": "a@x.example", "message": {"headers": {"message-id": "x@y"}}}`: "delivered a@x.example  false",
		`{"event": "opened", "recipient": "a@x.example"}`:                                                   "none a@x.example  false",
	} {
		if got := verdicts(t, "mailgun", body(atNoon, "k", data), nil, "k"); got != want {
			t.Errorf("%s: %s, want %s", data, got, want)
		}
	}
	for name, text := range map[string]string{
		"another key": body(atNoon, "other", `{"event": "complained"}`), "an old one": body(atNoon.Add(-time.Hour), "k", `{"event": "complained"}`), "no JSON": "x", "none": "{}",
	} {
		if got := verdicts(t, "mailgun", text, nil, "k"); !strings.HasPrefix(got, "refused") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestRequestsOfPostmark(t *testing.T) {
	t.Parallel()
	h := http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte("user:secret"))}}
	for body, want := range map[string]string{
		`{"RecordType": "Bounce", "Type": "HardBounce", "Email": "a@x.example", "ID": 42, "Details": "smtp;550 5.1.1 no such user"}`:          "bounced a@x.example invalid_recipient true",
		`{"RecordType": "Bounce", "Type": "SoftBounce", "Email": "a@x.example", "Details": "smtp;550 5.1.1 no such user"}`:                    "bounced a@x.example invalid_recipient false",
		`{"RecordType": "Bounce", "Type": "Blocked", "Email": "a@x.example"}`:                                                                 "bounced a@x.example policy false",
		`{"RecordType": "Bounce", "Type": "DMARCPolicy", "Email": "a@x.example"}`:                                                             "bounced a@x.example auth_failure false",
		`{"RecordType": "Bounce", "Type": "AutoResponder", "Email": "a@x.example"}`:                                                           "none a@x.example  false",
		`{"RecordType": "SpamComplaint", "Email": "a@x.example"}`:                                                                             "complained a@x.example  false",
		`{"RecordType": "Delivery", "Recipient": "a@x.example"}`:                                                                              "delivered a@x.example  false",
		`{"RecordType": "SubscriptionChange", "Recipient": "a@x.example", "SuppressSending": true, "SuppressionReason": "ManualSuppression"}`: "unsubscribed a@x.example  false",
		`{"RecordType": "SubscriptionChange", "Recipient": "a@x.example", "SuppressSending": false}`:                                          "none a@x.example  false",
	} {
		if got := verdicts(t, "postmark", body, h, "secret"); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
	for _, key := range []string{"", "other"} {
		if got := verdicts(t, "postmark", `{"RecordType": "Delivery"}`, h, key); !strings.HasPrefix(got, "refused") {
			t.Errorf("key %q: %s", key, got)
		}
	}
}

func TestRequestsOfOthers(t *testing.T) {
	t.Parallel()
	if got, want := verdicts(t, "generic", `[{"message_id": "<x@y>", "event": "bounced", "code": "550", "status": "5.1.1", "reason": "no such user"}, {"event": "opened"}]`, nil, ""), "bounced  invalid_recipient true; none   false"; got != want {
		t.Errorf("events: %s, want %s", got, want)
	}
	for _, provider := range []string{"generic", "ses"} {
		if got := verdicts(t, provider, `{}`, nil, ""); !strings.HasPrefix(got, "refused") {
			t.Errorf("%s: %s", provider, got)
		}
	}
	if _, err := inspect.ReadWebhook("x", nil, nil, "", atNoon); err == nil {
		t.Error("an unknown provider is accepted")
	}
}

func FuzzWebhook(f *testing.F) {
	for _, provider := range []string{"ses", "sendgrid", "mailgun", "postmark", "generic"} {
		f.Add(provider, []byte(`[{"event": "bounced", "code": 550}]`), "k")
		f.Add(provider, []byte(`{"Type": "Notification", "MessageId": "1", "TopicArn": "x", "Timestamp": "y", "Signature": "eA==", "SigningCertURL": "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem"}`), "k")
	}
	f.Fuzz(func(t *testing.T, provider string, body []byte, key string) {
		w, _ := inspect.ReadWebhook(provider, body, http.Header{}, key, atNoon)
		if !w.Accepted && len(w.Events) > 0 {
			t.Error("events of a refused request")
		}
	})
}
