package public_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/public"
	"github.com/packetboat/packetboat/internal/ratelimit"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
	"github.com/packetboat/packetboat/internal/tenant"
)

const ownWord = "purple otter skates home"

// accountFixture is a browser at the pages about logins.
type accountFixture struct {
	*testing.T
	db     *sqldb.DB
	login  *auth.Login
	base   *url.URL
	client *http.Client
	logs   bytes.Buffer
}

func newVisit(t *testing.T, db *sqldb.DB) *accountFixture {
	v := &accountFixture{T: t, db: db}
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	var err error
	if v.base, err = url.Parse(server.URL); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(&v.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	v.login = &auth.Login{DB: db, Passwords: auth.NewPasswords(), Limits: ratelimit.New(db), BaseURL: v.base, Log: log}
	(&public.Accounts{
		DB: db, Login: v.login, BaseURL: v.base, Log: log, Now: func() time.Time { return noon },
		ClientIP: func(*http.Request) netip.Addr { return netip.MustParseAddr("192.0.2.1") },
	}).Routes(mux)
	v.clearCookies()
	return v
}

// clearCookies replaces the browser by one without cookies.
func (v *accountFixture) clearCookies() {
	jar, _ := cookiejar.New(nil)
	v.client = &http.Client{Jar: jar}
}

// shownPage is a page that was loaded.
type shownPage struct {
	*http.Response
	body string
	form url.Values // the unchanged values of the form
}

func (v *accountFixture) do(r *http.Request) shownPage {
	v.Helper()
	res, err := v.client.Do(r)
	if err != nil {
		v.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		v.Fatal(err)
	}
	s := shownPage{res, string(b), url.Values{}}
	v.checkPage(&s)
	return s
}

// checkPage checks what all pages have in common, and reads the form.
func (v *accountFixture) checkPage(s *shownPage) {
	v.Helper()
	if got := s.Header.Get("Referrer-Policy"); got != "no-referrer" {
		v.Errorf("%s has the referrer policy %q", s.Request.URL.Path, got)
	}
	style := s.body[strings.Index(s.body, "<style>")+len("<style>") : strings.Index(s.body, "</style>")]
	sum := sha256.Sum256([]byte(style))
	if policy := s.Header.Get("Content-Security-Policy"); !strings.Contains(policy, base64.StdEncoding.EncodeToString(sum[:])) || strings.Contains(policy, "unsafe") || strings.Contains(s.body, "<script") {
		v.Errorf("%s has the policy %q", s.Request.URL.Path, policy)
	}
	labels, ids := map[string]bool{}, map[string]bool{}
	var inputs []map[string]string
	z := html.NewTokenizer(strings.NewReader(s.body))
	for tt := z.Next(); tt != html.ErrorToken; tt = z.Next() {
		token := z.Token()
		a := map[string]string{}
		for _, attr := range token.Attr {
			a[attr.Key] = attr.Val
		}
		if token.Type == html.EndTagToken {
			continue
		}
		labels[a["for"]], ids[a["id"]] = true, true
		if token.Data == "input" {
			inputs = append(inputs, a)
			s.form.Set(a["name"], a["value"])
		}
	}
	for _, a := range inputs {
		if a["type"] == "hidden" {
			continue
		}
		if !labels[a["id"]] || a["autocomplete"] == "" {
			v.Errorf("%s: the field %q has no label or says nothing to password managers", s.Request.URL.Path, a["name"])
		}
		for id := range strings.FieldsSeq(a["aria-describedby"]) {
			if !ids[id] {
				v.Errorf("%s: the field %q is described by %q, which is not there", s.Request.URL.Path, a["name"], id)
			}
		}
		if a["type"] == "password" && a["value"] != "" {
			v.Errorf("%s shows a password", s.Request.URL.Path)
		}
	}
}

func (v *accountFixture) get(link string) shownPage {
	v.Helper()
	r, err := http.NewRequestWithContext(v.Context(), "GET", link, nil)
	if err != nil {
		v.Fatal(err)
	}
	return v.do(r)
}

// send fills in a form and sends it like a browser to a site without TLS.
func (v *accountFixture) send(page shownPage, fields url.Values, headers ...string) shownPage {
	v.Helper()
	body := url.Values{}
	for _, from := range []url.Values{page.form, fields} {
		for name := range from {
			body.Set(name, from.Get(name))
		}
	}
	path := v.base.JoinPath(page.Request.URL.Path).String()
	r, err := http.NewRequestWithContext(v.Context(), "POST", path, strings.NewReader(body.Encode()))
	if err != nil {
		v.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "null") // the page sends no referrer
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return v.do(r)
}

func (v *accountFixture) signedInAs() string {
	v.Helper()
	for _, c := range v.client.Jar.Cookies(v.base) {
		if c.Name == auth.CookieName {
			s, err := auth.FindSession(v.Context(), v.db, c.Value, noon)
			if err != nil {
				v.Fatal(err)
			}
			return s.User.Email
		}
	}
	return ""
}

func TestTheFirstUserSignsUpOnAPage(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		v := newVisit(t, db)
		if page := v.get(auth.SetupLink(v.base, "forged")); page.StatusCode != 400 || page.form.Has("email") {
			t.Errorf("a forged link shows %d %s", page.StatusCode, page.body)
		}
		token, err := auth.SetupToken(t.Context(), db, noon)
		if err != nil {
			t.Fatal(err)
		}
		page := v.get(auth.SetupLink(v.base, token))
		if page.StatusCode != 200 || page.form.Get("setup_token") != token {
			t.Fatalf("the link shows %d %s", page.StatusCode, page.body)
		}
		wrong := url.Values{"tenant_name": {`<b>"Acme"`}, "tenant_slug": {"A"}, "name": {"Ann"}, "email": {"nope"}, "password": {"short"}}
		refused := v.send(page, wrong)
		if refused.StatusCode != 400 || strings.Count(refused.body, `aria-invalid="true"`) != 3 || !strings.Contains(refused.body, `role="alert"`) ||
			refused.form.Get("tenant_name") != `<b>"Acme"` || strings.Contains(refused.body, "<b>") || refused.form.Get("setup_token") != token {
			t.Errorf("a form with mistakes shows %d %s", refused.StatusCode, refused.body)
		}
		right := url.Values{"tenant_slug": {"acme"}, "email": {"ann@example.org"}, "password": {ownWord}}
		for name, headers := range map[string][]string{
			"another site":           {"Origin", "https://evil.example"},
			"another site, over TLS": {"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"},
		} {
			if got := v.send(refused, right, headers...); got.StatusCode != 403 {
				t.Errorf("a form of %s answers %d", name, got.StatusCode)
			}
		}
		if got := v.send(refused, url.Values{"form": {strings.Repeat("A", 26)}}); got.StatusCode != 403 {
			t.Errorf("a form that does not repeat the cookie answers %d", got.StatusCode)
		}
		done := v.send(refused, right)
		if done.StatusCode != 200 || done.Request.URL.Path != "/welcome" || v.signedInAs() != "ann@example.org" ||
			!strings.Contains(done.body, `href="docs"`) || !strings.Contains(done.body, "apikey create --tenant acme") || strings.Contains(done.body, "mailbox/") {
			t.Errorf("signing up ends at %s with %d %s", done.Request.URL, done.StatusCode, done.body)
		}
		if again := v.get(auth.SetupLink(v.base, token)); again.StatusCode != 403 || !strings.Contains(again.body, "Sign-up is off") {
			t.Errorf("the link again shows %d %s", again.StatusCode, again.body)
		}
		if strings.Contains(v.logs.String(), token) {
			t.Errorf("the log holds the token: %s", v.logs.String())
		}
	})
}

