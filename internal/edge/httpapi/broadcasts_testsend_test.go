package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/mailbox"
	"github.com/packetboat/packetboat/internal/edge/public"
	"github.com/packetboat/packetboat/internal/engine/deliver"
	letters "github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// newTester returns a Tester that sends real mails.
func newTester(db *sqldb.DB, box *secret.Box, base *url.URL, now func() time.Time) *deliver.Tester {
	keys := track.NewKeys(box)
	return &deliver.Tester{
		DB: db, Box: box, Now: now, AllowPrivate: true, Keys: keys, FeedbackSender: "packetboat", Log: slog.New(slog.DiscardHandler),
		Senders: &letters.Senders{DB: db, Now: now}, Signers: &deliver.Signers{DB: db, Box: box}, Renderer: &letters.Renderer{Keys: keys, BaseURL: base},
	}
}

// tableCounts returns the number of rows of each table except for the mailbox.
func (s *apiTest) tableCounts() map[string]int {
	s.t.Helper()
	query := `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '%search%'`
	if s.db.Dialect() == sqldb.Postgres {
		query = `SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'`
	}
	found, err := s.db.Query(s.t.Context(), query)
	tables, err := sqldb.Collect(found, err, func(scan func(...any) error) (name string, err error) { return name, scan(&name) })
	if err != nil {
		s.t.Fatal(err)
	}
	counts := map[string]int{}
	for _, name := range tables {
		var n int
		if err := s.db.QueryRow(s.t.Context(), `SELECT COUNT(*) FROM "`+name+`"`).Scan(&n); err != nil {
			s.t.Fatal(err)
		}
		if !strings.Contains(name, "sink") && !strings.Contains(name, "mailbox") {
			counts[name] = n
		}
	}
	return counts
}

// mails returns the sources of the messages in the mailbox by address and subject, and deletes the
// messages.
func (s *sendingTest) mails() map[string]string {
	s.t.Helper()
	list, _, err := mailbox.List(s.t.Context(), s.db, s.acme, mailbox.Query{Lane: s.lane.ID, Limit: 100})
	if err != nil {
		s.t.Fatal(err)
	}
	got := map[string]string{}
	for _, m := range list {
		_, raw, err := mailbox.Raw(s.t.Context(), s.db, s.acme, s.lane.ID, m.ID)
		if err != nil {
			s.t.Fatal(err)
		}
		got[m.To+" "+m.Subject] = strings.ReplaceAll(strings.ReplaceAll(string(raw), "=\r\n", ""), "=3D", "=")
	}
	if err := mailbox.Clear(s.t.Context(), s.db, s.acme, s.lane.ID); err != nil {
		s.t.Fatal(err)
	}
	return got
}

