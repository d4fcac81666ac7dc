package public_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/edge/public"
	"github.com/packetboat/packetboat/internal/engine/inbound"
	"github.com/packetboat/packetboat/internal/mail/sns"
	"github.com/packetboat/packetboat/internal/mail/sns/snstest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

const (
	snsHost = snstest.Host
	topic   = snstest.Topic
)

// amazon is a stand-in for SNS, with a client that trusts it.
type amazon struct {
	*snstest.Service
	client *sns.Client
}

func newAmazon(t *testing.T, now func() time.Time) *amazon {
	t.Helper()
	a := &amazon{snstest.Start(t, nil), sns.NewClient(now, nil, netguard.Guard{})}
	roots := x509.NewCertPool()
	roots.AddCert(a.Authority)
	a.client.HTTP.Transport = &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if address != snsHost+":443" {
				t.Errorf("connection to %s", address)
			}
			return new(net.Dialer).DialContext(ctx, network, a.Address)
		},
	}
	return a
}

func with(fields map[string]string, name, value string) map[string]string {
	fields[name] = value
	return fields
}

// sesPost is a message that SES has accepted, and the hook for its notifications.
type sesPost struct {
	*recipientFixture
	*amazon
	config lane.Config
	path   string
}

func newSESPost(t *testing.T, db *sqldb.DB) *sesPost {
	t.Helper()
	p := newPost(t, db)
	p.now = broadcasttest.Now.Add(time.Hour)
	now := func() time.Time { return p.now }
	recorder := inbound.NewRecorder(db, time.Now)
	run, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- recorder.Run(run) }()
	t.Cleanup(func() { stop(); <-done })
	s := &sesPost{recipientFixture: p, amazon: newAmazon(t, now)}
	(&public.Hooks{
		DB: db, Keys: p.keys, Log: slog.New(slog.DiscardHandler), Now: now, SNS: s.client,
		Receiver: &inbound.Receiver{DB: db, Keys: p.keys, Recorder: recorder, Log: slog.New(slog.DiscardHandler), Now: now},
	}).Routes(p.mux)
	var err error
	s.config, err = lane.Create(t.Context(), db, broadcasttest.Box(t), p.Tenant, lane.Fields{
		Name: new("SES"), Type: new(lane.SES), Region: new("eu-west-1"), AccessKeyID: new("AKIAIOSFODNN7EXAMPLE"), SecretAccessKey: new("x"), TopicARNs: &[]string{topic},
	}, lane.Rules{}, p.now)
	if err != nil {
		t.Fatal(err)
	}
	s.path = "/_q/hooks/ses/" + p.keys.Hook(p.Tenant, s.config.ID)
	s.exec(`UPDATE outbox SET state = 'sent', lane_id = $2, sent_at = $3 WHERE tenant_id = $1`, p.Tenant, s.config.ID, broadcasttest.Now.UnixMicro())
	s.exec(`UPDATE send SET last_send_at = $2 WHERE tenant_id = $1`, p.Tenant, broadcasttest.Now.UnixMicro())
	s.exec(`INSERT INTO outbox_provider_id (tenant_id, lane_id, provider_id, message_id) VALUES ($1, $2, 'ses-1', $3)`, p.Tenant, s.config.ID, p.message.ID)
	return s
}

func (s *sesPost) state() outbox.Record {
	s.recipientFixture.t.Helper()
	m, err := outbox.Find(s.recipientFixture.t.Context(), s.DB, s.Tenant, s.message.ID)
	if err != nil {
		s.recipientFixture.t.Fatal(err)
	}
	return m
}

const mailOfSES = `"mail": {"timestamp": "2026-03-01T12:00:00.000Z", "messageId": "ses-1"}`

func sesBounce(kind, sub, diagnostic string) string {
	return `{"notificationType": "Bounce", ` + mailOfSES + `, "bounce": {"bounceType": "` + kind + `", "bounceSubType": "` + sub + `", "timestamp": "2026-03-01T12:30:00.000Z",
		"bouncedRecipients": [{"emailAddress": "X@elsewhere.example", "diagnosticCode": "` + diagnostic + `"}]}}`
}

func TestForgedNotificationsOfSESChangeNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newSESPost(t, db)
		bounce := sesBounce("Permanent", "General", "smtp; 550 5.1.1 user unknown")
		certAt := func(at string) string { return s.Sign(with(snstest.Notification(bounce), "SigningCertURL", at)) }
		foreign := snstest.Foreign(t)
		for name, tt := range map[string]struct {
			path, body string
			code       int
		}{
			"no token":             {"/_q/hooks/ses/x", s.Sign(snstest.Notification(bounce)), 404},
			"no lane":              {"/_q/hooks/ses/" + s.keys.Hook(s.Tenant, id.New[id.Lane]()), s.Sign(snstest.Notification(bounce)), 404},
			"another tenant":       {"/_q/hooks/ses/" + s.keys.Hook(s.Tenant+1, s.config.ID), s.Sign(snstest.Notification(bounce)), 404},
			"a lane of type smtp":  {"/_q/hooks/ses/" + s.keys.Hook(s.Tenant, s.Lane.ID), s.Sign(snstest.Notification(bounce)), 404},
			"no JSON":              {s.path, "x", 400},
			"another type":         {s.path, s.Sign(with(snstest.Notification(bounce), "Type", "Other")), 400},
			"too large":            {s.path, `{"Message": "` + strings.Repeat("x", 2<<20) + `"}`, 413},
			"another topic":        {s.path, s.Sign(with(snstest.Notification(bounce), "TopicArn", topic+"2")), 403},
			"another key":          {s.path, foreign.Sign(snstest.Notification(bounce)), 403},
			"a changed message":    {s.path, strings.Replace(s.Sign(snstest.Notification(bounce)), "user unknown", "user Unknown", 1), 403},
			"a changed id":         {s.path, strings.Replace(s.Sign(snstest.Notification(bounce)), "5d2f6c0e-1", "5d2f6c0e-2", 1), 403},
			"an added subject":     {s.path, strings.Replace(s.Sign(snstest.Notification(bounce)), "{", `{"Subject":"x",`, 1), 403},
			"version 1 for 2":      {s.path, strings.Replace(s.Sign(snstest.Notification(bounce)), `"SignatureVersion":"2"`, `"SignatureVersion":"1"`, 1), 403},
			"no version":           {s.path, s.Sign(with(snstest.Notification(bounce), "SignatureVersion", "3")), 403},
			"certificate by http":  {s.path, certAt("http://" + snsHost + "/SimpleNotificationService-0123.pem"), 403},
			"of another domain":    {s.path, certAt("https://" + snsHost + ".evil.example/SimpleNotificationService-0123.pem"), 403},
			"of a prefix":          {s.path, certAt("https://evil" + snsHost + "/SimpleNotificationService-0123.pem"), 403},
			"with a user":          {s.path, certAt("https://" + snsHost + "@evil.example/SimpleNotificationService-0123.pem"), 403},
			"with a port":          {s.path, certAt("https://" + snsHost + ":8443/SimpleNotificationService-0123.pem"), 403},
			"of S3":                {s.path, certAt("https://sns.s3.amazonaws.com/SimpleNotificationService-0123.pem"), 403},
			"another path":         {s.path, certAt("https://" + snsHost + "/x/SimpleNotificationService-0123.pem"), 403},
			"a path with dots":     {s.path, certAt("https://" + snsHost + "/SimpleNotificationService-0123.pem/../x.pem"), 403},
			"an escaped path":      {s.path, certAt("https://" + snsHost + "/SimpleNotificationService-%2e%2e.pem"), 403},
			"a query":              {s.path, certAt("https://" + snsHost + "/SimpleNotificationService-0123.pem?x=y"), 403},
			"a fragment":           {s.path, certAt("https://" + snsHost + "/SimpleNotificationService-0123.pem#x"), 403},
			"a line break":         {s.path, certAt("https://" + snsHost + "/SimpleNotificationService-0123.pem\n"), 403},
			"no address":           {s.path, certAt("file:///etc/passwd"), 403},
			"subscription, topic":  {s.path, s.Sign(with(with(with(with(snstest.Notification("x"), "Type", "SubscriptionConfirmation"), "Token", "t0ken"), "SubscribeURL", "https://"+snsHost+"/"), "TopicArn", topic+"2")), 403},
			"subscription, forged": {s.path, foreign.Sign(with(with(with(snstest.Notification("x"), "Type", "SubscriptionConfirmation"), "Token", "t0ken"), "SubscribeURL", "https://"+snsHost+"/")), 403},
			"subscription, host":   {s.path, s.Sign(with(with(with(snstest.Notification("x"), "Type", "SubscriptionConfirmation"), "Token", "t0ken"), "SubscribeURL", "https://evil.example/?Action=ConfirmSubscription")), 503},
			"an unknown mail":      {s.path, s.Sign(snstest.Notification(strings.Replace(bounce, "ses-1", "ses-2", 1))), 204},
			"not about a mail":     {s.path, s.Sign(snstest.Notification("Successfully validated SNS topic for Amazon SES event publishing.")), 204},
		} {
			if w := s.do("POST", tt.path, strings.NewReader(tt.body)); w.Code != tt.code {
				t.Errorf("%s: %d %s, want %d", name, w.Code, w.Body, tt.code)
			}
		}
		if got := s.state(); got.State != outbox.Sent {
			t.Errorf("the message is %s", got.State)
		}
		if s.Confirmed.Load() != 0 || s.Certs.Load() != 1 {
			t.Errorf("%d confirmations, the certificate was requested %d times", s.Confirmed.Load(), s.Certs.Load())
		}
	})
}