func TestAPasswordIsChosenOnAPage(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		v := newVisit(t, db)
		u, err := auth.CreateUser(t.Context(), db, "ann@example.org", "Ann", "", noon)
		if err != nil {
			t.Fatal(err)
		}
		token, err := auth.ResetToken(t.Context(), db, u.ID, noon)
		if err != nil {
			t.Fatal(err)
		}
		page := v.get(auth.ResetLink(v.base, token))
		if page.form.Get("email") != u.Email {
			t.Errorf("the page does not say whose login it is: %s", page.body)
		}
		if got := v.send(page, url.Values{"password": {"password123"}}); got.StatusCode != 400 || !strings.Contains(got.body, "too easy to guess") {
			t.Errorf("an easy password answers %d %s", got.StatusCode, got.body)
		}
		done := v.send(page, url.Values{"password": {ownWord}}, "Origin", "", "Sec-Fetch-Site", "same-origin")
		if done.Request.URL.Path != "/welcome" || !strings.Contains(done.body, "password is saved") {
			t.Errorf("choosing ends at %s with %s", done.Request.URL, done.body)
		}
		if _, err := v.login.SignIn(t.Context(), u.Email, ownWord, netip.MustParseAddr("192.0.2.2"), noon); err != nil {
			t.Errorf("the new password: %v", err)
		}
		if got := v.send(page, url.Values{"password": {ownWord}}); got.StatusCode != 400 || !strings.Contains(got.body, "not valid any more") {
			t.Errorf("the form again answers %d %s", got.StatusCode, got.body)
		}
		for range 20 { // the limits are those of the operation
			if got := v.send(page, url.Values{"token": {"x"}}); got.StatusCode == 429 {
				if got.Header.Get("Retry-After") == "" {
					t.Error("a 429 does not say when to come back")
				}
				return
			}
		}
		t.Error("forged forms are never limited")
	})
}

