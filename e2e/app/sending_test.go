package app

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/mail/dnstest"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// A domain gets a new key in three steps, says why it is paused, is resumed, and is deleted once nobody sends from it.
func TestADomainIsManagedInTheApplication(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		zone := dnstest.New(t, "mail.boat.example. 60 IN A 127.0.0.1", `mail.boat.example. 60 IN TXT "v=spf1 ip4:192.0.2.1 -all"`)
		page := openApp(t, address, "PACKETBOAT_DNS_RESOLVER="+zone.Addr, "PACKETBOAT_MX_HOST=mail.boat.example", "PACKETBOAT_SPF_HOST=mail.boat.example", "PACKETBOAT_TRACK_HOST=mail.boat.example")
		made := page.call(http.MethodPost, "/sending-domains", map[string]any{"domain": "harbour.example"})
		path := "/sending-domains/" + made["id"].(string)
		read := func(method, action string) e2etest.Domain {
			t.Helper()
			a, err := page.account.Owner.Do(page.Ctx, method, path+action, nil)
			if err != nil || a.Status != http.StatusOK {
				t.Fatalf("%s %s: %d %s, %v", method, action, a.Status, a.Body, err)
			}
			var got e2etest.Domain
			page.Must(a.Decode(&got))
			return got
		}
		domain := read(http.MethodGet, "")
		for _, purpose := range []string{"dkim", "return_path", "return_path_spf", "dmarc", "tracking"} {
			domain.Publish(t, zone, purpose)
		}
		read(http.MethodPost, "/verify")

		page.open("/sending/domains/" + domain.ID)
		page.In("region", "Details").ExpectText("Next check")
		page.PressEnterOn("More")
		page.ChooseMenuItem("Replace signing key")
		page.Dialog().Click("Replace signing key")
		page.In("region", "The signing key is being replaced").ExpectText("A new key has been created. Publish its record, es2")
		page.In("region", "The signing key is being replaced").ExpectText("Until then, the old key is used.")
		read(http.MethodGet, "").Publish(t, zone, "dkim")
		page.Click("Check now")
		page.In("region", "The signing key is being replaced").ExpectText("Email is signed with the key es2.")
		page.In("region", "The signing key is being replaced").ExpectText("Keep the record of the old key, es1")

		if _, err := e2etest.Database(t, page.program).Exec(page.Ctx, `UPDATE sending_domain SET paused = TRUE, pause_reason = 'complaint_rate' WHERE domain = 'harbour.example'`); err != nil {
			t.Fatal(err)
		}
		page.open("/sending/domains/" + domain.ID)
		page.Main().ExpectText("Too many recipients reported its email as spam.")
		page.expectAccessible("a paused domain")
		page.Click("Resume")
		page.All().ExpectNoText("Too many recipients reported")
		if now := page.call(http.MethodGet, path, nil); now["paused"] != false {
			t.Errorf("after Resume the domain is %v", now)
		}

		sender := page.call(http.MethodPost, "/sending-identities", map[string]any{"email_address": "hello@harbour.example", "display_name": "Harbour"})
		page.PressEnterOn("More")
		page.ChooseMenuItem("Delete domain")
		page.Fill("Type harbour.example", "harbour.example")
		page.Dialog().Click("Delete domain")
		page.In("dialog", "Delete harbour.example?").ExpectText("It is used by 1 sender.")
		page.call(http.MethodDelete, "/sending-identities/"+sender["id"].(string), nil)
		page.Dialog().Click("Delete domain")
		page.expectURL("/sending$")
		if a, err := page.account.Owner.Do(page.Ctx, http.MethodGet, path, nil); err != nil || a.Status != http.StatusNotFound {
			t.Errorf("the deleted domain: %d, %v", a.Status, err)
		}
	})
}

