package app

import (
	"context"
	"encoding/csv"
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

// nameOf is a function of pages: what a screen reader calls a control.
const nameOf = `(e => (e.getAttribute('aria-label') || [...(e.labels || [])].map(l => l.textContent).join(' ') || (e.getAttribute('aria-labelledby') || '').split(' ').map(i => document.getElementById(i)?.textContent || '').join(' ').trim() || e.innerText || e.textContent || '').replace(/\s+/g, ' ').trim())`

// await waits until an expression is true in the page, and else says what the page shows.
func (d desk) await(expression string) {
	d.T.Helper()
	ctx, stop := context.WithTimeout(d.Ctx, e2etest.Patience)
	defer stop()
	if err := d.Until(ctx, expression); err != nil {
		d.T.Fatalf("%v; the focus is on %s; the page shows\n%s", err, d.EvaluateString(`document.activeElement?.outerHTML.slice(0, 300)`), d.EvaluateString(`(document.querySelector("[role=dialog]") ?? document.querySelector("main")).innerText.replace(/\s+/g, " ").slice(0, 2500) + " | " + document.querySelector("[aria-label=Messages]")?.innerText`))
	}
}

// sees waits until the page shows a text.
func (d desk) sees(text string) {
	d.T.Helper()
	d.await(fmt.Sprintf(`document.body.innerText.replace(/\s+/g, ' ').includes(%q)`, text))
}

// hears waits until a message of the page says a text, even if it is gone again; listen has to be called before.
func (d desk) hears(text string) {
	d.T.Helper()
	d.await(fmt.Sprintf(`window.heard.some(h => h.includes(%q))`, text))
}

// listen collects the messages of the page from now on.
func (d desk) listen() {
	d.T.Helper()
	d.await(`document.querySelector('[aria-label=Messages]')`)
	d.Evaluate(`(() => {
		window.heard = [];
		const region = document.querySelector('[aria-label=Messages]');
		new MutationObserver(() => window.heard.push(region.textContent)).observe(region, { childList: true, subtree: true, characterData: true });
	})()`)
}

// reach presses Tab, or keys that lead back, until the focus is on the control whose name begins with a text.
func (d desk) reach(name string, key ...string) {
	d.T.Helper()
	if key == nil {
		key = []string{"Tab"}
	}
	at := fmt.Sprintf(`document.activeElement && %s(document.activeElement).startsWith(%q) && document.activeElement.matches('a, button, input, select, textarea, [role=row], summary')`, nameOf, name)
	var passed []string
	for range 120 {
		if d.EvaluateString("Boolean("+at+")") == "true" {
			return
		}
		passed = append(passed, d.EvaluateString(`document.activeElement ? `+nameOf+`(document.activeElement).slice(0, 40) : ''`))
		d.Press(key...)
	}
	d.T.Fatalf("%s does not reach %q, but %q", key[0], name, passed)
}

// hit goes to a control by the keyboard and presses Enter on it.
func (d desk) hit(name string, key ...string) {
	d.T.Helper()
	d.reach(name, key...)
	d.Press("Enter")
}

// selects chooses a value of a select by its first letters.
func (d desk) selects(label, text, value string, key ...string) {
	d.T.Helper()
	d.reach(label, key...)
	for _, letter := range text {
		if letter == ' ' {
			d.Press("Space")
		} else {
			d.Press(string(letter))
		}
	}
	if got := d.EvaluateString(`document.activeElement.selectedOptions?.[0].textContent`); got != value {
		d.T.Fatalf("%q typed into %q chooses %q, want %q", text, label, got, value)
	}
}

// takes types into the combo box that has the focus, and chooses what it offers for that by the arrow keys.
func (d desk) takes(text string) {
	d.T.Helper()
	d.await(`document.activeElement.getAttribute('role') === 'combobox'`)
	d.Type(text)
	is := fmt.Sprintf(`.textContent.toLowerCase().includes(%q)`, strings.ToLower(text))
	d.await(`[...document.querySelectorAll('[role=option]')].some(o => o` + is + `)`)
	for range 20 {
		d.Press("ArrowDown")
		if d.EvaluateString(`document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?`+is) == "true" {
			d.Press("Enter")
			return
		}
	}
	d.T.Fatalf("the arrow keys do not reach %q", text)
}

// item chooses an entry of the open menu by the arrow keys.
func (d desk) item(text string) {
	d.T.Helper()
	d.await(`document.activeElement.closest('[role=menu]')`)
	for range 30 {
		if strings.HasPrefix(d.EvaluateString(`document.activeElement.matches('[role=menuitem]') ? document.activeElement.textContent.trim() : ''`), text) {
			d.Press("Enter")
			return
		}
		d.Press("ArrowDown")
	}
	d.T.Fatalf("the arrow keys do not reach %q in the menu %s", text, d.EvaluateString(`document.querySelector('[role=menu]')?.innerText + '; the focus is on ' + document.activeElement.outerHTML.slice(0, 200)`))
}

// give gives a file to the page, as its file dialog does. The content is an expression of JavaScript.
func (d desk) give(name, content string) {
	d.T.Helper()
	d.await(`document.querySelector('input[type=file]')`)
	d.Evaluate(fmt.Sprintf(`(() => {
		const input = document.querySelector('input[type=file]'), files = new DataTransfer();
		files.items.add(new File([%s], %q, { type: 'text/csv' }));
		input.files = files.files;
		input.dispatchEvent(new Event('change', { bubbles: true }));
	})()`, content, name))
}

// counted is how many contacts match filters.
func (d desk) counted(filters ...map[string]any) int {
	d.T.Helper()
	answer, err := d.r.Owner.Must(d.Ctx, http.MethodPost, "/contacts/count", map[string]any{"filters": filters})
	if err != nil {
		d.T.Fatal(err)
	}
	return int(answer["count"].(float64))
}

// People are imported, found, changed and grouped in the application.
func TestAnAudienceIsMadeInTheApplication(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		d := openApp(t, address)
		d.mailed()
		d = d.imports()
		d.changesMany()
		d.findsAndShares()
		d.mendsOne()
		d.groups()
		for _, problem := range d.Problems() { // browsers log answers with an error: of unfinished rules, and of the segment in use
			if !strings.Contains(problem, "/segments/") && !strings.HasSuffix(problem, "/api/auth/session") {
				t.Errorf("the console says: %s", problem)
			}
		}
	})
}

