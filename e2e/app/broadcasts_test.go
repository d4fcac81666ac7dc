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

	"github.com/packetboat/packetboat/e2e/browser"
	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// call sends a request as the owner.
func (page appPage) call(method, path string, body any) map[string]any {
	page.T.Helper()
	return e2etest.Must(page.T, page.account.Owner, method, path, body)
}

// createDraft makes a draft for the list with 25 readers; its fields replace the usual ones.
func (page appPage) createDraft(fields map[string]any) string {
	page.T.Helper()
	body := map[string]any{"name": "News", "email_type_key": "newsletter", "include_segment_keys": []any{page.account.List}, "content": map[string]any{"subject": "Hello", "body_html": `<p>Hello <a href="https://example.com/a">First</a></p>`}}
	maps.Copy(body, fields)
	return page.call(http.MethodPost, "/broadcasts", body)["id"].(string)
}

// review opens the list of what keeps a draft from being sent.
func (page appPage) review() browser.Scope {
	page.T.Helper()
	if page.EvaluateString(`document.querySelector('aside button[aria-controls]')?.ariaExpanded`) != "true" {
		page.Click("Show review")
	}
	return page.In("region", "Review")
}

// startSend starts a draft at once.
func (page appPage) startSend(broadcast string) {
	page.T.Helper()
	page.call(http.MethodPut, "/broadcasts/"+broadcast, map[string]any{"scheduled_at": time.Now().UTC().Format(time.RFC3339)})
	page.call(http.MethodPost, "/broadcasts/"+broadcast+"/schedule", nil)
}

// getBroadcast returns a broadcast.
func (page appPage) getBroadcast(broadcast string) map[string]any {
	page.T.Helper()
	return page.call(http.MethodGet, "/broadcasts/"+broadcast, nil)
}

// Two people edit one draft. What only one of them changed is joined; for what both changed, the page asks.
func TestEditsOfOneDraftByTwoPeopleAreMerged(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		broadcast := page.createDraft(nil)
		page.open("/broadcasts/" + broadcast + "/edit")
		content := func(name string) any { return page.getBroadcast(broadcast)["content"].(map[string]any)[name] }

		page.Evaluate(`$.holdWrites()`)
		page.Fill("Preview text", "A look inside")
		page.WaitFor(`window.held.length > 0`)
		e2etest.Must(t, page.account.Key, http.MethodPut, "/broadcasts/"+broadcast, map[string]any{"name": "Renamed"})
		page.Evaluate(`window.release()`)
		page.Main().ExpectText("Both changes are kept.")
		page.WaitFor(`[...document.querySelectorAll('input')].some(i => i.value === 'Renamed')`)
		e2etest.Eventually(t, func() (any, bool) { v := content("preheader"); return v, v == "A look inside" })
		if got := page.getBroadcast(broadcast); got["name"] != "Renamed" || content("preheader") != "A look inside" {
			t.Errorf("name %v, preview text %v; want both changes", got["name"], content("preheader"))
		}

		page.Evaluate(`$.holdWrites()`)
		page.Fill("Subject", "Mine")
		page.WaitFor(`window.held.length > 0`)
		e2etest.Must(t, page.account.Key, http.MethodPut, "/broadcasts/"+broadcast, map[string]any{"content": map[string]any{"subject": "Theirs"}, "tags": []any{"spring"}})
		page.Evaluate(`window.release()`)
		page.Dialog().ExpectText("Two versions of the same part")
		dialog := page.EvaluateString(`document.querySelector('[role=dialog]').innerText`)
		if !strings.Contains(dialog, "Mine") || !strings.Contains(dialog, "Theirs") {
			t.Errorf("the choice shows %q, want both subjects", dialog)
		}
		if got := content("subject"); got != "Theirs" {
			t.Errorf("before the choice, the subject is %v", got)
		}
		page.Click("Keep these versions")
		e2etest.Eventually(t, func() (any, bool) { v := content("subject"); return v, v == "Mine" })
		if tags, _ := page.getBroadcast(broadcast)["tags"].([]any); content("subject") != "Mine" || len(tags) != 1 {
			t.Errorf("subject %v, tags %v; want the chosen one and their tags", content("subject"), tags)
		}
	})
}