// An MTA config shows its warm-up and limits, keeps its password and what is typed, and lists who needs it before it is
// switched off or deleted.
func TestAnMTAConfigIsManagedInTheApplication(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		lane := page.call(http.MethodPost, "/mta-configs", map[string]any{
			"name": "Relay", "type": "smtp", "settings": map[string]any{"host": "smtp.example.net", "port": 587, "tls": "starttls", "auth": "plain", "username": "u", "password": "secret-of-the-relay"},
			"caps": map[string]any{"max_per_second": 1, "max_per_hour": 5000}, "domain_throttles": []any{map[string]any{"pattern": "gmail", "max_per_minute": 20}},
			"warmup": map[string]any{"enabled": true, "start_per_day": 200, "growth_pct": 30, "started_on": time.Now().UTC().Format(time.DateOnly)},
		})
		path := "/mta-configs/" + lane["id"].(string)
		broadcast := page.createDraft(map[string]any{"name": "By relay", "mta_config_key": lane["key"], "scheduled_at": time.Now().Add(24 * time.Hour).UTC().Format(time.RFC3339)})
		page.call(http.MethodPost, "/broadcasts/"+broadcast+"/schedule", nil)
		route := "/sending/mta/" + lane["id"].(string)
		page.open(route)
		page.In("region", "Warm-up").ExpectText("Today's limit: 200 emails")
		page.In("region", "Limits").ExpectText("3,600 an hour")
		page.In("region", "Limits").ExpectText("1,200 an hour")
		page.In("region", "Health").ExpectText("Remaining today 200")
		page.In("region", "SMTP relay").ExpectText("Set. Leave empty to keep it.")
		if page.EvaluateString(`document.documentElement.outerHTML.includes('secret-of-the-relay')`) == "true" {
			t.Error("the page has the password")
		}
		page.expectAccessible("an MTA config that warms up")

		page.unfold("Change limits")
		page.Fill("Emails per day", "900")
		page.Fill("Password", "never-kept")
		copyOf := "/working-copies/mta_config/" + lane["id"].(string)
		kept := e2etest.Eventually(t, func() (string, bool) {
			a, err := page.account.Owner.Do(page.Ctx, http.MethodGet, copyOf, nil)
			return string(a.Body), err == nil && a.Status == http.StatusOK
		})
		if !strings.Contains(kept, "900") || strings.Contains(kept, "never-kept") {
			t.Errorf("the working copy is %s", kept)
		}
		page.open(route)
		page.Main().ExpectText("They are not saved yet.")
		page.Click("Save")
		page.Messages().ExpectText("Saved")
		page.All().ExpectNoText("These changes were kept")
		if caps := page.call(http.MethodGet, path, nil)["caps"].(map[string]any); caps["max_per_day"] != 900.0 || caps["max_per_second"] != 1.0 {
			t.Errorf("saved caps are %v", caps)
		}
		gone := e2etest.Eventually(t, func() (bool, bool) {
			a, err := page.account.Owner.Do(page.Ctx, http.MethodGet, copyOf, nil)
			ok := err == nil && a.Status == http.StatusNotFound
			return ok, ok
		})
		if !gone {
			t.Error("the working copy outlives the save")
		}

		page.Evaluate(`[...document.querySelectorAll('[role=switch]')].find(s => document.getElementById(s.getAttribute('aria-labelledby')).textContent === 'Active').click()`)
		page.In("region", "SMTP relay").ExpectText("Once you save this, no mail leaves through it.")
		page.In("region", "SMTP relay").ExpectText("By relay")
		page.Click("Delete")
		page.Fill("Type Relay", "Relay")
		page.Dialog().Click("Delete")
		page.WaitFor(`[...document.querySelectorAll('[role=dialog] [role=alert] a, [role=alertdialog] [role=alert] a')].some(a => a.getAttribute('href').endsWith('/broadcasts/` + broadcast + `'))`)
		page.call(http.MethodPost, "/broadcasts/"+broadcast+"/unschedule", nil)
		page.Dialog().Click("Delete")
		page.expectURL("/sending$")
	})
}

