package httpapi_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/account/change"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// changed are the types of what operations on a resource change.
var changed = map[string]change.Type{
	"assets": change.Asset, "auth/api-keys": change.APIKey, "blocks": change.Block, "broadcasts": change.Broadcast, "contacts": change.Contact,
	"email-categories": change.Account, "email-types": change.Account, "events": change.Contact, "forms": change.Form, "jobs": change.Job,
	"mailbox": change.Mailbox, "messages": change.Message, "mta-configs": change.Lane, "saved-filters": change.SavedFilter, "seed-lists": change.SeedList,
	"segments": change.Segment, "sending-domains": change.Domain, "sending-identities": change.Account, "sequences": change.Sequence, "settings": change.Account,
	"settings/webhooks": change.Webhook, "suppressions": change.Contact, "templates": change.Template, "users": change.Member,
	"/api/auth/login": change.Member, "/api/auth/profile": change.Member, // of the person, with a membership that shows it
}

// silent are operations that write without announcing a record of the type of their resource, and why.
var silent = map[string]string{
	"countContactsBySelector": "reads", "previewForm": "reads", "previewMail": "reads", "previewSegment": "reads", "previewSend": "reads", "rebaseMessagePreview": "reads", "simulateSequence": "reads",
	"renderTemplate": "reads", "searchContacts": "reads", "validateBinding": "reads", "checkLink": "reads",
	"testMtaConfig": "sends a mail", "testMtaConfigDraft": "opens a connection", "testSendBroadcast": "sends a mail", "testSequence": "sends a mail", "verifySendingIdentityLane": "sends a mail", "forgotPassword": "sends a mail",
	"replayWebhookDelivery": "the delivery is announced when it ends", "testWebhook": "the delivery is announced when it ends",
	"recordEvent": "a contact's events are announced when they are applied", "recordEvents": "a contact's events are announced when they are applied",
	"createIdentitySecret": "the secret is shown once", "deleteIdentitySecret": "the secret is shown once", "createWebhookSecret": "the secret is shown once",
	"storeWorkingCopy": "only its author reads it", "deleteWorkingCopy": "only its author reads it",
	"changePassword": "nobody sees it", "logOut": "only the person sees sessions", "deleteTenant": "streams of a deleted tenant end",
	"createAutomation": "automations are read by time", "updateAutomation": "automations are read by time", "deleteAutomation": "automations are read by time",
}

// Every operation that changes a record of a type announces it to the tenant's streams, and to no other's.
func TestEveryChangeIsAnnounced(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var relay *change.Relay
		var hub *change.Hub
		streams, seen := map[string]*announced{}, map[string]bool{}
		var drain func() // drops what is not changed by a step
		s := newConformance(t, db, func(s *conformance) {
			relay = &change.Relay{DB: db, Now: s.api.Now, Log: s.api.Log}
			hub = change.NewHub(db, s.api.Now, s.api.Log)
			flush := func(slug string) []change.Type {
				if _, err := relay.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
				return streams[slug].read(t, s)
			}
			drain = func() {
				for slug := range streams {
					flush(slug)
				}
			}
			relay.Watch()
			s.joined = func(slug string) {
				in, err := tenant.BySlug(t.Context(), db, slug)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := hub.Open(t.Context(), change.Caller{Tenant: in.ID, May: func(change.Type) bool { return true }}); err != nil {
					t.Fatal(err)
				}
				streams[slug] = &announced{tenant: in}
				drain()
			}
			s.called = func(slug string, st step) {
				got := flush(slug)
				op := s.ops[st.op]
				want, ok := changedBy(op)
				switch {
				case op.method == "GET", st.status >= 400, silent[st.op] != "", strings.Contains(st.query+st.body, "dry_run"):
				case st.status == 202 && strings.Contains(st.field, "job") || st.op == "bulkContacts" && st.status == 202 || slices.Contains([]string{"exportAuditLog", "exportBroadcast"}, st.op):
					if !slices.Contains(got, change.Job) {
						t.Errorf("%s %s announces %v, want its job", st.op, st.body, got)
					}
				case !ok:
					t.Errorf("%s %s: this test does not know what it changes", st.op, op.path)
				case !slices.Contains(got, want):
					t.Errorf("%s %s announces %v, want %s", st.op, st.body, got, want)
				default:
					seen[st.op] = true
				}
				for other, x := range streams {
					if other != slug {
						if got := x.read(t, s); len(got) > 0 {
							t.Errorf("%s: another tenant is told of %v", st.op, got)
						}
					}
				}
			}
		})
		drain()
		for _, st := range otherSteps {
			s.runStep(t, "acme", st)
		}
		if len(seen) < 95 {
			t.Errorf("only %d operations change something", len(seen))
		}
		for name := range silent {
			if _, ok := s.ops[name]; !ok || seen[name] {
				t.Errorf("there is no operation %s, or it announces a change", name)
			}
		}
	})
}

