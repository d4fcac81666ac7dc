package public_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/account/tenant"
	forms "github.com/packetboat/packetboat/internal/audience/form"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/edge/public"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// formFixture is a published form and the server that answers its requests.
type formFixture struct {
	*broadcasttest.Account
	t    *testing.T
	mux  *http.ServeMux
	keys *track.Keys
	now  time.Time
	ip   string
	form forms.Form
}

func eachForm(t *testing.T, ch forms.Change, f func(p *formFixture)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		box := broadcasttest.Box(t)
		p := &formFixture{Account: broadcasttest.New(t, db, "acme"), t: t, now: broadcasttest.Now, ip: "192.0.2.7", mux: http.NewServeMux(), keys: track.NewKeys(box)}
		account, err := tenant.ByID(t.Context(), db, p.Tenant)
		p.ok(err)
		account.Settings.DefaultLane, account.Settings.DefaultIdentity = p.Lane.ID, p.Identity.ID
		p.ok(tenant.SaveSettings(t.Context(), db, p.Tenant, account.Name, account.Settings, p.now))
		ch.Name = new("Newsletter")
		ch.Fields = &[]forms.Field{
			{Type: forms.ContactField, Binding: "email", Label: "Email", Required: true},
			{Type: forms.ContactField, Binding: "first_name", Label: "Name", SortOrder: 1},
			{Type: forms.ConsentField, Binding: "newsletter", Label: "Send me news", SortOrder: 2},
		}
		made, err := forms.Create(t.Context(), db, box, p.Tenant, ch, p.now)
		p.ok(err)
		p.form, err = forms.Publish(t.Context(), db, p.Tenant, made.ID, p.now)
		p.ok(err)
		(&public.Forms{
			DB: db, Keys: p.keys, Limits: ratelimit.New(db), Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Now: func() time.Time { return p.now },
			ClientIP: func(*http.Request) netip.Addr { return netip.MustParseAddr(p.ip) },
			Intake:   &forms.Intake{DB: db, Tokens: forms.NewTokens(box), Captcha: forms.NewCaptcha(box, nil, false)},
		}).Routes(p.mux)
		f(p)
	})
}

