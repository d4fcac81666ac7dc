package app

import (
	"net/http"
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
func TestADomainIsKeptInTheApplication(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		zone := dnstest.New(t, "mail.boat.example. 60 IN A 127.0.0.1", `mail.boat.example. 60 IN TXT "v=spf1 ip4:192.0.2.1 -all"`)
		d := openApp(t, address, "PACKETBOAT_DNS_RESOLVER="+zone.Addr, "PACKETBOAT_MX_HOST=mail.boat.example", "PACKETBOAT_SPF_HOST=mail.boat.example", "PACKETBOAT_TRACK_HOST=mail.boat.example")
		made := d.ask(http.MethodPost, "/sending-domains", map[string]any{"domain": "harbour.example"})
		path := "/sending-domains/" + made["id"].(string)
		read := func(method, action string) e2etest.Domain {
			t.Helper()
			a, err := d.r.Owner.Do(d.Ctx, method, path+action, nil)
			if err != nil || a.Status != http.StatusOK {
				t.Fatalf("%s %s: %d %s, %v", method, action, a.Status, a.Body, err)
			}
			var got e2etest.Domain
			d.Must(a.Decode(&got))
			return got
		}
		domain := read(http.MethodGet, "")
		for _, purpose := range []string{"dkim", "return_path", "return_path_spf", "dmarc", "tracking"} {
			domain.Publish(t, zone, purpose)
		}
		read(http.MethodPost, "/verify")

		d.open("/sending/domains/" + domain.ID)
		d.sees("Next check")
		d.hit("More")
		d.item("Change the signing key")
		d.confirm("Change the signing key")
		d.sees("A new key is made. Publish its record, es2")
		d.sees("Until then the old key does.")
		read(http.MethodGet, "").Publish(t, zone, "dkim")
		d.pressText("Check now")
		d.sees("Mail is signed with the key es2.")
		d.sees("Keep the record of the old key, es1")

		if _, err := e2etest.Database(t, d.p).Exec(d.Ctx, `UPDATE sending_domain SET paused = TRUE, pause_reason = 'complaint_rate' WHERE domain = 'harbour.example'`); err != nil {
			t.Fatal(err)
		}
		d.open("/sending/domains/" + domain.ID)
		d.sees("Too many recipients complained of its mail.")
		d.checkAccess(readAxe(t), "a paused domain")
		d.pressText("Resume")
		d.await(`!document.body.innerText.includes('Too many recipients complained')`)
		if now := d.ask(http.MethodGet, path, nil); now["paused"] != false {
			t.Errorf("after Resume the domain is %v", now)
		}

		sender := d.ask(http.MethodPost, "/sending-identities", map[string]any{"email_address": "hello@harbour.example", "display_name": "Harbour"})
		d.hit("More")
		d.item("Delete the domain")
		d.fill("Type harbour.example", "harbour.example")
		d.confirm("Delete the domain")
		d.sees("It is used by 1 sender.")
		d.ask(http.MethodDelete, "/sending-identities/"+sender["id"].(string), nil)
		d.confirm("Delete the domain")
		d.await(`location.pathname.endsWith('/sending') && ` + settled)
		if a, err := d.r.Owner.Do(d.Ctx, http.MethodGet, path, nil); err != nil || a.Status != http.StatusNotFound {
			t.Errorf("the deleted domain: %d, %v", a.Status, err)
		}
	})
}

