package app

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// beside is JavaScript for the panel beside the flow.
const beside = `document.querySelector('[data-side-panel]')`

// expectPanel waits until the panel has a title.
func (page appPage) expectPanel(title string) {
	page.T.Helper()
	page.WaitFor(fmt.Sprintf(`%s?.querySelector('h2').textContent === %q`, beside, title))
}

// From an empty sequence to an active one, whose mail is written beside the flow: begun with a finished one, seen, and
// edited. Meanwhile another step is pressed, and the panel shows that one. On a phone the panel is a drawer.
func TestTheMailOfAStepIsWrittenBesideTheFlow(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		page.SetScreen(1440, 900, "light")
		sequence := "/sequences/" + page.call(http.MethodPost, "/sequences", map[string]any{"name": "Onboarding", "entry_trigger": map[string]any{
			"trigger_type": "tag_added", "trigger_config": map[string]any{"tag": "new"},
		}})["id"].(string)
		page.open(sequence)
		add := func(label, kind, title string) {
			t.Helper()
			page.PressEnterOn(label)
			page.WaitFor(`document.activeElement.getAttribute('role') === 'combobox' && document.querySelector('[role=listbox] [role=option]')`)
			page.Type(kind)
			page.WaitFor(fmt.Sprintf(`document.querySelector('[role=option][aria-selected=true]')?.textContent.startsWith(%q)`, kind))
			page.Press("Enter")
			page.expectPanel(title)
			page.WaitFor(beside + `.contains(document.activeElement)`)
		}
		add("Add first step", "Wait for a time", "Wait for a time")
		page.Press("Escape")
		page.WaitFor(`!` + beside)
		page.expectFocusedStep("Wait 1 day")
		page.Press("a")
		page.chooseStep("Send an email")
		page.expectPanel("Send an email")

		// The browser's Back and Forward keep what was written, and give the panel the focus.
		subject := beside + `.querySelector('[data-path="subject"]')`
		page.Click("Write a new email")
		page.expectPanel("New email")
		page.Fill("Name", "Later")
		page.ClickElement(`[...` + beside + `.querySelectorAll('label')].find(l => l.textContent.includes('An empty email in the brand'))`)
		page.Click("Create and write")
		page.expectPanel("Later")
		page.WaitFor(subject)
		page.Fill("Subject", "Kept")
		page.Evaluate(`history.back()`)
		page.expectPanel("Send an email")
		page.WaitFor(beside + `.contains(document.activeElement)`)
		page.Evaluate(`history.forward()`)
		page.expectPanel("Later")
		page.WaitFor(fmt.Sprintf(`(%[1]s?.value || %[1]s?.textContent) === 'Kept'`, subject))
		page.Click("Back to the step")
		page.expectPanel("Send an email")

		page.Click("Write a new email")
		page.expectPanel("New email")
		page.Fill("Name", "Welcome aboard")
		page.Fill("Subject", "Welcome")
		page.WaitFor(beside + `.querySelector('iframe')`)
		page.expectAccessible("what a new mail begins with")
		page.Click("Create and write")
		page.expectPanel("Welcome aboard")
		page.WaitFor(beside + `.querySelector('[data-path="subject"]')`)
		page.Fill("Preview text", "Good to have you here")
		page.expectAccessible("the mail of a step")
		const written = beside + `.querySelector('[contenteditable=true]')`
		page.WaitFor(written)
		page.Evaluate(written + `.focus()`)
		page.Press("Escape", "Tab") // by keys, this leaves a text and not the panel
		page.WaitFor(`!` + written + `.contains(document.activeElement) && ` + beside + `.contains(document.activeElement)`)
		page.Click("JSON")
		page.WaitFor(`$.code()?.checkVisibility()`)
		page.Evaluate(`$.code().focus()`)
		page.Press("Escape", "Tab")
		page.WaitFor(`!$.code().getRootNode().activeElement && ` + beside + `.contains(document.activeElement)`)
		page.Click("Form")
		page.WaitFor(written)
		page.Click("Save version 2")
		page.Dialog().ExpectText("This step sends the new version to everybody who reaches it from now on")
		page.Dialog().Click("Save")
		page.expectNoDialog()
		page.expectPanel("Send an email")
		page.WaitFor(beside + `.querySelector('section iframe')?.getBoundingClientRect().width > 300`)
		page.SelectOption("Email type", "Newsletter")
		page.expectAccessible("a step beside the flow")

		// The flow stays in use: another step, and the start.
		page.ClickElement(step("Wait 1 day"))
		page.expectPanel("Wait for a time")
		page.WaitFor(step("Wait 1 day") + `.getAttribute('aria-current') === 'true'`)
		page.ClickElement(`document.querySelector('[data-start]')`)
		page.expectPanel("Start")
		page.WaitFor(`document.querySelector('[data-start]').getAttribute('aria-current') === 'true'`)
		page.Click("Done")
		page.WaitFor(`!` + beside)

		page.SetScreen(390, 844, "light")
		page.open(sequence)
		page.ClickElement(step(", Send Welcome aboard"))
		page.Dialog().ExpectText("Edit email")
		page.expectAccessible("a step on a phone")
		page.Dialog().Click("Done")
		page.expectNoDialog()
		page.Click("Activate")
		page.Dialog().Click("Activate")
		page.waitForRecord("it is active", sequence, is("status", "active"))
		page.expectNoProblems()
	})
}
