package app

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

const (
	// lostWrites keeps the writes of the page from reaching the server, as a network that is gone does.
	lostWrites = `(() => { const real = window.fetch; window.fetch = (a, o) => o && o.method === 'PUT' ? new Promise(() => undefined) : real(a, o) })()`
	// deviceKeeps is the text of everything that was typed and is kept in the browser.
	deviceKeeps = `new Promise((done, fail) => {
		const open = indexedDB.open('packetboat-typed')
		open.onerror = () => fail(open.error)
		open.onsuccess = () => {
			const db = open.result
			if (!db.objectStoreNames.contains('chunks')) return db.close(), done('')
			const all = db.transaction('chunks').objectStore('chunks').getAll()
			all.onsuccess = () => (db.close(), done(all.result.join('')))
		}
	})`
	codeEditor = `[...document.querySelectorAll('div')].find(e => e.shadowRoot)?.shadowRoot.querySelector('.cm-content')`
)

// deviceHas waits until the browser keeps a text, or until it does not.
func (d desk) deviceHas(text string, there bool) {
	d.T.Helper()
	if !e2etest.Eventually(d.T, func() (bool, bool) { ok := strings.Contains(d.kept(), text) == there; return ok, ok }) {
		d.T.Errorf("the browser keeps %q: never %v", text, there)
	}
}

// kept returns the text of everything that was typed and is kept in the browser.
func (d desk) kept() (text string) {
	d.T.Helper()
	d.EvaluateInto(deviceKeeps, &text)
	return text
}

