package app

import (
	"strings"
	"testing"
)

// untranslated lists the texts of controls and headings that are in no catalogue: in the pseudo-locale all others
// have brackets. Names that users give are left out.
const untranslated = `(() => {
	const texts = [];
	for (const e of document.querySelectorAll('button, label, legend, h2, h3, th[scope=col], [role=columnheader], dt')) {
		const copy = e.cloneNode(true);
		for (const part of copy.querySelectorAll('code, kbd, b, small, input, select, textarea, time, [aria-hidden], [data-letter]')) part.remove();
		const text = copy.textContent.trim();
		if (/\p{L}/u.test(text) && !text.includes('[') && !/@|acme|reader|newsletter|everyone|mailbox/i.test(text)) texts.push(e.tagName + ' ' + text);
	}
	return [...new Set(texts)].join(', ');
})()`

// In the pseudo-locale, whose texts are a third longer, each text of a page is of a catalogue, and no page is wider
// than a phone.
func TestPagesAreReadyForOtherLanguages(t *testing.T) {
	t.Parallel()
	d := openApp(t, "")
	d.SetScreen(390, 844, "light")
	sequence, automation := d.flows()
	for _, route := range []string{
		"/", "/contacts", "/contacts?new=1", "/contacts/import", "/contacts/" + d.id("/contacts?limit=1"), "/segments", "/segments/new", "/forms", "/forms?new=1", "/suppressions", "/templates", "/broadcasts",
		"/sending", "/sending/senders", "/sending/types", "/sending/seeds?new=1", "/sending/mta/new", "/mailbox", "/settings", "/settings/account", "/settings/members", "/settings/api-keys",
		"/settings/webhooks?new=1", "/settings/website", "/settings/fields", "/settings/stages", "/settings/scoring", "/settings/audit", "/jobs",
		"/sequences", "/sequences/new", sequence, sequence + "?node=decide", sequence + "?tab=settings", sequence + "?tab=report", "/automations", "/automations/new", automation,
	} {
		separator := "?"
		if strings.Contains(route, "?") {
			separator = "&"
		}
		d.open(route + separator + "locale=pseudo")
		if texts := d.EvaluateString(untranslated); texts != "" {
			t.Errorf("%s: %s in no catalogue", route, texts)
		}
		if wide := d.EvaluateString(`document.documentElement.scrollWidth > innerWidth`); wide == "true" {
			t.Errorf("%s is wider than the screen", route)
		}
	}
}
