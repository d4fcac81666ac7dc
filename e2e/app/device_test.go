package app

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// expectOnDevice waits until the browser keeps a text, or until it does not.
func (page appPage) expectOnDevice(text string, there bool) {
	page.T.Helper()
	if !e2etest.Eventually(page.T, func() (bool, bool) { ok := strings.Contains(page.deviceContents(), text) == there; return ok, ok }) {
		page.T.Errorf("the browser keeps %q: never %v", text, there)
	}
}

// deviceContents returns the text of everything that was typed and is kept in the browser.
func (page appPage) deviceContents() (text string) {
	page.T.Helper()
	page.EvaluateInto(`$.stored('packetboat-typed', 'chunks').then(all => all.join(''))`, &text)
	return text
}

// What is typed survives that the page is loaded again at once, although nothing of it reaches the server: the
// subject of a draft, long code, settings, a step of a sequence, a form, the rule of a segment. It is deleted when
// the server has it, and when somebody signs out.
func TestUnsavedInputIsRestoredAfterAReload(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		value := func(path string) string {
			return page.EvaluateString(`document.querySelector('[data-path="` + path + `"]')?.value ?? ''`)
		}
		// loses opens a page whose writes are lost, and types; then it opens the page again.
		loses := func(route string, types func()) {
			t.Helper()
			page.open(route)
			page.Evaluate(`$.loseWrites()`)
			types()
			page.open(route)
		}

		broadcast := page.createDraft(nil)
		edit := "/broadcasts/" + broadcast + "/edit"
		subject := func() any { return page.getBroadcast(broadcast)["content"].(map[string]any)["subject"] }
		page.open(edit)
		page.Fill("Subject", "At once")
		page.open(edit)
		if got := e2etest.Eventually(t, func() (any, bool) { v := subject(); return v, v == "At once" }); got != "At once" {
			t.Errorf("the subject is %v", got)
		}
		loses(edit, func() { page.Fill("Subject", "Lost on the way") })
		page.Main().ExpectText("Restored from this device.")
		if got := subject(); got != "Lost on the way" {
			t.Errorf("the subject is %v", got)
		}
		page.expectOnDevice("Lost on the way", false)

		// What another tab saves of the same draft leaves what this tab keeps.
		loses(edit, func() {
			page.Fill("Subject", "In this tab")
			page.expectOnDevice("In this tab", true)
			other := appPage{page.NewTab(), page.program, page.account}
			other.open(edit)
			other.Fill("Preview text", "In the other tab")
			e2etest.Eventually(t, func() (any, bool) {
				v := page.getBroadcast(broadcast)["content"].(map[string]any)["preheader"]
				return v, v == "In the other tab"
			})
			other.expectOnDevice("In the other tab", false)
			other.open("/")
			page.expectOnDevice("In this tab", true)
		})
		if got := e2etest.Eventually(t, func() (any, bool) { v := subject(); return v, v == "In this tab" }); got != "In this tab" {
			t.Errorf("the subject is %v", got)
		}

		// Somebody else changes the same subject while the page is closed: it is asked.
		loses(edit, func() {
			page.Fill("Subject", "Mine")
			page.expectOnDevice("Mine", true)
			page.open("/")
			e2etest.Must(t, page.account.Key, http.MethodPut, "/broadcasts/"+broadcast, map[string]any{"content": map[string]any{"subject": "Theirs"}, "name": "Renamed"})
		})
		page.Dialog().ExpectText("Two versions of the same part")
		if got := subject(); got != "Theirs" {
			t.Errorf("before the choice the subject is %v", got)
		}
		page.Dialog().Click("Keep these versions")
		if got := e2etest.Eventually(t, func() (any, bool) { v := subject(); return v, v == "Mine" }); got != "Mine" || page.getBroadcast(broadcast)["name"] != "Renamed" {
			t.Errorf("after the choice: %v, %v", got, page.getBroadcast(broadcast)["name"])
		}

		long := "<p>Long</p>\n" + strings.Repeat("<p>A line of a long mail, with words enough to fill it.</p>\n", 5200)
		made := page.call(http.MethodPost, "/templates", map[string]any{"name": "Long", "slug": "long", "format": "html", "subject": "Long", "content_html": long})
		template := "/templates/" + made["id"].(string)
		loses(template, func() {
			page.WaitFor(`$.code()`)
			page.Evaluate(`$.code().focus()`)
			page.Type("Typed in code.")
		})
		page.Main().ExpectText("These changes were kept on this device.")
		page.WaitFor(`$.code()?.textContent.includes('Typed in code.')`)
		page.expectOnDevice("Typed in code.", false)
		if got := page.call(http.MethodGet, "/working-copies/template/"+made["id"].(string), nil)["data"].(map[string]any)["mine"].(map[string]any); got["html"] != "Typed in code."+long {
			t.Error("the working copy has another code")
		}

		loses("/settings/account", func() { page.Fill("City", "Kiel") })
		page.In("region", "Postal address").ExpectText("These changes were kept on this device.")
		if got := value("postal_address.city"); got != "Kiel" {
			t.Errorf("the city is %q", got)
		}
		page.Evaluate(`[...document.querySelectorAll('form')].find(f => f.innerText.includes('Discard changes')).querySelector('button[type=submit]').click()`)
		page.All().ExpectNoText("Discard changes")
		page.expectOnDevice("Kiel", false)

		form := page.call(http.MethodPost, "/forms", map[string]any{"name": "Join", "fields": []any{map[string]any{"type": "contact", "binding": "email", "label": "Email", "required": true}}})
		loses("/forms/"+form["id"].(string), func() { page.Fill("Button text", "Come in") })
		page.Main().ExpectText("Restored from this device.")
		if got := page.call(http.MethodGet, "/forms/"+form["id"].(string), nil); got["submit_label"] != "Come in" {
			t.Errorf("the button says %v", got["submit_label"])
		}

		sequence := page.call(http.MethodPost, "/sequences", map[string]any{"name": "Welcome"})["id"].(string)
		graph := func() string {
			nodes, err := json.Marshal(page.call(http.MethodGet, "/sequences/"+sequence, nil)["nodes"])
			page.Must(err)
			return string(nodes)
		}
		step := `[...document.querySelectorAll('[data-step]')].find(e => e.getAttribute('aria-label').includes('Wait'))`
		page.call(http.MethodPut, "/sequences/"+sequence+"/graph", map[string]any{
			"entry_node_id": "rest",
			"nodes":         []any{map[string]any{"id": "rest", "type": "wait", "config": map[string]any{"mode": "duration", "amount": 1, "unit": "day"}}, map[string]any{"id": "end", "type": "exit", "config": map[string]any{}}},
			"edges":         []any{map[string]any{"from_node": "rest", "to_node": "end", "branch_label": nil}},
		})
		loses("/sequences/"+sequence+"?view=outline", func() {
			page.ClickElement(step)
			page.WaitFor(`document.querySelector('[data-path=amount]')`)
			page.fillField("amount", "9")
		})
		page.Main().ExpectText("Your work was restored from this device")
		if got := e2etest.Eventually(t, func() (string, bool) { g := graph(); return g, strings.Contains(g, `"amount":9`) }); !strings.Contains(got, `"amount":9`) {
			t.Errorf("the steps are %s", got)
		}

		segment := page.call(http.MethodPost, "/segments", map[string]any{"name": "Germans", "definition": map[string]any{"logic": "and", "conditions": []any{map[string]any{"type": "field", "field": "country", "operator": "eq", "value": "DE"}}}})
		loses("/segments/"+segment["segment_key"].(string), func() {
			page.Evaluate(`document.querySelector('[data-path=name]').focus(), document.querySelector('[data-path=name]').select()`)
			page.Type("People of Germany")
		})
		page.Main().ExpectText("These changes were kept on this device.")
		if got := value("name"); got != "People of Germany" {
			t.Errorf("the segment is called %q", got)
		}

		// The record is deleted meanwhile: what was typed is shown on its page, and can be deleted.
		page.call(http.MethodDelete, "/segments/"+segment["segment_key"].(string), nil)
		page.open("/segments/" + segment["id"].(string))
		page.Main().ExpectText("Your unsaved changes")
		page.In("region", "Your unsaved changes").ExpectText("People of Germany")
		page.Click("Delete")
		page.All().ExpectNoText("People of Germany")
		page.expectOnDevice("People of Germany", false)
		page.Click("Search")
		page.WaitFor(`document.activeElement.getAttribute('role') === 'combobox'`)
		page.Press("Escape")

		// Offline there is only the device; once the server is back, the value is there.
		page.open("/settings/account")
		page.Must(page.program.Kill())
		page.Fill("City", "Lübeck")
		page.expectOnDevice("Lübeck", true)
		page.Goto("about:blank#gone")
		page.Must(page.program.Start(page.Ctx))
		page.open("/settings/account")
		page.In("region", "Postal address").ExpectText("These changes were kept on this device.")
		if got := value("postal_address.city"); got != "Lübeck" {
			t.Errorf("after the server was away the city is %q", got)
		}

		page.open(edit)
		page.Evaluate(`$.failWrites(Infinity)`)
		page.Fill("Internal name", "Not for others")
		page.expectOnDevice("Not for others", true)
		page.Main().ExpectText("Kept on this device:")
		page.Evaluate(`document.querySelector('button[aria-label^="Account of"]').click()`)
		page.ChooseMenuItem("Sign out")
		page.WaitFor(`location.pathname === '/app/-/login' && document.querySelector('input[type=password]')`)
		if left := page.deviceContents(); left != "" {
			t.Errorf("after signing out the browser keeps %.300s", left)
		}
	})
}