// What the server refuses stays in the form and is saved later; the rest is saved all the same. The list names
// such drafts.
func TestARefusedPartOfADraftIsKept(t *testing.T) {
	t.Parallel()
	page := openApp(t, "")
	broadcast := page.createDraft(nil)
	page.open("/broadcasts/" + broadcast + "/edit")
	page.Fill("Limit per hour", "-5")
	page.Fill("Internal name", "Kept")
	page.review().ExpectText("Not saved:")
	e2etest.Eventually(t, func() (any, bool) { v := page.getBroadcast(broadcast)["name"]; return v, v == "Kept" })
	if got := page.getBroadcast(broadcast); got["name"] != "Kept" || got["throttle_per_hour"] != nil {
		t.Errorf("name %v, throttle %v; want the name alone", got["name"], got["throttle_per_hour"])
	}
	e2etest.Eventually(t, func() (any, bool) {
		copies := page.call(http.MethodGet, "/working-copies?kind=broadcast", nil)
		rows, _ := copies["data"].([]any)
		return copies, len(rows) == 1
	})
	page.open("/broadcasts")
	page.Main().ExpectText("Not yet saved: 1 problem")
	page.open("/")
	page.Main().ExpectText("Unfinished work")
	page.Click("Kept")
	page.expectURL("/broadcasts/" + broadcast + "/edit$")
	page.WaitFor(`[...document.querySelectorAll('input')].some(i => i.value === '-5')`)
	// What is corrected before the answer comes is saved, too.
	page.Evaluate(`$.holdWrites()`)
	page.Fill("Limit per hour", "-7")
	page.WaitFor(`window.held.length > 0`)
	page.Fill("Limit per hour", "500")
	page.Evaluate(`window.release()`)
	if got := e2etest.Eventually(t, func() (any, bool) {
		v := page.getBroadcast(broadcast)["throttle_per_hour"]
		return v, v == 500.0
	}); got != 500.0 {
		t.Errorf("throttle_per_hour is %v, want the corrected 500", got)
	}
	e2etest.Eventually(t, func() (any, bool) {
		copies := page.call(http.MethodGet, "/working-copies?kind=broadcast", nil)
		rows, _ := copies["data"].([]any)
		return copies, len(rows) == 0
	})
}

// A broadcast from a template goes from its values to "Send now", is taken back within the minute, and is sent
// again, on a phone. The number in the confirmation is that of the recipients.
func TestABroadcastFromATemplateIsSentOnAPhone(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		page.call(http.MethodPost, "/templates", map[string]any{
			"name": "Letter", "format": "html", "subject": "News", "content_html": "<p>{{param:headline}}</p>",
			"parameters_schema": []any{map[string]any{"name": "headline", "label": "Headline", "type": "text", "required": true}},
		})
		page.SetScreen(390, 844, "dark")
		page.open("/broadcasts/new")
		// The account's own template is the first one.
		page.WaitFor(`document.querySelector('[role=dialog] label:has(input:checked) b')?.textContent === 'Letter'`)
		page.Click("Create")
		page.expectURL("/edit$")
		broadcast := page.firstID("/broadcasts")
		page.Fill("Headline", "Spring is here")
		page.SelectOption("Send to", "Every")
		page.In("region", "Audience").ExpectText("25 recipients")
		e2etest.Eventually(t, func() (any, bool) {
			v := page.getBroadcast(broadcast)["content"].(map[string]any)["template_slug"]
			return v, v == "letter"
		})
		for range 2 {
			page.Click("Review and send")
			page.Dialog().ExpectText("25 people in Everyone")
			page.Dialog().ExpectText("Acme News <news@example.com>")
			page.Click("Send to 25 people")
			page.waitForStatus(broadcast, "scheduled")
			page.Click("Undo")
			page.waitForStatus(broadcast, "draft")
			e2etest.Eventually(t, func() (any, bool) {
				v := page.getBroadcast(broadcast)["scheduled_at"]
				return v, v == nil
			})
			page.open("/broadcasts/" + broadcast + "/edit")
		}
		page.startSend(broadcast)
		page.waitForStatus(broadcast, "completed")
		page.open("/broadcasts/" + broadcast)
		page.Main().ExpectText("25 of 25")
		if got := page.getBroadcast(broadcast)["total_recipients"]; got != 25.0 {
			t.Errorf("%v recipients, the confirmation said 25", got)
		}
	})
}

