package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jhillyerd/enmime/v2"

	"github.com/packetboat/packetboat/e2e/chromium"
	"github.com/packetboat/packetboat/e2e/harness"
)

// formSite is a website of the tenant that shows a form. Its content security policy allows nothing but
// what docs/forms.md asks for.
func formSite(t *testing.T, p *harness.Program, snippet *string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/join" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src "+p.BaseURL+"; connect-src "+p.BaseURL+"; form-action "+p.BaseURL)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><html lang="en"><title>Join</title><h1>Join us</h1>%s`, *snippet)
	}))
	t.Cleanup(s.Close)
	return s
}

// press presses keys in turn.
func (r reader) press(keys ...string) {
	r.t.Helper()
	for _, k := range keys {
		r.must(r.Press(r.ctx, k))
	}
}

// tabTo presses Tab until the element with a name has the focus.
func (r reader) tabTo(selector string) {
	r.t.Helper()
	for range 20 {
		if r.text(`document.activeElement && document.activeElement.matches(`+fmt.Sprintf("%q", selector)+`)`) == "true" {
			return
		}
		r.press("Tab")
	}
	r.t.Fatalf("Tab does not reach %s", selector)
}

// pageFaults returns what hinders readers with a screen reader, a keyboard or a small screen: see WCAG 2.2,
// success criteria 1.1.1, 1.4.10, 2.4.2, 2.5.8 and 3.1.1.
const pageFaults = `(() => {
	const out = [], ids = new Set();
	if (!document.documentElement.lang) out.push('no language');
	if (!document.title) out.push('no title');
	if (document.querySelectorAll('h1').length !== 1) out.push('not one h1');
	for (const e of document.querySelectorAll('[id]')) { if (ids.has(e.id)) out.push('the id ' + e.id + ' twice'); ids.add(e.id); }
	for (const e of document.querySelectorAll('img:not([alt])')) out.push('no alt: ' + e.src);
	for (const e of document.querySelectorAll('[aria-describedby], label[for]'))
		for (const id of (e.getAttribute('aria-describedby') || e.htmlFor).split(' ')) if (!document.getElementById(id)) out.push('no element ' + id);
	for (const e of document.querySelectorAll('main button, main input:not([type=hidden])')) {
		const b = e.getBoundingClientRect();
		if (b.width < 24 || b.height < 24) out.push('small: ' + e.outerHTML);
	}
	if (document.documentElement.scrollWidth > innerWidth) out.push('wider than the screen');
	return out.join('; ');
})()`

// accessible checks the page, and that each control has a name.
func (r reader) accessible() []chromium.Control {
	r.t.Helper()
	if got := r.text(pageFaults); got != "" {
		r.t.Errorf("%s: %s", r.text("location.pathname.slice(0, 5)"), got)
	}
	list, err := r.Controls(r.ctx)
	r.must(err)
	for _, c := range list {
		if c.Name == "" && !slices.Contains([]string{"status", "group", "image"}, c.Role) {
			r.t.Errorf("a %s has no name", c.Role)
		}
	}
	return list
}

func openPage(ctx context.Context, t *testing.T, b *chromium.Browser) reader {
	t.Helper()
	page, err := b.Open(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	r := reader{page, t, ctx}
	r.must(r.Narrow(ctx))
	return r
}

// arrived waits for the mail to an address, and returns it.
func arrived(t *testing.T, store, to string) *enmime.Envelope {
	t.Helper()
	return eventually(t, func() (*enmime.Envelope, bool) {
		files, err := filepath.Glob(filepath.Join(store, "*"))
		if err != nil || len(files) == 0 {
			return nil, false
		}
		m := stored(t, store)[to]
		return m, m != nil
	})
}

var confirmLink = regexp.MustCompile(`https?://[^\s"]+/_q/d/[\w-]+`)

