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

// desk is a browser with the application, signed in as the owner.
type desk struct {
	*browser.Page
	p *harness.Program
	r *harness.Ready
}

// openApp starts the program, makes an account that sends into the built-in mailbox, and signs in to the
// application by its form.
func openApp(t *testing.T, address string, env ...string) desk {
	t.Helper()
	p := &harness.Program{Env: env}
	d := openBrowser(t, p, address)
	ctx := d.Ctx
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
	d.r = ready
	d.Goto(p.BaseURL + "/")
	d.signIn(harness.Owner, harness.Password)
	return d
}

// openBrowser starts the program and a browser.
func openBrowser(t *testing.T, p *harness.Program, address string) desk {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), e2etest.Stay)
	t.Cleanup(cancel)
	b := browser.Start(ctx, t)
	e2etest.Begin(t, p, address)
	d := desk{browser.Open(ctx, t, b, ""), p, nil}
	d.SetScreen(1280, 900, "light")
	return d
}

const settled = harness.Settled

func (d desk) open(route string) {
	d.T.Helper()
	d.Goto(d.p.BaseURL + "/app/" + harness.Tenant + route)
	d.WaitFor(settled)
}

// press presses the button or link with a text.
func (d desk) pressText(text string) {
	d.T.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll('button, a')].find(b => b.textContent.trim() === %q && b.getAttribute('aria-disabled') !== 'true')`, text)
	d.WaitFor(find)
	d.Evaluate(find + `.click()`)
}

// fill puts a text into the field with a label.
func (d desk) fill(label, text string) {
	d.T.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll('label')].filter(l => l.textContent.trim().startsWith(%q)).map(l => document.getElementById(l.htmlFor)).find(e => e && e.type !== 'radio')`, label)
	d.WaitFor(find)
	d.Evaluate(find + `.focus()`)
	d.Evaluate(find + `.select && ` + find + `.select()`)
	d.Type(text)
}

// code is JavaScript for the text of the code editor of a page.
const code = `[...document.querySelectorAll('main div')].find(e => e.shadowRoot)?.shadowRoot.querySelector('.cm-content')`

// writes replaces the text of the code editor.
func (d desk) writes(text string) {
	d.T.Helper()
	d.WaitFor(code)
	d.Evaluate(code + `.focus()`)
	d.Press("Control+a")
	d.Type(text)
}

// chooses chooses the first match of what is typed into a combo box. A list that loads, or has no match, is an option
// with a text of its own.
func (d desk) chooses(label, text string) {
	d.T.Helper()
	d.fill(label, text)
	d.WaitFor(fmt.Sprintf(`document.querySelector('[role=option]')?.textContent.includes(%q)`, text))
	d.Press("ArrowDown", "Enter")
}

// The application's pages have no violations of WCAG 2.2 AA that axe finds, write nothing to the console, do
// not break their content security policy, and are no wider than the screen: wide and light, narrow and dark.
func TestTheApplicationsPagesAreAccessible(t *testing.T) {
	t.Parallel()
	d := openApp(t, "")
	contact := d.id("/contacts?limit=1")
	domain := d.id("/sending-domains")
	lane := d.id("/mta-configs")
	broadcast, err := d.r.Key.Must(d.Ctx, http.MethodPost, "/broadcasts", map[string]any{"name": "News", "email_type_key": "newsletter", "include_segment_keys": []any{d.r.List}, "content": map[string]any{"subject": "Hello", "body_html": "<p>Hello</p>"}})
	if err != nil {
		t.Fatal(err)
	}
	template, err := d.r.Owner.Must(d.Ctx, http.MethodPost, "/templates", map[string]any{"name": "Plain", "format": "html", "content_html": "<h1>Hello</h1>"})
	if err != nil {
		t.Fatal(err)
	}
	made := func(path string, body map[string]any) string {
		t.Helper()
		row, err := d.r.Owner.Must(d.Ctx, http.MethodPost, path, body)
		if err != nil {
			t.Fatal(err)
		}
		return row["id"].(string)
	}
	form := made("/forms", map[string]any{"name": "Sign-up", "fields": []any{map[string]any{"type": "contact", "binding": "email", "label": "Email", "required": true}}})
	hook := made("/settings/webhooks", map[string]any{"url": "https://www.example.com/hook", "event_types": []string{"mta.down"}})
	seeds := made("/seed-lists", map[string]any{"name": "Vendor"})
	if _, err := d.r.Owner.Must(d.Ctx, http.MethodPut, "/seed-lists/"+seeds+"/seeds", map[string]any{"seeds": []any{map[string]any{"email": "seed@gmail.com"}}}); err != nil {
		t.Fatal(err)
	}
	pages, _, _, _ := harness.Routes()
	d.pagesAreAccessible(pages, map[string]string{
		"contact": contact, "segment": d.r.List, "form": form, "template": template["id"].(string), "draft": broadcast["id"].(string),
		"domain": domain, "sender": d.id("/sending-identities"), "mta": lane, "seeds": seeds, "webhook": hook,
	})
}