func TestSubscriptionsToTopicsOfTheLaneAreConfirmed(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newSESPost(t, db)
		fields := with(with(with(snstest.Notification("x"), "Type", "SubscriptionConfirmation"), "Token", "t0ken"), "SubscribeURL", "https://"+snsHost+"/?Action=ConfirmSubscription")
		body := s.Sign(fields)
		s.Down.Store(true)
		if w := s.do("POST", s.path, strings.NewReader(body)); w.Code != http.StatusServiceUnavailable {
			t.Errorf("without SNS: %d", w.Code)
		}
		s.Down.Store(false)
		for _, version := range []string{"1", "2"} {
			if w := s.do("POST", s.path, strings.NewReader(s.Sign(with(fields, "SignatureVersion", version)))); w.Code != http.StatusNoContent {
				t.Errorf("version %s: %d %s", version, w.Code, w.Body)
			}
		}
		if n := s.Confirmed.Load(); n != 2 {
			t.Errorf("%d confirmations", n)
		}
	})
}

func TestNotificationsOfSESHaveTheirEffectsOnce(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		message string
		state   outbox.State
		class   string
		status  contact.Status
		bounce  string // the contact's bounce type
		listed  bool   // on the suppression list
	}{
		"delivery":      {`{"eventType": "Delivery", ` + mailOfSES + `, "delivery": {"timestamp": "2026-03-01T12:00:09.000Z", "recipients": ["x"], "smtpResponse": "250 ok"}}`, outbox.Delivered, "", contact.Active, "", false},
		"permanent":     {sesBounce("Permanent", "General", ""), outbox.Bounced, "hard", contact.Bounced, "hard", true},
		"unknown user":  {sesBounce("Permanent", "NoEmail", "smtp; 550 5.1.1 user unknown"), outbox.Bounced, "hard", contact.Bounced, "hard", true},
		"suppressed":    {sesBounce("Permanent", "OnAccountSuppressionList", "Amazon SES did not send the message"), outbox.Bounced, "hard", contact.Bounced, "hard", true},
		"policy":        {sesBounce("Permanent", "General", "smtp; 550 5.7.1 message blocked due to poor reputation"), outbox.Bounced, "block", contact.Active, "soft", false},
		"full":          {sesBounce("Transient", "MailboxFull", "smtp; 552 5.2.2 over quota"), outbox.Bounced, "soft", contact.Active, "soft", false},
		"transient":     {sesBounce("Transient", "General", "smtp; 550 5.1.1 user unknown"), outbox.Bounced, "soft", contact.Active, "soft", false},
		"content":       {sesBounce("Transient", "ContentRejected", ""), outbox.Bounced, "block", contact.Active, "soft", false},
		"undetermined":  {sesBounce("Undetermined", "Undetermined", ""), outbox.Bounced, "soft", contact.Active, "soft", false},
		"reject":        {`{"eventType": "Reject", ` + mailOfSES + `, "reject": {"reason": "Bad content"}}`, outbox.Bounced, "block", contact.Active, "soft", false},
		"complaint":     {`{"notificationType": "Complaint", ` + mailOfSES + `, "complaint": {"complainedRecipients": [{"emailAddress": "x"}], "complaintFeedbackType": "abuse"}}`, outbox.Sent, "", contact.Complained, "", true},
		"not spam":      {`{"notificationType": "Complaint", ` + mailOfSES + `, "complaint": {"complainedRecipients": [{"emailAddress": "x"}], "complaintFeedbackType": "not-spam"}}`, outbox.Sent, "", contact.Active, "", false},
		"delay":         {`{"eventType": "DeliveryDelay", ` + mailOfSES + `, "deliveryDelay": {"delayType": "MailboxFull", "delayedRecipients": [{"emailAddress": "x", "status": "4.2.2"}]}}`, outbox.Sent, "", contact.Active, "", false},
		"not rendered":  {`{"eventType": "Rendering Failure", ` + mailOfSES + `, "failure": {"errorMessage": "x"}}`, outbox.Sent, "", contact.Active, "", false},
		"subscription":  {`{"eventType": "Subscription", ` + mailOfSES + `, "subscription": {"newTopicPreferences": {"unsubscribeAll": false}}}`, outbox.Sent, "", contact.Active, "", false},
		"unknown event": {`{"eventType": "Open", ` + mailOfSES + `}`, outbox.Sent, "", contact.Active, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				s := newSESPost(t, db)
				late := `{"eventType": "Delivery", ` + mailOfSES + `, "delivery": {"timestamp": "2026-03-01T12:59:09.000Z", "recipients": ["x"]}}`
				follow := func() {
					t.Helper()
					e := &journal.Engine{DB: db, Followers: []journal.Follower{contact.Follower(), suppression.Follower()}, Log: slog.New(slog.DiscardHandler)}
					if err := e.Drain(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				send := func(message string) {
					t.Helper()
					if w := s.do("POST", s.path, strings.NewReader(s.Sign(snstest.Notification(message)))); w.Code != http.StatusNoContent {
						t.Fatalf("%d %s", w.Code, w.Body)
					}
				}
				send(tt.message)
				send(tt.message)
				if tt.state == outbox.Bounced {
					send(late) // a delivery after a bounce changes nothing
				}
				follow()
				m := s.state()
				c, err := contact.ByID(t.Context(), db, s.Tenant, m.Contact)
				if err != nil {
					t.Fatal(err)
				}
				if m.State != tt.state || m.BounceType != tt.class || c.Status != tt.status || string(c.BounceType) != tt.bounce {
					t.Errorf("the message is %s %s, its contact %s %s; want %+v", m.State, m.BounceType, c.Status, c.BounceType, tt)
				}
				reasons, err := suppression.Listed(t.Context(), db, s.Tenant, []string{m.Email})
				if err != nil {
					t.Fatal(err)
				}
				if reasons[m.Email] != tt.listed {
					t.Errorf("on the suppression list: %v, want %v", reasons, tt.listed)
				}
				// The same again has no effect on a contact whose status was reset.
				if tt.status != contact.Active {
					if _, err := contact.ResetStatus(t.Context(), db, s.Tenant, []id.Contact{m.Contact}, s.now); err != nil {
						t.Fatal(err)
					}
					send(tt.message)
					follow()
					if c, err = contact.ByID(t.Context(), db, s.Tenant, m.Contact); err != nil || c.Status != contact.Active {
						t.Errorf("after the reset and a repetition: %s, %v", c.Status, err)
					}
				}
			})
		})
	}
}
