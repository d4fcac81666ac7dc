package e2e

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/chromium"
	"github.com/packetboat/packetboat/e2e/harness"
)

// TestAClickInADeliveredMailNamesTheVisitor follows the link of a delivered mail in a browser, to a tracked
// domain with the script: the token _ev is taken and removed from the address, and once the click is
// classified as a person's, the page views are the recipient's, without any identify.
func TestAClickInADeliveredMailNamesTheVisitor(t *testing.T) {
	t.Parallel()
	path := needChromium(t)
	ctx, cancel := context.WithTimeout(t.Context(), stay)
	defer cancel()
	store := t.TempDir()
	p, ready, s := startWith(t, &harness.Program{}, "", "-store", store)
	account := must(t, ready.Owner, http.MethodGet, "/settings/account", nil)
	site := shop(t, p, account["site_key"].(string))
	at, err := url.Parse(site.URL)
	if err != nil {
		t.Fatal(err)
	}
	const host = "shop.localhost" // browsers resolve it to the loopback address
	must(t, ready.Owner, http.MethodPut, "/settings/account", map[string]any{"tracked_domains": []string{host}})
	must(t, ready.Key, http.MethodPost, "/contacts", map[string]any{"email": "ann@example.org", "first_name": "Ann"})
	must(t, ready.Key, http.MethodPost, "/segments/"+ready.List+"/members", map[string]any{"emails": []string{"ann@example.org"}})
	lane, err := ready.Lane(ctx, "Relay", s.Address, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	shopURL := "http://" + host + ":" + at.Port()
	id, err := ready.Broadcast(ctx, lane, map[string]any{
		"subject": "Mugs", "body_html": `<p>Dear {{ first_name }}, <a href="` + shopURL + `/mugs">Mugs</a></p>`,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := ready.Schedule(ctx, id); err != nil {
		t.Fatal(err)
	}
	if _, err := ready.Await(ctx, id, "completed"); err != nil {
		t.Fatal(err)
	}
	mail := stored(t, store)["ann@example.org"]
	if mail == nil {
		t.Fatal("no mail arrived")
	}
	wait(t, 3*time.Second) // a person reads it first
	started, err := chromium.Start(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = started.Stop() })
	page, err := started.Open(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	r := reader{page, t, ctx}
	r.visit(link(t, mail, "Mugs"))
	r.sent("page")
	if got := r.text(`location.href`); !strings.HasPrefix(got, shopURL+"/mugs") || strings.Contains(got, "_ev") {
		t.Errorf("the address is %s; want that of the page, without the token", got)
	}
	r.eval(`packetboat('event', 'mug_chosen', {color: 'blue'})`)
	r.sent("page event")
	rows := activity(ctx, t, ready.Owner, "ann@example.org", 2)
	if !strings.HasPrefix(rows[0]["title"].(string), "Viewed "+shopURL+"/mugs") || rows[1]["event_name"] != "mug_chosen" {
		t.Errorf("activity = %v", rows)
	}
	if list := r.Problems(); len(list) > 0 {
		t.Errorf("errors in the console: %q", list)
	}
}
