package httpapi_test

import "testing"

// Who is enrolled is found by the first identifier that has a value; null is none.
func TestIdentifiersOfAnEnrollment(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		seq := "/sequences/" + s.must(201, "editor", "POST /sequences", `{"name": "Welcome"}`).str("id")
		s.must(200, "editor", "PUT "+seq+"/graph", `{"entry_node_id": "a", "nodes": [{"id": "a", "type": "wait", "config": {"mode": "duration", "amount": 1, "unit": "day"}}], "edges": []}`)
		enroll := "POST " + seq + "/enroll"
		bulk := func(ids string) response {
			return s.call("key", "POST /contacts/bulk", `{"action": "enroll", "contact_ids": [`+ids+`], "params": {"sequence_id": "`+seq[len("/sequences/"):]+`"}}`)
		}
		ann := s.must(201, "key", "POST /contacts", `{"email": "ann@example.org"}`).str("id")
		if r := bulk(`"` + ann + `"`); r.status != 200 || r.body["affected"] != 0.0 || r.body["results"].([]any)[0].(map[string]any)["status"] != "sequence_not_active" {
			t.Errorf("many in a draft: %d %s", r.status, r.text)
		}
		if r := s.call("key", enroll, `{"email": "ann@example.org"}`); r.status != 422 || r.code != "SEQUENCE_NOT_ENROLLABLE" {
			t.Errorf("one in a draft: %d %s", r.status, r.text)
		}
		s.must(200, "editor", "POST "+seq+"/activate", "")
		for body, want := range map[string]string{
			`{}`:                   "MISSING_IDENTIFIER",
			`{"contact_id": null}`: "MISSING_IDENTIFIER",
			`{"contact_id": null, "email": null, "external_id": null}`: "MISSING_IDENTIFIER",
			`{"contact_id": "x"}`: "INVALID_INPUT",
			`{"email": "ann@example.org", "idempotency_key": ""}`: "INVALID_INPUT",
			`{"email": 5}`: "INVALID_INPUT",
		} {
			if r := s.call("key", enroll, body); r.status != 400 || r.code != want {
				t.Errorf("%s: %d %s, want %s", body, r.status, r.text, want)
			}
		}
		if r := s.must(200, "key", enroll, `{"contact_id": null, "email": "ann@example.org", "external_id": null}`); r.str("contact_id") != ann {
			t.Errorf("an address beside nulls: %s", r.text)
		}
	})
}
