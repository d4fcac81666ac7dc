package httpapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// TestWebhooksOverHTTP follows an endpoint from its creation to its end.
func TestWebhooksOverHTTP(t *testing.T) {
	sequential(t)
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newConformance(t, db)
		call := func(op string, path map[string]string, query, body string) recordedResponse {
			t.Helper()
			q, err := url.ParseQuery(query)
			if err != nil {
				t.Fatal(err)
			}
			return s.send(t, testRequest{op: s.ops[op], caller: s.cookies[auth.Admin], path: path, query: q, body: body})
		}
		created := call("createWebhook", nil, "", `{"url": "https://hooks.example.com/a", "event_types": ["email.sent", "contact.created"], "unknown": 1}`)
		secret, _ := created.body["secret"].(string)
		if created.Code != http.StatusCreated || !strings.HasPrefix(secret, "whsec_") || created.body["status"] != "healthy" || created.body["description"] != nil {
			t.Fatalf("create = %d %s", created.Code, created.Body)
		}
		id, _ := created.body["id"].(string)
		of := map[string]string{"id": id}
		got := call("getWebhook", of, "", "")
		if got.Code != http.StatusOK || strings.Contains(got.Body.String(), "whsec_") || strings.Contains(call("listWebhooks", nil, "", "").Body.String(), "whsec_") {
			t.Errorf("get = %d %s", got.Code, got.Body)
		}
		rotated := call("rotateWebhookSecret", of, "", "")
		if next, _ := rotated.body["secret"].(string); rotated.Code != http.StatusOK || next == secret || !strings.HasPrefix(next, "whsec_") {
			t.Errorf("rotate = %d %s", rotated.Code, rotated.Body)
		}
		var tests []string
		for range 3 {
			a := call("testWebhook", of, "", "")
			if a.Code != http.StatusAccepted || a.body["status"] != "pending" || a.body["event_type"] != "webhook.test" {
				t.Fatalf("test = %d %s", a.Code, a.Body)
			}
			tests = append(tests, a.body["id"].(string))
		}
		var listed []string
		for query := "limit=2"; query != ""; {
			a := call("listWebhookDeliveries", of, query, "")
			for _, one := range asList(a.body["data"]) {
				listed = append(listed, one.(map[string]any)["id"].(string))
			}
			query = ""
			if next, _ := a.body["next_cursor"].(string); next != "" {
				query = "limit=2&cursor=" + next
			}
		}
		slices.Reverse(tests)
		if !slices.Equal(listed, tests) {
			t.Errorf("listed %v, want %v", listed, tests)
		}
		one := map[string]string{"id": id, "delivery_id": tests[0]}
		full := call("getWebhookDelivery", one, "", "")
		if body, _ := full.body["request_body"].(string); full.Code != http.StatusOK || !strings.Contains(body, `"webhook_id":"`+id+`"`) || full.body["response_body"] != nil {
			t.Errorf("delivery = %d %s", full.Code, full.Body)
		}
		if a := call("replayWebhookDelivery", one, "", ""); a.Code != http.StatusAccepted {
			t.Errorf("replay = %d %s", a.Code, a.Body)
		}
		// Another endpoint's delivery, another tenant's endpoint, and ids that are none.
		other := call("createWebhook", nil, "", `{"url": "https://hooks.example.com/b", "event_types": ["*"]}`).body["id"].(string)
		for name, path := range map[string]map[string]string{
			"another endpoint's": {"id": other, "delivery_id": tests[0]},
			"another tenant's":   {"id": s.records["other"]["webhook"], "delivery_id": s.records["other"]["delivery"]},
			"no ids":             {"id": "x", "delivery_id": "y"},
		} {
			for _, op := range []string{"getWebhookDelivery", "replayWebhookDelivery"} {
				if a := call(op, path, "", ""); a.Code != http.StatusNotFound || a.code() != "NOT_FOUND" {
					t.Errorf("%s of %s = %d %s", op, name, a.Code, a.Body)
				}
			}
		}
		if a := call("listWebhookDeliveries", map[string]string{"id": s.records["other"]["webhook"]}, "", ""); a.Code != http.StatusNotFound {
			t.Errorf("deliveries of another tenant = %d %s", a.Code, a.Body)
		}
		if a := call("updateWebhook", of, "", `{"active": false, "description": "Old"}`); a.Code != http.StatusOK || a.body["status"] != "disabled" || a.body["disabled_reason"] != nil || a.body["description"] != "Old" {
			t.Errorf("deactivate = %d %s", a.Code, a.Body)
		}
		for _, a := range []recordedResponse{call("testWebhook", of, "", ""), call("replayWebhookDelivery", one, "", "")} {
			if a.Code != http.StatusConflict || a.code() != "INVALID_TRANSITION" {
				t.Errorf("a disabled endpoint: %d %s", a.Code, a.Body)
			}
		}
		if a := call("deleteWebhook", of, "", ""); a.Code != http.StatusNoContent {
			t.Errorf("delete = %d %s", a.Code, a.Body)
		}
		if a := call("getWebhook", of, "", ""); a.Code != http.StatusNotFound {
			t.Errorf("after delete: %d %s", a.Code, a.Body)
		}
		log := s.send(t, testRequest{op: s.ops["listAuditLog"], caller: s.cookies[auth.Admin]}).Body.String()
		for _, action := range []string{"create", "update", "delete", "rotate_secret"} {
			if !strings.Contains(log, `"webhook.`+action+`"`) {
				t.Errorf("the audit log lacks webhook.%s", action)
			}
		}
		if strings.Contains(log, "whsec_") {
			t.Error("the audit log has a secret")
		}
	})
}

func TestProblemsOfWebhooksAreReportedTogether(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := newConformance(t, dbtest.One(t))
	for body, want := range map[string][]string{
		`{}`: {"url", "event_types"},
		`{"url": "http://example.com", "event_types": ["x"], "description": 5, "active": null}`:                           {"active", "description", "event_types", "url"},
		`{"url": "https://10.0.0.1/", "event_types": [], "active": "yes"}`:                                                {"active", "event_types", "url"},
		`{"url": "https://` + strings.Repeat("x", 3000) + `", "event_types": {"a": 1}}`:                                   {"event_types", "url"},
		fmt.Sprintf(`{"url": "https://example.com", "event_types": ["*"], "description": %q}`, strings.Repeat("x", 1001)): {"description"},
	} {
		a := s.send(t, testRequest{op: s.ops["createWebhook"], caller: s.cookies[auth.Admin], body: body})
		got := problemsOfResponse(a)
		slices.Sort(got)
		slices.Sort(want)
		if a.Code != http.StatusBadRequest || !slices.Equal(got, want) {
			t.Errorf("%.100s = %d, problems at %v, want %v", body, a.Code, got, want)
		}
	}
	if a := s.send(t, testRequest{op: s.ops["createWebhook"], caller: s.keys["acme"], body: `{}`}); a.code() != "API_KEY_FORBIDDEN" {
		t.Errorf("with a key: %d %s", a.Code, a.Body)
	}
	if a := s.send(t, testRequest{op: s.ops["listWebhooks"], caller: s.cookies[auth.Viewer]}); a.code() != "FORBIDDEN" {
		t.Errorf("as a viewer: %d %s", a.Code, a.Body)
	}
}
