package app

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// A send appears in the report of the account with the numbers of the API, the click of one person in the activity,
// and both lead to what that person got and why the click counts.
func TestReportsAndActivityTellWhatAPersonDid(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		d := openApp(t, address)
		d.open("/reports")
		d.sees("Nothing has been sent yet")
		d.open("/activity?tab=seen")
		d.sees("No events have arrived yet")
		broadcast, contact := d.clicked()

		// The report counts what the API counts, and its address keeps the days and the type.
		d.open("/reports")
		d.sees("All mail of this workspace")
		totals := d.ask(http.MethodGet, "/reports/overview", nil)["totals"].(map[string]any)
		if totals["total_recipients"] != 25.0 || totals["total_clicked"] != 1.0 {
			t.Fatalf("the API counts %v, want 25 mails and one click", totals)
		}
		d.sees("Mails 25 Before: 0")
		d.sees("Click rate 1 of 25 · 4.0 % Before: 0")
		d.pressText("Click rate")
		d.sees("1 who clicked ÷ 25 mails")
		d.Press("Escape")
		d.pressText("As a table")
		d.await(`document.querySelectorAll('main table[class] tbody tr').length > 30`)
		file := d.saved(`document.querySelector('main [aria-label*="per day"]')`)
		if lines := strings.Count(file, "\n"); lines < 30 || !strings.Contains(file, ",25,25,25,0,0,") {
			t.Errorf("the file of days has %d lines:\n%s", lines, file)
		}
		d.pressText("Newsletter")
		d.await(`new URL(location).searchParams.get('type') === 'newsletter'`)
		d.sees("Mails 25")
		d.open("")
		d.pressText("Open rate")
		d.sees("1 who opened ÷ 25 mails")
		d.hit("Open the report")
		d.await(`location.pathname.endsWith('/reports')`)
		d.open("/reports?from=2020-01-01&to=2020-01-31")
		d.sees("No mail was sent on these days")
		d.sees("25 of 25 delivered")
		d.open("/reports?from=2020-01-31&to=2020-01-01")
		d.sees("The first day is after the last.")

		// The keyboard reaches the report, and the activity waits with what is newer.
		d.open("/activity?kind=events")
		d.sees("Nothing matches")
		d.Evaluate(`document.activeElement.blur()`)
		d.Press("g", "r")
		d.await(`location.pathname.endsWith('/reports') && document.title.startsWith('Reports')`)
		d.open("/activity")
		d.sees("Email clicked: News")
		d.ask(http.MethodPost, "/events", map[string]any{"contact_id": contact, "event_name": "order_placed", "properties": map[string]any{"value": 12.5, "items": []any{map[string]any{"sku": "mug"}}}})
		d.pressText("Show 1 newer")
		d.sees("order_placed")
		d.sees("value 12.5")
		d.open("/activity?kind=clicks&contact=" + contact)
		d.await(`document.querySelectorAll('main ol time').length === 1`)
		e2etest.Eventually(t, func() (any, bool) {
			seen := d.ask(http.MethodGet, "/suggestions?for=event_names", nil)["data"].([]any)
			return seen, len(seen) == 1
		})
		d.open("/activity?tab=seen")
		d.pressText("Properties")
		d.sees("items[].sku")
		d.sees("Properties of order_placed")

		// One person: the mail, its way, and why the click counts.
		d.open("/activity?kind=clicks")
		d.pressText("Look at the mail")
		d.await(fmt.Sprintf(`location.pathname.endsWith('/broadcasts/%s/recipients/%s') && `, broadcast, contact) + settled)
		d.sees("The mail as it was sent")
		d.sees("250 2.0.0 stored in the mailbox")
		d.Evaluate(`document.querySelector('main h1').focus()`)
		d.selects("Colours", "forced", "Forced dark")
		d.await(`new URLSearchParams(location.search).get('colours') === 'forced'`)
		d.sees("An approximation")
		evidence := d.ask(http.MethodGet, "/broadcasts/"+broadcast+"/recipients/"+contact, nil)
		for _, hit := range evidence["hits"].([]any) {
			for _, rule := range hit.(map[string]any)["rules"].([]any) {
				d.await(fmt.Sprintf(`[...document.querySelectorAll('main li code')].some(c => c.textContent === %q && c.parentElement.textContent.length > 20)`, rule))
			}
		}
		d.open("/broadcasts/" + broadcast + "?tab=people&who=clicked")
		d.await(`document.querySelector('main [role=row] a, main tbody a')`)
		d.Evaluate(`document.querySelector('main [role=row] a, main tbody a').click()`)
		d.await(`location.pathname.includes('/recipients/')`)
	})
}

// A contact's mail shows the same as the page of a recipient, the links carry their clicks on the mail, and the pages
// of reports and activity are accessible in each of their states.
func TestReportPagesAreAccessible(t *testing.T) {
	t.Parallel()
	d := openApp(t, "")
	broadcast, contact := d.clicked()
	d.ask(http.MethodPost, "/events", map[string]any{"contact_id": contact, "event_name": "order_placed", "properties": map[string]any{"value": 12.5}})
	d.open("/contacts/" + contact + "?tab=mail&mail=" + broadcast)
	d.sees("What the servers said")
	d.open("/broadcasts/" + broadcast + "?tab=links")
	d.await(`document.querySelector('main a[aria-label="1 · 4.0 %, First: 1 person"]')`)

	_, _, _, pages := harness.Routes()
	d.pagesAreAccessible(pages, map[string]string{"sent": broadcast, "recipient": contact})
}

// clicked sends a mail whose link one person follows, and returns the broadcast and the person.
func (d desk) clicked() (broadcast, contact string) {
	d.T.Helper()
	broadcast = d.create(nil)
	d.begin(broadcast)
	d.until(broadcast, "completed")
	lane := d.id("/mta-configs")
	list := d.ask(http.MethodGet, "/mta-configs/"+lane+"/messages?limit=50", nil)["data"].([]any)
	mail := d.ask(http.MethodGet, "/mta-configs/"+lane+"/messages/"+list[0].(map[string]any)["id"].(string), nil)
	html := fmt.Sprint(mail["html"])
	first, _, _ := strings.Cut(html[strings.Index(html, `href="`)+6:], `"`)
	e2etest.Wait(d.T, 3*time.Second) // a person reads it first
	e2etest.Visit(d.T, strings.ReplaceAll(first, "&amp;", "&"), http.StatusFound)
	e2etest.Eventually(d.T, func() (any, bool) {
		r := d.ask(http.MethodGet, "/reports/overview", nil)["totals"].(map[string]any)
		return r, r["total_clicked"] == 1.0
	})
	for _, row := range d.ask(http.MethodGet, "/broadcasts/"+broadcast+"/recipients?limit=50", nil)["data"].([]any) {
		if r := row.(map[string]any); r["first_clicked_at"] != nil {
			return broadcast, r["contact_id"].(string)
		}
	}
	d.T.Fatal("nobody has clicked")
	return "", ""
}

// saved presses a button that makes a file, and returns the file.
func (d desk) saved(button string) string {
	d.T.Helper()
	d.Evaluate(`(() => { const real = URL.createObjectURL; URL.createObjectURL = b => { b.text().then(t => { window.file = t }); return real.call(URL, b) }; window.file = undefined })()`)
	d.await(button)
	d.Evaluate(button + `.click()`)
	d.await(`window.file !== undefined`)
	return d.EvaluateString(`window.file`)
}
