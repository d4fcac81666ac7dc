package httpapi_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/message/outbox"
)

func TestVariantsOfABroadcast(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		const variants = `"variants": [{"id": "a", "name": "Short", "weight": 1, "content_overrides": {"subject": "Hi"}},
			{"id": "b", "name": "Long", "weight": 2.5, "content_overrides": {"subject": "Good morning", "body_text": "plain"}}]`
		made := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{`+variants+`}`))
		at := "/broadcasts/" + made.str("id")
		for _, caller := range []string{"key", "editor"} {
			got := s.must(200, caller, "GET "+at, "")
			list, _ := got.body["variants"].([]any)
			if len(list) != 2 {
				t.Fatalf("%s gets variants %v", caller, got.body["variants"])
			}
			b := list[1].(map[string]any)
			if o := b["content_overrides"].(map[string]any); b["id"] != "b" || b["name"] != "Long" || b["weight"] != 2.5 || len(b) != 4 || len(o) != 2 || o["subject"] != "Good morning" {
				t.Errorf("%s gets the second variant as %v", caller, b)
			}
			row := s.must(200, caller, "GET /broadcasts", "").body["data"].([]any)[0].(map[string]any)
			if ids := row["variant_ids"].([]any); row["variant_count"] != 2.0 || len(ids) != 2 || ids[0] != "a" || row["variants"] != nil {
				t.Errorf("%s gets the lean row %v", caller, row)
			}
		}
		if got := s.must(200, "key", "PUT "+at, `{"content": {"from_name": "Ann"}}`); len(got.body["variants"].([]any)) != 2 || got.body["content_version"] != 2.0 {
			t.Errorf("a change of the content: %s", got.text)
		}
		if got := s.must(200, "key", "PUT "+at, `{`+strings.Replace(variants, "Hi", "Hello", 1)+`}`); got.body["content_version"] != 3.0 {
			t.Errorf("a change of a variant: %s", got.text)
		}
		if r := s.call("key", "PUT "+at, strings.Replace(`{`+variants+`}`, "Hi", "{% if %}", 1)); r.status != 400 || r.code != "LIQUID_INVALID" || !strings.Contains(r.text, "variants[0] (a)") {
			t.Errorf("bad Liquid in a variant answered %d %s", r.status, r.text)
		}
		if got := s.must(200, "key", "PUT "+at, `{"variants": null}`); got.body["variants"] != nil || got.body["content_version"] != 4.0 {
			t.Errorf("without variants: %s", got.text)
		}
	})
}

// Variants that do not differ are a warning when they are saved, and keep a broadcast from being scheduled.
func TestVariantsMustDiffer(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		body := func(second string) string {
			return `{"variants": [{"id": "a", "name": "Short", "weight": 1, "content_overrides": {"subject": "Hi"}}, {"id": "b", "name": "Long", "weight": 1, "content_overrides": {"subject": "` + second + `"}}]}`
		}
		made := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, body("Hi")))
		at := "/broadcasts/" + made.str("id")
		const text = `the variants "Short" and "Long" do not differ: change one of them, or remove it`
		saved := s.must(200, "key", "PUT "+at, body("Hi")).body
		if pick(t, saved, "warnings", 0, "code") != "VARIANTS_ALIKE" || pick(t, saved, "warnings", 0, "field") != "variants[1]" || pick(t, saved, "warnings", 0, "message") != text {
			t.Errorf("saved with the warnings %v", saved["warnings"])
		}
		if reason := pick(t, saved, "view_model", "schedule_readiness", "reasons", 0); pick(t, reason, "code") != "INVALID_VARIANTS" || pick(t, reason, "guard") != "content" || pick(t, reason, "message") != text {
			t.Errorf("not ready because of %v", reason)
		}
		if r := s.call("key", "POST "+at+"/schedule", ""); r.status != 400 || r.code != "INVALID_VARIANTS" || pick(t, r.body, "error", "details", "reasons", 0, "message") != text {
			t.Errorf("scheduling answers %d %s", r.status, r.text)
		}
		if saved := s.must(200, "key", "PUT "+at, body("Hello")).body; len(saved["warnings"].([]any)) > 0 {
			t.Errorf("variants that differ have the warnings %v", saved["warnings"])
		}
		s.must(200, "key", "POST "+at+"/schedule", "")
	})
}

// Rates of variants have their intervals, and a variant is ahead if its interval lies above those of the others.
func TestVariantsAreCompared(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		at, records := s.send(t, `{"scheduled_at": "2026-01-01", "variants": [{"id": "a", "name": "Short", "weight": 1, "content_overrides": {"subject": "Hi"}}, {"id": "b", "name": "Long", "weight": 1, "content_overrides": {"subject": "Hello"}}]}`, 20)
		send := records[0].Send
		write := func(statement string, args ...any) {
			t.Helper()
			if _, err := s.db.Exec(t.Context(), statement, append([]any{s.acme, send}, args...)...); err != nil {
				t.Fatal(err)
			}
		}
		mixes, err := outbox.LoadMixes(t.Context(), s.db, s.acme, send)
		if err != nil || len(mixes) != 2 {
			t.Fatalf("%d mixes, %v", len(mixes), err)
		}
		for i, m := range mixes {
			write(`UPDATE outbox_mix_sum SET total = 1000, delivered = 1000 WHERE tenant_id = $1 AND send_id = $2 AND n = $3`, m.N)
			opened := map[string]int{"a": 300, "b": 200}[m.Variant]
			write(`INSERT INTO engagement_sum (tenant_id, send_id, part, mix, verified_opened, human_clicked) VALUES ($1, $2, $3, $4, $5, 50)`, i, m.N, opened)
		}
		e := s.must(200, "key", "GET "+at+"/engagement", "").body
		if d := cmp.Diff(map[string]any{
			"delivered": map[string]any{"rate": 1.0, "low": 0.9962, "high": 1.0}, "opened": map[string]any{"rate": 0.3, "low": 0.2724, "high": 0.3291},
			"clicked": map[string]any{"rate": 0.05, "low": 0.0381, "high": 0.0653}, "unsubscribed": map[string]any{"rate": 0.0, "low": 0.0, "high": 0.0038},
			"bounced": map[string]any{"rate": 0.0, "low": 0.0, "high": 0.0038},
		}, pick(t, e, "by_variant", 0, "rates")); d != "" {
			t.Errorf("rates of the first variant (-want +got):\n%s", d)
		}
		if d := cmp.Diff(map[string]any{"opened": "a", "clicked": nil}, e["ahead"]); d != "" {
			t.Errorf("ahead (-want +got):\n%s", d)
		}
	})
}
