package app

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// unmended has one of each that a mail is checked for.
const unmended = `<mjml><mj-body><mj-section><mj-column>
<mj-text>Hello {{ frist_name }}</mj-text>
<mj-image src="https://shop.test.org/tea.png" />
<mj-text color="#dddddd">Faint words</mj-text>
<mj-button href="#">Read on</mj-button>
</mj-column></mj-section></mj-body></mjml>`

// mended is the same without.
var mended = strings.NewReplacer("frist_name", "first_name", ` />`, ` alt="A cup of tea" />`, "#dddddd", "#333333", `"#"`, `"https://shop.test.org/"`).Replace(unmended)

// A bar says what there is to mend in a mail, and each leads to its place: in the design, in the code, and in the form of a
// mail from a template.
func TestWhatIsToMendLeadsToItsPlace(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		press := func(sentence string) {
			page.T.Helper()
			page.ClickElement(fmt.Sprintf(`[...document.querySelectorAll('[role=dialog] li button')].find(b => b.textContent.includes(%q))`, sentence))
		}
		entry := func(count, sentence string) {
			page.T.Helper()
			page.In("region", "Checks of the email").Click(count)
			press(sentence)
			page.expectNoDialog()
		}
		made := page.call(http.MethodPost, "/templates", map[string]any{
			"name": "Shop news", "format": "mjml", "content_html": "", "content_mjml": unmended, "subject": "News",
		})
		places := []struct{ count, sentence, row, line string }{
			{"1 picture without alternative text", "tea.png", "Image", "<mj-image"},
			{"Contrast: 1", "Faint words", "Text Faint words", "Faint words"},
			{"1 link leads nowhere", "leads nowhere", "Button Read on", "<mj-button"},
			{"Unknown fields: 1", "frist_name", "Text Hello", "frist_name"},
		}
		page.SetScreen(1440, 900, "light")
		page.open("/templates/" + made["id"].(string) + "?mjml=design")
		page.In("region", "Checks of the email").ExpectText("KB of 102")
		for _, place := range places {
			entry(place.count, place.sentence)
			page.WaitFor(fmt.Sprintf(`%s?.textContent.startsWith(%q) && document.activeElement.closest('section[aria-label=Design]')`, selectedRow, place.row))
		}
		page.expectAccessible("a design with a bar")
		page.Click("Code")
		for _, place := range places {
			entry(place.count, place.sentence)
			page.WaitFor(fmt.Sprintf(`$.code().querySelector('.cm-activeLine').innerText.includes(%q)`, place.line))
		}
		page.FillCode(mended)
		page.In("region", "Checks of the email").ExpectText("Nothing to mend")

		page.call(http.MethodPost, "/templates", map[string]any{
			"name": "Letter", "format": "mjml", "subject": "News", "content_html": "",
			"content_mjml":      "<mjml><mj-body><mj-section><mj-column>\n{{#section days}}<mj-button href=\"{{item:url}}\">{{item:day}}</mj-button>{{/section}}\n</mj-column></mj-section></mj-body></mjml>",
			"parameters_schema": []any{},
			"sections_schema": []any{map[string]any{"name": "days", "label": "Days", "item_schema": []any{
				map[string]any{"name": "day", "type": "text"}, map[string]any{"name": "url", "type": "url"}}}},
		})
		broadcast := page.createDraft(map[string]any{"content": map[string]any{"subject": "Hours", "template_slug": "letter", "template_binding": map[string]any{
			"sections": map[string]any{"days": []any{map[string]any{"day": "Monday", "url": "https://shop.test.org/"}, map[string]any{"day": "Tuesday", "url": "https://example.com/"}}}}}})
		page.open("/broadcasts/" + broadcast + "/edit")
		entry("1 link leads nowhere", "only an example")
		page.WaitFor(`document.activeElement.closest('[data-path^="sections.days[1]"]') !== null`)
		page.expectAccessible("a composer with a bar")
		page.SetScreen(390, 844, "dark")
		page.open("/broadcasts/" + broadcast + "/edit")
		page.Click("Preview")
		page.In("region", "Checks of the email").Click("1 link leads nowhere")
		page.Dialog().ExpectText("only an example")
		page.expectAccessible("the bar on a phone")
		press("only an example")
		page.WaitFor(`document.activeElement.closest('[data-path^="sections.days[1]"]') !== null`)
		page.expectNoProblems()
	})
}
