package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// While the server is away, the application says so, keeps what is written and offers nothing that needs the
// server; when it is back, what was written is saved.
func TestTheApplicationWorksOnAfterTheServerWasAway(t *testing.T) {
	t.Parallel()
	d := openApp(t, "")
	draft, err := d.r.Owner.Must(d.ctx, http.MethodPost, "/broadcasts", map[string]any{"name": "News", "email_type_key": "newsletter", "include_segment_keys": []any{d.r.List}, "content": map[string]any{"subject": "Hello", "body_html": "<p>Hello</p>"}})
	if err != nil {
		t.Fatal(err)
	}
	path := "/broadcasts/" + draft["id"].(string)
	d.open(path + "/edit")
	d.must(d.p.Kill()) // parts of the page may not be loaded yet
	d.fill("Name", "Written while away")
	d.must(d.Until(d.ctx, `document.body.textContent.includes('You are offline')`))
	d.must(d.p.Start(d.ctx))
	d.must(d.Until(d.ctx, `!document.body.textContent.includes('You are offline') && document.body.textContent.includes('Saved')`))
	d.must(d.Until(d.ctx, codeEditor))
	saved, err := d.r.Owner.Must(d.ctx, http.MethodGet, path, nil)
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
	d.must(d.Until(d.ctx, `document.body.textContent.includes('reader24@example.org')`))
	d.open("/segments")
	text := eventually(t, func() (text string, ok bool) {
		d.must(d.Eval(d.ctx, kept, &text))
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
		if text := d.text(`JSON.stringify({...` + store + `})`); strings.Contains(text, "@") {
			t.Errorf("%s holds %s", store, text)
		}
	}
	d.eval(`document.querySelector('button[aria-label^="Account of"]').click()`)
	const signOut = `[...document.querySelectorAll('[role=menuitem]')].find(m => m.textContent.trim() === 'Sign out')`
	d.must(d.Until(d.ctx, signOut))
	d.eval(signOut + `.click()`)
	d.must(d.Until(d.ctx, `location.pathname === '/app/-/login' && document.querySelector('input[type=password]')`))
	d.must(d.Eval(d.ctx, kept, &text))
	if text != "[]" && text != "" {
		t.Errorf("after signing out the browser keeps %.300s", text)
	}
}
