package app

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// countContacts is how many contacts match filters.
func (page appPage) countContacts(filters ...map[string]any) int {
	page.T.Helper()
	answer, err := page.account.Owner.Must(page.Ctx, http.MethodPost, "/contacts/count", map[string]any{"filters": filters})
	if err != nil {
		page.T.Fatal(err)
	}
	return int(answer["count"].(float64))
}

// People are imported, found, changed and grouped in the application.
func TestContactsAreImportedFilteredAndGroupedInTheApplication(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		page.sendToAll()
		page = page.importPeople()
		page.changeMany()
		page.filterAndShare()
		page.repairContact()
		page.buildSegment()
		page.importForeignFile()
		for _, problem := range page.Problems() { // browsers log answers with an error: of unfinished rules, of the segment in use, and of a file that is gone
			if !strings.Contains(problem, "/segments/") && !strings.HasSuffix(problem, "/contacts/import") && !strings.HasSuffix(problem, "/api/auth/session") {
				t.Errorf("the console says: %s", problem)
			}
		}
	})
}

const mailedTo = "reader3@example.org"

// sendToAll sends a mail whose link a machine follows, so that a reader has a history, and suppresses the reader.
func (page appPage) sendToAll() {
	page.T.Helper()
	broadcast := page.createDraft(nil)
	page.startSend(broadcast)
	page.waitForStatus(broadcast, "completed")
	lane := page.firstID("/mta-configs")
	rows, _ := page.get("/mta-configs/" + lane + "/messages?limit=100")["data"].([]any)
	for _, row := range rows {
		if m := row.(map[string]any); strings.Contains(fmt.Sprint(m["to"]), mailedTo) {
			mail := page.get("/mta-configs/" + lane + "/messages/" + m["id"].(string))
			req, err := http.NewRequestWithContext(page.Ctx, http.MethodGet, regexp.MustCompile(`http://[^"\s]+/_q/c/[^"\s]+`).FindString(fmt.Sprint(mail["html"])), nil)
			page.Must(err)
			req.Header.Set("User-Agent", "python-requests/2.32.3")
			res, err := http.DefaultTransport.RoundTrip(req)
			page.Must(err)
			page.Must(res.Body.Close())
			if res.StatusCode != http.StatusFound {
				page.T.Fatalf("the link answers %s", res.Status)
			}
			page.call(http.MethodPost, "/suppressions", map[string]any{"email": mailedTo, "reason": "hard_bounce"})
			for _, email := range []string{mailedTo, "reader4@example.org", "reader5@example.org"} {
				page.call(http.MethodPost, "/events", map[string]any{"contact_email": email, "event_name": "purchase"})
			}
			return
		}
	}
	page.T.Fatalf("no mail to %s in %v", mailedTo, rows)
}

