package httpapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/engine/transfer"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// rawCall sends a request and returns the recorded answer.
func (s *apiTest) rawCall(caller, method, path, contentType, body string, headers ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	var sent io.Reader = strings.NewReader(body)
	if len(body) > 1<<20 {
		sent = struct{ io.Reader }{sent} // without Content-Length
	}
	req := httptest.NewRequest(method, path, sent)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	if strings.HasPrefix(caller, "key") {
		req.Header.Set("X-API-Key", caller)
	} else {
		req.AddCookie(&http.Cookie{Name: "role", Value: caller})
	}
	w := httptest.NewRecorder()
	s.router.ServeHTTP(w, req)
	return w
}

const formType = "multipart/form-data; boundary=x"

// formOf returns a form with a file and options.
func formOf(file, options string) string {
	text := "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\nContent-Type: text/csv\r\n\r\n" + file + "\r\n"
	if options != "" {
		text += "--x\r\nContent-Disposition: form-data; name=\"options\"\r\n\r\n" + options + "\r\n"
	}
	return text + "--x--\r\n"
}

// importFile posts a file to import and returns the answer.
func (s *apiTest) importFile(caller, file, options string) (status int, body map[string]any) {
	s.t.Helper()
	w := s.rawCall(caller, "POST", "/t/acme/api/contacts/import", formType, formOf(file, options))
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		s.t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	return w.Code, body
}

// runJobs runs the queued jobs.
func (s *apiTest) runJobs() {
	s.t.Helper()
	clock := func() time.Time { return s.now }
	e := job.Engine{
		DB: s.db, Owner: "test", Now: clock, Log: slog.New(slog.DiscardHandler),
		Runners: map[job.Kind]job.Runner{
			job.Import: transfer.Import, job.ImportUndo: transfer.UndoImport,
			job.Export: newAPI(s.t, s.db, s.router.BaseURL, clock, s.router.Log).Exporter().Run,
		},
	}
	for {
		more, err := e.Tick(s.t.Context())
		if err != nil {
			s.t.Fatal(err)
		}
		if !more {
			return
		}
	}
}

// storedFiles returns the number of stored files.
func (s *apiTest) storedFiles() (n int) {
	s.t.Helper()
	if err := s.db.QueryRow(s.t.Context(), `SELECT COUNT(*) FROM job_file /* all tenants: a test */`).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

func TestAnImportFromUploadToErrorsFile(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		status, body := s.importFile("key contacts:write", "email;first_name\nann@example.org;Ann\nnonsense;X\n", `{"tags": ["new"]}`)
		job, _ := body["job_id"].(string)
		if status != 202 || len(body) != 1 || !id.Valid(job) {
			t.Fatalf("POST /contacts/import = %d %v", status, body)
		}
		path := "GET /jobs/" + job
		waits := s.must(200, "key contacts:write", path, "")
		if fmt.Sprint(waits.body) != fmt.Sprintf("map[created_at:%s id:%s progress:map[processed:0] status:queued type:import]", waits.str("created_at"), job) {
			t.Errorf("a queued job: %s", waits.text)
		}
		if w := s.rawCall("key", "GET", "/t/acme/api/jobs/"+job+"/download", "", ""); w.Code != 404 {
			t.Errorf("the errors file of a queued job = %d", w.Code)
		}
		s.runJobs()
		done := s.must(200, "viewer", path, "")
		result, _ := done.body["result"].(map[string]any)
		url, _ := result["errors_url"].(string)
		if done.str("status") != "completed" || done.str("finished_at") == "" || fmt.Sprint(result["rows"], result["created"], result["updated"], result["skipped"], result["invalid"]) != "2 1 0 0 1" ||
			fmt.Sprint(done.body["progress"]) != "map[processed:2 total:2]" || !strings.HasPrefix(url, "http://127.0.0.1:8080/t/acme/api/jobs/"+job+"/download") {
			t.Fatalf("the job = %s", done.text)
		}
		w := s.rawCall("key contacts:write", "GET", strings.TrimPrefix(url, "http://127.0.0.1:8080"), "", "")
		if w.Code != 200 || w.Header().Get("Content-Type") != "text/csv; charset=utf-8" || w.Header().Get("Content-Disposition") != `attachment; filename="import-errors-2026-03-01.csv"` ||
			w.Body.String() != "\ufeffemail;first_name;error_row;error_column;error_code;error_message\nnonsense;X;3;email;INVALID_INPUT;the address has no @\n" {
			t.Errorf("the errors file = %d %v\n%s", w.Code, w.Header(), w.Body)
		}
		if w := s.rawCall("viewer", "HEAD", "/t/acme/api/jobs/"+job+"/download", "", ""); w.Code != 200 || w.Body.Len() != 0 {
			t.Errorf("HEAD of the errors file = %d, %d bytes", w.Code, w.Body.Len())
		}
		if got := s.must(409, "key", "POST /jobs/"+job+"/cancel", ""); got.code != "INVALID_TRANSITION" {
			t.Errorf("cancelling an ended job: %s", got.text)
		}
		s.now = s.now.Add(8 * 24 * time.Hour)
		if w := s.rawCall("key", "GET", "/t/acme/api/jobs/"+job+"/download", "", ""); w.Code != 404 {
			t.Errorf("the errors file after 8 days = %d", w.Code)
		}
	})
}

