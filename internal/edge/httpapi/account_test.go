package httpapi_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// accountTest is the API with real credentials, on a database with the tenants acme and other.
type accountTest struct {
	t      *testing.T
	db     *sqldb.DB
	router *endpoint.Router
	login  *auth.Login
	acme   tenant.Tenant
	now    time.Time
}

const testPassword = "purple otter skates home"

func eachAccount(t *testing.T, f func(t *testing.T, o *accountTest)) {
	t.Helper()
	sequential(t)
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) { f(t, newAccountTest(t, db)) })
}

func newAccountTest(t *testing.T, db *sqldb.DB) *accountTest {
	t.Helper()
	o := &accountTest{t: t, db: db, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	base, err := url.Parse("https://mail.example.org")
	if err != nil {
		t.Fatal(err)
	}
	clock := func() time.Time { return o.now }
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	limits := ratelimit.New(db)
	api := newAPI(t, db, base, clock, log)
	api.Login.Limits, api.Limits = limits, limits
	o.login = api.Login
	o.router = endpoint.New(endpoint.Options{
		Gate: api.Gate, Limiter: limits, DB: db, BaseURL: base, Now: clock, Log: log,
	})
	api.Register(o.router)
	for _, slug := range []string{"other", "acme"} {
		if o.acme, err = tenant.Create(t.Context(), db, slug, "The "+slug, "UTC", o.now, sender.Newsletter); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// recordedResponse is an answer with its decoded body.
type recordedResponse struct {
	*httptest.ResponseRecorder
	body map[string]any
}

// code returns the code of a refusal.
func (a recordedResponse) code() string {
	e, _ := a.body["error"].(map[string]any)
	s, _ := e["code"].(string)
	return s
}

// call sends a request; caller is an API key or the cookie of a session.
func (o *accountTest) call(caller, route string, body any) recordedResponse {
	o.t.Helper()
	method, path, _ := strings.Cut(route, " ")
	if !strings.HasPrefix(path, "/t/") && !strings.HasPrefix(path, "/api/auth/") {
		path = "/t/acme/api" + path
	}
	var text string
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			o.t.Fatal(err)
		}
		text = string(b)
	}
	r := httptest.NewRequest(method, path, strings.NewReader(text))
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if strings.HasPrefix(caller, "pbk_") {
		r.Header.Set("X-API-Key", caller)
	} else if caller != "" {
		r.AddCookie(&http.Cookie{Name: auth.CookieName, Value: caller})
	}
	a := recordedResponse{ResponseRecorder: httptest.NewRecorder()}
	o.router.ServeHTTP(a, r)
	if a.Body.Len() > 0 {
		if err := json.Unmarshal(a.Body.Bytes(), &a.body); err != nil {
			o.t.Fatalf("%s: %v in %.200s", route, err, a.Body)
		}
	}
	return a
}

// want sends a request and checks the status and the error code of the answer.
func (o *accountTest) want(status int, code, caller, route string, body any) recordedResponse {
	o.t.Helper()
	a := o.call(caller, route, body)
	if a.Code != status || a.code() != code {
		o.t.Errorf("%s = %d %s, want %d %s\n%.400s", route, a.Code, a.code(), status, code, a.Body)
	}
	return a
}

// memberCookie creates a member of acme and returns the cookie of a session.
func (o *accountTest) memberCookie(name string, role auth.Role) string {
	o.t.Helper()
	hash, err := o.login.Passwords.Hash(o.t.Context(), testPassword)
	if err != nil {
		o.t.Fatal(err)
	}
	u, err := auth.CreateUser(o.t.Context(), o.db, name+"@example.org", name, hash, o.now)
	if err != nil {
		o.t.Fatal(err)
	}
	if err := auth.AddMember(o.t.Context(), o.db, o.acme.ID, u.ID, role, auth.BySystem, o.now); err != nil {
		o.t.Fatal(err)
	}
	return o.cookieOf(o.want(200, "", "", "POST /api/auth/login", map[string]any{"email": u.Email, "password": testPassword}))
}

func (o *accountTest) cookieOf(a recordedResponse) string {
	o.t.Helper()
	for _, c := range a.Result().Cookies() {
		if c.Name == auth.CookieName {
			if !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteLaxMode || c.Path != "/" {
				o.t.Errorf("the cookie is %v", c)
			}
			return c.Value
		}
	}
	o.t.Fatalf("no cookie in %v", a.Header())
	return ""
}

func TestSignUpInvitationAndLogout(t *testing.T) {
	eachAccount(t, func(t *testing.T, o *accountTest) {
		token, err := auth.SetupToken(t.Context(), o.db, o.now)
		if err != nil {
			t.Fatal(err)
		}
		up := map[string]any{"tenant_name": "Third", "tenant_slug": "third", "name": "Ann", "email": "ann@example.org", "password": testPassword}
		o.want(400, "INVALID_TOKEN", "", "POST /api/auth/signup", up)
		o.want(400, "INVALID_INPUT", "", "POST /api/auth/signup", map[string]any{"name": 5})
		up["setup_token"] = token
		begun := o.want(201, "", "", "POST /api/auth/signup", up)
		ann := o.cookieOf(begun)
		if m := begun.body["memberships"].([]any)[0].(map[string]any); m["tenant_slug"] != "third" || m["role"] != "owner" {
			t.Errorf("sign-up answered %v", begun.body)
		}
		if got := o.want(200, "", ann, "GET /api/auth/session", nil).body; fmt.Sprint(got["user"]) != fmt.Sprint(begun.body["user"]) || got["expires_at"] != "2026-03-08T12:00:00.000Z" {
			t.Errorf("the session is %v", got)
		}
		invited := o.want(201, "", ann, "POST /t/third/api/users/invite", map[string]any{"email": "bob@example.org", "role": "editor"}).body
		u, err := url.Parse(invited["accept_url"].(string))
		if err != nil || invited["status"] != "invited" {
			t.Fatalf("the invitation is %v", invited)
		}
		bob := o.cookieOf(o.want(200, "", "", "POST /api/auth/invitations/accept", map[string]any{"token": u.Query().Get("token"), "name": "Bob", "password": testPassword}))
		if rows := o.want(200, "", bob, "GET /t/third/api/users", nil).body["data"].([]any); len(rows) != 2 {
			t.Errorf("the members are %v", rows)
		}
		o.want(404, "TENANT_NOT_FOUND", bob, "GET /t/acme/api/users", nil)
		o.want(403, "FORBIDDEN", bob, "DELETE /t/third/api/users/"+invited["id"].(string), nil)
		o.want(204, "", ann, "DELETE /t/third/api/users/"+invited["id"].(string), nil)
		o.want(404, "TENANT_NOT_FOUND", bob, "GET /t/third/api/users", nil)
		o.want(204, "", ann, "POST /api/auth/logout", nil)
		o.want(401, "UNAUTHORIZED", ann, "GET /api/auth/session", nil)
		o.want(401, "INVALID_CREDENTIALS", "", "POST /api/auth/login", map[string]any{"email": "ann@example.org", "password": "wrong"})
		o.want(202, "", "", "POST /api/auth/password/forgot", map[string]any{"email": "nobody@example.org"})
		o.want(400, "INVALID_TOKEN", "", "POST /api/auth/password/reset", map[string]any{"token": "x", "password": testPassword})
	})
}

func TestFailedSignInsAreLimited(t *testing.T) {
	sequential(t)
	t.Parallel()
	o := newAccountTest(t, dbtest.One(t))
	for range 5 {
		o.want(401, "INVALID_CREDENTIALS", "", "POST /api/auth/login", map[string]any{"email": "ann@example.org", "password": "wrong"})
	}
	a := o.want(429, "RATE_LIMITED", "", "POST /api/auth/login", map[string]any{"email": "ann@example.org", "password": "wrong"})
	if a.Header().Get("Retry-After") != "900" || a.body["statusCode"] != 429.0 {
		t.Errorf("Retry-After %q, body %v", a.Header().Get("Retry-After"), a.body)
	}
}

func TestOperationsOnAPIKeys(t *testing.T) {
	eachAccount(t, func(t *testing.T, o *accountTest) {
		admin := o.memberCookie("ann", auth.Admin)
		made := o.want(201, "", admin, "POST /auth/api-keys", map[string]any{"name": " CRM ", "scopes": []string{"lists:read", "contacts:write"}}).body
		key, path := made["key"].(string), "/auth/api-keys/"+made["id"].(string)
		if by := made["created_by"].(map[string]any); made["name"] != "CRM" || made["status"] != "active" || by["name"] != "ann" || !strings.HasPrefix(key, made["prefix"].(string)) {
			t.Errorf("made %v", made)
		}
		o.want(400, "INVALID_SCOPE", admin, "POST /auth/api-keys", map[string]any{"name": "x", "scopes": []string{}})
		o.want(400, "INVALID_SCOPE", admin, "POST /auth/api-keys", map[string]any{"name": "x", "scopes": []string{"moon:walk"}})
		o.want(400, "INVALID_INPUT", admin, "POST /auth/api-keys", map[string]any{"name": "x", "scopes": []string{"lists:read"}, "expires_at": "2020-01-01"})
		o.want(200, "", key, "GET /settings/account", nil)
		o.want(403, "API_KEY_FORBIDDEN", key, "GET /auth/api-keys", nil)
		o.want(401, "UNAUTHORIZED", key, "GET /t/other/api/settings/account", nil)
		got := o.want(200, "", admin, "PATCH "+path, map[string]any{"scopes": []string{"reports:read"}, "expires_at": "2027-01-01"}).body
		if fmt.Sprint(got["scopes"]) != "[reports:read]" || got["expires_at"] != "2027-01-01T00:00:00.000Z" || got["key"] != nil {
			t.Errorf("changed to %v", got)
		}
		o.want(403, "INSUFFICIENT_SCOPE", key, "GET /segments", nil)
		o.want(200, "", admin, "PATCH "+path, map[string]any{"scopes": []string{"lists:read", "segments:read"}})
		o.want(200, "", key, "GET /segments", nil)
		o.want(200, "", admin, "PATCH "+path, map[string]any{"scopes": []string{"reports:read"}})
		if got := o.want(200, "", admin, "PATCH "+path, map[string]any{"expires_at": nil}).body; got["expires_at"] != nil {
			t.Errorf("the expiry was not cleared: %v", got)
		}
		turned := o.want(200, "", admin, "POST "+path+"/rotate", nil).body["key"].(string)
		o.want(401, "UNAUTHORIZED", key, "GET /settings/account", nil)
		o.want(200, "", turned, "GET /settings/account", nil)
		o.want(400, "INVALID_INPUT", admin, "POST "+path+"/rotate", map[string]any{"grace_seconds": 86401})
		o.want(204, "", admin, "DELETE "+path, nil)
		if a := o.want(401, "UNAUTHORIZED", turned, "GET /settings/account", nil); !strings.Contains(a.Body.String(), `"revoked"`) {
			t.Errorf("a revoked key is answered %s", a.Body)
		}
		if rows := o.want(200, "", admin, "GET /auth/api-keys", nil).body["data"].([]any); len(rows) != 1 || rows[0].(map[string]any)["status"] != "revoked" {
			t.Errorf("the list is %v", rows)
		}
		o.want(404, "NOT_FOUND", admin, "GET /auth/api-keys/"+id.New[id.APIKey]().String(), nil)
		o.want(404, "NOT_FOUND", admin, "GET /auth/api-keys/not-an-id", nil)
		if rows := o.want(200, "", admin, "GET /auth/api-keys/scopes", nil).body["data"].([]any); len(rows) != len(auth.Scopes()) {
			t.Errorf("%d scopes are listed", len(rows))
		}
		log := o.want(200, "", admin, "GET /audit-log?limit=3", nil).body
		var actions []string
		for {
			for _, row := range log["data"].([]any) {
				actions = append(actions, row.(map[string]any)["action"].(string))
			}
			next, more := log["next_cursor"].(string)
			if !more {
				break
			}
			log = o.want(200, "", admin, "GET /audit-log?limit=3&cursor="+next, nil).body
		}
		if got := strings.Join(actions, " "); !strings.HasPrefix(got, "api_key.revoke") || !strings.HasSuffix(got, "member.add") || strings.Count(got, "api_key.") != 7 || !strings.Contains(got, "login") {
			t.Errorf("the audit log reads %q", got)
		}
		o.want(400, "INVALID_CURSOR", admin, "GET /audit-log?cursor=x", nil)
		found := func(query string) []map[string]any {
			var rows []map[string]any
			for _, row := range o.want(200, "", admin, "GET /audit-log?limit=200&"+query, nil).body["data"].([]any) {
				rows = append(rows, row.(map[string]any))
			}
			return rows
		}
		all := found("action=api_key")
		first := all[len(all)-1]
		ofFirst := 0
		for _, row := range all {
			if row["target_id"] == first["target_id"] {
				ofFirst++
			}
		}
		who := first["actor"].(map[string]any)["id"].(string)
		at := url.QueryEscape(first["created_at"].(string))
		for query, want := range map[string]int{
			"action=api_key": 7, "action=api": 0, "action=api_ke_": 0, "action=api_key.revoke": 1, "action=api_key.": 0,
			"target_type=api_key&target_id=" + first["target_id"].(string): ofFirst, "target_type=api_key&target_id=x": 0,
			"action=api_key&actor_type=user&actor_id=" + who: 7, "action=api_key&actor_type=system": 0,
			"action=api_key&actor_id=" + id.NewText(): 0, "action=api_key&since=" + at: 7,
			"action=api_key&before=" + at: 0, "action=api_key&since=9000-01-01": 0,
		} {
			if got := found(query); len(got) != want {
				t.Errorf("%s selects %d entries, want %d", query, len(got), want)
			}
		}
		o.want(400, "INVALID_INPUT", admin, "GET /audit-log?actor_type=person", nil)
		o.want(400, "INVALID_INPUT", admin, "GET /audit-log?since=yesterday", nil)
	})
}

func TestAccountOperationsCheckTheRole(t *testing.T) {
	sequential(t)
	t.Parallel()
	o := newAccountTest(t, dbtest.One(t))
	caller := map[auth.Role]string{}
	for _, r := range auth.Roles() {
		caller[r] = o.memberCookie(string(r), r)
	}
	for _, tt := range []struct {
		route string
		body  any
		least auth.Role
	}{
		{"GET /settings/account", nil, auth.Viewer},
		{"GET /users", nil, auth.Viewer},
		{"GET /auth/api-keys", nil, auth.Admin},
		{"GET /audit-log", nil, auth.Admin},
		{"PUT /settings/account", map[string]any{}, auth.Admin},
		{"POST /users/invite", map[string]any{"email": "x", "role": "viewer"}, auth.Admin},
		{"DELETE /settings/account", map[string]any{"confirm_slug": "no"}, auth.Owner},
	} {
		for _, r := range auth.Roles() {
			a := o.call(caller[r], tt.route, tt.body)
			if refused := a.Code == 403 && a.code() == "FORBIDDEN"; refused == r.AtLeast(tt.least) {
				t.Errorf("%s as %s = %d %s, want it for %s and above", tt.route, r, a.Code, a.code(), tt.least)
			}
		}
	}
}

func TestAccountSettingsHaveTwoForms(t *testing.T) {
	eachAccount(t, func(t *testing.T, o *accountTest) {
		admin := o.memberCookie("ann", auth.Admin)
		key := o.want(201, "", admin, "POST /auth/api-keys", map[string]any{"name": "k", "scopes": []string{"lists:read"}}).body["key"].(string)
		public, session := o.want(200, "", key, "GET /settings/account", nil).body, o.want(200, "", admin, "GET /settings/account", nil).body
		if _, shown := public["default_email_type_id"]; shown || session["default_email_type_id"] == nil || public["default_email_type_key"] != "newsletter" || public["slug"] != "acme" {
			t.Errorf("public form %v\nsession form %v", public, session)
		}
		for name, value := range public {
			if fmt.Sprint(session[name]) != fmt.Sprint(value) {
				t.Errorf("%s is %v in the public form and %v in the session form", name, value, session[name])
			}
		}
		got := o.want(200, "", admin, "PUT /settings/account", map[string]any{
			"name": "Acme", "timezone": "Asia/Tokyo", "slug": "ignored", "contact_limit": 9,
			"postal_address":    map[string]any{"line1": "Quay 1", "country": "NL"},
			"tracking_defaults": map[string]any{"utm_enabled": false},
			"website_url":       "https://acme.example", "default_email_type_key": nil,
		}).body
		address := got["postal_address"].(map[string]any)
		tracking := got["tracking_defaults"].(map[string]any)
		if got["timezone"] != "Asia/Tokyo" || got["slug"] != "acme" || got["contact_limit"] != nil || got["default_email_type_key"] != nil ||
			address["line1"] != "Quay 1" || address["city"] != nil || tracking["utm_enabled"] != false || tracking["tracking_enabled"] != true {
			t.Errorf("saved %v", got)
		}
		got = o.want(200, "", admin, "PUT /settings/account", map[string]any{
			"postal_address": map[string]any{"line1": nil, "city": "Delft"}, "default_email_type_key": "newsletter",
		}).body
		if address := got["postal_address"].(map[string]any); address["line1"] != nil || address["city"] != "Delft" || address["country"] != "NL" || got["default_email_type_key"] != "newsletter" {
			t.Errorf("a second change leaves %v", got)
		}
		got = o.want(200, "", admin, "PUT /settings/account", map[string]any{"tracked_domains": []string{"Shop.example.com", "shop.example.com", "bücher.example", "127.0.0.1", "localhost"}}).body
		if list := fmt.Sprint(got["tracked_domains"]); list != "[shop.example.com xn--bcher-kva.example 127.0.0.1 localhost]" {
			t.Errorf("tracked domains are %s", list)
		}
		for _, domains := range []any{[]string{"https://shop.example"}, []string{"shop.example:8080"}, []string{""}, []any{1}, slices.Repeat([]string{"a.example"}, 51)} {
			o.want(400, "INVALID_INPUT", admin, "PUT /settings/account", map[string]any{"tracked_domains": domains})
		}
		if list := o.want(200, "", admin, "PUT /settings/account", map[string]any{"tracked_domains": nil}).body["tracked_domains"]; fmt.Sprint(list) != "[]" {
			t.Errorf("cleared, tracked domains are %v", list)
		}
		a := o.want(400, "INVALID_INPUT", admin, "PUT /settings/account", map[string]any{"timezone": "Mars", "sunset_days": 0, "tracked_domains": []string{"x org"}})
		for _, path := range []string{`"timezone"`, `"sunset_days"`, `"tracked_domains"`} {
			if !strings.Contains(a.Body.String(), path) {
				t.Errorf("the problems %s lack %s", a.Body, path)
			}
		}
		o.want(400, "INVALID_INPUT", admin, "PUT /settings/account", map[string]any{"name": nil})
		o.want(400, "INVALID_EMAIL_TYPE", admin, "PUT /settings/account", map[string]any{"default_email_type_key": "nope"})
		o.want(400, "INVALID_MTA_CONFIG", admin, "PUT /settings/account", map[string]any{"default_mta_config_key": "nope"})
		o.want(400, "INVALID_SENDING_IDENTITY", admin, "PUT /settings/account", map[string]any{"default_sending_identity_email": "nope"})
		o.want(403, "API_KEY_FORBIDDEN", key, "PUT /settings/account", map[string]any{"name": "x"})
	})
}

func TestDeletingATenantNeedsItsSlug(t *testing.T) {
	eachAccount(t, func(t *testing.T, o *accountTest) {
		owner := o.memberCookie("ann", auth.Owner)
		o.want(400, "INVALID_INPUT", owner, "DELETE /settings/account", map[string]any{"confirm_slug": "other"})
		o.want(202, "", owner, "DELETE /settings/account", map[string]any{"confirm_slug": "acme"})
		o.want(404, "TENANT_NOT_FOUND", owner, "GET /settings/account", nil)
		if m := o.want(200, "", owner, "GET /api/auth/session", nil).body["memberships"].([]any); len(m) != 0 {
			t.Errorf("the memberships are %v", m)
		}
	})
}

// Signing in, signing up and the links of accounts are refused from pages of other sites, as is every
// write with a session. A program that is not a browser sends none of the headers and is accepted.
func TestSignInFromOtherSitesIsRefused(t *testing.T) {
	eachAccount(t, func(t *testing.T, o *accountTest) {
		o.memberCookie("ann", auth.Owner)
		for path, body := range map[string]string{
			"/api/auth/login":              `{"email": "ann@example.org", "password": "` + testPassword + `"}`,
			"/api/auth/signup":             `{"tenant_name": "Third", "tenant_slug": "third", "name": "Bob", "email": "bob@example.org", "password": "` + testPassword + `"}`,
			"/api/auth/password/forgot":    `{"email": "ann@example.org"}`,
			"/api/auth/password/reset":     `{"token": "x", "password": "` + testPassword + `"}`,
			"/api/auth/link":               `{"kind": "invitation", "token": "x"}`,
			"/api/auth/login-link":         `{"token": "x"}`,
			"/api/auth/invitations/accept": `{"token": "x", "name": "Bob", "password": "` + testPassword + `"}`,
		} {
			for header, foreign := range map[[2]string]bool{
				{"Sec-Fetch-Site", "cross-site"}:       true,
				{"Sec-Fetch-Site", "same-site"}:        true,
				{"Origin", "https://evil.example"}:     true,
				{"Origin", "null"}:                     true,
				{"Sec-Fetch-Site", "same-origin"}:      false,
				{"Origin", "https://mail.example.org"}: false,
				{"X-Nothing", ""}:                      false,
			} {
				r := httptest.NewRequest("POST", path, strings.NewReader(body))
				r.Header.Set(header[0], header[1])
				a := recordedResponse{ResponseRecorder: httptest.NewRecorder()}
				o.router.ServeHTTP(a, r)
				_ = json.Unmarshal(a.Body.Bytes(), &a.body)
				if refused := a.Code == 403 && a.code() == "CSRF_FAILED"; refused != foreign {
					t.Errorf("%s with %v = %d %s, want it refused: %v", path, header, a.Code, a.Body, foreign)
				}
				if foreign && a.Header().Get("Set-Cookie") != "" {
					t.Errorf("%s with %v sets a cookie", path, header)
				}
			}
		}
	})
}
