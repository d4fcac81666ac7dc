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
func TestReportsAndActivityShowWhatAPersonDid(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		page.open("/reports")
		page.Main().ExpectText("Nothing has been sent yet")
		page.open("/activity?tab=seen")
		page.Main().ExpectText("No events yet")
		broadcast, contact := page.sendAndFollowLink()

		// The report counts what the API counts, and its address keeps the days and the type.
		page.open("/reports")
		page.Main().ExpectText("All email from this workspace")
		totals := page.call(http.MethodGet, "/reports/overview", nil)["totals"].(map[string]any)
		if totals["total_recipients"] != 25.0 || totals["total_clicked"] != 1.0 {
			t.Fatalf("the API counts %v, want 25 mails and one click", totals)
		}
		page.In("region", "Totals").ExpectText("Emails 25 Before: 0")
		page.In("region", "Totals").ExpectText("Click rate 1 of 25 4.0 % Before: 0")
		page.Click("Click rate")
		page.In("dialog", "What “Click rate” means").ExpectText("1 who clicked ÷ 25 emails")
		page.Press("Escape")
		page.Click("As a table")
		page.WaitFor(`document.querySelectorAll('main table[class] tbody tr').length > 30`)
		file := page.download(`document.querySelector('main [aria-label*="per day"]')`)
		if lines := strings.Count(file, "\n"); lines < 30 || !strings.Contains(file, ",25,25,25,0,0,") {
			t.Errorf("the file of days has %d lines:\n%s", lines, file)
		}
		page.Click("Newsletter")
		page.WaitFor(`new URL(location).searchParams.get('type') === 'newsletter'`)
		page.In("region", "Totals").ExpectText("Emails 25")
		page.open("")
		page.Click("Open rate")
		page.In("dialog", "What “Open rate” means").ExpectText("1 who opened ÷ 25 emails")
		page.PressEnterOn("Open report")
		page.expectURL("/reports$")
		page.open("/reports?from=2020-01-01&to=2020-01-31")
		page.Main().ExpectText("No emails were sent on these days")
		page.Main().ExpectText("25 of 25 delivered")
		page.open("/reports?from=2020-01-31&to=2020-01-01")
		page.Main().ExpectText("The first day is after the last day.")

		// The keyboard reaches the report, and the activity waits with what is newer.
		page.open("/activity?kind=events")
		page.Main().ExpectText("Nothing matches")
		page.Evaluate(`document.activeElement.blur()`)
		page.Press("g", "r")
		page.WaitFor(`location.pathname.endsWith('/reports') && document.title.startsWith('Reports')`)
		page.open("/activity")
		page.Main().ExpectText("Email clicked: News")
		page.call(http.MethodPost, "/events", map[string]any{"contact_id": contact, "event_name": "order_placed", "properties": map[string]any{"value": 12.5, "items": []any{map[string]any{"sku": "mug"}}}})
		page.Click("Show 1 newer")
		page.Main().ExpectText("order_placed")
		page.Main().ExpectText("value 12.5")
		page.open("/activity?kind=clicks&contact=" + contact)
		page.WaitFor(`document.querySelectorAll('main ol time').length === 1`)
		e2etest.Eventually(t, func() (any, bool) {
			seen := page.call(http.MethodGet, "/suggestions?for=event_names", nil)["data"].([]any)
			return seen, len(seen) == 1
		})
		page.open("/activity?tab=seen")
		page.Click("Properties")
		page.In("dialog", "Properties of order_placed").ExpectText("items[].sku")
		page.Dialog().ExpectText("Properties of order_placed")

		// One person: the mail, its way, and why the click counts.
		page.open("/activity?kind=clicks")
		page.Click("View email")
		page.WaitFor(fmt.Sprintf(`location.pathname.endsWith('/broadcasts/%s/recipients/%s') && `, broadcast, contact) + settled)
		page.Main().ExpectText("Email as sent")
		page.In("region", "What the servers said").ExpectText("250 2.0.0 stored in the mailbox")
		page.Evaluate(`document.querySelector('main h1').focus()`)
		page.SelectByKeys("Colours", "forced", "Forced dark")
		page.WaitFor(`new URLSearchParams(location.search).get('colours') === 'forced'`)
		page.In("region", "Email as sent").ExpectText("An approximation")
		evidence := page.call(http.MethodGet, "/broadcasts/"+broadcast+"/recipients/"+contact, nil)
		for _, hit := range evidence["hits"].([]any) {
			for _, rule := range hit.(map[string]any)["rules"].([]any) {
				page.WaitFor(fmt.Sprintf(`[...document.querySelectorAll('main li code')].some(c => c.textContent === %q && c.parentElement.textContent.length > 20)`, rule))
			}
		}
		page.open("/broadcasts/" + broadcast + "?tab=people&who=clicked")
		page.WaitFor(`document.querySelector('main [role=row] a, main tbody a')`)
		page.Evaluate(`document.querySelector('main [role=row] a, main tbody a').click()`)
		page.expectURL("/recipients/")
	})
}

