package public_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/content/mailbox"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/public"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const password = "correct horse battery staple"

// hostile is a mail with all kinds of attacks.
const hostile = "From: \"<script>alert(1)</script>\" <a@example.com>\r\nTo: ann@example.org\r\n" +
	"Subject: </title><script>alert(2)</script>\r\nX-Odd: <img src=x onerror=alert(3)>\r\nMIME-Version: 1.0\r\n" +
	"Content-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\n" +
	"</pre><script>alert(4)</script> see https://example.com/a?b=1&c=2. javascript:alert(5)\r\n" +
	"--b\r\nContent-Type: text/html\r\n\r\n<!doctype html><html><body><script>alert(6)</script><img src=\"http://example.com/p.gif\"><a href=\"http://example.com/\">x</a></body></html>\r\n--b--\r\n"

// mailboxFixture is the page with two tenants, of which ann is a member of one.
type mailboxFixture struct {
	*testing.T
	db          *sqldb.DB
	page        *public.Mailbox
	server      *httptest.Server
	client      *http.Client
	mine, other tenant.Tenant
	send        id.Send // the send that delivered mail belongs to
}

func newSite(t *testing.T, db *sqldb.DB, open bool) *mailboxFixture {
	t.Helper()
	ctx := t.Context()
	box, err := secret.NewBox(make([]byte, secret.KeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	s := &mailboxFixture{T: t, db: db}
	for slug, to := range map[string]*tenant.Tenant{"acme": &s.mine, "other": &s.other} {
		if *to, err = tenant.Create(ctx, db, slug, strings.ToUpper(slug), "", noon); err != nil {
			t.Fatal(err)
		}
	}
	passwords := auth.NewPasswords()
	hash, err := passwords.Hash(ctx, password)
	if err != nil {
		t.Fatal(err)
	}
	ann, err := auth.CreateUser(ctx, db, "ann@example.org", "Ann", hash, noon)
	if err != nil {
		t.Fatal(err)
	}
	if err := auth.AddMember(ctx, db, s.mine.ID, ann.ID, auth.Viewer, auth.BySystem, noon); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	mux := http.NewServeMux()
	s.server = httptest.NewServer(mux)
	t.Cleanup(s.server.Close)
	base, err := url.Parse(s.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	s.page = &public.Mailbox{
		Sends: broadcast.Labeler(),
		DB:    db, Cursors: endpoint.NewCursors(box), BaseURL: base, Log: log, Now: func() time.Time { return noon },
		Login:    &auth.Login{DB: db, Passwords: passwords, Limits: ratelimit.New(db), BaseURL: base, Log: log},
		ClientIP: func(*http.Request) netip.Addr { return netip.MustParseAddr("192.0.2.1") },
	}
	if open {
		s.page.Open = []tenant.Tenant{s.mine}
	}
	s.page.Routes(mux)
	jar, _ := cookiejar.New(nil)
	s.client = &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return s
}

// deliver puts a mail into a tenant's mailbox and returns its path.
func (s *mailboxFixture) deliver(t tenant.Tenant, raw string, at time.Time) string {
	s.Helper()
	if err := mailbox.Deliver(s.Context(), s.db, mailbox.Delivery{Tenant: t.ID, Lane: id.New[id.Lane](), Send: s.send, From: "b@bounce.example.com", To: "ann@example.org", Raw: []byte(raw)}, at); err != nil {
		s.Fatal(err)
	}
	list, _, err := mailbox.List(s.Context(), s.db, t.ID, mailbox.Query{Limit: 1})
	if err != nil {
		s.Fatal(err)
	}
	return "/mailbox/" + t.Slug + "/" + list[0].ID.String()
}

func (s *mailboxFixture) get(path string, change ...func(*http.Request)) (*http.Response, string) {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.server.URL+path, nil)
	if err != nil {
		s.Fatal(err)
	}
	return s.do(req, change...)
}

func (s *mailboxFixture) post(path string, form url.Values, change ...func(*http.Request)) (*http.Response, string) {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), http.MethodPost, s.server.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return s.do(req, change...)
}

func (s *mailboxFixture) do(req *http.Request, change ...func(*http.Request)) (*http.Response, string) {
	s.Helper()
	for _, c := range change {
		c(req)
	}
	res, err := s.client.Do(req)
	if err != nil {
		s.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		s.Fatal(err)
	}
	return res, string(body)
}

func TestTheMailboxNeedsALogin(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newSite(t, db, false)
		mine := s.deliver(s.mine, "Subject: for Ann\r\n\r\nhello", noon)
		theirs := s.deliver(s.other, "Subject: for others\r\n\r\nhello", noon)
		for _, path := range []string{"/mailbox/", mine, mine + "/html", mine + "/raw"} {
			if res, body := s.get(path); res.StatusCode != http.StatusUnauthorized || strings.Contains(body, "for Ann") || !strings.Contains(body, `type="password"`) {
				t.Errorf("GET %s without a session = %d %s; want the login form", path, res.StatusCode, body)
			}
		}
		login := url.Values{"email": {"ann@example.org"}, "password": {"wrong"}}
		if res, body := s.post("/mailbox/sign-in", login); res.StatusCode != http.StatusUnauthorized || !strings.Contains(body, `role="alert"`) || len(res.Cookies()) > 0 {
			t.Errorf("a wrong password = %d %s", res.StatusCode, body)
		}
		login.Set("password", password)
		foreign := func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }
		if res, _ := s.post("/mailbox/sign-in", login, foreign); res.StatusCode != http.StatusForbidden || len(res.Cookies()) > 0 {
			t.Errorf("a login from another site = %d, %v", res.StatusCode, res.Cookies())
		}
		res, _ := s.post("/mailbox/sign-in", login)
		if res.StatusCode != http.StatusSeeOther || len(res.Cookies()) != 1 || !res.Cookies()[0].HttpOnly {
			t.Fatalf("the right password = %d, %v", res.StatusCode, res.Cookies())
		}
		if res, body := s.get("/mailbox/"); res.StatusCode != http.StatusOK || !strings.Contains(body, "for Ann") || strings.Contains(body, "for others") {
			t.Errorf("the list = %d %s", res.StatusCode, body)
		}
		if res, body := s.get(mine); res.StatusCode != http.StatusOK || !strings.Contains(body, "hello") {
			t.Errorf("GET %s = %d %s", mine, res.StatusCode, body)
		}
		for _, path := range []string{theirs, theirs + "/html", theirs + "/raw", strings.Replace(theirs, "/other/", "/acme/", 1), "/mailbox/?tenant=other", "/mailbox/acme/nothing", "/mailbox/x", "/mailbox/?cursor=x"} {
			if res, body := s.get(path); res.StatusCode != http.StatusNotFound || strings.Contains(body, "for others") {
				t.Errorf("GET %s = %d %s; want 404", path, res.StatusCode, body)
			}
		}
		if res, _ := s.post("/mailbox/sign-out", nil, foreign); res.StatusCode != http.StatusForbidden {
			t.Errorf("a logout from another site = %d", res.StatusCode)
		}
		if res, _ := s.post("/mailbox/sign-out", nil); res.StatusCode != http.StatusSeeOther {
			t.Errorf("sign-out = %d", res.StatusCode)
		}
		if res, _ := s.get("/mailbox/"); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("the list after sign-out = %d", res.StatusCode)
		}
	})
}