// changeMany tags a thousand contacts and takes it back, and sets the stage of all, which is cancelled half way.
func (page appPage) changeMany() {
	page.T.Helper()
	page.WaitFor(`document.querySelector('[role=grid] [role=row][tabindex="0"]')`)
	page.Evaluate(`document.querySelector('[role=grid] [role=row][tabindex="0"]').focus()`) // the table keeps it while rows are loaded again
	const far = `document.activeElement.getAttribute('aria-rowindex') > 1001`
	e2etest.Eventually(page.T, func() (any, bool) { // more rows are loaded near the end of those that are there
		page.Press("End")
		return nil, page.EvaluateString(far) == "true"
	})
	page.WaitFor(far)
	if n := page.EvaluateString(`document.querySelectorAll('[role=grid] [role=row][data-index]').length`); len(n) > 2 {
		page.T.Errorf("%s rows are in the page, want those in view and some around them", n)
	}
	page.RecordMessages()
	vip := map[string]any{"field": "tags", "operator": "has_any", "value": []any{"vip"}}
	page.TabTo("Select the first 1,000 rows", "Shift+Tab")
	page.Press("Space")
	page.Main().ExpectText("1,000 selected")
	page.PressEnterOn("Add tags", "Shift+Tab")
	page.ChooseOption("vip")
	page.PressEnterOn("Apply")
	page.ExpectMessage("1,000 contacts changed")
	if n := page.countContacts(vip); n != 1000 {
		page.T.Errorf("%d contacts have the tag, want 1,000", n)
	}
	page.Press("Control+z")
	e2etest.Eventually(page.T, func() (any, bool) { n := page.countContacts(vip); return n, n == 0 })
	if n := page.countContacts(vip); n != 0 {
		page.T.Errorf("after undoing, %d contacts have the tag", n)
	}

	slow := page.slowDownStages()
	page.PressEnterOn("Select all 20,025 that match", "Shift+Tab")
	page.PressEnterOn("More")
	page.ChooseMenuItem("Set stage")
	page.ChooseOption("Customer")
	page.PressEnterOn("Apply")
	page.WaitFor(`document.querySelector('main [role=progressbar]')?.getAttribute('aria-valuenow') > 0`)
	page.WaitFor(`[...document.querySelectorAll('header button')].some(b => b.textContent.startsWith('1 job'))`)
	page.Press("Tab")
	if got := page.EvaluateString(`document.activeElement.textContent`); got != "Cancel" {
		page.T.Fatalf("Tab leads from the job to %q, want to Cancel; the page shows %s", got, page.EvaluateString(`document.querySelector('main').innerText.slice(0, 500)`))
	}
	page.Press("Enter")
	page.Main().ExpectText("Cancelled.")
	said := page.EvaluateString(`document.querySelector('main').innerText.match(/Cancelled\. ([\d,]+) contacts? had/)[1].replace(',', '')`)
	n := page.countContacts(map[string]any{"field": "stage", "operator": "equals", "value": "customer"})
	if strconv.Itoa(n) != said || n == 0 || n >= 20025 {
		page.T.Errorf("%d contacts have the stage, and the page says %s; want the same, and neither none nor all", n, said)
	}
	page.PressEnterOn("Close")
	page.cancelInJobList()
	slow()
}

// cancelInJobList sets the stage of everybody, and cancels that half way where all jobs are listed, which is
// reached from the top bar. The list says what was done.
func (page appPage) cancelInJobList() {
	page.T.Helper()
	page.open("/contacts")
	page.WaitFor(`document.querySelector('[role=grid] [role=row][tabindex="0"]')`)
	page.Press("j") // from anywhere on the page
	page.WaitFor(`document.activeElement.matches('[role=row][data-index="0"]')`)
	page.Press("Space")
	page.WaitFor(`document.querySelector('[role=dialog]')`)
	page.Dialog().ExpectText("Can be mailed?")
	peeked := `new URLSearchParams(location.search).get('peek')`
	first := page.EvaluateString(peeked)
	page.Press("j")
	page.WaitFor(peeked + ` !== ` + strconv.Quote(first))
	page.Press("k")
	page.WaitFor(peeked + ` === ` + strconv.Quote(first))
	page.Press("Escape")
	page.WaitFor(`!document.querySelector('[role=dialog]') && document.activeElement.matches('[role=row]')`)
	page.Press("x")
	page.Main().ExpectText("1 selected")
	page.Evaluate(`document.querySelector('main h1').focus()`)
	page.Press("Escape") // clears the selection from anywhere, too
	page.All().ExpectNoText("1 selected")
	page.Press("j")
	page.WaitFor(`document.activeElement.matches('[role=row]')`)
	page.Press("x")
	page.PressEnterOn("Select all", "Shift+Tab")
	page.PressEnterOn("More")
	page.ChooseMenuItem("Set stage")
	page.ChooseOption("Partner")
	page.PressEnterOn("Apply")
	chip := `[...document.querySelectorAll('header button')].find(b => /^1 job · \d+ %$/.test(b.textContent))`
	page.WaitFor(chip)
	page.Evaluate(chip + `.focus()`)
	page.Press("Enter")
	page.PressEnterOn("All jobs")
	page.expectURL("/jobs$")
	page.expectNoDialog()
	page.WaitFor(`document.querySelector('main tbody [role=progressbar]')?.getAttribute('aria-valuenow') > 0`)
	page.Evaluate(`document.querySelector('main h1').focus()`)
	page.PressEnterOn("Cancel")
	row := `document.querySelector('main tbody tr').innerText.replace(/\s+/g, ' ')`
	page.WaitFor(`/Cancelled [\d,]+ changed/.test(` + row + `)`)
	said := page.EvaluateString(row + `.match(/Cancelled ([\d,]+) changed/)[1].replace(',', '')`)
	n := page.countContacts(map[string]any{"field": "stage", "operator": "equals", "value": "partner"})
	if strconv.Itoa(n) != said || n == 0 || n >= 20025 {
		page.T.Errorf("%d contacts have the stage, and the list of jobs says %s; want the same, and neither none nor all", n, said)
	}
	page.WaitFor(`!` + chip)
	if got := page.EvaluateString(`document.activeElement.tagName`); got == "BODY" {
		page.T.Error("the focus is lost when the button of a cancelled job goes")
	}
	job := page.get("/jobs?limit=1")["data"].([]any)[0].(map[string]any)["id"].(string)
	page.open("/jobs/" + job)
	page.WaitFor(fmt.Sprintf(`location.pathname.endsWith('/contacts') && location.search === '?job=%s'`, job))
	page.open("/contacts")
	page.RecordMessages()
}

