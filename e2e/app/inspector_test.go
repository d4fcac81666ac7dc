package app

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// The padding of a text is dragged in the picture, which Escape gives up and one step undoes; the same padding is typed, and
// what is none stays in its field. A colour of the brand is chosen by keys. The text is hidden on phones: the code has a rule
// for it, and the picture of a phone does not show it.
func TestPaddingIsDraggedAndATextIsHiddenOnPhones(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		made, err := page.account.Owner.Must(page.Ctx, http.MethodPost, "/templates", map[string]any{
			"name": "Shop news", "format": "mjml", "content_html": "", "content_mjml": designed, "subject": "News",
		})
		if err != nil {
			t.Fatal(err)
		}
		page.SetScreen(1440, 900, "light")
		page.open("/templates/" + made["id"].(string))
		page.PressEnterOn("Design")
		page.TabTo("Email")
		page.Press("ArrowDown", "ArrowDown", "ArrowDown")
		page.WaitFor(selectedRow + `?.textContent.startsWith('Text Hello')`)
		page.WaitFor(`document.querySelector('[data-selection]')?.getBoundingClientRect().height > 0`)

		const field = `document.querySelector('[data-path="padding-top"]')`
		page.WaitFor(field + `?.value === '10'`)
		dragTop := func(by float64) {
			t.Helper()
			at := page.box(`document.querySelector('[data-padding="top"]')`)
			x, y := at[0]+at[2]/2, at[1]+at[3]/2
			page.Must(page.Point(page.Ctx, x, y))
			page.Must(page.Hold(page.Ctx))
			n := 0
			e2etest.Eventually(t, func() (any, bool) {
				n++
				page.Must(page.Point(page.Ctx, x+float64(n%2), y+by))
				return nil, page.EvaluateString(fmt.Sprintf(`document.querySelector('[data-padding="top"] + output')?.textContent === '%.0f px'`, 10+by)) == "true"
			})
		}
		dragTop(20)
		page.Press("Escape")
		page.Must(page.LetGo(page.Ctx))
		page.WaitFor(`!document.querySelector('[data-padding="top"] + output') && ` + field + `.value === '10'`)
		dragTop(30)
		page.Must(page.LetGo(page.Ctx))
		page.WaitFor(field + `.value === '40'`)
		page.Evaluate(selectedRow + `.focus()`)
		page.Press("Control+z")
		page.WaitFor(field + `.value === '10'`)
		page.fillField("padding-top", "24")
		page.WaitFor(field + `.value === '24'`)
		page.Type("x")
		page.WaitFor(field + `.value === '24x' && ` + field + `.ariaInvalid === 'true'`)
		page.Press("Tab", "Shift+Tab")
		page.WaitFor(field + `.value === '24x' && document.activeElement === ` + field)
		page.Press("Control+z") // what is typed in the field goes first
		page.WaitFor(field + `.value === '24' && ` + field + `.ariaInvalid !== 'true'`)

		page.TabTo("Choose: Text colour", "Shift+Tab")
		page.Press("Enter")
		page.WaitFor(`document.querySelector('[role=dialog] button[aria-label^="Main colour"]')`)
		page.TabTo("Main colour")
		page.expectAccessible("colours to choose from")
		page.Press("Enter")
		page.WaitFor(`!document.querySelector('[role=dialog]') && document.querySelector('[data-path="color"]').value !== '#111111'`)
		page.Press("Control+z")
		page.WaitFor(`document.querySelector('[data-path="color"]').value === '#111111'`)

		page.Evaluate(`document.querySelector('[data-path="phones"] summary').click()`)
		page.selectByName("Show", "Not on phones")
		page.WaitFor(`document.querySelector('[data-path="phones-shown"]').value === 'not'`)
		page.WaitFor(`document.querySelector('[data-selection]')`)
		page.expectAccessible("settings on phones")
		page.selectByName("Width", "Phone")
		page.WaitFor(`!document.querySelector('[data-selection]')`)
		page.selectByName("Width", "Desktop")
		page.WaitFor(`document.querySelector('[data-selection]')`)

		page.PressEnterOn("Code", "Shift+Tab")
		code := `[...document.querySelectorAll('main div')].find(e => e.shadowRoot)?.shadowRoot.querySelector('.cm-content')`
		page.WaitFor(code + `?.textContent.includes('.on-phones-1 { display: none !important; }')`)
		page.WaitFor(code + `.textContent.includes("<mj-text   color='#111111'   padding-top='24px'   css-class='on-phones-1'>Hello")`)
		page.expectNoProblems()
	})
}
