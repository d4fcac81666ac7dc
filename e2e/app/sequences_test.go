package app

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// step returns JavaScript for the button of the step whose name has a text.
func step(text string) string {
	return fmt.Sprintf(`[...document.querySelectorAll('[data-step]')].find(s => s.getAttribute('aria-label').includes(%q))`, text)
}

// expectFocusedStep waits until the step whose name has a text has the focus.
func (page appPage) expectFocusedStep(text string) {
	page.T.Helper()
	page.WaitFor(fmt.Sprintf(`document.activeElement.dataset.step && document.activeElement.getAttribute('aria-label').includes(%q)`, text))
}

// chooseStep chooses what a step menu that is open offers for a text, and waits for the drawer of the step.
func (page appPage) chooseStep(text string) {
	page.T.Helper()
	page.WaitFor(`document.activeElement.getAttribute('role') === 'combobox' && document.querySelector('[role=listbox] [role=option]')`)
	page.Type(text)
	page.WaitFor(fmt.Sprintf(`document.querySelector('[role=option][aria-selected=true]')?.textContent.startsWith(%q)`, text))
	page.Press("Enter")
	page.WaitFor(`document.querySelector('[data-side-panel] h2') && new URLSearchParams(location.search).get('node')`)
}

// closeStep closes the drawer of a step, which gives the focus to the step.
func (page appPage) closeStep(name string) {
	page.T.Helper()
	page.Click("Done")
	page.expectNoDialog()
	page.expectFocusedStep(name)
}

// fillRule writes a rule in the drawer that is open.
func (page appPage) fillRule(json string) {
	page.T.Helper()
	page.Click("JSON")
	page.Fill("JSON", json)
}

// waitForRecord waits until a record of the API is as wanted.
func (page appPage) waitForRecord(what, path string, want func(map[string]any) bool) {
	page.T.Helper()
	if !e2etest.Eventually(page.T, func() (bool, bool) { ok := want(page.get(path)); return ok, ok }) {
		page.T.Fatalf("never: %s", what)
	}
}

func is(name, value string) func(map[string]any) bool {
	return func(m map[string]any) bool { return fmt.Sprint(m[name]) == value }
}

