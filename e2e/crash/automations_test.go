package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// callReceiver accepts the requests of webhook actions.
type callReceiver struct {
	*httptest.Server
	mu    sync.Mutex
	calls map[string]map[string]any // bodies by webhook-id
}

func newCallReceiver(t *testing.T) *callReceiver {
	r := &callReceiver{calls: map[string]map[string]any{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		text, _ := io.ReadAll(req.Body)
		var body map[string]any
		_ = json.Unmarshal(text, &body)
		r.mu.Lock()
		r.calls[req.Header.Get("Webhook-Id")] = body
		r.mu.Unlock()
	}))
	t.Cleanup(r.Close)
	return r
}

// bodies returns the bodies of all requests, once for each id.
func (r *callReceiver) bodies() []map[string]any {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []map[string]any
	for _, b := range r.calls {
		list = append(list, b)
	}
	return list
}

func automationOn(event string, actions ...map[string]any) map[string]any {
	return map[string]any{"name": "On " + event, "trigger_type": "event", "trigger_config": map[string]any{"event_name": event}, "actions": actions}
}

func action(kind string, config map[string]any) map[string]any {
	return map[string]any{"type": kind, "config": config}
}

// TestAnEventRunsAnAutomation sends an event, and reads what the automation did.
func TestAnEventRunsAnAutomation(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel()
		p := &harness.Program{Env: []string{"PACKETBOAT_ALLOW_PRIVATE_WEBHOOKS=true"}}
		e2etest.Begin(t, p, address)
		owner, err := p.SignIn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		key, calls := p.Keyed(), newCallReceiver(t)
		made := e2etest.Must(t, owner, http.MethodPost, "/automations", automationOn("order_placed",
			action("tag", map[string]any{"action": "add", "tags": []string{"buyer"}}), action("webhook", map[string]any{"url": calls.URL})))
		path := "/automations/" + made["id"].(string)
		c := e2etest.Must(t, key, http.MethodPost, "/contacts", map[string]any{"email": "ann@example.org"})
		e2etest.Must(t, key, http.MethodPost, "/events", map[string]any{"event_name": "order_placed", "contact_email": "ann@example.org", "properties": map[string]any{"value": 12}})
		runs := e2etest.Eventually(t, func() ([]any, bool) {
			list, _ := e2etest.Must(t, owner, http.MethodGet, path+"/runs", nil)["data"].([]any)
			return list, len(list) == 1 && list[0].(map[string]any)["status"] == "completed"
		})
		if len(runs) != 1 {
			t.Fatalf("the runs are %v", runs)
		}
		run := runs[0].(map[string]any)
		trigger, _ := run["trigger"].(map[string]any)
		if run["contact_id"] != c["id"] || run["email"] != "ann@example.org" || trigger["name"] != "order_placed" || run["ended_at"] == nil {
			t.Errorf("the run is %v", run)
		}
		if got := e2etest.Must(t, key, http.MethodGet, "/contacts/"+c["id"].(string), nil); fmt.Sprint(got["tags"]) != "[buyer]" {
			t.Errorf("the contact has the tags %v", got["tags"])
		}
		if got := e2etest.Must(t, owner, http.MethodGet, path, nil); got["run_count"] != 1.0 || got["last_run_at"] != run["ended_at"] {
			t.Errorf("the automation has %v runs, the last at %v", got["run_count"], got["last_run_at"])
		}
		bodies := e2etest.Eventually(t, func() ([]map[string]any, bool) { return calls.bodies(), len(calls.bodies()) == 1 })
		if len(bodies) != 1 || bodies[0]["type"] != "automation.action" || bodies[0]["data"].(map[string]any)["run_id"] != run["id"] {
			t.Errorf("the requests are %v", bodies)
		}
	})
}

// The crash proof of automations: events of contacts, each of which starts a run, whose event starts a
// run of another automation.
const (
	automated     = 1200
	automateKills = 4
)

