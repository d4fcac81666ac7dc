package httpapi_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/campaign/automation"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/engine/flow"
)

// Headers of webhook steps are stored sealed and shown by name. A request that leaves the value out keeps
// it, for the host that it was given for.
func TestHeadersOfWebhookStepsAreSecrets(t *testing.T) {
	const token = "Bearer TOPSECRET-123"
	action := func(url, headers string) string {
		return fmt.Sprintf(`{"type": "webhook", "config": {"url": "https://%s", "headers": %s}}`, url, headers)
	}
	graph := func(url, headers string) string {
		return `{"entry_node_id": "call", "edges": [], "nodes": [{"id": "call", ` + strings.TrimPrefix(action(url, headers), "{") + `]}`
	}
	box, err := secret.NewBox(make([]byte, secret.KeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	eachAPI(t, func(t *testing.T, s *apiTest) {
		clock := func() time.Time { return s.now }
		stored := func() []string {
			var rows []string
			for _, row := range dumpTables(t, s.db) {
				if strings.Contains(row, "TOPSECRET") {
					rows = append(rows, row)
				}
			}
			return rows
		}
		seq := s.must(201, "editor", "POST /sequences", `{"name": "S"}`).str("id")
		auto := `{"name": "A", "trigger_type": "event", "trigger_config": {"event_name": "paid"}, "actions": [` + action("hooks.example.com/a", `{"Authorization": "`+token+`", "X-Plan": "{{ event.plan }}"}`) + `]}`
		a := s.must(201, "editor", "POST /automations", auto)
		for _, r := range []response{
			a,
			s.must(200, "viewer", "GET /automations/"+a.str("id"), ""),
			s.must(200, "viewer", "GET /automations", ""),
			s.must(200, "editor", "PUT /sequences/"+seq+"/graph", graph("hooks.example.com/s", `{"Authorization": "`+token+`"}`)),
			s.must(200, "viewer", "GET /sequences/"+seq, ""),
			s.must(201, "editor", "POST /sequences/"+seq+"/duplicate", ""),
		} {
			if strings.Contains(r.text, "TOPSECRET") || strings.Contains(r.text, "sealed") || !strings.Contains(r.text, `"Authorization":null`) {
				t.Errorf("the response shows: %s", r.text)
			}
		}
		if rows := stored(); len(rows) != 0 {
			t.Errorf("stored in plain: %v", rows)
		}

		put := func(status int, problem, list string) {
			t.Helper()
			r := s.call("editor", "PUT /automations/"+a.str("id"), `{"actions": [`+list+`]}`)
			if r.status != status || r.problems() != problem {
				t.Errorf("PUT %s: %d %s", list, r.status, r.text)
			}
		}
		kept := action("hooks.example.com/b", `{"Authorization": null, "X-Plan": null}`)
		put(200, "", kept)
		put(200, "", `{"type": "tag", "config": {"action": "add", "tags": ["x"]}}, `+kept)
		put(400, "actions[0].config.headers.Authorization", action("evil.example.com/", `{"Authorization": null}`))
		put(400, "actions[0].config.headers.X-New", action("hooks.example.com/", `{"X-New": null}`))
		put(400, "actions[0].config.headers.Authorization", action("hooks.example.com/", `{"Authorization": {"sealed": "v1.AAAA"}}`))
		put(400, "actions[0].config.headers.Authorization", action("hooks.example.com/", `{"Authorization": "{{"}`))
		r := s.call("editor", "PUT /sequences/"+seq+"/graph", graph("evil.example.com/", `{"Authorization": null}`))
		if r.status != 400 || !strings.Contains(r.text, "headers.Authorization: no value is stored") {
			t.Errorf("a graph that sends the value elsewhere: %d %s", r.status, r.text)
		}
		s.must(200, "editor", "PUT /sequences/"+seq+"/graph", graph("hooks.example.com/t", `{"authorization": null}`))

		// A call has the value, which is stored sealed there too.
		s.must(201, "key", "PUT /contacts", `{"email": "ann@example.org"}`)
		s.must(202, "key", "POST /events", `{"event_name": "paid", "contact_email": "ann@example.org", "properties": {"plan": "pro"}}`)
		log := slog.New(slog.DiscardHandler)
		if err := (&journal.Engine{DB: s.db, Log: log, Followers: []journal.Follower{automation.Follower(clock)}}).Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := (&flow.Automations{DB: s.db, Box: box, Now: clock, Log: log}).Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
		if rows := stored(); len(rows) != 0 {
			t.Errorf("stored in plain with the delivery: %v", rows)
		}

		// What an earlier version stored is sealed once, and shown as before.
		exec := func(query, value string) {
			if _, err := s.db.Exec(t.Context(), query, s.acme, value); err != nil {
				t.Fatal(err)
			}
		}
		exec(`UPDATE automation SET actions = $2 WHERE tenant_id = $1`, `[`+action("hooks.example.com/old", `{"Authorization": "`+token+`"}`)+`]`)
		exec(`UPDATE sequence SET graph = $2 WHERE tenant_id = $1`, graph("hooks.example.com/old", `{"Authorization": "`+token+`"}`))
		if len(stored()) != 3 {
			t.Fatalf("an earlier version stores %v", stored())
		}
		for range 2 {
			if err := sequence.SealAll(t.Context(), s.db, box); err != nil {
				t.Fatal(err)
			}
			if err := automation.SealAll(t.Context(), s.db, box); err != nil {
				t.Fatal(err)
			}
		}
		if rows := stored(); len(rows) != 0 {
			t.Errorf("stored in plain after the start: %v", rows)
		}
		which, _ := id.Parse[id.Automation](a.str("id"))
		found, err := automation.Load(t.Context(), s.db, s.acme, which)
		if err != nil {
			t.Fatal(err)
		}
		texts, err := found.Steps()[0].(sequence.WebhookStep).Headers.Open(box, s.acme, "https://hooks.example.com/old")
		if diff := cmp.Diff(map[string]string{"Authorization": token}, texts); err != nil || diff != "" {
			t.Errorf("the value after the start: %v %s", err, diff)
		}
	})
}
