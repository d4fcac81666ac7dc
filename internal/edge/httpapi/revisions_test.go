package httpapi_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// conditional reports whether the operation checks If-Match.
func (o operation) conditional() bool {
	for _, p := range o.Parameters {
		if p.Value.In == "header" && p.Value.Name == "If-Match" {
			return true
		}
	}
	return false
}

// tagged reports whether the answer has an ETag.
func (o operation) tagged() bool {
	for _, status := range []int{200, 201} {
		if res := o.Responses.Status(status); res != nil && res.Value.Headers["ETag"] != nil {
			return true
		}
	}
	return false
}

// An operation that checks If-Match refuses every revision but the present one, which it names with its
// author, and then changes nothing. With the present revision among others, also as a weak tag, it does
// what it does without a condition, and its answer has the next revision.
func TestWritesOfAnotherRevisionAreRefused(t *testing.T) {
	sequential(t)
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newConformance(t, db)
		others := s.checksums(t, "other")
		conditional := 0
		for _, st := range otherSteps {
			op := s.ops[st.op]
			if !op.conditional() {
				s.runStep(t, "acme", st)
				continue
			}
			conditional++
			x := s.requestFor("acme", st)
			before := map[string]string{}
			if db.Dialect() == sqldb.SQLite { // once is enough: a write would also change the revision
				before = s.checksums(t, "acme")
			}
			x.name, x.headers = "of another revision", map[string]string{"If-Match": `"999999", W/"x"`}
			a := s.send(t, x)
			s.checkResponse(t, x, a)
			e, _ := a.body["error"].(map[string]any)
			present, _ := e["details"].(map[string]any)
			number, _ := present["revision"].(float64)
			if a.Code != 412 || a.code() != "REVISION_CONFLICT" || number < 1 || present["updated_at"] == nil {
				t.Errorf("%s of another revision = %d %s", st.op, a.Code, a.Body)
				continue
			}
			if by, ok := present["updated_by"].(map[string]any); ok && by["type"] != "user" && by["type"] != "api_key" {
				t.Errorf("%s: the author is %v", st.op, by)
			}
			if len(before) > 0 {
				s.checkUnchanged(t, "acme", before)
			}
			x.headers["If-Match"] = fmt.Sprintf(`"999999" , W/%s`, revision.Tag(int64(number)))
			a = s.send(t, x)
			s.checkResponse(t, x, a)
			if a.Code != st.status {
				t.Errorf("%s of revision %v = %d %s, want %d", st.op, number, a.Code, a.Body, st.status)
			}
			var next int64
			if tag := a.Header().Get("ETag"); tag != "" {
				if _, err := fmt.Sscanf(tag, `"%d"`, &next); err != nil || float64(next) <= number && st.op != "resumeSendingDomain" { // which is not paused
					t.Errorf("%s of revision %v: the next is %s", st.op, number, tag)
				}
			} else if a.Code == 200 && !strings.Contains(st.body, "dry_run") {
				t.Errorf("%s: the answer has no ETag", st.op)
			}
		}
		if conditional < 40 {
			t.Errorf("%d requests were conditional", conditional)
		}
		s.checkUnchanged(t, "other", others)
	})
}

// Of several writes of one revision at the same time, one succeeds.
func TestOneOfSeveralWritesOfARevisionSucceeds(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newConformance(t, db)
		s.runStep(t, "acme", step{op: "createBroadcast", body: `{"name": "Draft", "email_type_key": "weekly", "content": {"subject": "Hi", "body_html": "<p>Hi</p>"}}`, status: 201, remember: "broadcast"})
		for _, pair := range [][2]string{
			{"getTemplate", "updateTemplate"}, {"getBlock", "updateBlock"}, {"getMessage", "updateMessage"}, {"getBroadcast", "updateBroadcast"},
			{"getSegment", "updateSegment"}, {"getSequence", "updateSequence"}, {"getAutomation", "updateAutomation"}, {"getForm", "updateForm"},
			{"getContact", "updateContact"}, {"getContact", "deleteContact"}, {"getAccount", "updateAccount"}, {"getSendingIdentity", "updateSendingIdentity"},
			{"getMtaConfig", "updateMtaConfig"}, {"getWebhook", "updateWebhook"}, {"getSeedList", "updateSeedList"}, {"getScoring", "updateScoring"}, {"getSendingDomain", "rotateSendingDomainKey"}, {"getSequence", "setSequenceGraph"}, {"getBroadcast", "deleteBroadcast"},
		} {
			at := slices.IndexFunc(otherSteps, func(st step) bool { return st.op == pair[0] })
			read := s.requestFor("acme", otherSteps[at])
			tag := s.send(t, read).Header().Get("ETag")
			body := map[string]string{
				"updateWebhook": `{"description": "N%d"}`, "updateScoring": `{"max": 10%d}`, "updateMtaConfig": `{"caps": {"max_per_second": %d}}`, "updateSendingIdentity": `{"display_name": "N%d"}`, "updateContact": `{"city": "C%d"}`,
				"deleteContact": "%.0s", "deleteBroadcast": "%.0s", "rotateSendingDomainKey": "%.0s",
				"setSequenceGraph": `{"entry_node_id": "n%d", "nodes": [{"id": "n%[1]d", "type": "wait", "config": {"mode": "duration", "amount": 1, "unit": "day"}}], "edges": []}`,
			}[pair[1]]
			if body == "" {
				body = `{"name": "N%d"}`
			}
			statuses := make([]int, 4)
			var wg sync.WaitGroup
			for i := range statuses {
				wg.Go(func() {
					x := read
					x.op, x.name, x.body = s.ops[pair[1]], "concurrently", fmt.Sprintf(body, i+1)
					x.headers = map[string]string{"If-Match": tag}
					if x.op.session() || pair[1] == "updateAccount" {
						x.caller = s.records["acme"]["owner"]
					}
					statuses[i] = s.send(t, x).Code
				})
			}
			wg.Wait()
			done, refused := 0, 0
			for _, status := range statuses {
				switch {
				case status < 300:
					done++
				case status == 412, status == 404 && strings.HasPrefix(pair[1], "delete"): // deleted meanwhile
					refused++
				}
			}
			if done != 1 || done+refused != len(statuses) {
				t.Errorf("%s of revision %s four times = %d, want one success", pair[1], tag, statuses)
			}
		}
	})
}

