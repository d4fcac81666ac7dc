package app

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

const composedTemplate = `<mjml><mj-body><mj-section><mj-column>
<mj-text>{{param:headline}}</mj-text>
{{#section days}}<mj-text>{{item:day}}</mj-text>{{/section}}
<mj-text>Best wishes</mj-text>
</mj-column></mj-section></mj-body></mjml>`

const composedCode = `<mjml><mj-body><mj-section><mj-column>
<mj-text>Hello</mj-text>
<mj-button href="https://example.com/">Read more</mj-button>
</mj-column></mj-section></mj-body></mjml>`

// The mail is beside what it is written in, and its parts lead to what made them. A narrow screen
// shows one of both. Once it is scheduled, its page says what is sent.
func TestTheMailLeadsToWhatMadeIt(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		page.call(http.MethodPost, "/templates", map[string]any{
			"name": "Letter", "format": "mjml", "subject": "News", "content_html": "", "content_mjml": composedTemplate,
			"parameters_schema": []any{map[string]any{"name": "headline", "label": "Headline", "type": "text"}},
			"sections_schema":   []any{map[string]any{"name": "days", "label": "Days", "item_schema": []any{map[string]any{"name": "day", "type": "text"}}}},
		})
		broadcast := page.createDraft(map[string]any{"content": map[string]any{"subject": "Hours", "template_slug": "letter", "template_binding": map[string]any{
			"parameters": map[string]any{"headline": "Opening hours"}, "sections": map[string]any{"days": []any{map[string]any{"day": "Monday"}, map[string]any{"day": "Tuesday"}}}}}})
		focused := func(path string) string {
			return fmt.Sprintf(`document.activeElement.closest('[data-path=%q]') !== null`, path)
		}
		atLine := func(text string) string {
			return fmt.Sprintf(`!!$.code()?.getRootNode().activeElement && $.code().querySelector('.cm-activeLine').innerText.includes(%q)`, text)
		}
		page.SetScreen(1440, 900, "light")
		page.open("/broadcasts/" + broadcast + "/edit")
		page.Fill("Headline", "Opening hours in spring")
		page.In("region", "Preview").Click("Subject: Hours")
		page.WaitFor(focused("content.subject"))
		page.Click("Go to part")
		page.ChooseMenuItem("Days")
		page.WaitFor(focused("sections.days"))
		page.expectAccessible("the composer of a mail from a template")

		page.Check("Own code")
		page.FillCode(composedCode)
		page.Click("Go to part")
		page.ChooseMenuItem("Text: Hello")
		page.WaitFor(atLine("<mj-text>Hello"))

		// The preview shows the version that is written.
		page.Click("Compare versions")
		page.fillField("variants[1].content_overrides.subject", "Hours of version B")
		page.In("region", "Preview").ExpectText("Hours of version B")
		page.Click("Send one version to everybody")

		page.SetScreen(390, 844, "dark")
		page.open("/broadcasts/" + broadcast + "/edit")
		page.Click("Preview")
		page.expectAccessible("the preview on a phone")
		page.review()
		page.expectAccessible("the review on a phone")

		page.call(http.MethodPut, "/broadcasts/"+broadcast, map[string]any{"scheduled_at": time.Now().Add(72 * time.Hour).UTC().Format(time.RFC3339), "throttle_per_hour": 500})
		page.call(http.MethodPost, "/broadcasts/"+broadcast+"/schedule", nil)
		for _, width := range []int{390, 1440} {
			page.SetScreen(width, 900, "light")
			page.open("/broadcasts/" + broadcast)
			for _, text := range []string{"25 people in Everyone", "Acme News <news@example.com>", "Hours", "Up to 500 emails an hour"} {
				page.Main().ExpectText(text)
			}
			page.WaitFor(`document.querySelector('iframe[title="The email"]')`)
			page.expectAccessible("a scheduled broadcast")
		}
		page.Click("Send test")
		page.Dialog().ExpectText("1 address")
		page.Click("Close")
		page.expectNoProblems()
	})
}
