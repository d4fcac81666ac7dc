package app

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// chosen is the number of contacts in the table whose names end in .example.
const chosen = 3

// Many contacts are changed at once, by their ids and as jobs: fields, sequences, lists, deleting, resetting the
// status and anonymizing. Undo takes back what was changed and nothing else. A job fails, and its page says why.
func TestBulkActionsChangeContactsAndAreUndone(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		emails := []any{}
		for i, company := range []string{"Alpha", "", ""} {
			email := fmt.Sprintf("person%d@harbour.example", i)
			emails = append(emails, email)
			page.call(http.MethodPost, "/contacts", map[string]any{"email": email, "company": company})
		}
		sequence := page.call(http.MethodPost, "/sequences", map[string]any{"name": "Welcome", "entry_trigger": map[string]any{"trigger_type": "event", "trigger_config": map[string]any{"event_name": "signed_up"}}})["id"].(string)
		page.call(http.MethodPut, "/sequences/"+sequence+"/graph", map[string]any{
			"entry_node_id": "rest",
			"nodes": []any{
				map[string]any{"id": "rest", "type": "wait", "config": map[string]any{"mode": "duration", "amount": 10, "unit": "day"}},
				map[string]any{"id": "late", "type": "tag", "config": map[string]any{"action": "add", "tags": []string{"late"}}},
			},
			"edges": []any{map[string]any{"from_node": "rest", "to_node": "late"}},
		})
		page.call(http.MethodPost, "/sequences/"+sequence+"/activate", nil)
		page.call(http.MethodPost, "/segments", map[string]any{"name": "Crew", "type": "static"})
		page.call(http.MethodPost, "/segments/crew/members", map[string]any{"emails": emails[:1]})
		page.open("/contacts?q=harbour.example")
		page.RecordMessages()
		page.changeByIDs(sequence)
		page.enrollSegment(sequence)
		page.changeAsJobs(sequence)
		page.exportAndAnonymize()
		page.anonymizeAll()
		page.expectNoProblems()
	})
}

// selectRows selects the rows of the table by the keyboard.
func (page appPage) selectRows() {
	page.T.Helper()
	page.WaitFor(`document.querySelectorAll('[role=grid] [role=row][data-index]').length > 0`)
	page.TabTo("Select the")
	page.Press("Space")
	page.WaitFor(`[...document.querySelectorAll('main [role=status]')].some(s => s.textContent.endsWith('selected'))`)
}

// chooseMore chooses an action of the bar.
func (page appPage) chooseMore(action string, key ...string) {
	page.T.Helper()
	page.PressEnterOn("More", key...)
	page.ChooseMenuItem(action)
}

// expectCount waits until as many of the contacts match a filter.
func (page appPage) expectCount(want int, filter map[string]any) {
	page.T.Helper()
	mine := map[string]any{"field": "email", "operator": "ends_with", "value": "@harbour.example"}
	if n := e2etest.Eventually(page.T, func() (int, bool) { n := page.countContacts(mine, filter); return n, n == want }); n != want {
		page.T.Errorf("%d of the contacts match %v, want %d", n, filter, want)
	}
}

// undo presses the button of the last message, and hears that it was done.
func (page appPage) undo(n int) {
	page.T.Helper()
	page.Press("Control+z")
	page.ExpectMessage(fmt.Sprintf("Undone for %d contact", n))
}

func (page appPage) changeByIDs(sequence string) {
	page.T.Helper()
	company := func(name string) map[string]any {
		return map[string]any{"field": "company", "operator": "equals", "value": name}
	}
	page.selectRows()
	page.chooseMore("Set field", "Shift+Tab")
	page.ChooseOption("Company")
	page.TabTo("Value")
	page.Type("Harbour")
	page.PressEnterOn("Apply")
	page.ExpectMessage("3 contacts changed")
	page.expectCount(chosen, company("Harbour"))
	if got := page.EvaluateString(`$.focused().name`); got != "More" {
		page.T.Errorf("after the dialog the focus is on %q, want More", got)
	}
	page.undo(chosen)
	page.expectCount(0, company("Harbour"))
	page.expectCount(1, company("Alpha"))

	inList := map[string]any{"field": "list", "operator": "in", "value": []any{"crew"}}
	page.PressEnterOn("Add to list", "Shift+Tab")
	page.ChooseOption("Crew")
	page.PressEnterOn("Apply")
	page.ExpectMessage("2 contacts changed, 1 skipped (1 unchanged)")
	page.expectCount(chosen, inList)
	page.undo(2)
	page.expectCount(1, inList) // who was in it before

	page.chooseMore("Add to sequence")
	page.ChooseOption("Welcome")
	page.PressEnterOn("Apply")
	active := func() string {
		return fmt.Sprint(len(page.get("/sequences/" + sequence + "/enrollments?status=active")["data"].([]any)))
	}
	e2etest.Eventually(page.T, func() (string, bool) { n := active(); return n, n == "3" })
	page.chooseMore("Remove from sequence")
	page.ChooseOption("Welcome")
	page.PressEnterOn("Apply")
	e2etest.Eventually(page.T, func() (string, bool) { n := active(); return n, n == "0" })

	there := map[string]any{"field": "email", "operator": "is_set"}
	page.chooseMore("Delete")
	page.WaitFor(`![...document.querySelectorAll('main [role=status]')].some(s => s.textContent.endsWith('selected'))`)
	page.expectCount(0, there)
	page.Press("Control+z")
	page.expectCount(chosen, there)
	page.WaitFor(`document.querySelectorAll('[role=grid] [role=row][data-index]').length === 3`)
}

