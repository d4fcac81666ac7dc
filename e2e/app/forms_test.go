package app

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/mail/dnstest"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// hookReceiver is a program of the tenant that takes events. It is out of order until it is repaired.
type hookReceiver struct {
	*httptest.Server
	lock     sync.Mutex
	repaired bool
	secret   string
	types    []string // of the events that it accepted, with their signatures verified
	problems []string
}

func newHookReceiver(t *testing.T) *hookReceiver {
	r := &hookReceiver{}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *hookReceiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	r.lock.Lock()
	defer r.lock.Unlock()
	if !r.repaired {
		http.Error(w, "out of order", http.StatusInternalServerError)
		return
	}
	verifier, verr := standardwebhooks.NewWebhook(r.secret)
	if err == nil && verr == nil {
		verr = verifier.Verify(body, req.Header)
	}
	if err != nil || verr != nil {
		r.problems = append(r.problems, fmt.Sprint(err, verr))
	}
	_, rest, _ := strings.Cut(string(body), `"type":"`)
	kind, _, _ := strings.Cut(rest, `"`)
	r.types = append(r.types, kind)
	_, _ = io.WriteString(w, "thank you")
}

func (r *hookReceiver) repair(secret string) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.repaired, r.secret = true, secret
}

// accepted returns the types of the accepted events.
func (r *hookReceiver) accepted() string {
	r.lock.Lock()
	defer r.lock.Unlock()
	return strings.Join(r.types, " ")
}