// A dry run keeps its file, which the import then names.
func TestAFileIsSentOnceForItsDryRunsAndItsImport(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		_, body := s.importFile("editor", "email\nann@example.org\n", `{"dry_run": true}`)
		file, _ := body["file_id"].(string)
		name := func(caller, tenant, options string) *httptest.ResponseRecorder {
			form := "--x\r\nContent-Disposition: form-data; name=\"options\"\r\n\r\n" + fmt.Sprintf(options, file) + "\r\n--x--\r\n"
			return s.rawCall(caller, "POST", "/t/"+tenant+"/api/contacts/import", formType, form)
		}
		if w := name("editor", "acme", `{"file_id": %q, "dry_run": true, "strict": true}`); w.Code != 202 || !strings.Contains(w.Body.String(), `"file_id":"`+file+`"`) {
			t.Errorf("a second dry run = %d %s", w.Code, w.Body)
		}
		s.runJobs()
		for _, tt := range []struct {
			name, caller, tenant, options string
			status                        int
			text                          string
		}{
			{"of another tenant", "key", "other", `{"file_id": %q}`, 404, `"path":"options.file_id"`},
			{"by who may not import", "viewer", "acme", `{"file_id": %q}`, 403, "FORBIDDEN"},
			{"with a mistake", "key", "acme", `{"file_id": %q, "mapping": {"x": "city"}}`, 400, "options.mapping.x"},
			{"of another type", "key", "acme", `{"file_id": [%q]}`, 400, "options.file_id"},
			{"without a value", "key", "acme", `{"file_id": null, "mode": %q}`, 400, `"options.mode"`},
			{"with a sheet", "key", "acme", `{"file_id": %q, "sheet": "x"}`, 400, "options.sheet"},
		} {
			if w := name(tt.caller, tt.tenant, tt.options); w.Code != tt.status || !strings.Contains(w.Body.String(), tt.text) {
				t.Errorf("a file %s: %d %s, want %d %s", tt.name, w.Code, w.Body, tt.status, tt.text)
			}
		}
		if status, body := s.importFile("editor", "email\n", fmt.Sprintf(`{"file_id": %q}`, file)); status != 400 {
			t.Errorf("a file that is named and one that is sent = %d %v", status, body)
		}
		first := name("editor", "acme", `{"file_id": %q}`)
		if first.Code != 202 || strings.Contains(first.Body.String(), "file_id") {
			t.Fatalf("the import = %d %s", first.Code, first.Body)
		}
		if w := name("editor", "acme", `{"file_id": %q}`); w.Code != 404 || !strings.Contains(w.Body.String(), `"path":"options.file_id"`) {
			t.Errorf("a second import = %d %s", w.Code, w.Body)
		}
		s.runJobs()
		if got := s.must(200, "key", "GET /contacts", ""); len(got.body["data"].([]any)) != 1 {
			t.Errorf("the contacts = %s", got.text)
		}
		if n := s.storedFiles(); n != 4 {
			t.Errorf("%d files are stored, want the one that was sent and three reports", n)
		}
	})
}

