package app

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// selectByName chooses the option with a text in the select with a label.
func (page appPage) selectByName(label, option string) {
	page.T.Helper()
	page.WaitFor(fmt.Sprintf(`(() => {
		const select = [...document.querySelectorAll('label')].find(l => l.textContent === %q)?.control;
		const option = [...(select?.options ?? [])].find(o => o.textContent === %q);
		if (!option) return false;
		select.value = option.value;
		select.dispatchEvent(new Event('change', { bubbles: true }));
		return true;
	})()`, label, option))
}

// imported is a file of 20,000 rows, of which 15 have no address that can be mailed.
const imported = `'E-Mail;Vorname;Land;Plan\n' + Array.from({ length: 20000 }, (_, i) => i % 2000 === 999 ? 'not an address ' + i + ';Bad' + i + ';DE;free' : i % 4000 === 17 ? ';Lost' + i + ';DE;free' : 'p' + i + '@example.net;P' + i + ';' + (i % 4 ? 'DE' : 'AT') + ';' + (i % 3 ? 'free' : 'pro')).join('\n')`

// expectCheck waits until the check of a file, as it is mapped now, says a text.
func (page appPage) expectCheck(text string) {
	page.T.Helper()
	page.WaitFor(`document.querySelector('main [aria-busy=false]')`)
	page.In("region", "What would happen").ExpectText(text)
}

// importPeople imports that file by the keyboard: it makes a field of a column, runs the import, leaves, comes back, and
// imports the rows with errors again.
func (page appPage) importPeople() appPage {
	page.T.Helper()
	page.open("/contacts")
	page.PressEnterOn("Import")
	page.SetInputFile("people.csv", imported)
	page.WaitFor(`[...document.querySelectorAll('select')].some(s => s.value === 'country')`) // of the column Land
	page.TabTo("Import as: Plan")
	page.Press("n")
	page.WaitFor(`document.activeElement.value === 'Plan' && document.activeElement.closest('[role=dialog]')`)
	page.Press("Enter")
	page.WaitFor(`[...document.querySelectorAll('select')].some(s => s.value === 'custom_fields.plan')`)
	page.expectCheck("Would be created 19,985 Would be updated 0 Would be skipped 0 Invalid 15")
	page.expectCheck("10 rows: E-Mail must be an email address, such as ann@example.com. “not an address 999” (row 1,001)")
	page.expectCheck("5 rows: E-Mail must be filled in.")
	if n := page.countContacts(); n != 25 {
		page.T.Errorf("after the check there are %d contacts, want 25", n)
	}
	page.TabTo("Tags for everybody") // behind the columns, whose names begin with Import, too
	page.PressEnterOn("Import")
	page.WaitFor(`location.search.includes('job=')`)

	next := page.NewTab()
	page.Must(page.Close(page.Ctx))
	page.Page = next
	page.SetScreen(1280, 900, "light")
	page.open("/jobs")
	page.PressEnterOn("Import of people.csv")
	page.Main().ExpectText("Completed with errors")
	page.Main().ExpectText("Created 19,985 Updated 0 Skipped 0 Invalid 15")
	page.TabTo("Download rows with errors")
	var file string
	page.EvaluateInto(`fetch(document.activeElement.href).then(r => r.text())`, &file)
	semicolons := csv.NewReader(strings.NewReader(file))
	semicolons.Comma = ';' // as in the file that was imported
	rows, err := semicolons.ReadAll()
	if err != nil || len(rows) != 16 {
		page.T.Fatalf("the file of errors has %d rows, want 16: %v in %.200s", len(rows), err, file)
	}
	page.PressEnterOn("Retry these rows")
	page.expectCheck("Would be created 0 Would be updated 0 Would be skipped 0 Invalid 15")
	if why := page.DisabledReason("Import"); why != "No contact would be created or updated." {
		page.T.Errorf("rows that are all invalid cannot be imported because %q", why)
	}
	for i, row := range rows[1:] {
		row[0] = fmt.Sprintf("corrected%d@example.net", i)
	}
	var corrected strings.Builder
	if err := csv.NewWriter(&corrected).WriteAll(rows); err != nil {
		page.T.Fatal(err)
	}
	page.Click("Choose another file")
	page.SetInputFile("corrected.csv", strconv.Quote(corrected.String()))
	page.expectCheck("Would be created 15")
	page.Fill("Tags for everybody", "corrected")
	page.Click("Import")
	page.Main().ExpectText("Created 15 Updated 0 Skipped 0 Invalid 0")
	if n := page.countContacts(map[string]any{"field": "custom_fields.plan", "operator": "equals", "value": "pro"}); n != 6667-6 { // six of the rows with errors would have been pro
		page.T.Errorf("%d contacts have the plan pro, want 6,661", n)
	}
	page.Click("View these contacts")
	page.Main().ExpectText("15 contacts")
	page.open("/contacts")
	page.Main().ExpectText("20,025 contacts")
	return page
}

