package httpapi_test

import (
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
)

// undoOf returns undo in the result of a job.
func (r response) undoOf() map[string]any {
	result, _ := r.body["result"].(map[string]any)
	undo, _ := result["undo"].(map[string]any)
	return undo
}

func TestAnImportIsUndone(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		s.must(201, "editor", "POST /segments", `{"name": "Readers", "type": "static"}`)
		_, body := s.importFile("editor", "email\nann@example.org\n", `{"segment_key": "readers"}`)
		load, _ := body["job_id"].(string)
		path := "POST /jobs/" + load + "/undo"
		s.mustRefuse("editor", path, "", 409, "INVALID_TRANSITION")
		s.runJobs()
		if undo := s.must(200, "key contacts:write", "GET /jobs/"+load, "").undoOf(); undo["until"] != "2026-03-08T12:00:00.000Z" && !strings.HasPrefix(undo["until"].(string), "2026-03-08T12:00") || undo["job_id"] != nil {
			t.Errorf("undo of the import: %v", undo)
		}
		s.mustRefuse("viewer", path, "", 403, "FORBIDDEN")
		s.mustRefuse("key contacts:read", path, "", 403, "INSUFFICIENT_SCOPE")
		if r := s.mustRefuse("key contacts:write", path, "", 403, "INSUFFICIENT_SCOPE"); !strings.Contains(r.text, "lists:write") {
			t.Errorf("without lists:write: %s", r.text)
		}
		s.must(404, "key", strings.Replace(path, " /", " /t/other/api/", 1), "")
		s.must(404, "key", "POST /jobs/"+id.NewText()+"/undo", "")
		undo := s.must(202, "key contacts:write lists:write", path, "").str("job_id")
		if again := s.mustRefuse("editor", path, "", 409, "ALREADY_UNDONE"); !strings.Contains(again.text, undo) {
			t.Errorf("a second undo: %s", again.text)
		}
		s.runJobs()
		done := s.must(200, "key contacts:write", "GET /jobs/"+undo, "")
		result, _ := done.body["result"].(map[string]any)
		if done.str("status") != "completed" || done.str("type") != "import_undo" || result["deleted"] != 1.0 || result["restored"] != 0.0 || len(result["kept"].(map[string]any)) != 0 {
			t.Errorf("the undo: %s", done.text)
		}
		if got := s.must(200, "viewer", "GET /jobs?type=import_undo", "").data("title"); len(got) != 1 || got[0] != "Undo: Import of a.csv" {
			t.Errorf("the list of undos has %q", got)
		}
		list := s.must(200, "viewer", "GET /jobs?type=import", "")
		rows, _ := list.body["data"].([]any)
		row, _ := rows[0].(map[string]any)
		if of, _ := row["result"].(map[string]any)["undo"].(map[string]any); of["job_id"] != undo {
			t.Errorf("undo in the list: %v", row)
		}
		s.mustRefuse("editor", "POST /jobs/"+undo+"/undo", "", 409, "NOT_UNDOABLE")
		contact := s.must(200, "viewer", "GET /contacts?status=suppressed", "")
		if got := contact.data("email"); len(got) != 1 || got[0] != "ann@example.org" {
			t.Errorf("deleted contacts: %s", contact.text)
		}
		// Who was deleted by an undo can be created again.
		s.must(201, "key", "POST /contacts", `{"email": "ann@example.org"}`)

		_, body = s.importFile("editor", "email\nbob@example.org\n", "")
		late, _ := body["job_id"].(string)
		s.runJobs()
		s.now = s.now.Add(7 * 24 * time.Hour)
		s.mustRefuse("editor", "POST /jobs/"+late+"/undo", "", 409, "UNDO_EXPIRED")
		if undo := s.must(200, "editor", "GET /jobs/"+late, "").undoOf(); undo != nil {
			t.Errorf("undo of an old import: %v", undo)
		}
	})
}