func TestAnInvitationIsAcceptedOnAPage(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		v := newVisit(t, db)
		hash, err := v.login.Passwords.Hash(t.Context(), ownWord)
		if err != nil {
			t.Fatal(err)
		}
		link := func(slug, email string) string {
			t.Helper()
			in, err := tenant.Create(t.Context(), db, slug, "The "+slug, "", noon)
			if err != nil {
				t.Fatal(err)
			}
			p := auth.Principal{Tenant: in.ID, TenantSlug: slug, Kind: auth.KindSession, Role: auth.Owner, UserName: "Olga"}
			_, link, err := v.login.Invite(t.Context(), p, email, auth.Editor, noon)
			if err != nil {
				t.Fatal(err)
			}
			return link
		}
		page := v.get(link("acme", "bob@example.org"))
		if !strings.Contains(page.body, "The acme") || !strings.Contains(page.body, "editor") {
			t.Errorf("the page does not say to what: %s", page.body)
		}
		done := v.send(page, url.Values{"name": {"Bob"}, "password": {"seven violet tractors"}})
		if done.Request.URL.Path != "/welcome" || v.signedInAs() != "bob@example.org" || !regexp.MustCompile(`The acme</strong> \(acme\), as editor`).MatchString(done.body) {
			t.Errorf("accepting ends at %s with %s", done.Request.URL, done.body)
		}
		// A person whose login is proven gives the password they have.
		v.clearCookies()
		ann, err := auth.CreateUser(t.Context(), db, "ann@example.org", "Ann", hash, noon)
		if err != nil {
			t.Fatal(err)
		}
		page = v.get(link("other", ann.Email))
		if page.form.Has("name") || !strings.Contains(page.body, `autocomplete="current-password"`) {
			t.Errorf("a proven login is asked %s", page.body)
		}
		if got := v.send(page, url.Values{"password": {"seven violet tractors"}}); got.StatusCode != 401 || !strings.Contains(got.body, `aria-invalid="true"`) || v.signedInAs() != "" {
			t.Errorf("another password answers %d %s", got.StatusCode, got.body)
		}
		if done := v.send(page, url.Values{"password": {ownWord}}); v.signedInAs() != ann.Email {
			t.Errorf("the right one ends at %s with %s", done.Request.URL, done.body)
		}
		// A user whose login is not proven chooses a password, and sees what that means.
		v.clearCookies()
		page = v.get(link("third", "bob@example.org"))
		if page.form.Get("name") != "Bob" || !strings.Contains(page.body, "you keep your other workspaces") {
			t.Errorf("a login that is not proven is asked %s", page.body)
		}
	})
}