// What is typed into settings and not saved comes back, unless it was saved otherwise meanwhile; Cancel drops it.
// The workspace is deleted by its address.
func TestUnsavedSettingsAreRestored(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		account := page.call(http.MethodGet, "/settings/account", nil)
		id := account["tenant_id"].(string)
		copies := func(kind, record string) bool {
			a, err := page.account.Owner.Do(page.Ctx, http.MethodGet, "/working-copies/"+kind+"/"+record, nil)
			return err == nil && a.Status == http.StatusOK
		}
		waits := func(kind, record string, there bool) {
			t.Helper()
			if !e2etest.Eventually(t, func() (bool, bool) { ok := copies(kind, record) == there; return ok, ok }) {
				t.Errorf("a working copy of %s: never %v", kind, there)
			}
		}
		page.open("/settings/account")
		// The first attempts to keep it fail.
		page.Evaluate(`$.failWrites(2)`)
		page.Fill("City", "Kiel")
		page.Fill("Address line 1", "Harbour Road 1")
		waits("account_address", id, true)
		// Somebody else saves the street: the page asks about it before it saves.
		postal := account["postal_address"].(map[string]any)
		postal["line1"] = "Quay 7"
		page.call(http.MethodPut, "/settings/account", map[string]any{"postal_address": postal})
		page.open("/settings/account")
		page.In("region", "Postal address").ExpectText("They are not saved yet.")
		field := func(path string) string {
			return page.EvaluateString(`document.querySelector('[data-path="` + path + `"]').value`)
		}
		if city, street := field("postal_address.city"), field("postal_address.line1"); city != "Kiel" || street != "Harbour Road 1" {
			t.Errorf("city %q and street %q came back", city, street)
		}
		page.Evaluate(`[...document.querySelectorAll('form')].find(f => f.innerText.includes('Discard changes')).querySelector('button[type=submit]').click()`)
		page.In("dialog", "Two versions of the same part").ExpectText("changed the same parts in the meantime.")
		page.Check("Theirs")
		page.Dialog().Click("Keep these versions")
		page.All().ExpectNoText("Discard changes")
		waits("account_address", id, false)
		if got := page.call(http.MethodGet, "/settings/account", nil)["postal_address"].(map[string]any); got["city"] != "Kiel" || got["line1"] != "Quay 7" {
			t.Errorf("saved address: %v", got)
		}

		page.open("/sending/types?edit=new")
		page.Fill("Name", "Offers")
		waits("email_type", "new-"+id, true)
		page.Press("Escape")
		page.open("/sending/types?edit=new")
		page.In("dialog", "Add type").ExpectText("They are not saved yet.")
		page.Dialog().Click("Cancel")
		waits("email_type", "new-"+id, false)
		page.open("/sending/types")
		page.In("region", "Preference page").ExpectText("Recipients choose from:")

		page.open("/settings/account")
		page.Click("Delete workspace")
		page.In("dialog", "Delete acme?").ExpectText("permanently after 30 days")
		page.Fill("Type "+harness.Tenant, "wrong")
		page.WaitFor(`[...document.querySelectorAll('[role=dialog] button, [role=alertdialog] button')].find(b => b.textContent.trim() === 'Delete workspace').getAttribute('aria-disabled') === 'true'`)
		page.Fill("Type "+harness.Tenant, harness.Tenant)
		page.Dialog().Click("Delete workspace")
		page.WaitFor(`!location.pathname.startsWith('/app/` + harness.Tenant + `')`)
	})
}

