package httpapi_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// isDeadline reports whether an answer is that of a passed deadline.
func (r response) isDeadline() bool {
	return r.status == 503 && r.code == "UNAVAILABLE" && strings.Contains(r.text, `"details":{"reason":"deadline"}`)
}

func TestEvaluationsHaveADeadline(t *testing.T) {
	t.Parallel()
	// Every evaluation exceeds this deadline.
	eachAPIWith(t, sqldb.Options{MaxConns: 8, EvaluationTime: time.Nanosecond}, func(t *testing.T, s *apiTest) {
		s.must(201, "key", "POST /contacts", `{"email": "a@example.org", "country": "DE"}`)
		s.must(201, "key", "POST /segments", `{"name": "Germans", "definition": `+germans+`}`)
		s.must(201, "key", "POST /segments", `{"name": "List", "type": "static"}`)
		draft := s.createDraft("News", `"include_segment_keys": ["germans"]`)
		field := s.must(201, "admin", "POST /settings/custom-fields", `{"name": "Plan", "field_type": "string"}`).str("id")
		const filters = "%5B%7B%22field%22%3A%22country%22%2C%22operator%22%3A%22equals%22%2C%22value%22%3A%22DE%22%7D%5D"
		for what, body := range map[string]string{
			"POST /segments/preview":                          `{"definition": ` + germans + `}`,
			"POST /segments/germans/refresh-count":            "",
			"POST /segments/list/refresh-count":               "",
			"GET /segments/germans/members":                   "",
			"GET /segments/list/members?search=a":             "",
			"GET /contacts?search=example":                    "",
			"GET /contacts?status=bounced":                    "",
			"GET /contacts?sort=last_name":                    "",
			"GET /contacts?filters=" + filters:                "",
			"GET /contacts/count?search=example":              "",
			"GET /contacts/count?filters=" + filters:          "",
			"POST /contacts/search":                           `{"definition": ` + germans + `}`,
			"GET /settings/custom-fields/" + field + "/usage": "",
		} {
			for _, caller := range []string{"key", "admin"} {
				if strings.HasPrefix(what, "GET /settings/") && caller == "key" {
					continue // for sessions only
				}
				if got := s.callUnchecked(caller, what, body); !got.isDeadline() {
					t.Errorf("%s as %s answered %d %s, want the deadline", what, caller, got.status, got.text)
				}
			}
		}
		// Stored records are shown without the counts that exceed the deadline.
		for _, what := range []string{"GET /segments/germans", "PUT /segments/germans"} {
			got := s.must(200, "key", what, `{"definition": `+germans+`}`)
			if got.body["member_count"] != nil || got.body["count"] != nil || got.body["member_count_evaluated_at"] != nil {
				t.Errorf("%s has counts: %s", what, got.text)
			}
		}
		if got := s.must(200, "key", "GET /broadcasts/"+draft, ""); !strings.Contains(got.text, "AUDIENCE_UNKNOWN") || strings.Contains(got.text, "EMPTY_AUDIENCE") {
			t.Errorf("a draft whose audience exceeds the deadline: %s", got.text)
		}
		for _, what := range []string{"GET /contacts", "GET /contacts?sort=email&dir=asc", "GET /segments", "GET /segments/list"} {
			s.must(200, "key", what, "")
		}
	})
}

// occupyEvaluations runs n evaluations of a tenant until the test ends.
func (s *apiTest) occupyEvaluations(t *testing.T, tenant string, n int) {
	t.Helper()
	var begun, ended sync.WaitGroup
	done := make(chan struct{})
	for range n {
		begun.Add(1)
		ended.Go(func() {
			err := s.db.Evaluate(sqldb.ForCaller(context.WithoutCancel(t.Context())), tenant, func(context.Context, *sqldb.DB) error {
				begun.Done()
				<-done
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	begun.Wait()
	t.Cleanup(func() { close(done); ended.Wait() })
}

func TestEvaluationsOfOneTenantDoNotBlockAnother(t *testing.T) {
	t.Parallel()
	eachAPIWith(t, sqldb.Options{MaxConns: 12}, func(t *testing.T, s *apiTest) {
		s.occupyEvaluations(t, s.acme.String(), 2)
		for _, slug := range []string{"acme", "other"} { // requests without an evaluation
			s.must(201, "key", "POST /t/"+slug+"/api/contacts", `{"email": "a@example.org", "country": "DE"}`)
			s.must(200, "key", "GET /t/"+slug+"/api/contacts", "")
		}
		if got := s.must(200, "key", "POST /t/other/api/segments/preview", `{"definition": `+germans+`}`); got.body["member_count"] != 1.0 {
			t.Errorf("the preview of another tenant: %s", got.text)
		}
		// A third evaluation of the tenant waits until its context is cancelled.
		ctx, leave := context.WithCancel(sqldb.ForCaller(t.Context()))
		third := make(chan error)
		go func() {
			third <- s.db.Evaluate(ctx, s.acme.String(), func(context.Context, *sqldb.DB) error {
				t.Error("three evaluations of a tenant at the same time")
				return nil
			})
		}()
		leave()
		if err := <-third; err == nil {
			t.Error("a third evaluation ran")
		}
	})
}
