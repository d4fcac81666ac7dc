package app

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// A segment's rule is changed by keys, by dragging and as JSON; its count is compared with the saved one, and who uses
// it is named before it is saved. A list gets people by name and by addresses. The list of segments says what uses
// them, and makes one of a report.
func TestSegmentsAreChangedInTheApplication(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		country := func(c string) map[string]any {
			return map[string]any{"field": "country", "operator": "equals", "value": c}
		}
		page.call(http.MethodPost, "/segments", map[string]any{"name": "Germans", "definition": map[string]any{"logic": "and", "conditions": []any{country("DE"), map[string]any{"logic": "or", "conditions": []any{country("DE"), country("AT")}}}}})
		page.call(http.MethodPost, "/segments", map[string]any{"name": "Parts", "definition": map[string]any{"logic": "and", "conditions": []any{map[string]any{"type": "segment", "operator": "in", "segment_keys": []string{"germans"}}}}})
		sent := page.createDraft(nil)
		page.startSend(sent)
		page.waitForStatus(sent, "completed")

		page.open("/segments")
		page.Row("All sendable contacts").ExpectText("Everybody who can be mailed Built in")
		page.Row("Germans").ExpectText("By rule 25 25")
		page.WaitFor(`[...document.querySelectorAll('tbody tr')].some(r => r.innerText.includes('Germans') && r.innerText.includes('1 use'))`)
		page.PressEnterOn("New from report")
		page.WaitFor(`document.activeElement.getAttribute('role') === 'combobox'`)
		page.ChooseOption("News")
		page.TabTo("Who")
		page.ChooseOption("did not open")
		page.expectAccessible("a segment of a report")
		page.PressEnterOn("Next")
		page.WaitFor(`document.activeElement.matches('[role=dialog] input') && document.activeElement.value === 'News: people who got it and did not open'`)
		page.Press("Enter")
		page.expectURL("did_not_open$")
		page.In("region", "Matches now").ExpectText("25 match, 25 of them can be mailed.")

		page.open("/segments/germans")
		page.In("region", "Matches now").ExpectText("25 match, 25 of them can be mailed.")
		page.In("region", "Matches now").ExpectText("100.0 % of all 25 contacts can be mailed with it. The same number as the saved rule")
		page.useSegment()
		page.changeRule()
		page.fillList()
		page.pasteThousands()
		page.referToItself()
		for _, problem := range page.Problems() { // browsers log answers with an error, such as those about unfinished rules and the circle
			if !strings.Contains(problem, "/segments/preview") && !strings.HasSuffix(problem, "/segments/germans") && !strings.HasSuffix(problem, "/api/auth/session") {
				t.Errorf("the console says: %s", problem)
			}
		}
	})
}

// useSegment writes to the people of a segment, exports them and duplicates it. The count and the button that saves stay
// in view on a phone, and do not cover the field that has the focus.
func (page appPage) useSegment() {
	page.T.Helper()
	page.PressEnterOn("Write to these people", "Shift+Tab")
	page.Dialog().ExpectText("To: Germans")
	page.WaitFor(`document.querySelector('[role=dialog] li input:checked')`)
	page.PressEnterOn("Create")
	page.expectURL("/broadcasts/[0-9a-f-]+/edit$")
	draft := page.EvaluateString(`location.pathname.split('/').at(-2)`)
	if b := page.get("/broadcasts/" + draft); b["status"] != "draft" || fmt.Sprint(b["include_segment_keys"]) != "[germans]" {
		page.T.Errorf("the broadcast is %v for %v", b["status"], b["include_segment_keys"])
	}
	page.In("region", "Audience").ExpectText("25 can be mailed")
	page.Evaluate(`history.back()`)
	page.expectURL("/segments/germans$")
	page.In("region", "Matches now").ExpectText("The same number as the saved rule")

	page.PressEnterOn("More actions")
	page.ChooseMenuItem("Export")
	page.Main().ExpectText("25 rows exported")
	page.WaitFor(`document.querySelector('main a[download]')`)
	page.Evaluate(`fetch(document.querySelector('main a[download]').href).then(r => r.bytes()).then(b => { window.file = b })`)
	page.WaitFor(`window.file && [...file.slice(0, 3)].join() === '239,187,191' && new TextDecoder().decode(file).trim().split('\n').length === 26`)
	page.PressEnterOn("Close")
	page.WaitFor(`document.activeElement.matches('h1')`) // a menu that opens before would lose the focus

	page.PressEnterOn("More actions")
	page.ChooseMenuItem("Duplicate")
	page.WaitFor(`document.querySelector('[data-path=name]')?.value === 'Germans copy'`)
	page.In("region", "Matches now").ExpectText("25 match, 25 of them can be mailed.")
	page.SetScreen(390, 844, "light")
	page.expectAccessible("a new segment on a phone")
	page.Evaluate(`scrollTo(0, 0)`)
	page.WaitFor(`(() => { const b = [...document.querySelectorAll('main button')].find(b => b.textContent === 'Create').getBoundingClientRect(); return b.top > 0 && b.bottom <= innerHeight })()`)
	page.TabTo("Name")
	for range 30 {
		page.Press("Tab")
		page.WaitFor(`(() => { const a = document.activeElement, b = a.getBoundingClientRect(); return !a.closest('fieldset[data-depth]') || a.contains(document.elementFromPoint(b.left + b.width / 2, b.top + b.height / 2)) })()`)
	}
	page.SetScreen(1280, 900, "light")
	page.Click("Create")
	page.expectURL("/segments/germans_copy$")
	page.Evaluate(`history.back()`)
	page.expectURL("/segments/germans[^_]*$")
	page.In("region", "Matches now").ExpectText("25 match, 25 of them can be mailed.")
}