// tick presses the radio button or the checkbox with a label.
func (d desk) tick(label string) {
	d.T.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll('label')].find(l => l.textContent.trim() === %q)`, label)
	d.WaitFor(find)
	d.Evaluate(`document.getElementById(` + find + `.htmlFor).click()`)
}

// A key with two scopes does what they allow, until it is revoked. A webhook with a secret fails, its deliveries say why, and one is replayed. A form is built, says what keeps it from
// being published, and is published; it is embedded in a page and submitted there, and the address is confirmed by
// mail: contact, consent and submission are in the application, and the event reaches the webhook. A domain whose
// record is wrong shows what differs, and is verified without a reload. An image is inserted into a template.
func TestFormsWebhooksAndDomainsInTheApplication(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		zone := dnstest.New(t, "mail.boat.example. 60 IN A 127.0.0.1", `mail.boat.example. 60 IN TXT "v=spf1 ip4:192.0.2.1 -all"`)
		d := openApp(t, address, "PACKETBOAT_ALLOW_PRIVATE_WEBHOOKS=true", "PACKETBOAT_DNS_RESOLVER="+zone.Addr,
			"PACKETBOAT_MX_HOST=mail.boat.example", "PACKETBOAT_SPF_HOST=mail.boat.example", "PACKETBOAT_TRACK_HOST=mail.boat.example")
		d.keyHasTwoScopes()
		hooks := d.webhookFailsAndIsReplayed()
		d.formIsFilledIn()
		e2etest.Eventually(t, func() (string, bool) { got := hooks.accepted(); return got, strings.Contains(got, "form.submitted") })
		if got := hooks.accepted(); !strings.Contains(got, "form.submitted") || len(hooks.problems) > 0 {
			t.Errorf("the webhook accepted %q; its problems are %v", got, hooks.problems)
		}
		d.domainIsCorrected(zone)
		d.imagesAreValues()
		d.imageIsInserted()
	})
}

// An image is pasted into the code of a template, and chosen for it again; it is chosen for the code of a broadcast, too,
// which is saved with it. A broadcast begins with a finished mail, of which a template is made.
func (d desk) imageIsInserted() {
	d.T.Helper()
	template, err := d.r.Owner.Must(d.Ctx, http.MethodPost, "/templates", map[string]any{"name": "Plain", "format": "html", "content_html": "<h1>Hello</h1>"})
	d.Must(err)
	d.open("/templates/" + template["id"].(string))
	const insert = `[...document.querySelectorAll('button')].find(b => b.textContent.trim() === 'Insert an image')`
	d.WaitFor(insert + ` && ` + code)
	d.Evaluate(`(() => {
		const data = new DataTransfer();
		data.items.add(new File([Uint8Array.from('GIF89a\x01\x01\x01\x01\x01\x01\x01;', c => c.charCodeAt(0))], 'harbour.gif', { type: 'image/gif' }));
		` + insert + `.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
	})()`)
	images := func(n int) string { return fmt.Sprintf(code+`.textContent.split('alt="harbour"').length === %d`, n+1) }
	d.WaitFor(images(1))
	d.pressText("Insert an image")
	d.shows("257 × 257")
	d.Evaluate(`document.querySelector('[role=dialog] li button').click()`)
	d.WaitFor(images(2))

	broadcast := d.create(map[string]any{"content": map[string]any{"subject": "Hello", "body_mjml": "<mjml><mj-body><mj-section><mj-column><mj-text>Hello</mj-text></mj-column></mj-section></mj-body></mjml>"}})
	d.open("/broadcasts/" + broadcast + "/edit")
	d.WaitFor(insert + ` && ` + code)
	d.Evaluate(code + `.focus()`)
	d.Press("Control+Home")
	d.Press(slices.Repeat([]string{"ArrowRight"}, len("<mjml><mj-body><mj-section><mj-column>"))...)
	d.pressText("Insert an image")
	d.shows("257 × 257")
	d.Evaluate(`document.querySelector('[role=dialog] li button').click()`)
	e2etest.Eventually(d.T, func() (any, bool) {
		body := fmt.Sprint(d.read(broadcast)["content"].(map[string]any)["body_mjml"])
		return body, strings.Contains(body, `<mj-column><mj-image`) && strings.Contains(body, `alt="harbour"`)
	})

	d.open("/broadcasts/new")
	d.tick("A finished mail to change")
	d.chooses("Mail to begin with", "Welcome")
	d.presses("Create")
	d.WaitFor(`/broadcasts\/[0-9a-f-]+\/edit$/.test(location.pathname) && ` + settled)
	content := d.read(d.EvaluateString(`location.pathname.split('/').at(-2)`))["content"].(map[string]any)
	if binding, _ := content["template_binding"].(map[string]any); content["template_slug"] != "welcome" || binding["parameters"] == nil {
		d.T.Errorf("the broadcast has the template %v with %v", content["template_slug"], content["template_binding"])
	}
}

// imagesAreValues pastes, uploads and chooses images for the values of a template: an image, and HTML. Before, the
// library is empty, and begins with one button.
func (d desk) imagesAreValues() {
	d.T.Helper()
	d.open("/library")
	d.sees("The library is empty")
	d.sees("Event invitation When, where, what for")
	if n := d.EvaluateString(`[...document.querySelectorAll('main button, main a')].filter(b => b.textContent.trim() === 'New entry').length`); n != "1" {
		d.T.Errorf("the empty library has %s buttons to begin with, want 1", n)
	}
	d.ask(http.MethodPost, "/templates", map[string]any{
		"name": "Pictures", "format": "html", "subject": "News", "content_html": `<p><img alt="" src="{{param:picture}}"></p>{{param:inside}}`,
		"parameters_schema": []any{map[string]any{"name": "picture", "label": "Picture", "type": "image"}, map[string]any{"name": "inside", "label": "Inside", "type": "html"}},
	})
	broadcast := d.create(map[string]any{"content": map[string]any{"template_slug": "pictures", "template_binding": map[string]any{"parameters": map[string]any{}}}})
	value := func(name string, is func(string) bool) string {
		return e2etest.Eventually(d.T, func() (string, bool) {
			binding, _ := d.read(broadcast)["content"].(map[string]any)["template_binding"].(map[string]any)
			parameters, _ := binding["parameters"].(map[string]any)
			v, _ := parameters[name].(string)
			return v, is(v)
		})
	}
	image := func(name string) string {
		return `new File([Uint8Array.from('GIF89a\x01\x01\x01\x01\x01\x01\x01;` + name + `', c => c.charCodeAt(0))], '` + name + `.gif', { type: 'image/gif' })`
	}
	d.open("/broadcasts/" + broadcast + "/edit")
	field := `[...document.querySelectorAll('label')].filter(l => l.textContent.trim().startsWith('Picture')).map(l => document.getElementById(l.htmlFor)).find(e => e)`
	d.await(field)
	d.Evaluate(`(() => {
		const data = new DataTransfer();
		data.items.add(` + image("pasted") + `);
		` + field + `.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
	})()`)
	pasted := value("picture", func(v string) bool { return v != "" })
	if !strings.Contains(pasted, "/_q/a/") {
		d.T.Errorf("the pasted image is %q, want an address of the account's images", pasted)
	}
	d.pressText("Choose an image")
	d.await(`document.querySelector('[role=dialog] input[type=file]')`)
	d.Evaluate(`(() => {
		const input = document.querySelector('[role=dialog] input[type=file]'), files = new DataTransfer();
		files.items.add(` + image("uploaded") + `);
		input.files = files.files;
		input.dispatchEvent(new Event('change', { bubbles: true }));
	})()`)
	if uploaded := value("picture", func(v string) bool { return v != pasted }); uploaded == pasted {
		d.T.Error("the uploaded image is not the value")
	}
	d.await(`!document.querySelector('[role=dialog]')`)
	d.pressText("Choose an image")
	d.await(`document.querySelectorAll('[role=dialog] li button').length > 1`)
	earlier := `[...document.querySelectorAll('[role=dialog] li')].find(l => l.innerHTML.includes('` + pasted[strings.LastIndex(pasted, "/")+1:] + `'))?.querySelector('button')`
	d.await(earlier)
	d.Evaluate(earlier + `.click()`)
	if chosen := value("picture", func(v string) bool { return v == pasted }); chosen != pasted {
		d.T.Errorf("the chosen image is %q, want %q", chosen, pasted)
	}
	d.await(`!document.querySelector('[role=dialog]')`)
	d.pressText("Insert an image")
	d.await(`document.querySelectorAll('[role=dialog] li button').length > 0`)
	d.Evaluate(`document.querySelector('[role=dialog] li button').click()`)
	if inside := value("inside", func(v string) bool { return strings.Contains(v, "<img") }); !strings.Contains(inside, "/_q/a/") {
		d.T.Errorf("the HTML is %q, want an image", inside)
	}
}

// A key is created with two scopes, allows no more, and is revoked by typing its name.
func (d desk) keyHasTwoScopes() {
	d.T.Helper()
	d.open("/settings/api-keys")
	d.pressText("New API key")
	d.fill("Name", "Web shop")
	d.tick("contacts:read")
	d.tick("segments:read")
	d.presses("Create")
	d.WaitFor(`document.querySelector('[role=dialog] code')?.textContent.startsWith('pbk_')`)
	key := d.EvaluateString(`document.querySelector('[role=dialog] code').textContent`)
	d.tick("I have stored it")
	d.presses("Done")
	d.shows("2 scopes")
	answers := func(method, path string) int {
		d.T.Helper()
		req, err := http.NewRequestWithContext(d.Ctx, method, d.p.BaseURL+"/t/"+harness.Tenant+"/api"+path, strings.NewReader("{}"))
		d.Must(err)
		req.Header.Set("X-API-Key", key)
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		d.Must(err)
		d.Must(res.Body.Close())
		return res.StatusCode
	}
	for _, x := range []struct {
		method, path string
		want         int
	}{
		{http.MethodGet, "/contacts", 200}, {http.MethodGet, "/segments", 200},
		{http.MethodPost, "/contacts", 403}, {http.MethodPost, "/segments", 403}, {http.MethodGet, "/broadcasts", 403},
	} {
		if got := answers(x.method, x.path); got != x.want {
			d.T.Errorf("the key gets %d for %s %s, want %d", got, x.method, x.path, x.want)
		}
	}
	d.Evaluate(`document.querySelector('[aria-label="Actions for Web shop"]').click()`)
	d.WaitFor(`document.querySelector('[role=menuitem]')`)
	d.Evaluate(`[...document.querySelectorAll('[role=menuitem]')].find(i => i.textContent.startsWith('Revoke')).click()`)
	d.fill("Type Web shop to confirm", "Web shop")
	d.Evaluate(`document.querySelector('[role=alertdialog] button[type=submit]').click()`)
	d.WaitFor(`!document.querySelector('[role=alertdialog]')`)
	if got := answers(http.MethodGet, "/contacts"); got != 401 {
		d.T.Errorf("a revoked key gets %d, want 401", got)
	}
}

func (d desk) webhookFailsAndIsReplayed() *hookReceiver {
	d.T.Helper()
	hooks := newHookReceiver(d.T)
	d.open("/settings/webhooks")
	d.pressText("New webhook")
	d.fill("Address", hooks.URL)
	d.tick("Chosen events")
	d.tick("A form was submitted")
	d.presses("Save")
	d.WaitFor(`document.querySelector('[role=dialog] code')?.textContent.startsWith('whsec_')`)
	secret := d.EvaluateString(`document.querySelector('[role=dialog] code').textContent`)
	d.tick("I have stored it")
	d.presses("Done")
	d.WaitFor(`location.pathname.includes('/settings/webhooks/') && ` + settled)
	d.pressText("Send a test")
	d.WaitFor(`[...document.querySelectorAll('tbody td')].some(c => c.textContent.trim() === '500')`)
	d.pressText("A test")
	d.shows("out of order")
	d.shows("This is a test.")
	d.shows("Retrying")
	hooks.repair(secret)
	d.presses("Replay")
	d.shows("thank you")
	d.shows("Delivered")
	// The retry that was due, and the replay.
	if got := hooks.accepted(); !strings.HasPrefix(got, "webhook.test") {
		d.T.Errorf("the replay is accepted as %q", got)
	}
	d.presses("Close")
	return hooks
}

func (d desk) formIsFilledIn() {
	d.T.Helper()
	d.open("/forms")
	d.pressText("New form")
	d.fill("Name", "Harbour news")
	d.presses("Create")
	d.WaitFor(`/\/forms\/[0-9a-f-]+$/.test(location.pathname) && ` + settled)
	form := d.EvaluateString(`location.pathname.split('/').at(-1)`)
	d.chooses("Add a field", "First")
	d.WaitFor(`[...document.querySelectorAll('summary')].some(s => s.textContent.includes('First name'))`)
	if d.EvaluateString(`document.querySelector('[role=switch]').getAttribute('aria-checked')`) != "true" {
		d.Evaluate(`document.querySelector('[role=switch]').click()`)
	}
	d.tick("Another page")
	d.pressText("Publish")
	d.shows("One thing is missing before it can be published")
	d.Evaluate(`[...document.querySelectorAll('button')].find(b => b.textContent.startsWith('Address of the page')).click()`)
	d.WaitFor(`document.activeElement.dataset.path === 'redirect_url'`)
	d.tick("A message in place of the form")
	d.fill("Message", "Welcome aboard")
	d.pressText("Publish")
	d.shows("The form is published.")
	// The preview shows what is typed, before it is saved.
	stored := d.EvaluateString(`document.querySelector('input[data-path=submit_label]').value`)
	d.Evaluate(`(() => { const real = window.fetch; window.fetch = async (...a) => { const r = await real(...a); if (String(a[0].url ?? a[0]).endsWith('/preview')) r.clone().json().then(j => { window.shown = j.html }); return r } })()`)
	d.fill("Text of the button", "Come aboard")
	d.WaitFor(`document.querySelector('main iframe') && window.shown?.includes('Come aboard</button>')`)
	if got := d.get("/forms/" + form)["submit_label"]; got != stored {
		d.T.Errorf("the form is stored with the button %v before it is saved", got)
	}
	d.pressText("Discard changes")
	d.pressText("Get the code")
	d.WaitFor(`document.querySelector('section[aria-label="With the script"] pre')`)
	snippet := d.EvaluateString(`document.querySelector('section[aria-label="With the script"] pre').textContent`)

	site := e2etest.FormSite(d.T, d.p, &snippet)
	d.Goto(site.URL + "/join")
	d.WaitFor(`document.querySelector('form').packetboat`)
	d.TabTo("[name=email]")
	d.Type("ann@example.org")
	d.TabTo("[type=checkbox]")
	d.Press("Space")
	d.TabTo("[name=first_name]")
	d.Type("Ann")
	d.TabTo("button")
	d.Press("Enter")
	d.WaitFor(`document.querySelector('form').dataset.packetboatState === 'confirmation_sent'`)
	lane := d.id("/mta-configs")
	confirm := e2etest.Eventually(d.T, func() (string, bool) {
		list, err := d.r.Owner.Must(d.Ctx, http.MethodGet, "/mta-configs/"+lane+"/messages", nil)
		if err != nil {
			d.T.Fatal(err)
		}
		rows, _ := list["data"].([]any)
		if len(rows) == 0 {
			return "", false
		}
		mail, err := d.r.Owner.Must(d.Ctx, http.MethodGet, "/mta-configs/"+lane+"/messages/"+rows[0].(map[string]any)["id"].(string), nil)
		if err != nil {
			d.T.Fatal(err)
		}
		link := e2etest.ConfirmLink.FindString(fmt.Sprint(mail["html"]))
		return link, link != ""
	})
	d.Goto(confirm)
	d.Evaluate(`document.querySelector('button').click()`)
	d.WaitFor(`document.querySelector('h1').textContent.startsWith('Confirmed')`)

	submission := d.id("/forms/" + form + "/submissions")
	d.open("/forms/" + form + "?tab=submissions&submission=" + submission)
	d.shows("Confirmed")
	d.shows("“Send me the")
	d.presses("Open the contact")
	d.WaitFor(`location.pathname.includes('/contacts/') && ` + settled)
	d.shows("Active")
	contact := strings.TrimPrefix(d.EvaluateString(`location.pathname`), "/app/"+harness.Tenant)
	d.shows("Submitted the form Harbour news")
	d.open(contact + "?tab=profile")
	d.shows("Form Harbour news")
	d.open(contact + "?tab=consent")
	d.WaitFor(`[...document.querySelectorAll('[role=switch]')].some(s => s.getAttribute('aria-checked') === 'true' && document.getElementById(s.getAttribute('aria-labelledby')).textContent === 'Newsletter')`)
	d.consentIsLogged()
}

// consentIsLogged leaves and comes back in the ways that a person has, and by the API: the contact's page shows each
// choice with its proof, as the API lists them, and says what has no record.
func (d desk) consentIsLogged() {
	d.T.Helper()
	contact := d.EvaluateString(`location.pathname.split('/').at(-1)`)
	page := "/contacts/" + contact + "?tab=consent"
	d.shows("Agreed Newsletter")
	d.shows("on the form Harbour news “Send me the")
	d.shows("Confirmed by a link in a mail")

	d.ask(http.MethodPost, "/segments/"+d.r.List+"/members", map[string]any{"contact_ids": []string{contact}})
	broadcast := d.create(map[string]any{"content": map[string]any{"subject": "News", "body_html": `<p>News <a href="{{ preferences_url }}">Preferences</a></p>`}})
	d.begin(broadcast)
	d.until(broadcast, "completed")
	lane := d.id("/mta-configs")
	var mail map[string]any
	for _, row := range d.get("/mta-configs/" + lane + "/messages?limit=100")["data"].([]any) {
		if m := row.(map[string]any); strings.Contains(fmt.Sprint(m["to"]), "ann@example.org") && m["subject"] == "News" {
			mail = d.get("/mta-configs/" + lane + "/messages/" + m["id"].(string))
		}
	}
	if mail == nil {
		d.T.Fatal("no mail to ann@example.org")
	}
	preferences := strings.ReplaceAll(regexp.MustCompile(`http://[^"\s]+/_q/p/[^"\s]+`).FindString(fmt.Sprint(mail["html"])), "&amp;", "&")
	d.Goto(preferences)
	d.TabTo("[name='type.newsletter']")
	d.Press("Space")
	d.TabTo("button[value=save]")
	d.Press("Enter")
	d.WaitFor(`document.querySelector('[role=status]')`)
	d.open(page)
	d.shows("Left Newsletter")
	d.shows("on the preferences page")
	d.ask(http.MethodPost, "/contacts/bulk", map[string]any{"action": "subscribe", "contact_ids": []string{contact}, "params": map[string]any{"email_type_key": "newsletter"}})
	d.open(page)
	d.shows("Chosen, without a record")

	unsubscribe := regexp.MustCompile(`http://[^>\s"]+/_q/u/[^>\s"]+`).FindString(fmt.Sprint(mail["headers"]))
	res, err := http.PostForm(unsubscribe, url.Values{"List-Unsubscribe": {"One-Click"}})
	d.Must(err)
	d.Must(res.Body.Close())
	if res.StatusCode != http.StatusOK {
		d.T.Fatalf("the button of a mail program at %q answers %s", unsubscribe, res.Status)
	}
	d.open(page)
	d.shows("with the button of a mail program")
	d.shows("By the link or the address in a mail")
	rows := d.get("/contacts/" + contact + "/consents")["data"].([]any)
	if shown := d.EvaluateString(`document.querySelectorAll('section[aria-label="How consent came about"] tbody tr').length`); shown != fmt.Sprint(len(rows)) || len(rows) != 3 {
		d.T.Errorf("the page shows %s choices, the API has %d; want 3, as what is written by the API has no record", shown, len(rows))
	}
	d.checkAccess(readAxe(d.T), "the log of consents")
	d.SetScreen(390, 844, "dark")
	d.WaitFor(`document.querySelector('ul[aria-label="How consent came about"] li')`)
	d.checkAccess(readAxe(d.T), "the log of consents on a phone")
	d.SetScreen(1280, 900, "light")
}

