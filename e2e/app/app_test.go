package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/browser"
	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// axeFile checks pages for accessibility (https://github.com/dequelabs/axe-core).
const axeFile = "../../web/node_modules/axe-core/axe.min.js"

// recipientPage is a link in a mail to a page for its recipient.
var recipientPage = regexp.MustCompile(`http://[^"\s]+/_q/[pu]/[^"\s]+`)

// appPage is a page of a browser with the application, signed in as the owner.
type appPage struct {
	*browser.Page
	program *harness.Program
	account *harness.Ready
}

// openApp starts the program, makes an account that sends into the built-in mailbox, and signs in to the
// application by its form.
func openApp(t *testing.T, address string, env ...string) appPage {
	t.Helper()
	p := &harness.Program{Env: env}
	page := openBrowser(t, p, address)
	ctx := page.Ctx
	ready, err := p.Ready(ctx)
	if err != nil {
		t.Fatal(err)
	}
	lane, err := ready.Owner.Must(ctx, http.MethodPost, "/mta-configs", map[string]any{"name": "Mailbox", "type": "sink"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ready.Owner.Must(ctx, http.MethodPut, "/settings/account", map[string]any{"default_mta_config_key": lane["key"], "default_sending_identity_email": ready.Sender}); err != nil {
		t.Fatal(err)
	}
	emails := []any{}
	for i := range 25 {
		email := fmt.Sprintf("reader%d@example.org", i)
		if _, err := ready.Key.Must(ctx, http.MethodPost, "/contacts", map[string]any{"email": email, "first_name": fmt.Sprintf("Reader%d", i), "country": "DE"}); err != nil {
			t.Fatal(err)
		}
		emails = append(emails, email)
	}
	if _, err := ready.Key.Must(ctx, http.MethodPost, "/segments/"+ready.List+"/members", map[string]any{"emails": emails}); err != nil {
		t.Fatal(err)
	}
	page.account = ready
	page.Goto(p.BaseURL + "/")
	page.signIn(harness.Owner, harness.Password)
	return page
}

// openBrowser starts the program and a browser.
func openBrowser(t *testing.T, p *harness.Program, address string) appPage {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), e2etest.Stay)
	t.Cleanup(cancel)
	b := browser.Start(ctx, t)
	e2etest.Begin(t, p, address)
	page := appPage{browser.Open(ctx, t, b, ""), p, nil}
	page.SetScreen(1280, 900, "light")
	return page
}

const settled = harness.Settled

// expectURL waits until the path matches a regular expression, and the page has loaded.
func (page appPage) expectURL(path string) {
	page.T.Helper()
	page.WaitFor(fmt.Sprintf(`new RegExp(%q).test(location.pathname) && `, path) + settled)
}

// expectNoDialog waits until no dialog or drawer is open.
func (page appPage) expectNoDialog() {
	page.T.Helper()
	page.WaitFor(`!document.querySelector('[role=dialog]')`)
}

func (page appPage) open(route string) {
	page.T.Helper()
	page.Goto(page.program.BaseURL + "/app/" + harness.Tenant + route)
	page.WaitFor(settled)
}

