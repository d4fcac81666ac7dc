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
func TestManyContactsAreChangedInTheApplication(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		d := openApp(t, address)
		emails := []any{}
		for i, company := range []string{"Alpha", "", ""} {
			email := fmt.Sprintf("person%d@harbour.example", i)
			emails = append(emails, email)
			d.ask(http.MethodPost, "/contacts", map[string]any{"email": email, "company": company})
		}
		sequence := d.ask(http.MethodPost, "/sequences", map[string]any{"name": "Welcome", "entry_trigger": map[string]any{"trigger_type": "event", "trigger_config": map[string]any{"event_name": "signed_up"}}})["id"].(string)
		d.ask(http.MethodPut, "/sequences/"+sequence+"/graph", map[string]any{
			"entry_node_id": "rest",
			"nodes": []any{
				map[string]any{"id": "rest", "type": "wait", "config": map[string]any{"mode": "duration", "amount": 10, "unit": "day"}},
				map[string]any{"id": "late", "type": "tag", "config": map[string]any{"action": "add", "tags": []string{"late"}}},
			},
			"edges": []any{map[string]any{"from_node": "rest", "to_node": "late"}},
		})
		d.ask(http.MethodPost, "/sequences/"+sequence+"/activate", nil)
		d.ask(http.MethodPost, "/segments", map[string]any{"name": "Crew", "type": "static"})
		d.ask(http.MethodPost, "/segments/crew/members", map[string]any{"emails": emails[:1]})
		d.open("/contacts?q=harbour.example")
		d.listen()
		d.byTheirIDs(sequence)
		d.asJobs(sequence)
		d.leavesTheAudience()
		d.anonymizesAll()
		d.quiet()
	})
}

// marks selects the rows of the table by the keyboard.
func (d desk) marks() {
	d.T.Helper()
	d.await(`document.querySelectorAll('[role=grid] [role=row][data-index]').length > 0`)
	d.reach("Select the")
	d.Press("Space")
	d.await(`[...document.querySelectorAll('main [role=status]')].some(s => s.textContent.endsWith('selected'))`)
}

// more chooses an action of the bar.
func (d desk) more(action string, key ...string) {
	d.T.Helper()
	d.hit("More", key...)
	d.item(action)
}

// has waits until as many of the contacts match a filter.
func (d desk) has(want int, filter map[string]any) {
	d.T.Helper()
	mine := map[string]any{"field": "email", "operator": "ends_with", "value": "@harbour.example"}
	if n := e2etest.Eventually(d.T, func() (int, bool) { n := d.counted(mine, filter); return n, n == want }); n != want {
		d.T.Errorf("%d of the contacts match %v, want %d", n, filter, want)
	}
}

// undoes presses the button of the last message, and hears that it was done.
func (d desk) undoes(n int) {
	d.T.Helper()
	d.Press("Control+z")
	d.hears(fmt.Sprintf("Undone for %d contact", n))
}

func (d desk) byTheirIDs(sequence string) {
	d.T.Helper()
	company := func(name string) map[string]any {
		return map[string]any{"field": "company", "operator": "equals", "value": name}
	}
	d.marks()
	d.more("Set a field", "Shift+Tab")
	d.takes("Company")
	d.reach("Value")
	d.Type("Harbour")
	d.hit("Apply")
	d.hears("3 contacts changed")
	d.has(chosen, company("Harbour"))
	if got := d.EvaluateString(nameOf + `(document.activeElement)`); got != "More" {
		d.T.Errorf("after the dialog the focus is on %q, want More", got)
	}
	d.undoes(chosen)
	d.has(0, company("Harbour"))
	d.has(1, company("Alpha"))

	inList := map[string]any{"field": "list", "operator": "in", "value": []any{"crew"}}
	d.hit("Add to a list", "Shift+Tab")
	d.takes("Crew")
	d.hit("Apply")
	d.hears("2 contacts changed, 1 left as they were (1 needed no change)")
	d.has(chosen, inList)
	d.undoes(2)
	d.has(1, inList) // who was in it before

	d.more("Add to a sequence")
	d.takes("Welcome")
	d.hit("Apply")
	active := func() string {
		return fmt.Sprint(len(d.get("/sequences/" + sequence + "/enrollments?status=active")["data"].([]any)))
	}
	e2etest.Eventually(d.T, func() (string, bool) { n := active(); return n, n == "3" })
	d.more("Take out of a sequence")
	d.takes("Welcome")
	d.hit("Apply")
	e2etest.Eventually(d.T, func() (string, bool) { n := active(); return n, n == "0" })

	there := map[string]any{"field": "email", "operator": "is_set"}
	d.more("Delete")
	d.await(`![...document.querySelectorAll('main [role=status]')].some(s => s.textContent.endsWith('selected'))`)
	d.has(0, there)
	d.Press("Control+z")
	d.has(chosen, there)
	d.await(`document.querySelectorAll('[role=grid] [role=row][data-index]').length === 3`)
}

// everyone selects all contacts that match the search.
func (d desk) everyone() {
	d.T.Helper()
	d.marks()
	d.await(`[...document.querySelectorAll('main [role=status]')].some(s => s.textContent === '3 selected')`)
}

// job waits for the end of the job that the page shows, and closes it.
func (d desk) job(says string) {
	d.T.Helper()
	d.sees(says)
	d.checkAccess(readAxe(d.T), "a job that has ended")
	d.hit("Close")
	d.await(`!location.search.includes('job=')`)
}

