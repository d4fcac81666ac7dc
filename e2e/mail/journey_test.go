package mail

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// TestABroadcastIsDeliveredOpenedClickedAndReported is the main journey: people
// are put on a list, one of them has unsubscribed and one is suppressed; a
// broadcast goes to the rest over SMTP, signed; one reads it and clicks, one
// unsubscribes with one click, one address does not exist; and the report agrees.
func TestABroadcastIsDeliveredOpenedClickedAndReported(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel()
		ctx := t.Context()
		store := t.TempDir()
		_, ready, s := e2etest.Start(t, address, "-store", store, "-refuse", "nobody@.*=550 5.1.1 no such user")
		people := []map[string]any{
			{"email": "Ann@Example.ORG", "first_name": "Ann <3"},
			{"email": "ben@example.org", "first_name": "Ben"},
			{"email": "nobody@example.org"},
			{"email": "left@example.org", "subscriptions": map[string]any{"newsletter": false}},
			{"email": "blocked@example.org"},
			{"email": "quiet@example.org", "do_not_contact": true},
		}
		var emails []string
		for _, p := range people {
			e2etest.Must(t, ready.Key, http.MethodPost, "/contacts", p)
			emails = append(emails, p["email"].(string))
		}
		e2etest.Must(t, ready.Key, http.MethodPost, "/segments/"+ready.List+"/members", map[string]any{"emails": emails})
		e2etest.Must(t, ready.Key, http.MethodPost, "/suppressions", map[string]any{"email": "BLOCKED@example.org", "reason": "asked by phone"})
		lane, err := ready.Lane(ctx, "Relay", s.Address, 2, true)
		if err != nil {
			t.Fatal(err)
		}
		id, err := ready.Broadcast(ctx, lane, map[string]any{
			"subject": "Hello {{ first_name | default: \"you\" }}", "preheader": "What is new",
			"body_html": `<html><body><p>Dear {{ first_name | default: "reader" }},</p>
<p><a href="https://www.example.com/offers?a=1&amp;b=2#top">Offers</a>
<a href="https://www.example.com/about">About</a> <a href="https://www.example.com/third">Third</a></p></body></html>`,
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := ready.Schedule(ctx, id); err != nil {
			t.Fatal(err)
		}
		within, cancel := context.WithTimeout(ctx, e2etest.Patience)
		defer cancel()
		b, err := ready.Await(within, id, "completed")
		if err != nil {
			t.Fatal(err)
		}
		if b["total_recipients"] != 3.0 || b["sent"] != 3.0 {
			t.Errorf("total_recipients = %v, sent = %v; want 3 and 3", b["total_recipients"], b["sent"])
		}
		mails := e2etest.Stored(t, store)
		if len(mails) != 2 {
			t.Fatalf("%d mails arrived, want those to Ann and Ben: %v", len(mails), mails)
		}
		ann, ben := mails["ann@example.org"], mails["ben@example.org"]
		looksRight(t, ann)

		// Ann reads the mail on her own machine, some seconds after it came.
		e2etest.Wait(t, 3*time.Second)
		e2etest.Visit(t, e2etest.Pixel(t, ann), http.StatusOK)
		to := e2etest.Visit(t, e2etest.Link(t, ann, "Offers"), http.StatusFound)
		want := "https://www.example.com/offers?a=1&b=2&utm_source=acme&utm_medium=email&utm_campaign=spring-news#top"
		if to != want {
			t.Errorf("the link leads to %s, want %s", to, want)
		}
		// A scanner follows every link of Ben's mail; then Ben unsubscribes.
		for _, label := range []string{"Offers", "About", "Third"} {
			e2etest.Visit(t, e2etest.Link(t, ben, label), http.StatusFound)
		}
		oneClick := regexp.MustCompile(`<(http[^>]+)>`).FindStringSubmatch(ben.GetHeader("List-Unsubscribe"))[1]
		res, err := http.PostForm(oneClick, url.Values{"List-Unsubscribe": {"One-Click"}})
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if body, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusOK || len(body) != 0 {
			t.Errorf("one-click unsubscribe: %s %q, want 200 and nothing", res.Status, body)
		}

		wants := map[string]any{
			"total_recipients": 3.0, "total_sent": 3.0, "total_delivered": 2.0, "total_bounced": 1.0, "total_failed": 0.0,
			"total_opened": 1.0, "total_clicked": 1.0, "verified_opened": 1.0, "apparent_opened": 1.0, "bot_clicked": 1.0,
			"total_unsubscribed": 1.0, "pending_opened": 0.0, "click_rate": 0.3333, "bounce_rate": 0.3333,
		}
		report := e2etest.Eventually(t, func() (map[string]any, bool) {
			r := e2etest.Must(t, ready.Key, http.MethodGet, "/broadcasts/"+id+"/report", nil)
			return r, agree(r, wants) == ""
		})
		if diff := agree(report, wants); diff != "" {
			t.Errorf("the report: %s", diff)
		}
		a, err := ready.Key.Do(ctx, http.MethodGet, "/broadcasts/"+id+"/links", nil)
		if err != nil {
			t.Fatal(err)
		}
		var links []map[string]any
		if err := a.Decode(&links); err != nil || len(links) != 3 || links[0]["url"] != "https://www.example.com/offers?a=1&b=2#top" || links[0]["unique_clicks"] != 1.0 || links[1]["total_clicks"] != 0.0 {
			t.Errorf("links = %s, %v; want three, Ann's click on the first", a.Body, err)
		}
		contact := e2etest.Eventually(t, func() (map[string]any, bool) {
			c := e2etest.Must(t, ready.Key, http.MethodGet, "/contacts/lookup?email=nobody@example.org", nil)
			return c, c["global_status"] == "bounced"
		})
		if contact["global_status"] != "bounced" || contact["bounce_type"] != "hard" {
			t.Errorf("the address that does not exist: %v, %v; want bounced, hard", contact["global_status"], contact["bounce_type"])
		}
		c := e2etest.Must(t, ready.Key, http.MethodGet, "/contacts/lookup?email=ben@example.org", nil)
		if subs, _ := c["subscriptions"].(map[string]any); subs["newsletter"] != false || c["global_status"] != "active" {
			t.Errorf("Ben after unsubscribing: %v, %v; want newsletter false, active", c["subscriptions"], c["global_status"])
		}
	})
}

