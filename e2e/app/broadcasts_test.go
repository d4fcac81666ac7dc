package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// ask sends a request as the owner.
func (d desk) ask(method, path string, body any) map[string]any {
	d.T.Helper()
	return e2etest.Must(d.T, d.r.Owner, method, path, body)
}

// create makes a draft for the list with 25 readers; its fields replace the usual ones.
func (d desk) create(fields map[string]any) string {
	d.T.Helper()
	body := map[string]any{"name": "News", "email_type_key": "newsletter", "include_segment_keys": []any{d.r.List}, "content": map[string]any{"subject": "Hello", "body_html": `<p>Hello <a href="https://example.com/a">First</a></p>`}}
	maps.Copy(body, fields)
	return d.ask(http.MethodPost, "/broadcasts", body)["id"].(string)
}

// begin starts a draft at once.
func (d desk) begin(broadcast string) {
	d.T.Helper()
	d.ask(http.MethodPut, "/broadcasts/"+broadcast, map[string]any{"scheduled_at": time.Now().UTC().Format(time.RFC3339)})
	d.ask(http.MethodPost, "/broadcasts/"+broadcast+"/schedule", nil)
}

// read returns a broadcast.
func (d desk) read(broadcast string) map[string]any {
	d.T.Helper()
	return d.ask(http.MethodGet, "/broadcasts/"+broadcast, nil)
}

// hold keeps the next writes of the page back until release is called.
const (
	holdWrites    = `(() => { const real = window.fetch; window.held = []; window.fetch = (a, o) => o && o.method === 'PUT' ? new Promise(r => window.held.push(r)).then(() => real(a, o)) : real(a, o); window.release = () => { window.fetch = real; window.held.forEach(r => r()) } })()`
	releaseWrites = `window.release()`
)

// Two people edit one draft. What only one of them changed is joined; for what both changed, the page asks.
func TestTwoPeopleEditOneDraft(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		d := openApp(t, address)
		broadcast := d.create(nil)
		d.open("/broadcasts/" + broadcast + "/edit")
		content := func(name string) any { return d.read(broadcast)["content"].(map[string]any)[name] }

		d.Evaluate(holdWrites)
		d.fill("Preview text", "A look inside")
		d.WaitFor(`window.held.length > 0`)
		e2etest.Must(t, d.r.Key, http.MethodPut, "/broadcasts/"+broadcast, map[string]any{"name": "Renamed"})
		d.Evaluate(releaseWrites)
		d.shows("Both changes are kept.")
		d.WaitFor(`[...document.querySelectorAll('input')].some(i => i.value === 'Renamed')`)
		e2etest.Eventually(t, func() (any, bool) { v := content("preheader"); return v, v == "A look inside" })
		if got := d.read(broadcast); got["name"] != "Renamed" || content("preheader") != "A look inside" {
			t.Errorf("name %v, preview text %v; want both changes", got["name"], content("preheader"))
		}

		d.Evaluate(holdWrites)
		d.fill("Subject", "Mine")
		d.WaitFor(`window.held.length > 0`)
		e2etest.Must(t, d.r.Key, http.MethodPut, "/broadcasts/"+broadcast, map[string]any{"content": map[string]any{"subject": "Theirs"}, "tags": []any{"spring"}})
		d.Evaluate(releaseWrites)
		d.shows("Two versions of the same part")
		dialog := d.EvaluateString(`document.querySelector('[role=dialog]').innerText`)
		if !strings.Contains(dialog, "Mine") || !strings.Contains(dialog, "Theirs") {
			t.Errorf("the choice shows %q, want both subjects", dialog)
		}
		if got := content("subject"); got != "Theirs" {
			t.Errorf("before the choice, the subject is %v", got)
		}
		d.pressText("Save")
		e2etest.Eventually(t, func() (any, bool) { v := content("subject"); return v, v == "Mine" })
		if tags, _ := d.read(broadcast)["tags"].([]any); content("subject") != "Mine" || len(tags) != 1 {
			t.Errorf("subject %v, tags %v; want the chosen one and their tags", content("subject"), tags)
		}
	})
}