// The application's pages have no violations of WCAG 2.2 AA that axe finds, write nothing to the console, do
// not break their content security policy, and are no wider than the screen: wide and light, narrow and dark.
func TestTheApplicationsPagesAreAccessible(t *testing.T) {
	t.Parallel()
	page := openApp(t, "")
	contact := page.firstID("/contacts?limit=1")
	domain := page.firstID("/sending-domains")
	lane := page.firstID("/mta-configs")
	broadcast, err := page.account.Key.Must(page.Ctx, http.MethodPost, "/broadcasts", map[string]any{"name": "News", "email_type_key": "newsletter", "include_segment_keys": []any{page.account.List}, "content": map[string]any{"subject": "Hello", "body_html": "<p>Hello</p>"}})
	if err != nil {
		t.Fatal(err)
	}
	template, err := page.account.Owner.Must(page.Ctx, http.MethodPost, "/templates", map[string]any{"name": "Plain", "format": "html", "content_html": "<h1>Hello</h1>"})
	if err != nil {
		t.Fatal(err)
	}
	made := func(path string, body map[string]any) string {
		t.Helper()
		row, err := page.account.Owner.Must(page.Ctx, http.MethodPost, path, body)
		if err != nil {
			t.Fatal(err)
		}
		return row["id"].(string)
	}
	form := made("/forms", map[string]any{"name": "Sign-up", "fields": []any{map[string]any{"type": "contact", "binding": "email", "label": "Email", "required": true}}})
	hook := made("/settings/webhooks", map[string]any{"url": "https://www.example.com/hook", "event_types": []string{"mta.down"}})
	seeds := made("/seed-lists", map[string]any{"name": "Vendor"})
	if _, err := page.account.Owner.Must(page.Ctx, http.MethodPut, "/seed-lists/"+seeds+"/seeds", map[string]any{"seeds": []any{map[string]any{"email": "seed@gmail.com"}}}); err != nil {
		t.Fatal(err)
	}
	pages, _, _, _ := harness.Routes()
	page.expectPagesAccessible(pages, map[string]string{
		"contact": contact, "segment": page.account.List, "form": form, "template": template["id"].(string), "draft": broadcast["id"].(string),
		"domain": domain, "sender": page.firstID("/sending-identities"), "mta": lane, "seeds": seeds, "webhook": hook,
	})
}

// mostRequests is how many requests for data a page may send at its first load, with an empty cache.
const mostRequests = 6

// expectPagesAccessible takes a tour of pages, and checks that they send few requests and write nothing to the console.
func (page appPage) expectPagesAccessible(pages harness.Pages, ids map[string]string) {
	page.T.Helper()
	routes, err := pages.Of(ids)
	page.Must(err)
	page.Must(page.CountRequests(page.Ctx))
	page.visitRoutes(routes, page.expectFewRequests)
	page.expectNoProblems()
}

// visitRoutes checks routes with axe on a wide and light screen and on a narrow and dark one, that they are no wider than the
// screen, and that nothing on them moves while they load.
func (page appPage) visitRoutes(routes []string, load func(route string)) {
	page.T.Helper()
	screens := []struct {
		width, height int
		scheme        string
	}{{1280, 900, "light"}, {390, 844, "dark"}}
	for i, route := range routes {
		// A page is loaded once, on each screen in turn, and then shown on the other.
		for j := range screens {
			screen := screens[(i+j)%len(screens)]
			page.SetScreen(screen.width, screen.height, screen.scheme)
			if j == 0 {
				load(route)
			}
			page.WaitFor(settled)
			if j == 0 {
				for _, shift := range page.layoutShifts() {
					page.T.Errorf("%d px: %s moves while it loads: %s", screen.width, route, shift)
				}
			}
			// What floats covers something at every place of a scrolled page. On a screen as high as the page it
			// covers nothing, if the page leaves room for it at its end.
			// What comes into view may make it higher still, and so may a part whose height is that of the screen.
			shown := screen.height
			for range 3 {
				var height int
				page.EvaluateInto(`new Promise(done => setTimeout(() => done(document.documentElement.scrollHeight), 300))`, &height)
				if height <= shown {
					break
				}
				shown = height
				page.SetScreen(screen.width, shown, screen.scheme)
				page.WaitFor(settled)
			}
			page.expectAccessible(fmt.Sprintf("%d px, %s, %s", screen.width, screen.scheme, route))
			if wide := page.EvaluateString(`document.documentElement.scrollWidth > innerWidth`); wide == "true" {
				page.T.Errorf("%d px: %s is wider than the screen", screen.width, route)
			}
		}
	}
}

// layoutShifts returns what has moved on the page without an act of a person: room is kept for what comes later, so that its
// layout shift score is 0.
func (page appPage) layoutShifts() (list []string) {
	page.T.Helper()
	page.EvaluateInto(`$.layoutShifts()`, &list)
	return list
}

// expectFewRequests loads a page with an empty cache, and reports when it sends too many requests for data.
func (page appPage) expectFewRequests(route string) {
	page.T.Helper()
	most := mostRequests
	if route == "/broadcasts/new" {
		most++ // a choice over a list: templates, starters, and the pictures of both
	}
	if sent := page.firstRequests(route); len(sent) > most {
		page.T.Errorf("%s: %d requests at its first load, want at most %d: %s", route, len(sent), most, strings.Join(sent, ", "))
	}
}