// selectAllRows selects all contacts that match the search.
func (page appPage) selectAllRows() {
	page.T.Helper()
	page.selectRows()
	page.WaitFor(`[...document.querySelectorAll('main [role=status]')].some(s => s.textContent === '3 selected')`)
}

// expectJobEnd waits for the end of the job that the page shows, and closes it.
func (page appPage) expectJobEnd(says string) {
	page.T.Helper()
	page.Main().ExpectText(says)
	page.expectAccessible("a job that has ended")
	page.PressEnterOn("Close")
	page.WaitFor(`!location.search.includes('job=')`)
}

// enrollSegment adds all of a list to a sequence on its own page: the only one of them has been through it.
func (page appPage) enrollSegment(sequence string) {
	page.T.Helper()
	page.open("/sequences/" + sequence + "?tab=people")
	page.Click("Add people")
	page.Check("Everybody in a segment or list")
	page.SelectOption("Segment or list", "Crew")
	page.Dialog().ExpectText("This runs as a job.")
	page.Dialog().Click("Add people")
	page.expectNoDialog()
	page.expectJobEnd("Completed 0 contacts changed, 1 skipped (1 already in it)")
}

func (page appPage) changeAsJobs(sequence string) {
	page.T.Helper()
	page.open("/contacts")
	page.RecordMessages()
	page.Main().ExpectText("28 contacts")
	page.WaitFor(`document.querySelectorAll('[role=grid] [role=row][data-index]').length > 5`)
	page.TabTo("person") // a row
	page.Press("x")
	page.PressEnterOn("Select all 28 that match", "Shift+Tab")
	page.Main().ExpectText("All 28 that match")
	page.chooseMore("Set field")
	page.ChooseOption("Company")
	page.In("dialog", "Set field").ExpectText("28 contacts are selected. This runs as a job.")
	page.TabTo("Value")
	page.Type("Everybody")
	page.PressEnterOn("Apply")
	page.expectJobEnd("Completed 28 contacts changed")
	page.expectCount(chosen, map[string]any{"field": "company", "operator": "equals", "value": "Everybody"})

	inCrew := map[string]any{"field": "list", "operator": "in", "value": []any{"crew"}}
	page.TabTo("person")
	page.Press("x")
	page.PressEnterOn("Select all 28 that match", "Shift+Tab")
	page.PressEnterOn("Add to list")
	page.ChooseOption("Crew")
	page.PressEnterOn("Apply")
	page.expectJobEnd("Completed 27 contacts changed, 1 skipped")
	page.expectCount(chosen, inCrew)
	page.TabTo("person")
	page.Press("x")
	page.PressEnterOn("Select all 28 that match", "Shift+Tab")
	page.chooseMore("Remove from list")
	page.ChooseOption("Crew")
	page.PressEnterOn("Apply")
	page.expectJobEnd("Completed 28 contacts changed")
	page.expectCount(0, inCrew)

	// The sequence is paused while somebody chooses it: the job enrolls nobody.
	page.TabTo("person")
	page.Press("x")
	page.PressEnterOn("Select all 28 that match", "Shift+Tab")
	page.chooseMore("Add to sequence")
	page.ChooseOption("Welcome")
	page.call(http.MethodPost, "/sequences/"+sequence+"/pause", nil)
	page.PressEnterOn("Apply")
	page.expectJobEnd("Completed 0 contacts changed, 28 skipped (28 while the sequence was not active)")

	page.TabTo("person")
	page.Press("x")
	page.PressEnterOn("Select all 28 that match", "Shift+Tab")
	page.chooseMore("Export")
	page.Main().ExpectText("28 rows exported")
	page.TabTo("Download")
	var file string
	page.EvaluateInto(`fetch(document.activeElement.href).then(r => r.text())`, &file)
	rows, err := csv.NewReader(strings.NewReader(file)).ReadAll()
	if err != nil || len(rows) != 29 || strings.Join(rows[0], ",") != "email,first_name,last_name,full_name,global_status,company,country,tags,last_activity_at,created_at" {
		page.T.Errorf("the export has %d rows, want 29 with the columns of the table: %v in %.300s", len(rows), err, file)
	}
	page.expectJobEnd("28 rows exported")

	page.open("/jobs")
	page.Row("Bulk action: enroll").ExpectText("Completed 28 skipped")
	page.Row("Bulk action: set field").ExpectText("Completed 28 changed")
	page.expectPagesAccessible(harness.Pages{"/jobs"}, nil)
	page.SetScreen(1280, 900, "light")
	page.PressEnterOn("Bulk action: enroll")
	page.Main().ExpectText("28 while the sequence was not active")
}