// slowDownStages makes changes of stages slow in the database, until the function that it returns is called.
func (page appPage) slowDownStages() func() {
	page.T.Helper()
	db := e2etest.Database(page.T, page.program)
	begin := []string{`CREATE TRIGGER slow BEFORE UPDATE OF stage_id ON contact BEGIN
		SELECT count(*) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i FROM n); END`}
	end := `DROP TRIGGER slow`
	if strings.HasPrefix(page.program.Database, "postgres") {
		begin = []string{
			`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.002); RETURN NEW; END'`,
			`CREATE TRIGGER slow BEFORE UPDATE OF stage_id ON contact FOR EACH ROW EXECUTE FUNCTION slow()`,
		}
		end += ` ON contact`
	}
	for _, statement := range begin {
		if _, err := db.Exec(page.Ctx, statement); err != nil {
			page.T.Fatal(err)
		}
	}
	return func() {
		page.T.Helper()
		if _, err := db.Exec(page.Ctx, end); err != nil {
			page.T.Fatal(err)
		}
	}
}

// filterAndShare filters contacts, chooses columns, and saves and shares that; the link shows a colleague the same.
func (page appPage) filterAndShare() {
	page.T.Helper()
	page.PressEnterOn("Filter", "Shift+Tab")
	page.TabTo("Field")
	page.ChooseOption("Country")
	page.TabTo("Values")
	page.ChooseOption("Austria")
	page.PressEnterOn("Apply")
	page.Main().ExpectText("5,000 contacts")
	page.PressEnterOn("Columns")
	page.TabTo("Search fields")
	page.Type("plan")
	page.TabTo("Plan")
	page.Press("Space")
	page.WaitFor(`document.querySelector('[role=dialog]')?.contains(document.activeElement)`)
	page.TabTo("Company", "Shift+Tab")
	page.Press("Space")
	page.TabTo("Move Plan up")
	page.Press("Enter")
	page.Press("Escape")
	const columns = `[...document.querySelectorAll('[role=columnheader]')].map(c => c.innerText.trim()).join()`
	page.WaitFor(columns + ` === ',Name,Status,Country,Tags,Last activity,Plan,Created,More'`)
	page.PressEnterOn("Save as", "Shift+Tab")
	page.WaitFor(`document.activeElement.matches('[role=dialog] input')`)
	page.Type("Austrians")
	page.TabTo("Share with everybody")
	page.Press("Space")
	page.PressEnterOn("Save")
	page.ExpectMessage("Saved as “Austrians”")
	page.WaitFor(`location.search.includes('saved=')`)

	invited := page.call(http.MethodPost, "/users/invite", map[string]any{"email": "vera@example.org", "role": "viewer"})
	vera := appPage{page.NewContext(""), page.program, page.account}
	vera.SetScreen(1280, 900, "light")
	vera.Goto(invited["accept_url"].(string))
	vera.Fill("Your name", "Vera")
	vera.Fill("Password", harness.Password)
	vera.Click("Accept")
	vera.expectURL("^/app/" + harness.Tenant + "$")
	vera.Goto(page.EvaluateString(`location.href`))
	vera.WaitFor(settled)
	vera.Main().ExpectText("5,000 contacts")
	vera.Main().ExpectText("Country is any of Austria")
	vera.WaitFor(columns + ` === ` + strconv.Quote(page.EvaluateString(columns)))
	vera.WaitFor(`[...document.querySelectorAll('[aria-pressed=true]')].some(b => b.textContent === 'Austrians (shared)')`)
	vera.expectNoProblems()
}

