package app

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"testing"

	"github.com/packetboat/packetboat/e2e/harness"
)

// shownErrors are the texts of what is wrong on the page: at fields, in lists and messages, and about rows of a file.
const shownErrors = `[...new Set([
	...[...document.querySelectorAll('[aria-invalid=true]')].flatMap(f => (f.getAttribute('aria-describedby') ?? '').split(' ').map(id => document.getElementById(id))),
	...document.querySelectorAll('[role=alert] li, [role=alert]:not(:has(li)), [data-fault]'),
].map(e => e?.innerText.trim()).filter(Boolean))]`

var (
	sentence = regexp.MustCompile(`(?s)^["“A-Z0-9].*[.!?…]$`)
	ofTheAPI = regexp.MustCompile(`\b[a-z]+_[a-z_]+\b|\w\[\d+\]|\b[a-z]+\.[a-z]+: `)
)

// expectSentences waits for an error with a text, and expects that all that are shown are sentences without names of the API.
func (page appPage) expectSentences(where, text string) {
	page.T.Helper()
	page.WaitFor(shownErrors + fmt.Sprintf(`.some(t => t.includes(%q))`, text))
	var shown []string
	page.EvaluateInto(shownErrors, &shown)
	for _, s := range shown {
		if !sentence.MatchString(s) || ofTheAPI.MatchString(s) {
			page.T.Errorf("%s: %q is no sentence for people", where, s)
		}
	}
}

// What the server refuses is told in sentences, with the names of the page.
func TestErrorsAreSentences(t *testing.T) {
	t.Parallel()
	page := openApp(t, "")
	page.call(http.MethodPost, "/settings/custom-fields", map[string]any{"name": "Next visit", "field_key": "next_visit", "field_type": "datetime"})
	page.call(http.MethodPost, "/settings/custom-fields", map[string]any{"name": "Birthday", "field_key": "birthday", "field_type": "date"})

	page.open("/contacts/" + page.firstID("/contacts?limit=1") + "?tab=profile")
	page.Fill("Next visit", "tomorrow")
	page.Press("Tab")
	page.expectSentences("a custom field", "Next visit must be a date and a time, such as 2026-05-09T14:30:00Z.")

	page.open("/contacts/import")
	page.SetInputFile("people.csv", `"Email,Birthday,Next visit\nann@example.org,geb. 1980,\nbob@example.org,,soon\nnobody,,\n"`)
	page.In("region", "What would happen").ExpectText("Birthday must be a date, such as 2026-05-09.")
	page.In("region", "What would happen").ExpectText("Next visit must be a date and a time")
	page.expectSentences("the check of an import", "Email must be an email address")

	page.open("/segments/new")
	page.Click("JSON")
	page.Evaluate(`document.querySelector('textarea').focus()`)
	page.Press("Control+a")
	page.Type(`{"logic": "or", "conditions": [{"field": "country", "operator": "equals", "value": ""}, {"field": "custom_fields.birthday", "operator": "before", "value": "soon"}]}`)
	page.expectSentences("the rule of a segment as JSON", "Condition 1, value must be filled in.")
	page.Click("Builder")
	page.Evaluate(`for (const f of document.querySelectorAll('fieldset [data-part]')) { f.focus(); f.blur() }`)
	page.expectSentences("the rule of a segment", "Value must be")

	made := page.call(http.MethodPost, "/templates", map[string]any{"name": "News", "format": "html", "subject": "News", "content_html": "<p>News</p>"})
	page.open("/templates/" + made["id"].(string) + "?tab=settings")
	page.Fill("Name", "")
	page.Press("Tab")
	page.Click("Save")
	page.Dialog().Click("Save")
	page.expectSentences("a template", "Name must")

	page.open("/sending/mta/" + page.firstID("/mta-configs"))
	page.Evaluate(`document.querySelector('form:has(input[type=email])').noValidate = true`)
	page.Fill("To", "nobody")
	page.Click("Send test email")
	page.In("region", "Health").ExpectText("To must be an email address, such as ann@example.com.")

	page.open("/sending/mta/new")
	page.Check("Direct")
	page.Fill("Name", "Direct")
	page.Click("Add address")
	page.fillField("settings.ips[0].ip", "not an address")
	page.Click("Save")
	page.expectSentences("an MTA config", "must be an IP address, such as 203.0.113.7.")
}

// The same of the pages before there is a workspace.
func TestErrorsOfSigningUpAreSentences(t *testing.T) {
	t.Parallel()
	p := &harness.Program{Empty: true}
	page := openBrowser(t, p, "")
	log, err := os.ReadFile(p.Log)
	if err != nil {
		t.Fatal(err)
	}
	page.Goto(p.BaseURL + setupLink.FindString(string(log)))
	page.Fill("Workspace name", "Books")
	page.Fill("Workspace address", "-")
	page.Fill("Your name", "Ann")
	page.Fill("Your email address", "nobody")
	page.Fill("Password", "short")
	page.Click("Create workspace")
	page.expectSentences("signing up", "Password must have at least 10 characters.")
	page.expectSentences("signing up", "Your email address must be an email address, such as ann@example.com.")
}