// What the server refuses stays in the form and is saved later; the rest is saved all the same. The list names
// such drafts.
func TestARefusedPartOfADraftIsKept(t *testing.T) {
	t.Parallel()
	d := openApp(t, "")
	broadcast := d.create(nil)
	d.open("/broadcasts/" + broadcast + "/edit")
	d.fill("At most an hour", "-5")
	d.fill("Name", "Kept")
	d.shows("Not saved:")
	e2etest.Eventually(t, func() (any, bool) { v := d.read(broadcast)["name"]; return v, v == "Kept" })
	if got := d.read(broadcast); got["name"] != "Kept" || got["throttle_per_hour"] != nil {
		t.Errorf("name %v, throttle %v; want the name alone", got["name"], got["throttle_per_hour"])
	}
	e2etest.Eventually(t, func() (any, bool) {
		copies := d.ask(http.MethodGet, "/working-copies?kind=broadcast", nil)
		rows, _ := copies["data"].([]any)
		return copies, len(rows) == 1
	})
	d.open("/broadcasts")
	d.shows("Not yet saved: 1 problem")
	d.open("/")
	d.shows("Unfinished work")
	d.pressText("Kept")
	d.WaitFor(`location.pathname.endsWith('/broadcasts/` + broadcast + `/edit') && ` + settled)
	d.WaitFor(`[...document.querySelectorAll('input')].some(i => i.value === '-5')`)
	// What is corrected before the answer comes is saved, too.
	d.Evaluate(holdWrites)
	d.fill("At most an hour", "-7")
	d.WaitFor(`window.held.length > 0`)
	d.fill("At most an hour", "500")
	d.Evaluate(releaseWrites)
	if got := e2etest.Eventually(t, func() (any, bool) {
		v := d.read(broadcast)["throttle_per_hour"]
		return v, v == 500.0
	}); got != 500.0 {
		t.Errorf("throttle_per_hour is %v, want the corrected 500", got)
	}
	e2etest.Eventually(t, func() (any, bool) {
		copies := d.ask(http.MethodGet, "/working-copies?kind=broadcast", nil)
		rows, _ := copies["data"].([]any)
		return copies, len(rows) == 0
	})
}

// A broadcast from a template goes from its values to "Send now", is taken back within the minute, and is sent
// again, on a phone. The number in the confirmation is that of the recipients.
func TestABroadcastFromATemplateIsSentOnAPhone(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		d := openApp(t, address)
		d.ask(http.MethodPost, "/templates", map[string]any{
			"name": "Letter", "format": "html", "subject": "News", "content_html": "<p>{{param:headline}}</p>",
			"parameters_schema": []any{map[string]any{"name": "headline", "label": "Headline", "type": "text", "required": true}},
		})
		d.SetScreen(390, 844, "dark")
		d.open("/broadcasts/new")
		d.WaitFor(`[...document.querySelectorAll('[role=dialog] label')].some(l => l.textContent === 'A template')`)
		d.Evaluate(`[...document.querySelectorAll('[role=dialog] label')].find(l => l.textContent === 'A template').click()`)
		d.chooses("Template", "Let")
		d.pressText("Create")
		d.WaitFor(`location.pathname.endsWith('/edit') && ` + settled)
		broadcast := d.id("/broadcasts")
		d.fill("Headline", "Spring is here")
		d.chooses("Send to", "Every")
		d.WaitFor(`document.body.textContent.includes('25 recipients')`)
		e2etest.Eventually(t, func() (any, bool) {
			v := d.read(broadcast)["content"].(map[string]any)["template_slug"]
			return v, v == "letter"
		})
		for range 2 {
			d.pressText("Review and send")
			d.pressText("Send to 25 people")
			d.until(broadcast, "scheduled")
			d.pressText("Undo")
			d.until(broadcast, "draft")
			d.open("/broadcasts/" + broadcast + "/edit")
		}
		d.begin(broadcast)
		d.until(broadcast, "completed")
		d.open("/broadcasts/" + broadcast)
		d.WaitFor(`document.body.textContent.includes('25 of 25')`)
		if got := d.read(broadcast)["total_recipients"]; got != 25.0 {
			t.Errorf("%v recipients, the confirmation said 25", got)
		}
	})
}

