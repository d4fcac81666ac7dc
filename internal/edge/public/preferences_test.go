package public_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/language"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/consent"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/sender"
)

// preferencesFixture is a mail of a type without a category, and others that the recipient gets.
type preferencesFixture struct {
	*recipientFixture
	product sender.Category  // of the type updates
	tips    sender.EmailType // in no category
}

func eachPreferences(t *testing.T, f func(t *testing.T, p *preferencesFixture)) {
	t.Helper()
	each(t, func(t *testing.T, one *recipientFixture) {
		p := &preferencesFixture{recipientFixture: one}
		var err error
		if p.product, err = sender.CreateCategory(t.Context(), p.DB, p.Tenant, sender.CategoryFields{Name: new("Product <news>"), Description: new("What changes")}, p.now); err != nil {
			t.Fatal(err)
		}
		if _, err = sender.CreateCategory(t.Context(), p.DB, p.Tenant, sender.CategoryFields{Name: new("Empty category")}, p.now); err != nil {
			t.Fatal(err)
		}
		p.addType("Updates", sender.EmailTypeFields{Category: &p.product.ID})
		p.addType("Old", sender.EmailTypeFields{Active: new(false)})
		p.tips = p.addType("Tips", sender.EmailTypeFields{})
		f(t, p)
	})
}

func (p *preferencesFixture) addType(name string, f sender.EmailTypeFields) sender.EmailType {
	p.t.Helper()
	f.DisplayName = &name
	typ, err := sender.CreateEmailType(p.t.Context(), p.DB, p.Tenant, f, p.now)
	if err != nil {
		p.t.Fatal(err)
	}
	return typ
}

// page returns the boxes of the preferences page and whether they are checked, and its buttons.
func (p *preferencesFixture) page(w *httptest.ResponseRecorder) (boxes map[string]bool, shown, buttons []string) {
	p.t.Helper()
	root, err := html.Parse(strings.NewReader(w.Body.String()))
	if err != nil {
		p.t.Fatal(err)
	}
	boxes = map[string]bool{}
	for n := range root.Descendants() {
		at := map[string]string{}
		for _, a := range n.Attr {
			at[a.Key] = a.Val
		}
		switch {
		case n.Data == "input" && at["type"] == "checkbox":
			_, boxes[at["name"]] = at["checked"]
		case n.Data == "input" && at["name"] == "shown":
			shown = append(shown, at["value"])
		case n.Data == "button" && at["name"] == "action":
			buttons = append(buttons, at["value"])
		}
	}
	return boxes, shown, buttons
}

// choose submits the page.
func (p *preferencesFixture) choose(values ...string) *httptest.ResponseRecorder {
	p.t.Helper()
	v := url.Values{}
	for i := 0; i < len(values); i += 2 {
		v.Add(values[i], values[i+1])
	}
	return p.do("POST", p.path(track.Preferences, 0, ""), strings.NewReader(v.Encode()), "Content-Type", "application/x-www-form-urlencoded")
}

func (p *preferencesFixture) proofs() []string {
	p.t.Helper()
	list, err := consent.List(p.t.Context(), p.DB, p.Tenant, p.contact.ID)
	if err != nil {
		p.t.Fatal(err)
	}
	var out []string
	for _, r := range list {
		if r.Source != consent.PreferencesPage || r.IP != "192.0.2.7" || r.Agent != chrome || r.Message != p.message.ID || r.PageURL != "https://example.com/_q/p" || r.Confirmed != r.Granted {
			p.t.Errorf("the proof is %+v", r)
		}
		what := "all"
		if r.TypeKey != "" {
			what = r.TypeKey
		} else if !r.Category.IsZero() {
			what = "category"
		}
		out = append(out, fmt.Sprintf("%s %v: %s", what, r.Granted, r.Wording))
	}
	slices.Sort(out)
	return out
}

