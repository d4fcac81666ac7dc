package mail

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/browser"
	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
)

// shop is a website of the tenant, with a strict content security policy: no inline scripts, and
// no other hosts than the program's.
func shop(t *testing.T, p *harness.Program, siteKey string) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /own.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprint(w, `window.packetboat = window.packetboat || function () { (packetboat.q = packetboat.q || []).push(arguments); };
			document.title = 'Page ' + location.pathname;`)
	})
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self' "+p.BaseURL+"; connect-src "+p.BaseURL)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		consent := ""
		if strings.HasPrefix(r.URL.Path, "/ask") {
			consent = ` data-consent="required"`
		}
		fmt.Fprintf(w, `<!doctype html><title>-</title><script src="/own.js"></script><script async src="%s/_q/s.js?k=%s"%s></script><h1>Shop</h1>`, p.BaseURL, siteKey, consent)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// reader is a page of the shop.
type reader struct{ *browser.Page }

func (r reader) visit(url string) {
	r.T.Helper()
	r.Goto(url)
	r.WaitFor(`window.packetboat && packetboat.v`)
}

// requests lists the requests of the script.
const requests = `performance.getEntriesByType('resource').filter(e => new RegExp('/_q/(page|identify|event)$').test(e.name)).map(e => e.name.split('/_q/')[1]).join(' ')`

// sent waits until the page has sent requests, and checks that there were no others.
func (r reader) sent(want string) {
	r.T.Helper()
	r.WaitFor(fmt.Sprintf(`%s.length >= %d`, requests, len(want)))
	r.Evaluate(`new Promise(done => setTimeout(done, 100))`) // for a request too many
	if got := r.EvaluateString(requests); got != want {
		r.T.Errorf("the page sent %q, want %q", got, want)
	}
}