// repairContact finds out why one contact gets no mail and mends it, reads what happened, deletes and restores the contact,
// and anonymises it: by the keyboard, on a screen as narrow as a phone's.
func (page appPage) repairContact() {
	page.T.Helper()
	contact := page.call(http.MethodGet, "/contacts/lookup?email="+mailedTo, nil)["id"].(string)
	e2etest.Eventually(page.T, func() (any, bool) { // clicks are judged after a while
		rows := page.call(http.MethodGet, "/contacts/"+contact+"/activity?types=email_clicked", nil)["data"].([]any)
		return rows, len(rows) == 1 && rows[0].(map[string]any)["classification"] == "bot"
	})
	page.SetScreen(390, 844, "dark")
	page.open("/contacts")
	page.TabTo("Search names")
	page.Type(mailedTo)
	page.WaitFor(`document.querySelectorAll('[role=rowgroup] [role=row][data-index]').length === 1`)
	page.PressEnterOn("Reader3")
	page.Main().ExpectText("Can be mailed? No")
	page.In("region", "Can be mailed?").ExpectText("On the suppression list Hard bounce · Since")
	page.Main().ExpectText("Machine")
	page.Main().ExpectText("The program identifies itself as a bot, a library or a scanner")
	page.PressEnterOn("Open suppression list")
	page.expectURL("/suppressions$")
	page.SetScreen(1280, 900, "dark")
	page.WaitFor(`[...document.querySelectorAll('main [role=row] a')].some(a => a.textContent === 'Reader3')`) // who has the address
	page.SetScreen(390, 844, "dark")
	page.PressEnterOn("Remove " + mailedTo)
	page.Main().ExpectText("No address matches")
	page.Evaluate(`history.back()`)
	page.Main().ExpectText("Can be mailed? Yes")
	page.RecordMessages()
	page.PressEnterOn("More actions")
	page.ChooseMenuItem("Delete")
	page.ExpectMessage("Reader3 deleted")
	page.Main().ExpectText("This contact is deleted")
	page.Main().ExpectText("Can be mailed? No")
	page.Press("Control+k")
	page.WaitFor(`document.activeElement.matches('dialog [role=combobox]')`)
	page.Type(">undo: deleted reader3")
	page.WaitFor(`document.querySelectorAll('dialog [role=option]').length === 1`)
	page.Press("Enter")
	page.Main().ExpectText("Can be mailed? Yes")
	page.PressEnterOn("More actions")
	page.ChooseMenuItem("Anonymise")
	page.WaitFor(`document.activeElement.matches('[role=alertdialog] input')`)
	page.Type(mailedTo)
	page.Press("Enter")
	page.expectURL("/contacts$")
	if n := page.countContacts(map[string]any{"field": "email", "operator": "equals", "value": mailedTo}); n != 0 {
		page.T.Errorf("%d contacts have the address that was anonymised", n)
	}
	if rows, _ := page.get("/suppressions?q=" + mailedTo)["data"].([]any); len(rows) != 1 {
		page.T.Errorf("the suppression list has %v, want the address", rows)
	}
	if wide := page.EvaluateString(`document.documentElement.scrollWidth > innerWidth`); wide == "true" {
		page.T.Error("the page is wider than the screen")
	}
	page.SetScreen(1280, 900, "light")
}

