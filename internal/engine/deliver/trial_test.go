package deliver_test

import (
	"bytes"
	"context"
	"net/mail"
	"strings"
	"testing"
	"time"

	verifier "github.com/emersion/go-msgauth/dkim"

	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/porttest"
	"github.com/packetboat/packetboat/internal/content/mailbox"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestATrialReturnsTheServersAnswer(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.One(t))
	tester := h.tester()
	trial, err := tester.Try(t.Context(), h.Tenant, h.Lane.ID, id.Identity{}, "me@example.com")
	h.must(err)
	list, _, err := mailbox.List(t.Context(), h.DB, h.Tenant, mailbox.Query{Lane: h.Lane.ID, Limit: 9})
	h.must(err)
	if !trial.Accepted || len(list) != 1 || !strings.HasSuffix(list[0].MailFrom, "@"+h.Domain.ReturnPathHost) {
		t.Errorf("sink: %+v, mailbox: %+v", trial, list)
	}
	s := sink.Start(t, sink.Options{})
	h.relay(s.Port())
	for _, test := range []struct {
		name     string
		rule     sink.Rule
		accepted bool
		code     int
	}{
		{"accepted", sink.Rule{Stage: sink.Rcpt}, true, 250},
		{"refused", sink.Rule{Stage: sink.Rcpt, Reply: "550 5.1.1 no such user"}, false, 550},
		{"not let in", sink.Rule{Stage: sink.Connect, Reply: "554 5.7.1 go away", Drop: true}, false, 554},
		{"silent", sink.Rule{Stage: sink.Dot, Delay: time.Hour}, false, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			h.must(s.SetRules([]sink.Rule{test.rule}))
			within := maxWaitInMemory
			if test.name == "silent" {
				within = time.Second
			}
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			trial, err := tester.Try(ctx, h.Tenant, h.Lane.ID, id.Identity{}, "me@example.com")
			if err != nil || trial.Accepted != test.accepted || trial.Code != test.code {
				t.Errorf("trial = %+v, %v; want accepted %v, code %d", trial, err, test.accepted, test.code)
			}
		})
	}
}

// A connection is tested with settings that are not stored, and sends nothing.
func TestAConnectionIsTestedWithoutMail(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.One(t))
	s := sink.Start(t, sink.Options{User: "u", Password: "right"})
	dead, err := porttest.Free()
	h.must(err)
	config := func(port int) lane.Config {
		return lane.Config{Tenant: h.Tenant, Type: lane.SMTP, SMTP: lane.SMTPSettings{Host: "127.0.0.1", Port: port, TLS: smtpclient.None, Auth: smtpclient.AuthPlain, Username: "u", HasPassword: true}}
	}
	for _, tt := range []struct {
		name     string
		config   lane.Config
		password string
		accepted bool
		code     int
		words    string
	}{
		{"the right password", config(s.Port()), "right", true, 235, "235"},
		{"a wrong one", config(s.Port()), "guessed", false, 535, "535"},
		{"a port where nothing listens", config(dead), "right", false, 0, "refused"},
		{"the built-in mailbox", lane.Config{Tenant: h.Tenant, Type: lane.Sink}, "", true, 0, ""},
	} {
		trial, err := h.tester().Connect(t.Context(), tt.config, tt.password, "")
		if err != nil || trial.Accepted != tt.accepted || trial.Reached != tt.accepted || trial.Code != tt.code || !strings.Contains(trial.Response, tt.words) || strings.Contains(trial.Response, "guessed") {
			t.Errorf("%s: %+v, %v", tt.name, trial, err)
		}
	}
	if n := s.Stats().Messages; n != 0 {
		t.Errorf("the server got %d messages", n)
	}
}

// A trial has the same signature as other mail, since a relay may check it.
func TestATrialIsSignedLikeAnyMail(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		h.pass(time.Since(h.now())) // the verifier uses the system clock
		other := h.AddIdentity("other")
		s := sink.Start(t, sink.Options{Keep: true})
		for n, tt := range []struct {
			identity id.Identity
			address  string
			signs    bool
		}{
			{id.Identity{}, h.Identity.Address, true},
			{other.ID, other.Address, true},
			{other.ID, other.Address, false},
		} {
			h.relay(s.Port(), func(f *lane.Fields) { f.DKIMSign = &tt.signs })
			tester := h.tester()
			trial, err := tester.Try(t.Context(), h.Tenant, h.Lane.ID, tt.identity, "me@example.com")
			h.must(err)
			got := s.Messages()
			if !trial.Accepted || len(got) != n+1 {
				t.Fatalf("trial = %+v, %d mails", trial, len(got))
			}
			m := got[n]
			parsed, err := mail.ReadMessage(bytes.NewReader(m.Raw))
			h.must(err)
			for _, name := range []string{"Date", "Message-Id", "From", "To", "Subject", "Mime-Version", "Content-Type"} {
				if parsed.Header.Get(name) == "" {
					t.Errorf("the mail has no %s", name)
				}
			}
			if !strings.Contains(parsed.Header.Get("From"), "<"+tt.address+">") {
				t.Errorf("it is from %s, want %s", parsed.Header.Get("From"), tt.address)
			}
			local, host, _ := strings.Cut(strings.TrimPrefix(m.Mail, "b."), "@")
			if host != h.Domain.ReturnPathHost || !isPreview(tester.Keys, local) {
				t.Errorf("the envelope is from %s", m.Mail)
			}
			found, err := verifier.VerifyWithOptions(bytes.NewReader(m.Raw), &verifier.VerifyOptions{
				LookupTXT: func(string) ([]string, error) { return []string{h.Domain.DKIMRecord}, nil },
			})
			if err != nil || len(found) == 1 != tt.signs || tt.signs && (found[0].Err != nil || found[0].Domain != h.Domain.Name) {
				t.Errorf("signatures: %+v, %v; want one: %v", found, err, tt.signs)
			}
		}
	})
}