func (d desk) domainIsCorrected(zone *dnstest.Server) {
	d.T.Helper()
	d.open("/sending")
	d.pressText("Add a domain")
	d.fill("Domain", "harbour.example")
	d.presses("Add")
	d.WaitFor(`location.pathname.includes('/sending/domains/') && ` + settled)
	d.shows("Missing")
	id := d.EvaluateString(`location.pathname.split('/').at(-1)`)
	d.Evaluate(`window.stayed = true`)
	read := func(method, path string) e2etest.Domain {
		d.T.Helper()
		a, err := d.r.Owner.Do(d.Ctx, method, "/sending-domains/"+id+path, nil)
		if err != nil || a.Status != http.StatusOK {
			d.T.Fatalf("%s %s: %d %s, %v", method, path, a.Status, a.Body, err)
		}
		var got e2etest.Domain
		d.Must(a.Decode(&got))
		return got
	}
	domain := read(http.MethodGet, "")
	zone.Add(d.T, domain.DKIMSelector+`._domainkey.harbour.example. 60 IN TXT "v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC"`)
	d.pressText("Check now")
	d.shows("Differs")
	d.WaitFor(`document.querySelector('mark')`)
	zone.Remove(domain.DKIMSelector + "._domainkey.harbour.example")
	for _, purpose := range []string{"dkim", "return_path", "return_path_spf", "dmarc", "tracking"} {
		domain.Publish(d.T, zone, purpose)
	}
	// A colleague checks; this page learns of it.
	if got := read(http.MethodPost, "/verify"); got.Status != "verified" {
		d.T.Fatalf("the domain is %s: %+v", got.Status, got.DNSRecords)
	}
	d.WaitFor(`[...document.querySelectorAll('header span')].some(s => s.textContent === 'Verified')`)
	if d.EvaluateString(`window.stayed`) != "true" {
		d.T.Error("the page was loaded again")
	}
}