// Two people edit one sender. What only one of them changed is joined; for a field that both changed, the form asks.
func TestEditsOfOneSenderByTwoPeopleAreMerged(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		rows := page.call(http.MethodGet, "/sending-identities", nil)["data"].([]any)
		path := "/sending-identities/" + rows[0].(map[string]any)["id"].(string)
		field := func(name string) any { return page.call(http.MethodGet, path, nil)[name] }
		const drawerGone = `!document.querySelector('[role=dialog]')`
		edit := strings.Replace(path, "/sending-identities", "/sending/senders", 1) + "?edit=1"

		page.open(edit)
		page.Fill("Name that recipients see", "Harbour news")
		page.call(http.MethodPut, path, map[string]any{"utm_code": "theirs"})
		page.Dialog().Click("Save")
		page.WaitFor(drawerGone)
		page.Messages().ExpectText("Somebody else changed UTM source in the meantime. Both changes are kept.")
		if name, utm := field("display_name"), field("utm_code"); name != "Harbour news" || utm != "theirs" {
			t.Errorf("name %v, UTM source %v; want both changes", name, utm)
		}

		// Between the reading and the saving, too: the server refuses the revision, and the form joins again.
		page.open(edit)
		page.Evaluate(`(() => { const real = window.fetch; window.conflicts = 0; window.fetch = async (a, o) => {
			if (o && o.method === 'PUT' && o.headers['If-Match'] && window.conflicts === 0) await real(a, { ...o, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ utm_code: 'between' }) })
			const answer = await real(a, o)
			if (answer.status === 412) window.conflicts++
			return answer
		} })()`)
		page.Fill("Name that recipients see", "Harbour")
		page.Dialog().Click("Save")
		page.WaitFor(drawerGone)
		if name, utm, conflicts := field("display_name"), field("utm_code"), page.EvaluateString(`window.conflicts`); name != "Harbour" || utm != "between" || conflicts != "1" {
			t.Errorf("name %v, UTM source %v after %s conflicts", name, utm, conflicts)
		}

		page.open(edit)
		page.Fill("Name that recipients see", "Mine")
		page.call(http.MethodPut, path, map[string]any{"display_name": "Theirs"})
		page.Dialog().Click("Save")
		page.Dialog().ExpectText("Two versions of the same part")
		page.expectAccessible("two versions of a sender")
		if name := field("display_name"); name != "Theirs" {
			t.Errorf("before the choice the name is %v", name)
		}
		page.Evaluate(`[...document.querySelectorAll('[role=dialog]')].at(-1).querySelector('button[type=submit]').click()`)
		page.WaitFor(drawerGone)
		if name := field("display_name"); name != "Mine" {
			t.Errorf("after the choice the name is %v", name)
		}
	})
}