// An MTA config shows its warm-up and limits, keeps its password and what is typed, and lists who needs it before it is
// switched off or deleted.
func TestAnMTAConfigIsKeptInTheApplication(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		d := openApp(t, address)
		lane := d.ask(http.MethodPost, "/mta-configs", map[string]any{
			"name": "Relay", "type": "smtp", "settings": map[string]any{"host": "smtp.example.net", "port": 587, "tls": "starttls", "auth": "plain", "username": "u", "password": "secret-of-the-relay"},
			"caps": map[string]any{"max_per_second": 1, "max_per_hour": 5000}, "domain_throttles": []any{map[string]any{"pattern": "gmail", "max_per_minute": 20}},
			"warmup": map[string]any{"enabled": true, "start_per_day": 200, "growth_pct": 30, "started_on": time.Now().UTC().Format(time.DateOnly)},
		})
		path := "/mta-configs/" + lane["id"].(string)
		broadcast := d.create(map[string]any{"name": "By relay", "mta_config_key": lane["key"], "scheduled_at": time.Now().Add(24 * time.Hour).UTC().Format(time.RFC3339)})
		d.ask(http.MethodPost, "/broadcasts/"+broadcast+"/schedule", nil)
		route := "/sending/mta/" + lane["id"].(string)
		d.open(route)
		d.sees("Today at most 200 mails")
		d.sees("3,600 an hour")
		d.sees("1,200 an hour")
		d.sees("Remaining today 200")
		d.sees("Set. Leave empty to keep it.")
		if d.EvaluateString(`document.documentElement.outerHTML.includes('secret-of-the-relay')`) == "true" {
			t.Error("the page has the password")
		}
		d.checkAccess(readAxe(t), "an MTA config that warms up")

		d.fill("Mails a day", "900")
		d.fill("Password", "never-kept")
		copyOf := "/working-copies/mta_config/" + lane["id"].(string)
		kept := e2etest.Eventually(t, func() (string, bool) {
			a, err := d.r.Owner.Do(d.Ctx, http.MethodGet, copyOf, nil)
			return string(a.Body), err == nil && a.Status == http.StatusOK
		})
		if !strings.Contains(kept, "900") || strings.Contains(kept, "never-kept") {
			t.Errorf("the working copy is %s", kept)
		}
		d.open(route)
		d.sees("They are not saved yet.")
		d.pressText("Save")
		d.sees("Saved")
		d.await(`!document.body.innerText.includes('These changes were kept')`)
		if caps := d.ask(http.MethodGet, path, nil)["caps"].(map[string]any); caps["max_per_day"] != 900.0 || caps["max_per_second"] != 1.0 {
			t.Errorf("saved caps are %v", caps)
		}
		gone := e2etest.Eventually(t, func() (bool, bool) {
			a, err := d.r.Owner.Do(d.Ctx, http.MethodGet, copyOf, nil)
			ok := err == nil && a.Status == http.StatusNotFound
			return ok, ok
		})
		if !gone {
			t.Error("the working copy outlives the save")
		}

		d.Evaluate(`[...document.querySelectorAll('[role=switch]')].find(s => document.getElementById(s.getAttribute('aria-labelledby')).textContent === 'Active').click()`)
		d.sees("Once this is saved, no mail leaves through it.")
		d.sees("By relay")
		d.pressText("Delete")
		d.fill("Type Relay", "Relay")
		d.confirm("Delete")
		d.await(`[...document.querySelectorAll('[role=dialog] [role=alert] a, [role=alertdialog] [role=alert] a')].some(a => a.getAttribute('href').endsWith('/broadcasts/` + broadcast + `'))`)
		d.ask(http.MethodPost, "/broadcasts/"+broadcast+"/unschedule", nil)
		d.confirm("Delete")
		d.await(`location.pathname.endsWith('/sending') && ` + settled)
	})
}