const mailedTo = "reader3@example.org"

// mailed sends a mail whose link a machine follows, so that a reader has a history, and suppresses the reader.
func (d desk) mailed() {
	d.T.Helper()
	broadcast := d.create(nil)
	d.begin(broadcast)
	d.until(broadcast, "completed")
	lane := d.id("/mta-configs")
	rows, _ := d.get("/mta-configs/" + lane + "/messages?limit=100")["data"].([]any)
	for _, row := range rows {
		if m := row.(map[string]any); strings.Contains(fmt.Sprint(m["to"]), mailedTo) {
			mail := d.get("/mta-configs/" + lane + "/messages/" + m["id"].(string))
			req, err := http.NewRequestWithContext(d.Ctx, http.MethodGet, regexp.MustCompile(`http://[^"\s]+/_q/c/[^"\s]+`).FindString(fmt.Sprint(mail["html"])), nil)
			d.Must(err)
			req.Header.Set("User-Agent", "python-requests/2.32.3")
			res, err := http.DefaultTransport.RoundTrip(req)
			d.Must(err)
			d.Must(res.Body.Close())
			if res.StatusCode != http.StatusFound {
				d.T.Fatalf("the link answers %s", res.Status)
			}
			d.ask(http.MethodPost, "/suppressions", map[string]any{"email": mailedTo, "reason": "hard_bounce"})
			for _, email := range []string{mailedTo, "reader4@example.org", "reader5@example.org"} {
				d.ask(http.MethodPost, "/events", map[string]any{"contact_email": email, "event_name": "purchase"})
			}
			return
		}
	}
	d.T.Fatalf("no mail to %s in %v", mailedTo, rows)
}

// imported is a file of 20,000 rows, of which 15 have no address that can be mailed.
const imported = `'E-Mail;Vorname;Land;Plan\n' + Array.from({ length: 20000 }, (_, i) => i % 2000 === 999 ? 'not an address ' + i + ';Bad' + i + ';DE;free' : i % 4000 === 17 ? ';Lost' + i + ';DE;free' : 'p' + i + '@example.net;P' + i + ';' + (i % 4 ? 'DE' : 'AT') + ';' + (i % 3 ? 'free' : 'pro')).join('\n')`