func (p *formFixture) ok(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *formFixture) do(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	p.t.Helper()
	r := httptest.NewRequestWithContext(p.t.Context(), method, path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	p.mux.ServeHTTP(w, r)
	return w
}

func (p *formFixture) path() string { return "/_q/f/" + p.form.Slug }

// token returns the token of the form's config, and lets some time pass.
func (p *formFixture) token() string {
	p.t.Helper()
	w := p.do("GET", p.path()+"/config", "")
	var c struct{ Token string }
	if err := json.Unmarshal(w.Body.Bytes(), &c); err != nil || c.Token == "" {
		p.t.Fatalf("the config is %d %s", w.Code, w.Body)
	}
	p.now = p.now.Add(3 * time.Second)
	return c.Token
}

func (p *formFixture) body(email string) string {
	p.t.Helper()
	return fmt.Sprintf(`{"fields": {"email": %q}, "consents": {"newsletter": true}, "token": %q}`, email, p.token())
}

func code(w *httptest.ResponseRecorder) string {
	var e struct{ Error struct{ Code string } }
	_ = json.Unmarshal(w.Body.Bytes(), &e)
	return e.Error.Code
}

const encoded = "application/x-www-form-urlencoded"

func TestAFormIsSubmittedByItsScriptAndWithoutIt(t *testing.T) {
	eachForm(t, forms.Change{DoubleOptIn: new(false), SuccessMessage: new("Thanks!")}, func(p *formFixture) {
		w := p.do("GET", p.path()+"/config", "")
		for _, part := range []string{`"slug":"` + p.form.Slug, `"honeypot_field":"website_url_2"`, `"binding":"email"`, `"captcha":{"provider":"none","site_key":null}`, `"redirect_url":null`} {
			if !strings.Contains(w.Body.String(), part) {
				t.Errorf("the config lacks %s: %s", part, w.Body)
			}
		}
		w = p.do("POST", p.path(), p.body("ann@example.com"), "Content-Type", "application/json", "Origin", "https://anywhere.example")
		if w.Code != 200 || strings.TrimSpace(w.Body.String()) != `{"status":"accepted","message":"Thanks!","redirect_url":null}` || w.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("by the script: %d %s %v", w.Code, w.Body, w.Header())
		}
		w = p.do("POST", p.path(), "email=bob%40example.com&first_name=Bob&consents.newsletter=true&website_url_2=", "Content-Type", encoded)
		if w.Code != 200 || !strings.Contains(w.Body.String(), "Thanks!") || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			t.Errorf("without the script: %d %s", w.Code, w.Body)
		}
		c, err := contact.ByEmail(t.Context(), p.DB, p.Tenant, "bob@example.com")
		p.ok(err)
		if *c.FirstName != "Bob" || !c.Subscriptions["newsletter"] {
			t.Errorf("the contact is %v, %v", *c.FirstName, c.Subscriptions)
		}
		w = p.do("POST", p.path(), "email=nope&first_name=%3Cb%3E", "Content-Type", encoded)
		if w.Code != 400 || !strings.Contains(w.Body.String(), "email must be an email address") {
			t.Errorf("a bad address: %d %s", w.Code, w.Body)
		}
		w = p.do("POST", p.path(), "--x\r\nContent-Disposition: form-data; name=\"email\"\r\n\r\neve@example.com\r\n--x--\r\n", "Content-Type", "multipart/form-data; boundary=x", "Accept", "application/json")
		if w.Code != 200 || !strings.Contains(w.Body.String(), "accepted") {
			t.Errorf("multipart: %d %s", w.Code, w.Body)
		}
		for name, tt := range map[string]struct {
			method, path, body, typ string
			status                  int
			code                    string
		}{
			"unknown form":       {"POST", "/_q/f/000000000000", "{}", "", 404, "NOT_FOUND"},
			"bad slug":           {"GET", "/_q/f/%00/config", "", "", 404, "NOT_FOUND"},
			"no token":           {"POST", p.path(), `{"fields": {"email": "x@example.com"}}`, "", 400, "INVALID_INPUT"},
			"not JSON":           {"POST", p.path(), `nope`, "application/json", 400, "INVALID_INPUT"},
			"an array":           {"POST", p.path(), `[]`, "application/json", 400, "INVALID_INPUT"},
			"wrong types":        {"POST", p.path(), `{"fields": [], "consents": {"newsletter": "yes"}, "token": 5}`, "", 400, "INVALID_INPUT"},
			"media type":         {"POST", p.path(), `x`, "text/csv", 415, "UNSUPPORTED_MEDIA_TYPE"},
			"too large":          {"POST", p.path(), `{"fields": {"email": "` + strings.Repeat("x", forms.MaxBody) + `"}}`, "", 413, "PAYLOAD_TOO_LARGE"},
			"method":             {"PUT", p.path(), ``, "", 405, "METHOD_NOT_ALLOWED"},
			"method of a config": {"POST", p.path() + "/config", ``, "", 405, "METHOD_NOT_ALLOWED"},
		} {
			p.ip = "192.0.2." + fmt.Sprint(len(name)+20)
			if w := p.do(tt.method, tt.path, tt.body, "Content-Type", tt.typ); w.Code != tt.status || code(w) != tt.code {
				t.Errorf("%s: %d %s, want %d %s", name, w.Code, w.Body, tt.status, tt.code)
			}
		}
		_, err = forms.Unpublish(t.Context(), p.DB, p.Tenant, p.form.ID, p.now)
		p.ok(err)
		if w := p.do("GET", p.path()+"/config", ""); w.Code != 404 {
			t.Errorf("a draft: %d", w.Code)
		}
	})
}

func TestOriginsOfFormsAreExact(t *testing.T) {
	eachForm(t, forms.Change{DoubleOptIn: new(false), Origins: &[]string{"https://www.example.com"}, SuccessMode: new(forms.Redirect), RedirectURL: new("https://www.example.com/thanks")}, func(p *formFixture) {
		good := "https://www.example.com"
		w := p.do("OPTIONS", p.path(), "", "Origin", good, "Access-Control-Request-Method", "POST")
		if w.Code != 204 || w.Header().Get("Access-Control-Allow-Origin") != good || w.Header().Get("Vary") != "Origin" || w.Header().Get("Access-Control-Allow-Headers") != "Content-Type" ||
			w.Header().Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("preflight: %d %v", w.Code, w.Header())
		}
		for _, origin := range []string{"", "null", "https://example.com", "http://www.example.com", "https://www.example.com.evil.org"} {
			w := p.do("POST", p.path(), p.body("ann@example.com"), "Origin", origin)
			if w.Code != 403 || code(w) != "ORIGIN_NOT_ALLOWED" || w.Header().Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("from %q: %d %s", origin, w.Code, w.Body)
			}
		}
		w = p.do("POST", p.path(), p.body("ann@example.com"), "Origin", good)
		if w.Code != 200 || w.Header().Get("Access-Control-Allow-Origin") != good || !strings.Contains(w.Body.String(), `"redirect_url":"https://www.example.com/thanks"`) {
			t.Errorf("from %s: %d %s", good, w.Code, w.Body)
		}
		w = p.do("POST", p.path(), "email=bob%40example.com", "Origin", good, "Content-Type", encoded)
		if w.Code != 303 || w.Header().Get("Location") != "https://www.example.com/thanks" {
			t.Errorf("without the script: %d %s", w.Code, w.Header().Get("Location"))
		}
	})
}

