package app

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// designed is a template as people write it by hand.
const designed = `<mjml>
	<mj-body>
		<mj-section>
			<mj-column>
				<mj-text   color='#111111'>Hello {{ contact.first_name | default: "a>b" }}</mj-text>
				<mj-raw>{% if contact.country == "DE" %}</mj-raw>
				<mj-text>Guten Tag</mj-text>
				<mj-raw>{% endif %}</mj-raw>
			</mj-column>
		</mj-section>
	</mj-body>
</mjml>
`

// A template is opened in the design, by keys: a button is added, gets a text over the picture and a colour, is moved, and
// the move is undone; then the same is done by mouse. The code shows the same text, and once it is saved only the bytes of
// the button differ.
func TestATemplateIsDesignedByKeysAndByMouseAndKeepsItsCode(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		made, err := page.account.Owner.Must(page.Ctx, http.MethodPost, "/templates", map[string]any{
			"name": "Shop news", "format": "mjml", "content_html": "", "content_mjml": designed, "subject": "News",
		})
		if err != nil {
			t.Fatal(err)
		}
		id := made["id"].(string)
		page.open("/templates/" + id)
		code := `[...document.querySelectorAll('main div')].find(e => e.shadowRoot)?.shadowRoot.querySelector('.cm-content')`
		page.WaitFor(code)
		page.PressEnterOn("Design")
		const row = selectedRow
		page.TabTo("Email")
		page.Press("ArrowDown", "ArrowDown", "ArrowDown")
		page.WaitFor(row + `?.textContent.startsWith('Text Hello')`)
		page.WaitFor(`document.querySelector('[data-selection]')?.getBoundingClientRect().height > 0`)

		page.Press("/")
		page.WaitFor(`document.activeElement.placeholder === 'Find what to add'`)
		page.Type("button")
		page.Press("Enter")
		page.WaitFor(row + `?.textContent === 'Button Button' && document.activeElement === ` + row)
		page.WaitFor(`document.querySelector('[data-selection]')`) // the picture has it
		page.Press("Enter")
		page.WaitFor(textInPlace)
		page.Press("Control+a")
		page.Type("Read <more>")
		page.expectAccessible("a text over the picture")
		page.Press("Escape")
		page.WaitFor(`document.activeElement === ` + row)
		page.fillField("background-color", "#336699")
		page.WaitFor(row + `?.textContent === 'Button Read <more>'`)
		page.TabTo("Button Read", "Shift+Tab")
		page.Press("Alt+ArrowUp")
		page.WaitFor(`document.querySelector('[data-row="3"]').textContent.startsWith('Button')`)
		page.WaitFor(`document.activeElement === ` + row)
		page.Press("Control+z")
		page.WaitFor(`document.querySelector('[data-row="4"]').textContent.startsWith('Button')`)
		page.WaitFor(row + `?.textContent === 'Button Read <more>' && document.querySelectorAll('[data-selection]').length === 1`)
		page.expectAccessible("a design")
		page.designByMouse()

		page.PressEnterOn("Code", "Shift+Tab")
		button := `<mj-button href="{{ account.website_url }}" background-color="#336699">Read &lt;more&gt;</mj-button>`
		page.WaitFor(code + fmt.Sprintf(`.textContent.includes(%q)`, button))
		page.Press("Control+s")
		page.Dialog().Click("Save")
		page.expectNoDialog()
		first, rest, _ := strings.Cut(designed, "\n\t\t\t\t<mj-raw>")
		want := first + "\n\t\t\t\t" + button + "\n\t\t\t\t<mj-raw>" + rest
		if got := page.get("/templates/" + id)["content_mjml"]; got != want {
			t.Errorf("the template is\n%s\nwant\n%s", got, want)
		}
		page.expectNoProblems()
	})
}

const (
	selectedRow = `document.querySelector('[role=treeitem][aria-selected=true]')`
	textInPlace = `document.activeElement.closest('[data-in-place]') && document.activeElement.dataset.path === 'text'`
)

