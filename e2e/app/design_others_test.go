package app

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// What is selected in a design stays selected in the code and back, and when somebody else saves. What that person did is not
// undone; what was done beside the editor is. What is refused, and why the mail is not shown, is said to everybody. A search
// has its own undo.
func TestADesignFollowsItsTextAndSaysWhatItRefuses(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		template := map[string]any{"name": "Shop news", "format": "mjml", "content_html": "", "content_mjml": designed, "subject": "News"}
		id := page.call(http.MethodPost, "/templates", template)["id"].(string)
		page.open("/templates/" + id)
		const root = `[...document.querySelectorAll('main div')].find(e => e.shadowRoot)?.shadowRoot`
		const line = root + `?.querySelector('.cm-activeLine')?.textContent`
		page.WaitFor(root + `?.querySelector('.cm-content')?.ariaLabel?.includes('F1')`)
		rows := func(text string) string {
			return fmt.Sprintf(`[...document.querySelectorAll('[role=treeitem]')].find(row => row.textContent.startsWith(%q))`, text)
		}
		selected := func(text string) {
			t.Helper()
			page.WaitFor(fmt.Sprintf(`%s?.textContent.startsWith(%q)`, selectedRow, text))
		}

		page.PressEnterOn("Design")
		page.WaitFor(rows("Text Guten Tag"))
		page.Evaluate(rows("Text Guten Tag") + `.click()`)
		selected("Text Guten Tag")
		page.Evaluate(selectedRow + `.focus()`) // the palette has a Code of its own
		page.PressEnterOn("Code", "Shift+Tab")
		page.WaitFor(line + `.includes('Guten Tag')`)
		page.Evaluate(root + `.querySelector('.cm-content').focus()`)
		for range 6 { // lines are wrapped
			if !strings.Contains(page.EvaluateString(line), "Hello") {
				page.Press("ArrowUp")
			}
		}
		page.WaitFor(line + `.includes('Hello')`)
		page.PressEnterOn("Design", "Shift+Tab")
		selected("Text Hello")

		// Somebody else writes before and behind it, while it has the focus.
		page.Evaluate(rows("Text Guten Tag") + `.click()`)
		selected("Text Guten Tag")
		page.fillField("color", "#123456")
		page.Evaluate(selectedRow + `.focus()`)
		page.Press("Control+z")
		page.WaitFor(`document.querySelector('[data-path=color]').value === '' && !document.querySelector('main').innerText.includes('Not saved')`)
		page.Evaluate(`document.querySelector('[data-path=color]').focus()`)
		template["content_mjml"] = strings.NewReplacer("<mj-section>", "<mj-section>\n\t\t\t<!-- theirs -->", "\t</mj-body>", "\t\t<mj-section></mj-section>\n\t</mj-body>").Replace(designed)
		page.call(http.MethodPut, "/templates/"+id, template)
		page.WaitFor(rows("Comment theirs"))
		selected("Text Guten Tag")
		page.WaitFor(`document.activeElement.dataset.path === 'color'`)
		page.Evaluate(selectedRow + `.focus()`)
		page.Press("Control+z", "Control+z", "Control+y")
		page.WaitFor(`document.querySelector('[data-path=color]').value === '#123456' && ` + rows("Comment theirs"))
		selected("Text Guten Tag")

		page.Evaluate(rows("Email") + `.click(); ` + rows("Email") + `.focus()`)
		page.Press("Delete")
		page.Messages().ExpectText("“Email” has to stay as it is")
		page.Evaluate(rows("Section") + `.click(); ` + rows("Section") + `.focus()`)
		page.Press("Alt+ArrowUp")
		page.Messages().ExpectText("“Section” is at the top already.")

		page.Press("/")
		page.WaitFor(`document.activeElement.placeholder === 'Find what to add'`)
		page.Type("zzz")
		page.WaitFor(`document.activeElement.value === 'zzz'`)
		page.Press("Control+z")
		page.WaitFor(`document.activeElement.value === ''`)
		page.Press("Escape")

		page.Evaluate(rows("Text Hello") + `.click()`)
		page.fillField("color", "#abcdef")
		page.Click("Discard changes")
		page.WaitFor(`document.querySelector('[data-path=color]').value === '#111111'`)
		page.Evaluate(selectedRow + `.focus()`)
		page.Press("Control+z")
		page.WaitFor(`document.querySelector('[data-path=color]').value === '#abcdef'`)

		page.Evaluate(`(real => { window.fetch = (address, options) => window.isDown && String(address?.url ?? address).includes('/preview')
			? Promise.resolve(new Response('{}', { status: 503 })) : real(address, options); })(window.fetch); window.isDown = true`)
		page.fillField("color", "#00ff00")
		page.WaitFor(`document.querySelector('section[aria-label=Design] [role=alert]')?.innerText.includes('Try again')`)
		page.Evaluate(`window.isDown = false`)
		page.Click("Try again")
		page.WaitFor(`!document.querySelector('section[aria-label=Design] [role=alert]')`)
		page.fillField("color", "{{ param:tone }}")
		page.WaitFor(`document.querySelector('section[aria-label=Design]').innerText.includes('the code has 1 error since')`)
		page.Click("Go to the error")
		page.WaitFor(line + `.includes('param:tone')`)
	})
}