// stepTypes returns the types of a sequence's steps, sorted.
func (page appPage) stepTypes(sequence string) string {
	page.T.Helper()
	nodes, _ := page.get("/sequences/" + sequence)["nodes"].([]any)
	var list []string
	for _, n := range nodes {
		list = append(list, n.(map[string]any)["type"].(string))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// A sequence is built by keys, in the outline and on the canvas: a branch, a wait, a goal. Problems stand at their
// steps. It is tried, activated, and contacts go through; it is paused, edited with regard to who would leave, and
// resumed; one reaches the goal.
func TestASequenceIsBuiltInTheApplication(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		call := func(method, path string, body any) map[string]any {
			t.Helper()
			got, err := page.account.Owner.Must(page.Ctx, method, path, body)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}

		// The empty page offers flows to adapt.
		page.open("/sequences")
		page.Main().ExpectText("No sequences yet")
		trial := `[...document.querySelectorAll('button')].find(b => b.textContent.startsWith('End of trial'))`
		page.ClickElement(trial)
		page.WaitFor(`/sequences\/[0-9a-f-]{36}$/.test(location.pathname) && document.querySelectorAll('[data-step]').length === 4`)
		if got := page.stepTypes(page.EvaluateString(`location.pathname.split('/').pop()`)); got != "goal send send wait" {
			t.Errorf("the end of a trial has the steps %s", got)
		}

		page.open("/sequences/new")
		page.Fill("Name", "Onboarding")
		page.Click("Create")
		page.WaitFor(`document.querySelector('h1')?.textContent === 'Onboarding'`)
		sequence := page.EvaluateString(`location.pathname.split('/').pop()`)

		// What starts it is saved with its steps; that nobody may enter is told until an event of this name was seen.
		page.Click("Outline")
		page.setTrigger("signed_up")
		page.waitForRecord("the trigger is saved", "/sequences/"+sequence, func(m map[string]any) bool {
			return strings.Contains(fmt.Sprint(m["entry_trigger"]), "signed_up")
		})

		// The outline: a first step, whose problem stands at it until it is solved.
		page.WaitFor(`document.querySelector('[aria-label="Add first step"]')`)
		page.Evaluate(`document.querySelector('[aria-label="Add first step"]').click()`)
		page.chooseStep("Send an email")
		// A mail that is missing is written beside the steps.
		page.Click("Write a new email")
		page.Fill("Name", "Hello")
		page.Fill("Subject", "Hello {{ contact.first_name }}")
		page.Click("Create and write")
		page.Fill("Preview text", "Good to see you")
		page.Click("Save version 2")
		page.Dialog().ExpectText("This step sends the new version to everybody who reaches it from now on")
		page.Dialog().Click("Save")
		page.WaitFor(`document.querySelector('[data-side-panel] [aria-label="Preview of the email"] iframe')`)
		page.expectAccessible("the mail of a step")
		page.closeStep("Send Hello")
		page.Main().ExpectText("Not saved yet: 1 problem")
		page.Press("ArrowUp", "F8")
		page.expectFocusedStep("Step 1 of 1, Send Hello, Email type must be filled in, then the end; 1 problem")
		page.Press("Enter")
		page.SelectOption("Email type", "Newsletter")
		page.closeStep("Send Hello")
		page.Main().ExpectText("Saved")
		page.waitForRecord("the first step is saved", "/sequences/"+sequence, func(m map[string]any) bool { return len(m["nodes"].([]any)) == 1 })
		page.Main().ExpectText("No event of this name has happened yet.")
		if _, err := page.account.Key.Must(page.Ctx, http.MethodPost, "/events", map[string]any{"event_name": "signed_up", "contact_email": "reader3@example.org", "properties": map[string]any{"plan": "pro"}}); err != nil {
			t.Fatal(err)
		}
		page.waitForRecord("the event was seen", "/suggestions?for=event_properties&event_name=signed_up", func(m map[string]any) bool { return len(m["data"].([]any)) == 1 })

		// The canvas, by keys.
		page.Click("Canvas")
		page.WaitFor(step("Send Hello"))
		page.Evaluate(step("Send Hello") + `.focus()`)
		page.Press("a")
		page.chooseStep("Yes or no")
		page.expectSuggestedProperty("plan")
		page.fillRule(`{"logic": "and", "conditions": [{"field": "country", "operator": "in", "value": ["DE"]}]}`)
		page.closeStep("Country is any of Germany")
		page.Press("a")
		page.chooseStep("Change tags")
		page.Fill("Tags", "german")
		page.closeStep("Add german")
		page.Press("ArrowUp")
		page.expectFocusedStep("Country is any of Germany")
		page.Press("a") // on the way that ends
		page.chooseStep("Wait for a time")
		page.closeStep("Wait 1 day")
		page.Press("ArrowLeft")
		page.expectFocusedStep("Add german")
		page.Press("ArrowRight")
		page.expectFocusedStep("Wait 1 day")
		page.Press("a")
		page.chooseStep("Goal")
		page.fillRule(`{"logic": "and", "conditions": [{"field": "tags", "operator": "has_any", "value": ["customer"]}]}`)
		page.closeStep("Goal: Tags has any of customer")
		// What is copied and pasted is undone.
		page.Evaluate(step("Add german") + `.focus()`)
		page.Press("Control+c", "Control+v")
		page.WaitFor(`document.querySelectorAll('[data-step]').length === 6`)
		page.Press("Control+z")
		page.WaitFor(`document.querySelectorAll('[data-step]').length === 5`)
		// A path goes back to a step; a step is deleted, and the path goes on where one chooses.
		page.Evaluate(step("Wait 1 day") + `.focus()`)
		page.Press("a")
		page.WaitFor(`document.querySelector('[role=listbox] [role=option]')`)
		page.Type("Send Hello")
		page.WaitFor(`document.querySelector('[role=option][aria-selected=true]')?.textContent.startsWith('Send Hello')`)
		page.Press("Enter")
		page.WaitFor(`document.querySelector('svg [data-kind=loop]')`)
		page.expectFocusedStep("Wait 1 day, then Send Hello")
		page.Press("Control+z")
		page.WaitFor(`!document.querySelector('svg [data-kind=loop]')`)
		page.Evaluate(step(", Country is") + `.focus()`)
		page.Press("Delete")
		page.Check("Takes the path “No” to: Wait 1 day")
		page.In("dialog", "Delete step “Country is any of Germany?”?").ExpectText("1 step is deleted with it")
		page.Dialog().Click("Delete")
		page.WaitFor(`[...document.querySelectorAll('[data-step]')].map(s => s.querySelector('b').textContent).join() === 'Send Hello,Wait 1 day,Goal: Tags has any of customer'`)
		page.expectFocusedStep("Send Hello, As Newsletter, then Wait 1 day")
		page.Press("Control+z")
		page.WaitFor(`document.querySelectorAll('[data-step]').length === 5`)
		page.waitForRecord("all steps are saved", "/sequences/"+sequence, func(m map[string]any) bool { return len(m["nodes"].([]any)) == 5 && len(m["edges"].([]any)) == 3 })
		page.WaitFor(`[...document.querySelectorAll('[role=status]')].some(s => s.textContent.startsWith('Saved'))`)

		// It is tried with what happened before, then as a test, then with contacts.
		page.Click("Try with the past")
		page.Dialog().Click("Try")
		page.Dialog().ExpectText("1 person would have entered")
		page.Dialog().ExpectText("Nothing was sent or changed.")
		page.WaitFor(`[...document.querySelectorAll('[role=dialog] tbody tr')].some(r => r.innerText.replaceAll('\t', ' ').includes('Send Hello') && r.lastElementChild.textContent === '1')`)
		page.expectAccessible("a sequence tried with the past")
		page.Dialog().Click("Close")
		page.expectNoDialog()
		page.WaitFor(`document.querySelector('[data-place=":"]').nextElementSibling.textContent === '1 person'`)
		page.Click("Hide numbers")
		page.Click("Test run")
		page.SelectOption("With data from", "Reader1")
		page.Dialog().Click("Send")
		page.In("dialog", "Test run").ExpectText("1 email sent")
		page.Dialog().Click("Close")
		page.Click("Activate")
		page.Dialog().ExpectText("From now on, contacts enter: When signed_up happens.")
		page.Dialog().Click("Activate")
		page.waitForRecord("it is active", "/sequences/"+sequence, is("status", "active"))
		contact := page.addPeople("/sequences/"+sequence, "reader1@example.org")
		page.waitForRecord("one contact went through", "/sequences/"+sequence+"/report", func(m map[string]any) bool {
			return is("completed", "1")(m) && is("active", "1")(m)
		})
		waits := `[...document.querySelectorAll('button')].find(b => b.textContent === '1 is here' && b.getAttribute('aria-label').includes('Wait 1 day'))`
		page.ClickElement(waits)
		page.Main().ExpectText("wien@example.org")
		page.Main().ExpectText("Wait 1 day")
		page.followSteps()

		// Who would leave is told before anything is saved.
		page.Click("Pause to edit")
		page.In("dialog", "Pause Onboarding?").ExpectText("The timers of 1 person stop")
		page.Dialog().Click("Pause")
		page.waitForRecord("it is paused", "/sequences/"+sequence, is("status", "paused"))
		page.Click("Flow")
		page.WaitFor(step("Wait 1 day") + ` && [...document.querySelectorAll('button')].some(b => b.textContent.trim() === 'Resume')`)
		page.Evaluate(step("Wait 1 day") + `.focus()`)
		page.Press("Delete")
		page.WaitFor(`document.querySelectorAll('[data-step]').length === 4`)
		page.Click("Review changes")
		page.In("dialog", "Review changes").ExpectText("1 step removed")
		page.In("dialog", "Review changes").ExpectText("1 person leaves the sequence")
		page.Dialog().Click("Cancel")
		page.expectNoDialog()
		page.Evaluate(step(", Country is") + `.focus()`)
		page.Press("Control+z")
		page.ClickElement(step("Wait 1 day"))
		page.WaitFor(`document.querySelector('[data-path=amount]')`)
		page.fillField("amount", "2")
		page.closeStep("Wait 2 days")
		page.Click("Review changes")
		page.In("dialog", "Review changes").ExpectText("1 step changed")
		page.In("dialog", "Review changes").ExpectText("Nobody leaves.")
		page.Dialog().Click("Save")
		page.expectNoDialog()
		page.Click("Resume")
		page.In("dialog", "Resume Onboarding?").ExpectText("Nobody is overdue.")
		page.Dialog().Click("Resume")
		page.waitForRecord("it is active again", "/sequences/"+sequence, is("status", "active"))

		call(http.MethodPut, "/contacts/"+contact, map[string]any{"tags": []any{"customer"}})
		page.waitForRecord("the other reached the goal", "/sequences/"+sequence+"/report", is("converted", "1"))
		page.Click("Report")
		page.Main().ExpectText("Step by step")
		page.WaitFor(`[...document.querySelectorAll('dl div')].some(f => f.textContent.includes('Converted') && f.textContent.includes('50.0'))`)
		// The days together have the numbers of the report.
		timing := page.call(http.MethodGet, "/sequences/"+sequence+"/timing", nil)["series"].([]any)
		sums := map[string]float64{}
		for _, day := range timing {
			for name, v := range day.(map[string]any) {
				if n, ok := v.(float64); ok {
					sums[name] += n
				}
			}
		}
		if len(timing) != 30 || sums["entered"] != 2 || sums["completed"] != 1 || sums["converted"] != 1 || sums["delivered"] != 2 {
			t.Errorf("%d days have together %v; want 30 days with 2 who entered, 1 who completed, 1 at the goal and 2 mails", len(timing), sums)
		}
		page.In("region", "People in this sequence").ExpectText("2 people.")
		page.Click("As a table")
		page.WaitFor(`document.querySelectorAll('main section[aria-label="Per day"] tbody tr').length === 30`)
		for n, name := range []string{"entered", "completed", "converted", "exited", "failed", "sent", "delivered", "opened", "clicked", "bounced", "unsubscribed"} {
			page.WaitFor(fmt.Sprintf(`%s.reduce((a, b) => a + Number(b), 0) === %v`, column("Per day", n+1), sums[name]))
		}
		if file := page.download(`document.querySelector('main [aria-label*=" 20"][aria-label^="Download"]')`); strings.Count(file, "\n") < 30 || !strings.Contains(file, "date,entered,completed,converted,exited,failed,sent") {
			t.Errorf("the file of days is\n%s", file)
		}
		page.runAutomation()
		page.expectNoProblems()
	})
}