// Each thing that a draft lacks leads to the field where it is fixed, and the list empties.
func TestProblemsOfADraftLinkToTheirFields(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		broadcast := page.call(http.MethodPost, "/broadcasts", map[string]any{"name": "Bare", "email_type_key": "newsletter", "content": map[string]any{"subject": "Hello", "body_html": "<p>Hello</p>"}})["id"].(string)
		page.call(http.MethodPut, "/broadcasts/"+broadcast, map[string]any{"email_type_key": nil})
		page.call(http.MethodPut, "/settings/account", map[string]any{"default_mta_config_key": nil})
		reasons := func() []any {
			t.Helper()
			return page.getBroadcast(broadcast)["view_model"].(map[string]any)["schedule_readiness"].(map[string]any)["reasons"].([]any)
		}
		sections := map[string]string{"segment": "audience", "email_type": "from", "mta": "from", "content": "content", "identity": "from"}
		page.open("/broadcasts/" + broadcast + "/edit")
		for _, r := range reasons() {
			reason := r.(map[string]any)
			row := fmt.Sprintf(`document.querySelector('aside li[data-code=%s]')`, reason["code"])
			page.WaitFor(row)
			page.Evaluate(`document.activeElement.blur()`)
			page.Evaluate(row + `.querySelector('button').click()`)
			section := sections[reason["guard"].(string)]
			page.WaitFor(fmt.Sprintf(`document.activeElement.closest('#%s')`, section))
		}
		page.Evaluate(`document.querySelector('aside li[data-code=NO_UNSUBSCRIBE_LINK] button').click()`)
		page.WaitFor(`document.activeElement.closest('#preview')`) // the footer is in the mail
		if len(reasons()) < 3 {
			t.Fatalf("the draft lacks %v, want a segment, an email type and an MTA config", reasons())
		}
		page.call(http.MethodPut, "/settings/account", map[string]any{"default_mta_config_key": page.call(http.MethodGet, "/mta-configs", nil)["data"].([]any)[0].(map[string]any)["key"]})
		choose := func(label, value string) {
			t.Helper()
			page.Evaluate(fmt.Sprintf(`(() => { const s = document.getElementById([...document.querySelectorAll('label')].find(l => l.textContent.startsWith(%q)).htmlFor); Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'value').set.call(s, %q); s.dispatchEvent(new Event('change', { bubbles: true })) })()`, label, value))
		}
		choose("Email type", "newsletter")
		page.SelectOption("Send to", "Every")
		page.Main().ExpectText("Ready to send")
		if left := reasons(); len(left) != 0 {
			t.Errorf("the page says it is ready, and %v are missing", left)
		}
		// A start that is over would send at once.
		page.FillDate("Start", "02", "01", "2020", "09", "00")
		page.In("region", "Delivery").ExpectText("This time is in the past.")
		page.review().ExpectText("The start time is in the past.")
		page.Click("Review and send")
		page.Dialog().ExpectText("It cannot be sent yet")
		page.Click("Not yet")
		page.FillDate("Start", "", "", "", "", "")
		page.Main().ExpectText("Ready to send")
		// The warning about the postal address is fixed without leaving the draft.
		page.review().Click("Enter address")
		page.Fill("Street or PO box", "Quay 1")
		page.Fill("City", "Hamburg")
		page.SelectOption("Country", "Germany")
		page.Click("Save")
		page.WaitFor(`!document.querySelector('aside').textContent.includes('postal address')`)
		page.expectNoProblems()
	})
}