// shape is the places of the conditions of the rule with their values.
const shape = `(function f(e) { return [...e.querySelectorAll(':scope > ol > li > fieldset')].map(x => x.dataset.depth ? '(' + f(x) + ')' : x.querySelector('[data-part=value]').textContent).join(' ') })(document.querySelector('fieldset[data-depth="0"]'))`

func (page appPage) changeRule() {
	page.T.Helper()
	is := func(want string) { page.T.Helper(); page.WaitFor(shape + ` === '` + want + `'`) }
	is("Germany (Germany Austria)")
	focus := func(path string) {
		page.Evaluate(`document.querySelector('[data-path="` + path + `"] [data-part=value]').focus()`)
	}
	at := func(path string) {
		page.T.Helper()
		page.WaitFor(`document.activeElement.closest('[data-path]')?.dataset.path === '` + path + `'`)
	}
	focus("0")
	page.Press("Alt+ArrowDown") // into the group
	is("(Germany Germany Austria)")
	at("0.0")
	page.Press("Alt+ArrowUp") // and out of it
	is("Germany (Germany Austria)")
	at("0")
	page.Press("Alt+ArrowRight")
	is("(Germany) (Germany Austria)")
	at("0.0")
	page.Press("Alt+ArrowUp")
	is("Germany () (Germany Austria)")
	page.PressEnterOn("Move Group 2")
	page.PressEnterOn("More actions")
	page.ChooseMenuItem("Remove group")
	is("Germany (Germany Austria)")
	// What takes the place of the removed group has the focus.
	page.WaitFor(`document.activeElement.closest('[data-path]')?.dataset.path === '1'`)

	// Dragged before the first condition.
	var from, to []float64
	middle := func(selector string) string {
		return `(() => { const b = document.querySelector('` + selector + `').getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2, b.top, b.bottom] })()`
	}
	page.SetScreen(1280, 2000, "light")
	page.Evaluate(`scrollTo(0, 0)`)
	page.EvaluateInto(middle(`[data-path="1.1"] > button`), &from)
	page.EvaluateInto(middle(`[data-path="0"]`), &to)
	page.Must(page.Drag(page.Ctx, from[0], from[1], to[0], to[2]+16))
	is("Austria Germany (Germany)")
	page.SetScreen(1280, 900, "light")
	page.In("region", "Matches now").ExpectText("Nobody matches.")
	page.In("region", "Matches now").ExpectText("That is 25 fewer than the 25 matching the saved rule")
	page.expectAccessible("a changed rule")

	// As JSON, and back.
	page.PressEnterOn("JSON", "Shift+Tab")
	page.TabTo("JSON")
	page.Press("Control+a")
	page.Type(`{"logic": "or", "conditions": [{"field": "country", "operator": "equals", "value": "AT"}, {"field": "country", "operator": "nonsense"}]}`)
	page.In("region", "Rule").ExpectText("Condition 2, comparison must be one of the choices.")
	page.Press("Control+a")
	page.Type(`{"logic": "or", "conditions": [{"field": "country", "operator": "equals", "value": "AT"}]}`)
	page.PressEnterOn("Builder", "Shift+Tab")
	is("Austria")

	// A segment is built on this one: it is named before the rule is saved.
	page.PressEnterOn("Save")
	page.In("dialog", "Save the new rule?").ExpectText("These use the segment and will follow the new rule: Parts segment")
	page.expectAccessible("who uses a segment")
	page.PressEnterOn("Save")
	page.WaitFor(`document.activeElement.textContent === 'Save' && document.activeElement.getAttribute('aria-disabled') === 'true'`) // nothing is left to save
	if logic := e2etest.Eventually(page.T, func() (any, bool) {
		rule, _ := page.get("/segments/germans")["definition"].(map[string]any)
		return rule["logic"], rule["logic"] == "or"
	}); logic != "or" {
		page.T.Errorf("the saved rule joins its conditions by %v", logic)
	}
}

