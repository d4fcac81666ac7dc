package httpapi_test

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// keyed returns the operations that honour Idempotency-Key for sessions.
func keyed(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, item := range documents(t)["openapi-app.json"].Paths.Map() {
		for _, op := range item.Operations() {
			for _, p := range op.Parameters {
				if p.Value.Name == "Idempotency-Key" {
					found[op.OperationID] = true
				}
			}
		}
	}
	return found
}

// onceBodies are bodies for operations that the setup has called with the only body of its step.
var onceBodies = map[string]string{
	"createSendingDomain": `{"domain": "once.example.net"}`, "createWebhook": `{"url": "https://example.com/once", "event_types": ["*"]}`,
	"createForm": `{"name": "Once"}`, "createMessage": `{"name": "Once"}`, "createSequence": `{"name": "Once"}`,
	"createSeedList": `{"name": "Once"}`,
}

// What a session creates, copies, imports, exports, changes in bulk or sends as a test with an
// Idempotency-Key happens once: a repetition gets the same answer, whatever its body is, and changes
// nothing.
func TestRequestsOfSessionsWithAKeyHappenOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newConformance(t, db)
		late := s.failOnErrors(t)
		others, ops := s.checksums(t, "other"), keyed(t)
		if len(ops) < 38 {
			t.Errorf("only %d operations honour the key", len(ops))
		}
		done := map[string]bool{}
		for i, st := range slices.Concat(setupSteps, otherSteps) {
			if st.op == "setSequenceGraph" { // what is sent as a test
				s.runStep(t, "acme", st)
			}
			if !ops[st.op] || done[st.op] || st.path["broadcast_id"] == "{clone}" {
				continue
			}
			done[st.op] = true
			st = repeatable(st)
			if body, ok := onceBodies[st.op]; ok {
				st.body = body
			}
			x := s.requestFor("acme", st)
			x.caller, x.body = s.records["acme"]["owner"], strings.ReplaceAll(x.body, "{n}", fmt.Sprint(900+i))
			if x.headers == nil {
				x.headers = map[string]string{}
			}
			x.headers["Idempotency-Key"] = fmt.Sprintf("session-%d", i)
			first := s.send(t, x)
			s.checkResponse(t, x, first)
			if first.Code != st.status || first.Header().Get("Idempotency-Replay") != "" {
				t.Errorf("%s = %d %s, want %d", st.op, first.Code, first.Body, st.status)
				continue
			}
			before := s.checksums(t, "acme")
			x.name, x.body = "again", "garbage"
			again := s.send(t, x)
			if again.Code != first.Code || again.Body.String() != first.Body.String() || again.Header().Get("Idempotency-Replay") != "true" || again.Header().Get("ETag") != first.Header().Get("ETag") {
				t.Errorf("%s again = %d %s %v\nfirst %d %s", st.op, again.Code, again.Body, again.Header(), first.Code, first.Body)
			}
			s.checkUnchanged(t, "acme", before)
			if *late != "" {
				t.Errorf("%s: %s", st.op, *late)
				*late = ""
			}
		}
		for name := range ops {
			if !done[name] {
				t.Errorf("%s was not tried", name)
			}
		}
		s.checkUnchanged(t, "other", others)
	})
}

// failOnErrors replaces the router with one that stores the last error that it logs.
func (s *conformance) failOnErrors(t *testing.T) *string {
	t.Helper()
	var last string
	o := s.router.Options
	o.Log = slog.New(slog.NewTextHandler(writerFunc(func(b []byte) { last = string(b) }), &slog.HandlerOptions{Level: slog.LevelError}))
	s.router = endpoint.New(o)
	s.api.Register(s.router)
	return &last
}

type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) { f(b); return len(b), nil }

// What is refused without a key is refused in the same way with one, and the key stays free.
func TestRequestsWithAKeyAreRefusedLikeOthers(t *testing.T) {
	sequential(t)
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newConformance(t, db)
		ops, refused := keyed(t), map[string]bool{}
		for i, st := range slices.Concat(setupSteps, otherSteps) {
			if !ops[st.op] || st.path["broadcast_id"] == "{clone}" {
				continue
			}
			for n, body := range []string{strings.ReplaceAll(s.requestFor("acme", st).body, "{n}", "1"), `{}`, `{"name": "Newsletter", "type_key": "newsletter"}`} {
				x := s.requestFor("acme", st)
				x.caller, x.body = s.records["acme"]["owner"], body
				plain := s.send(t, x)
				if plain.Code < 400 {
					plain = s.send(t, x) // the second may be a duplicate
				}
				if plain.Code < 400 {
					continue
				}
				x.headers = maps.Clone(x.headers)
				if x.headers == nil {
					x.headers = map[string]string{}
				}
				x.headers["Idempotency-Key"] = fmt.Sprintf("refused-%d-%d", i, n)
				for range 2 {
					if keyed := s.send(t, x); keyed.Code != plain.Code || keyed.Body.String() != plain.Body.String() {
						t.Errorf("%s %s\nwithout a key %d %s\nwith one %d %s", st.op, body, plain.Code, plain.Body, keyed.Code, keyed.Body)
					}
				}
				refused[st.op] = true
			}
		}
		if len(refused) < 25 {
			t.Errorf("only %d operations were refused: %v", len(refused), refused)
		}
	})
}

