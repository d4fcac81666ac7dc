package app

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// step returns JavaScript for the button of the step whose name has a text.
func step(text string) string {
	return fmt.Sprintf(`[...document.querySelectorAll('[data-step]')].find(s => s.getAttribute('aria-label').includes(%q))`, text)
}

// focused waits until the step whose name has a text has the focus.
func (d desk) focused(text string) {
	d.T.Helper()
	d.WaitFor(fmt.Sprintf(`document.activeElement.dataset.step && document.activeElement.getAttribute('aria-label').includes(%q)`, text))
}

// stepMenu chooses what a step menu that is open offers for a text, and waits for the drawer of the step.
func (d desk) stepMenu(text string) {
	d.T.Helper()
	d.WaitFor(`document.activeElement.getAttribute('role') === 'combobox' && document.querySelector('[role=listbox] [role=option]')`)
	d.Type(text)
	d.WaitFor(fmt.Sprintf(`document.querySelector('[role=option][aria-selected=true]')?.textContent.startsWith(%q)`, text))
	d.Press("Enter")
	d.WaitFor(`document.querySelector('[role=dialog] h2') && new URLSearchParams(location.search).get('node')`)
}

// closed closes the drawer of a step, which gives the focus to the step.
func (d desk) closed(name string) {
	d.T.Helper()
	d.pressText("Done")
	d.WaitFor(`!document.querySelector('[role=dialog]')`)
	d.focused(name)
}