// imports imports that file by the keyboard: it maps the columns, checks the file, runs the import, leaves, comes
// back, and imports the rows with errors again.
func (d desk) imports() desk {
	d.T.Helper()
	d.open("/contacts")
	d.hit("Import")
	d.give("people.csv", imported)
	d.selects("Becomes: Vorname", "fi", "First name")
	d.selects("Becomes: Land", "cou", "Country")
	d.reach("Becomes: Plan")
	d.Press("a")
	d.await(`document.activeElement.value === 'Plan' && document.activeElement.closest('[role=dialog]')`)
	d.Press("Enter")
	d.await(`[...document.querySelectorAll('select')].some(s => s.value === 'custom_fields.plan')`)
	d.hit("Check the file")
	d.sees("Would be created 19,985 Would be updated 0 Would be left 0 Invalid 15")
	d.sees("The first 10 of 15 rows with errors")
	d.sees("19 E-Mail")
	d.sees("not an address 999")
	if n := d.counted(); n != 25 {
		d.T.Errorf("after the check there are %d contacts, want 25", n)
	}
	d.hit("Import")
	d.await(`location.search.includes('job=')`)
	uploads := d.EvaluateString(`performance.getEntriesByType('resource').filter(e => e.name.endsWith('/contacts/import')).length`)
	if uploads != "2" {
		d.T.Errorf("the file was sent %s times, want twice", uploads)
	}

	next := d.NewTab()
	d.Must(d.Close(d.Ctx))
	d.Page = next
	d.SetScreen(1280, 900, "light")
	d.open("/jobs")
	d.hit("Import of people.csv")
	d.sees("Created 19,985 Updated 0 Left as they were 0 Invalid 15")
	d.reach("Download the rows with errors")
	var file string
	d.EvaluateInto(`fetch(document.activeElement.href).then(r => r.text())`, &file)
	rows, err := csv.NewReader(strings.NewReader(file)).ReadAll()
	if err != nil || len(rows) != 16 {
		d.T.Fatalf("the file of errors has %d rows, want 16: %v in %.200s", len(rows), err, file)
	}
	for i, row := range rows[1:] {
		row[4] = fmt.Sprintf("corrected%d@example.net", i)
	}
	var corrected strings.Builder
	if err := csv.NewWriter(&corrected).WriteAll(rows); err != nil {
		d.T.Fatal(err)
	}
	d.reach("Try these rows again")
	d.hit("Import another file")
	d.give("corrected.csv", strconv.Quote(corrected.String()))
	d.selects("Becomes: Vorname", "fi", "First name")
	d.selects("Becomes: Land", "cou", "Country")
	d.hit("Import")
	d.sees("Created 15 Updated 0 Left as they were 0 Invalid 0")
	if n := d.counted(map[string]any{"field": "custom_fields.plan", "operator": "equals", "value": "pro"}); n != 6667-6 { // six of the rows with errors would have been pro
		d.T.Errorf("%d contacts have the plan pro, want 6,661", n)
	}
	d.sees("See the contacts") // when the job has ended
	d.hit("See the contacts")
	d.sees("20,025 contacts")
	return d
}

// changesMany tags a thousand contacts and takes it back, and sets the stage of all, which is cancelled half way.
func (d desk) changesMany() {
	d.T.Helper()
	d.await(`document.querySelector('[role=grid] [role=row][tabindex="0"]')`)
	d.Evaluate(`document.querySelector('[role=grid] [role=row][tabindex="0"]').focus()`) // the table keeps it while rows are loaded again
	const far = `document.activeElement.getAttribute('aria-rowindex') > 1001`
	e2etest.Eventually(d.T, func() (any, bool) { // more rows are loaded near the end of those that are there
		d.Press("End")
		return nil, d.EvaluateString(far) == "true"
	})
	d.await(far)
	if n := d.EvaluateString(`document.querySelectorAll('[role=grid] [role=row][data-index]').length`); len(n) > 2 {
		d.T.Errorf("%s rows are in the page, want those in view and some around them", n)
	}
	d.listen()
	vip := map[string]any{"field": "tags", "operator": "has_any", "value": []any{"vip"}}
	d.reach("Select the first 1,000 rows", "Shift+Tab")
	d.Press("Space")
	d.sees("1,000 selected")
	d.hit("Add tags", "Shift+Tab")
	d.takes("vip")
	d.hit("Apply")
	d.hears("1,000 contacts changed")
	if n := d.counted(vip); n != 1000 {
		d.T.Errorf("%d contacts have the tag, want 1,000", n)
	}
	d.Press("Control+z")
	e2etest.Eventually(d.T, func() (any, bool) { n := d.counted(vip); return n, n == 0 })
	if n := d.counted(vip); n != 0 {
		d.T.Errorf("after undoing, %d contacts have the tag", n)
	}

	slow := d.slows()
	d.hit("Select all 20,025 that match", "Shift+Tab")
	d.hit("More")
	d.item("Set the stage")
	d.takes("Customer")
	d.hit("Apply")
	d.await(`document.querySelector('main [role=progressbar]')?.getAttribute('aria-valuenow') > 0`)
	d.await(`[...document.querySelectorAll('header button')].some(b => b.textContent.startsWith('1 job'))`)
	d.Press("Tab")
	if got := d.EvaluateString(`document.activeElement.textContent`); got != "Cancel" {
		d.T.Fatalf("Tab leads from the job to %q, want to Cancel; the page shows %s", got, d.EvaluateString(`document.querySelector('main').innerText.slice(0, 500)`))
	}
	d.Press("Enter")
	d.sees("Cancelled.")
	said := d.EvaluateString(`document.body.innerText.match(/Cancelled\. ([\d,]+) contacts? w/)[1].replace(',', '')`)
	n := d.counted(map[string]any{"field": "stage", "operator": "equals", "value": "customer"})
	if strconv.Itoa(n) != said || n == 0 || n >= 20025 {
		d.T.Errorf("%d contacts have the stage, and the page says %s; want the same, and neither none nor all", n, said)
	}
	d.hit("Close")
	d.cancelsOnThePageOfJobs()
	slow()
}