// TestAPersonSubscribesAndChoosesInARealBrowser fills in a form on another website by keyboard, with and
// without scripts, confirms the address, and changes the preferences by the link of a mail.
func TestAPersonSubscribesAndChoosesInARealBrowser(t *testing.T) {
	t.Parallel()
	path := needChromium(t)
	ctx, cancel := context.WithTimeout(t.Context(), stay)
	defer cancel()
	store := t.TempDir()
	p, ready, s := start(t, "", "-store", store)
	lane, err := ready.Lane(ctx, "Relay", s.Address, 2, true)
	if err != nil {
		t.Fatal(err)
	}
	must(t, ready.Owner, http.MethodPut, "/settings/account", map[string]any{
		"name": "Acme", "locale": "de", "default_mta_config_key": lane, "default_sending_identity_email": ready.Sender,
		"postal_address": map[string]any{"line1": "1 High Street", "country": "NL"},
	})
	var snippet string
	site := formSite(t, p, &snippet)
	form := must(t, ready.Owner, http.MethodPost, "/forms", map[string]any{
		"name": "Newsletter", "allowed_origins": []string{site.URL}, "double_opt_in": true, "list_segment_keys": []string{ready.List},
		"success_message": "Thanks!", "fields": []any{
			map[string]any{"type": "contact", "binding": "email", "label": "Email", "required": true, "input": "email"},
			map[string]any{"type": "contact", "binding": "first_name", "label": "First name", "help_text": "As your friends say it"},
			map[string]any{"type": "consent", "binding": "newsletter", "label": "Send me the newsletter", "input": "checkbox", "required": true},
		},
	})["id"].(string)
	must(t, ready.Owner, http.MethodPost, "/forms/"+form+"/publish", nil)
	snippet = must(t, ready.Key, http.MethodGet, "/forms/"+form+"/embed", nil)["snippet"].(string)

	b, err := chromium.Start(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Stop()

	// With the script.
	r := openPage(ctx, t, b)
	r.must(r.Visit(ctx, site.URL+"/join"))
	r.must(r.Until(ctx, `document.querySelector('form').packetboat`))
	r.accessible()
	r.tabTo("button")
	r.press("Enter")
	r.must(r.Until(ctx, `document.querySelector('form').dataset.packetboatState === 'error'`))
	invalid := map[string]chromium.Control{}
	for _, c := range r.accessible() {
		if c.Invalid {
			invalid[c.Role] = c
		}
	}
	if c := invalid["textbox"]; len(invalid) != 2 || !c.Focused || c.Description == "" || invalid["checkbox"].Description == "" {
		t.Errorf("the invalid controls are %+v", invalid)
	}
	r.must(r.Type(ctx, "ann@example.org"))
	r.press("Tab")
	r.must(r.Type(ctx, "Ann"))
	r.press("Tab", "Space", "Tab", "Enter")
	r.must(r.Until(ctx, `document.querySelector('form').dataset.packetboatState === 'confirmation_sent'`))
	if got := r.text(`document.activeElement.getAttribute('role') + ': ' + document.activeElement.textContent`); got != "status: Please check your mail and confirm your address." {
		t.Errorf("the focus is on %q", got)
	}
	if got := r.Problems(); len(got) > 0 {
		t.Errorf("the page reports %v", got)
	}

	// The mail, in the account's language. Following its link does not confirm.
	mail := arrived(t, store, "ann@example.org")
	if got := mail.GetHeader("Subject"); got != "Bitte bestätigen Sie Ihre Anmeldung" {
		t.Errorf("the subject is %q", got)
	}
	confirm := confirmLink.FindString(mail.HTML)
	status := func(email string) any {
		return must(t, ready.Key, http.MethodGet, "/contacts/lookup?email="+email, nil)["global_status"]
	}
	for range 2 {
		visit(t, confirm, http.StatusOK)
	}
	if got := status("ann@example.org"); got != "pending" {
		t.Errorf("after GET the contact is %v", got)
	}
	r = openPage(ctx, t, b)
	r.must(r.WithoutScripts(ctx))
	r.must(r.Languages(ctx, "fr"))
	r.must(r.Visit(ctx, confirm))
	r.accessible()
	if got := r.text(`document.documentElement.lang + ' ' + document.querySelector('button').textContent`); got != "fr Confirmer" {
		t.Errorf("the page is %q", got)
	}
	r.tabTo("button")
	r.press("Enter")
	r.must(r.Until(ctx, `document.querySelector('h1').textContent === 'Confirmé'`))
	if got := status("ann@example.org"); got != "active" {
		t.Errorf("after the button the contact is %v", got)
	}

	// Without the script.
	r = openPage(ctx, t, b)
	r.must(r.WithoutScripts(ctx))
	r.must(r.Visit(ctx, site.URL+"/join"))
	r.tabTo("[name=email]")
	r.must(r.Type(ctx, "ben@example.org"))
	r.tabTo("[type=checkbox]")
	r.press("Space")
	r.tabTo("button")
	r.press("Enter")
	r.must(r.Until(ctx, `location.pathname.startsWith('/_q/f/') && document.querySelector('h1')`))
	if got := r.text(`document.querySelector('h1').textContent`); got != "Thank you" {
		t.Errorf("the page says %q", got)
	}
	r.accessible()
	if got := status("ben@example.org"); got != "pending" {
		t.Errorf("without the script the contact is %v", got)
	}
	if arrived(t, store, "ben@example.org") == nil {
		t.Error("no confirmation arrived")
	}

	// A broadcast, and the preferences.
	id, err := ready.Broadcast(ctx, lane, map[string]any{
		"subject": "News", "body_html": `<html><body><p>News. <a href="{{ preferences_url }}">Preferences</a></p></body></html>`,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(store); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(store, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := ready.Schedule(ctx, id); err != nil {
		t.Fatal(err)
	}
	if _, err := ready.Await(ctx, id, "completed"); err != nil {
		t.Fatal(err)
	}
	preferences := link(t, arrived(t, store, "ann@example.org"), "Preferences")
	r = openPage(ctx, t, b)
	r.must(r.WithoutScripts(ctx))
	r.must(r.Visit(ctx, preferences))
	r.accessible()
	r.tabTo("[name='type.newsletter']")
	r.press("Space")
	r.tabTo("button[value=save]")
	r.press("Enter")
	r.must(r.Until(ctx, `document.querySelector('[role=status]')`))
	controls := r.accessible()
	if !slices.ContainsFunc(controls, func(c chromium.Control) bool { return c.Role == "group" && strings.Contains(c.Name, "Acme") }) {
		t.Errorf("the boxes have no group: %+v", controls)
	}
	contact := must(t, ready.Key, http.MethodGet, "/contacts/lookup?email=ann@example.org", nil)
	if contact["global_status"] != "active" || contact["subscriptions"].(map[string]any)["newsletter"] != false {
		t.Errorf("the contact is %v, %v", contact["global_status"], contact["subscriptions"])
	}
	r.tabTo("button[value=unsubscribe_all]")
	r.press("Enter")
	r.must(r.Until(ctx, `document.querySelector('button[value=resubscribe]') && !document.querySelector('button[value=unsubscribe_all]')`))
	if got := status("ann@example.org"); got != "unsubscribed" {
		t.Errorf("the contact is %v", got)
	}
	r.accessible()
	if got := r.Problems(); len(got) > 0 {
		t.Errorf("the page reports %v", got)
	}
	export := must(t, ready.Owner, http.MethodGet, "/contacts/"+contact["id"].(string)+"/export", nil)
	var sources []string
	for _, one := range export["consents"].([]any) {
		one := one.(map[string]any)
		sources = append(sources, fmt.Sprintf("%s %v %v %v", one["source"].(string)[:4], one["granted"], one["wording"] != "", one["message_id"] != nil))
	}
	if got := strings.Join(sources, " "); got != "form true true true pref false true true pref false true true" {
		t.Errorf("the export has the consents %s", got)
	}
}