// Each thing that a draft lacks leads to the field where it is fixed, and the list empties.
func TestEachMissingThingLeadsToItsField(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		d := openApp(t, address)
		broadcast := d.ask(http.MethodPost, "/broadcasts", map[string]any{"name": "Bare", "email_type_key": "newsletter", "content": map[string]any{"subject": "Hello", "body_html": "<p>Hello</p>"}})["id"].(string)
		d.ask(http.MethodPut, "/broadcasts/"+broadcast, map[string]any{"email_type_key": nil})
		d.ask(http.MethodPut, "/settings/account", map[string]any{"default_mta_config_key": nil})
		reasons := func() []any {
			t.Helper()
			return d.read(broadcast)["view_model"].(map[string]any)["schedule_readiness"].(map[string]any)["reasons"].([]any)
		}
		sections := map[string]string{"segment": "audience", "email_type": "from", "mta": "from", "content": "content", "identity": "from"}
		d.open("/broadcasts/" + broadcast + "/edit")
		for _, r := range reasons() {
			reason := r.(map[string]any)
			row := fmt.Sprintf(`document.querySelector('aside li[data-code=%s]')`, reason["code"])
			d.WaitFor(row)
			d.Evaluate(`document.activeElement.blur()`)
			d.Evaluate(row + `.querySelector('button').click()`)
			section := sections[reason["guard"].(string)]
			d.WaitFor(fmt.Sprintf(`document.activeElement.closest('#%s')`, section))
		}
		d.Evaluate(`document.querySelector('aside li[data-code=NO_UNSUBSCRIBE_LINK] button').click()`)
		d.WaitFor(`document.activeElement.closest('section#content')`)
		if len(reasons()) < 3 {
			t.Fatalf("the draft lacks %v, want a segment, an email type and an MTA config", reasons())
		}
		d.ask(http.MethodPut, "/settings/account", map[string]any{"default_mta_config_key": d.ask(http.MethodGet, "/mta-configs", nil)["data"].([]any)[0].(map[string]any)["key"]})
		choose := func(label, value string) {
			t.Helper()
			d.Evaluate(fmt.Sprintf(`(() => { const s = document.getElementById([...document.querySelectorAll('label')].find(l => l.textContent.startsWith(%q)).htmlFor); Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'value').set.call(s, %q); s.dispatchEvent(new Event('change', { bubbles: true })) })()`, label, value))
		}
		choose("Email type", "newsletter")
		d.chooses("Send to", "Every")
		d.shows("Ready to send")
		if left := reasons(); len(left) != 0 {
			t.Errorf("the page says it is ready, and %v are missing", left)
		}
		// The warning about the postal address is fixed without leaving the draft.
		d.pressText("Enter it")
		d.fill("Street or box", "Quay 1")
		d.fill("City", "Hamburg")
		d.fill("Country", "DE")
		d.pressText("Save")
		d.WaitFor(`!document.querySelector('aside').textContent.includes('postal address')`)
		d.quiet()
	})
}

