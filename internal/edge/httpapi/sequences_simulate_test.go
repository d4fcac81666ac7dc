package httpapi_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// state returns a digest of all tables, or the number of rows that were ever written.
func (s *apiTest) state() map[string]string {
	s.t.Helper()
	found := map[string]string{}
	if s.db.Dialect() == sqldb.SQLite {
		var n string
		err := s.db.InTx(s.t.Context(), func(tx *sqldb.DB) error { // on the connection that writes
			return tx.QueryRow(s.t.Context(), `SELECT CAST(total_changes() AS TEXT)`).Scan(&n)
		})
		if err != nil {
			s.t.Fatal(err)
		}
		found["writes"] = n
		return found
	}
	for name := range s.tableCounts() {
		var digest string
		err := s.db.QueryRow(s.t.Context(), `SELECT COALESCE(md5(string_agg(x::text, '|' ORDER BY x::text)), '') FROM "`+name+`" AS x`).Scan(&digest)
		if err != nil {
			s.t.Fatal(err)
		}
		found[name] = digest
	}
	return found
}

const simulatedGraph = `{"entry_node_id": "tag", "nodes": [
	{"id": "tag", "type": "tag", "config": {"action": "add", "tags": ["new"]}},
	{"id": "call", "type": "webhook", "config": {"url": "https://example.com/hook"}},
	{"id": "mail", "type": "send", "config": {"message_id": "$MAIL", "email_type_key": "news"}},
	{"id": "opened", "type": "wait", "config": {"mode": "until_engagement", "node_id": "mail", "event": "opened", "timeout": {"amount": 3, "unit": "day"}}},
	{"id": "pro", "type": "condition", "config": {"definition": {"logic": "and", "conditions": [{"type": "trigger_event", "property": "plan", "operator": "equals", "value": "pro"}]}}},
	{"id": "paid", "type": "wait", "config": {"mode": "until_event", "event_name": "paid", "timeout": {"amount": 4, "unit": "week"}}},
	{"id": "end", "type": "exit"}],
	"edges": [{"from_node": "tag", "to_node": "call"}, {"from_node": "call", "to_node": "pro"},
		{"from_node": "pro", "to_node": "mail", "branch_label": "true"}, {"from_node": "pro", "to_node": "paid", "branch_label": "false"},
		{"from_node": "mail", "to_node": "opened"}, {"from_node": "opened", "to_node": "end", "branch_label": "timeout"},
		{"from_node": "paid", "to_node": "end", "branch_label": "met"}]}`

// A simulation tells how many take which way, and writes nothing.
func TestASimulationOfASequence(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		mail := s.must(201, "key", "POST /messages", `{"name": "Hello", "status": "published", "content": {"subject": "Hi", "body_html": "<p>Hi</p>"}}`).str("id")
		s.must(200, "owner", "PUT /settings/account", `{"default_mta_config_key": "`+s.lane.Key+`", "default_sending_identity_email": "`+s.sender.Address+`"}`)
		seq := "/sequences/" + s.must(201, "editor", "POST /sequences", `{"name": "Welcome", "entry_trigger": {"trigger_type": "event", "trigger_config": {"event_name": "signed_up"}}}`).str("id")
		simulate := "POST " + seq + "/simulate"
		graph := strings.ReplaceAll(simulatedGraph, "$MAIL", mail)
		s.mustRefuse("viewer", simulate, `{}`, 400, "INVALID_GRAPH")
		var people []string
		for _, c := range []string{`"email": "a@example.org"`, `"email": "b@example.org"`, `"email": "c@example.org"`, `"email": "d@example.org", "subscriptions": {"news": false}`} {
			people = append(people, s.must(201, "key", "POST /contacts", `{`+c+`}`).str("id"))
		}
		for i, plan := range []string{"pro", "pro", "free", "pro", "pro"} {
			s.must(202, "key", "POST /events", `{"event_name": "signed_up", "contact_id": "`+people[i%4]+`", "properties": {"plan": "`+plan+`"}}`)
		}
		s.must(202, "key", "POST /events", `{"event_name": "other", "contact_id": "`+people[0]+`"}`)

		before := s.state()
		unsaved := s.must(200, "viewer", simulate, `{"graph": `+graph+`}`)
		s.must(200, "viewer", simulate, `{"graph": `+graph+`, "limit": 2}`).wantFields(t, map[string]string{"occurrences": "2", "enrolled": "2", "truncated": "true"})
		if after := s.state(); !maps.Equal(before, after) {
			t.Errorf("a simulation wrote: %v and %v", before, after)
		}
		unsaved.wantFields(t, map[string]string{
			"evaluated_with": `"current_contact_data"`, "occurrences": "5", "enrolled": "4", "duplicates": "1", "limited": "0", "truncated": "false",
			"sends": `{"queued":2,"refused":{"unsubscribed_type":1},"unavailable":{}}`,
		})
		for _, want := range []string{
			`{"assumed":0,"entered":4,"jumped":0,"left":4,"node_id":"tag","sends":null,"waiting":0}`,
			`{"assumed":3,"entered":3,"jumped":0,"left":3,"node_id":"opened","sends":null,"waiting":0}`,
			`{"assumed":0,"entered":1,"jumped":0,"left":0,"node_id":"paid","sends":null,"waiting":1}`,
		} {
			if got := unsaved.json("nodes"); !strings.Contains(got, want) {
				t.Errorf("the nodes are %s\nwant among them %s", got, want)
			}
		}
		for _, want := range []string{
			`{"branch_label":"true","from_node":"pro","taken":3,"to_node":"mail"}`, `{"branch_label":"met","from_node":"opened","taken":0,"to_node":null}`,
		} {
			if got := unsaved.json("edges"); !strings.Contains(got, want) {
				t.Errorf("the edges are %s\nwant among them %s", got, want)
			}
		}
		if got, want := unsaved.json("ends"), `{"contacts":1,"exit_reason":null,"node_id":"paid","sample_contact_ids":["`+people[2]+`"],"status":"waiting"}`; !strings.Contains(got, want) || !strings.Contains(got, `"exit_reason":"exit_node"`) {
			t.Errorf("the ends are %s\nwant among them %s", got, want)
		}

		// The stored graph has the same answer, and so has that of an active sequence.
		s.must(200, "editor", "PUT "+seq+"/graph", graph)
		stored := s.must(200, "viewer", simulate, `{}`)
		for _, name := range []string{"nodes", "edges", "ends", "sends"} {
			if stored.json(name) != unsaved.json(name) {
				t.Errorf("%s of the stored graph are %s, want %s", name, stored.json(name), unsaved.json(name))
			}
		}
		s.must(200, "editor", "POST "+seq+"/activate", "")
		s.must(200, "viewer", simulate, `{"since": "`+s.now.Add(-29*24*time.Hour).Format(time.RFC3339)+`", "limit": 10000}`)
	})
}