// A key of a session belongs to the user and the path. It has no effect for API keys, and what failed is
// tried again.
func TestKeysOfSessions(t *testing.T) {
	sequential(t)
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newConformance(t, db)
		x := s.requestFor("acme", step{op: "createTemplate", body: `{"name": "Once", "content_html": "<p>Hi</p>"}`})
		x.headers, x.caller = map[string]string{"Idempotency-Key": "the-same-key"}, s.cookies[auth.Owner]
		ids := map[any]string{}
		fresh := func(who string, x testRequest) {
			t.Helper()
			a := s.send(t, x)
			if a.Code != 201 || a.Header().Get("Idempotency-Replay") != "" || ids[a.body["id"]] != "" {
				t.Errorf("%s = %d %s, want a new record", who, a.Code, a.Body)
			}
			ids[a.body["id"]] = who
		}
		fresh("the owner", x)
		x.caller = s.cookies[auth.Admin]
		fresh("another user", x)
		y := s.requestFor("acme", step{op: "createBlock", body: `{"name": "Once", "content_html": "<p>Hi</p>"}`})
		y.headers = x.headers
		fresh("another path", y)
		x.caller = s.keys["acme"]
		fresh("an API key", x)
		fresh("the API key again", x)
		x.caller, x.body = s.cookies[auth.Owner], ""
		if a := s.send(t, x); a.Header().Get("Idempotency-Replay") != "true" || ids[a.body["id"]] != "the owner" {
			t.Errorf("the owner again = %d %s", a.Code, a.Body)
		}
		x.caller = s.cookies[auth.Viewer]
		if a := s.send(t, x); a.Code != 403 {
			t.Errorf("a viewer = %d %s", a.Code, a.Body)
		}
		x.caller, x.headers = s.cookies[auth.Editor], map[string]string{"Idempotency-Key": "another-key"}
		for body, status := range map[string]int{`{`: 400, `{"name": ""}`: 400} {
			if x.body = body; s.send(t, x).Code != status {
				t.Errorf("%s is not refused", body)
			}
		}
		x.body = `{"name": "After failures", "content_html": "<p>Hi</p>"}`
		fresh("after failures", x)
	})
}

// Stored answers contain secrets and personal data: they are sealed, deleted when a contact is erased, and
// expire after a day.
func TestStoredAnswersAreSealedAndErased(t *testing.T) {
	sequential(t)
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newConformance(t, db)
		x := s.requestFor("acme", step{op: "createApiKey", body: `{"name": "Secret", "scopes": ["contacts:read"]}`})
		x.headers = map[string]string{"Idempotency-Key": "the-same-key"}
		secret, _ := s.send(t, x).body["key"].(string)
		acme, err := tenant.BySlug(t.Context(), db, "acme")
		if err != nil {
			t.Fatal(err)
		}
		count := func() (n int) {
			if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM idempotency WHERE tenant_id = $1`, acme.ID).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		var body string
		if err := db.QueryRow(t.Context(), `SELECT body FROM idempotency WHERE tenant_id = $1`, acme.ID).Scan(&body); err != nil || len(secret) < 40 || strings.Contains(body, secret) || strings.Contains(body, "Secret") {
			t.Errorf("stored: %s, %v", body, err)
		}
		if a := s.send(t, x); a.body["key"] != secret {
			t.Errorf("again = %d %s", a.Code, a.Body)
		}
		if err := endpoint.EraseResponses(t.Context(), db, idtest.Tenant()); err != nil || count() != 1 {
			t.Errorf("another tenant's erasure left %d answers, %v", count(), err)
		}
		if err := endpoint.EraseResponses(t.Context(), db, acme.ID); err != nil || count() != 0 {
			t.Errorf("after an erasure there are %d answers, %v", count(), err)
		}
		s.send(t, x)
		for at, want := range map[int]int{0: 0, 24: 1} {
			n, err := endpoint.PruneKeys(t.Context(), db, acme.ID, s.now.AddDate(0, 0, at/24), 10)
			if err != nil || n != want {
				t.Errorf("after %d hours %d keys are deleted, want %d; %v", at, n, want, err)
			}
		}
	})
}