// mostRequests is how many requests for data a page may send at its first load, with an empty cache.
const mostRequests = 6

// pagesAreAccessible takes a tour of pages, and checks that they send few requests and write nothing to the console.
func (d desk) pagesAreAccessible(pages harness.Pages, ids map[string]string) {
	d.T.Helper()
	routes, err := pages.Of(ids)
	d.Must(err)
	d.Must(d.CountRequests(d.Ctx))
	d.tour(routes, d.countRequests)
	d.quiet()
}

// tour checks routes with axe on a wide and light screen and on a narrow and dark one, that they are no wider than the
// screen, and that nothing on them moves while they load.
func (d desk) tour(routes []string, load func(route string)) {
	d.T.Helper()
	axe := readAxe(d.T)
	screens := []struct {
		width, height int
		scheme        string
	}{{1280, 900, "light"}, {390, 844, "dark"}}
	for i, route := range routes {
		// A page is loaded once, on each screen in turn, and then shown on the other.
		for j := range screens {
			screen := screens[(i+j)%len(screens)]
			d.SetScreen(screen.width, screen.height, screen.scheme)
			if j == 0 {
				load(route)
			}
			d.WaitFor(settled)
			if j == 0 {
				for _, shift := range d.shifts() {
					d.T.Errorf("%d px: %s moves while it loads: %s", screen.width, route, shift)
				}
			}
			// What floats covers something at every place of a scrolled page. On a screen as high as the page it
			// covers nothing, if the page leaves room for it at its end.
			// What comes into view may make it higher still, and so may a part whose height is that of the screen.
			shown := screen.height
			for range 3 {
				var height int
				d.EvaluateInto(`new Promise(done => setTimeout(() => done(document.documentElement.scrollHeight), 300))`, &height)
				if height <= shown {
					break
				}
				shown = height
				d.SetScreen(screen.width, shown, screen.scheme)
				d.WaitFor(settled)
			}
			d.checkAccess(axe, fmt.Sprintf("%d px, %s, %s", screen.width, screen.scheme, route))
			if wide := d.EvaluateString(`document.documentElement.scrollWidth > innerWidth`); wide == "true" {
				d.T.Errorf("%d px: %s is wider than the screen", screen.width, route)
			}
		}
	}
}

// shifts returns what has moved on the page without an act of a person: room is kept for what comes later, so that its
// layout shift score is 0 (https://web.dev/articles/cls). Less than 0.0001 is left out: the editor measures the lines of
// code, and moves their numbers by some pixels then.
func (d desk) shifts() (list []string) {
	d.T.Helper()
	d.EvaluateInto(`new Promise(done => {
		const list = [];
		new PerformanceObserver(seen => {
			for (const e of seen.getEntries()) if (!e.hadRecentInput && e.value >= 0.0001) list.push(e.value.toFixed(5) + ' ' + e.sources.map(s => (s.node?.outerHTML ?? s.node?.data ?? 'gone').slice(0, 160) + ' ' + [s.previousRect, s.currentRect].map(r => [r.x, r.y, r.width, r.height].map(Math.round).join(' ')).join(' to ')).join('; '));
		}).observe({ type: 'layout-shift', buffered: true });
		setTimeout(() => done(list), 100);
	})`, &list)
	return list
}

