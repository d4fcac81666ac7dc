package app

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/e2etest"
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

// recordMarks keeps what the frame in the preview says of its marks while it is seen. Nothing scrolls slowly any more: it would
// move under the pointer.
func (page appPage) recordMarks() {
	page.T.Helper()
	page.Evaluate(`(() => {
		const scroll = Element.prototype.scrollIntoView;
		Element.prototype.scrollIntoView = function (options) { scroll.call(this, { ...options, behavior: 'instant' }) };
		addEventListener('message', e => { if (e.data.kind === 'report' && e.data.rects && document.querySelector('#preview iframe')?.offsetWidth) window.rects = e.data.rects });
	})()`)
}

// pressInPreview presses the element that begins at a part of a text, or the one of a row that it is repeated in, until an
// expression is true: a mail that is shown again between the press and its end gets no click. The next press would undo
// what the last one is about to do, since it moves the focus into the frame, so that the expression is read before it.
func (page appPage) pressInPreview(text, part string, row int, until string) {
	page.T.Helper()
	point := fmt.Sprintf(`(() => {
		const rect = window.rects?.filter(r => r.mark === %q.indexOf(%q))[%d], frame = document.querySelector('#preview iframe');
		if (!rect || !frame?.offsetWidth || rect.width < 100) return { x: -1, y: -1 };
		frame.scrollIntoView({ block: 'nearest' });
		const box = frame.getBoundingClientRect(), zoom = box.width / parseFloat(getComputedStyle(frame).width);
		return { x: box.x + zoom * (rect.x + 40), y: box.y + zoom * (rect.y + rect.height / 2) };
	})()`, text, part, row)
	e2etest.Eventually(page.T, func() (any, bool) {
		if page.EvaluateString(until) == "true" {
			return nil, true
		}
		var at struct{ X, Y float64 }
		if page.EvaluateInto(point, &at); at.X >= 0 {
			page.Must(page.Point(page.Ctx, at.X, at.Y))
			page.Must(page.Hold(page.Ctx))
			page.Must(page.LetGo(page.Ctx))
		}
		return nil, false
	})
	page.WaitFor(until)
}

// The mail is beside what it is written in, and what is pressed in it is edited, by pointer and by keyboard. A narrow screen
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
		page.recordMarks()
		page.RecordMessages()
		page.Fill("Headline", "Opening hours in spring")
		page.pressInPreview(composedTemplate, "<mj-text>{{item:day}}", 1, focused("sections.days[1].day"))
		page.pressInPreview(composedTemplate, "<mj-text>{{param:headline}}", 0, focused("parameters.headline"))
		page.pressInPreview(composedTemplate, "<mj-text>Best", 0, `window.messages.some(m => m.includes("This part is the same in all emails"))`)
		page.In("region", "Preview").Click("Subject: Hours")
		page.WaitFor(focused("content.subject"))
		page.Click("Go to part")
		page.ChooseMenuItem("Days")
		page.WaitFor(focused("sections.days"))
		page.expectAccessible("the composer of a mail from a template")

		page.Check("Own code")
		page.FillCode(composedCode)
		page.pressInPreview(composedCode, "<mj-button", 0, atLine("<mj-button"))
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
		page.recordMarks()
		page.Click("Preview")
		page.pressInPreview(composedCode, "<mj-button", 0, atLine("<mj-button"))
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
