package app

import (
	"net/http"
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

// What the server reports is in the language of the page: problems of code, why a contact gets no mail, DNS records, what jobs
// did, and what happened to a contact.
func TestWhatTheServerReportsIsInTheChosenLanguage(t *testing.T) {
	t.Parallel()
	page := openApp(t, "")
	page.Must(page.Languages(page.Ctx, "de"))
	page.SetScreen(1280, 900, "light")
	post := func(path string, body map[string]any) map[string]any {
		t.Helper()
		made, err := page.account.Owner.Must(page.Ctx, http.MethodPost, path, body)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	template := post("/templates", map[string]any{"name": "Brief", "subject": "Hallo", "content_html": "<p>Hallo</p>"})
	page.open("/templates/" + template["id"].(string))
	for subject, want := range map[string]string{
		"{{ contact.first_name | shout }}": "Einen Filter „shout“ gibt es nicht.",
		"{{ contact.first_name":            "„{{“ wird nicht durch „}}“ geschlossen.",
		"{{param:price}}":                  "{{param:price}} benennt nichts, was hier angelegt und erlaubt ist.",
		"{{ contact.nickname }}":           "contact.nickname gibt es nicht, deshalb bleibt die Stelle leer.",
	} {
		page.Fill("Betreff", subject)
		page.Main().ExpectText(want)
	}

	contact := post("/contacts", map[string]any{"email": "still@example.org", "do_not_contact": true})["id"].(string)
	page.open("/contacts/" + contact)
	page.Main().ExpectText("Der Kontakt ist als „nicht kontaktieren“ markiert.")
	page.Main().ExpectText("Kontakt angelegt")

	post("/contacts/bulk", map[string]any{"action": "add_tags", "params": map[string]any{"tags": []string{"neu"}}, "selector": map[string]any{"search": "still@example.org"}})
	page.open("/jobs")
	page.Main().ExpectText("Sammelaktion: Tags hinzufügen")
	page.open("/segments")
	page.Main().ExpectText("Alle erreichbaren Kontakte")
	if text := page.EvaluateString(`document.body.innerText`); strings.Contains(text, "sendable") {
		t.Errorf("the segments are in English: %s", text)
	}
}

// A person who cannot read the sign-in page chooses another language there. It stays after a reload, after signing in and
// after signing out, on this device alone.
func TestTheLanguageIsChosenBeforeSigningIn(t *testing.T) {
	t.Parallel()
	page := openApp(t, "")
	page = appPage{page.NewContext(headings), page.program, page.account}
	page.SetScreen(1280, 900, "light")
	page.Must(page.Languages(page.Ctx, "en"))
	login := page.program.BaseURL + "/app/-/login"
	is := func(language, heading, other string) {
		t.Helper()
		page.WaitFor(`document.documentElement.lang === '` + language + `' && ` + settled)
		page.Main().ExpectText(heading)
		page.Main().ExpectText(other)
		page.Main().ExpectNoText(map[string]string{"English": "Deutsch", "Deutsch": "English"}[other])
	}
	page.Goto(login)
	is("en", "Sign in", "Deutsch")
	page.Click("Deutsch")
	is("de", "Anmelden", "English")
	page.expectAccessible("the sign-in page in German")
	page.Goto(login)
	is("de", "Anmelden", "English")
	page.signIn(harness.Owner, harness.Password)
	page.In("navigation", "Hauptmenü").ExpectText("Kampagnen")
	page.Goto(page.program.BaseURL + "/app/" + harness.Tenant + "/reports")
	page.WaitFor(`document.documentElement.lang === 'de' && ` + settled)
	page.Main().ExpectText("Berichte")
	page.Evaluate(`fetch('/api/auth/logout', { method: 'POST' })`)
	page.Goto(login)
	is("de", "Anmelden", "English")
	page.Click("English")
	is("en", "Sign in", "Deutsch")
	page.Goto(login)
	is("en", "Sign in", "Deutsch")

	other := appPage{page.NewContext(""), page.program, page.account}
	other.Must(other.Languages(other.Ctx, "de"))
	other.Goto(login)
	other.WaitFor(`document.documentElement.lang === 'de' && ` + settled)
	page.expectNoProblems()
}
