package browser

import (
	"fmt"
	"strings"
)

// TabTo presses Tab, or keys that lead back, until the focus is on the control whose name begins with a text.
func (p *Page) TabTo(name string, keys ...string) {
	p.T.Helper()
	if keys == nil {
		keys = []string{"Tab"}
	}
	var passed []string
	for range 120 {
		var at struct {
			Name string
			Is   bool // a control
		}
		p.EvaluateInto(`$.focused()`, &at)
		if at.Is && strings.HasPrefix(at.Name, name) {
			return
		}
		passed = append(passed, fmt.Sprintf("%.40s", at.Name))
		p.Press(keys...)
	}
	p.T.Fatalf("%s does not reach %q, but %q", keys[0], name, passed)
}

// PressEnterOn goes to a control by the keyboard and presses Enter on it.
func (p *Page) PressEnterOn(name string, keys ...string) {
	p.T.Helper()
	p.TabTo(name, keys...)
	p.Press("Enter")
}

// SelectByKeys chooses the value of a select by its first letters.
func (p *Page) SelectByKeys(label, letters, value string, keys ...string) {
	p.T.Helper()
	p.TabTo(label, keys...)
	for _, letter := range letters {
		if letter == ' ' {
			p.Press("Space")
		} else {
			p.Press(string(letter))
		}
	}
	if got := p.EvaluateString(`document.activeElement.selectedOptions?.[0].textContent`); got != value {
		p.T.Fatalf("%q typed into %q chooses %q, want %q", letters, label, got, value)
	}
}

// ChooseOption types into the combo box that has the focus, and chooses what it offers for that by the arrow keys.
func (p *Page) ChooseOption(text string) {
	p.T.Helper()
	p.WaitFor(`document.activeElement.getAttribute('role') === 'combobox'`)
	p.Type(text)
	is := fmt.Sprintf(`.textContent.toLowerCase().includes(%q)`, strings.ToLower(text))
	p.WaitFor(`[...document.querySelectorAll('[role=option]')].some(o => o` + is + `)`)
	for range 20 {
		if p.EvaluateString(`document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?`+is) == "true" {
			p.Press("Enter")
			return
		}
		p.Press("ArrowDown")
	}
	p.T.Fatalf("the arrow keys do not reach %q", text)
}

// ChooseMenuItem chooses an entry of the open menu by the arrow keys.
func (p *Page) ChooseMenuItem(text string) {
	p.T.Helper()
	p.WaitFor(`document.activeElement.closest('[role=menu]')`)
	for range 30 {
		if strings.HasPrefix(p.EvaluateString(`document.activeElement.matches('[role^=menuitem]') ? document.activeElement.textContent.trim() : ''`), text) {
			p.Press("Enter")
			return
		}
		p.Press("ArrowDown")
	}
	p.T.Fatalf("the arrow keys do not reach %q in the menu %s", text, p.In("menu", "").Text())
}

// TabToElement presses Tab until the element that a selector matches has the focus.
func (p *Page) TabToElement(selector string) {
	p.T.Helper()
	for range 20 {
		if p.EvaluateString(fmt.Sprintf(`document.activeElement?.matches(%q)`, selector)) == "true" {
			return
		}
		p.Press("Tab")
	}
	p.T.Fatalf("Tab does not reach %s", selector)
}
