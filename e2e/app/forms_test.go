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

// A key with two scopes does what they allow, until it is revoked. A webhook with a secret fails, its deliveries say why, and one is replayed. A form is built, says what keeps it from
// being published, and is published; it is embedded in a page and submitted there, and the address is confirmed by
// mail: contact, consent and submission are in the application, and the event reaches the webhook. A domain whose
// record is wrong shows what differs, and is verified without a reload. An image is inserted into a template.
func TestKeysWebhooksFormsAndDomainsAreSetUpInTheApplication(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		zone := dnstest.New(t, "mail.boat.example. 60 IN A 127.0.0.1", `mail.boat.example. 60 IN TXT "v=spf1 ip4:192.0.2.1 -all"`)
		page := openApp(t, address, "PACKETBOAT_ALLOW_PRIVATE_WEBHOOKS=true", "PACKETBOAT_DNS_RESOLVER="+zone.Addr,
			"PACKETBOAT_MX_HOST=mail.boat.example", "PACKETBOAT_SPF_HOST=mail.boat.example", "PACKETBOAT_TRACK_HOST=mail.boat.example")
		page.createKeyWithTwoScopes()
		hooks := page.replayFailedDelivery()
		page.fillInForm()
		e2etest.Eventually(t, func() (string, bool) { got := hooks.accepted(); return got, strings.Contains(got, "form.submitted") })
		if got := hooks.accepted(); !strings.Contains(got, "form.submitted") || len(hooks.problems) > 0 {
			t.Errorf("the webhook accepted %q; its problems are %v", got, hooks.problems)
		}
		page.correctDomain(zone)
		page.fillImageValues()
		page.insertImage()
	})
}

// An image is pasted into the code of a template, and chosen for it again; it is chosen for the code of a broadcast, too,
// which is saved with it. A broadcast begins with a finished mail, of which a template is made.
func (page appPage) insertImage() {
	page.T.Helper()
	template, err := page.account.Owner.Must(page.Ctx, http.MethodPost, "/templates", map[string]any{"name": "Plain", "format": "html", "content_html": "<h1>Hello</h1>"})
	page.Must(err)
	page.open("/templates/" + template["id"].(string))
	const insert = `[...document.querySelectorAll('button')].find(b => b.textContent.trim() === 'Insert image')`
	page.WaitFor(insert + ` && $.code()`)
	page.Evaluate(`(() => {
		const data = new DataTransfer();
		data.items.add(new File([Uint8Array.from('GIF89a\x01\x01\x01\x01\x01\x01\x01;', c => c.charCodeAt(0))], 'harbour.gif', { type: 'image/gif' }));
		` + insert + `.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
	})()`)
	images := func(n int) string {
		return fmt.Sprintf(`$.code().textContent.split('alt="harbour"').length === %d`, n+1)
	}
	page.WaitFor(images(1))
	page.Click("Insert image")
	page.Dialog().ExpectText("257 × 257")
	page.Evaluate(`document.querySelector('[role=dialog] li button').click()`)
	page.WaitFor(images(2))

	broadcast := page.createDraft(map[string]any{"content": map[string]any{"subject": "Hello", "body_mjml": "<mjml><mj-body><mj-section><mj-column><mj-text>Hello</mj-text></mj-column></mj-section></mj-body></mjml>"}})
	page.open("/broadcasts/" + broadcast + "/edit")
	page.ShowCode()
	page.WaitFor(insert + ` && $.code()`)
	page.Evaluate(`$.code().focus()`)
	page.Press("Control+Home")
	page.Press(slices.Repeat([]string{"ArrowRight"}, len("<mjml><mj-body><mj-section><mj-column>"))...)
	page.Click("Insert image")
	page.Dialog().ExpectText("257 × 257")
	page.Evaluate(`document.querySelector('[role=dialog] li button').click()`)
	e2etest.Eventually(page.T, func() (any, bool) {
		body := fmt.Sprint(page.getBroadcast(broadcast)["content"].(map[string]any)["body_mjml"])
		return body, strings.Contains(body, `<mj-column><mj-image`) && strings.Contains(body, `alt="harbour"`)
	})

	page.open("/broadcasts/new")
	page.WaitFor(`document.querySelector('[role=dialog] label:has(input:checked) b') && document.querySelector('[role=dialog] label iframe')`) // one is chosen, and they are seen
	page.ClickElement(`[...document.querySelectorAll('[role=dialog] label')].find(l => l.querySelector('b')?.textContent === 'Welcome')`)
	page.Dialog().Click("Create")
	page.expectURL(`broadcasts/[0-9a-f-]+/edit$`)
	content := page.getBroadcast(page.EvaluateString(`location.pathname.split('/').at(-2)`))["content"].(map[string]any)
	if binding, _ := content["template_binding"].(map[string]any); content["template_slug"] != "welcome" || binding["parameters"] == nil {
		page.T.Errorf("the broadcast has the template %v with %v", content["template_slug"], content["template_binding"])
	}
}

