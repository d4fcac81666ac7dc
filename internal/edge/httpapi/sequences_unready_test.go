package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
)

// A dry run of a valid graph tells what would keep the draft from being activated, and activating it is refused for
// the same reasons. Storing the graph is not.
func TestADryRunTellsWhatKeepsADraftFromBeingActivated(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		mail := s.must(201, "key", "POST /messages", `{"name": "Hello", "status": "published", "content": {"subject": "Hi", "body_html": "<p>Hi</p>"}}`).str("id")
		at := "/sequences/" + s.must(201, "editor", "POST /sequences", `{"name": "Course"}`).str("id")
		graph := func(dry string) response {
			t.Helper()
			return s.must(200, "editor", "PUT "+at+"/graph", `{"dry_run": `+dry+`, "entry_node_id": "mail", "nodes": [{"id": "mail", "type": "send", "config": {"message_id": "`+mail+`", "email_type_key": "news"}}], "edges": []}`)
		}
		s.must(200, "owner", "PUT /settings/account", `{"default_mta_config_key": "`+s.lane.Key+`", "default_sending_identity_email": "`+s.sender.Address+`"}`)
		graph("true").wantFields(t, map[string]string{"valid": "true", "issues": "[]", "unready": "[]"})

		if _, err := s.db.Exec(t.Context(), `UPDATE sending_identity SET active = $2 WHERE tenant_id = $1`, s.acme, false); err != nil {
			t.Fatal(err)
		}
		dry := graph("true")
		dry.wantFields(t, map[string]string{"valid": "true", "issues": "[]"})
		if got := dry.json("unready"); !strings.Contains(got, `"node_id":"mail"`) {
			t.Errorf("unready is %s, want the step with the mail", got)
		}
		graph("false")
		refused := s.call("editor", http.MethodPost+" "+at+"/activate", "")
		if refused.status != 400 || refused.code != "INVALID_GRAPH" || !strings.Contains(refused.text, `"mail"`) {
			t.Errorf("activating it: %d %s", refused.status, refused.text)
		}
	})
}
