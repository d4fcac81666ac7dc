package app

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// A new entry of the library begins with a mail chosen by its picture: a starter, a template that asks for values, which
// is chosen in an entry without content, and an empty one.
func TestAnEntryBeginsWithAMailChosenByItsPicture(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		page.SetScreen(1440, 900, "light")
		page.call(http.MethodPost, "/messages", map[string]any{"name": "Earlier"})
		entry := func(name, mail string) map[string]any {
			page.open("/library")
			page.Click("New entry")
			page.WaitFor(`document.querySelector('[role=dialog] input[type=radio]:checked')`)
			page.expectAccessible("a new entry")
			page.Fill("Name", name)
			label := fmt.Sprintf(`[...document.querySelectorAll('[role=dialog] label')].find(l => l.querySelector('b')?.textContent === %q)`, mail)
			page.ClickElement(label)
			page.WaitFor(label + `.querySelector('input').checked`)
			page.Dialog().Click("Create and write")
			page.expectURL(`/library/[0-9a-f-]+$`)
			page.Main().ExpectText(name + ", version ")
			return page.call(http.MethodGet, "/messages/"+page.EvaluateString(`location.pathname.split('/').at(-1)`), nil)
		}
		offer := entry("Our offer", "Offer")
		if content, _ := offer["current_content"].(map[string]any); offer["name"] != "Our offer" || content["template_slug"] != "offer" {
			t.Errorf("of the starter was made %v", offer)
		}
		if version := entry("A blank one", "An empty email")["current_version"]; version != 0.0 {
			t.Errorf("an empty mail without a subject has the version %v", version)
		}
		page.Main().ExpectText("Design")
		page.expectNoProblems()

		page.call(http.MethodPost, "/templates", map[string]any{
			"name": "Asks", "format": "html", "subject": "News", "content_html": `<p>{{param:inside}}</p>`,
			"parameters_schema": []any{map[string]any{"name": "inside", "label": "Inside", "type": "text", "required": true}},
		})
		if version := entry("To be filled", "Asks")["current_version"]; version != 0.0 {
			t.Errorf("a mail without its values has the version %v", version)
		}
		page.Main().ExpectText("Inside must be filled in.")
	})
}
