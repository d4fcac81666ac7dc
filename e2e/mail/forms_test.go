package mail

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/browser"
	"github.com/packetboat/packetboat/e2e/chromium"
	"github.com/packetboat/packetboat/e2e/e2etest"
)

// accessible checks the page, and that each control has a name.
func (r reader) accessible() []chromium.Control {
	r.T.Helper()
	if got := r.EvaluateString(`$.faults()`); got != "" {
		r.T.Errorf("%s: %s", r.EvaluateString("location.pathname.slice(0, 5)"), got)
	}
	list, err := r.Controls(r.Ctx)
	r.Must(err)
	for _, c := range list {
		if c.Name == "" && !slices.Contains([]string{"status", "group", "image"}, c.Role) {
			r.T.Errorf("a %s has no name", c.Role)
		}
	}
	return list
}

func openPage(ctx context.Context, t *testing.T, b *chromium.Browser) reader {
	t.Helper()
	r := reader{browser.Open(ctx, t, b, "")}
	r.Must(r.Narrow(ctx))
	return r
}

// arrived waits for the mail to an address, and returns it.
func arrived(t *testing.T, store, to string) *e2etest.Mail {
	t.Helper()
	return e2etest.Eventually(t, func() (*e2etest.Mail, bool) {
		files, err := filepath.Glob(filepath.Join(store, "*"))
		if err != nil || len(files) == 0 {
			return nil, false
		}
		m := e2etest.Stored(t, store)[to]
		return m, m != nil
	})
}

