package browser

import (
	"fmt"
	"strconv"
)

// Scope is a part of a page: elements that need not be there yet.
type Scope struct {
	page     *Page
	elements string // JavaScript for an array of elements
}

// All is the whole page.
func (p *Page) All() Scope { return Scope{p, `[document.body]`} }

// Main is the main part of the page, without its navigation, dialogs and messages.
func (p *Page) Main() Scope { return Scope{p, `[...document.querySelectorAll('main')]`} }

// Dialog is the dialog or drawer in front.
func (p *Page) Dialog() Scope { return Scope{p, `$.dialog()`} }

// Messages is the part of the page that says what has happened.
func (p *Page) Messages() Scope {
	return Scope{p, `[...document.querySelectorAll('[aria-label=Messages]')]`}
}

// In is the part of the page with a role, of those in elements.js, whose name or heading begins with a text. A row is one
// that has the text.
func (p *Page) In(role, name string) Scope { return p.All().In(role, name) }

// Row is a row of a table with a text.
func (p *Page) Row(text string) Scope { return p.In("row", text) }

// In is the part of s with a role and a name.
func (s Scope) In(role, name string) Scope {
	return Scope{s.page, fmt.Sprintf(`$.parts(%s, %q, %s)`, s.elements, role, strconv.Quote(name))}
}

// ExpectText waits until the part shows a text.
func (s Scope) ExpectText(text string) {
	s.page.T.Helper()
	s.page.WaitFor(fmt.Sprintf(`%s.some(e => $.text(e).includes(%q))`, s.elements, text))
}

// ExpectNoText waits until the part does not show a text.
func (s Scope) ExpectNoText(text string) {
	s.page.T.Helper()
	s.page.WaitFor(fmt.Sprintf(`!%s.some(e => $.text(e).includes(%q))`, s.elements, text))
}

// Text returns the text that the part shows.
func (s Scope) Text() string {
	s.page.T.Helper()
	return s.page.EvaluateString(s.elements + `.map($.text).join(' ')`)
}

// Click presses the button or link with a text, when that is possible.
func (s Scope) Click(text string) {
	s.page.T.Helper()
	s.page.ClickElement(fmt.Sprintf(`$.button(%s, %q)`, s.elements, text))
}

// Check presses the checkbox or radio button with a label.
func (s Scope) Check(label string) {
	s.page.T.Helper()
	s.page.ClickElement(fmt.Sprintf(`$.label(%s, %q)`, s.elements, label))
}

// Fill replaces the text of the field whose label begins with a text.
func (s Scope) Fill(label, text string) {
	s.page.T.Helper()
	s.page.FillElement(fmt.Sprintf(`$.field(%s, %q)`, s.elements, label), text)
}

// Click presses the first button or link of the page with a text, when that is possible.
func (p *Page) Click(text string) { p.T.Helper(); p.All().Click(text) }

// Check presses the checkbox or radio button of the page with a label.
func (p *Page) Check(label string) { p.T.Helper(); p.All().Check(label) }

// Fill replaces the text of the first field of the page whose label begins with a text.
func (p *Page) Fill(label, text string) { p.T.Helper(); p.All().Fill(label, text) }

// FillDate types the parts of the date or time whose label begins with a text, in the order of the page; an empty part
// is deleted.
func (p *Page) FillDate(label string, parts ...string) {
	p.T.Helper()
	for i, part := range parts {
		find := fmt.Sprintf(`[...[...document.querySelectorAll('[role=group]')].find(g => document.getElementById(g.getAttribute('aria-labelledby')?.split(' ')[0])?.textContent.startsWith(%q))?.querySelectorAll('[role=spinbutton]') ?? []][%d]`, label, i)
		p.WaitFor(find)
		p.Evaluate(find + `.focus()`)
		if part == "" {
			for range 4 {
				p.Press("Delete")
			}
		}
		for _, digit := range part {
			p.Type(string(digit))
		}
	}
}

// SelectOption types into the combo box with a label, and chooses the first match. A list that loads, or has no match, is
// an option with a text of its own.
func (p *Page) SelectOption(label, text string) {
	p.T.Helper()
	p.Fill(label, text)
	p.WaitFor(fmt.Sprintf(`document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.textContent.includes(%q)`, text))
	p.Press("Enter")
}

// FillCode replaces the text of the code editor.
func (p *Page) FillCode(text string) {
	p.T.Helper()
	p.ShowCode()
	p.Evaluate(`$.code().focus()`)
	p.Press("Control+a")
	p.Type(text)
}

// ShowCode waits for the code editor, and shows it where a design has its place.
func (p *Page) ShowCode() {
	p.T.Helper()
	p.WaitFor(`$.code()?.checkVisibility() || $.pressed('Code') === 'false'`)
	p.Evaluate(`$.pressed('Code') === 'false' && $.button([document.body], 'Code').click()`)
	p.WaitFor(`$.code()?.checkVisibility()`)
}

// ClickElement presses the element that an expression finds, once it is there.
func (p *Page) ClickElement(expression string) {
	p.T.Helper()
	p.WaitFor(expression)
	p.Evaluate(expression + `.click()`)
}

// FillElement replaces the text of the field that an expression finds, once it is there and has the focus: a page may
// replace a field that gets the focus. The frame in which the page scrolls to the field has to pass, as it does for people
// before they type: choices that are open when a page scrolls are closed.
func (p *Page) FillElement(expression, text string) {
	p.T.Helper()
	p.WaitFor(expression)
	p.Evaluate(expression + `.focus()`)
	p.WaitFor(expression + ` === document.activeElement`)
	p.Evaluate(`(document.activeElement.select?.(), new Promise(done => { requestAnimationFrame(() => setTimeout(done)); setTimeout(done, 1000) }))`)
	p.Type(text)
}

// DisabledReason returns the reason that the page gives for a button that cannot be pressed.
func (p *Page) DisabledReason(button string) string {
	p.T.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll('button[aria-disabled=true]')].find(b => b.textContent.trim() === %q)`, button)
	p.WaitFor(find)
	return p.EvaluateString(`document.getElementById(` + find + `.getAttribute('aria-describedby')).textContent`)
}

// SetInputFile gives a file to the page, as its file dialog does. The content is an expression of JavaScript.
func (p *Page) SetInputFile(name, content string) {
	p.T.Helper()
	p.WaitFor(`document.querySelector('input[type=file]')`)
	p.Evaluate(fmt.Sprintf(`$.setFile(%q, %s)`, name, content))
}

// RecordMessages collects the messages of the page from now on.
func (p *Page) RecordMessages() {
	p.T.Helper()
	p.WaitFor(`document.querySelector('[aria-label=Messages]')`)
	p.Evaluate(`$.recordMessages()`)
}

// ExpectMessage waits until a message of the page says a text, even if it is gone again; RecordMessages has to be called
// before.
func (p *Page) ExpectMessage(text string) {
	p.T.Helper()
	p.WaitFor(fmt.Sprintf(`window.messages.some(m => m.includes(%q))`, text))
}