// What does not describe a revision is refused before the record is looked at, and a record that does not
// exist is not found, whatever the condition.
func TestConditionsThatAreMalformed(t *testing.T) {
	t.Parallel()
	s := newConformance(t, sqliteOnly(t))
	x := s.requestFor("acme", step{op: "updateTemplate", path: map[string]string{"id": "letter"}, body: `{"tags": []}`})
	for range 2 {
		s.send(t, x) // the revisions "1" and "2" have passed
	}
	for condition, status := range map[string]int{
		"*": 200, ` "1" `: 412, `"2"`: 412, `""`: 412, `"01"`: 412, `"-1"`: 412, `W/"x", "y"`: 412,
		"1": 400, `"1`: 400, `"1" "2"`: 400, `w/"1"`: 400, `*, "1"`: 400, `,`: 400, strings.Repeat(`"1",`, 101): 400,
	} {
		y := x
		y.name, y.headers = condition, map[string]string{"If-Match": condition}
		a := s.send(t, y)
		s.checkResponse(t, y, a)
		if a.Code != status {
			t.Errorf("If-Match: %.40s = %d %s, want %d", condition, a.Code, a.Body, status)
		}
		if a.Code == 400 && !slices.Equal(problemsOfResponse(a), []string{"If-Match"}) {
			t.Errorf("If-Match: %.40s: problems %v", condition, problemsOfResponse(a))
		}
	}
	x.headers, x.path = map[string]string{"If-Match": `"999999"`}, map[string]string{"id": unknownID}
	if a := s.send(t, x); a.Code != 404 {
		t.Errorf("an unknown template with a condition = %d %s", a.Code, a.Body)
	}
}

// The conflict names who wrote the present revision, by the present name: a user, an API key, or nobody.
func TestConflictsNameTheAuthor(t *testing.T) {
	sequential(t)
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newConformance(t, db)
		for caller, want := range map[string]string{s.records["acme"]["owner"]: "user owner", s.keys["acme"]: "api_key all"} {
			x := s.requestFor("acme", step{op: "updateContact", path: map[string]string{"id": "{contact}"}, body: `{"city": "` + want + `"}`})
			x.caller = caller
			if a := s.send(t, x); a.Code != 200 {
				t.Fatalf("%d %s", a.Code, a.Body)
			}
			x.headers = map[string]string{"If-Match": `"0"`}
			a := s.send(t, x)
			e, _ := a.body["error"].(map[string]any)
			details, _ := e["details"].(map[string]any)
			by, _ := details["updated_by"].(map[string]any)
			if got := fmt.Sprint(by["type"], " ", by["name"]); a.Code != 412 || got != want {
				t.Errorf("the author in %s is %q, want %q", a.Body, got, want)
			}
		}
	})
}

// All answers with one record have its revision.
func TestRecordsHaveETags(t *testing.T) {
	t.Parallel()
	s := newConformance(t, sqliteOnly(t))
	for _, name := range []string{
		"Broadcast", "Template", "Block", "Message", "Segment", "Sequence", "Automation", "Form", "Contact", "SendingDomain", "SendingIdentity", "MtaConfig", "Webhook", "SeedList",
	} {
		for _, verb := range []string{"get", "create"} {
			if !s.ops[verb+name].tagged() {
				t.Errorf("%s%s has no ETag", verb, name)
			}
		}
	}
	for _, st := range slices.Concat(setupSteps, otherSteps) {
		op := s.ops[st.op]
		if op.method != "GET" || !op.tagged() {
			continue
		}
		x := s.requestFor("acme", st)
		for _, caller := range []string{x.caller, s.records["acme"]["owner"]} {
			x.caller = caller
			if a := s.send(t, x); a.Code != st.status || len(a.Header().Get("ETag")) < 3 {
				t.Errorf("%s = %d with ETag %q", st.op, a.Code, a.Header().Get("ETag"))
			}
		}
	}
}
