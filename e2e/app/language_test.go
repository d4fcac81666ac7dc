package app

import (
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/harness"
)

// headings records in window.headings each text that a heading of the first level shows.
const headings = `
	window.headings = new Set();
	new MutationObserver(() => {
		for (const h of document.querySelectorAll("h1")) window.headings.add(h.textContent);
	}).observe(document, { subtree: true, childList: true, characterData: true });`

// The application is in the language that a person chose on the device, or else in the first of the browser's that it has. Numbers
// and the language of the page follow, and no text is shown in another language first.
func TestTheApplicationIsInTheChosenLanguage(t *testing.T) {
	t.Parallel()
	page := openApp(t, "")
	page = appPage{page.NewContext(headings), page.program, page.account}
	page.SetScreen(1280, 900, "light")
	page.Must(page.Languages(page.Ctx, "fr,de-AT,en"))
	home := page.program.BaseURL + "/app/" + harness.Tenant
	language := func(want string) {
		t.Helper()
		page.WaitFor(`document.documentElement.lang === '` + want + `' && ` + settled)
	}
	shown := func(want ...string) {
		t.Helper()
		if have := page.EvaluateString(`[...headings].join(", ")`); have != strings.Join(want, ", ") {
			t.Errorf("the headings are %q; want %q", have, want)
		}
	}
	page.Goto(home + "/reports")
	language("de")
	shown("Anmelden")
	page.signIn(harness.Owner, harness.Password)
	shown("Anmelden", "Berichte")
	page.In("navigation", "Hauptmenü").ExpectText("Kampagnen")

	page.open("/suppressions")
	page.Click("Adressen hinzufügen")
	page.Dialog().Fill("Adressen, eine pro Zeile", strings.Repeat("a@example.org\n", 1234))
	page.Dialog().ExpectText("1.234 Adressen")

	page.Goto(page.program.BaseURL + "/app/-/me")
	language("de")
	page.Check("English")
	language("en")
	page.WaitFor(`document.activeElement.matches("input[type=radio]:checked")`)
	page.Main().ExpectText("Your account")
	page.open("/reports")
	language("en")
	shown("Reports")

	page.Goto(page.program.BaseURL + "/app/-/me")
	page.Check("Browser language")
	language("de")
	page.Main().ExpectText("Ihr Konto")
	page.expectNoProblems()
}
