package httpapi_test

import (
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/engine/flow"
)

// carryOut carries out the steps of sequences that are due after a time.
func (s *apiTest) carryOut(later time.Duration) {
	s.t.Helper()
	s.now = s.now.Add(later)
	e := flow.Engine{DB: s.db, Now: func() time.Time { return s.now }, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	for more := true; more; {
		var err error
		if more, err = e.Tick(s.t.Context()); err != nil {
			s.t.Fatal(err)
		}
	}
}

// The steps of an enrollment are listed page by page, to those who may read enrollments.
func TestStepsOfAnEnrollment(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		seq := "/sequences/" + s.must(201, "editor", "POST /sequences", `{"name": "Welcome"}`).str("id")
		other := "/sequences/" + s.must(201, "editor", "POST /sequences", `{"name": "Other"}`).str("id")
		s.must(200, "editor", "PUT "+seq+"/graph", `{"entry_node_id": "tag", "nodes": [
			{"id": "tag", "type": "tag", "config": {"action": "add", "tags": ["new"]}},
			{"id": "new", "type": "condition", "config": {"definition": {"logic": "and", "conditions": [{"field": "tags", "operator": "has_any", "value": ["new"]}]}}},
			{"id": "rest", "type": "wait", "config": {"mode": "duration", "amount": 1, "unit": "day"}},
			{"id": "end", "type": "exit"}],
			"edges": [{"from_node": "tag", "to_node": "new"}, {"from_node": "new", "to_node": "rest", "branch_label": "true"}, {"from_node": "rest", "to_node": "end"}]}`)
		s.must(200, "editor", "POST "+seq+"/activate", "")
		enrollment := s.must(200, "key", "POST "+seq+"/enroll", `{"email": "ann@example.org"}`).str("enrollment_id")
		steps := seq + "/enrollments/" + enrollment + "/steps"
		first := s.must(200, "key", "GET "+steps, "")
		if got := first.json("data"); !strings.Contains(got, `"code":"pending"`) || !strings.Contains(got, `"left_at":null`) {
			t.Errorf("before the first step: %s", got)
		}
		s.carryOut(0)
		s.carryOut(25 * time.Hour)
		whole := s.must(200, "viewer", "GET "+steps, "")
		whole.wantFields(t, map[string]string{"omitted": "0", "has_more": "false"})
		rows := whole.body["data"].([]any)
		if len(rows) != 4 {
			t.Fatalf("%d steps: %s", len(rows), whole.text)
		}
		for i, want := range []string{"tag carried_out", "new condition_met", "rest waited", "end exited"} {
			row := rows[i].(map[string]any)
			why := row["why"].(map[string]any)
			if got := row["node_id"].(string) + " " + why["code"].(string); got != want {
				t.Errorf("step %d is %s, want %s", i, got, want)
			}
			if row["left_at"] == nil || row["type"] == nil || row["number"] != float64(i+1) || (why["definition"] != nil) != (i == 1) || (row["branch_label"] == "true") != (i == 1) {
				t.Errorf("step %d is %v", i, row)
			}
		}
		if paged := s.pages(steps+"?x=", 3); strings.Join(paged, ",") != strings.Trim(whole.json("data"), "[]") {
			t.Errorf("by pages: %s", paged)
		}
		s.mustRefuse("key", "GET "+other+"/enrollments/"+enrollment+"/steps", "", 404, "NOT_FOUND")
		s.mustRefuse("key", "GET "+seq+"/enrollments/"+unknownID+"/steps", "", 404, "NOT_FOUND")
		s.mustRefuse("key", "GET "+seq+"/enrollments/x/steps", "", 404, "NOT_FOUND")
		s.mustRefuse("key", "GET /sequences/"+unknownID+"/enrollments/"+enrollment+"/steps", "", 404, "NOT_FOUND")
		s.mustRefuse("key", "GET "+steps+"?cursor=x", "", 400, "INVALID_CURSOR")
		s.mustRefuse("owner", "GET /t/other/api"+steps, "", 404, "NOT_FOUND")
		s.mustRefuse("key contacts:read", "GET "+steps, "", 403, "INSUFFICIENT_SCOPE")
	})
}