// What is wrong with the content of a draft, before and after it is saved, leads to the field where it is corrected.
func TestContentErrorsLinkToTheirFields(t *testing.T) {
	t.Parallel()
	page := openApp(t, "")
	page.call(http.MethodPost, "/templates", map[string]any{
		"name": "Letter", "format": "html", "subject": "News", "content_html": "<p>{{param:headline}} {{ contact.city }}</p>",
		"parameters_schema": []any{map[string]any{"name": "headline", "label": "Headline", "type": "text", "required": true}},
		"expects_schema":    []any{map[string]any{"path": "contact.city", "type": "string", "required": true}},
	})
	broadcast := page.createDraft(nil)
	page.open("/broadcasts/" + broadcast + "/edit")
	// leads presses Open in a row of the list and waits for the focus in a field.
	leads := func(row, field string) {
		t.Helper()
		page.WaitFor(row)
		page.Evaluate(`document.activeElement.blur()`)
		page.Evaluate(row + `.querySelector('button').click()`)
		page.WaitFor(fmt.Sprintf(`document.activeElement.closest('[data-path=%q]')`, field))
	}
	coded := func(code string) string { return fmt.Sprintf(`document.querySelector('aside li[data-code=%s]')`, code) }
	unsaved := `[...document.querySelectorAll('aside li')].find(l => l.innerText.includes('Not saved'))`
	clean := `document.querySelector('aside [data-ready]')?.innerText.includes('Ready to send')`

	page.WaitFor(`document.querySelector('[data-path="content.subject"]')`)
	page.Evaluate(`document.querySelector('[data-path="content.subject"]').focus(); document.activeElement.select()`)
	page.Press("Delete")
	leads(unsaved, "content.subject")
	page.Type("{% nothing %}")
	leads(unsaved, "content.subject")
	page.fillField("content.subject", "Hello")
	page.WaitFor(clean)

	page.Check("MJML")
	page.FillCode("<mjml><mj-body><mj-section><mj-colum>Hello</mj-colum></mj-section></mj-body></mjml>")
	leads(unsaved, "content.body_mjml")
	page.FillCode("<mjml><mj-body><mj-section><mj-column><mj-text>Hello</mj-text></mj-column></mj-section></mj-body></mjml>")
	page.WaitFor(clean)

	page.Click("Compare versions")
	page.fillField("variants[1].content_overrides.subject", "{{ contact.city | nothing }}")
	leads(unsaved, "variants[1].content_overrides.subject")
	page.Click("Send one version to everybody")
	page.WaitFor(clean)

	page.Check("From a template")
	page.SelectOption("Template", "Let")
	leads(unsaved, "parameters.headline")
	if text := page.EvaluateString(unsaved + `.innerText`); !strings.Contains(text, "Headline") {
		t.Errorf("the list says %q, want the name of the value", text)
	}
	page.Fill("Headline", "Spring is here")
	page.WaitFor(clean)
	e2etest.Eventually(t, func() (any, bool) {
		v := page.getBroadcast(broadcast)["content"].(map[string]any)["template_slug"]
		return v, v == "letter"
	})
	// A value that the template needs is missing for everybody, and the list shows for whom.
	lacking := coded("EXPECTED_DATA_MISSING")
	page.WaitFor(lacking)
	if text := page.EvaluateString(lacking + `.innerText`); !strings.Contains(strings.ToLower(text), "city") {
		t.Errorf("the warning says %q, want the name of the field", text)
	}
	page.Evaluate(lacking + `.querySelector('a').click()`)
	page.expectURL("/segments/new$")
	page.In("region", "Matches now").ExpectText("25 match, 25 of them can be mailed.")

	template := page.firstID("/templates")
	page.call(http.MethodDelete, "/templates/"+template+"?force=true", nil)
	page.open("/broadcasts/" + broadcast + "/edit")
	leads(coded("TEMPLATE_CHANGED"), "content.template_slug")
	page.review().ExpectText("The template was deleted")
	page.Click("Compare and update")
	page.WaitFor(`[...document.querySelectorAll('[role=dialog] button')].find(b => b.innerText === 'Update' && b.getAttribute('aria-disabled') === 'true')`)
	page.Click("Keep as is")
	page.Check("Own code")
	page.FillCode("<p>Hello</p>")
	page.WaitFor(clean)
}

