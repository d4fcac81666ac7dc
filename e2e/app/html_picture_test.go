package app

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// pressed is HTML as people write it by hand.
const pressed = `<!DOCTYPE html>
<html><head><title><p>News</p></title><style>h1 { color: #0b5394; font-family: Georgia, serif }</style></head>
<body style="margin: 0; background: #eef2f6">
<table width="100%" cellpadding="20"><tr><td>
	<h1   class='top'>Hello {{ contact.first_name | default: "a>b" }} &amp; welcome</h1>
	{% for day in (1..2) %}<p style="color:#333">Day {{ day }}</p>{% endfor %}
	<p>Our <b>news</b> of&nbsp;May</p>
	<a HREF = 'https://example.com/?a=1&amp;b=2'  style="display: block; padding: 12px; background: #0b5394; color: #fff">Read more</a>
	<img src=https://example.com/dog.png width=300 height=80>
</td></tr></table>
</body></html>
`

// The texts, links and images of HTML are edited in the picture of the mail, by pointer and by keys; only their bytes change,
// and each change is undone in the code. Nobody who may not change the mail changes it there.
func TestHTMLIsEditedInItsPicture(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		broadcast := page.createDraft(map[string]any{"content": map[string]any{"subject": "Hours", "body_html": pressed}})
		path := "/broadcasts/" + broadcast
		want := pressed
		replace := func(old, text string) {
			t.Helper()
			if strings.Count(want, old) != 1 {
				t.Fatalf("%q is %d times in %s", old, strings.Count(want, old), want)
			}
			want = strings.Replace(want, old, text, 1)
		}
		code := func() {
			t.Helper()
			page.WaitFor(shownCode + fmt.Sprintf(` === %q`, want))
		}
		page.SetScreen(1440, 900, "light")
		page.open(path + "/edit")
		page.recordMarks()
		page.WaitFor(`$.code()`)
		code()

		page.pressInPreview(want, "<h1", 0, textInPlace)
		page.Press("Control+End")
		page.Type("!")
		replace("&amp; welcome", "&amp; welcome!")
		code()
		page.expectAccessible("a text over the picture")
		page.Press("Control+z")
		replace("welcome!", "welcome")
		code()
		page.Press("Control+y")
		replace("welcome", "welcome!")
		code()
		page.Press("Escape")
		page.WaitFor(`document.activeElement.matches('[data-selection]')`)

		page.pressInPreview(want, "<a HREF", 0, `document.activeElement?.dataset.path === 'href'`)
		page.fillField("href", "javascript:x")
		page.Dialog().Click("Apply")
		page.Dialog().ExpectText("Links start with")
		page.fillField("href", "example.com/?a=1&b='3'")
		page.expectAccessible("the address of a link")
		page.Dialog().Click("Apply")
		page.expectNoDialog()
		replace("https://example.com/?a=1&amp;b=2", "https://example.com/?a=1&b=&#39;3&#39;")
		code()

		page.Click("Go to part")
		page.ChooseMenuItem("Image")
		page.WaitFor(`document.activeElement?.dataset.path === 'src'`)
		page.fillField("alt", `A "dog"`)
		page.Dialog().Click("Apply")
		page.expectNoDialog()
		replace("height=80", `height=80 alt="A &quot;dog&quot;"`)
		code()
		page.Click("Go to part")
		page.ChooseMenuItem("Text: Our news of May")
		page.WaitFor(textInPlace)
		page.Press("Control+End")
		page.Type(" & June")
		page.Press("Escape")
		replace("of&nbsp;May", "of&nbsp;May &amp; June")
		code()

		page.SetScreen(390, 844, "dark")
		page.open(path + "/edit")
		page.recordMarks()
		page.Click("Preview")
		page.pressInPreview(want, "<p style", 1, `!!document.querySelector('[role=dialog] [data-path=text]')`)
		page.Press("Control+Home")
		page.Type("The ")
		page.expectAccessible("a text on a phone")
		page.Dialog().Click("Done")
		page.expectNoDialog()
		replace(">Day {{", ">The Day {{")
		page.Click("Write")
		code()

		e2etest.Eventually(t, func() (any, bool) {
			got := page.getBroadcast(broadcast)["content"].(map[string]any)["body_html"]
			return got, got == want
		})
		if got := page.getBroadcast(broadcast)["content"].(map[string]any)["body_html"]; got != want {
			t.Errorf("the mail is\n%s\nwant\n%s", got, want)
		}
		page.editHTMLTemplateInItsPicture()
		page.editEntryInItsPicture()
		page.editLinkOfImage()
		page.pressAsViewer(path+"/edit", want)
		page.expectNoProblems()

		// Somebody else saves while a text is edited.
		page.open(path + "/edit")
		page.recordMarks()
		page.WaitFor(`$.code()`)
		page.pressInPreview(want, "<h1", 0, textInPlace)
		page.Evaluate(`$.holdWrites()`)
		page.Press("Control+Home")
		page.Type("Oh: ")
		page.WaitFor(`window.held.length > 0`)
		e2etest.Must(t, page.account.Key, http.MethodPut, path, map[string]any{"name": "Renamed"})
		page.Evaluate(`window.release()`)
		page.Main().ExpectText("Both changes are kept.")
		page.WaitFor(textInPlace)
		page.Type("well, ")
		replace(">Hello", ">Oh: well, Hello")
		code()
	})
}