func TestSubmissionsAreLimited(t *testing.T) {
	eachForm(t, forms.Change{DoubleOptIn: new(false)}, func(p *formFixture) {
		spam := fmt.Sprintf(`{"fields": {"email": "x@example.com"}, "honeypot": "x", "token": %q}`, p.token())
		for n := range 11 {
			w := p.do("POST", p.path(), spam)
			if want := map[bool]int{true: 200, false: 429}[n < 10]; w.Code != want || n < 10 && !strings.Contains(w.Body.String(), `"accepted"`) || n == 10 && (w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), `"statusCode":429`)) {
				t.Errorf("submission %d: %d %s", n+1, w.Code, w.Body)
			}
		}
		p.ip = "192.0.2.8"
		for n := range 4 {
			w := p.do("POST", p.path(), "email=x%40example.com", "Content-Type", encoded)
			if want := map[bool]int{true: 200, false: 429}[n < 3]; w.Code != want {
				t.Errorf("submission %d without a token: %d", n+1, w.Code)
			}
		}
	})
}

// Scanners follow the links of mails, so only the button of the page confirms.
func TestOnlyTheButtonConfirms(t *testing.T) {
	eachForm(t, forms.Change{DoubleOptIn: new(true), ConfirmRedirectURL: new("https://www.example.com/welcome")}, func(p *formFixture) {
		w := p.do("POST", p.path(), p.body("ann@example.com"))
		if w.Code != 200 || !strings.Contains(w.Body.String(), `"confirmation_sent"`) {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		var message id.Message
		p.ok(p.DB.QueryRow(t.Context(), `SELECT message_id FROM form_submission WHERE tenant_id = $1`, p.Tenant).Scan(&message))
		signed := func(k track.Kind) string {
			s, err := p.keys.Signer(p.Tenant, message)
			p.ok(err)
			return "/_q/d/" + string(s.Append(nil, k, 0, ""))
		}
		status := func() contact.Status {
			c, err := contact.ByEmail(t.Context(), p.DB, p.Tenant, "ann@example.com")
			p.ok(err)
			return c.Status
		}
		for _, method := range []string{"GET", "HEAD"} {
			w := p.do(method, signed(track.Confirm), "")
			if w.Code != 200 || method == "GET" && (!strings.Contains(w.Body.String(), `method="post"`) || !strings.Contains(w.Body.String(), "Send me news")) || status() != contact.Pending {
				t.Errorf("%s: %d %s, the contact is %s", method, w.Code, w.Body, status())
			}
		}
		for _, path := range []string{signed(track.Unsubscribe), "/_q/d/nope"} {
			for _, method := range []string{"GET", "POST"} {
				if w := p.do(method, path, ""); w.Code != 404 || status() != contact.Pending {
					t.Errorf("%s %s: %d", method, path, w.Code)
				}
			}
		}
		for range 2 {
			w := p.do("POST", signed(track.Confirm), url.Values{"from": {"page"}}.Encode(), "Content-Type", encoded)
			if w.Code != 303 || w.Header().Get("Location") != "https://www.example.com/welcome" || status() != contact.Active {
				t.Errorf("%d %s, the contact is %s", w.Code, w.Body, status())
			}
		}
		if w := p.do("GET", signed(track.Confirm), ""); w.Code != 200 || strings.Contains(w.Body.String(), "<form") {
			t.Errorf("afterwards: %d %s", w.Code, w.Body)
		}
	})
}

func TestTheScriptOfFormsIsSmall(t *testing.T) {
	eachForm(t, forms.Change{DoubleOptIn: new(false)}, func(p *formFixture) {
		w := p.do("GET", "/_q/f.js", "")
		if w.Code != 200 || w.Body.Len() > 10<<10 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/javascript") {
			t.Errorf("%d, %d bytes", w.Code, w.Body.Len())
		}
		if strings.Contains(w.Body.String(), "innerHTML") || strings.Contains(w.Body.String(), "eval(") {
			t.Error("the script uses what a content security policy forbids")
		}
		if w := p.do("GET", "/_q/f.js", "", "If-None-Match", w.Header().Get("ETag")); w.Code != 304 {
			t.Errorf("again: %d", w.Code)
		}
	})
}