// Seed lists that are stale, and variants of a test that are not complete or are the same, lead to their fields; the list empties once they
// are corrected.
func TestStaleSeedListsAndIncompleteVariantsLinkToTheirFields(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		seeds := page.call(http.MethodPost, "/seed-lists", map[string]any{"name": "Placement", "include_by_default": true, "rotation_days": 7, "sending_identity_ids": []any{page.firstID("/sending-identities")}})
		page.call(http.MethodPost, "/seed-lists", map[string]any{"name": "Elsewhere", "include_by_default": true}) // of no sender: it gets no copies
		at := "/seed-lists/" + seeds["id"].(string) + "/seeds"
		body := map[string]any{"seeds": []any{map[string]any{"email": "seed@gmail.com"}}}
		page.call(http.MethodPut, at, body)
		if _, err := e2etest.Database(t, page.program).Exec(page.Ctx, `UPDATE seed_list SET refreshed_at = 1 /* all tenants: there is one */`); err != nil {
			t.Fatal(err)
		}
		broadcast := page.createDraft(nil)
		stale := `document.querySelector('aside li[data-code=SEED_LIST_STALE]')`
		leads := func(row, field string) {
			t.Helper()
			page.WaitFor(row)
			page.Evaluate(`document.activeElement.blur()`)
			page.Evaluate(row + `.querySelector('button').click()`)
			page.WaitFor(fmt.Sprintf(`document.activeElement.closest('[data-path=%q]')`, field))
		}
		page.open("/broadcasts/" + broadcast + "/edit")
		page.In("region", "Delivery").ExpectText("Placement Stale")
		if got := page.EvaluateString(`document.querySelector('[data-path=seed_list_ids]').innerText`); strings.Contains(got, "Elsewhere") {
			t.Errorf("the page shows a list that gets no copies: %s", got)
		}
		leads(stale, "seed_list_ids")
		if got := page.EvaluateString(stale + `.innerText`); !strings.Contains(got, "Placement") {
			t.Errorf("the warning is %q, want the name of the list", got)
		}
		page.Press("ArrowDown", "ArrowDown") // none
		page.WaitFor(`!` + stale)
		if got := page.getBroadcast(broadcast)["seed_list_ids"]; fmt.Sprint(got) != "[]" {
			t.Errorf("seed_list_ids is %v, want none", got)
		}
		page.Press("ArrowUp", "ArrowUp")
		page.WaitFor(stale)
		page.Evaluate(stale + `.querySelector('a').click()`)
		page.expectURL("/sending/seeds/" + seeds["id"].(string) + "$")
		page.call(http.MethodPut, at, body)
		page.Evaluate(`history.back()`)
		page.expectURL("/edit$")
		page.WaitFor(`!` + stale + ` && document.querySelector('aside [data-ready]')`)

		unsaved := `[...document.querySelectorAll('aside li')].find(l => l.innerText.includes('Not saved'))`
		clean := `document.querySelector('aside [data-ready]')?.innerText.includes('Ready to send') && !document.querySelector('aside').innerText.includes('Not saved')`
		page.Click("Compare versions")
		page.WaitFor(`document.querySelector('[data-path="variants[1].name"]')`)
		leads(`document.querySelector('aside li[data-code=INVALID_VARIANTS]')`, "variants")
		page.Main().ExpectText("Versions “A” and “B” are the same. Change one of them, or remove it.")
		for _, of := range [][2]string{{"variants[1].content_overrides.subject", "Another"}, {"variants[1].name", "Second"}, {"variants[1].weight", "2"}} {
			path, good := of[0], of[1]
			page.WaitFor(fmt.Sprintf(`document.querySelector('[data-path=%q]')`, path))
			page.Evaluate(fmt.Sprintf(`document.querySelector('[data-path=%q]').focus(), document.activeElement.select?.()`, path))
			page.Press("Control+a")
			page.Press("Delete")
			leads(unsaved, path)
			page.Press("Control+a")
			page.Type(good)
			page.WaitFor(clean)
		}
		page.fillField("variants[1].weight", "-1")
		page.WaitFor(unsaved + `?.innerText.includes('Version 2, weight')`)
		page.fillField("variants[1].weight", "2")
		page.WaitFor(clean)
		variants, _ := page.getBroadcast(broadcast)["variants"].([]any)
		if len(variants) != 2 || variants[1].(map[string]any)["name"] != "Second" || variants[1].(map[string]any)["weight"] != 2.0 {
			t.Errorf("the saved variants are %v", variants)
		}
	})
}

