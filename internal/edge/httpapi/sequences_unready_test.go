package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/audience/event"
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

// A graph is stored together with the trigger, the exit conditions and whether contacts may enter again, or nothing
// of it is. A dry run tells what is wrong with all of it.
func TestAGraphIsStoredWithItsTrigger(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		at := "/sequences/" + s.must(201, "editor", "POST /sequences", `{"name": "Course"}`).str("id")
		body := func(more string) string {
			return `{"entry_node_id": "rest", "nodes": [{"id": "rest", "type": "wait", "config": {"mode": "duration", "amount": 1, "unit": "day"}}], "edges": [], ` + more + `}`
		}
		s.must(200, "editor", "PUT "+at+"/graph", body(`"allow_reentry": true, "entry_trigger": {"trigger_type": "tag_added", "trigger_config": {"tag": "vip"}}, "exit_conditions": {"events": [{"event_name": "left"}]}`)).
			wantFields(t, map[string]string{"allow_reentry": "true", "entry_trigger": `{"trigger_config":{"tag":"vip"},"trigger_type":"tag_added"}`, "exit_conditions": `{"events":[{"event_name":"left"}]}`, "entry_node_id": `"rest"`})

		// What is absent stays; null removes.
		s.must(200, "editor", "PUT "+at+"/graph", body(`"exit_conditions": null`)).
			wantFields(t, map[string]string{"allow_reentry": "true", "entry_trigger": `{"trigger_config":{"tag":"vip"},"trigger_type":"tag_added"}`, "exit_conditions": "null"})

		wrong := `"entry_trigger": {"trigger_type": "event", "trigger_config": {"event_name": ""}}, "exit_conditions": {"on_segment_left": "nowhere"}`
		dry := s.must(200, "editor", "PUT "+at+"/graph", body(`"dry_run": true, `+wrong))
		dry.wantFields(t, map[string]string{"valid": "false", "unready": "[]", "warnings": "[]"})
		refused := s.call("editor", "PUT "+at+"/graph", body(wrong))
		if refused.status != 400 || refused.code != "INVALID_GRAPH" {
			t.Errorf("a wrong trigger: %d %s", refused.status, refused.text)
		}
		for _, got := range []string{dry.json("issues"), refused.text} {
			for _, want := range []string{"entry_trigger.trigger_config.event_name: must be 1 to 128 characters", "exit_conditions: on_segment_left: there is no list or segment"} {
				if !strings.Contains(got, want) {
					t.Errorf("the issues are %s, want %s", got, want)
				}
			}
		}
		s.must(200, "key", "GET "+at, "").wantFields(t, map[string]string{"entry_trigger": `{"trigger_config":{"tag":"vip"},"trigger_type":"tag_added"}`, "exit_conditions": "null"})
	})
}

// A dry run warns if nobody may enter a sequence that can be activated.
func TestADryRunWarnsIfNobodyMayEnter(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		at := "/sequences/" + s.must(201, "editor", "POST /sequences", `{"name": "Course"}`).str("id")
		warns := func(trigger, want string) {
			t.Helper()
			dry := s.must(200, "editor", "PUT "+at+"/graph", `{"dry_run": true, "entry_node_id": "rest", "nodes": [{"id": "rest", "type": "wait", "config": {"mode": "duration", "amount": 1, "unit": "day"}}], "edges": [], "entry_trigger": `+trigger+`}`)
			dry.wantFields(t, map[string]string{"valid": "true", "unready": "[]"})
			if got := dry.json("warnings"); (want == "") != (got == "[]") || !strings.Contains(got, want) {
				t.Errorf("with %s the warnings are %s, want %q", trigger, got, want)
			}
		}
		warns(`null`, `"code":"no_trigger"`)
		warns(`{"trigger_type": "tag_added", "trigger_config": {"tag": "vip"}}`, "")
		submitted := `{"trigger_type": "form_submitted", "trigger_config": {"form_slug": "` + s.must(201, "editor", "POST /forms", `{"name": "Sign up"}`).str("slug") + `"}}`
		warns(submitted, `form_slug: the form is not published`)
		if _, err := s.db.Exec(t.Context(), `UPDATE form SET status = $2 WHERE tenant_id = $1`, s.acme, "published"); err != nil {
			t.Fatal(err)
		}
		warns(submitted, "")
		warns(`{"trigger_type": "email_engagement", "trigger_config": {"event": "opened"}}`, "")
		warns(`{"trigger_type": "email_engagement", "trigger_config": {"event": "opened", "broadcast_id": "01900000-0000-7000-8000-000000000001"}}`, `broadcast_id: there is no such broadcast`)

		bought := `{"trigger_type": "event", "trigger_config": {"event_name": "bought"}}`
		warns(bought, `no event \"bought\" has happened yet`)
		ann := s.must(201, "key", "POST /contacts", `{"email": "ann@example.com"}`).str("id")
		s.must(202, "key", "POST /events", `{"event_name": "bought", "contact_id": "`+ann+`"}`)
		s.follow(event.Follower())
		warns(bought, "")

		// Somebody adds people: no trigger is needed.
		s.must(200, "editor", "PUT "+at+"/graph", `{"entry_node_id": "rest", "nodes": [{"id": "rest", "type": "wait", "config": {"mode": "duration", "amount": 1, "unit": "day"}}], "edges": []}`)
		s.must(200, "editor", "POST "+at+"/activate", "")
		s.must(200, "key", "POST "+at+"/enroll", `{"contact_id": "`+ann+`"}`)
		s.must(200, "editor", "POST "+at+"/pause", "")
		warns(`null`, "")
	})
}
