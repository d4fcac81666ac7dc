package httpapi_test

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/change"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// A stream ends before the next event once its session has ended, or its user's membership or role has
// changed. Streams of others go on.
func TestStreamsEndWithTheRightToRead(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newConformance(t, db)
		relay := &change.Relay{DB: db, Now: s.api.Now, Log: s.api.Log}
		relay.Watch()
		s.api.Changes = change.NewHub(db, s.api.Now, s.api.Log)
		s.router = endpoint.New(s.router.Options)
		s.api.Register(s.router)
		server := httptest.NewServer(s.router)
		t.Cleanup(func() { s.api.Changes.Close(); server.Close() })
		open := func(cookie string) *bufio.Reader {
			t.Helper()
			req, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/t/acme/api/stream", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.AddCookie(&http.Cookie{Name: auth.CookieName, Value: cookie})
			res, err := http.DefaultClient.Do(req)
			if err != nil || res.StatusCode != 200 {
				t.Fatal(res, err)
			}
			t.Cleanup(func() { _ = res.Body.Close() })
			r := bufio.NewReader(res.Body)
			block(t, r)
			return r
		}
		signIn := func(role string) (cookie string) {
			t.Helper()
			a := s.send(t, testRequest{op: s.ops["logIn"], body: `{"email": "` + role + `@acme.example", "password": "` + testPassword + `"}`})
			for _, c := range a.Result().Cookies() {
				cookie = c.Value
			}
			return cookie
		}
		owner := s.cookies[auth.Owner]
		by := func(caller string, st step) {
			t.Helper()
			x := s.requestFor("acme", st)
			x.caller = caller
			if a := s.send(t, x); a.Code >= 300 {
				t.Fatalf("%s = %d %s", st.op, a.Code, a.Body)
			}
		}
		of := func(user string) map[string]string { return map[string]string{"id": "{" + user + "}"} }
		for _, tt := range []struct {
			name, cookie string
			end          func()
		}{
			{"signing out", signIn("editor"), nil},
			{"the session is ended from another", signIn("viewer"), func() {
				second := signIn("viewer")
				list := s.send(t, testRequest{op: s.ops["listOwnSessions"], caller: second})
				for _, row := range list.body["data"].([]any) {
					if row := row.(map[string]any); row["current"] == false {
						by(second, step{op: "endOwnSession", path: map[string]string{"id": row["id"].(string)}})
					}
				}
			}},
			{"another role", signIn("editor"), func() { by(owner, step{op: "updateMember", path: of("user_editor"), body: `{"role": "viewer"}`}) }},
			{"a disabled member", signIn("editor"), func() {
				by(owner, step{op: "updateMember", path: of("user_editor"), body: `{"status": "disabled"}`})
			}},
			{"a removed member", signIn("admin"), func() { by(owner, step{op: "removeMember", path: of("user_admin")}) }},
			{"a deleted tenant", owner, func() { by(owner, step{op: "deleteTenant", body: `{"confirm_slug": "acme"}`}) }},
		} {
			ends, stays := open(tt.cookie), (*bufio.Reader)(nil)
			if tt.cookie != owner {
				stays = open(owner)
			}
			if tt.end == nil {
				tt.end = func() { by(tt.cookie, step{op: "logOut"}) }
			}
			tt.end()
			if tt.cookie != owner {
				s.runStep(t, "acme", step{op: "createBlock", body: `{"name": "News", "content_html": "<p>Hi</p>"}`, status: 201})
			}
			if _, err := relay.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := s.api.Changes.Tick(t.Context()); err != nil {
				t.Fatal(err)
			}
			if rest, err := ends.ReadString('\n'); !errors.Is(err, io.EOF) || rest != "" {
				t.Errorf("%s: the stream goes on with %q, %v", tt.name, rest, err)
			}
			if stays != nil {
				if got := block(t, stays); !strings.Contains(got, "block") {
					t.Errorf("%s: another stream gets %q", tt.name, got)
				}
			}
		}
	})
}