// What is wrong with the content of a draft, before and after it is saved, leads to the field where it is corrected.
func TestFaultsOfContentLeadToTheirFields(t *testing.T) {
	t.Parallel()
	d := openApp(t, "")
	d.ask(http.MethodPost, "/templates", map[string]any{
		"name": "Letter", "format": "html", "subject": "News", "content_html": "<p>{{param:headline}} {{ contact.city }}</p>",
		"parameters_schema": []any{map[string]any{"name": "headline", "label": "Headline", "type": "text", "required": true}},
		"expects_schema":    []any{map[string]any{"path": "contact.city", "type": "string", "required": true}},
	})
	broadcast := d.create(nil)
	d.open("/broadcasts/" + broadcast + "/edit")
	// leads presses Open in a row of the list and waits for the focus in a field.
	leads := func(row, field string) {
		t.Helper()
		d.WaitFor(row)
		d.Evaluate(`document.activeElement.blur()`)
		d.Evaluate(row + `.querySelector('button').click()`)
		d.WaitFor(fmt.Sprintf(`document.activeElement.closest('[data-path=%q]')`, field))
	}
	coded := func(code string) string { return fmt.Sprintf(`document.querySelector('aside li[data-code=%s]')`, code) }
	unsaved := `[...document.querySelectorAll('aside li')].find(l => l.innerText.includes('Not saved'))`
	clean := `document.querySelector('aside [data-ready]')?.innerText.includes('Ready to send')`

	d.WaitFor(`document.querySelector('[data-path="content.subject"]')`)
	d.Evaluate(`document.querySelector('[data-path="content.subject"]').focus(); document.activeElement.select()`)
	d.Press("Delete")
	leads(unsaved, "content.subject")
	d.Type("{% nothing %}")
	leads(unsaved, "content.subject")
	d.at("content.subject", "Hello")
	d.WaitFor(clean)

	d.choose("MJML")
	d.writes("<mjml><mj-body><mj-section><mj-colum>Hello</mj-colum></mj-section></mj-body></mjml>")
	leads(unsaved, "content.body_mjml")
	d.writes("<mjml><mj-body><mj-section><mj-column><mj-text>Hello</mj-text></mj-column></mj-section></mj-body></mjml>")
	d.WaitFor(clean)

	d.pressText("Compare two versions")
	d.at("variants[1].content_overrides.subject", "{{ contact.city | nothing }}")
	leads(unsaved, "variants[1].content_overrides.subject")
	d.pressText("Send one version to everybody")
	d.WaitFor(clean)

	d.choose("From a template")
	d.chooses("Template", "Let")
	leads(unsaved, "parameters.headline")
	if text := d.EvaluateString(unsaved + `.innerText`); !strings.Contains(text, "headline") {
		t.Errorf("the list says %q, want the name of the value", text)
	}
	d.fill("Headline", "Spring is here")
	d.WaitFor(clean)
	e2etest.Eventually(t, func() (any, bool) {
		v := d.read(broadcast)["content"].(map[string]any)["template_slug"]
		return v, v == "letter"
	})
	// A value that the template needs is missing for everybody, and the list shows for whom.
	lacking := coded("EXPECTED_DATA_MISSING")
	d.WaitFor(lacking)
	if text := d.EvaluateString(lacking + `.innerText`); !strings.Contains(text, "city") {
		t.Errorf("the warning says %q, want the name of the field", text)
	}
	d.Evaluate(lacking + `.querySelector('a').click()`)
	d.WaitFor(`location.pathname.endsWith('/segments/new') && ` + settled)
	d.shows("25 match, 25 of them can be mailed.")

	template := d.id("/templates")
	d.ask(http.MethodDelete, "/templates/"+template+"?force=true", nil)
	d.open("/broadcasts/" + broadcast + "/edit")
	leads(coded("TEMPLATE_CHANGED"), "content.template_slug")
	d.shows("The template was deleted")
	d.pressText("Compare, and render anew")
	d.WaitFor(`[...document.querySelectorAll('[role=dialog] button')].find(b => b.innerText === 'Render anew' && b.getAttribute('aria-disabled') === 'true')`)
	d.pressText("Keep it")
	d.choose("Own code")
	d.writes("<p>Hello</p>")
	d.WaitFor(clean)
}