// sendTotals returns the numbers of the ledger on the page by their names.
func (page appPage) sendTotals() map[string]int {
	page.T.Helper()
	var rows [][2]string
	page.EvaluateInto(`[...document.querySelectorAll('main table tbody tr')].map(r => [r.querySelector('th').innerText.replace(/^[−=] /, '').trim(), r.querySelector('td').innerText.trim()])`, &rows)
	out := map[string]int{}
	for _, r := range rows {
		n, err := strconv.Atoi(strings.ReplaceAll(r[1], ",", ""))
		if err != nil {
			page.T.Fatalf("the ledger has %q for %s", r[1], r[0])
		}
		out[r[0]] = n
	}
	return out
}

// expectTotalsAddUp checks that the ledger on the page adds up.
func (page appPage) expectTotalsAddUp(when string) map[string]int {
	page.T.Helper()
	l := page.sendTotals()
	parts := l["Given to servers"] + l["Failed"] + l["Skipped"] + l["Held back"] + l["Cancelled"] + l["Waiting"]
	if l["Recipients"] != parts || l["Matched"] < l["Recipients"] {
		page.T.Errorf("%s, the ledger does not add up: %v", when, l)
	}
	return l
}

// A send over three days skips one, shows its plan, takes another skip after showing what it changes, is paused
// with its workspace, resumed when the cause is gone, and cancelled; its ledger adds up at each step.
func TestTotalsOfASpreadSendAddUpUntilItsEnd(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		broadcast := page.createDraft(map[string]any{"name": "Slow news", "delivery_mode": "over_days", "delivery_window_days": 3, "throttle_per_hour": 2})
		page.open("/broadcasts/" + broadcast + "/edit")
		days := `[...document.querySelectorAll('#delivery figure button')]`
		page.WaitFor(days + `.length >= 3`)
		page.Evaluate(days + `[1].click()`)
		page.WaitFor(days + `[1].getAttribute('aria-pressed') === 'true'`)
		e2etest.Eventually(t, func() (any, bool) {
			v, _ := page.getBroadcast(broadcast)["skipped_dates"].([]any)
			return v, len(v) == 1
		})
		page.startSend(broadcast)
		page.waitForStatus(broadcast, "sending")
		e2etest.Eventually(t, func() (any, bool) {
			p, _ := page.getBroadcast(broadcast)["view_model"].(map[string]any)["delivery_progress"].(map[string]any)
			return p, p != nil && p["plan"] != nil
		})
		page.open("/broadcasts/" + broadcast)
		page.Main().ExpectText("Delivery status")
		page.WaitFor(`document.querySelector('main figure li[data-status=skipped]')`)
		page.expectAccessible("a live broadcast")
		if l := page.expectTotalsAddUp("while it is sent"); l["Recipients"] != 25 {
			t.Errorf("the ledger has %d recipients, want 25", l["Recipients"])
		}

		page.Click("Change skipped days")
		days = `[...document.querySelectorAll('main figure button[aria-pressed=false]')]`
		page.WaitFor(days + `.length > 0`)
		page.Evaluate(days + `.at(-1).click()`)
		page.Click("Save new plan")
		e2etest.Eventually(t, func() (any, bool) {
			v, _ := page.getBroadcast(broadcast)["skipped_dates"].([]any)
			return v, len(v) == 2
		})
		page.WaitFor(`document.querySelectorAll('main figure li[data-status=skipped]').length >= 2`)
		page.expectTotalsAddUp("after a new plan")

		tenant := func(args ...string) {
			t.Helper()
			if _, err := page.program.Run(page.Ctx, append(append([]string{"tenant"}, args...), "--slug", harness.Tenant)...); err != nil {
				t.Fatal(err)
			}
		}
		tenant("pause", "--reason", "unpaid")
		page.waitForStatus(broadcast, "paused")
		page.Main().ExpectText("Workspace paused")
		if why := page.DisabledReason("Resume"); !strings.Contains(why, "cause") {
			t.Errorf("Resume says %q", why)
		}
		page.expectTotalsAddUp("while it is paused")
		tenant("resume")
		page.Main().ExpectText("The cause is resolved")
		page.Click("Resume")
		page.waitForStatus(broadcast, "sending")
		page.WaitFor(`[...document.querySelectorAll('main button')].some(b => b.textContent === 'Pause')`)
		page.expectTotalsAddUp("after it was resumed")

		page.Evaluate(`document.querySelector('main header [aria-haspopup=menu][aria-label="More actions"]').click()`)
		page.WaitFor(`document.querySelector('[role=menuitem]')`)
		page.Evaluate(`[...document.querySelectorAll('[role=menuitem]')].find(m => m.textContent.includes('Cancel send')).click()`)
		page.In("dialog", "Cancel Slow news?").ExpectText("will not get it")
		page.Click("Cancel send")
		page.waitForStatus(broadcast, "cancelled")
		page.WaitFor(`[...document.querySelectorAll('main table tbody th')].some(h => h.innerText.includes('Cancelled'))`)
		if l := page.expectTotalsAddUp("after it was cancelled"); l["Cancelled"]+l["Given to servers"] != 25 {
			t.Errorf("cancelled: %v", l)
		}
	})
}