// cancelsOnThePageOfJobs sets the stage of everybody, and cancels that half way where all jobs are listed, which is
// reached from the top bar. The list says what was done.
func (d desk) cancelsOnThePageOfJobs() {
	d.T.Helper()
	d.open("/contacts")
	d.await(`document.querySelector('[role=grid] [role=row][tabindex="0"]')`)
	d.Press("j") // from anywhere on the page
	d.await(`document.activeElement.matches('[role=row][data-index="0"]')`)
	d.Press("Space")
	d.await(`document.querySelector('[role=dialog]')`)
	d.sees("Can be mailed?")
	peeked := `new URLSearchParams(location.search).get('peek')`
	first := d.EvaluateString(peeked)
	d.Press("j")
	d.await(peeked + ` !== ` + strconv.Quote(first))
	d.Press("k")
	d.await(peeked + ` === ` + strconv.Quote(first))
	d.Press("Escape")
	d.await(`!document.querySelector('[role=dialog]') && document.activeElement.matches('[role=row]')`)
	d.Press("x")
	d.sees("1 selected")
	d.Evaluate(`document.querySelector('main h1').focus()`)
	d.Press("Escape") // clears the selection from anywhere, too
	d.await(`!document.body.innerText.includes('1 selected')`)
	d.Press("j")
	d.await(`document.activeElement.matches('[role=row]')`)
	d.Press("x")
	d.hit("Select all", "Shift+Tab")
	d.hit("More")
	d.item("Set the stage")
	d.takes("Partner")
	d.hit("Apply")
	chip := `[...document.querySelectorAll('header button')].find(b => /^1 job · \d+ %$/.test(b.textContent))`
	d.await(chip)
	d.Evaluate(chip + `.focus()`)
	d.Press("Enter")
	d.hit("All jobs")
	d.await(`location.pathname.endsWith('/jobs') && ` + settled)
	d.await(`!document.querySelector('[role=dialog]')`)
	d.await(`document.querySelector('main tbody [role=progressbar]')?.getAttribute('aria-valuenow') > 0`)
	d.Evaluate(`document.querySelector('main h1').focus()`)
	d.hit("Cancel")
	row := `document.querySelector('main tbody tr').innerText.replace(/\s+/g, ' ')`
	d.await(`/Cancelled [\d,]+ changed/.test(` + row + `)`)
	said := d.EvaluateString(row + `.match(/Cancelled ([\d,]+) changed/)[1].replace(',', '')`)
	n := d.counted(map[string]any{"field": "stage", "operator": "equals", "value": "partner"})
	if strconv.Itoa(n) != said || n == 0 || n >= 20025 {
		d.T.Errorf("%d contacts have the stage, and the list of jobs says %s; want the same, and neither none nor all", n, said)
	}
	d.await(`!` + chip)
	if got := d.EvaluateString(`document.activeElement.tagName`); got == "BODY" {
		d.T.Error("the focus is lost when the button of a cancelled job goes")
	}
	job := d.get("/jobs?limit=1")["data"].([]any)[0].(map[string]any)["id"].(string)
	d.open("/jobs/" + job)
	d.await(fmt.Sprintf(`location.pathname.endsWith('/contacts') && location.search === '?job=%s'`, job))
	d.open("/contacts")
	d.listen()
}