func TestTheDemoIsOpenOnThisMachineOnly(t *testing.T) {
	t.Parallel()
	s := newSite(t, dbtest.One(t), true)
	mine := s.deliver(s.mine, "Subject: for Ann\r\n\r\nhello", noon)
	theirs := s.deliver(s.other, "Subject: for others\r\n\r\nhello", noon)
	as := func(host string) func(*http.Request) { return func(r *http.Request) { r.Host = host } }
	for host, want := range map[string]int{
		"127.0.0.1:8080": 200, "localhost:8080": 200, "LOCALHOST": 200, "[::1]:8080": 200, "[::1]": 200, "demo.localhost": 200,
		"evil.example": 401, "localhost.evil.example": 401, "192.0.2.1": 401, "10.0.0.1:8080": 401, "127.0.0.1.evil.example:8080": 401,
	} {
		if res, body := s.get("/mailbox/", as(host)); res.StatusCode != want || strings.Contains(body, "for Ann") != (want == 200) {
			t.Errorf("Host %s = %d, want %d", host, res.StatusCode, want)
		}
		if res, _ := s.get(mine+"/raw", as(host)); res.StatusCode != want {
			t.Errorf("a message at Host %s = %d, want %d", host, res.StatusCode, want)
		}
	}
	for _, name := range []string{"X-Forwarded-For", "Forwarded", "Via"} {
		if res, _ := s.get("/mailbox/", func(r *http.Request) { r.Header.Set(name, "x") }); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("through a proxy that says %s = %d, want 401", name, res.StatusCode)
		}
	}
	outside := httptest.NewRequest("GET", "http://localhost/mailbox/", nil)
	outside = outside.WithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 8080}))
	w := httptest.NewRecorder()
	s.server.Config.Handler.ServeHTTP(w, outside)
	if w.Code != http.StatusUnauthorized {
		t.Errorf("on an address that others reach = %d, want 401", w.Code)
	}
	if res, _ := s.get(theirs); res.StatusCode != http.StatusNotFound {
		t.Errorf("the other tenant's mail = %d, want 404", res.StatusCode)
	}
}