// fillImageValues pastes, uploads and chooses images for the values of a template: an image, and HTML. Before, the
// library is empty, and begins with one button.
func (page appPage) fillImageValues() {
	page.T.Helper()
	page.open("/library")
	page.Main().ExpectText("The library is empty")
	page.Main().ExpectText("Event invitation When, where and why")
	if n := page.EvaluateString(`[...document.querySelectorAll('main button, main a')].filter(b => b.textContent.trim() === 'New entry').length`); n != "1" {
		page.T.Errorf("the empty library has %s buttons to begin with, want 1", n)
	}
	page.call(http.MethodPost, "/templates", map[string]any{
		"name": "Pictures", "format": "html", "subject": "News", "content_html": `<p><img alt="" src="{{param:picture}}"></p>{{param:inside}}`,
		"parameters_schema": []any{map[string]any{"name": "picture", "label": "Picture", "type": "image"}, map[string]any{"name": "inside", "label": "Inside", "type": "html"}},
	})
	broadcast := page.createDraft(map[string]any{"content": map[string]any{"template_slug": "pictures", "template_binding": map[string]any{"parameters": map[string]any{}}}})
	value := func(name string, is func(string) bool) string {
		return e2etest.Eventually(page.T, func() (string, bool) {
			binding, _ := page.getBroadcast(broadcast)["content"].(map[string]any)["template_binding"].(map[string]any)
			parameters, _ := binding["parameters"].(map[string]any)
			v, _ := parameters[name].(string)
			return v, is(v)
		})
	}
	image := func(name string) string {
		return `new File([Uint8Array.from('GIF89a\x01\x01\x01\x01\x01\x01\x01;` + name + `', c => c.charCodeAt(0))], '` + name + `.gif', { type: 'image/gif' })`
	}
	page.open("/broadcasts/" + broadcast + "/edit")
	field := `[...document.querySelectorAll('label')].filter(l => l.textContent.trim().startsWith('Picture')).map(l => document.getElementById(l.htmlFor)).find(e => e)`
	page.WaitFor(field)
	page.Evaluate(`(() => {
		const data = new DataTransfer();
		data.items.add(` + image("pasted") + `);
		` + field + `.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
	})()`)
	pasted := value("picture", func(v string) bool { return v != "" })
	if !strings.Contains(pasted, "/_q/a/") {
		page.T.Errorf("the pasted image is %q, want an address of the account's images", pasted)
	}
	page.Click("Choose image")
	page.WaitFor(`document.querySelector('[role=dialog] input[type=file]')`)
	page.Evaluate(`(() => {
		const input = document.querySelector('[role=dialog] input[type=file]'), files = new DataTransfer();
		files.items.add(` + image("uploaded") + `);
		input.files = files.files;
		input.dispatchEvent(new Event('change', { bubbles: true }));
	})()`)
	if uploaded := value("picture", func(v string) bool { return v != pasted }); uploaded == pasted {
		page.T.Error("the uploaded image is not the value")
	}
	page.expectNoDialog()
	page.Click("Choose image")
	page.WaitFor(`document.querySelectorAll('[role=dialog] li button').length > 1`)
	earlier := `[...document.querySelectorAll('[role=dialog] li')].find(l => l.innerHTML.includes('` + pasted[strings.LastIndex(pasted, "/")+1:] + `'))?.querySelector('button')`
	page.ClickElement(earlier)
	if chosen := value("picture", func(v string) bool { return v == pasted }); chosen != pasted {
		page.T.Errorf("the chosen image is %q, want %q", chosen, pasted)
	}
	page.expectNoDialog()
	page.Click("Insert image")
	page.WaitFor(`document.querySelectorAll('[role=dialog] li button').length > 0`)
	page.Evaluate(`document.querySelector('[role=dialog] li button').click()`)
	if inside := value("inside", func(v string) bool { return strings.Contains(v, "<img") }); !strings.Contains(inside, "/_q/a/") {
		page.T.Errorf("the HTML is %q, want an image", inside)
	}
}