// What cannot be simulated is refused, and says why.
func TestSimulationsThatAreRefused(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		create := func(trigger string) string {
			return "POST /sequences/" + s.must(201, "editor", "POST /sequences", `{"name": "Welcome", "entry_trigger": `+trigger+`}`).str("id") + "/simulate"
		}
		graph := `{"entry_node_id": "a", "nodes": [{"id": "a", "type": "wait", "config": {"mode": "duration", "amount": 1, "unit": "day"}}], "edges": []}`
		event := create(`{"trigger_type": "event", "trigger_config": {"event_name": "x"}}`)
		s.mustRefuse("viewer", create(`null`), `{"graph": `+graph+`}`, 422, "NO_TRIGGER")
		segment := s.must(201, "key", "POST /segments", `{"name": "Berliners", "definition": {"logic": "and", "conditions": [{"field": "city", "operator": "equals", "value": "Berlin"}]}}`).str("segment_key")
		refused := s.mustRefuse("viewer", create(`{"trigger_type": "segment_entered", "trigger_config": {"segment_key": "`+segment+`"}}`), `{"graph": `+graph+`}`, 422, "TRIGGER_NOT_RECORDED")
		if !strings.Contains(refused.text, `"recorded_since":null`) {
			t.Errorf("of a segment that nothing watches: %s", refused.text)
		}
		for body, code := range map[string]string{
			`{}`: "INVALID_GRAPH",
			`{"graph": {"entry_node_id": "b", "nodes": [], "edges": []}}`:                                                                                "INVALID_GRAPH",
			`{"graph": {"entry_node_id": "a", "nodes": [{"id": "a", "type": "list", "config": {"action": "add", "segment_key": "none"}}], "edges": []}}`: "INVALID_GRAPH",
			`{"limit": 0}`:                          "INVALID_INPUT",
			`{"limit": 10001}`:                      "INVALID_INPUT",
			`{"limit": null}`:                       "INVALID_INPUT",
			`{"limit": "5"}`:                        "INVALID_INPUT",
			`{"since": "yesterday"}`:                "INVALID_INPUT",
			`{"since": ""}`:                         "INVALID_INPUT",
			`{"since": null}`:                       "INVALID_INPUT",
			`{"since": "2026-01-29T12:00:00Z"}`:     "INVALID_INPUT",
			`{"since": "2030-01-01T00:00:00Z"}`:     "INVALID_INPUT",
			`{"graph": {"nodes": [], "edges": []}}`: "INVALID_INPUT",
		} {
			s.mustRefuse("viewer", event, body, 400, code)
		}
		s.mustRefuse("key", event, `{"graph": `+graph+`}`, 403, "API_KEY_FORBIDDEN")
		s.mustRefuse("viewer", "POST /sequences/"+unknownID+"/simulate", `{}`, 404, "NOT_FOUND")
		s.mustRefuse("viewer", "POST /t/other/api"+strings.TrimPrefix(event, "POST "), `{"graph": `+graph+`}`, 404, "NOT_FOUND")
		s.must(200, "viewer", event, `{"graph": `+graph+`}`).wantFields(t, map[string]string{"occurrences": "0", "enrolled": "0", "ends": "[]", "truncated": "false"})
	})
}