// Seed lists that are stale, and arms of a test that are not complete, lead to their fields; the list empties once they
// are corrected.
func TestStaleSeedsAndIncompleteArmsLeadToTheirFields(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		d := openApp(t, address)
		seeds := d.ask(http.MethodPost, "/seed-lists", map[string]any{"name": "Placement", "include_by_default": true, "rotation_days": 7, "sending_identity_ids": []any{d.id("/sending-identities")}})
		d.ask(http.MethodPost, "/seed-lists", map[string]any{"name": "Elsewhere", "include_by_default": true}) // of no sender: it gets no copies
		at := "/seed-lists/" + seeds["id"].(string) + "/seeds"
		body := map[string]any{"seeds": []any{map[string]any{"email": "seed@gmail.com"}}}
		d.ask(http.MethodPut, at, body)
		if _, err := e2etest.Database(t, d.p).Exec(d.Ctx, `UPDATE seed_list SET refreshed_at = 1 /* all tenants: there is one */`); err != nil {
			t.Fatal(err)
		}
		broadcast := d.create(nil)
		stale := `document.querySelector('aside li[data-code=SEED_LIST_STALE]')`
		leads := func(row, field string) {
			t.Helper()
			d.await(row)
			d.Evaluate(`document.activeElement.blur()`)
			d.Evaluate(row + `.querySelector('button').click()`)
			d.await(fmt.Sprintf(`document.activeElement.closest('[data-path=%q]')`, field))
		}
		d.open("/broadcasts/" + broadcast + "/edit")
		d.sees("Placement Stale")
		if got := d.EvaluateString(`document.querySelector('[data-path=seed_list_ids]').innerText`); strings.Contains(got, "Elsewhere") {
			t.Errorf("the page shows a list that gets no copies: %s", got)
		}
		leads(stale, "seed_list_ids")
		if got := d.EvaluateString(stale + `.innerText`); !strings.Contains(got, "Placement") {
			t.Errorf("the warning is %q, want the name of the list", got)
		}
		d.Press("ArrowDown", "ArrowDown") // none
		d.await(`!` + stale)
		if got := d.read(broadcast)["seed_list_ids"]; fmt.Sprint(got) != "[]" {
			t.Errorf("seed_list_ids is %v, want none", got)
		}
		d.Press("ArrowUp", "ArrowUp")
		d.await(stale)
		d.Evaluate(stale + `.querySelector('a').click()`)
		d.await(`location.pathname.endsWith('/sending/seeds/` + seeds["id"].(string) + `') && ` + settled)
		d.ask(http.MethodPut, at, body)
		d.Evaluate(`history.back()`)
		d.await(`location.pathname.endsWith('/edit') && ` + settled)
		d.await(`!` + stale + ` && document.querySelector('aside [data-ready]')`)

		unsaved := `[...document.querySelectorAll('aside li')].find(l => l.innerText.includes('Not saved'))`
		clean := `document.querySelector('aside [data-ready]')?.innerText.includes('Ready to send') && !document.querySelector('aside').innerText.includes('Not saved')`
		d.pressText("Compare two versions")
		d.await(`document.querySelector('[data-path="variants[1].name"]')`)
		for path, good := range map[string]string{"variants[1].name": "Second", "variants[1].weight": "2", "variants[1].content_overrides.subject": "Another"} {
			d.await(fmt.Sprintf(`document.querySelector('[data-path=%q]')`, path))
			d.Evaluate(fmt.Sprintf(`document.querySelector('[data-path=%q]').focus(), document.activeElement.select?.()`, path))
			d.Press("Control+a")
			d.Press("Delete")
			leads(unsaved, path)
			d.Press("Control+a")
			d.Type(good)
			d.await(clean)
		}
		d.at("variants[1].weight", "-1")
		d.await(unsaved + `?.innerText.includes('Arm 2, weight')`)
		d.at("variants[1].weight", "2")
		d.await(clean)
		arms, _ := d.read(broadcast)["variants"].([]any)
		if len(arms) != 2 || arms[1].(map[string]any)["name"] != "Second" || arms[1].(map[string]any)["weight"] != 2.0 {
			t.Errorf("the saved arms are %v", arms)
		}
	})
}

// ledger returns the numbers of the ledger on the page by their names.
func (d desk) ledger() map[string]int {
	d.T.Helper()
	var rows [][2]string
	d.EvaluateInto(`[...document.querySelectorAll('main table tbody tr')].map(r => [r.querySelector('th').innerText.replace(/^[−=] /, '').trim(), r.querySelector('td').innerText.trim()])`, &rows)
	out := map[string]int{}
	for _, r := range rows {
		n, err := strconv.Atoi(strings.ReplaceAll(r[1], ",", ""))
		if err != nil {
			d.T.Fatalf("the ledger has %q for %s", r[1], r[0])
		}
		out[r[0]] = n
	}
	return out
}

// adds checks that the ledger on the page adds up.
func (d desk) adds(when string) map[string]int {
	d.T.Helper()
	l := d.ledger()
	parts := l["Handed over"] + l["Failed"] + l["Skipped"] + l["Held back"] + l["Cancelled"] + l["Waiting"]
	if l["Recipients"] != parts || l["Matched"] < l["Recipients"] {
		d.T.Errorf("%s, the ledger does not add up: %v", when, l)
	}
	return l
}