// slows makes changes of stages slow in the database, until the function that it returns is called.
func (d desk) slows() func() {
	d.T.Helper()
	db := e2etest.Database(d.T, d.p)
	begin := []string{`CREATE TRIGGER slow BEFORE UPDATE OF stage_id ON contact BEGIN
		SELECT count(*) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i FROM n); END`}
	end := `DROP TRIGGER slow`
	if strings.HasPrefix(d.p.Database, "postgres") {
		begin = []string{
			`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.002); RETURN NEW; END'`,
			`CREATE TRIGGER slow BEFORE UPDATE OF stage_id ON contact FOR EACH ROW EXECUTE FUNCTION slow()`,
		}
		end += ` ON contact`
	}
	for _, statement := range begin {
		if _, err := db.Exec(d.Ctx, statement); err != nil {
			d.T.Fatal(err)
		}
	}
	return func() {
		d.T.Helper()
		if _, err := db.Exec(d.Ctx, end); err != nil {
			d.T.Fatal(err)
		}
	}
}

// findsAndShares filters contacts, chooses columns, and saves and shares that; the link shows a colleague the same.
func (d desk) findsAndShares() {
	d.T.Helper()
	d.hit("Filter", "Shift+Tab")
	d.reach("Field")
	d.takes("Country")
	d.reach("Values")
	d.takes("AT")
	d.hit("Apply")
	d.sees("5,000 contacts")
	d.hit("Columns")
	d.reach("Search fields")
	d.Type("plan")
	d.reach("Plan")
	d.Press("Space")
	d.await(`document.querySelector('[role=dialog]')?.contains(document.activeElement)`)
	d.reach("Company", "Shift+Tab")
	d.Press("Space")
	d.reach("Move Plan up")
	d.Press("Enter")
	d.Press("Escape")
	const columns = `[...document.querySelectorAll('[role=columnheader]')].map(c => c.innerText.trim()).join()`
	d.await(columns + ` === ',Name,Status,Country,Tags,Last activity,Plan,Created,'`)
	d.hit("Save as", "Shift+Tab")
	d.await(`document.activeElement.matches('[role=dialog] input')`)
	d.Type("Austrians")
	d.reach("Share it with everybody")
	d.Press("Space")
	d.hit("Save")
	d.hears("Saved as “Austrians”")
	d.await(`location.search.includes('saved=')`)

	invited := d.ask(http.MethodPost, "/users/invite", map[string]any{"email": "vera@example.org", "role": "viewer"})
	vera := desk{d.NewContext(""), d.p, d.r}
	vera.SetScreen(1280, 900, "light")
	vera.Goto(invited["accept_url"].(string))
	vera.fill("Your name", "Vera")
	vera.fill("Password", harness.Password)
	vera.pressText("Accept")
	vera.await(`location.pathname === '/app/` + harness.Tenant + `' && ` + settled)
	vera.Goto(d.EvaluateString(`location.href`))
	vera.await(settled)
	vera.sees("5,000 contacts")
	vera.sees("Country is any of AT")
	vera.await(columns + ` === ` + strconv.Quote(d.EvaluateString(columns)))
	vera.await(`[...document.querySelectorAll('[aria-pressed=true]')].some(b => b.textContent === 'Austrians (shared)')`)
	vera.quiet()
}