// exportAndAnonymize exports and anonymizes contacts chosen by hand, after their status was reset.
func (page appPage) exportAndAnonymize() {
	page.T.Helper()
	page.open("/contacts?q=harbour.example")
	page.RecordMessages()
	page.selectAllRows()
	page.chooseMore("Unsubscribe from email type", "Shift+Tab")
	page.ChooseOption("All email")
	page.PressEnterOn("Apply")
	status := func(s string) map[string]any {
		return map[string]any{"field": "global_status", "operator": "equals", "value": s}
	}
	page.expectCount(chosen, status("unsubscribed"))
	page.chooseMore("Reset status")
	page.WaitFor(`document.activeElement.matches('[role=alertdialog] input')`)
	page.Type("3")
	page.Press("Enter")
	page.expectCount(chosen, status("active"))
	page.chooseMore("Export")
	page.expectJobEnd("3 rows exported")
	page.selectAllRows()
	page.chooseMore("Anonymise", "Shift+Tab")
	page.WaitFor(`document.activeElement.matches('[role=alertdialog] input')`)
	page.expectAccessible("the question before anonymizing")
	page.Type("3")
	page.Press("Enter")
	page.Main().ExpectText("Nobody matches")
	page.expectCount(0, status("active"))
	page.WaitFor(`document.activeElement !== document.body`) // the focus is not lost when the table is empty
	if rows, _ := page.get("/suppressions?search=harbour.example&limit=100")["data"].([]any); len(rows) != chosen {
		page.T.Errorf("the suppression list has %d of the addresses, want %d", len(rows), chosen)
	}
}

// anonymizeAll anonymizes all contacts that match a search, as a job that begins when their number is typed.
func (page appPage) anonymizeAll() {
	page.T.Helper()
	page.open("/contacts?q=reader")
	page.Main().ExpectText("25 contacts")
	page.WaitFor(`document.querySelectorAll('[role=grid] [role=row][data-index]').length > 5`)
	page.TabTo("Reader")
	page.Press("x")
	page.PressEnterOn("Select all 25 that match", "Shift+Tab")
	page.chooseMore("Anonymise")
	page.WaitFor(`document.activeElement.matches('[role=alertdialog] input')`)
	page.Dialog().ExpectText("Anonymise 25 contacts?")
	page.In("dialog", "Anonymise 25 contacts?").ExpectText("This runs as a job. You can cancel it, but not undo it.")
	page.Type("24")
	page.Press("Enter")
	if page.EvaluateString(`Boolean(document.querySelector('[role=alertdialog]'))`) != "true" {
		page.T.Error("another number than theirs confirms it")
	}
	page.Press("Control+a")
	page.Type("25")
	page.Press("Enter")
	page.Main().ExpectText("Completed 25 contacts changed")
	page.expectJobEnd("Completed 25 contacts changed")
	page.Main().ExpectText("Nobody matches")
	if n := page.countContacts(map[string]any{"field": "first_name", "operator": "starts_with", "value": "Reader"}); n != 0 {
		page.T.Errorf("%d of the anonymized contacts have their names", n)
	}
	if rows, _ := page.get("/suppressions?search=reader&limit=100")["data"].([]any); len(rows) != 25 {
		page.T.Errorf("the suppression list has %d of the addresses, want 25", len(rows))
	}
}