// buildSegment makes a segment of three levels with an event, whose fault stands at its condition; who matches are its
// members, and it cannot be deleted while a draft uses it.
func (page appPage) buildSegment() {
	page.T.Helper()
	page.open("/segments")
	page.PressEnterOn("New segment")
	page.expectURL("/segments/new$")
	page.TabTo("Name")
	page.Type("Buyers")
	page.PressEnterOn("Add group")
	page.WaitFor(`document.querySelectorAll('fieldset[data-depth="1"]').length === 1`)
	page.expectOpenPart() // of the new condition: what has to be chosen
	page.Press("Escape")
	page.expectFocusOnPart("Field: choose a field")
	page.PressEnterOn("Add group")
	page.WaitFor(`document.querySelectorAll('fieldset[data-depth="2"]').length === 1`)
	page.expectOpenPart()
	page.Press("Escape")
	page.expectFocusOnPart("Field: choose a field")
	page.choosePart("Type", "Custom event", "Shift+Tab")
	page.expectOpenPart() // the event, since another type has nothing that was chosen
	const faulty = `[...document.querySelectorAll('[data-bad]')].map(f => f.getAttribute('aria-label') + ' of depth ' + f.closest('[data-depth]').dataset.depth).join()`
	page.WaitFor(faulty + ` === 'Condition 1 of depth 1'`) // nobody has left the other one yet
	page.In("region", "Matches now").ExpectText("2 problems in the rule, at their conditions.")
	page.Type("purchase")
	page.Press("Enter")
	page.expectFocusOnPart("Event: purchase")
	page.WaitFor(faulty + ` === 'Condition 1 of depth 1'`)
	page.openPart("Field: choose a field", "Shift+Tab")
	page.WaitFor(`$.text(document.getElementById(document.querySelector('[data-part=field][data-invalid]').getAttribute('aria-describedby'))) === 'Field must be filled in.'`)
	page.ChooseOption("Country")
	page.expectOpenPart() // the value, which the new field needs
	page.ChooseOption("France")
	page.WaitFor(`document.activeElement.value === ''`)
	page.Press("Enter")
	page.expectFocusOnPart("Value: France")
	page.WaitFor(faulty + ` === ''`)
	page.In("region", "Matches now").ExpectText("Nobody matches.") // no person has clicked
	page.TabTo("Move Group 3", "Shift+Tab")                        // before it is the condition on clicks
	page.PressEnterOn("More actions", "Shift+Tab")
	page.ChooseMenuItem("Remove")
	page.In("region", "Matches now").ExpectText("2 match, 2 of them can be mailed.")
	page.PressEnterOn("Create")
	page.expectURL("/segments/buyers$")
	page.PressEnterOn("Members")
	const members = `[...document.querySelectorAll('[role=rowheader]')].map(c => c.innerText.replace(/\s+/g, ' ').trim()).sort().join()`
	page.WaitFor(members + ` === 'Reader4 reader4@example.org,Reader5 reader5@example.org'`)

	draft := page.createDraft(map[string]any{"name": "To buyers", "include_segment_keys": []any{"buyers"}})
	page.PressEnterOn("More actions", "Shift+Tab")
	page.ChooseMenuItem("Delete")
	page.WaitFor(`document.activeElement.closest('[role=alertdialog]') && document.activeElement.textContent === 'Cancel'`)
	page.PressEnterOn("Delete")
	page.In("dialog", "Delete Buyers?").ExpectText("This segment is in use and cannot be deleted yet")
	page.PressEnterOn("To buyers")
	page.expectURL("/broadcasts/" + draft + "/edit$")
	if got := page.get("/segments/buyers"); got["name"] != "Buyers" {
		page.T.Errorf("the segment is %v", got)
	}
}
