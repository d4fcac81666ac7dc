package httpapi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// A list of sessions marks that of the request and has no token. Ending it signs out, and ending another one
// signs out there.
func TestOwnSessions(t *testing.T) {
	sequential(t)
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newConformance(t, db)
		signIn := func(agent string) string {
			t.Helper()
			a := s.send(t, testRequest{op: s.ops["logIn"], body: `{"email": "editor@acme.example", "password": "` + testPassword + `"}`, headers: map[string]string{"User-Agent": agent}})
			return a.Result().Cookies()[0].Value
		}
		call := func(op, caller, session, body string) recordedResponse {
			t.Helper()
			x := testRequest{name: op, op: s.ops[op], caller: caller, body: body, path: map[string]string{"id": session}}
			a := s.send(t, x)
			s.checkResponse(t, x, a)
			return a
		}
		here, there := signIn("Here/1"), signIn("There/1")
		list := call("listOwnSessions", here, "", "")
		agents := map[string]map[string]any{}
		for _, row := range list.body["data"].([]any) {
			agent, _ := row.(map[string]any)["user_agent"].(string)
			agents[agent] = row.(map[string]any)
		}
		if len(agents) != 3 || agents["Here/1"]["current"] != true || agents["There/1"]["current"] != false || !strings.HasPrefix(agents["There/1"]["ip"].(string), "10.") ||
			strings.Contains(list.Body.String(), here) || strings.Contains(list.Body.String(), there) {
			t.Errorf("sessions = %s", list.Body)
		}
		other := call("listOwnSessions", s.cookies[auth.Admin], "", "")
		if id := other.first("id"); call("endOwnSession", here, id, "").Code != 404 || call("endOwnSession", here, "x", "").Code != 404 {
			t.Error("a session of another user is found")
		}
		if a := call("endOwnSession", here, agents["There/1"]["id"].(string), ""); a.Code != 204 {
			t.Errorf("ending the other session = %d %s", a.Code, a.Body)
		}
		if a := call("getSession", there, "", ""); a.Code != 401 {
			t.Errorf("the session that was ended = %d", a.Code)
		}
		if a := call("endOwnSession", here, agents["Here/1"]["id"].(string), ""); a.Code != 204 {
			t.Errorf("ending the present session = %d %s", a.Code, a.Body)
		}
		if a := call("listOwnSessions", here, "", ""); a.Code != 401 {
			t.Errorf("after that = %d", a.Code)
		}
		if a := call("listOwnSessions", s.keys["acme"], "", ""); a.Code != 401 {
			t.Errorf("with an API key = %d", a.Code)
		}
		viewer := s.cookies[auth.Viewer]
		if a := call("updateProfile", viewer, "", `{"name": " Vic  É"}`); a.Code != 200 || a.body["user"].(map[string]any)["name"] != "Vic  É" {
			t.Errorf("renamed = %d %s", a.Code, a.Body)
		}
		if a := call("getSession", viewer, "", ""); a.body["user"].(map[string]any)["name"] != "Vic  É" {
			t.Errorf("session = %s", a.Body)
		}
		for _, body := range []string{`{}`, `{"name": null}`, `{"name": ""}`, `{"name": 5}`, `{"name": "a\u0000"}`, `{"name": "a\nb"}`, `{"name": "` + strings.Repeat("x", 201) + `"}`} {
			if a := call("updateProfile", viewer, "", body); a.Code != 400 || !slices.Equal(problemsOfResponse(a), []string{"name"}) {
				t.Errorf("%.40s = %d %s", body, a.Code, a.Body)
			}
		}
	})
}

// Before signing in, everybody sees what is possible.
func TestSignInOptions(t *testing.T) {
	sequential(t)
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newConformance(t, db)
		get := func() map[string]any {
			t.Helper()
			return s.send(t, testRequest{op: s.ops["getSignInOptions"]}).body
		}
		if got := get(); got["setup_required"] != false || got["signup_enabled"] != false || got["account_mail"] != false || got["demo"] != false || got["version"] != "1.4.0" || got["base_url"] != "https://mail.example.org" {
			t.Errorf("options = %v", got)
		}
		s.api.Login.SignupEnabled = true
		if got := get(); got["signup_enabled"] != true {
			t.Errorf("with sign-up: %v", got)
		}
		for _, table := range []string{"session", "login_address", "membership", "app_user"} {
			if _, err := db.Exec(t.Context(), `DELETE FROM `+table); err != nil {
				t.Fatal(err)
			}
		}
		if got := get(); got["setup_required"] != true || got["signup_enabled"] != false {
			t.Errorf("without users: %v", got)
		}
	})
}