// TestKilledProcessesExecuteEachAutomationRunOnce kills the program without a warning, at random moments, while
// events start automations. In the end each event has one run of each automation, with one of each
// effect.
func TestKilledProcessesExecuteEachAutomationRunOnce(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel()
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 9))
		p := &harness.Program{Env: []string{"PACKETBOAT_ALLOW_PRIVATE_WEBHOOKS=true"}}
		e2etest.Begin(t, p, address)
		ready, err := p.Ready(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		db, calls := e2etest.Database(t, p), newCallReceiver(t)
		defer db.Close()
		if err := harness.Seed(t.Context(), db, ready.List, automated, "example.org"); err != nil {
			t.Fatal(err)
		}
		list := e2etest.Must(t, ready.Key, http.MethodPost, "/segments", map[string]any{"name": "Automated", "type": "static"})
		first := e2etest.Must(t, ready.Owner, http.MethodPost, "/automations", automationOn("signed_up",
			action("tag", map[string]any{"action": "add", "tags": []string{"welcomed"}}),
			action("list", map[string]any{"action": "add", "segment_key": list["segment_key"]}),
			action("event", map[string]any{"event_name": "welcomed"}),
			action("webhook", map[string]any{"url": calls.URL})))
		second := e2etest.Must(t, ready.Owner, http.MethodPost, "/automations", automationOn("welcomed",
			action("update_contact", map[string]any{"fields": map[string]any{"company": "{{ company }}x"}})))
		runs := func(of map[string]any) int {
			n, _ := e2etest.Must(t, ready.Owner, http.MethodGet, "/automations/"+of["id"].(string), nil)["run_count"].(float64)
			return int(n)
		}
		for kill := range automateKills {
			const page = 30
			for from := kill * automated / automateKills; from < (kill+1)*automated/automateKills; from += page {
				var events []any
				for i := from; i < from+page; i++ {
					events = append(events, map[string]any{"event_name": "signed_up", "contact_email": fmt.Sprintf("person%d@example.org", i)})
				}
				e2etest.Must(t, ready.Key, http.MethodPost, "/events/batch", map[string]any{"events": events})
			}
			e2etest.Wait(t, time.Duration(random.IntN(400))*time.Millisecond)
			if err := p.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := p.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d and %d runs", runs(first), runs(second))
		}
		ctx, cancel := context.WithTimeout(t.Context(), longest(2*automated))
		defer cancel()
		for ctx.Err() == nil && (runs(second) < automated || len(calls.bodies()) < automated) {
			e2etest.Wait(t, 250*time.Millisecond)
		}
		if a, b := runs(first), runs(second); a != automated || b != automated {
			t.Errorf("%d and %d runs, want %d of each", a, b, automated)
		}
		checkRuns(t, db)
		if n := len(calls.bodies()); n != automated {
			t.Errorf("requests with %d ids arrived, want %d", n, automated)
		}
	})
}

// checkRuns compares everything that the automations leave behind.
func checkRuns(t *testing.T, db *sqldb.DB) {
	t.Helper()
	for text, want := range map[string]int{
		`SELECT COUNT(*) FROM automation_run`:                                                                        2 * automated,
		`SELECT COUNT(*) FROM automation_run WHERE status = 'completed'`:                                             2 * automated,
		`SELECT COUNT(DISTINCT contact_id) FROM automation_run`:                                                      automated,
		`SELECT COUNT(*) FROM journal WHERE type = 'tag_added' AND name = 'welcomed'`:                                automated,
		`SELECT COUNT(*) FROM journal WHERE type = 'event' AND name = 'welcomed'`:                                    automated,
		`SELECT COUNT(DISTINCT contact_id) FROM journal WHERE type = 'event' AND name = 'welcomed'`:                  automated,
		`SELECT COUNT(*) FROM segment_member AS m JOIN segment AS s ON s.id = m.segment_id AND s.name = 'Automated'`: automated,
		`SELECT COUNT(*) FROM webhook_delivery WHERE event_type = 'automation.action'`:                               automated,
		`SELECT COUNT(DISTINCT contact_id) FROM webhook_delivery WHERE event_type = 'automation.action'`:             automated,
		`SELECT COUNT(*) FROM contact WHERE company = 'x'`:                                                           automated,
	} {
		var got int
		if err := db.QueryRow(t.Context(), text).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