// shownCode is the text that the code editor shows.
const shownCode = `[...$.code().querySelectorAll('.cm-line')].map(line => line.innerText.replace(/\n$/, '')).join('\n')`

// editHTMLTemplateInItsPicture changes a text of a template, by keys alone, and saves it.
func (page appPage) editHTMLTemplateInItsPicture() {
	page.T.Helper()
	page.SetScreen(1440, 900, "light")
	made := page.call(http.MethodPost, "/templates", map[string]any{"name": "By hand", "format": "html", "content_html": pressed, "subject": "News"})
	path := "/templates/" + made["id"].(string)
	page.open(path)
	page.WaitFor(`$.code()`)
	page.PressEnterOn("Go to part")
	page.WaitFor(`document.activeElement.matches('[role=menuitem]')`)
	page.Press("ArrowDown", "ArrowDown", "ArrowDown")
	page.WaitFor(`document.activeElement.textContent.startsWith('Link: Read more')`)
	page.Press("Enter")
	page.WaitFor(`document.activeElement?.dataset.path === 'href'`)
	page.PressEnterOn("Edit text")
	page.WaitFor(textInPlace)
	page.Press("Control+End")
	page.Type(" & more")
	page.Press("Escape")
	page.WaitFor(`document.activeElement.matches('[data-selection]')`)
	want := strings.Replace(pressed, "Read more", "Read more &amp; more", 1)
	page.WaitFor(shownCode + fmt.Sprintf(` === %q`, want))
	page.Press("Control+s")
	page.Dialog().Click("Save")
	page.expectNoDialog()
	if got := page.get(path)["content_html"]; got != want {
		page.T.Errorf("the template is\n%s\nwant\n%s", got, want)
	}
}

// editEntryInItsPicture changes a text of a library entry, and saves it as a version.
func (page appPage) editEntryInItsPicture() {
	page.T.Helper()
	made := page.call(http.MethodPost, "/messages", map[string]any{"name": "By hand", "content": map[string]any{"subject": "Hi", "body_html": pressed}})
	path := "/messages/" + made["id"].(string)
	page.open("/library/" + made["id"].(string) + "?edit=1")
	page.WaitFor(`$.code()`)
	page.Click("Go to part")
	page.ChooseMenuItem("Text: Our news of May")
	page.WaitFor(textInPlace)
	page.Press("Control+Home")
	page.Type("All ")
	page.Press("Escape")
	want := strings.Replace(pressed, "<p>Our", "<p>All Our", 1)
	page.WaitFor(shownCode + fmt.Sprintf(` === %q`, want))
	page.Press("Control+s")
	page.Dialog().Click("Save")
	page.expectNoDialog()
	if got := page.get(path)["current_content"].(map[string]any)["body_html"]; got != want {
		page.T.Errorf("the entry is\n%s\nwant\n%s", got, want)
	}
}

// editLinkOfImage goes on from an image to the link around it: what was typed of the image is applied, and not written into the link.
func (page appPage) editLinkOfImage() {
	page.T.Helper()
	broadcast := page.createDraft(map[string]any{"content": map[string]any{"subject": "Dogs", "body_html": `<p><a href="https://example.com/cats"><img src="https://example.com/cat.png" alt=""></a></p>`}})
	page.open("/broadcasts/" + broadcast + "/edit")
	page.WaitFor(`$.code()`)
	page.Click("Go to part")
	page.ChooseMenuItem("Image")
	page.WaitFor(`document.activeElement?.dataset.path === 'src'`)
	page.fillField("src", "javascript:x")
	page.Dialog().Click("Edit its link")
	page.Dialog().ExpectText("Images start with")
	page.fillField("src", "https://example.com/dog.png")
	page.Dialog().Click("Edit its link")
	page.WaitFor(`document.activeElement?.dataset.path === 'href' && document.activeElement.value === 'https://example.com/cats'`)
	page.fillField("href", "https://example.com/dogs")
	page.Dialog().Click("Apply")
	page.expectNoDialog()
	const want = `<p><a href="https://example.com/dogs"><img src="https://example.com/dog.png" alt=""></a></p>`
	page.WaitFor(shownCode + fmt.Sprintf(` === %q`, want))
}

// pressAsViewer presses a text as somebody who may not change the mail: it leads to the code.
func (page appPage) pressAsViewer(route, html string) {
	page.T.Helper()
	invited := page.call(http.MethodPost, "/users/invite", map[string]any{"email": "vera@example.org", "role": "viewer"})
	vera := appPage{page.NewContext(""), page.program, page.account}
	vera.SetScreen(1440, 900, "light")
	vera.Goto(invited["accept_url"].(string))
	vera.Fill("Your name", "Vera")
	vera.Fill("Password", harness.Password)
	vera.Click("Accept")
	vera.expectURL("^/app/" + harness.Tenant + "$")
	vera.open(route)
	vera.recordMarks()
	vera.pressInPreview(html, "<h1", 0, `!!$.code()?.getRootNode().activeElement && $.code().querySelector('.cm-activeLine').innerText.includes('<h1')`)
	if vera.EvaluateString(`document.querySelector('[data-in-place], [role=dialog]') === null`) != "true" {
		page.T.Error("somebody who may not change the mail can edit its text")
	}
	vera.expectNoProblems()
}