func TestARecipientChoosesWhatItGets(t *testing.T) {
	eachPreferences(t, func(t *testing.T, p *preferencesFixture) {
		product := "category." + p.product.ID.String()
		w := p.do("GET", p.path(track.Preferences, 0, ""), nil)
		boxes, shown, buttons := p.page(w)
		want := map[string]bool{product: true, "type.newsletter": true, "type.tips": true}
		if w.Code != 200 || fmt.Sprint(boxes) != fmt.Sprint(want) || len(shown) != 3 || fmt.Sprint(buttons) != "[save unsubscribe_all]" || strings.Contains(w.Body.String(), p.contact.Email) {
			t.Fatalf("%d, %v, %v, %v: %s", w.Code, boxes, shown, buttons, w.Body)
		}
		if !strings.Contains(w.Body.String(), "Product &lt;news&gt;") || !strings.Contains(w.Body.String(), "a•••@example.com") {
			t.Errorf("the page is %s", w.Body)
		}

		w = p.choose("action", "save", "type.newsletter", "on", "type.unknown", "on", "category.x", "on")
		boxes, _, _ = p.page(w)
		want[product], want["type.tips"] = false, false
		if w.Code != 200 || fmt.Sprint(boxes) != fmt.Sprint(want) || !strings.Contains(w.Body.String(), "Your choices are saved.") {
			t.Errorf("saved: %d %v: %s", w.Code, boxes, w.Body)
		}
		left := fmt.Sprint("active", map[string]bool{"tips": false}, map[id.Category]bool{p.product.ID: false})
		if got := p.person(); got != left {
			t.Errorf("the contact is %s, want %s", got, left)
		}
		if s := p.sums(); s.Unsubscribed != 1 {
			t.Errorf("%d unsubscribed, want the one recipient", s.Unsubscribed)
		}
		p.choose("action", "save", "type.newsletter", "on") // again
		proofs := p.proofs()
		if len(proofs) != 2 || proofs[1] != "tips false: Choose which mail Account acme may send to a•••@example.com. Tips" ||
			proofs[0] != "category false: Choose which mail Account acme may send to a•••@example.com. Product <news>: What changes" {
			t.Errorf("the proofs are %q", proofs)
		}

		p.choose("action", "save", "shown", "type.tips", "type.tips", "on") // what was not shown stays
		if got, want := p.person(), fmt.Sprint("active", map[string]bool{"tips": true}, map[id.Category]bool{p.product.ID: false}); got != want {
			t.Errorf("the contact is %s, want %s", got, want)
		}
	})
}

func TestARecipientLeavesAllMailAndReturns(t *testing.T) {
	eachPreferences(t, func(t *testing.T, p *preferencesFixture) {
		for range 2 {
			w := p.choose("action", "unsubscribe_all")
			boxes, _, buttons := p.page(w)
			for name, checked := range boxes {
				if checked {
					t.Errorf("%s is checked", name)
				}
			}
			if w.Code != 200 || fmt.Sprint(buttons) != "[save resubscribe]" || !strings.Contains(w.Body.String(), "You are unsubscribed from all mail from Account acme.") {
				t.Errorf("%d %v: %s", w.Code, buttons, w.Body)
			}
			if got := p.person(); got != "unsubscribedmap[] map[]" {
				t.Errorf("the contact is %s", got)
			}
			p.choose("action", "save") // nothing is selected
		}
		p.choose("action", "save", "type.tips", "on") // does not bring back the rest
		want := fmt.Sprint("active", map[string]bool{"newsletter": false, "tips": true}, map[id.Category]bool{p.product.ID: false})
		if got := p.person(); got != want {
			t.Errorf("the contact is %s, want %s", got, want)
		}
		if w := p.choose("action", "resubscribe"); !strings.Contains(w.Body.String(), "saved") {
			t.Errorf("resubscribe: %d %s", w.Code, w.Body)
		}
		want = fmt.Sprint("active", map[string]bool{"newsletter": true, "tips": true}, map[id.Category]bool{p.product.ID: false})
		if got := p.person(); got != want {
			t.Errorf("the contact is %s, want %s", got, want)
		}
		p.choose("action", "unsubscribe_all")
		p.choose("action", "resubscribe")
		if got := p.person(); got != want {
			t.Errorf("the contact is %s, want %s", got, want)
		}
		var said []string
		for _, one := range p.proofs() {
			said = append(said, one[:strings.Index(one, ":")])
		}
		if got := fmt.Sprint(said); got != "[all false all false all true all true category false newsletter false newsletter true tips true]" {
			t.Errorf("the proofs are %s", got)
		}
		if got := p.proofs()[6]; got != "newsletter true: Subscribe again to “Newsletter”" {
			t.Errorf("the proof of resubscribing is %q", got)
		}
	})
}