// firstRequests loads a page with an empty cache, and returns its requests for data. On a slow machine the page may begin to
// save what it has brought back before it is quiet: that is no part of the load.
func (page appPage) firstRequests(route string) []string {
	page.T.Helper()
	page.Must(page.Leave(page.Ctx, page.program.BaseURL))
	page.open(route)
	sent, err := page.Requests(page.Ctx)
	page.Must(err)
	if saves := slices.IndexFunc(sent, func(s string) bool { return strings.HasPrefix(s, "PUT ") || strings.HasPrefix(s, "DELETE ") }); saves >= 0 {
		sent = sent[:saves]
	}
	return withoutRereads(slices.DeleteFunc(sent, func(s string) bool { return !strings.Contains(s, "/api/") }))
}

// withoutRereads leaves out what is asked again, because it has changed meanwhile: the same request, or collections that
// were all read before.
func withoutRereads(sent []string) []string {
	read := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(sent), func(s string) bool {
		parts := []string{s}
		if path, query, ok := strings.Cut(s, "/collections?"); ok {
			values, _ := url.ParseQuery(query)
			parts = nil
			for _, name := range []string{"kinds", "copies", "binding_options"} {
				for part := range strings.SplitSeq(values.Get(name), ",") {
					if part != "" {
						parts = append(parts, path+" "+name+" "+part)
					}
				}
			}
		}
		fresh := slices.ContainsFunc(parts, func(p string) bool { return !read[p] })
		for _, p := range parts {
			read[p] = true
		}
		return !fresh
	})
}