// TestAPersonSubscribesAndChoosesInARealBrowser fills in a form on another website by keyboard, with and
// without scripts, confirms the address, and changes the preferences by the link of a mail.
func TestAPersonSubscribesAndChoosesInARealBrowser(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), e2etest.Stay)
	defer cancel()
	store := t.TempDir()
	p, ready, s := e2etest.Start(t, "", "-store", store)
	lane, err := ready.Lane(ctx, "Relay", s.Address, 2, true)
	if err != nil {
		t.Fatal(err)
	}
	e2etest.Must(t, ready.Owner, http.MethodPut, "/settings/account", map[string]any{
		"name": "Acme", "locale": "de", "default_mta_config_key": lane, "default_sending_identity_email": ready.Sender,
		"postal_address": map[string]any{"line1": "1 High Street", "country": "NL"},
	})
	var snippet string
	site := e2etest.FormSite(t, p, &snippet)
	form := e2etest.Must(t, ready.Owner, http.MethodPost, "/forms", map[string]any{
		"name": "Newsletter", "allowed_origins": []string{site.URL}, "double_opt_in": true, "list_segment_keys": []string{ready.List},
		"success_message": "Thanks!", "fields": []any{
			map[string]any{"type": "contact", "binding": "email", "label": "Email", "required": true, "input": "email"},
			map[string]any{"type": "contact", "binding": "first_name", "label": "First name", "help_text": "As your friends say it"},
			map[string]any{"type": "consent", "binding": "newsletter", "label": "Send me the newsletter", "input": "checkbox", "required": true},
		},
	})["id"].(string)
	e2etest.Must(t, ready.Owner, http.MethodPost, "/forms/"+form+"/publish", nil)
	snippet = e2etest.Must(t, ready.Key, http.MethodGet, "/forms/"+form+"/embed", nil)["snippet"].(string)

	b := browser.Start(ctx, t)

	// With the script.
	r := openPage(ctx, t, b)
	r.Goto(site.URL + "/join")
	r.WaitFor(`document.querySelector('form').packetboat`)
	r.accessible()
	r.TabToElement("button")
	r.Press("Enter")
	r.WaitFor(`document.querySelector('form').dataset.packetboatState === 'error'`)
	invalid := map[string]chromium.Control{}
	for _, c := range r.accessible() {
		if c.Invalid {
			invalid[c.Role] = c
		}
	}
	if c := invalid["textbox"]; len(invalid) != 2 || !c.Focused || c.Description == "" || invalid["checkbox"].Description == "" {
		t.Errorf("the invalid controls are %+v", invalid)
	}
	r.Type("ann@example.org")
	r.Press("Tab")
	r.Type("Ann")
	r.Press("Tab", "Space", "Tab", "Enter")
	r.WaitFor(`document.querySelector('form').dataset.packetboatState === 'confirmation_sent'`)
	if got := r.EvaluateString(`document.activeElement.getAttribute('role') + ': ' + document.activeElement.textContent`); got != "status: Please check your mail and confirm your address." {
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
	confirm := e2etest.ConfirmLink.FindString(mail.HTML)
	status := func(email string) any {
		return e2etest.Must(t, ready.Key, http.MethodGet, "/contacts/lookup?email="+email, nil)["global_status"]
	}
	for range 2 {
		e2etest.Visit(t, confirm, http.StatusOK)
	}
	if got := status("ann@example.org"); got != "pending" {
		t.Errorf("after GET the contact is %v", got)
	}
	r = openPage(ctx, t, b)
	r.Must(r.WithoutScripts(ctx))
	r.Must(r.Languages(ctx, "fr"))
	r.Goto(confirm)
	r.accessible()
	if got := r.EvaluateString(`document.documentElement.lang + ' ' + document.querySelector('button').textContent`); got != "fr Confirmer" {
		t.Errorf("the page is %q", got)
	}
	r.TabToElement("button")
	r.Press("Enter")
	r.WaitFor(`document.querySelector('h1').textContent === 'Confirmé'`)
	if got := status("ann@example.org"); got != "active" {
		t.Errorf("after the button the contact is %v", got)
	}

	// Without the script.
	r = openPage(ctx, t, b)
	r.Must(r.WithoutScripts(ctx))
	r.Goto(site.URL + "/join")
	r.TabToElement("[name=email]")
	r.Type("ben@example.org")
	r.TabToElement("[type=checkbox]")
	r.Press("Space")
	r.TabToElement("button")
	r.Press("Enter")
	r.WaitFor(`location.pathname.startsWith('/_q/f/') && document.querySelector('h1')`)
	if got := r.EvaluateString(`document.querySelector('h1').textContent`); got != "Thank you" {
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
	preferences := e2etest.Link(t, arrived(t, store, "ann@example.org"), "Preferences")
	r = openPage(ctx, t, b)
	r.Must(r.WithoutScripts(ctx))
	r.Goto(preferences)
	r.accessible()
	r.TabToElement("[name='type.newsletter']")
	r.Press("Space")
	r.TabToElement("button[value=save]")
	r.Press("Enter")
	r.WaitFor(`document.querySelector('[role=status]')`)
	controls := r.accessible()
	if !slices.ContainsFunc(controls, func(c chromium.Control) bool { return c.Role == "group" && strings.Contains(c.Name, "Acme") }) {
		t.Errorf("the boxes have no group: %+v", controls)
	}
	contact := e2etest.Must(t, ready.Key, http.MethodGet, "/contacts/lookup?email=ann@example.org", nil)
	if contact["global_status"] != "active" || contact["subscriptions"].(map[string]any)["newsletter"] != false {
		t.Errorf("the contact is %v, %v", contact["global_status"], contact["subscriptions"])
	}
	r.TabToElement("button[value=unsubscribe_all]")
	r.Press("Enter")
	r.WaitFor(`document.querySelector('button[value=resubscribe]') && !document.querySelector('button[value=unsubscribe_all]')`)
	if got := status("ann@example.org"); got != "unsubscribed" {
		t.Errorf("the contact is %v", got)
	}
	r.accessible()
	if got := r.Problems(); len(got) > 0 {
		t.Errorf("the page reports %v", got)
	}
	export := e2etest.Must(t, ready.Owner, http.MethodGet, "/contacts/"+contact["id"].(string)+"/export", nil)
	var sources []string
	for _, one := range export["consents"].([]any) {
		one := one.(map[string]any)
		sources = append(sources, fmt.Sprintf("%s %v %v %v", one["source"].(string)[:4], one["granted"], one["wording"] != "", one["message_id"] != nil))
	}
	if got := strings.Join(sources, " "); got != "form true true true pref false true true pref false true true" {
		t.Errorf("the export has the consents %s", got)
	}
}
