package app

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// MJML that a broadcast or a library entry has of its own opens as a design, with the mail beside it as its picture: a text
// is changed there, or on a phone among the settings. The code shows the same, and only those bytes differ. The view that
// was chosen stays.
func TestOwnContentIsDesignedAndKeepsItsCode(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		const row = selectedRow
		pressRow := func(n int) {
			t.Helper()
			find := fmt.Sprintf(`document.querySelector('[data-row="%d"]')`, n)
			page.WaitFor(find)
			page.Evaluate(find + `.click()`)
			page.WaitFor(row + ` === ` + find)
			page.Evaluate(row + `.focus()`)
		}
		shown := func(text string) string {
			return fmt.Sprintf(`$.code().checkVisibility() && $.code().textContent.includes(%q)`, text)
		}
		want := strings.Replace(designed, "}}</mj-text>", "}}!</mj-text>", 1)
		const written = row + `?.textContent.startsWith('Text Hello') && ` + row + `.textContent.endsWith('!')`

		broadcast := page.createDraft(map[string]any{"content": map[string]any{"subject": "Hello", "body_mjml": designed}})
		page.SetScreen(1440, 900, "light")
		still := func(route string) {
			t.Helper()
			page.open(route)
			page.WaitFor(`document.querySelector('[role=tree]') && document.querySelector('main iframe')`)
			for _, shift := range page.layoutShifts() {
				t.Errorf("%s moves while it loads: %s", route, shift)
			}
		}
		still("/broadcasts/" + broadcast + "/edit")
		page.WaitFor(`document.querySelectorAll('main iframe').length === 1 && document.querySelector('#preview iframe')`)
		pressRow(3)
		page.WaitFor(`document.querySelector('[data-selection]')?.getBoundingClientRect().height > 0`)
		page.Press("Enter")
		page.WaitFor(textInPlace + ` && document.activeElement.closest('#preview')`)
		page.Press("End")
		page.Type("?")
		const asked = row + `.textContent.endsWith('?')`
		page.WaitFor(asked + ` && document.activeElement.textContent.endsWith('?')`)
		page.Press("Control+z")
		page.WaitFor(`!(` + asked + `) && ` + textInPlace + ` && !document.activeElement.textContent.endsWith('?')`)
		page.Press("End")
		page.Type("!")
		page.Press("Escape")
		page.WaitFor(written)
		page.expectAccessible("a broadcast with a design")
		page.recordMarks()
		page.Click("Content") // folded, the mail leads to it
		page.WaitFor(`!document.querySelector('[role=tree]').checkVisibility() && document.querySelector('#preview iframe')`)
		page.pressInPreview(want, "<mj-text   color", 0, `document.querySelector('[role=tree]').checkVisibility() && `+written)
		saved := func(want string, of func(broadcast map[string]any) any) {
			t.Helper()
			e2etest.Eventually(t, func() (any, bool) {
				got := of(page.getBroadcast(broadcast))
				return got, got == want
			})
		}
		saved(want, func(b map[string]any) any { return b["content"].(map[string]any)["body_mjml"] })

		// A version has a design of its own, which gets the picture.
		page.Click("Compare versions")
		page.In("region", "Version A").Click("Change another field in this version")
		page.ChooseMenuItem("MJML")
		version := `document.querySelector('#variants [data-row="3"]')`
		page.WaitFor(version)
		page.Evaluate(version + `.focus()`)
		page.Evaluate(version + `.click()`)
		page.WaitFor(`document.querySelectorAll('#preview [data-selection]').length === 1 && new URLSearchParams(location.search).get('variant') === 'a'`)
		page.Press("Enter")
		page.WaitFor(textInPlace + ` && document.activeElement.closest('#preview')`)
		page.Press("End")
		page.Type("?")
		page.Press("Escape")
		saved(strings.Replace(want, "}}!", "}}!?", 1), func(b map[string]any) any {
			versions, _ := b["variants"].([]any)
			if len(versions) == 0 {
				return nil
			}
			return versions[0].(map[string]any)["content_overrides"].(map[string]any)["body_mjml"]
		})
		page.Click("Send one version to everybody")

		page.Click("Code")
		page.WaitFor(shown("}}!</mj-text>"))
		page.WaitFor(`document.querySelector('#preview iframe')`)
		saved(want, func(b map[string]any) any { return b["content"].(map[string]any)["body_mjml"] })

		entry := page.call(http.MethodPost, "/messages", map[string]any{"name": "Greeting", "content": map[string]any{"subject": "Hello", "body_mjml": designed}})["id"].(string)
		page.open("/library/" + entry + "?edit=1")
		page.WaitFor(`$.code()?.checkVisibility()`) // as it was chosen for the broadcast
		page.Click("Design")
		still("/library/" + entry + "?edit=1")
		pressRow(3)
		page.WaitFor(`document.querySelector('#preview [data-selection]')?.getBoundingClientRect().height > 0`)
		page.SetScreen(390, 844, "dark")
		page.open("/library/" + entry + "?edit=1")
		page.recordMarks()
		page.Click("Preview")
		page.pressInPreview(designed, "<mj-text   color", 0, row+`?.textContent.startsWith('Text Hello') && document.activeElement.dataset.path === 'text'`)
		page.Press("End")
		page.Type("!")
		page.WaitFor(written)
		page.expectAccessible("a library entry on a phone")
		if wide := page.EvaluateString(`document.documentElement.scrollWidth > innerWidth`); wide == "true" {
			t.Error("the library entry is wider than the phone")
		}
		page.Click("Code")
		page.WaitFor(shown("}}!</mj-text>"))
		page.Press("Control+s")
		page.Dialog().Click("Save")
		page.expectNoDialog()
		if got := page.get("/messages/" + entry)["current_content"].(map[string]any)["body_mjml"]; got != want {
			t.Errorf("the entry is\n%s\nwant\n%s", got, want)
		}
		page.expectNoProblems()
	})
}