// A bounce, a complaint and a deletion are not lifted by the person.
func TestPreferencesDoNotLiftWhatStopsMail(t *testing.T) {
	eachPreferences(t, func(t *testing.T, p *preferencesFixture) {
		for _, status := range []contact.Status{contact.Bounced, contact.Complained, contact.Suppressed} {
			p.exec(`UPDATE contact SET global_status = $2, status_before_suppress = NULL WHERE tenant_id = $1`, p.Tenant, string(status))
			if status == contact.Suppressed {
				p.exec(`UPDATE contact SET status_before_suppress = 'active' WHERE tenant_id = $1`, p.Tenant)
			}
			if w := p.do("GET", p.path(track.Preferences, 0, ""), nil); !strings.Contains(w.Body.String(), "is stopped") {
				t.Errorf("%s: the page does not say so", status)
			}
			for _, action := range []string{"unsubscribe_all", "resubscribe", "save"} {
				if w := p.choose("action", action, "type.tips", "on", "type.newsletter", "on"); w.Code != 200 || !strings.HasPrefix(p.person(), string(status)) {
					t.Errorf("%s, %s: %d, the contact is %s", status, action, w.Code, p.person())
				}
			}
		}
		p.exec(`UPDATE contact SET global_status = 'pending', status_before_suppress = NULL, subscriptions = '{}', category_subscriptions = '{}' WHERE tenant_id = $1`, p.Tenant)
		p.choose("action", "save", "type.tips", "on")
		want := fmt.Sprint("active", map[string]bool{"newsletter": false, "tips": true}, map[id.Category]bool{p.product.ID: false})
		if got := p.person(); got != want {
			t.Errorf("a pending contact is %s, want %s", got, want)
		}
	})
}

func TestPreferencesRefuseWhatTheirPageDoesNotSend(t *testing.T) {
	eachPreferences(t, func(t *testing.T, p *preferencesFixture) {
		before := p.person()
		path := p.path(track.Preferences, 0, "")
		for name, tt := range map[string]struct {
			method, path, body string
			status             int
		}{
			"no action":             {"POST", path, "", 400},
			"one-click":             {"POST", path, "List-Unsubscribe=One-Click", 400},
			"an unknown action":     {"POST", path, "action=delete&type.tips=on", 400},
			"the action in a query": {"POST", path + "?action=unsubscribe_all", "", 400},
			"too large":             {"POST", path, "x=" + strings.Repeat("x", 70<<10) + "&action=unsubscribe_all", 400},
			"a forged token":        {"POST", path[:20] + other(path[20:21]) + path[21:], "action=unsubscribe_all", 404},
			"a token of another":    {"POST", "/_q/p/" + strings.TrimPrefix(p.path(track.Unsubscribe, 0, ""), "/_q/u/"), "action=unsubscribe_all", 404},
			"another method":        {"PUT", path, "action=unsubscribe_all", 405},
			"a look":                {"HEAD", path + "?action=unsubscribe_all", "", 200},
		} {
			w := p.do(tt.method, tt.path, strings.NewReader(tt.body), "Content-Type", "application/x-www-form-urlencoded")
			if w.Code != tt.status || p.person() != before || tt.method == "HEAD" && w.Body.Len() > 0 {
				t.Errorf("%s: %d, want %d; the contact is %s", name, w.Code, tt.status, p.person())
			}
		}
		p.exec(`UPDATE contact SET anonymized_at = 1, global_status = 'suppressed' WHERE tenant_id = $1`, p.Tenant)
		for _, gone := range []bool{false, true} {
			if gone {
				p.exec(`DELETE FROM contact WHERE tenant_id = $1`, p.Tenant)
			}
			if w := p.do("GET", path, nil); w.Code != 404 {
				t.Errorf("an erased contact: %d", w.Code)
			}
			if w := p.choose("action", "save"); w.Code != 404 {
				t.Errorf("an erased contact saves: %d", w.Code)
			}
			if w := p.choose("action", "unsubscribe_all"); w.Code != 200 || !strings.Contains(w.Body.String(), "Unsubscribed") {
				t.Errorf("an erased contact leaves: %d", w.Code)
			}
		}
		if got := p.proofs(); len(got) > 0 {
			t.Errorf("the proofs are %q", got)
		}
	})
}