// The report counts what the API counts. A link leads to the people who clicked it, and they become a segment. The
// file of a table has the numbers of the API.
func TestASegmentIsMadeOfWhoClickedALink(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		broadcast := page.createDraft(nil)
		page.startSend(broadcast)
		page.waitForStatus(broadcast, "completed")
		lane := page.firstID("/mta-configs")
		list := page.call(http.MethodGet, "/mta-configs/"+lane+"/messages?limit=50", nil)["data"].([]any)
		mail := page.call(http.MethodGet, "/mta-configs/"+lane+"/messages/"+list[0].(map[string]any)["id"].(string), nil)
		first, _, _ := strings.Cut(fmt.Sprint(mail["html"])[strings.Index(fmt.Sprint(mail["html"]), `href="`)+6:], `"`)
		e2etest.Wait(t, 3*time.Second) // a person reads it first
		e2etest.Visit(t, strings.ReplaceAll(first, "&amp;", "&"), http.StatusFound)
		e2etest.Eventually(t, func() (any, bool) {
			r := page.call(http.MethodGet, "/broadcasts/"+broadcast+"/report", nil)
			return r, r["total_clicked"] == 1.0
		})

		page.open("/broadcasts/" + broadcast)
		page.In("region", "Result").ExpectText("1 of 25")
		page.Evaluate(`[...document.querySelectorAll('main dt button')].find(b => b.textContent === 'Open rate').click()`)
		page.In("dialog", "What “Open rate” means").ExpectText("1 who opened ÷ 25 recipients")
		report := page.call(http.MethodGet, "/broadcasts/"+broadcast+"/report", nil)
		file := page.download(`document.querySelector('main [aria-label*="figures"]')`)
		for _, name := range []string{"total_recipients", "total_delivered", "verified_opened", "total_clicked"} {
			if want := fmt.Sprintf("\n%s,%v,", name, report[name]); !strings.Contains(strings.ReplaceAll(file, "\r", ""), want) {
				t.Errorf("the file has no %q:\n%s", want, file)
			}
		}

		page.open("/broadcasts/" + broadcast + "?tab=links")
		a, err := page.account.Owner.Do(page.Ctx, http.MethodGet, "/broadcasts/"+broadcast+"/links", nil)
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
		if file := page.download(`document.querySelector('main [aria-label*="links"][aria-label^="Download"]')`); !strings.Contains(file, links[0].URL+",First,1,1,0.04,") {
			t.Errorf("the file of links is\n%s", file)
		}
		page.Evaluate(`document.querySelector('main td a').click()`)
		page.Main().ExpectText("Clicked " + links[0].URL + ": 1 person")
		if got := page.EvaluateString(`new URL(location).searchParams.get('link')`); got != links[0].URL {
			t.Errorf("the address names the link %q", got)
		}
		page.Click("Create segment")
		page.expectURL("/segments/new$")
		page.Click("Create")
		page.WaitFor(`location.pathname.includes('/segments/') && !location.pathname.endsWith('/new') && ` + settled)
		made := page.call(http.MethodGet, "/segments?search="+url.QueryEscape("Clicked"), nil)["data"].([]any)
		if len(made) != 1 {
			t.Fatalf("segments %v, want the one that was made", made)
		}
		key := made[0].(map[string]any)["segment_key"].(string)
		if n := page.call(http.MethodPost, "/segments/"+key+"/refresh-count", nil)["member_count"]; n != 1.0 {
			t.Errorf("the segment has %v members, the link 1", n)
		}

		for _, tab := range []string{"time", "breakdown", "bounces", "people", "links"} {
			page.open("/broadcasts/" + broadcast + "?tab=" + tab)
			page.expectAccessible(tab)
		}
		// One of the nine criteria, from the menu.
		page.open("/broadcasts/" + broadcast)
		page.expectAccessible("overview")
		page.Click("Create segment of")
		page.WaitFor(`document.querySelectorAll('[role=menuitem]').length === 9`)
		page.Evaluate(`[...document.querySelectorAll('[role=menuitem]')].find(m => m.textContent.includes('did not click')).click()`)
		page.Click("Create segment")
		page.expectURL("/segments/")
		key = page.EvaluateString(`location.pathname.split('/').pop()`)
		if n := page.call(http.MethodPost, "/segments/"+key+"/refresh-count", nil)["member_count"]; n != 24.0 {
			t.Errorf("%v people did not click, want 24", n)
		}
		page.expectNoProblems()

		// A link in the mailbox opens for whoever reads there, and is a click of the contact.
		other := list[1].(map[string]any)
		page.open("/mailbox/" + lane + "/" + other["id"].(string))
		page.Main().ExpectText("opening one counts as a click")
		page.WaitFor(`document.querySelector('main iframe')?.style.blockSize !== '400px'`) // it has told its height
		page.Evaluate(`document.querySelector('main iframe').focus()`)
		page.Press("Tab", "Enter")
		contact := page.call(http.MethodGet, "/contacts?search="+url.QueryEscape(other["to"].(string)), nil)["data"].([]any)[0].(map[string]any)["id"].(string)
		e2etest.Eventually(t, func() (any, bool) {
			rows := fmt.Sprint(page.call(http.MethodGet, "/contacts/"+contact+"/activity", nil))
			return rows, strings.Contains(rows, "email_clicked")
		})
	})
}