func (page appPage) fillList() {
	page.T.Helper()
	page.call(http.MethodPost, "/segments", map[string]any{"name": "Crew", "type": "static"})
	page.open("/segments/crew")
	page.PressEnterOn("Add people")
	page.ChooseOption("reader7@")
	page.TabTo("Or addresses")
	var text strings.Builder
	for _, email := range []string{"reader8@example.org", "nobody@example.org", "READER9@example.org"} {
		text.WriteString(email + "\n")
	}
	page.Must(page.Paste(page.Ctx, text.String()))
	page.PressEnterOn("Add people")
	page.In("dialog", "Add people").ExpectText("3 added, 0 were already members. 1 address belongs to no contact: nobody@example.org")
	page.expectAccessible("addresses that were not found")
	page.Press("Escape")
	page.Main().ExpectText("reader7@example.org")
	page.RecordMessages()
	page.TabTo("Select the 3 rows")
	page.Press("Space")
	page.PressEnterOn("Remove", "Shift+Tab")
	page.ExpectMessage("Removed 3 members")
	page.Main().ExpectText("Nobody yet")
	page.Press("Control+z")
	page.Main().ExpectText("reader9@example.org")
}

// pasteThousands pastes 5,000 addresses into a list, of which 600 belong to nobody, 150 are there twice, and 50 are no
// addresses; then it removes members and takes that back. The page sends them in five parts.
func (page appPage) pasteThousands() {
	page.T.Helper()
	const known = 4200
	page.Must(harness.Seed(page.Ctx, e2etest.Database(page.T, page.program), page.account.List, known, "harbour.example"))
	page.call(http.MethodPost, "/segments", map[string]any{"name": "Pasted", "type": "static"})
	var text strings.Builder
	for i := range known {
		fmt.Fprintf(&text, "person%d@harbour.example\n", i)
		if i < 150 {
			fmt.Fprintf(&text, "Person%d@HARBOUR.example\n", i)
		}
		if i < 600 {
			fmt.Fprintf(&text, "stranger%d@harbour.example\n", i)
		}
		if i < 50 {
			fmt.Fprintf(&text, "no-address-%d\n", i)
		}
	}
	page.open("/segments/pasted")
	page.PressEnterOn("Add people")
	page.TabTo("Or addresses")
	page.Must(page.Paste(page.Ctx, text.String()))
	page.PressEnterOn("Add people")
	page.In("dialog", "Add people").ExpectText("4,200 added, 0 were already members. 650 addresses belong to no contact:")
	lost := page.EvaluateString(`document.querySelector('[role=dialog] p[tabindex="0"]').innerText`)
	if n := strings.Count(lost, ",") + 1; n != 650 || !strings.Contains(lost, "stranger599@harbour.example") || !strings.Contains(lost, "no-address-49") || strings.Contains(lost, "person") {
		page.T.Errorf("%d addresses were not found: %.300s", n, lost)
	}
	page.Press("Escape")
	members := func(want float64) {
		page.T.Helper()
		if n := e2etest.Eventually(page.T, func() (any, bool) {
			n := page.get("/segments/pasted")["member_count_total"]
			return n, n == want
		}); n != want {
			page.T.Errorf("the list has %v members, want %v", n, want)
		}
	}
	members(known)
	page.RecordMessages()
	page.WaitFor(`document.querySelectorAll('[role=grid] [role=row][data-index]').length > 5`)
	page.Evaluate(`document.querySelector('[role=grid] [role=row][tabindex="0"]').focus()`)
	for range 8 { // more rows are loaded near the end
		page.Press("End")
	}
	page.TabTo("Select the", "Shift+Tab")
	page.Press("Space")
	page.WaitFor(`/[\d,]+ selected/.test(document.querySelector('main').innerText)`)
	n := page.EvaluateString(`document.querySelector('main').innerText.match(/([\d,]+) selected/)[1]`)
	page.PressEnterOn("Remove", "Shift+Tab")
	page.ExpectMessage("Removed " + n + " members")
	gone, err := strconv.Atoi(strings.ReplaceAll(n, ",", ""))
	page.Must(err)
	members(float64(known - gone))
	page.Press("Control+z")
	members(known)
}

// referToItself makes a segment refer to itself through another one.
func (page appPage) referToItself() {
	page.T.Helper()
	page.open("/segments/germans")
	page.PressEnterOn("JSON")
	page.TabTo("JSON")
	page.Press("Control+a")
	page.Type(`{"logic": "and", "conditions": [{"field": "country", "operator": "equals", "value": "DE"}, {"type": "segment", "operator": "in", "segment_keys": ["parts"]}]}`)
	page.PressEnterOn("Builder", "Shift+Tab")
	page.PressEnterOn("Save")
	page.In("dialog", "Save the new rule?").ExpectText("These use the segment and will follow the new rule: Parts segment")
	page.WaitFor(`document.activeElement.textContent === 'Cancel'`)
	page.PressEnterOn("Save")
	page.In("region", "Rule").ExpectText("germans → parts → germans")
	page.expectAccessible("a circle")
}