// What is typed into settings and not saved comes back, unless it was saved otherwise meanwhile; Cancel drops it.
// The workspace is deleted by its address.
func TestSettingsKeepWhatIsTyped(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		d := openApp(t, address)
		account := d.ask(http.MethodGet, "/settings/account", nil)
		id := account["tenant_id"].(string)
		copies := func(kind, record string) bool {
			a, err := d.r.Owner.Do(d.Ctx, http.MethodGet, "/working-copies/"+kind+"/"+record, nil)
			return err == nil && a.Status == http.StatusOK
		}
		waits := func(kind, record string, there bool) {
			t.Helper()
			if !e2etest.Eventually(t, func() (bool, bool) { ok := copies(kind, record) == there; return ok, ok }) {
				t.Errorf("a working copy of %s: never %v", kind, there)
			}
		}
		d.open("/settings/account")
		// The first attempts to keep it fail.
		d.Evaluate(`(() => { const real = window.fetch; window.failures = 0; window.fetch = (a, o) => o && o.method === 'PUT' && window.failures++ < 2 ? Promise.reject(new TypeError('Failed to fetch')) : real(a, o) })()`)
		d.fill("City", "Kiel")
		d.fill("Street", "Harbour Road 1")
		waits("account_address", id, true)
		// Somebody else saves the street: the page asks about it before it saves.
		postal := account["postal_address"].(map[string]any)
		postal["line1"] = "Quay 7"
		d.ask(http.MethodPut, "/settings/account", map[string]any{"postal_address": postal})
		d.open("/settings/account")
		d.sees("They are not saved yet.")
		field := func(path string) string {
			return d.EvaluateString(`document.querySelector('[data-path="` + path + `"]').value`)
		}
		if city, street := field("postal_address.city"), field("postal_address.line1"); city != "Kiel" || street != "Harbour Road 1" {
			t.Errorf("city %q and street %q came back", city, street)
		}
		d.Evaluate(`[...document.querySelectorAll('form')].find(f => f.innerText.includes('Discard changes')).querySelector('button[type=submit]').click()`)
		d.sees("Somebody else changed the same fields meanwhile.")
		d.choose("Theirs")
		d.confirm("Save")
		d.await(`!document.body.innerText.includes('Discard changes')`)
		waits("account_address", id, false)
		if got := d.ask(http.MethodGet, "/settings/account", nil)["postal_address"].(map[string]any); got["city"] != "Kiel" || got["line1"] != "Quay 7" {
			t.Errorf("saved address: %v", got)
		}

		d.open("/sending/types?edit=new")
		d.fill("Name", "Offers")
		waits("email_type", "new-"+id, true)
		d.Press("Escape")
		d.open("/sending/types?edit=new")
		d.sees("They are not saved yet.")
		d.presses("Cancel")
		waits("email_type", "new-"+id, false)
		d.open("/sending/types")
		d.sees("Readers choose among these:")

		d.open("/settings/account")
		d.pressText("Delete the workspace")
		d.sees("for good after 30 days")
		d.fill("Type "+harness.Tenant, "wrong")
		d.await(`[...document.querySelectorAll('[role=dialog] button, [role=alertdialog] button')].find(b => b.textContent.trim() === 'Delete the workspace').getAttribute('aria-disabled') === 'true'`)
		d.fill("Type "+harness.Tenant, harness.Tenant)
		d.confirm("Delete the workspace")
		d.await(`!location.pathname.startsWith('/app/` + harness.Tenant + `')`)
	})
}