// Two people edit one paused sequence: what only one of them changed is joined, and for a step that both changed the
// page shows both versions and asks.
func TestEditsOfOneSequenceByTwoPeopleAreMerged(t *testing.T) {
	t.Parallel()
	page := openApp(t, "")
	call := func(method, path string, body any) map[string]any {
		t.Helper()
		got, err := page.account.Owner.Must(page.Ctx, method, path, body)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	graph := func(days int, tag string) map[string]any {
		return map[string]any{
			"entry_node_id": "rest",
			"nodes": []any{
				map[string]any{"id": "rest", "type": "wait", "config": map[string]any{"mode": "duration", "amount": days, "unit": "day"}},
				map[string]any{"id": "label", "type": "tag", "config": map[string]any{"action": "add", "tags": []any{tag}}},
			},
			"edges": []any{map[string]any{"from_node": "rest", "to_node": "label", "branch_label": nil}},
		}
	}
	path := "/sequences/" + call(http.MethodPost, "/sequences", map[string]any{"name": "Shared"})["id"].(string)
	call(http.MethodPut, path+"/graph", graph(1, "first"))
	call(http.MethodPost, path+"/activate", nil)
	call(http.MethodPost, path+"/pause", nil)

	page.open(path + "?view=outline")
	page.ClickElement(step("Wait 1 day"))
	page.WaitFor(`document.querySelector('[data-path=amount]')`)
	page.fillField("amount", "3")
	page.closeStep("Wait 3 days")
	call(http.MethodPut, path+"/graph", graph(5, "second"))
	page.Main().ExpectText("Somebody else changed the same parts in the meantime")
	page.Click("Compare and choose")
	page.In("dialog", "Two versions of the same part").ExpectText("Wait 3 days, then Add first")
	page.In("dialog", "Two versions of the same part").ExpectText("Wait 5 days, then Add second")
	page.Check("Theirs")
	page.Dialog().Click("Keep these versions")
	page.Main().ExpectText("Both changes are kept")
	page.WaitFor(step("Wait 5 days") + ` && ` + step("Add second"))

	// Changes of different steps are joined without a question.
	page.expectNoDialog()
	page.Evaluate(step("Wait 5 days") + `.click()`)
	page.WaitFor(`document.querySelector('[data-path=amount]')`)
	page.fillField("amount", "6")
	page.closeStep("Wait 6 days")
	call(http.MethodPut, path+"/graph", graph(5, "third"))
	page.WaitFor(step("Wait 6 days") + ` && ` + step("Add third"))
	page.expectNoProblems()
}

// setTrigger chooses an event in the drawer of the start.
func (page appPage) setTrigger(event string) {
	page.T.Helper()
	page.ClickElement(`document.querySelector('[data-start]')`)
	page.WaitFor(`document.querySelector('[data-side-panel] [data-path=trigger_type]')`)
	page.Evaluate(`(() => {
		const select = document.querySelector('[data-side-panel] [data-path=trigger_type]');
		Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'value').set.call(select, 'event');
		select.dispatchEvent(new Event('change', { bubbles: true }));
	})()`)
	page.Fill("Event", event)
	page.Press("Enter")
	page.Click("Done")
	page.expectNoDialog()
	page.WaitFor(fmt.Sprintf(`document.activeElement.matches('[data-start]') && document.activeElement.getAttribute('aria-label').includes(%q)`, "When "+event+" happens"))
}

// expectSuggestedProperty waits until a rule in the drawer that is open suggests a property of the event that starts it.
func (page appPage) expectSuggestedProperty(name string) {
	page.T.Helper()
	page.fillRule(`{"logic": "and", "conditions": [{"type": "trigger_event", "property": "", "operator": "equals", "value": ""}]}`)
	page.Click("Builder")
	page.clickPart("Property")
	page.WaitFor(fmt.Sprintf(`[...document.querySelectorAll('[role=option]')].some(o => o.textContent.startsWith(%q))`, name))
	page.Press("Escape")
	page.expectFocusOnPart("Property")
}

// addPeople adds a contact that is there and one that it creates to the sequence Onboarding by their addresses, and
// then the second one again on its own page, which tells why not. It returns the id of the second.
func (page appPage) addPeople(sequence, email string) (contact string) {
	page.T.Helper()
	created, err := page.account.Owner.Must(page.Ctx, http.MethodPost, "/contacts", map[string]any{"email": "wien@example.org"})
	if err != nil {
		page.T.Fatal(err)
	}
	page.open(sequence + "?tab=people")
	page.Main().ExpectText("Nobody has entered yet")
	page.Click("Add people")
	page.Fill("Or addresses, one per line", email+"\nWien@example.org\nabsent@example.org")
	page.Dialog().Click("Add people")
	page.Dialog().ExpectText("2 people entered")
	page.Dialog().ExpectText("absent@example.org: no contact has this address")
	page.Dialog().Click("Close")
	page.expectNoDialog()
	page.Main().ExpectText("wien@example.org")

	contact = created["id"].(string)
	page.open("/contacts/" + contact + "?tab=sequences")
	page.Click("Add to a sequence")
	page.SelectOption("Sequence", "Onboarding")
	page.Dialog().Click("Add")
	page.Dialog().ExpectText("Not added")
	page.Dialog().Click("Cancel")
	page.expectNoDialog()
	page.open(sequence)
	return contact
}

// followSteps reads the steps of somebody who waits, and then sees the path in the flow.
func (page appPage) followSteps() {
	page.T.Helper()
	page.ClickElement(`document.querySelector('[aria-label="Steps of wien@example.org"]')`)
	log := page.In("dialog", "Steps of wien@example.org in Onboarding")
	for _, text := range []string{"Send Hello", "The email was queued.", "The rule did not match. Path: No.", "Is waiting until"} {
		log.ExpectText(text)
	}
	page.Dialog().Click("Show the path in the flow")
	page.expectNoDialog()
	page.WaitFor(`[...document.querySelectorAll('[data-step][data-passed]')].map(s => s.querySelector('b').textContent).join() === 'Send Hello,Country is any of Germany?,Wait 1 day'`)
	page.WaitFor(`document.querySelectorAll('svg [data-passed]').length === 3`)
	page.WaitFor(step("Wait 1 day") + `.getAttribute('aria-label').includes('on the path')`)
	page.expectAccessible("the path of a person")
	page.Click("Show everything")
	page.WaitFor(`!document.querySelector('[data-passed]')`)
}

// runAutomation writes an automation, lets it run and pauses it.
func (page appPage) runAutomation() {
	page.T.Helper()
	page.open("/automations/new")
	page.Fill("Name", "Mark buyers")
	page.Fill("Event", "order_placed")
	page.Press("Enter")
	page.Evaluate(`[...document.querySelectorAll('main button')].find(b => b.textContent.trim() === 'Add action').click()`)
	tags := `[...document.querySelectorAll('[role=menuitem]')].find(m => m.textContent.startsWith('Change tags'))`
	page.ClickElement(tags)
	page.Fill("Tags", "buyer")
	page.Click("Create")
	page.expectURL(`automations/[0-9a-f-]{36}$`)
	path := "/automations/" + page.EvaluateString(`location.pathname.split('/').pop()`)
	if _, err := page.account.Key.Must(page.Ctx, http.MethodPost, "/events", map[string]any{"event_name": "order_placed", "contact_email": "reader3@example.org"}); err != nil {
		page.T.Fatal(err)
	}
	page.waitForRecord("it ran", path, is("run_count", "1"))
	find := `[...document.querySelectorAll('nav a')].find(a => a.textContent.startsWith('Runs'))`
	page.Evaluate(find + `.click()`)
	page.Main().ExpectText("reader3@example.org")
	page.Main().ExpectText("Change tags: Done")
	page.Evaluate(`document.querySelector('[role=switch]').click()`)
	page.waitForRecord("it is paused", path, is("status", "paused"))
}

// The pages of sequences and automations are accessible.
func TestThePagesOfSequencesAreAccessible(t *testing.T) {
	t.Parallel()
	page := openApp(t, "")
	sequence, automation := page.createFlows()
	_, _, pages, _ := harness.Routes()
	page.expectPagesAccessible(pages, map[string]string{"sequence": path.Base(sequence), "automation": path.Base(automation)})
}

// createFlows makes a sequence with a contact in it, and an automation, and returns the addresses of their pages.
func (page appPage) createFlows() (sequence, automation string) {
	page.T.Helper()
	call := func(method, path string, body any) map[string]any {
		page.T.Helper()
		got, err := page.account.Owner.Must(page.Ctx, method, path, body)
		if err != nil {
			page.T.Fatal(err)
		}
		return got
	}
	node := func(id, kind string, config map[string]any) map[string]any {
		return map[string]any{"id": id, "type": kind, "config": config}
	}
	edge := func(from, to string, label any) map[string]any {
		return map[string]any{"from_node": from, "to_node": to, "branch_label": label}
	}
	tagged := func(tag string) map[string]any {
		return map[string]any{"logic": "and", "conditions": []any{map[string]any{"field": "tags", "operator": "has_any", "value": []any{tag}}}}
	}
	sequence = "/sequences/" + call(http.MethodPost, "/sequences", map[string]any{"name": "[Acme]", "entry_trigger": map[string]any{"trigger_type": "tag_added", "trigger_config": map[string]any{"tag": "acme"}}})["id"].(string)
	call(http.MethodPut, sequence+"/graph", map[string]any{
		"entry_node_id": "rest",
		"nodes": []any{
			node("rest", "wait", map[string]any{"mode": "duration", "amount": 1, "unit": "day"}), node("decide", "condition", map[string]any{"definition": tagged("acme")}),
			node("tag", "tag", map[string]any{"action": "add", "tags": []any{"acme"}}), node("end", "exit", map[string]any{}), node("goal", "goal", map[string]any{"definition": tagged("reader")}),
		},
		"edges": []any{edge("rest", "decide", nil), edge("decide", "tag", "true"), edge("decide", "end", "false"), edge("tag", "rest", nil)},
	})
	call(http.MethodPost, sequence+"/activate", nil)
	if _, err := page.account.Key.Must(page.Ctx, http.MethodPost, sequence+"/enroll", map[string]any{"email": "reader1@example.org"}); err != nil {
		page.T.Fatal(err)
	}
	automation = "/automations/" + call(http.MethodPost, "/automations", map[string]any{
		"name": "[Acme]", "trigger_type": "tag_added", "trigger_config": map[string]any{"tag": "acme"},
		"actions": []any{map[string]any{"type": "tag", "config": map[string]any{"action": "add", "tags": []any{"acme"}}}},
	})["id"].(string)
	return sequence, automation
}
