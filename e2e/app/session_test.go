package app

import (
	"net/http"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// keptByBrowser is the text of everything that the browser keeps for the application.
const keptByBrowser = `(async () => {
	const all = [JSON.stringify(localStorage), JSON.stringify(sessionStorage), document.cookie]
	for (const name of await caches.keys()) all.push(name)
	for (const { name } of await indexedDB.databases()) {
		const db = await new Promise((done, fail) => { const r = indexedDB.open(name); r.onsuccess = () => done(r.result); r.onerror = () => fail(r.error) })
		for (const s of db.objectStoreNames) {
			const of = db.transaction(s).objectStore(s)
			for (const r of [of.getAllKeys(), of.getAll()]) all.push(JSON.stringify(await new Promise(done => { r.onsuccess = () => done(r.result) })))
		}
		db.close()
	}
	return all.join(' ')
})()`

// The tabs of a browser have one session. One that signs out signs the others out, and nothing of the account is left in
// the browser; somebody else who signs in sees and finds nothing of who was there before, nor do their tabs.
func TestTheTabsOfABrowserFollowItsSession(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		d := openApp(t, address)
		for _, command := range [][]string{
			{"tenant", "create", "--slug", "second", "--name", "Second Ltd"},
			{"user", "create", "--tenant", "second", "--role", "owner", "--name", "Sol", "--email", "sol@example.org"},
		} {
			if _, err := d.p.Run(d.Ctx, command...); err != nil {
				t.Fatal(err)
			}
		}
		broadcast := d.create(map[string]any{"name": "Secret plan"})
		foreign := []string{"acme", "Acme", "Secret plan", "Everyone", harness.Owner, "reader1", "reader2", d.id("/sending-identities"), broadcast}
		keeps := func(d desk) string {
			t.Helper()
			var all string
			d.EvaluateInto(keptByBrowser, &all)
			return all
		}
		without := func(d desk, when string) {
			t.Helper()
			all := keeps(d)
			for _, text := range foreign {
				if strings.Contains(all, text) {
					t.Errorf("%s the browser keeps %q: %.400s", when, text, all[max(0, strings.Index(all, text)-100):])
				}
			}
		}
		other := d
		tab := func() {
			t.Helper()
			other = desk{d.NewTab(), d.p, d.r}
			other.SetScreen(1280, 900, "light")
		}
		tab()
		other.open("/broadcasts")
		other.sees("Secret plan")
		d.open("/broadcasts/" + broadcast + "/edit")
		d.Evaluate(lostWrites)
		d.fill("Name", "Secret plan two")
		d.deviceHas("Secret plan two", true)
		d.open("/segments")
		for _, tab := range []desk{d, other} { // one of them holds the stream
			tab.await(`document.querySelector('header').innerText.includes('Live')`)
		}
		if all := e2etest.Eventually(t, func() (string, bool) { a := keeps(d); return a, strings.Contains(a, "Secret plan") }); !strings.Contains(all, "Secret plan") {
			t.Error("the list of broadcasts is not kept for the next visit")
		}
		d.Evaluate(`document.querySelector('button[aria-label^="Account of"]').click()`)
		d.item("Sign out")
		d.WaitFor(`location.pathname === '/app/-/login' && document.querySelector('input[type=password]')`)
		other.WaitFor(`location.pathname === '/app/-/login' && document.querySelector('input[type=password]')`)
		without(d, "after signing out")

		// The session of the first ends without signing out; somebody else signs in.
		d.Evaluate(`document.querySelector('input[name=email]').focus()`)
		d.signIn(harness.Owner, harness.Password)
		d.open("/broadcasts")
		d.sees("Secret plan")
		other.open("/broadcasts/" + broadcast + "/edit")
		other.Evaluate(lostWrites)
		other.fill("Name", "Secret plan three")
		other.deviceHas("Secret plan three", true)
		e2etest.Eventually(t, func() (bool, bool) { ok := strings.Contains(keeps(d), "Everyone"); return ok, ok })
		out, err := d.p.Run(d.Ctx, "user", "login-link", "--email", "sol@example.org")
		d.Must(err)
		d.Goto(d.p.BaseURL + strings.TrimSpace(out[strings.Index(out, "/app/-/login-link#"):]))
		d.pressText("Sign in as sol@example.org")
		d.await(`location.pathname === '/app/second' && ` + settled)
		other.WaitFor(`document.body.innerText.includes('You are not a member of this workspace')`)
		if text := other.EvaluateString(`document.body.innerText`); strings.Contains(text, "Secret plan") {
			t.Errorf("the other tab shows %s", text)
		}
		d.await(`document.body.innerText.includes('Second Ltd')`)
		for _, route := range []string{"", "/broadcasts", "/segments", "/contacts"} {
			d.Goto(d.p.BaseURL + "/app/second" + route)
			d.await(settled)
			text := d.EvaluateString(`document.body.innerText`)
			for _, f := range foreign[2:6] {
				if strings.Contains(text, f) {
					t.Errorf("%s of somebody else shows %q: %s", route, f, text)
				}
			}
		}
		e2etest.Eventually(t, func() (bool, bool) { ok := strings.Contains(keeps(d), "second"); return ok, ok })
		without(d, "after somebody else signed in")
		if got := d.read(broadcast)["name"]; got != "Secret plan" {
			t.Errorf("the draft is called %v: what one wrote was saved by another", got)
		}
	})
}