// What is typed survives that the page is loaded again at once, although nothing of it reaches the server: the
// subject of a draft, long code, settings, a step of a sequence, a form, the rule of a segment. It is deleted when
// the server has it, and when somebody signs out.
func TestWhatIsTypedIsKeptOnTheDevice(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		d := openApp(t, address)
		value := func(path string) string {
			return d.EvaluateString(`document.querySelector('[data-path="` + path + `"]')?.value ?? ''`)
		}
		// loses opens a page whose writes are lost, and types; then it opens the page again.
		loses := func(route string, types func()) {
			t.Helper()
			d.open(route)
			d.Evaluate(lostWrites)
			types()
			d.open(route)
		}

		broadcast := d.create(nil)
		edit := "/broadcasts/" + broadcast + "/edit"
		subject := func() any { return d.read(broadcast)["content"].(map[string]any)["subject"] }
		d.open(edit)
		d.fill("Subject", "At once")
		d.open(edit)
		if got := e2etest.Eventually(t, func() (any, bool) { v := subject(); return v, v == "At once" }); got != "At once" {
			t.Errorf("the subject is %v", got)
		}
		loses(edit, func() { d.fill("Subject", "Lost on the way") })
		d.sees("Brought back from this device.")
		if got := subject(); got != "Lost on the way" {
			t.Errorf("the subject is %v", got)
		}
		d.deviceHas("Lost on the way", false)

		// Somebody else changes the same subject while the page is closed: it is asked.
		loses(edit, func() {
			d.fill("Subject", "Mine")
			d.deviceHas("Mine", true)
			d.open("/")
			e2etest.Must(t, d.r.Key, http.MethodPut, "/broadcasts/"+broadcast, map[string]any{"content": map[string]any{"subject": "Theirs"}, "name": "Renamed"})
		})
		d.sees("Two versions of the same part")
		if got := subject(); got != "Theirs" {
			t.Errorf("before the choice the subject is %v", got)
		}
		d.presses("Save")
		if got := e2etest.Eventually(t, func() (any, bool) { v := subject(); return v, v == "Mine" }); got != "Mine" || d.read(broadcast)["name"] != "Renamed" {
			t.Errorf("after the choice: %v, %v", got, d.read(broadcast)["name"])
		}

		long := "<p>Long</p>\n" + strings.Repeat("<p>A line of a long mail, with words enough to fill it.</p>\n", 5200)
		made := d.ask(http.MethodPost, "/templates", map[string]any{"name": "Long", "slug": "long", "format": "html", "subject": "Long", "content_html": long})
		template := "/templates/" + made["id"].(string)
		loses(template, func() {
			d.WaitFor(codeEditor)
			d.Evaluate(codeEditor + `.focus()`)
			d.Type("Typed in code.")
		})
		d.sees("These changes were kept on this device.")
		d.WaitFor(codeEditor + `?.textContent.includes('Typed in code.')`)
		d.deviceHas("Typed in code.", false)
		if got := d.ask(http.MethodGet, "/working-copies/template/"+made["id"].(string), nil)["data"].(map[string]any)["mine"].(map[string]any); got["html"] != "Typed in code."+long {
			t.Error("the working copy has another code")
		}

		loses("/settings/account", func() { d.fill("City", "Kiel") })
		d.sees("These changes were kept on this device.")
		if got := value("postal_address.city"); got != "Kiel" {
			t.Errorf("the city is %q", got)
		}
		d.Evaluate(`[...document.querySelectorAll('form')].find(f => f.innerText.includes('Discard changes')).querySelector('button[type=submit]').click()`)
		d.await(`!document.body.innerText.includes('Discard changes')`)
		d.deviceHas("Kiel", false)

		form := d.ask(http.MethodPost, "/forms", map[string]any{"name": "Join", "fields": []any{map[string]any{"type": "contact", "binding": "email", "label": "Email", "required": true}}})
		loses("/forms/"+form["id"].(string), func() { d.fill("Text of the button", "Come in") })
		d.sees("Brought back from this device.")
		if got := d.ask(http.MethodGet, "/forms/"+form["id"].(string), nil); got["submit_label"] != "Come in" {
			t.Errorf("the button says %v", got["submit_label"])
		}

		sequence := d.ask(http.MethodPost, "/sequences", map[string]any{"name": "Welcome"})["id"].(string)
		graph := func() string {
			nodes, err := json.Marshal(d.ask(http.MethodGet, "/sequences/"+sequence, nil)["nodes"])
			d.Must(err)
			return string(nodes)
		}
		step := `[...document.querySelectorAll('[data-step]')].find(e => e.getAttribute('aria-label').includes('Wait'))`
		d.ask(http.MethodPut, "/sequences/"+sequence+"/graph", map[string]any{
			"entry_node_id": "rest",
			"nodes":         []any{map[string]any{"id": "rest", "type": "wait", "config": map[string]any{"mode": "duration", "amount": 1, "unit": "day"}}, map[string]any{"id": "end", "type": "exit", "config": map[string]any{}}},
			"edges":         []any{map[string]any{"from_node": "rest", "to_node": "end", "branch_label": nil}},
		})
		loses("/sequences/"+sequence+"?view=outline", func() {
			d.WaitFor(step)
			d.Evaluate(step + `.click()`)
			d.WaitFor(`document.querySelector('[data-path=amount]')`)
			d.at("amount", "9")
		})
		d.sees("Work of yours that was kept on this device was brought back")
		if got := e2etest.Eventually(t, func() (string, bool) { g := graph(); return g, strings.Contains(g, `"amount":9`) }); !strings.Contains(got, `"amount":9`) {
			t.Errorf("the steps are %s", got)
		}

		segment := d.ask(http.MethodPost, "/segments", map[string]any{"name": "Germans", "definition": map[string]any{"logic": "and", "conditions": []any{map[string]any{"type": "field", "field": "country", "operator": "eq", "value": "DE"}}}})
		loses("/segments/"+segment["segment_key"].(string), func() {
			d.Evaluate(`document.querySelector('[data-path=name]').focus(), document.querySelector('[data-path=name]').select()`)
			d.Type("People of Germany")
		})
		d.sees("These changes were kept on this device.")
		if got := value("name"); got != "People of Germany" {
			t.Errorf("the segment is called %q", got)
		}

		// The record is deleted meanwhile: what was typed is shown on its page, and can be deleted.
		d.ask(http.MethodDelete, "/segments/"+segment["segment_key"].(string), nil)
		d.open("/segments/" + segment["id"].(string))
		d.sees("What you had not saved")
		d.sees("People of Germany")
		d.pressText("Delete it")
		d.await(`!document.body.innerText.includes('People of Germany')`)
		d.deviceHas("People of Germany", false)
		d.pressText("Search")
		d.await(`document.activeElement.getAttribute('role') === 'combobox'`)
		d.Press("Escape")

		// Offline there is only the device; once the server is back, the value is there.
		d.open("/settings/account")
		d.Must(d.p.Kill())
		d.fill("City", "Lübeck")
		d.deviceHas("Lübeck", true)
		d.Goto("about:blank#gone")
		d.Must(d.p.Start(d.Ctx))
		d.open("/settings/account")
		d.sees("These changes were kept on this device.")
		if got := value("postal_address.city"); got != "Lübeck" {
			t.Errorf("after the server was away the city is %q", got)
		}

		d.open(edit)
		d.Evaluate(`(() => { const real = window.fetch; window.fetch = (a, o) => o && o.method === 'PUT' ? Promise.reject(new TypeError('Failed to fetch')) : real(a, o) })()`)
		d.fill("Name", "Not for others")
		d.deviceHas("Not for others", true)
		d.sees("Kept here:")
		d.Evaluate(`document.querySelector('button[aria-label^="Account of"]').click()`)
		d.item("Sign out")
		d.WaitFor(`location.pathname === '/app/-/login' && document.querySelector('input[type=password]')`)
		if left := d.kept(); left != "" {
			t.Errorf("after signing out the browser keeps %.300s", left)
		}
	})
}
