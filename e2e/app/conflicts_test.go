package app

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// shared is a record that two people work on.
type shared struct {
	name         string
	list, create string // where it is created, and the body
	change       string // what the other person saves, as JSON; it has the text "Renamed"
	method       string // of the change, PUT if empty
	page         string // its page, below which the id follows
	drawer       string // of the page with its form, if that is a drawer
	field        string // of the form, which takes a text
	typed        bool   // the name is typed to delete it
}

// path returns the path of the record in the API.
func (s shared) path(id string) string { return s.list + "/" + id }

func sharedRecords() []shared {
	return []shared{
		{name: "segment", list: "/segments", create: `{"name": "Here", "type": "dynamic", "definition": {"logic": "and", "conditions": [{"type": "field", "field": "country", "operator": "eq", "value": "DE"}]}}`, change: `{"name": "Renamed"}`, page: "/segments/", field: "Name"},
		{name: "template", list: "/templates", create: `{"name": "Plain", "format": "html", "content_html": "<h1>Hello</h1>"}`, change: `{"name": "Renamed"}`, page: "/templates/", field: "Subject"},
		{name: "block", list: "/blocks", create: `{"name": "Footer", "content_html": "<p>Bye</p>"}`, change: `{"name": "Renamed"}`, page: "/blocks/"},
		{name: "library entry", list: "/messages", create: `{"name": "Welcome", "content": {"subject": "Hi", "body_html": "<p>Hi</p>"}}`, change: `{"name": "Renamed"}`, method: http.MethodPatch, page: "/library/"},
		{name: "sequence", list: "/sequences", create: `{"name": "Welcome"}`, change: `{"name": "Renamed"}`, page: "/sequences/"},
		{name: "webhook", list: "/settings/webhooks", create: `{"url": "https://www.example.com/hook", "event_types": ["mta.down"]}`, change: `{"description": "Renamed"}`, page: "/settings/webhooks/", drawer: "?edit=1", field: "Note"},
		{name: "seed list", list: "/seed-lists", create: `{"name": "Vendor"}`, change: `{"name": "Renamed"}`, page: "/sending/seeds/", drawer: "?edit=1", field: "Vendor"},
		{name: "sender", list: "/sending-identities", create: `{"display_name": "Second", "email_address": "second@example.com"}`, change: `{"display_name": "Renamed"}`, page: "/sending/senders/", drawer: "?edit=1", field: "Name that readers see"},
		{name: "MTA config", list: "/mta-configs", create: `{"name": "Spare", "type": "sink"}`, change: `{"name": "Renamed"}`, page: "/sending/mta/", field: "Name", typed: true},
	}
}

// Somebody deletes a record that another has just changed: nothing is deleted, the page says so and shows the change,
// and the next try deletes it.
func TestWhatAnotherHasChangedIsNotDeletedUnseen(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		d := openApp(t, address)
		for _, s := range sharedRecords() {
			id := d.creates(s)
			d.open(s.page + id + s.drawer)
			if s.drawer != "" {
				d.presses("Delete")
			} else {
				d.asksToDelete()
			}
			if s.typed {
				d.fill("Type ", "Spare")
			}
			d.overtake(http.MethodDelete, s.path(id), cmp.Or(s.method, http.MethodPut), s.change)
			d.deletes()
			d.sees("Somebody else has changed it meanwhile.")
			d.await(`document.body.innerText.includes('Renamed') || [...document.querySelectorAll('input')].some(i => i.value === 'Renamed')`)
			if status := d.status(s.path(id)); status != http.StatusOK {
				t.Errorf("%s: after the first try it answers %d", s.name, status)
			}
			if s.typed {
				d.fill("Type ", "Renamed")
			}
			d.deletes()
			d.await(fmt.Sprintf(`!location.pathname.includes(%q)`, id))
			if status := d.status(s.path(id)); status != http.StatusNotFound {
				t.Errorf("%s: after the second try it answers %d", s.name, status)
			}
		}
	})
}