// A key is created with two scopes, allows no more, and is revoked by typing its name.
func (page appPage) createKeyWithTwoScopes() {
	page.T.Helper()
	page.open("/settings/api-keys")
	page.Click("New API key")
	page.Fill("Name", "Web shop")
	page.Check("contacts:read")
	page.Check("segments:read")
	page.Dialog().Click("Create")
	page.WaitFor(`document.querySelector('[role=dialog] code')?.textContent.startsWith('pbk_')`)
	key := page.EvaluateString(`document.querySelector('[role=dialog] code').textContent`)
	page.Check("I have stored it")
	page.Dialog().Click("Done")
	page.Main().ExpectText("2 scopes")
	answers := func(method, path string) int {
		page.T.Helper()
		req, err := http.NewRequestWithContext(page.Ctx, method, page.program.BaseURL+"/t/"+harness.Tenant+"/api"+path, strings.NewReader("{}"))
		page.Must(err)
		req.Header.Set("X-API-Key", key)
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		page.Must(err)
		page.Must(res.Body.Close())
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
			page.T.Errorf("the key gets %d for %s %s, want %d", got, x.method, x.path, x.want)
		}
	}
	page.Evaluate(`document.querySelector('[aria-label="Actions for Web shop"]').click()`)
	page.WaitFor(`document.querySelector('[role=menuitem]')`)
	page.Evaluate(`[...document.querySelectorAll('[role=menuitem]')].find(i => i.textContent.startsWith('Revoke')).click()`)
	page.Fill("Type Web shop to confirm", "Web shop")
	page.Evaluate(`document.querySelector('[role=alertdialog] button[type=submit]').click()`)
	page.WaitFor(`!document.querySelector('[role=alertdialog]')`)
	if got := answers(http.MethodGet, "/contacts"); got != 401 {
		page.T.Errorf("a revoked key gets %d, want 401", got)
	}
}

func (page appPage) replayFailedDelivery() *hookReceiver {
	page.T.Helper()
	hooks := newHookReceiver(page.T)
	page.open("/settings/webhooks")
	page.Click("New webhook")
	page.Fill("URL", hooks.URL)
	page.Check("Selected events")
	page.Check("A form was submitted")
	page.Dialog().Click("Save")
	page.WaitFor(`document.querySelector('[role=dialog] code')?.textContent.startsWith('whsec_')`)
	secret := page.EvaluateString(`document.querySelector('[role=dialog] code').textContent`)
	page.Check("I have stored it")
	page.Dialog().Click("Done")
	page.expectURL("/settings/webhooks/")
	page.Click("Send test event")
	page.WaitFor(`[...document.querySelectorAll('tbody td')].some(c => c.textContent.trim() === '500')`)
	page.Click("Test event")
	page.Dialog().ExpectText("out of order")
	page.Dialog().ExpectText("This is a test.")
	page.Dialog().ExpectText("Retrying")
	hooks.repair(secret)
	page.Dialog().Click("Replay")
	page.Dialog().ExpectText("thank you")
	page.Dialog().ExpectText("Delivered")
	// The retry that was due, and the replay.
	if got := hooks.accepted(); !strings.HasPrefix(got, "webhook.test") {
		page.T.Errorf("the replay is accepted as %q", got)
	}
	page.Dialog().Click("Close")
	return hooks
}