// changedBy returns the type of what an operation changes, by its path.
func changedBy(op operation) (change.Type, bool) {
	if strings.HasPrefix(op.path, "/t/{tenant}/api/mta-configs/") && strings.Contains(op.path, "/messages") {
		return change.Mailbox, true
	}
	path := strings.TrimPrefix(op.path, "/t/{tenant}/api/")
	for {
		if typ, ok := changed[path]; ok {
			return typ, true
		}
		at := strings.LastIndex(path, "/")
		if at <= 0 {
			return "", false
		}
		path = path[:at]
	}
}

// announced reads the stored hints of a tenant.
type announced struct {
	tenant tenant.Tenant
}

// read returns the types of the stored hints, and deletes these.
func (a *announced) read(t *testing.T, s *conformance) (types []change.Type) {
	t.Helper()
	rows, err := s.db.Query(t.Context(), `SELECT changes FROM change_hint WHERE tenant_id = $1`, a.tenant.ID)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var text []byte
		var list []change.Change
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &list); err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			types = append(types, c.Type)
		}
	}
	_ = rows.Close()
	if _, err := s.db.Exec(t.Context(), `DELETE FROM change_hint WHERE tenant_id = $1`, a.tenant.ID); err != nil {
		t.Fatal(err)
	}
	return types
}

// streamTest is the API with streams, on a real connection.
type streamTest struct {
	*apiTest
	relay  *change.Relay
	hub    *change.Hub
	server *httptest.Server
}

func eachStreaming(t *testing.T, f func(t *testing.T, s *streamTest)) {
	t.Helper()
	eachAPI(t, func(t *testing.T, s *apiTest) {
		x := &streamTest{apiTest: s}
		x.relay = &change.Relay{DB: s.db, Now: s.router.Now, Log: s.router.Log}
		x.relay.Watch()
		x.hub = change.NewHub(s.db, s.router.Now, s.router.Log)
		r := endpoint.New(s.router.Options)
		api := newAPI(t, s.db, s.router.BaseURL, s.router.Now, s.router.Log)
		api.Changes = x.hub
		api.Register(r)
		s.router = r
		x.server = httptest.NewServer(r)
		t.Cleanup(func() { x.hub.Close(); x.server.Close() })
		f(t, x)
	})
}

// open opens a stream, and reads its first comment.
func (s *streamTest) open(method, role, after string) (*http.Response, *bufio.Reader) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.server.URL+"/t/acme/api/stream", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.AddCookie(&http.Cookie{Name: "role", Value: role})
	req.Header.Set("Accept-Encoding", "gzip")
	if after != "" {
		req.Header.Set("Last-Event-ID", after)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = res.Body.Close() })
	return res, bufio.NewReader(res.Body)
}

// block reads the lines up to an empty one, without the position.
func block(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	var lines []string
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("%q, then %v", lines, err)
		}
		switch line = strings.TrimSuffix(line, "\n"); {
		case line == "":
			return strings.Join(lines, "\n")
		case !strings.HasPrefix(line, "id: "):
			lines = append(lines, line)
		}
	}
}

