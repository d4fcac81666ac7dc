package app

import (
	"net/http"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
)

// While the server is away, the application says so, keeps what is written and offers nothing that needs the
// server; when it is back, what was written is saved.
func TestTheApplicationReconnectsAfterTheServerWasDown(t *testing.T) {
	t.Parallel()
	page := openApp(t, "")
	draft, err := page.account.Owner.Must(page.Ctx, http.MethodPost, "/broadcasts", map[string]any{"name": "News", "email_type_key": "newsletter", "include_segment_keys": []any{page.account.List}, "content": map[string]any{"subject": "Hello", "body_html": "<p>Hello</p>"}})
	if err != nil {
		t.Fatal(err)
	}
	path := "/broadcasts/" + draft["id"].(string)
	page.open(path + "/edit")
	page.Must(page.program.Kill()) // parts of the page may not be loaded yet
	page.Fill("Internal name", "Written while away")
	page.All().ExpectText("You are offline")
	page.Must(page.program.Start(page.Ctx))
	page.All().ExpectNoText("You are offline")
	page.WaitFor(`$.code()`)
	name := e2etest.Eventually(t, func() (any, bool) { // the page saves a moment after it has reconnected
		saved, err := page.account.Owner.Must(page.Ctx, http.MethodGet, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		return saved["name"], saved["name"] == "Written while away"
	})
	if name != "Written while away" {
		t.Errorf("the draft's name is %q", name)
	}
	for _, problem := range page.Problems() {
		if !strings.Contains(problem, "ERR_CONNECTION") && !strings.Contains(problem, "ERR_INCOMPLETE") && !strings.HasSuffix(problem, "/api/auth/session") {
			t.Errorf("the console says: %s", problem)
		}
	}
}

// What the browser keeps paints the next visit, holds nothing about contacts, and is deleted by signing out.
func TestTheBrowserStoresNothingAboutContacts(t *testing.T) {
	t.Parallel()
	page := openApp(t, "")
	const kept = `$.stored('packetboat', 'answers').then(all => JSON.stringify(all))`
	page.open("/contacts")
	page.In("row", "Reader24").ExpectText("reader24@example.org")
	page.open("/segments")
	text := e2etest.Eventually(t, func() (text string, ok bool) {
		page.EvaluateInto(kept, &text)
		return text, strings.Contains(text, `"segments"`)
	})
	if !strings.Contains(text, `"segments"`) {
		t.Errorf("the browser keeps no segments: %.300s", text)
	}
	for _, secret := range []string{"reader24@", "Reader24"} {
		if strings.Contains(text, secret) {
			t.Errorf("the browser keeps %s: %.300s", secret, text)
		}
	}
	for _, store := range []string{"localStorage", "sessionStorage"} {
		if text := page.EvaluateString(`JSON.stringify({...` + store + `})`); strings.Contains(text, "@") {
			t.Errorf("%s holds %s", store, text)
		}
	}
	page.Evaluate(`document.querySelector('button[aria-label^="Account of"]').click()`)
	const signOut = `[...document.querySelectorAll('[role=menuitem]')].find(m => m.textContent.trim() === 'Sign out')`
	page.ClickElement(signOut)
	page.WaitFor(`location.pathname === '/app/-/login' && document.querySelector('input[type=password]')`)
	page.EvaluateInto(kept, &text)
	if text != "[]" && text != "" {
		t.Errorf("after signing out the browser keeps %.300s", text)
	}
}