func (page appPage) fillInForm() {
	page.T.Helper()
	page.open("/forms")
	page.Click("New form")
	page.Fill("Name", "Harbour news")
	page.Dialog().Click("Create")
	page.expectURL(`/forms/[0-9a-f-]+$`)
	form := page.EvaluateString(`location.pathname.split('/').at(-1)`)
	page.SelectOption("Add field", "First")
	page.WaitFor(`[...document.querySelectorAll('summary')].some(s => s.textContent.includes('First name'))`)
	if page.EvaluateString(`document.querySelector('[role=switch]').getAttribute('aria-checked')`) != "true" {
		page.Evaluate(`document.querySelector('[role=switch]').click()`)
	}
	page.Check("Another page")
	page.Click("Publish")
	page.Main().ExpectText("One thing is missing before it can be published")
	page.Evaluate(`[...document.querySelectorAll('button')].find(b => b.textContent.startsWith('Page URL')).click()`)
	page.WaitFor(`document.activeElement.dataset.path === 'redirect_url'`)
	page.Check("A message instead of the form")
	page.Fill("Message", "Welcome aboard")
	page.Click("Publish")
	page.Messages().ExpectText("The form is published.")
	// The preview shows what is typed, before it is saved.
	stored := page.EvaluateString(`document.querySelector('input[data-path=submit_label]').value`)
	page.watchPreviews()
	page.Fill("Button text", "Come aboard")
	page.WaitFor(`document.querySelector('main iframe') && window.shown?.includes('Come aboard</button>')`)
	if got := page.get("/forms/" + form)["submit_label"]; got != stored {
		page.T.Errorf("the form is stored with the button %v before it is saved", got)
	}
	page.Click("Discard changes")
	page.Click("Get code")
	page.WaitFor(`document.querySelector('section[aria-label="With the script"] pre')`)
	snippet := page.EvaluateString(`document.querySelector('section[aria-label="With the script"] pre').textContent`)

	site := e2etest.FormSite(page.T, page.program, &snippet)
	page.Goto(site.URL + "/join")
	page.WaitFor(`document.querySelector('form').packetboat`)
	page.TabToElement("[name=email]")
	page.Type("ann@example.org")
	page.TabToElement("[type=checkbox]")
	page.Press("Space")
	page.TabToElement("[name=first_name]")
	page.Type("Ann")
	page.TabToElement("button")
	page.Press("Enter")
	page.WaitFor(`document.querySelector('form').dataset.packetboatState === 'confirmation_sent'`)
	lane := page.firstID("/mta-configs")
	confirm := e2etest.Eventually(page.T, func() (string, bool) {
		list, err := page.account.Owner.Must(page.Ctx, http.MethodGet, "/mta-configs/"+lane+"/messages", nil)
		if err != nil {
			page.T.Fatal(err)
		}
		rows, _ := list["data"].([]any)
		if len(rows) == 0 {
			return "", false
		}
		mail, err := page.account.Owner.Must(page.Ctx, http.MethodGet, "/mta-configs/"+lane+"/messages/"+rows[0].(map[string]any)["id"].(string), nil)
		if err != nil {
			page.T.Fatal(err)
		}
		link := e2etest.ConfirmLink.FindString(fmt.Sprint(mail["html"]))
		return link, link != ""
	})
	page.Goto(confirm)
	page.Evaluate(`document.querySelector('button').click()`)
	page.WaitFor(`document.querySelector('h1').textContent.startsWith('Confirmed')`)

	submission := page.firstID("/forms/" + form + "/submissions")
	page.open("/forms/" + form + "?tab=submissions&submission=" + submission)
	page.Dialog().ExpectText("Confirmed")
	page.Dialog().ExpectText("“Send me the")
	page.Dialog().Click("Open contact")
	page.expectURL("/contacts/")
	page.Main().ExpectText("Active")
	contact := strings.TrimPrefix(page.EvaluateString(`location.pathname`), "/app/"+harness.Tenant)
	page.Main().ExpectText("Submitted the form Harbour news")
	page.open(contact + "?tab=profile")
	page.Main().ExpectText("Form Harbour news")
	page.open(contact + "?tab=consent")
	page.WaitFor(`[...document.querySelectorAll('[role=switch]')].some(s => s.getAttribute('aria-checked') === 'true' && document.getElementById(s.getAttribute('aria-labelledby')).textContent === 'Newsletter')`)
	page.checkConsentLog()
}