func TestNothingOfAMailRunsOnOurPages(t *testing.T) {
	t.Parallel()
	s := newSite(t, dbtest.One(t), true)
	path := s.deliver(s.mine, hostile, noon)
	for _, page := range []string{"/mailbox/", "/mailbox/?search=%3Cscript%3Ealert%3C/script%3E", path, path + "?part=text", path + "?part=headers", path + "?part=source", path + "?part=nonsense"} {
		res, body := s.get(page)
		if res.StatusCode != http.StatusOK {
			t.Errorf("GET %s = %d", page, res.StatusCode)
		}
		csp := res.Header.Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || !strings.Contains(csp, "frame-ancestors 'none'") {
			t.Errorf("GET %s has Content-Security-Policy %q", page, csp)
		}
		for z := html.NewTokenizer(strings.NewReader(body)); ; {
			kind := z.Next()
			if kind == html.ErrorToken {
				break
			}
			token := z.Token()
			for _, a := range token.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "style" || strings.HasPrefix(a.Val, "javascript:") {
					t.Errorf("GET %s holds %s", page, token)
				}
				if token.Data == "script" && a.Key == "src" && !strings.HasSuffix(a.Val, "live.js") {
					t.Errorf("GET %s holds %s", page, token)
				}
			}
			if kind == html.StartTagToken && token.Data == "script" && len(token.Attr) == 0 || token.Data == "img" {
				t.Errorf("GET %s holds %s", page, token)
			}
		}
	}
	if _, body := s.get(path); !strings.Contains(body, `sandbox="allow-scripts allow-popups allow-popups-to-escape-sandbox"`) {
		t.Errorf("the frame is not in a sandbox: %s", body)
	}
	if _, body := s.get(path + "?part=text"); !strings.Contains(body, `<a href="https://example.com/a?b=1&amp;c=2" target="_blank" rel="noopener noreferrer">`) {
		t.Errorf("web addresses in the text lead nowhere: %s", body)
	}
}

func TestTheFrameShowsTheMailAndRunsNoScriptOfIt(t *testing.T) {
	t.Parallel()
	s := newSite(t, dbtest.One(t), true)
	path := s.deliver(s.mine, hostile, noon)
	res, body := s.get(path + "/html")
	csp := res.Header.Get("Content-Security-Policy")
	_, rest, _ := strings.Cut(body, "<script>")
	ours, _, _ := strings.Cut(rest, "</script>")
	sum := sha256.Sum256([]byte(ours))
	script := "script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "';"
	if !strings.HasPrefix(csp, "sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox; default-src 'none'; "+script) ||
		strings.Count(csp, "script-src") != 1 || strings.Contains(csp, "allow-same-origin") {
		t.Errorf("Content-Security-Policy of the frame = %q, want %q in it", csp, script)
	}
	if !strings.Contains(csp, "img-src http: https: data:") || res.Header.Get("X-Content-Type-Options") != "nosniff" || res.Header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("headers of the frame = %v", res.Header)
	}
	if !strings.HasPrefix(body, `<!doctype html><base target="_blank"><script>`) || !strings.Contains(body, "</script><html>") || !strings.Contains(body, `<img src="http://example.com/p.gif">`) {
		t.Errorf("the frame = %s", body)
	}
	res, body = s.get(path + "/raw")
	if body != hostile || res.Header.Get("Content-Type") != "text/plain; charset=utf-8" || res.Header.Get("X-Content-Type-Options") != "nosniff" ||
		!strings.HasPrefix(res.Header.Get("Content-Security-Policy"), "sandbox;") {
		t.Errorf("the raw mail = %v %q", res.Header, body)
	}
}

func TestOlderMailIsOnTheNextPage(t *testing.T) {
	t.Parallel()
	s := newSite(t, dbtest.One(t), true)
	for i := range 60 {
		s.deliver(s.mine, "Subject: n\r\n\r\nx", noon.Add(time.Duration(i)*time.Second))
	}
	count := func(body string) int { return strings.Count(body, "<li") - strings.Count(body, "<link") }
	res, body := s.get("/mailbox/?search=N")
	if res.StatusCode != http.StatusOK || count(body) != 50 || !strings.Contains(body, "data-live") || !strings.Contains(body, `http-equiv="refresh"`) {
		t.Fatalf("the first page = %d with %d mails", res.StatusCode, count(body))
	}
	_, rest, _ := strings.Cut(body, `<a href="./?cursor=`)
	link, _, ok := strings.Cut(rest, `" rel="next"`)
	if !ok {
		t.Fatalf("no link to older mail in %s", body)
	}
	res, body = s.get("/mailbox/?cursor=" + html.UnescapeString(link))
	if res.StatusCode != http.StatusOK || count(body) != 10 || strings.Contains(body, "data-live") || !strings.Contains(body, ">Newest<") {
		t.Errorf("the second page = %d with %d mails: %s", res.StatusCode, count(body), body)
	}
	if _, body = s.get("/mailbox/?still=1"); strings.Contains(body, "data-live") || strings.Contains(body, `http-equiv="refresh"`) {
		t.Error("a page without polling polls")
	}
	if res, body := s.get("/mailbox/?search=nothing%00such%ff"); res.StatusCode != http.StatusOK || !strings.Contains(body, "Nothing found") {
		t.Errorf("a search for nothing = %d %s", res.StatusCode, body)
	}
	for _, file := range []string{"style.css", "live.js"} {
		if res, body := s.get("/mailbox/" + file); res.StatusCode != http.StatusOK || body == "" {
			t.Errorf("GET %s = %d", file, res.StatusCode)
		}
	}
}