// countRequests loads a page with an empty cache, and reports when it sends too many requests for data.
func (d desk) countRequests(route string) {
	d.T.Helper()
	if sent := d.firstRequests(route); len(sent) > mostRequests {
		d.T.Errorf("%s: %d requests at its first load, want at most %d: %s", route, len(sent), mostRequests, strings.Join(sent, ", "))
	}
}

// firstRequests loads a page with an empty cache, and returns its requests for data.
func (d desk) firstRequests(route string) []string {
	d.T.Helper()
	d.Must(d.Leave(d.Ctx, d.p.BaseURL))
	d.open(route)
	sent, err := d.Requests(d.Ctx)
	d.Must(err)
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

func readAxe(t *testing.T) string {
	t.Helper()
	axe, err := os.ReadFile(axeFile)
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("CI") != "true" {
		t.Skip("no axe: run scripts/web packages")
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(axe)
}

// checkAccess reports the violations of WCAG 2.2 AA that axe finds on the page: where it begins, and where it ends if
// it is higher than the screen.
func (d desk) checkAccess(axe, where string) {
	d.T.Helper()
	if d.EvaluateString(`typeof axe`) == "undefined" {
		d.Evaluate(axe)
	}
	d.Evaluate(`window.was = scrollY, scrollTo(0, 0)`)
	d.violations(where)
	d.Evaluate(`scrollTo(0, document.documentElement.scrollHeight)`)
	if d.EvaluateString(`scrollY > 0`) == "true" {
		d.WaitFor(`!document.getElementById('app') || ` + settled) // what has come into view may load
		d.violations(where + ", scrolled to its end")
	}
	d.Evaluate(`scrollTo(0, window.was)`)
}

// violations reports those of the page as it is scrolled. A target of which a bar covers a part can be scrolled out of
// it: its size counts where no bar covers it.
func (d desk) violations(where string) {
	d.T.Helper()
	var found []struct {
		ID    string
		Nodes []struct {
			HTML           string
			FailureSummary string `json:"failureSummary"`
		}
	}
	d.EvaluateInto(`(async () => {
		const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
		const bars = scrollY === 0 ? [] : [...document.querySelectorAll('body *')].filter(e => ['sticky', 'fixed'].includes(getComputedStyle(e).position))
		const covered = e => bars.some(b => !b.contains(e) && overlap(b.getBoundingClientRect(), e.getBoundingClientRect()))
		const r = await axe.run({ elementRef: true, runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })
		return r.violations.map(v => ({ id: v.id, nodes: v.nodes.filter(n => v.id !== 'target-size' || !covered(n.element)).slice(0, 3).map(n => ({ html: n.html.slice(0, 300), failureSummary: n.failureSummary })) }))
	})()`, &found)
	for _, v := range found {
		for _, n := range v.Nodes {
			d.T.Errorf("%s: %s: %s: %s", where, v.ID, n.HTML, n.FailureSummary)
		}
	}
}

// quiet reports what the console says: browsers log answers with an error, such as that of the session before
// signing in, and those of a contact and an email type that do not exist.
func (d desk) quiet() {
	d.T.Helper()
	for _, problem := range d.Problems() {
		if !strings.Contains(problem, harness.Nobody) && !strings.Contains(problem, "no_such_type") && !strings.HasSuffix(problem, "/api/auth/session") {
			d.T.Errorf("the console says: %s", problem)
		}
	}
}

// id returns the id of the first record of a list.
func (d desk) id(path string) string {
	d.T.Helper()
	list, err := d.r.Owner.Must(d.Ctx, http.MethodGet, path, nil)
	if err != nil {
		d.T.Fatal(err)
	}
	rows, _ := list["data"].([]any)
	if len(rows) == 0 {
		d.T.Fatalf("%s is empty", path)
	}
	return rows[0].(map[string]any)["id"].(string)
}

// A broadcast is written, reviewed, sent, taken back within the minute, and sent again, in the application; its
// numbers are those of the API. The pages that a recipient opens from the mail are accessible too.
func TestABroadcastIsSentInTheApplication(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		d := openApp(t, address)
		d.open("/broadcasts")
		d.pressText("New broadcast")
		d.pressText("Create")
		d.WaitFor(`location.pathname.endsWith('/edit') && ` + settled)
		d.fill("Name", "Spring news")
		d.fill("Subject", "Hello {{ contact.first_name }}")
		d.writes(`<mjml><mj-body><mj-section><mj-column><mj-text>Hello {{ contact.first_name }}</mj-text></mj-column></mj-section></mj-body></mjml>`)
		d.chooses("Send to", "Every")
		d.WaitFor(`document.body.textContent.includes('25 recipients')`)
		d.pressText("Review and send")
		d.pressText("Send to 25 people")
		d.WaitFor(`[...document.querySelectorAll('button')].some(b => b.textContent === 'Undo')`)
		d.pressText("Undo")
		broadcast := d.id("/broadcasts")
		d.until(broadcast, "draft")
		d.open("/broadcasts") // the composer would ask about a draft that is being sent
		if _, err := d.r.Owner.Must(d.Ctx, http.MethodPut, "/broadcasts/"+broadcast, map[string]any{"scheduled_at": time.Now().UTC().Format(time.RFC3339)}); err != nil {
			t.Fatal(err)
		}
		if _, err := d.r.Owner.Must(d.Ctx, http.MethodPost, "/broadcasts/"+broadcast+"/schedule", nil); err != nil {
			t.Fatal(err)
		}
		d.until(broadcast, "completed")
		d.open("/broadcasts/" + broadcast)
		d.WaitFor(`document.body.textContent.includes('25 of 25')`) // delivered
		axe, lane := readAxe(t), d.id("/mta-configs")
		mail, err := d.r.Owner.Must(d.Ctx, http.MethodGet, "/mta-configs/"+lane+"/messages/"+d.id("/mta-configs/"+lane+"/messages"), nil)
		if err != nil {
			t.Fatal(err)
		}
		links := recipientPage.FindAllString(fmt.Sprint(mail["html"]), -1)
		if len(links) < 2 {
			t.Fatalf("the mail has the links %q to pages for recipients, want preferences and unsubscribing", links)
		}
		for _, link := range links {
			d.Goto(strings.ReplaceAll(link, "&amp;", "&"))
			d.checkAccess(axe, link)
		}
		d.quiet()
	})
}