// designByMouse presses the button in the picture, writes its text there, drags something new before the text above it,
// and the button as well; and undoes each.
func (page appPage) designByMouse() {
	page.T.Helper()
	startsAt := func(row int, text string) {
		page.T.Helper()
		page.WaitFor(fmt.Sprintf(`document.querySelector('[data-row="%d"]')?.textContent.startsWith(%q)`, row, text))
	}
	// The place of the selection, where it is in view.
	selection := func(row int) []float64 {
		page.T.Helper()
		page.Evaluate(fmt.Sprintf(`document.querySelector('[data-row="%d"]').click()`, row))
		page.WaitFor(fmt.Sprintf(`%s.dataset.row === '%d' && document.querySelector('[data-selection]')`, selectedRow, row))
		return page.box(`document.querySelector('[data-selection]')`)
	}
	// A mail that is shown again between a press and its end gets no click.
	press := func(at []float64, until string) {
		page.T.Helper()
		e2etest.Eventually(page.T, func() (any, bool) {
			if page.EvaluateString(until) == "true" {
				return nil, true
			}
			page.Must(page.Point(page.Ctx, at[0]+at[2]/2, at[1]+at[3]/2))
			page.Must(page.Hold(page.Ctx))
			page.Must(page.LetGo(page.Ctx))
			return nil, false
		})
		page.WaitFor(until)
	}
	drag := func(handle string, to []float64) {
		page.T.Helper()
		from := page.box(handle)
		x, y := from[0]+from[2]/2, from[1]+from[3]/2
		page.Must(page.Point(page.Ctx, x, y))
		page.Must(page.Hold(page.Ctx))
		page.Must(page.Point(page.Ctx, (x+to[0])/2, (y+to[1])/2))
		// A hand moves more than once. A movement before the browser knows of the capture goes to the mail's frame.
		n := 0
		e2etest.Eventually(page.T, func() (any, bool) {
			n++
			page.Must(page.Point(page.Ctx, to[0]+to[2]/2+float64(n%2), to[1]+3))
			return nil, page.EvaluateString(`document.querySelector('[data-chosen]') !== null`) == "true"
		})
		page.Must(page.LetGo(page.Ctx))
	}
	button := selection(4)
	text := selection(3)
	press(button, selectedRow+`.textContent === 'Button Read <more>'`)
	press(button, textInPlace)
	page.Press("End")
	page.Type("!")
	page.WaitFor(selectedRow + `.textContent === 'Button Read <more>!'`)
	page.Press("Control+z")
	page.WaitFor(selectedRow + `.textContent === 'Button Read <more>' && ` + textInPlace + ` && document.activeElement.textContent === 'Read <more>'`)
	page.Press("Escape")
	page.WaitFor(`document.activeElement === ` + selectedRow)

	start := []float64{text[0], text[1], 100, text[3]} // the tools of the button are beside it
	press(start, selectedRow+`.textContent.startsWith('Text Hello')`)
	press(start, textInPlace)
	page.Press("End")
	page.Type("!")
	page.WaitFor(selectedRow + `.textContent.endsWith('!')`)
	page.Press("Control+z")
	page.WaitFor(`!` + selectedRow + `.textContent.endsWith('!')`)
	page.Press("Escape")
	page.WaitFor(`document.activeElement === ` + selectedRow)

	drag(`[...document.querySelectorAll('section[aria-label=Add] li button')].find(b => b.textContent === 'Divider')`, text)
	startsAt(3, "Divider")
	page.WaitFor(`document.activeElement === ` + selectedRow)
	page.Press("Control+z")
	startsAt(3, "Text")
	selection(4)
	drag(`document.querySelector('[role=toolbar] [title="Drag to move"]')`, text)
	startsAt(3, "Button")
	page.WaitFor(`document.activeElement === ` + selectedRow)
	page.Press("Control+z")
	startsAt(4, "Button")
}

// box returns the left, the top, the width and the height of an element, where it is in view.
func (page appPage) box(element string) (box []float64) {
	page.T.Helper()
	page.EvaluateInto(`(element => {
		element.scrollIntoView({ block: 'nearest' });
		const { x, y, width, height } = element.getBoundingClientRect();
		return [x, y, width, height];
	})(`+element+`)`, &box)
	return box
}