// foreign is a file as spreadsheets in Germany write it, in Windows-1252.
const foreign = `Uint8Array.from('Kontakt;Vorname;Nachname;Firma;Geburtstag;Kunde seit;Newsletter;Notiz;Notiz\nbjoern@example.com;Björn;Müller;Öl AG;31.12.1979;01.02.2020;ja;a;Berlin\nzoe@example.com;Zoë;Groß;Öl AG;01.02.1985;03.04.2021;nein;b;Bonn\nkai@example.com;Kai;Öztürk;Öl AG;geb. 1980;05.06.2022;ja;;Rom\nlea@example.com;Lea;Weiß;Öl AG;unbekannt;;nein;;\n', c => c.charCodeAt(0))`

// noteUploads has the page note of each form that it sends whether there is a file in it.
const noteUploads = `(() => {
	const send = window.fetch;
	window.uploads = [];
	window.fetch = (to, with_) => {
		if (with_?.body instanceof FormData) uploads.push(with_.body.has('file') ? 'sent' : 'named');
		return send(to, with_);
	};
})()`

// importForeignFile imports that file on a phone, without one of its columns, and undoes that. The file is sent once, and
// again when the server has deleted it. The next time the file is imported as before.
func (page appPage) importForeignFile() {
	page.T.Helper()
	for _, name := range []string{"Geburtstag", "Kunde seit"} {
		page.call(http.MethodPost, "/settings/custom-fields", map[string]any{"name": name, "field_key": strings.ReplaceAll(strings.ToLower(name), " ", "_"), "field_type": "date"})
	}
	page.call(http.MethodPost, "/settings/custom-fields", map[string]any{"name": "Newsletter", "field_key": "newsletter", "field_type": "boolean"})
	page.SetScreen(390, 844, "light")
	page.open("/contacts/import")
	page.Evaluate(noteUploads)
	page.SetInputFile("kunden.txt", foreign)
	const read = `['Encoding', 'Separator', 'Quotes'].map(name => [...document.querySelectorAll('label')].find(l => l.textContent === name)?.control.value).join(' ')`
	page.WaitFor(read + ` === 'windows-1252 ; "'`)
	page.In("region", "Columns").ExpectText("Björn · Zoë · Kai")
	page.selectByName("Encoding", "Windows-1251 (Cyrillic)")
	page.In("region", "Columns").ExpectText("Bjцrn")
	page.selectByName("Encoding", "Windows-1252 (Western Europe)")
	page.In("region", "Columns").ExpectText("Björn · Zoë · Kai")
	gone := page.call(http.MethodPost, "/contacts", map[string]any{"email": "gone@example.com"})["id"]
	page.call(http.MethodPost, fmt.Sprintf("/contacts/%s/anonymize", gone), map[string]any{})
	page.selectByName("Import as: Notiz (column 9)", "City")
	page.selectByName("Import as: Firma", "Not imported")
	page.expectCheck("Would be created 4 Would be updated 0 Would be skipped 0 Invalid 0 2 rows are imported without values that do not fit their fields.")
	page.expectCheck("2 rows: Geburtstag must be a date, such as 2026-05-09. “geb. 1980” (row 4) · “unbekannt” (row 5)")
	page.WaitFor(`[...document.querySelectorAll('label')].find(l => l.textContent === 'Change: Geburtstag')?.control.value === 'custom_fields.geburtstag'`)
	page.expectAccessible("the check of a file")
	if wide := page.EvaluateString(`document.documentElement.scrollWidth > innerWidth`); wide == "true" {
		page.T.Error("the check of a file is wider than a phone")
	}
	page.Fill("Tags for everybody", "kunden")
	page.Click("Import")
	page.Main().ExpectText("Created 4 Updated 0 Skipped 0 Invalid 0")
	if uploads := page.EvaluateString(`uploads.join(' ').replace(/( named)+/g, ' named')`); uploads != "sent named sent named" {
		page.T.Errorf("the file was %s, want it sent once before the server deleted it and once after that", uploads)
	}
	page.Click("View these contacts")
	page.Main().ExpectText("4 contacts")
	page.checkImported()

	page.Evaluate(`history.back()`)
	page.Click("Undo import")
	page.Dialog().ExpectText("4 contacts were created.")
	page.Dialog().Click("Undo import")
	page.In("region", "Undo of the import").ExpectText("Deleted 4")
	if n := page.countContacts(map[string]any{"field": "tags", "operator": "has_any", "value": []any{"kunden"}}); n != 0 {
		page.T.Errorf("after the undo there are %d contacts of the import", n)
	}
	page.Click("Import another file")
	page.SetInputFile("kunden.txt", foreign)
	page.In("region", "Columns").ExpectText("As in the last import of such a file")
	page.WaitFor(`[...document.querySelectorAll('label')].find(l => l.textContent === 'Import as: Firma')?.control.value === ''`)
}

// checkImported checks one of the contacts of that file.
func (page appPage) checkImported() {
	page.T.Helper()
	search := page.call(http.MethodPost, "/contacts/search", map[string]any{"filters": []any{map[string]any{"field": "email", "operator": "equals", "value": "bjoern@example.com"}}})
	got := search["data"].([]any)[0].(map[string]any)
	if want := "Björn Müller <nil> Berlin map[geburtstag:1979-12-31 kunde_seit:2020-02-01 newsletter:true]"; fmt.Sprint(got["first_name"], " ", got["last_name"], " ", got["company"], " ", got["city"], " ", got["custom_fields"]) != want {
		page.T.Errorf("the contact is %v, want %s", got, want)
	}
}