// A contact's mail shows the same as the page of a recipient, the links carry their clicks on the mail, and the pages
// of reports and activity are accessible in each of their states.
func TestReportPagesAreAccessible(t *testing.T) {
	t.Parallel()
	page := openApp(t, "")
	broadcast, contact := page.sendAndFollowLink()
	page.call(http.MethodPost, "/events", map[string]any{"contact_id": contact, "event_name": "order_placed", "properties": map[string]any{"value": 12.5}})
	page.open("/contacts/" + contact + "?tab=mail&mail=" + broadcast)
	page.In("dialog", "Hello").ExpectText("What the servers said")
	page.open("/broadcasts/" + broadcast + "?tab=links")
	page.WaitFor(`document.querySelector('main a[aria-label="1 · 4.0 %, First: 1 person"]')`)

	_, _, _, pages := harness.Routes()
	page.expectPagesAccessible(pages, map[string]string{"sent": broadcast, "recipient": contact})
}

// sendAndFollowLink sends a mail whose link one person follows, and returns the broadcast and the person.
func (page appPage) sendAndFollowLink() (broadcast, contact string) {
	page.T.Helper()
	broadcast = page.createDraft(nil)
	page.startSend(broadcast)
	page.waitForStatus(broadcast, "completed")
	lane := page.firstID("/mta-configs")
	list := page.call(http.MethodGet, "/mta-configs/"+lane+"/messages?limit=50", nil)["data"].([]any)
	mail := page.call(http.MethodGet, "/mta-configs/"+lane+"/messages/"+list[0].(map[string]any)["id"].(string), nil)
	html := fmt.Sprint(mail["html"])
	first, _, _ := strings.Cut(html[strings.Index(html, `href="`)+6:], `"`)
	e2etest.Wait(page.T, 3*time.Second) // a person reads it first
	e2etest.Visit(page.T, strings.ReplaceAll(first, "&amp;", "&"), http.StatusFound)
	e2etest.Eventually(page.T, func() (any, bool) {
		r := page.call(http.MethodGet, "/reports/overview", nil)["totals"].(map[string]any)
		return r, r["total_clicked"] == 1.0
	})
	for _, row := range page.call(http.MethodGet, "/broadcasts/"+broadcast+"/recipients?limit=50", nil)["data"].([]any) {
		if r := row.(map[string]any); r["first_clicked_at"] != nil {
			return broadcast, r["contact_id"].(string)
		}
	}
	page.T.Fatal("nobody has clicked")
	return "", ""
}

// download presses a button that makes a file, and returns the file.
func (page appPage) download(button string) string {
	page.T.Helper()
	page.Evaluate(`$.keepFile()`)
	page.ClickElement(button)
	page.WaitFor(`window.file !== undefined`)
	return page.EvaluateString(`window.file`)
}