func looksRight(t *testing.T, m *e2etest.Mail) {
	t.Helper()
	if got, want := m.GetHeader("Subject"), "Hello Ann <3"; got != want {
		t.Errorf("Subject = %q, want %q", got, want)
	}
	if !strings.Contains(m.HTML, "Dear Ann &lt;3,") {
		t.Errorf("the HTML does not greet Ann, escaped: %s", m.HTML)
	}
	if !strings.Contains(m.Text, "Dear Ann <3,") || !strings.Contains(m.Text, "Unsubscribe") {
		t.Errorf("the text part does not greet Ann or lets her not leave: %s", m.Text)
	}
	for _, name := range []string{"Dkim-Signature", "Message-Id", "List-Unsubscribe", "List-Id", "Feedback-Id", "X-Entity-Ref-Id", "Date"} {
		if m.GetHeader(name) == "" {
			t.Errorf("the mail has no %s", name)
		}
	}
	if got := m.GetHeader("List-Unsubscribe-Post"); got != "List-Unsubscribe=One-Click" {
		t.Errorf("List-Unsubscribe-Post = %q", got)
	}
}

// agree returns the differences between got and the wanted fields.
func agree(got, wants map[string]any) string {
	var b strings.Builder
	for k, want := range wants {
		if got[k] != want {
			fmt.Fprintf(&b, "%s = %v, want %v; ", k, got[k], want)
		}
	}
	return b.String()
}