func TestStreamsOfChanges(t *testing.T) {
	eachStreaming(t, func(t *testing.T, s *streamTest) {
		pass := func() {
			t.Helper()
			if _, err := s.relay.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := s.hub.Tick(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		res, viewer := s.open("GET", "viewer", "")
		for name, want := range map[string]string{"Content-Type": "text/event-stream", "Content-Encoding": "", "X-Accel-Buffering": "no", "Cache-Control": "no-store, no-transform"} {
			if got := res.Header.Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		_, admin := s.open("GET", "admin", "1")
		if got := block(t, viewer); got != ": ping" {
			t.Errorf("the stream begins with %q", got)
		}
		block(t, admin)
		if got := block(t, admin); got != "event: reset\ndata: {}" {
			t.Errorf("with an old position: %q", got)
		}
		s.must(201, "admin", "POST /settings/webhooks", `{"url": "https://hooks.example.com/", "event_types": ["*"]}`)
		s.must(201, "editor", "POST /t/other/api/segments", `{"name": "Theirs", "type": "static"}`)
		made := s.must(201, "editor", "POST /segments", `{"name": "Mine", "type": "static"}`)
		pass()
		want := "event: change\ndata: {\"changes\":[{\"type\":\"segment\",\"id\":\"" + made.str("id") + "\"}"
		if got := block(t, viewer); got != want+"]}" {
			t.Errorf("a viewer gets %q, want %q", got, want)
		}
		if got := block(t, admin); !strings.Contains(got, `[{"type":"audit_log"},`) || !strings.Contains(got, `,{"type":"webhook","id":"`) {
			t.Errorf("an admin gets %q", got)
		}
		if res, body := s.open("HEAD", "viewer", ""); res.StatusCode != 200 || body.Buffered() > 0 {
			t.Errorf("HEAD = %d", res.StatusCode)
		}
		s.mustRefuse("key", "GET /stream", "", 403, "API_KEY_FORBIDDEN")
		s.hub.Close()
		if rest, err := viewer.ReadString('\n'); err == nil {
			t.Errorf("when the program stops, the stream goes on with %q", rest)
		}
	})
}

// A stream is refused where too many are open, as requests are that come too fast.
func TestTooManyStreamsAreRefused(t *testing.T) {
	eachStreaming(t, func(t *testing.T, s *streamTest) {
		for range change.MaxPerUser {
			_, r := s.open("GET", "viewer", "")
			block(t, r)
		}
		r := s.mustRefuse("viewer", "GET /stream", "", 429, "RATE_LIMITED")
		if r.header.Get("Retry-After") == "" {
			t.Error("the answer says not when to try again")
		}
	})
}

// A change of a type is announced to the roles that may read its records.
func TestStreamsFollowTheRolesOfOperations(t *testing.T) {
	t.Parallel()
	ops := operations(t, newRouter(t))
	reads := map[change.Type]string{
		change.APIKey: "getApiKey", change.Asset: "listAssets", change.AuditLog: "listAuditLog", change.Member: "listMembers", change.SavedFilter: "getSavedFilter",
		change.Account: "getAccount", change.Block: "getBlock", change.Broadcast: "getBroadcast", change.Contact: "getContact", change.Domain: "getSendingDomain",
		change.Form: "getForm", change.Job: "getJob", change.Mailbox: "getSinkMessage", change.Message: "getMessage", change.Lane: "getMtaConfig",
		change.SeedList: "getSeedList", change.Segment: "getSegment", change.Sequence: "getSequence", change.Template: "getTemplate", change.Webhook: "getWebhook",
	}
	for _, typ := range change.Types() {
		name := reads[typ]
		op, ok := ops[name]
		if !ok {
			t.Fatalf("there is no operation %s", name)
		}
		if got := httpapi.ReadableBy(typ); got != op.role() {
			t.Errorf("changes of type %s are announced to the role %q, %s needs %q", typ, got, name, op.role())
		}
	}
}