// An MTA config that delivers by itself has its addresses, its warm-up and how long it tries in the form, and what the
// server refuses stands at its field; so have patterns of the mailbox and records of a relay. The test of a config shows
// the server's words, also when it refuses.
func TestEveryFieldOfAnMTAConfigIsInTheForm(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		read := func(id string) map[string]any { return page.call(http.MethodGet, "/mta-configs/"+id, nil) }
		made := func() string {
			t.Helper()
			page.expectURL(`mta/[0-9a-f-]{36}$`)
			return page.EvaluateString(`location.pathname.split('/').pop()`)
		}

		page.open("/sending/mta/new")
		page.Check("Direct")
		page.Fill("Name", "Direct")
		page.Click("Add address")
		page.fillField("settings.ips[0].ip", "not an address")
		page.Fill("Hostname", "mail.example.net")
		page.Click("Save")
		page.In("region", "Direct").ExpectText("must be an IP address, such as 203.0.113.7.")
		page.WaitFor(`document.activeElement.dataset.path === 'settings.ips[0].ip' && document.activeElement.getAttribute('aria-invalid') === 'true'`)
		page.fillField("settings.ips[0].ip", "203.0.113.7")
		page.unfold("Limits")
		page.Evaluate(`[...document.querySelectorAll('[role=switch]')].find(s => document.getElementById(s.getAttribute('aria-labelledby')).textContent === 'Warm-up').click()`)
		page.Fill("Emails on the first day", "40")
		page.WaitFor(`document.querySelectorAll('[data-path="warmup.started_on"] [role=spinbutton]').length === 3`)
		page.unfold("If delivery fails")
		page.Fill("Retry for, in hours", "12")
		page.expectAccessible("a config that delivers by itself")
		page.Click("Save")
		direct := read(made())
		ips := direct["settings"].(map[string]any)["ips"].([]any)
		if len(ips) != 1 || ips[0].(map[string]any)["ip"] != "203.0.113.7" || ips[0].(map[string]any)["helo_host"] != "mail.example.net" {
			t.Errorf("its addresses are %v", ips)
		}
		if retry := direct["retry"].(map[string]any)["max_age_hours"]; retry != 12.0 {
			t.Errorf("it tries for %v hours", retry)
		}
		if warmup := direct["warmup"].(map[string]any); warmup["enabled"] != true || warmup["start_per_day"] != 40.0 {
			t.Errorf("its warm-up is %v", warmup)
		}

		page.open("/sending/mta/new")
		page.Check("Built-in mailbox")
		page.Fill("Name", "Refusing")
		page.Click("Add pattern")
		page.fillField("settings.fail_patterns[0].pattern", "*@refused.example")
		page.Click("Save")
		if patterns := read(made())["settings"].(map[string]any)["fail_patterns"].([]any); len(patterns) != 1 || patterns[0].(map[string]any)["pattern"] != "*@refused.example" {
			t.Errorf("its patterns are %v", patterns)
		}

		relay := sink.Start(t, sink.Options{Rules: []sink.Rule{{Stage: sink.Rcpt, To: "nobody@example.com", Reply: "550 5.1.1 There is nobody of this name"}}})
		smtp := page.call(http.MethodPost, "/mta-configs", map[string]any{"name": "Relay", "type": "smtp", "settings": map[string]any{"host": "127.0.0.1", "port": relay.Port(), "tls": "none", "auth": "none"}})["id"].(string)
		page.open("/sending/mta/" + smtp)
		page.unfold("If delivery fails")
		page.Click("Add record")
		page.fillField("return_path_records[0].value", "not a host")
		page.Click("Save")
		page.WaitFor(`document.activeElement.dataset.path === 'return_path_records[0].value' && document.activeElement.getAttribute('aria-invalid') === 'true'`)
		page.fillField("return_path_records[0].value", "bounces.relay.example")
		page.fillField("return_path_records[0].priority", "20")
		page.Click("Save")
		page.Messages().ExpectText("Saved")
		if records := read(smtp)["return_path_records"].([]any); len(records) != 1 || records[0].(map[string]any)["value"] != "bounces.relay.example" || records[0].(map[string]any)["priority"] != 20.0 {
			t.Errorf("its records are %v", records)
		}
		page.Fill("To", "nobody@example.com")
		page.Click("Send test email")
		page.In("region", "Health").ExpectText("Refused")
		page.In("region", "Health").ExpectText("550 5.1.1 There is nobody of this name")
		page.Fill("To", "reader@example.com")
		page.Click("Send test email")
		page.In("region", "Health").ExpectText("Accepted in")
		page.WaitFor(`[...document.querySelectorAll('code')].some(c => c.textContent.startsWith('250 '))`)
	})
}

