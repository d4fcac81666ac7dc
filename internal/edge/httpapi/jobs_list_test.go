package httpapi_test

import (
	"slices"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/job"
)

// Jobs are listed newest first, page by page, by type, status and creator, and only those of the tenant.
func TestJobsAreListed(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		s.must(201, "key", "POST /contacts", `{"email": "ann@example.org"}`)
		if status, body := s.importFile("editor", "email\nbob@example.org\nnobody\n", ""); status != 202 {
			t.Fatal(body)
		}
		s.runJobs()
		s.must(202, "key", "POST /contacts/export", `{"format": "csv"}`)
		s.runJobs()
		s.must(202, "editor", "POST /contacts/bulk", `{"action": "add_tags", "selector": {"status": "active"}, "params": {"tags": ["x"]}}`)
		s.must(202, "editor", "POST /t/other/api/contacts/export", `{}`)

		all := s.must(200, "viewer", "GET /jobs", "")
		if got, want := all.data("title"), []string{"Bulk action: add tags", "Export of contacts", "Import of a.csv"}; !slices.Equal(got, want) {
			t.Errorf("titles %q, want %q", got, want)
		}
		if got, want := all.data("status"), []string{"queued", "completed", "completed"}; !slices.Equal(got, want) {
			t.Errorf("statuses %q, want %q", got, want)
		}
		until := all.data("files_until")
		if len(until) != 3 || until[0] != "" || until[1] == "" || until[2] == "" {
			t.Errorf("files_until %q: a bulk action has no files, an export and an import with an invalid row have", until)
		}
		if at, err := time.Parse(time.RFC3339, until[1]); err != nil || at.Sub(s.now) > job.KeepFor || s.now.Add(job.KeepFor).Sub(at) > time.Minute {
			t.Errorf("files_until %s, %v", until[1], err)
		}
		ids := all.data("id")
		for query, want := range map[string][]string{
			"type=import":                         ids[2:],
			"type=import,bulk":                    {ids[0], ids[2]},
			"status=queued,running":               ids[:1],
			"status=completed&type=export":        ids[1:2],
			"mine=true":                           {ids[0], ids[2]},
			"mine=true&type=export":               {},
			"mine=no":                             ids,
			"limit=2":                             ids[:2],
			"status=failed&type=import&mine=true": {},
		} {
			if got := s.must(200, "viewer", "GET /jobs?"+query, "").data("id"); !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", query, got, want)
			}
		}
		page := s.must(200, "viewer", "GET /jobs?limit=2", "")
		rest := s.must(200, "viewer", "GET /jobs?limit=2&cursor="+page.str("next_cursor"), "")
		if got := rest.data("id"); !slices.Equal(got, ids[2:]) || rest.body["has_more"] != false {
			t.Errorf("the second page has %q, want %q", got, ids[2:])
		}
		one := s.must(200, "viewer", "GET /jobs/"+ids[2], "")
		one.wantFields(t, map[string]string{"title": `"Import of a.csv"`, "created_by.type": `"user"`})
		s.must(200, "key", "GET /jobs/"+ids[2], "").wantFields(t, map[string]string{"title": "", "created_by": "", "files_until": ""})
	})
}

func TestListsOfJobsThatAreRefused(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		if r := s.mustRefuse("viewer", "GET /jobs?type=imports&status=done", "", 400, "INVALID_INPUT"); r.problems() != "type status" {
			t.Errorf("problems of %s", r.problems())
		}
		s.mustRefuse("viewer", "GET /jobs?cursor=x", "", 400, "INVALID_CURSOR")
		s.mustRefuse("key", "GET /jobs", "", 403, "API_KEY_FORBIDDEN")
	})
}