// checkConsentLog leaves and comes back in the ways that a person has, and by the API: the contact's page shows each
// choice with its proof, as the API lists them, and says what has no record.
func (page appPage) checkConsentLog() {
	page.T.Helper()
	contact := page.EvaluateString(`location.pathname.split('/').at(-1)`)
	tab := "/contacts/" + contact + "?tab=consent"
	page.Main().ExpectText("Consented Newsletter")
	page.Main().ExpectText("on the form Harbour news “Send me the")
	page.Main().ExpectText("Confirmed by a link in an email")

	page.call(http.MethodPost, "/segments/"+page.account.List+"/members", map[string]any{"contact_ids": []string{contact}})
	broadcast := page.createDraft(map[string]any{"content": map[string]any{"subject": "News", "body_html": `<p>News <a href="{{ preferences_url }}">Preferences</a></p>`}})
	page.startSend(broadcast)
	page.waitForStatus(broadcast, "completed")
	lane := page.firstID("/mta-configs")
	var mail map[string]any
	for _, row := range page.get("/mta-configs/" + lane + "/messages?limit=100")["data"].([]any) {
		if m := row.(map[string]any); strings.Contains(fmt.Sprint(m["to"]), "ann@example.org") && m["subject"] == "News" {
			mail = page.get("/mta-configs/" + lane + "/messages/" + m["id"].(string))
		}
	}
	if mail == nil {
		page.T.Fatal("no mail to ann@example.org")
	}
	preferences := strings.ReplaceAll(regexp.MustCompile(`http://[^"\s]+/_q/p/[^"\s]+`).FindString(fmt.Sprint(mail["html"])), "&amp;", "&")
	page.Goto(preferences)
	page.TabToElement("[name='type.newsletter']")
	page.Press("Space")
	page.TabToElement("button[value=save]")
	page.Press("Enter")
	page.WaitFor(`document.querySelector('[role=status]')`)
	page.open(tab)
	page.Main().ExpectText("Unsubscribed Newsletter")
	page.Main().ExpectText("on the preferences page")
	page.call(http.MethodPost, "/contacts/bulk", map[string]any{"action": "subscribe", "contact_ids": []string{contact}, "params": map[string]any{"email_type_key": "newsletter"}})
	page.open(tab)
	page.Main().ExpectText("Set without a record")

	unsubscribe := regexp.MustCompile(`http://[^>\s"]+/_q/u/[^>\s"]+`).FindString(fmt.Sprint(mail["headers"]))
	res, err := http.PostForm(unsubscribe, url.Values{"List-Unsubscribe": {"One-Click"}})
	page.Must(err)
	page.Must(res.Body.Close())
	if res.StatusCode != http.StatusOK {
		page.T.Fatalf("the button of a mail program at %q answers %s", unsubscribe, res.Status)
	}
	page.open(tab)
	page.Main().ExpectText("with the unsubscribe button of a mail program")
	page.Main().ExpectText("Through the link or address in an email")
	rows := page.get("/contacts/" + contact + "/consents")["data"].([]any)
	if shown := page.EvaluateString(`document.querySelectorAll('section[aria-label="Consent history"] tbody tr').length`); shown != fmt.Sprint(len(rows)) || len(rows) != 3 {
		page.T.Errorf("the page shows %s choices, the API has %d; want 3, as what is written by the API has no record", shown, len(rows))
	}
	page.expectAccessible("the log of consents")
	page.SetScreen(390, 844, "dark")
	page.WaitFor(`document.querySelector('ul[aria-label="Consent history"] li')`)
	page.expectAccessible("the log of consents on a phone")
	page.SetScreen(1280, 900, "light")
}

func (page appPage) correctDomain(zone *dnstest.Server) {
	page.T.Helper()
	page.open("/sending")
	page.Click("Add domain")
	page.Fill("Domain", "harbour.example")
	page.Dialog().Click("Add")
	page.expectURL("/sending/domains/")
	page.Main().ExpectText("Missing")
	id := page.EvaluateString(`location.pathname.split('/').at(-1)`)
	page.Evaluate(`window.stayed = true`)
	read := func(method, path string) e2etest.Domain {
		page.T.Helper()
		a, err := page.account.Owner.Do(page.Ctx, method, "/sending-domains/"+id+path, nil)
		if err != nil || a.Status != http.StatusOK {
			page.T.Fatalf("%s %s: %d %s, %v", method, path, a.Status, a.Body, err)
		}
		var got e2etest.Domain
		page.Must(a.Decode(&got))
		return got
	}
	domain := read(http.MethodGet, "")
	zone.Add(page.T, domain.DKIMSelector+`._domainkey.harbour.example. 60 IN TXT "v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC"`)
	page.Click("Check now")
	page.Main().ExpectText("Differs")
	page.WaitFor(`document.querySelector('mark')`)
	zone.Remove(domain.DKIMSelector + "._domainkey.harbour.example")
	for _, purpose := range []string{"dkim", "return_path", "return_path_spf", "dmarc", "tracking"} {
		domain.Publish(page.T, zone, purpose)
	}
	// A colleague checks; this page learns of it.
	if got := read(http.MethodPost, "/verify"); got.Status != "verified" {
		page.T.Fatalf("the domain is %s: %+v", got.Status, got.DNSRecords)
	}
	page.WaitFor(`[...document.querySelectorAll('header span')].some(s => s.textContent === 'Verified')`)
	if page.EvaluateString(`window.stayed`) != "true" {
		page.T.Error("the page was loaded again")
	}
}

// watchPreviews keeps the HTML of the newest preview that the server answers with in window.shown.
func (page appPage) watchPreviews() {
	page.T.Helper()
	page.Evaluate(`(() => { const real = window.fetch; window.fetch = async (...a) => { const r = await real(...a); if (String(a[0].url ?? a[0]).endsWith('/preview')) r.clone().json().then(j => { window.shown = j.html }); return r } })()`)
}