func (d desk) asJobs(sequence string) {
	d.T.Helper()
	d.open("/contacts")
	d.listen()
	d.sees("28 contacts")
	d.await(`document.querySelectorAll('[role=grid] [role=row][data-index]').length > 5`)
	d.reach("person") // a row
	d.Press("x")
	d.hit("Select all 28 that match", "Shift+Tab")
	d.sees("All 28 that match")
	d.more("Set a field")
	d.takes("Company")
	d.sees("28 contacts are selected. This runs as a job.")
	d.reach("Value")
	d.Type("Everybody")
	d.hit("Apply")
	d.job("Completed 28 contacts changed")
	d.has(chosen, map[string]any{"field": "company", "operator": "equals", "value": "Everybody"})

	inCrew := map[string]any{"field": "list", "operator": "in", "value": []any{"crew"}}
	d.reach("person")
	d.Press("x")
	d.hit("Select all 28 that match", "Shift+Tab")
	d.hit("Add to a list")
	d.takes("Crew")
	d.hit("Apply")
	d.job("Completed 27 contacts changed, 1 left as they were")
	d.has(chosen, inCrew)
	d.reach("person")
	d.Press("x")
	d.hit("Select all 28 that match", "Shift+Tab")
	d.more("Remove from a list")
	d.takes("Crew")
	d.hit("Apply")
	d.job("Completed 28 contacts changed")
	d.has(0, inCrew)

	// The sequence is paused while somebody chooses it: the job fails.
	d.reach("person")
	d.Press("x")
	d.hit("Select all 28 that match", "Shift+Tab")
	d.more("Add to a sequence")
	d.takes("Welcome")
	d.ask(http.MethodPost, "/sequences/"+sequence+"/pause", nil)
	d.hit("Apply")
	d.job("Failed the sequence is not active")

	d.reach("person")
	d.Press("x")
	d.hit("Select all 28 that match", "Shift+Tab")
	d.more("Export")
	d.sees("28 rows exported")
	d.reach("Download")
	var file string
	d.EvaluateInto(`fetch(document.activeElement.href).then(r => r.text())`, &file)
	rows, err := csv.NewReader(strings.NewReader(file)).ReadAll()
	if err != nil || len(rows) != 29 || strings.Join(rows[0], ",") != "email,first_name,last_name,full_name,global_status,company,country,tags,last_activity_at,created_at" {
		d.T.Errorf("the export has %d rows, want 29 with the columns of the table: %v in %.300s", len(rows), err, file)
	}
	d.job("28 rows exported")

	d.open("/jobs")
	d.sees("Bulk action: enroll Failed the sequence is not active")
	d.sees("Bulk action: set field Completed 28 changed")
	d.pagesAreAccessible(harness.Pages{"/jobs"}, nil)
	d.SetScreen(1280, 900, "light")
	d.hit("Bulk action: enroll")
	d.sees("Failed the sequence is not active")
}

// leavesTheAudience exports and anonymizes contacts chosen by hand, after their status was reset.
func (d desk) leavesTheAudience() {
	d.T.Helper()
	d.open("/contacts?q=harbour.example")
	d.listen()
	d.everyone()
	d.more("Unsubscribe from an email type", "Shift+Tab")
	d.takes("All mail")
	d.hit("Apply")
	status := func(s string) map[string]any {
		return map[string]any{"field": "global_status", "operator": "equals", "value": s}
	}
	d.has(chosen, status("unsubscribed"))
	d.more("Reset the status")
	d.await(`document.activeElement.matches('[role=alertdialog] input')`)
	d.Type("3")
	d.Press("Enter")
	d.has(chosen, status("active"))
	d.more("Export")
	d.job("3 rows exported")
	d.everyone()
	d.more("Anonymise", "Shift+Tab")
	d.await(`document.activeElement.matches('[role=alertdialog] input')`)
	d.checkAccess(readAxe(d.T), "the question before anonymizing")
	d.Type("3")
	d.Press("Enter")
	d.sees("Nobody matches")
	d.has(0, status("active"))
	if got := d.EvaluateString(`document.activeElement.tagName`); got == "BODY" {
		d.T.Error("the focus is lost after the table is empty")
	}
	if rows, _ := d.get("/suppressions?search=harbour.example&limit=100")["data"].([]any); len(rows) != chosen {
		d.T.Errorf("the suppression list has %d of the addresses, want %d", len(rows), chosen)
	}
}

// anonymizesAll anonymizes all contacts that match a search, as a job that begins when their number is typed.
func (d desk) anonymizesAll() {
	d.T.Helper()
	d.open("/contacts?q=reader")
	d.sees("25 contacts")
	d.await(`document.querySelectorAll('[role=grid] [role=row][data-index]').length > 5`)
	d.reach("Reader")
	d.Press("x")
	d.hit("Select all 25 that match", "Shift+Tab")
	d.more("Anonymise")
	d.await(`document.activeElement.matches('[role=alertdialog] input')`)
	d.sees("Anonymise 25 contacts?")
	d.sees("This runs as a job. It can be cancelled, but not undone.")
	d.Type("24")
	d.Press("Enter")
	if d.EvaluateString(`Boolean(document.querySelector('[role=alertdialog]'))`) != "true" {
		d.T.Error("another number than theirs confirms it")
	}
	d.Press("Control+a")
	d.Type("25")
	d.Press("Enter")
	d.sees("Completed 25 contacts changed")
	d.job("Completed 25 contacts changed")
	d.sees("Nobody matches")
	if n := d.counted(map[string]any{"field": "first_name", "operator": "starts_with", "value": "Reader"}); n != 0 {
		d.T.Errorf("%d of the anonymized contacts have their names", n)
	}
	if rows, _ := d.get("/suppressions?search=reader&limit=100")["data"].([]any); len(rows) != 25 {
		d.T.Errorf("the suppression list has %d of the addresses, want 25", len(rows))
	}
}