// Somebody types while another deletes the record: saving says that it is gone, and what was typed is still there.
func TestWhatIsTypedOutlivesTheRecord(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		d := openApp(t, address)
		for _, s := range sharedRecords() {
			if s.field == "" {
				continue
			}
			id := d.creates(s)
			d.open(s.page + id + s.drawer)
			typed := "Typed into a " + s.name
			d.fill(s.field, typed)
			d.ask(http.MethodDelete, s.path(id), nil)
			d.Evaluate(`[...document.querySelectorAll('button')].findLast(b => b.textContent.trim() === 'Save' && b.getAttribute('aria-disabled') !== 'true')?.click()`)
			d.sees("It does not exist any more")
			d.open(s.page + id)
			d.sees("It does not exist any more")
			d.sees(typed)
		}
	})
}

// A webhook that somebody else has just changed is neither switched on nor given a new secret before its page shows
// the change.
func TestAWebhookIsChangedAsItIsShown(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		d := openApp(t, address)
		const hooks = "/settings/webhooks"
		id := d.ask(http.MethodPost, hooks, map[string]any{"url": "https://www.example.com/hook", "event_types": []string{"mta.down"}, "active": false})["id"].(string)
		d.open(hooks + "/" + id)
		d.overtake(http.MethodPut, hooks+"/"+id, http.MethodPut, `{"description": "Do not switch it on"}`)
		d.pressText("Switch it on")
		d.sees("Somebody else has changed it meanwhile.")
		d.sees("Do not switch it on")
		if d.ask(http.MethodGet, hooks+"/"+id, nil)["active"] != false {
			t.Error("it was switched on all the same")
		}
		d.pressText("Switch it on")
		d.sees("It is on again.")

		const menu = `document.querySelector('main button[aria-label="More actions"]')`
		d.Evaluate(menu + `.click()`)
		d.item("Rotate the secret")
		d.overtake(http.MethodPost, hooks+"/"+id, http.MethodPut, `{"description": "Do not rotate it"}`)
		d.confirm("Rotate the secret")
		d.await(`document.querySelector('[role=alertdialog] [role=alert]')?.innerText === 'Somebody else has changed it meanwhile.'`)
		d.sees("Do not rotate it")
		d.confirm("Rotate the secret")
		d.await(`document.querySelector('[role=dialog] code')?.textContent.startsWith('whsec_')`)
	})
}

// creates creates a record, and returns its id.
func (d desk) creates(s shared) string {
	d.T.Helper()
	return d.ask(http.MethodPost, s.list, json.RawMessage(s.create))["id"].(string)
}

// asksToDelete presses Delete on the page, or chooses it in its menu.
func (d desk) asksToDelete() {
	d.T.Helper()
	const enabled = `b.getAttribute('aria-disabled') !== 'true'`
	const button = `[...document.querySelectorAll('main button')].find(b => b.textContent.trim() === 'Delete' && ` + enabled + `)`
	const menu = `document.querySelector('main button[aria-label="More actions"]')`
	d.await(button + ` ?? ` + menu)
	d.Evaluate(`(` + button + ` ?? ` + menu + `).click()`)
	const item = `[...document.querySelectorAll('[role=menuitem]')].find(b => b.textContent.trim() === 'Delete' && ` + enabled + `)`
	d.await(`document.querySelector('[role=alertdialog]') ?? ` + item)
	d.Evaluate(item + `?.click()`)
}

// status returns what a GET of a path answers.
func (d desk) status(path string) int {
	d.T.Helper()
	a, err := d.r.Owner.Do(d.Ctx, http.MethodGet, path, nil)
	d.Must(err)
	return a.Status
}

// overtake has somebody else change a record right before the next request of the page with a method arrives.
func (d desk) overtake(request, path, method, change string) {
	d.T.Helper()
	d.Evaluate(fmt.Sprintf(`(() => { const real = window.fetch; let once = true; window.fetch = async (a, o) => {
		if (once && o && o.method === %q) { once = false; await real('/t/%s/api' + %q, { method: %q, headers: { 'Content-Type': 'application/json' }, body: %q }) }
		return real(a, o)
	} })()`, request, harness.Tenant, path, method, change))
}

// deletes presses Delete in the last dialog.
func (d desk) deletes() {
	d.T.Helper()
	const button = `[...document.querySelectorAll('[role=alertdialog] button, [role=dialog] button')].findLast(b => b.textContent.trim() === 'Delete' && b.getAttribute('aria-disabled') !== 'true')`
	d.await(button)
	d.Evaluate(button + `.click()`)
}
