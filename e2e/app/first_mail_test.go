package app

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// An account without templates gets a finished mail in its brand, of which somebody changes the headline without
// seeing a tag: by mouse, by keys alone, and with a finger on a phone.
func TestAFinishedMailIsMadeWithoutATag(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		brand := page.call(http.MethodGet, "/settings/brand", nil)
		brand["colors"].(map[string]any)["primary"] = "#7a1f5c"
		page.call(http.MethodPut, "/settings/brand", brand)

		named := func(role, name string) string {
			return fmt.Sprintf(`[...document.querySelectorAll('%s')].findLast(e => e.textContent.trim().startsWith(%q) && e.offsetParent)`, role, name)
		}
		label := `[...document.querySelectorAll('[role=dialog] label')].find(l => l.querySelector('b')?.textContent === 'Announcement')`
		headline := `document.querySelector('[data-path="parameters.headline"]')`
		still := func(element string) []float64 { // what arrives meanwhile moves what is pressed
			at := page.box(element)
			return e2etest.Eventually(t, func() ([]float64, bool) {
				before := at
				page.Evaluate(`new Promise(done => setTimeout(done, 150))`)
				at = page.box(element)
				return at, slices.Equal(before, at)
			})
		}
		mouse := func(element string) {
			at := still(element)
			page.Must(page.Point(page.Ctx, at[0]+at[2]/2, at[1]+at[3]/2))
			page.Must(page.Hold(page.Ctx))
			page.Must(page.LetGo(page.Ctx))
		}
		finger := func(element string) {
			at := still(element)
			x, y := at[0]+at[2]/2, at[1]+at[3]/2
			page.Must(page.Touch(page.Ctx, x, y, x, y))
		}
		pointed := func(press func(string)) func(text string) {
			return func(text string) {
				page.WaitFor(named("main button, main a", "New broadcast"))
				press(named("main button, main a", "New broadcast"))
				page.WaitFor(label)
				press(label)
				page.WaitFor(label + `.querySelector('input').checked`)
				press(named("[role=dialog] button", "Create"))
				page.WaitFor(headline)
				press(headline)
				page.WaitFor(`document.activeElement === ` + headline)
				page.Press("Control+a")
				page.Type(text)
			}
		}
		for _, way := range []struct {
			name string
			make func(text string)
		}{
			{"by mouse", pointed(mouse)},
			{"by keys", func(text string) {
				page.PressEnterOn("New broadcast")
				page.WaitFor(`document.querySelector('[role=dialog] label b')`)
				page.TabTo("Announcement") // it is a template of the account by now, and the first one
				page.PressEnterOn("Create")
				page.WaitFor(headline)
				page.TabTo("Headline") // its group
				page.TabToElement(`[data-path="parameters.headline"]`)
				page.Press("Control+a")
				page.Type(text)
			}},
			{"by finger", func(text string) {
				page.SetScreen(390, 844, "light")
				page.Must(page.Fingers(page.Ctx))
				page.open("/broadcasts")
				pointed(finger)(text)
			}},
		} {
			page.open("/broadcasts")
			way.make("We are here " + way.name)
			page.expectURL(`/broadcasts/[0-9a-f-]+/edit$`)
			broadcast := page.EvaluateString(`location.pathname.split('/').at(-2)`)
			e2etest.Eventually(t, func() (any, bool) {
				binding := fmt.Sprint(page.getBroadcast(broadcast)["content"].(map[string]any)["template_binding"])
				return binding, strings.Contains(binding, "We are here "+way.name)
			})
			mail := page.call(http.MethodPost, "/preview", map[string]any{"source": map[string]any{"broadcast_id": broadcast}})
			html := fmt.Sprint(mail["html"])
			if !strings.Contains(html, "We are here "+way.name) || !strings.Contains(html, "#7a1f5c") {
				t.Errorf("%s: the mail has not both the headline and the colour of the brand: %s", way.name, html)
			}
			if seen := page.EvaluateString(`document.body.innerText`); strings.Contains(seen, "<mj-") || strings.Contains(seen, "</") {
				t.Errorf("%s: a tag is seen: %s", way.name, seen)
			}
			page.expectNoProblems()
		}
	})
}