// Two people edit one sender. What only one of them changed is joined; for a field that both changed, the form asks.
func TestTwoPeopleEditOneSender(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		d := openApp(t, address)
		rows := d.ask(http.MethodGet, "/sending-identities", nil)["data"].([]any)
		path := "/sending-identities/" + rows[0].(map[string]any)["id"].(string)
		field := func(name string) any { return d.ask(http.MethodGet, path, nil)[name] }
		const drawerGone = `!document.querySelector('[role=dialog]')`
		edit := strings.Replace(path, "/sending-identities", "/sending/senders", 1) + "?edit=1"

		d.open(edit)
		d.fill("Name that readers see", "Harbour news")
		d.ask(http.MethodPut, path, map[string]any{"utm_code": "theirs"})
		d.presses("Save")
		d.await(drawerGone)
		d.sees("Somebody else changed UTM source meanwhile. Both changes are kept.")
		if name, utm := field("display_name"), field("utm_code"); name != "Harbour news" || utm != "theirs" {
			t.Errorf("name %v, UTM source %v; want both changes", name, utm)
		}

		// Between the reading and the saving, too: the server refuses the revision, and the form joins again.
		d.open(edit)
		d.Evaluate(`(() => { const real = window.fetch; window.conflicts = 0; window.fetch = async (a, o) => {
			if (o && o.method === 'PUT' && o.headers['If-Match'] && window.conflicts === 0) await real(a, { ...o, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ utm_code: 'between' }) })
			const answer = await real(a, o)
			if (answer.status === 412) window.conflicts++
			return answer
		} })()`)
		d.fill("Name that readers see", "Harbour")
		d.presses("Save")
		d.await(drawerGone)
		if name, utm, conflicts := field("display_name"), field("utm_code"), d.EvaluateString(`window.conflicts`); name != "Harbour" || utm != "between" || conflicts != "1" {
			t.Errorf("name %v, UTM source %v after %s conflicts", name, utm, conflicts)
		}

		d.open(edit)
		d.fill("Name that readers see", "Mine")
		d.ask(http.MethodPut, path, map[string]any{"display_name": "Theirs"})
		d.presses("Save")
		d.sees("Two versions of the same part")
		d.checkAccess(readAxe(t), "two versions of a sender")
		if name := field("display_name"); name != "Theirs" {
			t.Errorf("before the choice the name is %v", name)
		}
		d.Evaluate(`[...document.querySelectorAll('[role=dialog]')].at(-1).querySelector('button[type=submit]').click()`)
		d.await(drawerGone)
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
		d := openApp(t, address)
		read := func(id string) map[string]any { return d.ask(http.MethodGet, "/mta-configs/"+id, nil) }
		made := func() string {
			t.Helper()
			d.await(`/mta\/[0-9a-f-]{36}$/.test(location.pathname) && ` + settled)
			return d.EvaluateString(`location.pathname.split('/').pop()`)
		}

		d.open("/sending/mta/new")
		d.choose("Direct")
		d.fill("Name", "Direct")
		d.pressText("Add an address")
		d.at("settings.ips[0].ip", "not an address")
		d.fill("Its name", "mail.example.net")
		d.pressText("Save")
		d.sees("must be an IPv4 or IPv6 address")
		d.await(`document.activeElement.dataset.path === 'settings.ips[0].ip' && document.activeElement.getAttribute('aria-invalid') === 'true'`)
		d.at("settings.ips[0].ip", "203.0.113.7")
		d.Evaluate(`[...document.querySelectorAll('[role=switch]')].find(s => document.getElementById(s.getAttribute('aria-labelledby')).textContent === 'Warm-up').click()`)
		d.fill("Mails on the first day", "40")
		d.await(`document.querySelector('[data-path="warmup.started_on"]').type === 'date'`)
		d.fill("Tries again for, in hours", "12")
		d.checkAccess(readAxe(t), "a config that delivers by itself")
		d.pressText("Save")
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

		d.open("/sending/mta/new")
		d.choose("Built-in mailbox")
		d.fill("Name", "Refusing")
		d.pressText("Add a pattern")
		d.at("settings.fail_patterns[0].pattern", "*@refused.example")
		d.pressText("Save")
		if patterns := read(made())["settings"].(map[string]any)["fail_patterns"].([]any); len(patterns) != 1 || patterns[0].(map[string]any)["pattern"] != "*@refused.example" {
			t.Errorf("its patterns are %v", patterns)
		}

		relay := sink.Start(t, sink.Options{Rules: []sink.Rule{{Stage: sink.Rcpt, To: "nobody@example.com", Reply: "550 5.1.1 There is nobody of this name"}}})
		smtp := d.ask(http.MethodPost, "/mta-configs", map[string]any{"name": "Relay", "type": "smtp", "settings": map[string]any{"host": "127.0.0.1", "port": relay.Port(), "tls": "none", "auth": "none"}})["id"].(string)
		d.open("/sending/mta/" + smtp)
		d.pressText("Add a record")
		d.at("return_path_records[0].value", "not a host")
		d.pressText("Save")
		d.await(`document.activeElement.dataset.path === 'return_path_records[0].value' && document.activeElement.getAttribute('aria-invalid') === 'true'`)
		d.at("return_path_records[0].value", "bounces.relay.example")
		d.at("return_path_records[0].priority", "20")
		d.pressText("Save")
		d.sees("Saved")
		if records := read(smtp)["return_path_records"].([]any); len(records) != 1 || records[0].(map[string]any)["value"] != "bounces.relay.example" || records[0].(map[string]any)["priority"] != 20.0 {
			t.Errorf("its records are %v", records)
		}
		d.fill("To", "nobody@example.com")
		d.pressText("Try it now")
		d.sees("Refused")
		d.sees("550 5.1.1 There is nobody of this name")
		d.fill("To", "reader@example.com")
		d.pressText("Try it now")
		d.sees("Taken in")
		d.await(`[...document.querySelectorAll('code')].some(c => c.textContent.startsWith('250 '))`)
	})
}
