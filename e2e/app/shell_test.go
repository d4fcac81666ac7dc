package app

import (
	"net/http"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
)

// While the server is away, the application says so, keeps what is written and offers nothing that needs the
// server; when it is back, what was written is saved.
func TestTheApplicationWorksOnAfterTheServerWasAway(t *testing.T) {
	t.Parallel()
	d := openApp(t, "")
	draft, err := d.r.Owner.Must(d.Ctx, http.MethodPost, "/broadcasts", map[string]any{"name": "News", "email_type_key": "newsletter", "include_segment_keys": []any{d.r.List}, "content": map[string]any{"subject": "Hello", "body_html": "<p>Hello</p>"}})
	if err != nil {
		t.Fatal(err)
	}
	path := "/broadcasts/" + draft["id"].(string)
	d.open(path + "/edit")
	d.Must(d.p.Kill()) // parts of the page may not be loaded yet
	d.fill("Name", "Written while away")
	d.WaitFor(`document.body.textContent.includes('You are offline')`)
	d.Must(d.p.Start(d.Ctx))
	d.WaitFor(`!document.body.textContent.includes('You are offline') && document.body.textContent.includes('Saved')`)
	d.WaitFor(codeEditor)
	saved, err := d.r.Owner.Must(d.Ctx, http.MethodGet, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if saved["name"] != "Written while away" {
		t.Errorf("the draft's name is %q", saved["name"])
	}
	for _, problem := range d.Problems() {
		if !strings.Contains(problem, "ERR_CONNECTION") && !strings.Contains(problem, "ERR_INCOMPLETE") && !strings.HasSuffix(problem, "/api/auth/session") {
			t.Errorf("the console says: %s", problem)
		}
	}
}

// What the browser keeps paints the next visit, holds nothing about contacts, and is deleted by signing out.
func TestTheBrowserKeepsNothingAboutContacts(t *testing.T) {
	t.Parallel()
	d := openApp(t, "")
	const kept = `new Promise((done, fail) => {
		const open = indexedDB.open('packetboat')
		open.onerror = () => fail(open.error)
		open.onsuccess = () => {
			const db = open.result
			if (!db.objectStoreNames.contains('answers')) return db.close(), done('')
			const all = db.transaction('answers').objectStore('answers').getAll()
			all.onsuccess = () => (db.close(), done(JSON.stringify(all.result)))
		}
	})`
	d.open("/contacts")
	d.WaitFor(`document.body.textContent.includes('reader24@example.org')`)
	d.open("/segments")
	text := e2etest.Eventually(t, func() (text string, ok bool) {
		d.EvaluateInto(kept, &text)
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
		if text := d.EvaluateString(`JSON.stringify({...` + store + `})`); strings.Contains(text, "@") {
			t.Errorf("%s holds %s", store, text)
		}
	}
	d.Evaluate(`document.querySelector('button[aria-label^="Account of"]').click()`)
	const signOut = `[...document.querySelectorAll('[role=menuitem]')].find(m => m.textContent.trim() === 'Sign out')`
	d.WaitFor(signOut)
	d.Evaluate(signOut + `.click()`)
	d.WaitFor(`location.pathname === '/app/-/login' && document.querySelector('input[type=password]')`)
	d.EvaluateInto(kept, &text)
	if text != "[]" && text != "" {
		t.Errorf("after signing out the browser keeps %.300s", text)
	}
}
