package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// attempt begins attempts of messages and stores their results, and returns the items as claimed.
func (s *sendingTest) attempt(t *testing.T, n *outbox.Node, send id.Send, result func(outbox.Item) outbox.Result) {
	t.Helper()
	if err := n.Renew(t.Context(), s.now.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	items, err := n.Claim(t.Context(), s.acme, send, 10, s.now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Commit(t.Context(), nil, items, s.now); err != nil {
		t.Fatal(err)
	}
	var results []outbox.Result
	for _, it := range items {
		if r := result(it); r.State != "" {
			r.Item, r.At = it, s.now
			results = append(results, r)
		}
	}
	if _, err := n.Commit(t.Context(), results, nil, s.now); err != nil {
		t.Fatal(err)
	}
}

// A recipient's page lists every attempt, what the mail looked like, and each open and click with what
// decided about it.
func TestEvidenceOfARecipient(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		ctx := t.Context()
		at, records := s.sendTo(t, 5)
		send := records[0].Send
		get := func(i int) (response, map[string]any) {
			t.Helper()
			r := s.must(200, "viewer", "GET "+at+"/recipients/"+records[i].Contact.String(), "")
			return r, r.body
		}
		list := func(body map[string]any, field string) string {
			text, _ := json.Marshal(body[field])
			return string(text)
		}
		waiting := s.must(200, "key", "GET "+at+"/recipients", "").body["data"].([]any)[0].(map[string]any)
		_, got := get(0)
		for name, want := range waiting {
			if d := cmp.Diff(want, got[name]); d != "" {
				t.Errorf("%s differs from the list (-list +one):\n%s", name, d)
			}
		}
		if got["message"] != nil || list(got, "attempts") != "[]" || list(got, "hits") != "[]" {
			t.Errorf("of a waiting recipient: %v", got)
		}

		began := s.now
		stamp := func(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }
		n := &outbox.Node{DB: s.db, Owner: "one"}
		s.attempt(t, n, send, func(it outbox.Item) outbox.Result {
			switch it.ID {
			case records[0].ID:
				return outbox.Result{State: outbox.Queued, Due: began.Add(time.Minute), Answered: true, Code: 451, Enhanced: "4.2.0", Error: "come back", Reply: "come back"}
			case records[1].ID:
				return outbox.Result{State: outbox.Bounced, BounceType: "hard", Answered: true, Code: 550, Enhanced: "5.1.1", Error: "no such user", Reply: "no such user"}
			case records[2].ID:
				return outbox.Result{State: outbox.Skipped, SkipReason: "invalid_email", Unsent: true}
			case records[3].ID:
				return outbox.Result{State: outbox.Delivered, Answered: true, Code: 250, Enhanced: "2.0.0", Reply: "Ok: queued as " + strings.Repeat("é", 200)}
			}
			return outbox.Result{} // its result is lost
		})
		s.now = began.Add(2 * time.Minute)
		two := &outbox.Node{DB: s.db, Owner: "two"}
		if err := two.Renew(ctx, s.now.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, uncertain, err := two.Reap(ctx, s.now, true); err != nil || uncertain != 1 {
			t.Fatalf("Reap: %d uncertain, %v", uncertain, err)
		}
		s.attempt(t, two, send, func(it outbox.Item) outbox.Result {
			return outbox.Result{State: outbox.Delivered, Answered: true, Code: 250, Enhanced: "2.0.0", Reply: "Ok: queued as 7"}
		})
		accepted := `{"at":"` + stamp(s.now) + `","code":250,"mta_config_key":"sink","reply":"2.0.0 Ok: queued as 7"}`
		for i, want := range []string{
			`[{"at":"` + stamp(began) + `","code":451,"mta_config_key":"sink","reply":"4.2.0 come back"},` + accepted + `]`,
			`[{"at":"` + stamp(began) + `","code":550,"mta_config_key":"sink","reply":"5.1.1 no such user"}]`,
			`[]`,
			`[{"at":"` + stamp(began) + `","code":250,"mta_config_key":"sink","reply":"2.0.0 Ok: queued as ` + strings.Repeat("é", 88) + `"}]`,
			`[{"at":"` + stamp(began) + `","code":null,"mta_config_key":"sink","reply":"The sending process ended before it stored the server's answer."},` + accepted + `]`,
		} {
			r, got := get(i)
			if a := list(got, "attempts"); a != want {
				t.Errorf("attempts of recipient %d:\n%s, want\n%s", i, a, want)
			}
			if (got["message"] == nil) != (want == "[]") {
				t.Errorf("recipient %d: %s", i, r.text)
			}
		}
		if _, err := outbox.RecordBounces(ctx, s.db, s.acme, []outbox.Bounce{{Message: records[3].ID, At: s.now, Refusal: outbox.Refusal{Class: "soft", Code: 452, Text: "full"}}}); err != nil {
			t.Fatal(err)
		}
		if _, got := get(3); got["status"] != "bounced" || strings.Count(list(got, "attempts"), `"at"`) != 1 || !strings.Contains(list(got, "attempts"), `"code":250`) {
			t.Errorf("after a late bounce: %v", got)
		}

		// The message: as sent, without a pixel, and with links that record nothing.
		_, got = get(0)
		m := got["message"].(map[string]any)
		html := m["html"].(string)
		if m["subject"] != "Spring news" || m["from"] != "News <news@acme.example.com>" || m["content_version"] != 1.0 || m["variant_id"] != nil || !strings.Contains(html, ">read</a>") || !strings.Contains(m["text"].(string), "read") {
			t.Errorf("the message is %v", m)
		}
		if strings.Contains(html, "/_q/o/") {
			t.Errorf("the message has a pixel: %s", html)
		}
		box, err := secret.NewBox(make([]byte, secret.KeyBytes))
		if err != nil {
			t.Fatal(err)
		}
		keys := track.NewKeys(box)
		for _, kind := range []struct {
			path string
			kind track.Kind
		}{{"/_q/c/", track.ClickLink}, {"/_q/u/", track.Unsubscribe}} {
			_, rest, found := strings.Cut(html, kind.path)
			end := strings.IndexAny(rest, `"?#`)
			if !found || end < 0 {
				t.Errorf("the message has no link with %s: %s", kind.path, html)
				continue
			}
			if token, err := keys.Verify(kind.kind, rest[:end]); err != nil || !token.Preview {
				t.Errorf("the link with %s is not inert: %+v, %v", kind.path, token, err)
			}
		}

		// Hits.
		opened := s.now
		hit := func(after time.Duration, click bool, agent, ip string) track.Hit {
			h := track.Hit{
				Tenant: s.acme, Send: send, Message: records[0].ID, Contact: records[0].Contact, At: opened.Add(after), SinceSent: &after,
				Method: "GET", Agent: agent, IP: ip, Class: track.Pending, Click: click,
			}
			if click {
				h.URL = "https://example.org/"
			}
			return h
		}
		trap := hit(3*time.Second, true, "curl/8", "64.235.150.2")
		trap.URL, trap.Honeypot, trap.Link = "", true, track.HoneypotLink
		if err := s.db.InTx(ctx, func(tx *sqldb.DB) error {
			return track.Record(ctx, tx, []track.Hit{hit(time.Second, false, "Firefox", "192.0.2.1"), hit(2*time.Second, true, "", ""), trap})
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.db.Exec(ctx, `UPDATE hit SET class = 'bot', rule = 'T3 N2 N2b' WHERE tenant_id = $1 AND at = $2`, s.acme, opened.Add(2*time.Second).UnixMicro()); err != nil {
			t.Fatal(err)
		}
		_, got = get(0)
		want := `[{"agent":"Firefox","at":"` + stamp(opened.Add(time.Second)) + `","class":"pending","kind":"open","link_url":null,"network":"192.0.2.0/24","rules":[]},` +
			`{"agent":null,"at":"` + stamp(opened.Add(2*time.Second)) + `","class":"bot","kind":"click","link_url":"https://example.org/","network":null,"rules":["T3","N2","N2b"]},` +
			`{"agent":"curl/8","at":"` + stamp(opened.Add(3*time.Second)) + `","class":"pending","kind":"click","link_url":null,"network":"64.235.150.0/24 Barracuda Networks","rules":[]}]`
		if h := list(got, "hits"); h != want {
			t.Errorf("hits:\n%s, want\n%s", h, want)
		}
		if n, err := track.Prune(ctx, s.db, s.acme, s.now.Add(time.Hour), 100); err != nil || n != 1 {
			t.Fatal(n, err)
		}
		if _, got = get(0); strings.Count(list(got, "hits"), `"kind"`) != 2 || got["hits_deleted"] != 1.0 {
			t.Errorf("after retention: %v", got)
		}

		// An erased contact.
		people := []contact.PersonalData{outbox.PersonalData(), track.PersonalData()}
		if _, err := contact.Anonymize(ctx, s.db, s.acme, []id.Contact{records[0].Contact, records[1].Contact}, people, s.now); err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			r, got := get(i)
			for _, word := range []string{"come back", "no such user", "queued", "Firefox", "192.0.2", records[i].Email} {
				if strings.Contains(r.text, word) {
					t.Errorf("after it was erased, recipient %d has %q: %s", i, word, r.text)
				}
			}
			if got["message"] != nil || strings.Count(list(got, "attempts"), `"reply":null`) != 2-i {
				t.Errorf("of an erased recipient: %s", r.text)
			}
		}

		stranger, err := contact.Create(ctx, s.db, s.acme, "stranger@example.com", contact.Change{}, contact.Rules{}, s.now)
		if err != nil {
			t.Fatal(err)
		}
		for path, code := range map[string]string{
			at + "/recipients/" + stranger.ID.String():                                               "NOT_FOUND",
			at + "/recipients/nope":                                                                  "NOT_FOUND",
			"/broadcasts/nope/recipients/" + records[0].Contact.String():                             "NOT_FOUND",
			"/broadcasts/" + id.New[id.Broadcast]().String() + "/recipients/" + stranger.ID.String(): "NOT_FOUND",
		} {
			s.mustRefuse("viewer", "GET "+path, "", 404, code)
		}
		s.must(403, "key", "GET "+at+"/recipients/"+records[0].Contact.String(), "")
		if r := s.call("key", "GET /t/other/api"+at+"/recipients/"+records[0].Contact.String(), ""); r.status == 200 {
			t.Errorf("another tenant reads %s", r.text)
		}
	})
}
