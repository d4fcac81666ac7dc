package app

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
)

// Formatted text is written in the form of a template: what is typed, linked, listed, pasted and undone is saved as
// markup, and the paragraphs that are not edited stay as they are, byte for byte.
func TestFormattedTextIsWrittenInTheApplication(t *testing.T) {
	t.Parallel()
	page := openApp(t, "")
	template, err := page.account.Owner.Must(page.Ctx, http.MethodPost, "/templates", map[string]any{
		"name": "Letter", "format": "html", "content_html": "<html><body>{{param:intro}}</body></html>", "subject": "News",
		"parameters_schema": []any{map[string]any{"name": "intro", "type": "rich_text", "label": "Intro", "validation": map[string]any{"max_length": 100_000}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	const (
		greeting = `<p>Hello  {{ contact.first_name | default: "there" }}!</p>`
		rest     = "\n<!-- kept -->\n<p CLASS='note'>A &amp; B &copy; 2026</p >"
	)
	draft := page.createDraft(map[string]any{"name": "May", "content": map[string]any{
		"subject": "May", "template_slug": template["slug"], "template_binding": map[string]any{"parameters": map[string]any{"intro": greeting + rest}},
	}})
	page.open("/broadcasts/" + draft + "/edit")
	const area = `document.querySelector('[role=textbox][data-path="parameters.intro"]')`
	saves := func(want string) {
		t.Helper()
		saved := func() (string, bool) {
			content, _ := page.getBroadcast(draft)["content"].(map[string]any)
			binding, _ := content["template_binding"].(map[string]any)
			parameters, _ := binding["parameters"].(map[string]any)
			v, _ := parameters["intro"].(string)
			return v, v == want
		}
		if got := e2etest.Eventually(t, saved); got != want {
			t.Errorf("saved %s\nwant  %s", got, want)
		}
	}
	// Puts the cursor at the end of the block that has a text, or selects a word in it.
	selects := func(text, word string) {
		t.Helper()
		page.WaitFor(area)
		page.Evaluate(fmt.Sprintf(`((text, word) => {
			%s.focus();
			const walker = document.createTreeWalker(%s, NodeFilter.SHOW_TEXT);
			for (let node = walker.nextNode(); node; node = walker.nextNode()) {
				const at = node.data.indexOf(word || text);
				if (at < 0) continue;
				getSelection().setBaseAndExtent(node, word ? at : at + text.length, node, at + (word || text).length);
				return;
			}
			throw new Error("no " + text);
		})(%q, %q)`, area, area, text, word))
	}
	pastes := func(kind, text string) {
		t.Helper()
		page.Evaluate(fmt.Sprintf(`((kind, text) => {
			const clipboardData = new DataTransfer();
			clipboardData.setData(kind, text);
			%s.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
		})(%q, %q)`, area, kind, text))
	}

	page.WaitFor(area + `.querySelector('[data-chip]').textContent === 'First name there'`)
	selects("!", "")
	page.Type(" We have ")
	page.Press("Control+b")
	page.Type("news")
	page.Press("Control+b")
	page.Type(" for {{ contact.company }}.")
	page.WaitFor(area + `.querySelectorAll('[data-chip=liquid]').length === 2`)
	edited := strings.TrimSuffix(greeting, "</p>") + " We have <strong>news</strong> for {{ contact.company }}."
	saves(edited + "</p>" + rest)

	selects("", "news")
	page.Press("Control+k")
	page.WaitFor(`document.activeElement.placeholder === 'https://'`)
	page.Type("javascript:alert(1)")
	page.Press("Enter")
	page.Dialog().ExpectText("Links start with https://")
	page.Press("Control+a")
	page.Type("example.org/?for=")
	page.ClickElement(`document.querySelector('[aria-label="Insert merge field into Address"]')`)
	page.WaitFor(`document.activeElement.type === 'search'`)
	page.Type("external")
	page.ClickElement(`[...document.querySelectorAll('[role=dialog] li button')].find(b => b.textContent.includes('contact.external_id'))`)
	page.WaitFor(`document.querySelectorAll('[role=dialog]').length === 1`)
	page.Dialog().Click("Set link")
	page.WaitFor(`document.activeElement === ` + area)
	edited = strings.Replace(edited, "<strong>news</strong>", `<a href="https://example.org/?for={{ contact.external_id }}"><strong>news</strong></a>`, 1)
	saves(edited + "</p>" + rest)
	page.expectAccessible("formatted text")

	selects(".", "")
	page.Press("Enter")
	page.Press("Shift+Tab") // to the tools, of which one is in the order of Tab
	page.WaitFor(`document.activeElement.closest('[role=toolbar]')`)
	page.Press("Home", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight")
	page.WaitFor(`document.activeElement.title === 'Bulleted list'`)
	page.Press("Enter")
	page.WaitFor(`document.activeElement === ` + area + ` && document.querySelector('[title="Bulleted list"]').ariaPressed === 'true'`)
	page.Type("Tea")
	page.Press("Enter")
	page.Press("Tab")
	page.Type("Green")
	list := edited + "</p><ul><li>Tea<ul><li>Green</li></ul></li></ul>" + rest
	saves(list)
	page.Press("Shift+Tab")
	saves(strings.Replace(list, "Tea<ul><li>Green</li></ul></li>", "Tea</li><li>Green</li>", 1))
	page.Press("Control+z")
	saves(list)

	page.Press("End")
	pastes("text/html", `<meta charset=utf-8><span style="color:red"> and <b>black</b></span><!--x-->`)
	saves(strings.Replace(list, "Green", "Green and <strong>black</strong>", 1))
	page.Press("Control+z")
	saves(list)

	page.Click("Source")
	page.WaitFor(`$.code()?.textContent.includes('<!-- kept -->')`)
	page.FillCode("<p>Short</p>")
	page.Click("Source")
	page.WaitFor(area + `?.textContent === 'Short'`)
	saves("<p>Short</p>")
	page.expectNoProblems()
}