func TestTestSendsOfABroadcast(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		ctx := t.Context()
		if _, err := sender.CreateIdentity(ctx, s.db, s.acme, sender.IdentityFields{
			Address: new("more@acme.example.com"), DisplayName: new("More"), EmailTypes: &[]id.EmailType{s.typ.ID}, Active: new(true),
		}, s.now); err != nil {
			t.Fatal(err)
		}
		bob := s.must(201, "key", "POST /contacts", `{"email": "bob@example.org", "first_name": "Bob"}`).str("id")
		if _, err := suppression.Add(ctx, s.db, s.acme, "gone@example.org", "manual", s.now); err != nil {
			t.Fatal(err)
		}
		made := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"variants": [{"id": "a", "name": "Short", "weight": 1, "content_overrides": {"subject": "Hi"}},
			{"id": "b", "name": "Long", "weight": 2, "content_overrides": {"subject": "Good morning"}}]}`))
		at := "/broadcasts/" + made.str("id")
		before := s.tableCounts()
		for caller, field := range map[string]string{"key broadcasts:schedule": "to", "editor": "recipients", "key": "emails"} {
			r := s.must(200, caller, "POST "+at+"/test-send", `{"`+field+`": ["Ann@example.org", "gone@example.org"]}`)
			rows := r.body["results"].([]any)
			if r.body["sent"] != 4.0 || r.body["failed"] != 0.0 || len(rows) != 8 {
				t.Fatalf("the answer to %s is %s", caller, r.text)
			}
			if row := rows[0].(map[string]any); row["to"] != "ann@example.org" || row["variant_id"] != "a" || row["sending_identity_email"] != "more@acme.example.com" || row["status"] != "sent" ||
				!strings.HasPrefix(fmt.Sprint(row["message_id"]), "<") || row["error"] != nil || len(row) != 6 {
				t.Errorf("a result is %v", row)
			}
			if row := rows[7].(map[string]any); row["to"] != "gone@example.org" || row["status"] != "suppressed" || row["message_id"] != nil {
				t.Errorf("a result is %v", row)
			}
			mails := s.mails()
			for _, want := range []string{"Short | more@acme.example.com] Hi", "Short | news@acme.example.com] Hi", "Long | more@acme.example.com] Good morning", "Long | news@acme.example.com] Good morning"} {
				if raw := mails["ann@example.org [TEST "+want]; !strings.Contains(raw, "Hi  <a") && !strings.Contains(raw, "Hi <a") {
					t.Errorf("no mail to ann with %q in %v:\n%s", want, len(mails), raw)
				}
			}
		}
		if r := s.must(200, "key", "POST "+at+"/test-send", `{"to": ["ann@example.org"], "variant_ids": ["b"], "contact_id": "`+bob+`"}`); r.body["sent"] != 2.0 {
			t.Errorf("one variant: %s", r.text)
		}
		for _, all := range []string{"null", "[]"} {
			if r := s.must(200, "key", "POST "+at+"/test-send", `{"to": ["other@example.org"], "variant_ids": `+all+`}`); r.body["sent"] != 4.0 {
				t.Errorf("variant_ids %s: %s", all, r.text)
			}
		}
		s.checkTestLinks(s.mails()["ann@example.org [TEST Long | news@acme.example.com] Good morning"])
		after := s.tableCounts()
		for _, name := range []string{"audit", "test_mail"} { // tables that record tests
			if after[name] == before[name] {
				t.Errorf("%s has no new rows", name)
			}
			delete(after, name)
			delete(before, name)
		}
		if !maps.Equal(before, after) {
			t.Errorf("rows before: %v\nrows after: %v", before, after)
		}
	})
}

// checkTestLinks requests the links of a test mail for Bob: they redirect and have no other effect.
func (s *sendingTest) checkTestLinks(raw string) {
	t := s.t
	t.Helper()
	if !strings.Contains(raw, "Hi Bob") {
		t.Errorf("the mail lacks the contact's data:\n%s", raw)
	}
	box, err := secret.NewBox(make([]byte, secret.KeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	now, keys := func() time.Time { return s.now }, track.NewKeys(box)
	hits := track.NewQueue(s.db, slog.New(slog.DiscardHandler))
	run, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- hits.Run(run) }()
	mux := http.NewServeMux()
	(&public.Recipient{
		DB: s.db, Keys: keys, Hits: hits, Contents: &content.Cache{DB: s.db}, Now: now, Log: slog.New(slog.DiscardHandler),
		Senders: &letters.Senders{DB: s.db, Now: now}, Renderer: &letters.Renderer{Keys: keys, BaseURL: &url.URL{Scheme: "http", Host: "127.0.0.1:8080"}},
		ClientIP: func(*http.Request) netip.Addr { return netip.MustParseAddr("192.0.2.7") },
	}).Routes(mux)
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`/_q/([a-z])/[A-Za-z0-9_.-]+`).FindAllStringSubmatch(raw, -1) {
		seen[m[1]] = true
		for _, method := range []string{"GET", "POST"} {
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, httptest.NewRequest(method, m[0], strings.NewReader("List-Unsubscribe=One-Click")))
			want := http.StatusOK
			switch {
			case method == "POST" && m[1] != "u" && m[1] != "p": // the preferences page says that it is a test
				want = http.StatusMethodNotAllowed
			case m[1] == "c":
				want = http.StatusFound
			}
			if location := w.Header().Get("Location"); w.Code != want || want == http.StatusFound && !strings.HasPrefix(location, "https://example.org/") || method == "POST" && m[1] == "u" && w.Body.Len() > 0 {
				t.Errorf("%s %s: %d to %q, want %d: %s", method, m[0], w.Code, location, want, w.Body)
			}
		}
	}
	stop()
	<-done
	if text, _ := json.Marshal(seen); string(text) != `{"c":true,"o":true,"p":true,"u":true}` {
		t.Errorf("links of kinds %s", text)
	}
	if caller, err := contact.ByEmail(t.Context(), s.db, s.acme, "bob@example.org"); err != nil || caller.Status != contact.Active || len(caller.Subscriptions) > 0 {
		t.Errorf("Bob is %s, %v, %v", caller.Status, caller.Subscriptions, err)
	}
}

func TestTestSendsThatAreRefused(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		at := "/broadcasts/" + s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"scheduled_at": "2026-01-01"}`)).str("id")
		stranger := s.must(201, "key", "POST /t/other/api/contacts", `{"email": "x@example.org"}`).str("id")
		eleven := `["` + strings.Repeat(`a@example.org", "`, 10) + `a@example.org"]`
		ok := `{"to": ["ann@example.org"]}`
		for _, test := range []struct {
			name, caller, path, body string
			status                   int
			code                     string
		}{
			{"none", "key", at, `{}`, 400, "INVALID_RECIPIENTS"},
			{"null", "key", at, `{"to": null}`, 400, "INVALID_RECIPIENTS"},
			{"empty", "key", at, `{"to": []}`, 400, "INVALID_RECIPIENTS"},
			{"too many", "key", at, `{"to": ` + eleven + `}`, 400, "INVALID_RECIPIENTS"},
			{"no address", "editor", at, `{"to": ["ann@example.org", "nobody"]}`, 400, "INVALID_RECIPIENTS"},
			{"no list", "key", at, `{"recipients": "ann@example.org"}`, 400, "INVALID_RECIPIENTS"},
			{"unknown variant", "key", at, `{"to": ["ann@example.org"], "variant_ids": ["a"]}`, 400, "INVALID_INPUT"},
			{"a contact that is no id", "key", at, `{"to": ["ann@example.org"], "contact_id": "x"}`, 400, "INVALID_INPUT"},
			{"unknown contact", "key", at, `{"to": ["ann@example.org"], "contact_id": "` + id.New[id.Contact]().String() + `"}`, 404, "CONTACT_NOT_FOUND"},
			{"another's contact", "key", at, `{"to": ["ann@example.org"], "contact_id": "` + stranger + `"}`, 404, "CONTACT_NOT_FOUND"},
			{"unknown", "key", "/broadcasts/" + id.New[id.Broadcast]().String(), ok, 404, "NOT_FOUND"},
			{"no id", "key", "/broadcasts/nope", ok, 404, "NOT_FOUND"},
			{"another's", "key", "/t/other/api" + at, ok, 404, "NOT_FOUND"},
			{"without the scope", "key broadcasts:write broadcasts:read", at, ok, 403, "INSUFFICIENT_SCOPE"},
			{"a viewer", "viewer", at, ok, 403, "INSUFFICIENT_ROLE"},
		} {
			if r := s.call(test.caller, "POST "+test.path+"/test-send", test.body); r.status != test.status || r.code != test.code && test.status != 403 {
				t.Errorf("%s: %d %s, want %d %s", test.name, r.status, r.text, test.status, test.code)
			}
		}
		s.must(200, "key", "POST "+at+"/schedule", "")
		s.must(200, "key", "POST "+at+"/test-send", ok)
		s.must(200, "key", "POST "+at+"/cancel", "")
		s.must(200, "key", "POST "+at+"/test-send", ok)
		s.must(200, "key", "POST "+at+"/archive", "")
		if r := s.call("key", "POST "+at+"/test-send", ok); r.status != 409 || r.code != "INVALID_TRANSITION" {
			t.Errorf("archived: %d %s", r.status, r.text)
		}
		at = "/broadcasts/" + s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"include_segment_keys": []}`)).str("id")
		s.must(200, "key", "POST "+at+"/test-send", ok) // a test needs no audience
		for _, step := range []struct{ sql, code string }{
			{`UPDATE mta_config SET active = FALSE WHERE tenant_id = $1`, "NO_MTA"},
			{`UPDATE mta_config SET active = TRUE WHERE tenant_id = $1`, ""},
			{`UPDATE sending_identity SET active = FALSE WHERE tenant_id = $1`, "NO_IDENTITY"},
			{`UPDATE broadcast SET subject = '{{' WHERE tenant_id = $1`, "LIQUID_INVALID"},
			{`UPDATE broadcast SET subject = '' WHERE tenant_id = $1`, "NO_CONTENT"},
		} {
			if _, err := s.db.Exec(t.Context(), step.sql, s.acme); err != nil {
				t.Fatal(err)
			}
			if r := s.call("key", "POST "+at+"/test-send", ok); r.code != step.code {
				t.Errorf("%s: %d %s", step.code, r.status, r.text)
			}
		}
	})
}