func TestAnExportFromRequestToFile(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		s.must(201, "key", "POST /contacts", `{"email": "ann@example.org", "first_name": "=1+1", "tags": ["a"]}`)
		s.must(201, "key", "POST /contacts", `{"email": "bob@example.org", "subscriptions": {"news": false}}`)
		export := func(caller, body string) string {
			job := s.must(202, caller, "POST /contacts/export", body).str("job_id")
			s.runJobs()
			return job
		}
		job := export("key contacts:read", `{"fields": ["email", "first_name", "subscriptions.news"]}`)
		done := s.must(200, "key contacts:read", "GET /jobs/"+job, "")
		result, _ := done.body["result"].(map[string]any)
		url, _ := result["download_url"].(string)
		w := s.rawCall("key contacts:read", "GET", strings.TrimPrefix(url, "http://127.0.0.1:8080"), "", "")
		if w.Code != 200 || w.Header().Get("Content-Disposition") != `attachment; filename="contacts-2026-03-01.csv"` || w.Header().Get("Content-Type") != "text/csv; charset=utf-8" ||
			w.Body.String() != "email,first_name,subscriptions.news\nann@example.org,'=1+1,\nbob@example.org,,false\n" {
			t.Errorf("the file = %d %v\n%s", w.Code, w.Header(), w.Body)
		}
		if w := s.rawCall("key", "GET", "/t/acme/api/jobs/"+job+"/download?file=errors", "", ""); w.Code != 404 {
			t.Errorf("the errors file of an export = %d", w.Code)
		}

		// NDJSON without fields has contacts as in lists.
		job = export("editor", `{"format": "ndjson"}`)
		w = s.rawCall("editor", "GET", "/t/acme/api/jobs/"+job+"/download", "", "", "Accept-Encoding", "identity")
		if w.Code != 200 || w.Header().Get("Content-Type") != "application/x-ndjson" {
			t.Fatalf("as NDJSON = %d %v", w.Code, w.Header())
		}
		rows, _ := s.must(200, "key", "GET /contacts?sort=created_at&dir=asc", "").body["data"].([]any)
		for i, line := range strings.Split(strings.TrimSuffix(w.Body.String(), "\n"), "\n") {
			var got any
			if err := json.Unmarshal([]byte(line), &got); err != nil || fmt.Sprint(got) != fmt.Sprint(rows[i]) {
				t.Errorf("line %d = %s, %v\nwant %v", i, line, err, rows[i])
			}
		}
		s.must(202, "key", "POST /contacts/export", "")
		s.must(403, "viewer", "POST /contacts/export", `{}`)
		for body, code := range map[string]string{
			`{"format": "xml"}`: "INVALID_INPUT", `{"fields": ["nope"]}`: "INVALID_INPUT", `{"selector": {"status": "nope"}}`: "INVALID_STATUS",
			`{"selector": {"filters": [{"field": "nope"}]}}`: "INVALID_FILTERS", `{"selector": {"definition": {"logic": 5}}}`: "INVALID_DEFINITION",
		} {
			if got := s.must(400, "key", "POST /contacts/export", body); got.code != code {
				t.Errorf("%s: %s, want %s", body, got.text, code)
			}
		}
	})
}

// A job can be read with the scope of the request that created it, and only by its tenant.
func TestJobsBelongToTheirScopeAndTenant(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		_, body := s.importFile("key", "email\nann@example.org\n", "")
		load, _ := body["job_id"].(string)
		export := s.must(202, "key", "POST /contacts/export", `{}`).str("job_id")
		for _, tt := range []struct {
			job, with, without string
		}{{load, "key contacts:write", "key contacts:read"}, {export, "key contacts:read", "key contacts:write"}} {
			for _, what := range []string{"GET /jobs/" + tt.job, "GET /jobs/" + tt.job + "/download", "POST /jobs/" + tt.job + "/cancel"} {
				if got := s.must(403, tt.without, what, ""); got.code != "INSUFFICIENT_SCOPE" {
					t.Errorf("%s with another scope: %s", what, got.text)
				}
				s.must(404, "key", strings.Replace(what, " /", " /t/other/api/", 1), "")
			}
			s.must(200, tt.with, "GET /jobs/"+tt.job, "")
		}
		s.must(403, "key lists:read", "GET /jobs/"+export, "")
		s.must(403, "viewer", "POST /jobs/"+export+"/cancel", "")
		if got := s.must(200, "editor", "POST /jobs/"+export+"/cancel", ""); got.str("status") != "cancelled" || got.str("finished_at") == "" {
			t.Errorf("a cancelled job = %s", got.text)
		}
		if got := s.must(404, "key", "GET /jobs/"+export+"/download", ""); got.code != "NOT_FOUND" {
			t.Errorf("the file of a cancelled export: %s", got.text)
		}
		s.must(404, "key", "GET /jobs/nope", "")
		s.must(404, "key", "GET /jobs/"+id.NewText(), "")
		s.must(400, "key", "GET /jobs/"+export+"/download?file=input", "")
	})
}

