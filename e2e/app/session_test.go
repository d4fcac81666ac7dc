package app

import (
	"net/http"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// The tabs of a browser have one session. One that signs out signs the others out, and nothing of the account is left in
// the browser; somebody else who signs in sees and finds nothing of who was there before, nor do their tabs.
func TestSigningOutInOneTabSignsOutTheOthers(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		for _, command := range [][]string{
			{"tenant", "create", "--slug", "second", "--name", "Second Ltd"},
			{"user", "create", "--tenant", "second", "--role", "owner", "--name", "Sol", "--email", "sol@example.org"},
		} {
			if _, err := page.program.Run(page.Ctx, command...); err != nil {
				t.Fatal(err)
			}
		}
		broadcast := page.createDraft(map[string]any{"name": "Secret plan"})
		foreign := []string{"acme", "Acme", "Secret plan", "Everyone", harness.Owner, "reader1", "reader2", page.firstID("/sending-identities"), broadcast}
		keeps := func(page appPage) string {
			t.Helper()
			var all string
			page.EvaluateInto(`$.kept()`, &all)
			return all
		}
		without := func(page appPage, when string) {
			t.Helper()
			all := keeps(page)
			for _, text := range foreign {
				if strings.Contains(all, text) {
					t.Errorf("%s the browser keeps %q: %.400s", when, text, all[max(0, strings.Index(all, text)-100):])
				}
			}
		}
		other := page
		tab := func() {
			t.Helper()
			other = appPage{page.NewTab(), page.program, page.account}
			other.SetScreen(1280, 900, "light")
		}
		tab()
		other.open("/broadcasts")
		other.Main().ExpectText("Secret plan")
		page.open("/broadcasts/" + broadcast + "/edit")
		page.Evaluate(`$.loseWrites()`)
		page.Fill("Internal name", "Secret plan two")
		page.expectOnDevice("Secret plan two", true)
		page.open("/segments")
		for _, tab := range []appPage{page, other} { // one of them holds the stream
			tab.WaitFor(`document.querySelector('header').innerText.includes('Live')`)
		}
		if all := e2etest.Eventually(t, func() (string, bool) { a := keeps(page); return a, strings.Contains(a, "Secret plan") }); !strings.Contains(all, "Secret plan") {
			t.Error("the list of broadcasts is not kept for the next visit")
		}
		page.Evaluate(`document.querySelector('button[aria-label^="Account of"]').click()`)
		page.ChooseMenuItem("Sign out")
		page.WaitFor(`location.pathname === '/app/-/login' && document.querySelector('input[type=password]')`)
		other.WaitFor(`location.pathname === '/app/-/login' && document.querySelector('input[type=password]')`)
		without(page, "after signing out")

		// The session of the first ends without signing out; somebody else signs in.
		page.Evaluate(`document.querySelector('input[name=email]').focus()`)
		page.signIn(harness.Owner, harness.Password)
		page.open("/broadcasts")
		page.Main().ExpectText("Secret plan")
		other.open("/broadcasts/" + broadcast + "/edit")
		other.Evaluate(`$.loseWrites()`)
		other.Fill("Internal name", "Secret plan three")
		other.expectOnDevice("Secret plan three", true)
		e2etest.Eventually(t, func() (bool, bool) { ok := strings.Contains(keeps(page), "Everyone"); return ok, ok })
		out, err := page.program.Run(page.Ctx, "user", "login-link", "--email", "sol@example.org")
		page.Must(err)
		page.Goto(page.program.BaseURL + strings.TrimSpace(out[strings.Index(out, "/app/-/login-link#"):]))
		page.Click("Sign in as sol@example.org")
		page.expectURL("^/app/second$")
		other.Main().ExpectText("You are not a member of this workspace")
		if text := other.EvaluateString(`document.body.innerText`); strings.Contains(text, "Secret plan") {
			t.Errorf("the other tab shows %s", text)
		}
		page.In("navigation", "Main").ExpectText("Second Ltd")
		for _, route := range []string{"", "/broadcasts", "/segments", "/contacts"} {
			page.Goto(page.program.BaseURL + "/app/second" + route)
			page.WaitFor(settled)
			text := page.EvaluateString(`document.body.innerText`)
			for _, f := range foreign[2:6] {
				if strings.Contains(text, f) {
					t.Errorf("%s of somebody else shows %q: %s", route, f, text)
				}
			}
		}
		e2etest.Eventually(t, func() (bool, bool) { ok := strings.Contains(keeps(page), "second"); return ok, ok })
		without(page, "after somebody else signed in")
		if got := page.getBroadcast(broadcast)["name"]; got != "Secret plan" {
			t.Errorf("the draft is called %v: what one wrote was saved by another", got)
		}
	})
}

