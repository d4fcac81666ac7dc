package httpapi_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// The recipients of a broadcast and their bounces are exported as the lists show them.
func TestAnExportOfABroadcast(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		at, records := s.sendTo(t, 3)
		ended := s.now.UnixMicro()
		for i, set := range []string{"state = 'delivered', sent_at = " + fmt.Sprint(ended), "state = 'bounced'"} {
			if n, err := s.db.Exec(t.Context(), `UPDATE outbox SET `+set+` WHERE tenant_id = $1 AND id = $2`, s.acme, records[i].ID); err != nil || n != 1 {
				t.Fatal(n, err)
			}
		}
		if _, err := s.db.Exec(t.Context(), `
			INSERT INTO outbox_note (tenant_id, send_id, contact_id, message_id, state, bounce_type, smtp_code, error, ended_at)
			SELECT tenant_id, send_id, contact_id, id, state, 'hard', 550, '=no such user', `+fmt.Sprint(ended)+` FROM outbox WHERE tenant_id = $1 AND id = $2`,
			s.acme, records[1].ID); err != nil {
			t.Fatal(err)
		}
		file := func(body string) (text, disposition string) {
			t.Helper()
			job := s.must(202, "editor", "POST "+at+"/export", body).str("job_id")
			s.runJobs()
			w := s.rawCall("editor", "GET", "/t/acme/api/jobs/"+job+"/download", "", "", "Accept-Encoding", "identity")
			if w.Code != 200 {
				t.Fatalf("the file of %s = %d %s", body, w.Code, w.Body)
			}
			return w.Body.String(), w.Header().Get("Content-Disposition")
		}
		text, disposition := file(`{"what": "recipients"}`)
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil || len(rows) != 4 || !strings.HasPrefix(disposition, `attachment; filename="recipients-`) {
			t.Fatalf("%d rows, %v, %s", len(rows), err, disposition)
		}
		list, _ := s.must(200, "viewer", "GET "+at+"/recipients", "").body["data"].([]any)
		for i, cells := range rows[1:] {
			want, _ := list[i].(map[string]any)
			for j, name := range rows[0] {
				value, known := want[name]
				if text := fmt.Sprint(value); !known || cells[j] != strings.Replace(strings.Replace(text, "<nil>", "", 1), "=no", "'=no", 1) {
					t.Errorf("row %d, %s = %q, want %q", i, name, cells[j], text)
				}
			}
		}
		text, _ = file(`{"what": "recipients", "status": "delivered,bounced", "format": "ndjson", "search": "` + records[0].Email + `"}`)
		var one map[string]any
		if err := json.Unmarshal([]byte(text), &one); err != nil || one["email"] != records[0].Email || one["status"] != "delivered" {
			t.Errorf("the delivered ones: %s, %v", text, err)
		}
		if text, _ = file(`{"what": "recipients", "status": "failed"}`); strings.Count(text, "\n") != 1 {
			t.Errorf("those that failed: %s", text)
		}
		text, disposition = file(`{"what": "bounces"}`)
		if want := records[1].Contact.String() + "," + records[1].Email + ",hard,other,550,,'=no such user,"; !strings.Contains(text, want) || strings.Count(text, "\n") != 2 ||
			!strings.HasPrefix(disposition, `attachment; filename="bounces-`) {
			t.Errorf("bounces: %s, %s", text, disposition)
		}
		if got := s.must(200, "viewer", "GET /jobs?limit=1", "").data("title"); got[0] != "Bounces of Spring news" {
			t.Errorf("title %q", got)
		}
		for body, code := range map[string]string{`{"what": "people"}`: "INVALID_INPUT", `{"what": "recipients", "status": "x"}`: "INVALID_STATUS", `{"what": "bounces", "search": "x"}`: "INVALID_INPUT"} {
			s.mustRefuse("editor", "POST "+at+"/export", body, 400, code)
		}
		s.must(403, "viewer", "POST "+at+"/export", `{"what": "bounces"}`)
		s.must(404, "editor", "POST /broadcasts/nope/export", `{"what": "bounces"}`)
	})
}