func TestLinksOfTestMailsChangeNothing(t *testing.T) {
	each(t, func(t *testing.T, p *recipientFixture) {
		s, err := p.keys.Signer(p.Tenant, p.message.ID)
		if err != nil {
			t.Fatal(err)
		}
		s.Preview()
		for _, kind := range []track.Kind{track.Unsubscribe, track.Preferences, track.View} {
			path := "/_q/" + string(rune(kind)) + "/" + string(s.Append(nil, kind, 0, ""))
			for _, method := range []string{"GET", "POST"} {
				if method == "POST" && kind == track.View {
					continue
				}
				w := p.do(method, path, strings.NewReader("action=unsubscribe_all&from=page"), "Content-Type", "application/x-www-form-urlencoded")
				if empty := method == "POST" && kind == track.Unsubscribe; w.Code != 200 || (w.Body.Len() == 0) != empty {
					t.Errorf("%s %s: %d %s", method, path[:5], w.Code, w.Body)
				}
			}
		}
		if got := p.person(); got != "activemap[] map[]" {
			t.Errorf("the contact is %s", got)
		}
	})
}

// Every page has the tenant's name, address and logo, and is in the reader's language.
func TestPagesAreTheTenantsInTheReadersLanguage(t *testing.T) {
	each(t, func(t *testing.T, p *recipientFixture) {
		acme, err := tenant.ByID(t.Context(), p.DB, p.Tenant)
		if err != nil {
			t.Fatal(err)
		}
		acme.Settings.Locale, acme.Settings.LogoURL, acme.Settings.WebsiteURL = "fr-CA", new("https://img.example.com/a;b,c.png?x=1"), new("https://www.example.com/")
		acme.Settings.PostalAddress.Line1 = new("1 High Street")
		if err := tenant.SaveSettings(t.Context(), p.DB, p.Tenant, acme.Name, acme.Settings, p.now); err != nil {
			t.Fatal(err)
		}
		w := p.do("GET", p.path(track.Preferences, 0, ""), nil)
		for _, part := range []string{`<html lang="fr">`, "Account acme", "1 High Street", `src="https://img.example.com/a;b,c.png?x=1"`, `href="https://www.example.com/"`, "Enregistrer"} {
			if !strings.Contains(w.Body.String(), part) {
				t.Errorf("the page has no %s: %s", part, w.Body)
			}
		}
		if got := w.Header().Get("Content-Security-Policy"); !strings.Contains(got, " img-src https://img.example.com;") {
			t.Errorf("the policy is %s", got)
		}
		seen := map[string]string{}
		for _, tag := range language.Tags {
			for _, path := range []string{p.path(track.Preferences, 0, ""), p.path(track.Unsubscribe, 0, ""), "/_q/u/forged"} {
				w := p.do("GET", path, nil, "Accept-Language", tag+";q=0.9, en;q=0.1")
				title := w.Body.String()[strings.Index(w.Body.String(), "<h1>"):]
				title = title[:strings.Index(title, "</h1>")] + path
				if w.Header().Get("Content-Language") != tag || !strings.Contains(w.Body.String(), `<html lang="`+tag+`">`) || strings.Contains(w.Body.String(), "{sender}") {
					t.Errorf("%s: %v %s", tag, w.Header(), w.Body)
				}
				if other := seen[title]; other != "" {
					t.Errorf("%s and %s have the title %s", tag, other, title)
				}
				seen[title] = tag
			}
		}
	})
}

// A logo whose address could end the directive of the policy is left out.
func TestALogoDoesNotChangeThePolicy(t *testing.T) {
	each(t, func(t *testing.T, p *recipientFixture) {
		for _, logo := range []string{"https://a;script-src*/x.png", "https://a,b/x.png", "https://[::1]/x.png", "javascript:alert(1)", "%"} {
			p.exec(`UPDATE tenant SET logo_url = $2 WHERE tenant_id = $1`, p.Tenant, logo)
			w := p.do("GET", p.path(track.Unsubscribe, 0, ""), nil)
			if w.Code != http.StatusOK || strings.Contains(w.Body.String(), "<img") || strings.Contains(w.Header().Get("Content-Security-Policy"), "script") {
				t.Errorf("%s: %s", logo, w.Header().Get("Content-Security-Policy"))
			}
		}
	})
}

// other returns another letter.
func other(letter string) string {
	if letter == "x" {
		return "y"
	}
	return "x"
}