// confirm presses the button of the dialog that is open.
func (d desk) confirm(text string) {
	d.T.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll('[role=dialog] button, [role=alertdialog] button')].find(b => b.textContent.trim() === %q && b.getAttribute('aria-disabled') !== 'true')`, text)
	d.WaitFor(find)
	d.Evaluate(find + `.click()`)
}

// rule writes a rule in the drawer that is open.
func (d desk) rule(json string) {
	d.T.Helper()
	d.pressText("JSON")
	d.fill("JSON", json)
}

// pick chooses the first match of what is typed into a combo box, and waits until its list is closed.
func (d desk) pick(label, text string) {
	d.T.Helper()
	d.chooses(label, text)
	d.WaitFor(`!document.querySelector('[role=option]')`)
}

// eventually waits until a record of the API is as wanted.
func (d desk) eventually(what, path string, want func(map[string]any) bool) {
	d.T.Helper()
	for d.Ctx.Err() == nil {
		if want(d.get(path)) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	d.T.Fatalf("never: %s", what)
}

func is(name, value string) func(map[string]any) bool {
	return func(m map[string]any) bool { return fmt.Sprint(m[name]) == value }
}

// types returns the types of a sequence's steps, sorted.
func (d desk) types(sequence string) string {
	d.T.Helper()
	nodes, _ := d.get("/sequences/" + sequence)["nodes"].([]any)
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
		d := openApp(t, address)
		call := func(method, path string, body any) map[string]any {
			t.Helper()
			got, err := d.r.Owner.Must(d.Ctx, method, path, body)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}

		// The empty page offers flows to adapt.
		d.open("/sequences")
		d.hasText("No sequence yet")
		trial := `[...document.querySelectorAll('button')].find(b => b.textContent.startsWith('End of trial'))`
		d.WaitFor(trial)
		d.Evaluate(trial + `.click()`)
		d.WaitFor(`/sequences\/[0-9a-f-]{36}$/.test(location.pathname) && document.querySelectorAll('[data-step]').length === 4`)
		if got := d.types(d.EvaluateString(`location.pathname.split('/').pop()`)); got != "goal send send wait" {
			t.Errorf("the end of a trial has the steps %s", got)
		}

		call(http.MethodPost, "/messages", map[string]any{"name": "Hello", "content": map[string]any{"subject": "Hello {{ contact.first_name }}", "body_html": "<p>Hello</p>"}})
		d.open("/sequences/new")
		d.fill("Name", "Onboarding")
		d.pressText("Create")
		d.WaitFor(`document.querySelector('h1')?.textContent === 'Onboarding'`)
		sequence := d.EvaluateString(`location.pathname.split('/').pop()`)

		// The outline: a first step, whose problem stands at it until it is solved.
		d.pressText("Outline")
		d.WaitFor(`document.querySelector('[aria-label="Add the first step"]')`)
		d.Evaluate(`document.querySelector('[aria-label="Add the first step"]').click()`)
		d.stepMenu("Send a mail")
		d.pick("Mail of the library", "Hello")
		d.closed("Send Hello")
		d.hasText("Not saved yet: 1 problem")
		d.Press("ArrowUp", "F8")
		d.focused("Step 1 of 1, Send Hello, Email type: is required, then the end; 1 problem")
		d.Press("Enter")
		d.pick("Email type", "Newsletter")
		d.closed("Send Hello")
		d.hasText("Saved")
		d.eventually("the first step is saved", "/sequences/"+sequence, func(m map[string]any) bool { return len(m["nodes"].([]any)) == 1 })

		// The canvas, by keys.
		d.pressText("Canvas")
		d.WaitFor(step("Send Hello"))
		d.Evaluate(step("Send Hello") + `.focus()`)
		d.Press("a")
		d.stepMenu("Yes or no")
		d.rule(`{"logic": "and", "conditions": [{"field": "country", "operator": "in", "value": ["DE"]}]}`)
		d.closed("Country is any of DE")
		d.Press("a")
		d.stepMenu("Change tags")
		d.fill("Tags", "german")
		d.closed("Add german")
		d.Press("ArrowUp")
		d.focused("Country is any of DE")
		d.Press("a") // on the way that ends
		d.stepMenu("Wait for a time")
		d.closed("Wait 1 day")
		d.Press("ArrowLeft")
		d.focused("Add german")
		d.Press("ArrowRight")
		d.focused("Wait 1 day")
		d.Press("a")
		d.stepMenu("Goal")
		d.rule(`{"logic": "and", "conditions": [{"field": "tags", "operator": "has_any", "value": ["customer"]}]}`)
		d.closed("Goal: Tags has any of customer")
		// What is copied and pasted is undone.
		d.Evaluate(step("Add german") + `.focus()`)
		d.Press("Control+c", "Control+v")
		d.WaitFor(`document.querySelectorAll('[data-step]').length === 6`)
		d.Press("Control+z")
		d.WaitFor(`document.querySelectorAll('[data-step]').length === 5`)
		// A path goes back to a step; a step is deleted, and the path goes on where one chooses.
		d.Evaluate(step("Wait 1 day") + `.focus()`)
		d.Press("a")
		d.WaitFor(`document.querySelector('[role=listbox] [role=option]')`)
		d.Type("Send Hello")
		d.WaitFor(`document.querySelector('[role=option][aria-selected=true]')?.textContent.startsWith('Send Hello')`)
		d.Press("Enter")
		d.WaitFor(`document.querySelector('svg [data-kind=loop]')`)
		d.focused("Wait 1 day, then Send Hello")
		d.Press("Control+z")
		d.WaitFor(`!document.querySelector('svg [data-kind=loop]')`)
		d.Evaluate(step(", Country is") + `.focus()`)
		d.Press("Delete")
		d.choose("Goes the way “No”, to: Wait 1 day")
		d.hasText("1 step goes with it")
		d.confirm("Delete")
		d.WaitFor(`[...document.querySelectorAll('[data-step]')].map(s => s.querySelector('b').textContent).join() === 'Send Hello,Wait 1 day,Goal: Tags has any of customer'`)
		d.focused("Send Hello, As Newsletter, then Wait 1 day")
		d.Press("Control+z")
		d.WaitFor(`document.querySelectorAll('[data-step]').length === 5`)
		d.eventually("all steps are saved", "/sequences/"+sequence, func(m map[string]any) bool { return len(m["nodes"].([]any)) == 5 && len(m["edges"].([]any)) == 3 })
		d.WaitFor(`[...document.querySelectorAll('[role=status]')].some(s => s.textContent.startsWith('Saved'))`)

		// A test run, then contacts.
		d.pressText("Test run")
		d.pick("With the data of", "Reader1")
		d.confirm("Send")
		d.hasText("1 mail sent")
		d.confirm("Close")
		d.pressText("Activate")
		d.confirm("Activate")
		d.eventually("it is active", "/sequences/"+sequence, is("status", "active"))
		contact := ""
		for _, email := range []string{"reader1@example.org", "wien@example.org"} {
			entered, err := d.r.Key.Must(d.Ctx, http.MethodPost, "/sequences/"+sequence+"/enroll", map[string]any{"email": email})
			if err != nil {
				t.Fatal(err)
			}
			contact = entered["contact_id"].(string)
		}
		d.eventually("one contact went through", "/sequences/"+sequence+"/report", func(m map[string]any) bool {
			return is("completed", "1")(m) && is("active", "1")(m)
		})
		waits := `[...document.querySelectorAll('button')].find(b => b.textContent === '1 is here' && b.getAttribute('aria-label').includes('Wait 1 day'))`
		d.await(waits)
		d.Evaluate(waits + `.click()`)
		d.sees("wien@example.org")
		d.sees("Wait 1 day")

		// Who would leave is told before anything is saved.
		d.pressText("Pause to edit")
		d.hasText("The timers of 1 person stop")
		d.confirm("Pause")
		d.eventually("it is paused", "/sequences/"+sequence, is("status", "paused"))
		d.pressText("Flow")
		d.WaitFor(step("Wait 1 day") + ` && [...document.querySelectorAll('button')].some(b => b.textContent.trim() === 'Resume')`)
		d.Evaluate(step("Wait 1 day") + `.focus()`)
		d.Press("Delete")
		d.WaitFor(`document.querySelectorAll('[data-step]').length === 4`)
		d.pressText("Review changes")
		d.hasText("1 step removed")
		d.hasText("1 person leaves the sequence")
		d.confirm("Cancel")
		d.WaitFor(`!document.querySelector('[role=dialog]')`)
		d.Evaluate(step(", Country is") + `.focus()`)
		d.Press("Control+z")
		d.WaitFor(step("Wait 1 day"))
		d.Evaluate(step("Wait 1 day") + `.click()`)
		d.WaitFor(`document.querySelector('[data-path=amount]')`)
		d.at("amount", "2")
		d.closed("Wait 2 days")
		d.pressText("Review changes")
		d.hasText("1 step changed")
		d.hasText("Nobody leaves.")
		d.confirm("Save")
		d.WaitFor(`!document.querySelector('[role=dialog]')`)
		d.pressText("Resume")
		d.hasText("Nobody is overdue.")
		d.confirm("Resume")
		d.eventually("it is active again", "/sequences/"+sequence, is("status", "active"))

		call(http.MethodPut, "/contacts/"+contact, map[string]any{"tags": []any{"customer"}})
		d.eventually("the other reached the goal", "/sequences/"+sequence+"/report", is("converted", "1"))
		d.pressText("Report")
		d.hasText("Step by step")
		d.WaitFor(`[...document.querySelectorAll('dl div')].some(f => f.textContent.includes('Converted') && f.textContent.includes('50.0'))`)
		// The days together have the numbers of the report.
		timing := d.ask(http.MethodGet, "/sequences/"+sequence+"/timing", nil)["series"].([]any)
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
		d.hasText("2 people.")
		d.pressText("As a table")
		d.await(`document.querySelectorAll('main section[aria-label="Per day"] tbody tr').length === 30`)
		for n, name := range []string{"entered", "completed", "converted", "exited", "failed", "sent", "delivered", "opened", "clicked", "bounced", "unsubscribed"} {
			d.await(fmt.Sprintf(`%s.reduce((a, b) => a + Number(b), 0) === %v`, column("Per day", n+1), sums[name]))
		}
		if file := d.saved(`document.querySelector('main [aria-label*=" 20"][aria-label^="Download"]')`); strings.Count(file, "\n") < 30 || !strings.Contains(file, "date,entered,completed,converted,exited,failed,sent") {
			t.Errorf("the file of days is\n%s", file)
		}
		d.automation()
		d.quiet()
	})
}

// Two people edit one paused sequence: what only one of them changed is joined, and for a step that both changed the
// page shows both versions and asks.
func TestTwoPeopleEditOneFlow(t *testing.T) {
	t.Parallel()
	d := openApp(t, "")
	call := func(method, path string, body any) map[string]any {
		t.Helper()
		got, err := d.r.Owner.Must(d.Ctx, method, path, body)
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

	d.open(path + "?view=outline")
	d.WaitFor(step("Wait 1 day"))
	d.Evaluate(step("Wait 1 day") + `.click()`)
	d.WaitFor(`document.querySelector('[data-path=amount]')`)
	d.at("amount", "3")
	d.closed("Wait 3 days")
	call(http.MethodPut, path+"/graph", graph(5, "second"))
	d.hasText("Somebody else changed these steps meanwhile")
	d.pressText("Compare and choose")
	d.hasText("Wait 3 days, then Add first")
	d.hasText("Wait 5 days, then Add second")
	d.choose("Theirs")
	d.confirm("Save")
	d.hasText("Both changes are kept")
	d.WaitFor(step("Wait 5 days") + ` && ` + step("Add second"))

	// Changes of different steps are joined without a question.
	d.WaitFor(`!document.querySelector('[role=dialog]')`)
	d.Evaluate(step("Wait 5 days") + `.click()`)
	d.WaitFor(`document.querySelector('[data-path=amount]')`)
	d.at("amount", "6")
	d.closed("Wait 6 days")
	call(http.MethodPut, path+"/graph", graph(5, "third"))
	d.WaitFor(step("Wait 6 days") + ` && ` + step("Add third"))
	d.quiet()
}

// automation writes an automation, lets it run and pauses it.
func (d desk) automation() {
	d.T.Helper()
	d.open("/automations/new")
	d.fill("Name", "Mark buyers")
	d.fill("Event", "order_placed")
	d.Press("Enter")
	d.Evaluate(`[...document.querySelectorAll('main button')].find(b => b.textContent.trim() === 'Add an action').click()`)
	tags := `[...document.querySelectorAll('[role=menuitem]')].find(m => m.textContent.startsWith('Change tags'))`
	d.WaitFor(tags)
	d.Evaluate(tags + `.click()`)
	d.fill("Tags", "buyer")
	d.pressText("Create")
	d.WaitFor(`/automations\/[0-9a-f-]{36}$/.test(location.pathname)`)
	path := "/automations/" + d.EvaluateString(`location.pathname.split('/').pop()`)
	if _, err := d.r.Key.Must(d.Ctx, http.MethodPost, "/events", map[string]any{"event_name": "order_placed", "contact_email": "reader3@example.org"}); err != nil {
		d.T.Fatal(err)
	}
	d.eventually("it ran", path, is("run_count", "1"))
	find := `[...document.querySelectorAll('nav a')].find(a => a.textContent.startsWith('Runs'))`
	d.Evaluate(find + `.click()`)
	d.hasText("reader3@example.org")
	d.hasText("Change tags: Done")
	d.Evaluate(`document.querySelector('[role=switch]').click()`)
	d.eventually("it is paused", path, is("status", "paused"))
}

// The pages of sequences and automations are accessible.
func TestThePagesOfSequencesAreAccessible(t *testing.T) {
	t.Parallel()
	d := openApp(t, "")
	sequence, automation := d.flows()
	_, _, pages, _ := harness.Routes()
	d.pagesAreAccessible(pages, map[string]string{"sequence": path.Base(sequence), "automation": path.Base(automation)})
}

// flows makes a sequence with a contact in it, and an automation, and returns the addresses of their pages.
func (d desk) flows() (sequence, automation string) {
	d.T.Helper()
	call := func(method, path string, body any) map[string]any {
		d.T.Helper()
		got, err := d.r.Owner.Must(d.Ctx, method, path, body)
		if err != nil {
			d.T.Fatal(err)
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
	if _, err := d.r.Key.Must(d.Ctx, http.MethodPost, sequence+"/enroll", map[string]any{"email": "reader1@example.org"}); err != nil {
		d.T.Fatal(err)
	}
	automation = "/automations/" + call(http.MethodPost, "/automations", map[string]any{
		"name": "[Acme]", "trigger_type": "tag_added", "trigger_config": map[string]any{"tag": "acme"},
		"actions": []any{map[string]any{"type": "tag", "config": map[string]any{"action": "add", "tags": []any{"acme"}}}},
	})["id"].(string)
	return sequence, automation
}