// A send over three days skips one, shows its plan, takes another skip after showing what it changes, is paused
// with its workspace, resumed when the cause is gone, and cancelled; its ledger adds up at each step.
func TestASpreadSendIsFollowedToItsEnd(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		d := openApp(t, address)
		broadcast := d.create(map[string]any{"name": "Slow news", "delivery_mode": "over_days", "delivery_window_days": 3, "throttle_per_hour": 2})
		d.open("/broadcasts/" + broadcast + "/edit")
		days := `[...document.querySelectorAll('#delivery figure button')]`
		d.WaitFor(days + `.length >= 3`)
		d.Evaluate(days + `[1].click()`)
		d.WaitFor(days + `[1].getAttribute('aria-pressed') === 'true'`)
		e2etest.Eventually(t, func() (any, bool) {
			v, _ := d.read(broadcast)["skipped_dates"].([]any)
			return v, len(v) == 1
		})
		d.begin(broadcast)
		d.until(broadcast, "sending")
		e2etest.Eventually(t, func() (any, bool) {
			p, _ := d.read(broadcast)["view_model"].(map[string]any)["delivery_progress"].(map[string]any)
			return p, p != nil && p["plan"] != nil
		})
		d.open("/broadcasts/" + broadcast)
		d.shows("Where everybody is")
		d.WaitFor(`document.querySelector('main figure li[data-status=skipped]')`)
		d.checkAccess(readAxe(t), "a live broadcast")
		if l := d.adds("while it is sent"); l["Recipients"] != 25 {
			t.Errorf("the ledger has %d recipients, want 25", l["Recipients"])
		}

		d.pressText("Change skipped days")
		days = `[...document.querySelectorAll('main figure button[aria-pressed=false]')]`
		d.WaitFor(days + `.length > 0`)
		d.Evaluate(days + `.at(-1).click()`)
		d.pressText("Save the new plan")
		e2etest.Eventually(t, func() (any, bool) {
			v, _ := d.read(broadcast)["skipped_dates"].([]any)
			return v, len(v) == 2
		})
		d.WaitFor(`document.querySelectorAll('main figure li[data-status=skipped]').length >= 2`)
		d.adds("after a new plan")

		tenant := func(args ...string) {
			t.Helper()
			if _, err := d.p.Run(d.Ctx, append(append([]string{"tenant"}, args...), "--slug", harness.Tenant)...); err != nil {
				t.Fatal(err)
			}
		}
		tenant("pause", "--reason", "unpaid")
		d.until(broadcast, "paused")
		d.shows("Workspace paused")
		if why := d.why("Resume"); !strings.Contains(why, "cause") {
			t.Errorf("Resume says %q", why)
		}
		d.adds("while it is paused")
		tenant("resume")
		d.shows("The cause is gone")
		d.pressText("Resume")
		d.until(broadcast, "sending")
		d.WaitFor(`[...document.querySelectorAll('main button')].some(b => b.textContent === 'Pause')`)
		d.adds("after it was resumed")

		d.Evaluate(`document.querySelector('main header [aria-haspopup=menu][aria-label="More actions"]').click()`)
		d.WaitFor(`document.querySelector('[role=menuitem]')`)
		d.Evaluate(`[...document.querySelectorAll('[role=menuitem]')].find(m => m.textContent.includes('Cancel the send')).click()`)
		d.shows("will not get it")
		d.pressText("Cancel the send")
		d.until(broadcast, "cancelled")
		d.WaitFor(`[...document.querySelectorAll('main table tbody th')].some(h => h.innerText.includes('Cancelled'))`)
		if l := d.adds("after it was cancelled"); l["Cancelled"]+l["Handed over"] != 25 {
			t.Errorf("cancelled: %v", l)
		}
	})
}

