package app

import (
	"strings"
	"testing"
)

// given are the names of records and of countries on the pages, which are in no catalogue.
const given = `["acme", "news@example.com", "Newsletter newsletter", "Germany"]`

// In the pseudo-locale, whose texts are a third longer, each text of a page is of a catalogue, and no page is wider
// than a phone.
func TestEveryTextOfAPageIsInACatalogue(t *testing.T) {
	t.Parallel()
	page := openApp(t, "")
	page.SetScreen(390, 844, "light")
	sequence, automation := page.createFlows()
	for _, route := range []string{
		"/", "/contacts", "/contacts?new=1", "/contacts/import", "/contacts/" + page.firstID("/contacts?limit=1"), "/segments", "/segments/new", "/forms", "/forms?new=1", "/suppressions", "/templates", "/broadcasts",
		"/sending", "/sending/senders", "/sending/types", "/sending/seeds?new=1", "/sending/mta/new", "/mailbox", "/settings", "/settings/account", "/settings/brand", "/settings/members", "/settings/api-keys",
		"/settings/webhooks?new=1", "/settings/website", "/settings/fields", "/settings/stages", "/settings/scoring", "/settings/audit", "/jobs",
		"/sequences", "/sequences/new", sequence, sequence + "?node=decide", sequence + "?node=~start", sequence + "?tab=report", "/automations", "/automations/new", automation,
	} {
		separator := "?"
		if strings.Contains(route, "?") {
			separator = "&"
		}
		page.open(route + separator + "locale=pseudo")
		if texts := page.EvaluateString(`$.untranslated(` + given + `)`); texts != "" {
			t.Errorf("%s: %s in no catalogue", route, texts)
		}
		if wide := page.EvaluateString(`document.documentElement.scrollWidth > innerWidth`); wide == "true" {
			t.Errorf("%s is wider than the screen", route)
		}
	}
}