// mendsOne finds out why one contact gets no mail and mends it, reads what happened, deletes and restores the contact,
// and anonymises it: by the keyboard, on a screen as narrow as a phone's.
func (d desk) mendsOne() {
	d.T.Helper()
	contact := d.ask(http.MethodGet, "/contacts/lookup?email="+mailedTo, nil)["id"].(string)
	e2etest.Eventually(d.T, func() (any, bool) { // clicks are judged after a while
		rows := d.ask(http.MethodGet, "/contacts/"+contact+"/activity?types=email_clicked", nil)["data"].([]any)
		return rows, len(rows) == 1 && rows[0].(map[string]any)["classification"] == "bot"
	})
	d.SetScreen(390, 844, "dark")
	d.open("/contacts")
	d.reach("Search names")
	d.Type(mailedTo)
	d.await(`document.querySelectorAll('[role=rowgroup] [role=row][data-index]').length === 1`)
	d.hit("Reader3")
	d.sees("Can be mailed? No")
	d.sees("On the suppression list hard bounce, since")
	d.sees("Machine")
	d.sees("The program names itself as a bot, a library or a scanner")
	d.hit("Open the suppression list")
	d.await(`location.pathname.endsWith('/suppressions') && ` + settled)
	d.SetScreen(1280, 900, "dark")
	d.await(`[...document.querySelectorAll('main [role=row] a')].some(a => a.textContent === 'Reader3')`) // who has the address
	d.SetScreen(390, 844, "dark")
	d.hit("Remove " + mailedTo)
	d.sees("No address matches")
	d.Evaluate(`history.back()`)
	d.sees("Can be mailed? Yes")
	d.listen()
	d.hit("More actions")
	d.item("Delete")
	d.hears("Deleted Reader3")
	d.sees("This contact is deleted")
	d.sees("Can be mailed? No")
	d.Press("Control+k")
	d.await(`document.activeElement.matches('dialog [role=combobox]')`)
	d.Type(">undo: deleted reader3")
	d.await(`document.querySelectorAll('dialog [role=option]').length === 1`)
	d.Press("Enter")
	d.sees("Can be mailed? Yes")
	d.hit("More actions")
	d.item("Anonymise")
	d.await(`document.activeElement.matches('[role=alertdialog] input')`)
	d.Type(mailedTo)
	d.Press("Enter")
	d.await(`location.pathname.endsWith('/contacts')`)
	if n := d.counted(map[string]any{"field": "email", "operator": "equals", "value": mailedTo}); n != 0 {
		d.T.Errorf("%d contacts have the address that was anonymised", n)
	}
	if rows, _ := d.get("/suppressions?q=" + mailedTo)["data"].([]any); len(rows) != 1 {
		d.T.Errorf("the suppression list has %v, want the address", rows)
	}
	if wide := d.EvaluateString(`document.documentElement.scrollWidth > innerWidth`); wide == "true" {
		d.T.Error("the page is wider than the screen")
	}
	d.SetScreen(1280, 900, "light")
}

// groups makes a segment of three levels with an event, whose fault stands at its condition; who matches are its
// members, and it cannot be deleted while a draft uses it.
func (d desk) groups() {
	d.T.Helper()
	d.open("/segments")
	d.hit("New segment")
	d.await(`location.pathname.endsWith('/segments/new') && ` + settled)
	d.reach("Name")
	d.Type("Buyers")
	d.hit("Add a group")
	d.await(`document.querySelectorAll('fieldset[data-depth="1"]').length === 1`)
	d.Press("Shift+Tab")
	d.hit("Add a group", "Shift+Tab")
	d.await(`document.querySelectorAll('fieldset[data-depth="2"]').length === 1`)
	d.selects("About", "event", "Event of your programs", "Shift+Tab")
	const faulty = `[...document.querySelectorAll('[data-bad]')].map(f => f.getAttribute('aria-label') + ' of depth ' + f.closest('[data-depth]').dataset.depth).join()`
	d.await(faulty + ` === 'Condition 1 of depth 1,Condition 1 of depth 2'`)
	d.sees("2 problems in the rule, at their conditions.")
	d.reach("Event")
	d.Type("purchase")
	d.await(faulty + ` === 'Condition 1 of depth 1'`)
	d.reach("Values", "Shift+Tab")
	d.takes("FR")
	d.await(faulty + ` === ''`)
	d.sees("Nobody matches.")            // no person has clicked
	d.reach("Move Group 3", "Shift+Tab") // before it is the condition on clicks
	d.hit("More actions", "Shift+Tab")
	d.item("Remove")
	d.sees("2 match, 2 of them can be mailed.")
	d.hit("Create", "Shift+Tab")
	d.await(`location.pathname.endsWith('/segments/buyers') && ` + settled)
	d.hit("Members")
	const members = `[...document.querySelectorAll('[role=rowheader]')].map(c => c.innerText.replace(/\s+/g, ' ').trim()).sort().join()`
	d.await(members + ` === 'Reader4 reader4@example.org,Reader5 reader5@example.org'`)

	draft := d.create(map[string]any{"name": "To buyers", "include_segment_keys": []any{"buyers"}})
	d.hit("More actions", "Shift+Tab")
	d.item("Delete")
	d.await(`document.activeElement.closest('[role=alertdialog]') && document.activeElement.textContent === 'Cancel'`)
	d.hit("Delete")
	d.sees("It is in use, so it cannot be deleted yet")
	d.hit("To buyers")
	d.await(`location.pathname.endsWith('/broadcasts/` + draft + `/edit') && ` + settled)
	if got := d.get("/segments/buyers"); got["name"] != "Buyers" {
		d.T.Errorf("the segment is %v", got)
	}
}
