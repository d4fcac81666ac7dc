package httpapi_test

import (
	"fmt"
	"log/slog"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/engine/dispatch"
	"github.com/packetboat/packetboat/internal/message/outbox"
)

// A failed broadcast has the reason, the number of failed messages and some of them, or none if it
// had no messages.
func TestFailureInfo(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		ctx := t.Context()
		tick := func() {
			t.Helper()
			engine := dispatch.Engine{DB: s.db, Owner: "test", Now: func() time.Time { return s.now }, Log: slog.New(slog.DiscardHandler)}
			for range 5 {
				if _, err := engine.Tick(ctx); err != nil {
					t.Fatal(err)
				}
			}
			followed := journal.Engine{DB: s.db, Followers: []journal.Follower{broadcast.Follower(slog.New(slog.DiscardHandler))}}
			if err := followed.Drain(ctx); err != nil {
				t.Fatal(err)
			}
		}
		exec := func(text string, args ...any) {
			t.Helper()
			if _, err := s.db.Exec(ctx, text, append([]any{s.acme}, args...)...); err != nil {
				t.Fatal(err)
			}
		}
		at, records := s.sendTo(t, 7)
		if r := s.must(200, "key", "GET "+at, ""); r.body["view_model"].(map[string]any)["failure_info"] != nil {
			t.Errorf("failure_info of a send under way: %s", r.text)
		}
		node := outbox.Node{DB: s.db, Owner: "test"}
		if err := node.Renew(ctx, s.now.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		items, err := node.Claim(ctx, s.acme, s.sendOf(s.acme, path.Base(at)), len(records), s.now)
		if err != nil {
			t.Fatal(err)
		}
		var results []outbox.Result
		for _, it := range items {
			results = append(results, outbox.Result{Item: it, State: outbox.Failed, At: s.now, Error: "expired at " + it.Email})
		}
		if _, err := node.Commit(ctx, results, nil, s.now); err != nil {
			t.Fatal(err)
		}
		tick()
		failed := s.now
		r := s.must(200, "key", "GET "+at, "")
		info, _ := r.body["view_model"].(map[string]any)["failure_info"].(map[string]any)
		samples, _ := info["samples"].([]any)
		if r.body["status"] != "failed" || info["code"] != "ALL_FAILED" || info["failed_count"] != 7.0 || info["message"] == "" || len(samples) != 5 {
			t.Fatalf("%s: %v; want ALL_FAILED of 7 with 5 samples", r.body["status"], info)
		}
		if got, want := info["failed_at"], failed.UTC().Format("2006-01-02T15:04:05.000Z"); got != want {
			t.Errorf("failed_at = %v, want %s", got, want)
		}
		for i, sample := range samples {
			if want := map[string]any{"email": records[i].Email, "error": "expired at " + records[i].Email}; fmt.Sprint(sample) != fmt.Sprint(want) {
				t.Errorf("sample %d is %v, want %v", i, sample, want)
			}
		}
		made := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"scheduled_at": "2026-01-01"}`)).str("id")
		s.must(200, "key", "POST /broadcasts/"+made+"/schedule", "")
		exec(`UPDATE sending_identity SET active = false WHERE tenant_id = $1`)
		tick()
		r = s.must(200, "key", "GET /broadcasts/"+made, "")
		if !strings.Contains(r.text, `"failure_info":{"code":"NO_IDENTITY"`) || !strings.Contains(r.text, `"failed_count":0,"samples":[]`) {
			t.Errorf("a broadcast without a sender: %s", r.text)
		}
	})
}