// The report counts what the API counts. A link leads to the people who clicked it, and they become a segment. The
// file of a table has the numbers of the API.
func TestAReportLeadsFromALinkToASegment(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		d := openApp(t, address)
		broadcast := d.create(nil)
		d.begin(broadcast)
		d.until(broadcast, "completed")
		lane := d.id("/mta-configs")
		list := d.ask(http.MethodGet, "/mta-configs/"+lane+"/messages?limit=50", nil)["data"].([]any)
		mail := d.ask(http.MethodGet, "/mta-configs/"+lane+"/messages/"+list[0].(map[string]any)["id"].(string), nil)
		first, _, _ := strings.Cut(fmt.Sprint(mail["html"])[strings.Index(fmt.Sprint(mail["html"]), `href="`)+6:], `"`)
		e2etest.Wait(t, 3*time.Second) // a person reads it first
		e2etest.Visit(t, strings.ReplaceAll(first, "&amp;", "&"), http.StatusFound)
		e2etest.Eventually(t, func() (any, bool) {
			r := d.ask(http.MethodGet, "/broadcasts/"+broadcast+"/report", nil)
			return r, r["total_clicked"] == 1.0
		})

		d.open("/broadcasts/" + broadcast)
		d.shows("1 of 25")
		d.Evaluate(`[...document.querySelectorAll('main dt button')].find(b => b.textContent === 'Open rate').click()`)
		d.shows("1 who opened ÷ 25 recipients")
		saved := func(press string) string {
			t.Helper()
			d.Evaluate(`(() => { const real = URL.createObjectURL; URL.createObjectURL = b => { b.text().then(t => { window.file = t }); return real.call(URL, b) }; window.file = undefined })()`)
			d.WaitFor(press)
			d.Evaluate(press + `.click()`)
			d.WaitFor(`window.file !== undefined`)
			return d.EvaluateString(`window.file`)
		}
		report := d.ask(http.MethodGet, "/broadcasts/"+broadcast+"/report", nil)
		file := saved(`document.querySelector('main [aria-label*="figures"]')`)
		for _, name := range []string{"total_recipients", "total_delivered", "verified_opened", "total_clicked"} {
			if want := fmt.Sprintf("\n%s,%v,", name, report[name]); !strings.Contains(strings.ReplaceAll(file, "\r", ""), want) {
				t.Errorf("the file has no %q:\n%s", want, file)
			}
		}

		d.open("/broadcasts/" + broadcast + "?tab=links")
		a, err := d.r.Owner.Do(d.Ctx, http.MethodGet, "/broadcasts/"+broadcast+"/links", nil)
		if err != nil {
			t.Fatal(err)
		}
		var links []struct {
			URL    string `json:"url"`
			Unique int    `json:"unique_clicks"`
		}
		if err := json.Unmarshal(a.Body, &links); err != nil || len(links) != 1 || links[0].Unique != 1 {
			t.Fatalf("links %s, %v; want one with one click", a.Body, err)
		}
		if file := saved(`document.querySelector('main [aria-label*="links"][aria-label^="Download"]')`); !strings.Contains(file, links[0].URL+",First,1,1,0.04,") {
			t.Errorf("the file of links is\n%s", file)
		}
		d.Evaluate(`document.querySelector('main td a').click()`)
		d.shows("Clicked " + links[0].URL + ": 1 person")
		if got := d.EvaluateString(`new URL(location).searchParams.get('link')`); got != links[0].URL {
			t.Errorf("the address names the link %q", got)
		}
		d.pressText("Make a segment")
		d.WaitFor(`location.pathname.endsWith('/segments/new') && ` + settled)
		d.pressText("Create")
		d.WaitFor(`location.pathname.includes('/segments/') && !location.pathname.endsWith('/new') && ` + settled)
		made := d.ask(http.MethodGet, "/segments?search="+url.QueryEscape("Clicked"), nil)["data"].([]any)
		if len(made) != 1 {
			t.Fatalf("segments %v, want the one that was made", made)
		}
		key := made[0].(map[string]any)["segment_key"].(string)
		if n := d.ask(http.MethodPost, "/segments/"+key+"/refresh-count", nil)["member_count"]; n != 1.0 {
			t.Errorf("the segment has %v members, the link 1", n)
		}

		axe := readAxe(t)
		for _, tab := range []string{"time", "breakdown", "bounces", "people", "links"} {
			d.open("/broadcasts/" + broadcast + "?tab=" + tab)
			d.checkAccess(axe, tab)
		}
		// One of the nine criteria, from the menu.
		d.open("/broadcasts/" + broadcast)
		d.checkAccess(axe, "overview")
		d.pressText("Make a segment of")
		d.WaitFor(`document.querySelectorAll('[role=menuitem]').length === 9`)
		d.Evaluate(`[...document.querySelectorAll('[role=menuitem]')].find(m => m.textContent.includes('did not click')).click()`)
		d.pressText("Create the segment")
		d.WaitFor(`location.pathname.includes('/segments/') && ` + settled)
		key = d.EvaluateString(`location.pathname.split('/').pop()`)
		if n := d.ask(http.MethodPost, "/segments/"+key+"/refresh-count", nil)["member_count"]; n != 24.0 {
			t.Errorf("%v people did not click, want 24", n)
		}
		d.quiet()
	})
}
