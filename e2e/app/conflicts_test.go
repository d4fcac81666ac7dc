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
		{name: "webhook", list: "/settings/webhooks", create: `{"url": "https://www.example.com/hook", "event_types": ["mta.down"]}`, change: `{"description": "Renamed"}`, page: "/settings/webhooks/", drawer: "?edit=1", field: "Description"},
		{name: "seed list", list: "/seed-lists", create: `{"name": "Vendor"}`, change: `{"name": "Renamed"}`, page: "/sending/seeds/", drawer: "?edit=1", field: "Vendor"},
		{name: "sender", list: "/sending-identities", create: `{"display_name": "Second", "email_address": "second@example.com"}`, change: `{"display_name": "Renamed"}`, page: "/sending/senders/", drawer: "?edit=1", field: "Name that recipients see"},
		{name: "Sending server", list: "/mta-configs", create: `{"name": "Spare", "type": "sink"}`, change: `{"name": "Renamed"}`, page: "/sending/mta/", field: "Name", typed: true},
	}
}

// Somebody deletes a record that another has just changed: nothing is deleted, the page says so and shows the change,
// and the next try deletes it.
func TestDeletingARecordThatChangedMeanwhileIsRefusedOnce(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		for _, s := range sharedRecords() {
			id := page.createRecord(s)
			page.open(s.page + id + s.drawer)
			if s.drawer != "" {
				page.Dialog().Click("Delete")
			} else {
				page.clickDelete()
			}
			if s.typed {
				page.Fill("Type ", "Spare")
			}
			page.changeBeforeRequest(http.MethodDelete, s.path(id), cmp.Or(s.method, http.MethodPut), s.change)
			page.confirmDelete()
			page.Dialog().ExpectText("Somebody else has changed this in the meantime.")
			page.WaitFor(`document.body.innerText.includes('Renamed') || [...document.querySelectorAll('input')].some(i => i.value === 'Renamed')`)
			if status := page.statusOf(s.path(id)); status != http.StatusOK {
				t.Errorf("%s: after the first try it answers %d", s.name, status)
			}
			if s.typed {
				page.Fill("Type ", "Renamed")
			}
			page.confirmDelete()
			page.WaitFor(fmt.Sprintf(`!location.pathname.includes(%q)`, id))
			if status := page.statusOf(s.path(id)); status != http.StatusNotFound {
				t.Errorf("%s: after the second try it answers %d", s.name, status)
			}
		}
	})
}

// Somebody types while another deletes the record: saving says that it is gone, and what was typed is still there.
func TestUnsavedInputIsShownAfterItsRecordIsDeleted(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		for _, s := range sharedRecords() {
			if s.field == "" {
				continue
			}
			id := page.createRecord(s)
			page.open(s.page + id + s.drawer)
			typed := "Typed into a " + s.name
			page.Fill(s.field, typed)
			page.call(http.MethodDelete, s.path(id), nil)
			page.Evaluate(`[...document.querySelectorAll('button')].findLast(b => b.textContent.trim() === 'Save' && b.getAttribute('aria-disabled') !== 'true')?.click()`)
			page.All().ExpectText("This no longer exists")
			page.open(s.page + id)
			page.Main().ExpectText("This no longer exists")
			page.In("region", "Your unsaved changes").ExpectText(typed)
		}
	})
}

// A webhook that somebody else has just changed is neither switched on nor given a new secret before its page shows
// the change.
func TestActionsOnAWebhookThatChangedMeanwhileAreRefused(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		const hooks = "/settings/webhooks"
		id := page.call(http.MethodPost, hooks, map[string]any{"url": "https://www.example.com/hook", "event_types": []string{"mta.down"}, "active": false})["id"].(string)
		page.open(hooks + "/" + id)
		page.changeBeforeRequest(http.MethodPut, hooks+"/"+id, http.MethodPut, `{"description": "Do not switch it on"}`)
		page.Click("Switch on")
		page.Messages().ExpectText("Somebody else has changed this in the meantime.")
		page.Main().ExpectText("Do not switch it on")
		if page.call(http.MethodGet, hooks+"/"+id, nil)["active"] != false {
			t.Error("it was switched on all the same")
		}
		page.Click("Switch on")
		page.Messages().ExpectText("Switched on.")

		const menu = `document.querySelector('main button[aria-label="More actions"]')`
		page.Evaluate(menu + `.click()`)
		page.ChooseMenuItem("Rotate secret")
		page.changeBeforeRequest(http.MethodPost, hooks+"/"+id, http.MethodPut, `{"description": "Do not rotate it"}`)
		page.Dialog().Click("Rotate secret")
		page.WaitFor(`document.querySelector('[role=alertdialog] [role=alert]')?.innerText.startsWith('Somebody else has changed this in the meantime.')`)
		page.Main().ExpectText("Do not rotate it")
		page.Dialog().Click("Rotate secret")
		page.WaitFor(`document.querySelector('[role=dialog] code')?.textContent.startsWith('whsec_')`)
	})
}

// createRecord creates a record, and returns its id.
func (page appPage) createRecord(s shared) string {
	page.T.Helper()
	return page.call(http.MethodPost, s.list, json.RawMessage(s.create))["id"].(string)
}

// clickDelete presses Delete on the page, or chooses it in its menu.
func (page appPage) clickDelete() {
	page.T.Helper()
	const enabled = `b.getAttribute('aria-disabled') !== 'true'`
	const button = `[...document.querySelectorAll('main button')].find(b => b.textContent.trim() === 'Delete' && ` + enabled + `)`
	const menu = `document.querySelector('main button[aria-label="More actions"]')`
	page.WaitFor(button + ` ?? ` + menu)
	page.Evaluate(`(` + button + ` ?? ` + menu + `).click()`)
	const item = `[...document.querySelectorAll('[role=menuitem]')].find(b => b.textContent.trim() === 'Delete' && ` + enabled + `)`
	page.WaitFor(`document.querySelector('[role=alertdialog]') ?? ` + item)
	page.Evaluate(item + `?.click()`)
}

// statusOf returns what a GET of a path answers.
func (page appPage) statusOf(path string) int {
	page.T.Helper()
	a, err := page.account.Owner.Do(page.Ctx, http.MethodGet, path, nil)
	page.Must(err)
	return a.Status
}

// changeBeforeRequest has somebody else change a record right before the next request of the page with a method arrives.
func (page appPage) changeBeforeRequest(request, path, method, change string) {
	page.T.Helper()
	page.Evaluate(fmt.Sprintf(`$.sendBefore(%q, %q, { method: %q, body: %q })`, request, "/t/"+harness.Tenant+"/api"+path, method, change))
}

// confirmDelete presses Delete in the last dialog.
func (page appPage) confirmDelete() {
	page.T.Helper()
	const button = `[...document.querySelectorAll('[role=alertdialog] button, [role=dialog] button')].findLast(b => b.textContent.trim() === 'Delete' && b.getAttribute('aria-disabled') !== 'true')`
	page.ClickElement(button)
}
