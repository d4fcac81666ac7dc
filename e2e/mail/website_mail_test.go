package mail

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/browser"
	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
)

// TestAClickInADeliveredMailIdentifiesTheVisitor follows the link of a delivered mail in a browser, to a tracked
// domain with the script: the token _ev is taken and removed from the address, and once the click is
// classified as a person's, the page views are the recipient's, without any identify.
func TestAClickInADeliveredMailIdentifiesTheVisitor(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), e2etest.Stay)
	defer cancel()
	store := t.TempDir()
	p, ready, s := e2etest.StartWith(t, &harness.Program{}, "", "-store", store)
	account := e2etest.Must(t, ready.Owner, http.MethodGet, "/settings/account", nil)
	site := shop(t, p, account["site_key"].(string))
	at, err := url.Parse(site.URL)
	if err != nil {
		t.Fatal(err)
	}
	const host = "shop.localhost" // browsers resolve it to the loopback address
	e2etest.Must(t, ready.Owner, http.MethodPut, "/settings/account", map[string]any{"tracked_domains": []string{host}})
	e2etest.Must(t, ready.Key, http.MethodPost, "/contacts", map[string]any{"email": "ann@example.org", "first_name": "Ann"})
	e2etest.Must(t, ready.Key, http.MethodPost, "/segments/"+ready.List+"/members", map[string]any{"emails": []string{"ann@example.org"}})
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
	mail := e2etest.Stored(t, store)["ann@example.org"]
	if mail == nil {
		t.Fatal("no mail arrived")
	}
	e2etest.Wait(t, 3*time.Second) // a person reads it first
	started := browser.Start(ctx, t)
	r := reader{browser.Open(ctx, t, started, "")}
	r.visit(e2etest.Link(t, mail, "Mugs"))
	r.sent("page")
	if got := r.EvaluateString(`location.href`); !strings.HasPrefix(got, shopURL+"/mugs") || strings.Contains(got, "_ev") {
		t.Errorf("the address is %s; want that of the page, without the token", got)
	}
	r.Evaluate(`packetboat('event', 'mug_chosen', {color: 'blue'})`)
	r.sent("page event")
	rows := activity(ctx, t, ready.Owner, "ann@example.org", 2)
	if !strings.HasPrefix(rows[0]["title"].(string), "Viewed "+shopURL+"/mugs") || rows[1]["event_name"] != "mug_chosen" {
		t.Errorf("activity = %v", rows)
	}
	if list := r.Problems(); len(list) > 0 {
		t.Errorf("errors in the console: %q", list)
	}
}