// A file that cannot be imported is refused in the request and is not stored.
func TestImportsThatAreRefused(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		for _, tt := range []struct {
			name, caller, contentType, body string
			headers                         []string
			status                          int
			code                            string
		}{
			{"no file", "key", formType, "--x--\r\n", nil, 400, "INVALID_INPUT"},
			{"an empty file", "key", formType, formOf("", ""), nil, 400, "INVALID_INPUT"},
			{"UTF-16", "key", formType, formOf("\xff\xfee\x00", ""), nil, 400, "INVALID_INPUT"},
			{"wrong options", "key", formType, formOf("email\n", `{"mode": "replace", "mapping": 5}`), nil, 400, "INVALID_INPUT"},
			{"an unknown column", "key", formType, formOf("email\n", `{"mapping": {"x": "city"}}`), nil, 400, "INVALID_INPUT"},
			{"an unknown list", "key", formType, formOf("email\n", `{"segment_key": "nope"}`), nil, 400, "INVALID_SEGMENT"},
			{"an unknown email type", "key", formType, formOf("email\n", `{"subscriptions": {"nope": true}}`), nil, 400, "INVALID_EMAIL_TYPE"},
			{"an incomplete form", "key", formType, formOf("email\n", "")[:90], nil, 400, "INVALID_INPUT"},
			{"JSON", "key", "application/json", `{}`, nil, 415, "UNSUPPORTED_MEDIA_TYPE"},
			{"CSV alone", "key", "text/csv", "email\n", nil, 415, "UNSUPPORTED_MEDIA_TYPE"},
			{"another scope", "key contacts:read", formType, formOf("email\n", ""), nil, 403, "INSUFFICIENT_SCOPE"},
			{"a viewer", "viewer", formType, formOf("email\n", ""), nil, 403, "FORBIDDEN"},
			{"a foreign page", "editor", formType, formOf("email\n", ""), []string{"Sec-Fetch-Site", "cross-site"}, 403, "CSRF_FAILED"},
		} {
			w := s.rawCall(tt.caller, "POST", "/t/acme/api/contacts/import", tt.contentType, tt.body, tt.headers...)
			if w.Code != tt.status || !strings.Contains(w.Body.String(), `"`+tt.code+`"`) {
				t.Errorf("%s: %d %s, want %d %s", tt.name, w.Code, w.Body, tt.status, tt.code)
			}
		}
		if n := s.storedFiles(); n != 0 {
			t.Errorf("%d files are stored", n)
		}
		if w := s.rawCall("editor", "POST", "/t/acme/api/contacts/import", formType, formOf("email\n", ""), "Sec-Fetch-Site", "same-origin"); w.Code != 202 {
			t.Errorf("a session = %d %s", w.Code, w.Body)
		}
	})
}

// A body of up to 100 MB is accepted. A larger one is refused, and its stored part is deleted.
func TestTheSizeOfAnImportIsLimited(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		if s.db.Dialect() != sqldb.SQLite {
			t.Skip("one database is enough")
		}
		cell := strings.Repeat("x", 1<<20)
		var file strings.Builder
		file.WriteString("email,title\n")
		for file.Len() < 99<<20 {
			file.WriteString("ann@example.org,\"" + cell[:1<<19] + "\"\n")
		}
		if status, body := s.importFile("key", file.String(), ""); status != 202 {
			t.Errorf("99 MB = %d %v", status, body)
		}
		before := s.storedFiles()
		file.WriteString(cell)
		file.WriteString(cell)
		if status, body := s.importFile("key", file.String(), ""); status != 413 {
			t.Errorf("more than 100 MB = %d %v", status, body)
		}
		if n := s.storedFiles(); n != before {
			t.Errorf("%d files, before %d", n, before)
		}
	})
}
