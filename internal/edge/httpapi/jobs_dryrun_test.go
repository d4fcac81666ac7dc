package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/campaign/webhook"
)

// A dry run of an import has the result of the import that follows, and changes nothing.
func TestDryRunsOfImports(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		ann := s.must(201, "key", "POST /contacts", `{"email": "ann@example.org"}`).str("id")
		s.must(201, "key", "POST /segments", `{"name": "Readers", "type": "static"}`)
		s.must(201, "admin", "POST /settings/webhooks", `{"url": "https://hooks.example.com/", "event_types": ["import.completed", "contact.created"]}`)
		s.follow(webhook.Follower(s.router.Now)) // what happened so far
		queued := s.deliveries()
		var file strings.Builder
		file.WriteString("email,city\nAnn@Example.org,Rome\nbroken,Rome\n")
		for i := range 2300 { // three batches; each address occurs in two of them
			fmt.Fprintf(&file, "p%d@example.org,Oslo\n", i%1150)
		}
		options := func(mode string, dry bool) string {
			return fmt.Sprintf(`{"mode": "%s", "tags": ["x"], "segment_key": "readers", "dry_run": %t}`, mode, dry)
		}
		result := func(mode string, dry bool) response {
			t.Helper()
			status, body := s.importFile("editor", file.String(), options(mode, dry))
			if status != http.StatusAccepted {
				t.Fatal(body)
			}
			s.runJobs()
			return s.must(200, "viewer", "GET /jobs/"+body["job_id"].(string), "")
		}
		for mode, want := range map[string]string{
			"upsert": `"created":1150,"dry_run":true,`, "create": `"created":1150,"dry_run":true,`, "update": `"created":0,"dry_run":true,`,
		} {
			r := result(mode, true)
			if got := r.json("result"); r.str("status") != "completed" || !strings.Contains(got, want) || r.json("result.invalid") != "1" || r.json("result.rows") != "2302" || r.json("result.report.file.encoding") != `"utf-8"` {
				t.Errorf("%s: %s %s", mode, r.str("status"), got)
			}
			errs := s.rawCall("viewer", "GET", "/t/acme/api/jobs/"+r.str("id")+"/download?file=errors", "", "")
			if errs.Code != 200 || !strings.Contains(errs.Body.String(), "broken") {
				t.Errorf("%s: the errors file is %d %s", mode, errs.Code, errs.Body)
			}
		}
		s.must(200, "viewer", "GET /contacts/count", "").wantFields(t, map[string]string{"count": "1"})
		s.must(200, "viewer", "GET /contacts/"+ann, "").wantFields(t, map[string]string{"city": "null", "tags": "[]"})
		s.must(200, "viewer", "GET /segments/readers", "").wantFields(t, map[string]string{"member_count_total": "0"})
		s.follow(webhook.Follower(s.router.Now))
		if n := s.deliveries(); n != queued {
			t.Errorf("%d deliveries are queued, want %d", n, queued)
		}
		dry := result("upsert", true)
		wet := result("upsert", false)
		for _, field := range []string{"rows", "created", "updated", "skipped", "invalid"} {
			if got, want := dry.json("result."+field), wet.json("result."+field); got != want {
				t.Errorf("%s of the dry run: %s, of the import %s", field, got, want)
			}
		}
		dry.wantFields(t, map[string]string{"title": `"Import of a.csv (dry run)"`})
		wet.wantFields(t, map[string]string{"title": `"Import of a.csv"`, "result.dry_run": ""})
	})
}

// deliveries counts the webhook deliveries of all tenants.
func (s *apiTest) deliveries() (n int) {
	s.t.Helper()
	if err := s.db.QueryRow(s.t.Context(), `SELECT COUNT(*) FROM webhook_delivery`).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}
