package mail

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// TestUnsubscribingOnAPageMakesClicksPersonal follows links of mails as security scanners do, from a cloud and
// without the headers of a browser, until reports say that machines clicked. Then recipients do what
// programs do not do: one unsubscribes with the button of the page, another saves preferences. Their
// clicks are now a person's in the report, the links, the contact and its timeline. A one-click
// unsubscribe proves nothing, since mail programs send it.
func TestUnsubscribingOnAPageMakesClicksPersonal(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel()
		store := t.TempDir()
		_, ready, s := e2etest.StartWith(t, &harness.Program{Env: []string{"PACKETBOAT_TRUSTED_PROXIES=127.0.0.0/8"}}, address, "-store", store)
		names := []string{"ann", "ben", "cid"}
		for _, name := range names {
			e2etest.Must(t, ready.Key, http.MethodPost, "/contacts", map[string]any{"email": name + "@example.org"})
			e2etest.Must(t, ready.Key, http.MethodPost, "/segments/"+ready.List+"/members", map[string]any{"emails": []string{name + "@example.org"}})
		}
		lane, err := ready.Lane(t.Context(), "Sink", s.Address, 1, false)
		if err != nil {
			t.Fatal(err)
		}
		id, err := ready.Broadcast(t.Context(), lane, map[string]any{
			"subject":   "Offers",
			"body_html": `<p><a href="https://example.com/offers">Offers</a> <a href="https://example.com/about">About</a> <a href="{{ preferences_url }}">Preferences</a> <a href="{{ unsubscribe_url }}">Unsubscribe</a></p>`,
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := ready.Schedule(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if _, err := ready.Await(t.Context(), id, "completed"); err != nil {
			t.Fatal(err)
		}
		mails := e2etest.Stored(t, store)
		e2etest.Wait(t, 3*time.Second) // rule R5 would outvote every proof
		for i, name := range names {
			if mails[name+"@example.org"] == nil {
				t.Fatalf("no mail to %s arrived", name)
			}
			scan(t, e2etest.Link(t, mails[name+"@example.org"], "Offers"), "3.80.1."+string(rune('1'+i)))
		}
		report := func(wants map[string]any) {
			t.Helper()
			got := e2etest.Eventually(t, func() (map[string]any, bool) {
				r := e2etest.Must(t, ready.Key, http.MethodGet, "/broadcasts/"+id+"/report", nil)
				return r, agree(r, wants) == ""
			})
			if diff := agree(got, wants); diff != "" {
				t.Errorf("the report: %s", diff)
			}
		}
		clicks := func(want float64) {
			t.Helper()
			a, err := ready.Key.Do(t.Context(), http.MethodGet, "/broadcasts/"+id+"/links", nil)
			if err != nil {
				t.Fatal(err)
			}
			var links []map[string]any
			if err := a.Decode(&links); err != nil || len(links) != 2 || links[0]["unique_clicks"] != want || links[0]["total_clicks"] != want {
				t.Errorf("links = %s, %v; want %v clicks on the first", a.Body, err, want)
			}
		}
		report(map[string]any{"bot_clicked": 3.0, "total_clicked": 0.0, "pending_clicked": 0.0, "verified_opened": 0.0})
		clicks(0)

		post := func(address string, form url.Values) {
			t.Helper()
			res, err := http.PostForm(address, form)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if res.StatusCode != http.StatusOK {
				t.Fatalf("POST %s = %s", address, res.Status)
			}
		}
		post(e2etest.Link(t, mails["ann@example.org"], "Unsubscribe"), url.Values{"from": {"page"}})
		post(e2etest.Link(t, mails["ben@example.org"], "Preferences"), url.Values{"action": {"save"}})
		oneClick := regexp.MustCompile(`<(http[^>]+)>`).FindStringSubmatch(mails["cid@example.org"].GetHeader("List-Unsubscribe"))
		post(oneClick[1], url.Values{"List-Unsubscribe": {"One-Click"}})
		report(map[string]any{"bot_clicked": 1.0, "total_clicked": 2.0, "pending_clicked": 0.0, "verified_opened": 2.0})
		clicks(2)
		for name, want := range map[string]float64{"ann": 1, "ben": 1, "cid": 0} {
			c := e2etest.Eventually(t, func() (map[string]any, bool) {
				c := e2etest.Must(t, ready.Key, http.MethodGet, "/contacts/lookup?email="+name+"@example.org", nil)
				return c, c["total_emails_clicked"] == want
			})
			if c["total_emails_clicked"] != want {
				t.Errorf("%s has total_emails_clicked %v, want %v", name, c["total_emails_clicked"], want)
			}
			rows := e2etest.Must(t, ready.Owner, http.MethodGet, "/contacts/"+c["id"].(string)+"/activity?types=email_clicked", nil)["data"].([]any)
			class := "bot"
			if want > 0 {
				class = "human"
			}
			if len(rows) != 1 || rows[0].(map[string]any)["classification"] != class {
				t.Errorf("the timeline of %s has %v, want a click that is %s", name, rows, class)
			}
		}
	})
}

// scan follows a link from an address of a cloud, with the agent of a browser but not with its headers.
func scan(t *testing.T, target, ip string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("User-Agent", e2etest.UserAgent)
	req.Header.Set("Accept", "*/*")
	req.Header.Set("X-Forwarded-For", ip)
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if to := res.Header.Get("Location"); res.StatusCode != http.StatusFound || !strings.HasPrefix(to, "https://example.com/offers") {
		t.Fatalf("GET %s = %s to %q", target, res.Status, to)
	}
}
