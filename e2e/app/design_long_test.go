package app

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// longMail returns MJML of a size in bytes as a hand leaves it: lines of Windows, tabs and blanks, comments, Liquid between
// and in elements, attributes in any order and quotes. The text with the word "needle" stands in its middle.
func longMail(size int) string {
	var b strings.Builder
	b.WriteString("<mjml>\n\t<mj-head>\n\t\t<mj-attributes>\n\t\t\t<mj-all   font-family='Arial, sans-serif'/>\n\t\t</mj-attributes>\n\t</mj-head>\n\t<mj-body width=\"600px\" >\n")
	needle := false
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "\t\t<!-- part %d -- written by hand -->\n\n", i)
		fmt.Fprintf(&b, "\t\t<mj-section   padding='0 8px'\tbackground-color=\"#ffffff\">\n\t\t  <mj-column>\n")
		word := "hay"
		if !needle && b.Len() > size/2 {
			word, needle = "needle", true
		}
		fmt.Fprintf(&b, "\t\t\t<mj-text\n\t\t\t\tcolor='#222222'   padding=\"4px\">\n\t\t\t\t<p>Part %d has a %s in it, {{ contact.first_name | default: \"a>b\" }}  &amp; more</p>\n", i, word)
		for n := range 90 {
			fmt.Fprintf(&b, "\t\t\t\t<p style=\"margin:0;\">Line %d of  what somebody wrote for those who read mails to their end, with <b>bold</b> words.</p>\t\n", n)
		}
		b.WriteString("\t\t\t</mj-text>\n\t\t\t<mj-raw>{% if contact.country == \"DE\" %}</mj-raw>\n\t\t\t<mj-text>Guten Tag,  {{contact.first_name}}</mj-text>\n\t\t\t<mj-raw>{%else%}</mj-raw>\n\t\t\t<mj-button href='https://example.org/?a=1&b=2'>Good day</mj-button>\n\t\t\t<mj-raw>{% endif %}</mj-raw>\n")
		b.WriteString("\t\t  </mj-column >\n\t\t</mj-section>\n\n")
	}
	b.WriteString("\t</mj-body>\n</mjml>\n")
	return strings.ReplaceAll(b.String(), "\n", "\r\n")
}

// A document of 300 KB, written by hand, is opened in the design: one word is changed over the picture, and one among the
// settings. Nothing else differs.
func TestALongDocumentWrittenByHandKeepsAllButTheWordThatIsChanged(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		mail := longMail(300_000)
		made, err := page.account.Owner.Must(page.Ctx, http.MethodPost, "/templates", map[string]any{
			"name": "Long news", "format": "mjml", "content_html": "", "content_mjml": mail, "subject": "News",
		})
		if err != nil {
			t.Fatal(err)
		}
		id := made["id"].(string)
		if got := page.get("/templates/" + id)["content_mjml"]; got != mail {
			t.Fatal("the server does not keep the text")
		}
		page.open("/templates/" + id + "?mjml=design")
		page.WaitFor(`document.querySelector('iframe')?.getBoundingClientRect().height > 2000`)
		page.Evaluate(`[...document.querySelectorAll('[role=treeitem]')].find(row => row.textContent.includes('needle')).click()`)
		page.WaitFor(`document.querySelector('[data-selection]')?.getBoundingClientRect().height > 0`)
		page.Evaluate(selectedRow + `.focus()`)
		page.Press("Enter")
		page.WaitFor(textInPlace)
		page.WaitFor(`(box => box.top < innerHeight && box.bottom > 0)(document.activeElement.getBoundingClientRect())`)
		page.Evaluate(`(() => {
			const texts = document.createTreeWalker(document.activeElement, NodeFilter.SHOW_TEXT);
			while (texts.nextNode()) {
				const at = texts.currentNode.data.indexOf('needle');
				if (at >= 0) return getSelection().setBaseAndExtent(texts.currentNode, at, texts.currentNode, at + 'needle'.length);
			}
		})()`)
		busy := page.busy()
		for _, letter := range "a pin" {
			page.Type(string(letter))
		}
		page.WaitFor(selectedRow + `.textContent.includes('a pin')`)
		t.Logf("the page worked %v for each key over the picture", (page.busy()-busy)/5)
		page.Press("Escape")
		page.WaitFor(`document.activeElement === ` + selectedRow)
		busy = page.busy()
		page.fillField("color", "#333333")
		page.WaitFor(`document.querySelector('main').innerText.includes('Not saved')`)
		t.Logf("and %v for an attribute", page.busy()-busy)
		page.Press("Control+s")
		page.Dialog().Click("Save")
		page.expectNoDialog()

		before, after, _ := strings.Cut(mail, "needle")
		at := strings.LastIndex(before, "#222222")
		want := before[:at] + "#333333" + before[at+len("#333333"):] + "a pin" + after
		if got := page.get("/templates/" + id)["content_mjml"].(string); got != want {
			t.Errorf("the template is another%s", difference(got, want))
		}
		page.expectNoProblems()
	})
}

// busy returns how long the page has been working since it was opened.
func (page appPage) busy() time.Duration {
	page.T.Helper()
	busy, err := page.Busy(page.Ctx)
	page.Must(err)
	return busy
}

// difference shows where two texts begin to differ.
func difference(got, want string) string {
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	end := func(s string) string { return s[at:min(len(s), at+200)] }
	return fmt.Sprintf(" from byte %d on (%d bytes, want %d): %q, want %q", at, len(got), len(want), end(got), end(want))
}
