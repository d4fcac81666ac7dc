package httpapi_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/change"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi"
)

// changed are the types of what operations on a resource change.
var changed = map[string]change.Type{
	"blocks": change.Block, "broadcasts": change.Broadcast, "contacts": change.Contact, "email-categories": change.Account, "email-types": change.Account,
	"forms": change.Form, "jobs": change.Job, "messages": change.Message, "mta-configs": change.Lane, "seed-lists": change.SeedList, "segments": change.Segment,
	"sending-domains": change.Domain, "sending-identities": change.Account, "sequences": change.Sequence, "settings": change.Account,
	"settings/webhooks": change.Webhook, "suppressions": change.Contact, "templates": change.Template, "events": change.Contact,
}

// silent are operations that write no such record, or only in a job.
var silent = []string{
	"countContactsBySelector", "createIdentitySecret", "createWebhookSecret", "deleteIdentitySecret", "previewForm", "previewMail", "previewSegment", "previewSend", "rebaseMessagePreview", "renderTemplate", "replayWebhookDelivery",
	"searchContacts", "testMtaConfig", "testSendBroadcast", "testSequence", "testWebhook", "validateBinding", "verifySendingIdentityLane",
}

// Every operation that changes a record of a type announces it to the tenant's streams, and to no other's.
func TestEveryChangeIsAnnounced(t *testing.T) {
	t.Parallel()
	s := newConformance(t, sqliteOnly(t))
	relay := &change.Relay{DB: s.db, Now: s.api.Now, Log: s.api.Log}
	relay.Watch()
	hub := change.NewHub(s.db, s.api.Now, s.api.Log)
	streams := map[string]*announced{}
	for _, slug := range []string{"acme", "other"} {
		in, err := tenant.BySlug(t.Context(), s.db, slug)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := hub.Open(t.Context(), change.Caller{Tenant: in.ID, May: func(change.Type) bool { return true }}); err != nil {
			t.Fatal(err)
		}
		streams[slug] = &announced{tenant: in}
	}
	seen := 0
	for _, st := range otherSteps {
		op := s.ops[st.op]
		resource, rest, _ := strings.Cut(strings.TrimPrefix(op.path, "/t/{tenant}/api/"), "/")
		if strings.HasPrefix(rest, "webhooks") {
			resource += "/webhooks"
		}
		want := changed[resource]
		if strings.Contains(op.path, "/messages") && resource == "mta-configs" {
			want = change.Mailbox
		}
		s.runStep(t, "acme", st)
		if _, err := relay.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := streams["acme"].read(t, s)
		if want == "" || op.method == "GET" || st.status >= 202 && st.status != 204 || strings.Contains(st.body, "dry_run") || slices.Contains(silent, st.op) {
			continue
		}
		seen++
		if !slices.Contains(got, want) {
			t.Errorf("%s %s announces %v, want %s", st.op, st.body, got, want)
		}
	}
	if got := streams["other"].read(t, s); len(got) > 0 {
		t.Errorf("another tenant is told of %v", got)
	}
	if seen < 60 {
		t.Errorf("only %d operations change something", seen)
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
		if got := block(t, admin); !strings.HasPrefix(got, want+",{\"type\":\"webhook\",\"id\":\"") {
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
	for typ, name := range map[change.Type]string{
		change.Account: "getAccount", change.Block: "getBlock", change.Broadcast: "getBroadcast", change.Contact: "getContact", change.Domain: "getSendingDomain",
		change.Form: "getForm", change.Job: "getJob", change.Mailbox: "getSinkMessage", change.Message: "getMessage", change.Lane: "getMtaConfig",
		change.SeedList: "getSeedList", change.Segment: "getSegment", change.Sequence: "getSequence", change.Template: "getTemplate", change.Webhook: "getWebhook",
	} {
		op, ok := ops[name]
		if !ok {
			t.Fatalf("there is no operation %s", name)
		}
		if got := httpapi.ReadableBy(typ); got != op.role() {
			t.Errorf("changes of type %s are announced to the role %q, %s needs %q", typ, got, name, op.role())
		}
	}
	if len(change.Types()) != 15 || httpapi.ReadableBy(change.Webhook) != auth.Admin {
		t.Error("this test lacks a type")
	}
}