// A provider fills in its server. The settings on screen are tested before they are saved, and the checklist ticks the
// sending server once a test of what was saved is accepted; a refused login is told at once. The audit log and the search know the record.
func TestARelayIsTestedBeforeItIsSaved(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		relay := sink.Start(t, sink.Options{User: "u", Password: "right"})
		page.open("/?step=mta_config")
		page.Dialog().Click("Choose another")
		page.Dialog().Click("Set up a relay, Amazon SES or direct delivery")
		page.choose("Provider", "sendgrid")
		page.WaitFor(`document.querySelector('[data-path="settings.host"]').value === 'smtp.sendgrid.net' && document.querySelector('[data-path="settings.username"]').value === 'apikey'`)
		page.choose("Server", "smtp.eu.sendgrid.net")
		page.WaitFor(`document.querySelector('[data-path="settings.host"]').value === 'smtp.eu.sendgrid.net'`)
		page.expectAccessible("a relay of a provider")
		page.choose("Provider", "other")
		page.Fill("Name", "Ours")
		page.fillField("settings.host", "127.0.0.1")
		page.fillField("settings.port", strconv.Itoa(relay.Port()))
		page.choose("Encryption", "none")
		page.fillField("settings.username", "u")
		page.fillField("settings.password", "wrong")
		page.Dialog().Click("Test connection")
		page.Dialog().ExpectText("Refused")
		page.Dialog().ExpectText("535 ")
		page.fillField("settings.password", "right")
		page.Dialog().Click("Test connection")
		page.Dialog().ExpectText("The server accepted the connection and the login.")
		page.Dialog().Click("Save")
		page.Dialog().ExpectText("Mail leaves through Ours")
		page.Dialog().ExpectText("The server last accepted a test")
		page.Dialog().ExpectText("Done.")

		page.call(http.MethodPut, "/mta-configs/"+page.call(http.MethodGet, "/mta-configs", nil)["data"].([]any)[1].(map[string]any)["id"].(string), map[string]any{"settings": map[string]any{"password": "changed"}})
		page.Dialog().ExpectText("No test of these settings was accepted yet.")
		page.Dialog().Click("Test connection")
		page.Dialog().ExpectText("Down")
		page.Dialog().ExpectText("Last error")

		page.open("/settings/audit?what=mta_config.update")
		page.unfold("1 change")
		page.Main().ExpectText("Password")
		page.Main().ExpectText("Changed. The value is not shown.")
		page.expectAccessible("the audit log with what changed")
		page.Main().Click("Export as CSV")
		page.WaitFor(`[...document.querySelectorAll('a[download]')].some(a => a.textContent === 'Download' && a.href.endsWith('/download'))`)

		// The search remembers the record over a load of the page, and finds actions by other words.
		page.Main().Click("Ours")
		page.expectURL(`mta/[0-9a-f-]{36}$`)
		page.WaitFor(`JSON.parse(localStorage.getItem('packetboat-recent'))?.records.some(([, list]) => list[0].title === 'Ours')`)
		page.open("/")
		page.ClickElement(`[...document.querySelectorAll('button')].find(b => b.textContent.startsWith('Search or go to'))`)
		page.WaitFor(`[...document.querySelectorAll('dialog [role=group]')].some(g => g.getAttribute('aria-label') === 'Recent' && g.textContent.includes('Ours'))`)
		page.expectAccessible("the search with its headings")
		page.Type("log out")
		page.WaitFor(`document.querySelector('dialog [role=group][aria-label=Actions] [role=option][aria-selected=true]')?.textContent === 'Sign out'`)
		page.Press("Enter")
		page.expectURL("/login")
		if kept := page.EvaluateString(`String(localStorage.getItem('packetboat-recent'))`); kept != "null" {
			t.Errorf("after signing out the device keeps %s", kept)
		}
	})
}

// unfold opens what is folded under a title.
func (page appPage) unfold(title string) {
	page.T.Helper()
	page.ClickElement(fmt.Sprintf(`[...document.querySelectorAll('summary')].find(s => s.textContent.trim() === %q)`, title))
}

// choose sets the select whose label begins with a text.
func (page appPage) choose(label, value string) {
	page.T.Helper()
	page.WaitFor(fmt.Sprintf(`$.field([document.body], %q)`, label))
	page.Evaluate(fmt.Sprintf(`(() => { const s = $.field([document.body], %q); Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'value').set.call(s, %q); s.dispatchEvent(new Event('change', { bubbles: true })) })()`, label, value))
}
