package mail

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/mail/dnstest"
	"github.com/packetboat/packetboat/internal/mail/sns/snstest"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// startSNS starts a stand-in for SNS at the port for HTTPS on an address of the loopback network, where it
// stands in for it alone. It returns the environment in which the program uses it.
func startSNS(t *testing.T) (*snstest.Service, []string) {
	t.Helper()
	for i := 2; i < 250; i++ {
		address := fmt.Sprintf("127.0.53.%d", i)
		l, err := net.Listen("tcp", address+":443")
		if os.IsPermission(err) {
			t.Skip("the port for HTTPS needs a privilege: run the test as root")
		}
		if err != nil { // of another test
			continue
		}
		s := snstest.Start(t, l)
		file := filepath.Join(t.TempDir(), "authority.pem")
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Authority.Raw}), 0o600); err != nil {
			t.Fatal(err)
		}
		zone := dnstest.New(t, snstest.Host+". 60 IN A "+address)
		return s, []string{"SSL_CERT_FILE=" + file, "PACKETBOAT_DNS_RESOLVER=" + zone.Addr}
	}
	t.Fatal("no address is free")
	return nil, nil
}

// ses stands in for the sending of SES. It keeps the recipient of each message.
type ses struct {
	mu   sync.Mutex
	sent map[string]string // by the id that SES gave
}

func (s *ses) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var mail struct {
		Destination struct{ ToAddresses []string }
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&mail) != nil || len(mail.Destination.ToAddresses) != 1 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := fmt.Sprintf("0102-%d", len(s.sent))
	s.sent[id] = mail.Destination.ToAddresses[0]
	_ = json.NewEncoder(w).Encode(map[string]string{"MessageId": id})
}

// about returns the notifications of SES about the messages that it has sent: those to x.test bounce, those to
// spam.test are complained about, all others are delivered.
func (s *ses) about() (list []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, to := range s.sent {
		mail := `"mail": {"timestamp": "2026-03-01T12:00:00Z", "messageId": "` + id + `"}`
		switch _, domain, _ := strings.Cut(to, "@"); domain {
		case "x.test":
			list = append(list, `{"eventType": "Bounce", `+mail+`, "bounce": {"bounceType": "Permanent", "bounceSubType": "General", "bouncedRecipients": [{"emailAddress": "`+to+`", "diagnosticCode": "smtp; 550 5.1.1 no such user"}]}}`)
		case "spam.test":
			list = append(list, `{"eventType": "Complaint", `+mail+`, "complaint": {"complaintFeedbackType": "abuse", "complainedRecipients": [{"emailAddress": "`+to+`"}]}}`)
		default:
			list = append(list, `{"eventType": "Delivery", `+mail+`, "delivery": {"recipients": ["`+to+`"], "smtpResponse": "250 ok"}}`)
		}
	}
	return list
}

// SES sends a broadcast, and SNS posts what it reports: the program verifies the signatures by the certificate
// at SNS, confirms the subscription, and marks messages, contacts and the suppression list. What SNS has not
// signed is refused.
func TestReportsOfSESMarkContacts(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel()
		amazon, env := startSNS(t)
		mails := &ses{sent: map[string]string{}}
		sending := httptest.NewServer(mails)
		t.Cleanup(sending.Close)
		p, ready, _ := e2etest.StartWith(t, &harness.Program{Env: append(env, "PACKETBOAT_SES_ENDPOINT="+sending.URL)}, address)
		db := e2etest.Database(t, p)
		t.Cleanup(func() { _ = db.Close() })
		for domain, n := range map[string]int{"x.test": 2, "spam.test": 1, "fine.test": 3} {
			if err := harness.Seed(t.Context(), db, ready.List, n, domain); err != nil {
				t.Fatal(err)
			}
		}
		config := e2etest.Must(t, ready.Owner, http.MethodPost, "/mta-configs", map[string]any{"name": "SES", "type": "ses", "settings": map[string]any{
			"region": "eu-west-1", "access_key_id": "AKIAIOSFODNN7EXAMPLE", "secret_access_key": "x", "topic_arns": []string{snstest.Topic},
		}})
		_, hook, _ := strings.Cut(config["hook_url"].(string), "/_q/")
		post := func(want int, body string) {
			t.Helper()
			if a, err := ready.Key.Raw(t.Context(), http.MethodPost, "/_q/"+hook, body); err != nil || a.Status != want {
				t.Fatalf("the hook answered %d %s, %v; want %d", a.Status, a.Body, err, want)
			}
		}
		subscription := snstest.Notification("You have chosen to subscribe.")
		subscription["Type"], subscription["Token"], subscription["SubscribeURL"] = "SubscriptionConfirmation", snstest.Token, "https://"+snstest.Host+"/?Action=ConfirmSubscription"
		post(http.StatusNoContent, amazon.Sign(subscription))
		if n := amazon.Confirmed.Load(); n != 1 {
			t.Errorf("%d subscriptions were confirmed", n)
		}
		b, err := ready.Broadcast(t.Context(), config["key"].(string), map[string]any{"subject": "News", "body_html": "<p>Hello</p>"})
		if err != nil {
			t.Fatal(err)
		}
		if err := ready.Schedule(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if _, err := ready.Await(t.Context(), b, "completed"); err != nil {
			t.Fatal(err)
		}
		reports := mails.about()
		if len(reports) != 6 {
			t.Fatalf("SES has sent %d mails", len(reports))
		}
		foreign := snstest.Foreign(t)
		for _, report := range reports {
			post(http.StatusForbidden, foreign.Sign(snstest.Notification(report)))
		}
		if got := states(t, db); got != "active 6, bounced 0, listed 0" {
			t.Fatalf("after forged reports: %s", got)
		}
		for range 2 { // SNS repeats some
			for _, report := range reports {
				post(http.StatusNoContent, amazon.Sign(snstest.Notification(report)))
			}
		}
		for states(t, db) != "active 3, bounced 2, listed 2" {
			e2etest.Pause(t)
		}
		report := e2etest.Must(t, ready.Key, http.MethodGet, "/broadcasts/"+b+"/report", nil)
		if report["total_sent"] != 6.0 || report["total_bounced"] != 2.0 || report["total_delivered"] != 4.0 || report["total_complained"] != 1.0 {
			t.Errorf("report: %v", report)
		}
		if n := amazon.Certs.Load(); n != 1 {
			t.Errorf("the certificate was requested %d times", n)
		}
	})
}
