// Package browser drives the pages of a test in Chromium, with Playwright's words. An action or an expectation waits
// until the page allows it, and ends the test when that never happens.
package browser

import (
	"context"
	_ "embed"
	"os"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/chromium"
)

// Page is a tab of a test.
type Page struct {
	*chromium.Page
	T   *testing.T
	Ctx context.Context
}

// Start starts a Chromium that stops when the test ends, with more flags than the usual ones. Without one the test is
// skipped, and fails in CI. PACKETBOAT_TEST_SERVERS=none skips it.
func Start(ctx context.Context, t *testing.T, more ...string) *chromium.Browser {
	t.Helper()
	if os.Getenv("PACKETBOAT_TEST_SERVERS") == "none" {
		t.Skip("PACKETBOAT_TEST_SERVERS=none")
	}
	path, found := chromium.Find()
	if !found && os.Getenv("CI") == "true" {
		t.Fatal("no Chromium; install Debian's package chromium-headless-shell")
	}
	if !found {
		t.Skip("no Chromium: install Debian's package chromium-headless-shell")
	}
	b, err := chromium.Start(ctx, path, more...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Stop(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// Must ends the test if err is not nil.
func (p *Page) Must(err error) {
	p.T.Helper()
	if err != nil {
		p.T.Fatal(err)
	}
}

// Open opens an empty tab in a profile of its own, whose documents evaluate a script before theirs, which may be empty.
func Open(ctx context.Context, t *testing.T, b *chromium.Browser, script string) *Page {
	t.Helper()
	tab, err := b.Open(ctx, script)
	if err != nil {
		t.Fatal(err)
	}
	return &Page{tab, t, ctx}
}

// Goto opens an address and waits until the document and its scripts are loaded.
func (p *Page) Goto(url string) {
	p.T.Helper()
	p.Must(p.Visit(p.Ctx, url))
}

//go:embed elements.js
var elements string

//go:embed checks.js
var checks string

//go:embed requests.js
var requests string

// with gives an expression the functions of the scripts beside this file as properties of $, if it uses any.
func with(expression string) string {
	if !strings.Contains(expression, "$.") {
		return expression
	}
	return "(($) => (" + expression + "))(" + functions() + ")"
}

func functions() string { return "Object.assign(" + elements + "," + checks + "," + requests + ")" }

// WaitFor waits until an expression is true.
func (p *Page) WaitFor(expression string) {
	p.T.Helper()
	if err := p.Until(p.Ctx, with(expression)); err != nil {
		message := strings.ReplaceAll(err.Error(), functions(), "…")
		p.T.Fatalf("%s\nthe focus is on %s", message, p.EvaluateString(`document.activeElement?.outerHTML.slice(0, 300)`))
	}
}

// Evaluate evaluates an expression, and waits if it is a promise.
func (p *Page) Evaluate(expression string) {
	p.T.Helper()
	p.EvaluateInto(expression, nil)
}

// EvaluateInto evaluates an expression, waits if it is a promise, and decodes its value into v.
func (p *Page) EvaluateInto(expression string, v any) {
	p.T.Helper()
	p.Must(p.Eval(p.Ctx, with(expression), v))
}

// EvaluateString returns the value of an expression as a string.
func (p *Page) EvaluateString(expression string) (s string) {
	p.T.Helper()
	p.EvaluateInto(`String(`+expression+`)`, &s)
	return s
}

// Press presses keys in turn.
func (p *Page) Press(keys ...string) {
	p.T.Helper()
	for _, key := range keys {
		p.Must(p.Page.Press(p.Ctx, key))
	}
}

// Type enters a text where the focus is.
func (p *Page) Type(text string) {
	p.T.Helper()
	p.Must(p.Page.Type(p.Ctx, text))
}

// SetScreen gives the page a size in CSS pixels, and a colour scheme: light or dark.
func (p *Page) SetScreen(width, height int, scheme string) {
	p.T.Helper()
	p.Must(p.Screen(p.Ctx, width, height, scheme))
}

// NewTab opens another tab in the profile of p.
func (p *Page) NewTab() *Page {
	p.T.Helper()
	tab, err := p.Tab(p.Ctx)
	p.Must(err)
	return &Page{tab, p.T, p.Ctx}
}

// NewContext opens a tab in another profile of the browser: for another person. Its documents evaluate a script before
// theirs, which may be empty.
func (p *Page) NewContext(script string) *Page {
	p.T.Helper()
	tab, err := p.With(p.Ctx, script)
	p.Must(err)
	return &Page{tab, p.T, p.Ctx}
}