// until waits until a broadcast has a status.
func (d desk) until(broadcast, status string) {
	d.T.Helper()
	for d.Ctx.Err() == nil {
		b, err := d.r.Owner.Must(d.Ctx, http.MethodGet, "/broadcasts/"+broadcast, nil)
		if err != nil {
			d.T.Fatal(err)
		}
		if b["status"] == status {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	d.T.Fatalf("the broadcast is never %s", status)
}

// Somebody whose session ends while they work signs in over the page, and goes on.
func TestASessionThatEndsIsRenewedOverThePage(t *testing.T) {
	t.Parallel()
	d := openApp(t, "")
	d.open("/settings/stages")
	d.pressText("New stage")
	d.fill("Name", "Friend")
	d.Evaluate(`fetch('/api/auth/logout', { method: 'POST' }).then(r => { if (!r.ok) throw r.status })`)
	d.pressText("Save")
	d.WaitFor(`document.body.textContent.includes('Your session has ended')`)
	d.fill("Password", harness.Password)
	d.pressText("Sign in")
	d.await(`[...document.querySelectorAll('tbody th')].some(h => h.textContent.trim() === 'Friend')`)
	var stages struct{ Data []struct{ Name string } }
	a, err := d.r.Owner.Do(d.Ctx, http.MethodGet, "/settings/stages", nil)
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