// activity waits until the contact has n page views and events, and returns them, oldest first.
func activity(ctx context.Context, t *testing.T, c *harness.Client, email string, n int) []map[string]any {
	t.Helper()
	for {
		a, err := c.Do(ctx, http.MethodGet, "/contacts/lookup?email="+url.QueryEscape(email), nil)
		if err != nil {
			t.Fatal(err)
		}
		if contact, ok := a.Map()["id"].(string); ok {
			list, err := c.Must(ctx, http.MethodGet, "/contacts/"+contact+"/activity?types=page_viewed,event", nil)
			if err != nil {
				t.Fatal(err)
			}
			var rows []map[string]any
			for _, row := range list["data"].([]any) {
				rows = append(rows, row.(map[string]any))
			}
			if len(rows) >= n {
				slices.Reverse(rows)
				return rows
			}
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s never had %d page views and events: %d %s", email, n, a.Status, a.Body)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func TestAWebsiteIsTrackedInARealBrowser(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), e2etest.Stay)
	defer cancel()
	p := &harness.Program{}
	e2etest.Begin(t, p, "")
	owner, err := p.SignIn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	account, err := owner.Must(ctx, http.MethodGet, "/settings/account", nil)
	if err != nil {
		t.Fatal(err)
	}
	site := shop(t, p, account["site_key"].(string))
	started := browser.Start(ctx, t)
	open := func(t *testing.T, script string) reader {
		t.Helper()
		return reader{browser.Open(ctx, t, started, script)}
	}
	check := func(t *testing.T, r reader) {
		t.Helper()
		if list := r.Problems(); len(list) > 0 {
			t.Errorf("errors in the console: %q", list)
		}
	}

	t.Run("pages, events and identity", func(t *testing.T) {
		r := open(t, "")
		r.visit(site.URL + "/start?utm_source=ads&_ev=token#top")
		r.sent("page")
		if got := r.EvaluateString(`location.href`); got != site.URL+"/start?utm_source=ads#top" {
			t.Errorf("the address is %s; the token should be removed from it", got)
		}
		r.Evaluate(`history.pushState({}, '', '/next?x=1'), document.title = 'Next', undefined`)
		r.sent("page page")
		r.Evaluate(`history.replaceState({}, '', '/next?x=1#part'), undefined`)
		r.Evaluate(`packetboat('identify', 'ann@example.org', {first_name: 'Ann', last_name: 'Lee'})`)
		r.sent("page page identify")
		r.Evaluate(`packetboat('event', 'plan_chosen', {plan: 'gold'})`)
		r.sent("page page identify event")
		rows := activity(ctx, t, owner, "ann@example.org", 3)
		if rows[0]["title"] != "Viewed "+site.URL+"/start?utm_source=ads" || rows[1]["title"] != "Viewed "+site.URL+"/next?x=1" ||
			rows[2]["event_name"] != "plan_chosen" || rows[2]["source"] != "website" {
			t.Errorf("activity = %v", rows)
		}
		if properties := rows[1]["properties"].(map[string]any); properties["title"] != "Next" || properties["referrer"] != site.URL+"/start" {
			t.Errorf("the second page = %v", properties)
		}
		contact, err := owner.Must(ctx, http.MethodGet, "/contacts/lookup?email=ann@example.org", nil)
		if err != nil || contact["global_status"] != "pending" || contact["first_name"] != "Ann" || contact["first_touch_source"] != "ads" || contact["first_touch_timezone"] == nil {
			t.Errorf("contact = %v, %v", contact, err)
		}
		id := r.EvaluateString(`localStorage.getItem('packetboat.id')`)
		r.visit(site.URL + "/again")
		r.sent("page")
		if again := r.EvaluateString(`localStorage.getItem('packetboat.id')`); again != id || len(id) != 32 {
			t.Errorf("the visitor was %q, is %q", id, again)
		}
		r.Evaluate(`packetboat('reset')`)
		if got := r.EvaluateString(`localStorage.getItem('packetboat.id')`); got != "null" {
			t.Errorf("after reset the visitor is %q", got)
		}
		check(t, r)
	})

	t.Run("consent", func(t *testing.T) {
		r := open(t, "")
		r.visit(site.URL + "/ask?_ev=token")
		r.Evaluate(`packetboat('event', 'before_consent')`)
		r.sent("")
		if got := r.EvaluateString(`localStorage.length + ' ' + location.search`); got != "0 " {
			t.Errorf("before the consent the page stores and shows %q", got)
		}
		r.Evaluate(`packetboat('consent', 'grant')`)
		r.sent("page event")
		r.visit(site.URL + "/ask/2")
		r.sent("page")
		r.Evaluate(`packetboat('identify', {email: 'ben@example.org'})`)
		r.sent("page identify")
		if rows := activity(ctx, t, owner, "ben@example.org", 3); rows[0]["title"] != "Viewed "+site.URL+"/ask" || rows[1]["event_name"] != "before_consent" {
			t.Errorf("activity = %v", rows)
		}
		r.Evaluate(`packetboat('consent', 'withdraw')`)
		r.Evaluate(`packetboat('event', 'after')`)
		r.visit(site.URL + "/ask/3")
		r.Evaluate(`packetboat('page')`)
		r.visit(site.URL + "/plain")
		r.sent("")
		if got := r.EvaluateString(`JSON.stringify(localStorage)`); got != `{"packetboat.consent":"denied"}` {
			t.Errorf("after the withdrawal the page stores %s", got)
		}
		check(t, r)
	})

	t.Run("a page that is left", func(t *testing.T) {
		r := open(t, "")
		r.visit(site.URL + "/start")
		r.Evaluate(`packetboat('identify', 'joe@example.org')`)
		r.sent("page identify")
		r.Evaluate(`['one', 'two', 'three'].forEach(name => packetboat('event', name)), location.assign('/end')`)
		r.WaitFor(`location.pathname === '/end' && window.packetboat && packetboat.v`)
		r.sent("page")
		var names []string
		for _, row := range activity(ctx, t, owner, "joe@example.org", 5) {
			if name, ok := row["event_name"].(string); ok {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		if want := []string{"one", "three", "two"}; !slices.Equal(names, want) {
			t.Errorf("events = %q, want %q", names, want)
		}
		check(t, r)
	})

	t.Run("Global Privacy Control", func(t *testing.T) {
		r := open(t, `Object.defineProperty(navigator, 'globalPrivacyControl', {value: true})`)
		r.visit(site.URL + "/start")
		r.Evaluate(`packetboat('consent', 'grant')`)
		r.Evaluate(`packetboat('identify', 'eve@example.org')`)
		r.Evaluate(`packetboat('event', 'x')`)
		r.sent("")
		if got := r.EvaluateString(`localStorage.length`); got != "0" {
			t.Errorf("%s values are stored", got)
		}
		check(t, r)
	})
}