// A session that is ended from another device leaves only what was typed, for a day.
func TestAnEndedSessionLeavesOnlyWhatWasTyped(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		keeps := func(text string, want bool) {
			t.Helper()
			e2etest.Eventually(t, func() (bool, bool) {
				var all string
				page.EvaluateInto(`$.kept()`, &all)
				has := strings.Contains(all, text)
				return has, has == want
			})
		}
		broadcast := page.createDraft(map[string]any{"name": "Open plan"})
		page.createDraft(map[string]any{"name": "Secret plan"})
		page.open("/broadcasts")
		page.Main().ExpectText("Secret plan")
		keeps("Secret plan", true)
		page.open("/broadcasts/" + broadcast + "/edit")
		page.Evaluate(`$.loseWrites()`)
		page.Fill("Internal name", "Half written")
		page.expectOnDevice("Half written", true)
		page.Evaluate(`fetch('/api/auth/logout', {method: 'POST'})`) // not by the application
		page.Goto(page.program.BaseURL + "/app/acme/broadcasts")
		page.WaitFor(`location.pathname === '/app/-/login' && document.querySelector('input[type=password]')`)
		keeps("Secret plan", false)
		keeps("Half written", true)
		page.Evaluate(`$.ageTyped(25)`)
		page.Goto(page.program.BaseURL + "/app/acme/broadcasts")
		page.WaitFor(`location.pathname === '/app/-/login' && document.querySelector('input[type=password]')`)
		keeps("Half written", false)
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
	page := openApp(t, "")
	page.Page = page.NewContext(noStorage)
	page.SetScreen(1280, 900, "light")
	page.Goto(page.program.BaseURL + "/")
	page.signIn(harness.Owner, harness.Password)
	page.All().ExpectText("This browser keeps nothing on this device.")
	page.expectAccessible("without storage")

	broadcast := page.createDraft(nil)
	page.open("/broadcasts/" + broadcast + "/edit")
	page.Fill("Limit per hour", "-5")
	page.review().ExpectText("Not saved:")
	copies := func(want int) {
		t.Helper()
		if n := e2etest.Eventually(t, func() (int, bool) {
			rows, _ := page.call(http.MethodGet, "/working-copies", nil)["data"].([]any)
			return len(rows), len(rows) == want
		}); n != want {
			t.Errorf("the server has %d working copies, want %d", n, want)
		}
	}
	copies(1)
	page.open("/broadcasts/" + broadcast + "/edit")
	page.WaitFor(`[...document.querySelectorAll('input')].some(i => i.value === '-5')`)
	page.open("/settings/account")
	page.Fill("City", "Kiel")
	copies(2)
	page.open("/settings/account")
	page.In("region", "Postal address").ExpectText("These changes were kept from last time.")
	if got := page.EvaluateString(`document.querySelector('[data-path="postal_address.city"]').value`); got != "Kiel" {
		t.Errorf("the city is %q, want what was typed", got)
	}
	page.Evaluate(`document.querySelector('button[aria-label^="Account of"]').click()`)
	page.ChooseMenuItem("Sign out")
	page.WaitFor(`location.pathname === '/app/-/login' && document.querySelector('input[type=password]')`)

	// While the server cannot be reached the page says so, and asks before it is left, which ends this test.
	page.signIn(harness.Owner, harness.Password)
	page.open("/broadcasts/" + broadcast + "/edit")
	page.Evaluate(`$.failWrites(Infinity)`)
	page.Fill("Internal name", "On this page")
	page.Main().ExpectText("Only on this page:")

}