// noStorage refuses every kind of storage, as private windows of some browsers do.
const noStorage = `(() => {
	IDBFactory.prototype.open = () => { throw new DOMException('refused', 'InvalidStateError') }
	Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('refused', 'SecurityError') } })
})()`

// Without storage in the browser the application works, says that it keeps nothing here, and keeps unsaved work on the
// server.
func TestABrowserWithoutStorageKeepsWorkOnTheServer(t *testing.T) {
	t.Parallel()
	d := openApp(t, "")
	d.Page = d.NewContext(noStorage)
	d.SetScreen(1280, 900, "light")
	d.Goto(d.p.BaseURL + "/")
	d.signIn(harness.Owner, harness.Password)
	d.sees("This browser keeps nothing on this device.")
	d.checkAccess(readAxe(t), "without storage")

	broadcast := d.create(nil)
	d.open("/broadcasts/" + broadcast + "/edit")
	d.fill("At most an hour", "-5")
	d.sees("Not saved:")
	copies := func(want int) {
		t.Helper()
		if n := e2etest.Eventually(t, func() (int, bool) {
			rows, _ := d.ask(http.MethodGet, "/working-copies", nil)["data"].([]any)
			return len(rows), len(rows) == want
		}); n != want {
			t.Errorf("the server has %d working copies, want %d", n, want)
		}
	}
	copies(1)
	d.open("/broadcasts/" + broadcast + "/edit")
	d.await(`[...document.querySelectorAll('input')].some(i => i.value === '-5')`)
	d.open("/settings/account")
	d.fill("City", "Kiel")
	copies(2)
	d.open("/settings/account")
	d.sees("These changes were kept from last time.")
	if got := d.EvaluateString(`document.querySelector('[data-path="postal_address.city"]').value`); got != "Kiel" {
		t.Errorf("the city is %q, want what was typed", got)
	}
	d.Evaluate(`document.querySelector('button[aria-label^="Account of"]').click()`)
	d.item("Sign out")
	d.WaitFor(`location.pathname === '/app/-/login' && document.querySelector('input[type=password]')`)

	// While the server cannot be reached the page says so, and asks before it is left, which ends this test.
	d.signIn(harness.Owner, harness.Password)
	d.open("/broadcasts/" + broadcast + "/edit")
	d.Evaluate(`(() => { const real = window.fetch; window.fetch = (a, o) => o && o.method === 'PUT' ? Promise.reject(new TypeError('Failed to fetch')) : real(a, o) })()`)
	d.fill("Name", "On this page")
	d.sees("On this page alone:")

}