// readAxe returns the script of axe. Without it, which only CI must have, it is empty.
func readAxe(t *testing.T) string {
	t.Helper()
	axe, err := os.ReadFile(axeFile)
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("CI") != "true" {
		t.Log("no axe: run scripts/web packages. The rest of the test goes on without it.")
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(axe)
}

// expectAccessible reports the violations of WCAG 2.2 AA that axe finds on the page: where it begins, and where it ends if
// it is higher than the screen.
func (page appPage) expectAccessible(where string) {
	page.T.Helper()
	if page.EvaluateString(`typeof axe`) == "undefined" {
		axe := readAxe(page.T)
		if axe == "" {
			return
		}
		page.Evaluate(axe)
	}
	page.Evaluate(`window.was = scrollY, scrollTo(0, 0)`)
	page.reportViolations(where)
	page.Evaluate(`scrollTo(0, document.documentElement.scrollHeight)`)
	if page.EvaluateString(`scrollY > 0`) == "true" {
		page.WaitFor(`!document.getElementById('app') || ` + settled) // what has come into view may load
		page.reportViolations(where + ", scrolled to its end")
	}
	page.Evaluate(`scrollTo(0, window.was)`)
}

// reportViolations reports those of the page as it is scrolled. A target of which a bar covers a part can be scrolled out of
// it: its size counts where no bar covers it.
func (page appPage) reportViolations(where string) {
	page.T.Helper()
	var found []struct {
		ID    string
		Nodes []struct {
			HTML           string
			FailureSummary string `json:"failureSummary"`
		}
	}
	page.EvaluateInto(`$.violations()`, &found)
	for _, v := range found {
		for _, n := range v.Nodes {
			page.T.Errorf("%s: %s: %s: %s", where, v.ID, n.HTML, n.FailureSummary)
		}
	}
}

// expectNoProblems reports what the console says: browsers log answers with an error, such as that of the session before
// signing in, and those of a contact and an email type that do not exist.
func (page appPage) expectNoProblems() {
	page.T.Helper()
	for _, problem := range page.Problems() {
		if !strings.Contains(problem, harness.Nobody) && !strings.Contains(problem, "no_such_type") && !strings.HasSuffix(problem, "/api/auth/session") {
			page.T.Errorf("the console says: %s", problem)
		}
	}
}

// firstID returns the id of the first record of a list.
func (page appPage) firstID(path string) string {
	page.T.Helper()
	list, err := page.account.Owner.Must(page.Ctx, http.MethodGet, path, nil)
	if err != nil {
		page.T.Fatal(err)
	}
	rows, _ := list["data"].([]any)
	if len(rows) == 0 {
		page.T.Fatalf("%s is empty", path)
	}
	return rows[0].(map[string]any)["id"].(string)
}

// A broadcast is written, reviewed, sent, taken back within the minute, and sent again, in the application; its
// numbers are those of the API. The pages that a recipient opens from the mail are accessible too.
func TestABroadcastIsSentInTheApplication(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		page.open("/broadcasts")
		page.Click("New broadcast")
		page.Check("An empty email")
		page.Click("Create")
		page.expectURL("/edit$")
		page.Fill("Internal name", "Spring news")
		page.Fill("Subject", "Hello {{ contact.first_name }}")
		page.FillCode(`<mjml><mj-body><mj-section><mj-column><mj-text>Hello {{ contact.first_name }}</mj-text></mj-column></mj-section></mj-body></mjml>`)
		page.SelectOption("Send to", "Every")
		page.In("region", "Audience").ExpectText("25 recipients")
		page.Click("Review and send")
		page.Click("Send to 25 people")
		page.WaitFor(`[...document.querySelectorAll('button')].some(b => b.textContent === 'Undo')`)
		page.Click("Undo")
		broadcast := page.firstID("/broadcasts")
		page.waitForStatus(broadcast, "draft")
		page.open("/broadcasts") // the composer would ask about a draft that is being sent
		if _, err := page.account.Owner.Must(page.Ctx, http.MethodPut, "/broadcasts/"+broadcast, map[string]any{"scheduled_at": time.Now().UTC().Format(time.RFC3339)}); err != nil {
			t.Fatal(err)
		}
		if _, err := page.account.Owner.Must(page.Ctx, http.MethodPost, "/broadcasts/"+broadcast+"/schedule", nil); err != nil {
			t.Fatal(err)
		}
		page.waitForStatus(broadcast, "completed")
		page.open("/broadcasts/" + broadcast)
		page.Main().ExpectText("25 of 25") // delivered
		lane := page.firstID("/mta-configs")
		mail, err := page.account.Owner.Must(page.Ctx, http.MethodGet, "/mta-configs/"+lane+"/messages/"+page.firstID("/mta-configs/"+lane+"/messages"), nil)
		if err != nil {
			t.Fatal(err)
		}
		links := recipientPage.FindAllString(fmt.Sprint(mail["html"]), -1)
		if len(links) < 2 {
			t.Fatalf("the mail has the links %q to pages for recipients, want preferences and unsubscribing", links)
		}
		for _, link := range links {
			page.Goto(strings.ReplaceAll(link, "&amp;", "&"))
			page.expectAccessible(link)
		}
		page.expectNoProblems()
	})
}

// waitForStatus waits until a broadcast has a status.
func (page appPage) waitForStatus(broadcast, status string) {
	page.T.Helper()
	page.waitForRecord("the broadcast is "+status, "/broadcasts/"+broadcast, is("status", status))
}

// Somebody whose session ends while they work signs in over the page, and goes on.
func TestAnExpiredSessionIsRenewedWithoutLeavingThePage(t *testing.T) {
	t.Parallel()
	page := openApp(t, "")
	page.open("/settings/stages")
	page.Click("New stage")
	page.Fill("Name", "Friend")
	page.Evaluate(`fetch('/api/auth/logout', { method: 'POST' }).then(r => { if (!r.ok) throw r.status })`)
	page.Click("Save")
	page.Dialog().ExpectText("Your session has ended")
	page.Fill("Password", harness.Password)
	page.Click("Sign in")
	page.WaitFor(`[...document.querySelectorAll('tbody th')].some(h => h.textContent.trim() === 'Friend')`)
	var stages struct{ Data []struct{ Name string } }
	a, err := page.account.Owner.Do(page.Ctx, http.MethodGet, "/settings/stages", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(a.Body, &stages); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, s := range stages.Data {
		if s.Name == "Friend" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("the stage was created %d times, want once", n)
	}
}
