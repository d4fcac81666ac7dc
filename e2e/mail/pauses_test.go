package mail

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/mail/dnstest"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// pausing is an account with a broadcast that is being sent slowly, until something pauses it.
type pausing struct {
	t         *testing.T
	p         *harness.Program
	ready     *harness.Ready
	sink      *harness.Sink
	db        *sqldb.DB
	lane      string // key
	broadcast string
}

// newPausing starts the program and a relay.
func newPausing(t *testing.T, p *harness.Program, address string, sinkArgs ...string) *pausing {
	t.Helper()
	x := &pausing{t: t}
	x.p, x.ready, x.sink = e2etest.StartWith(t, p, address, sinkArgs...)
	x.db = e2etest.Database(t, x.p)
	t.Cleanup(func() { _ = x.db.Close() })
	var err error
	if x.lane, err = x.ready.Lane(t.Context(), "relay", x.sink.Address, 4, false); err != nil {
		t.Fatal(err)
	}
	return x
}

func (x *pausing) seed(n int, domain string) {
	x.t.Helper()
	if err := harness.Seed(x.t.Context(), x.db, x.ready.List, n, domain); err != nil {
		x.t.Fatal(err)
	}
}

// send begins a broadcast to the list; perHour limits its rate, unless it is zero.
func (x *pausing) send(perHour int) (broadcast string) {
	x.t.Helper()
	body := map[string]any{
		"name": "News", "email_type_key": "newsletter", "mta_config_key": x.lane, "include_segment_keys": []string{x.ready.List},
		"scheduled_at": time.Now().Add(-time.Second).UTC().Format(time.RFC3339), "content": map[string]any{"subject": "News", "body_html": "<p>Hello</p>"},
	}
	if perHour > 0 {
		body["throttle_per_hour"] = perHour
	}
	b := e2etest.Must(x.t, x.ready.Key, http.MethodPost, "/broadcasts", body)["id"].(string)
	if err := x.ready.Schedule(x.t.Context(), b); err != nil {
		x.t.Fatal(err)
	}
	return b
}

func (x *pausing) await(broadcast, status string) map[string]any {
	x.t.Helper()
	b, err := x.ready.Await(x.t.Context(), broadcast, status)
	if err != nil {
		x.t.Fatal(err)
	}
	return b
}

// begin begins the broadcast that something is to pause.
func (x *pausing) begin() {
	x.t.Helper()
	x.broadcast = x.send(60)
	x.await(x.broadcast, "sending")
}

// restart starts the program again, and waits until it has evaluated domains and lanes, which it does at once
// and then at intervals.
func (x *pausing) restart() {
	x.t.Helper()
	if err := x.p.Stop(); err != nil {
		x.t.Fatal(err)
	}
	// Old counts are deleted at the end of the evaluation.
	x.exec(`INSERT INTO traffic (tenant_id, lane_id, domain_id, bucket, tries, unreached, delivered, deferred, hard, late, block, complained)
		SELECT tenant_id, lane_id, domain_id, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM traffic LIMIT 1`)
	if err := x.p.Start(x.t.Context()); err != nil {
		x.t.Fatal(err)
	}
	var err error
	if x.ready.Owner, err = x.p.SignIn(x.t.Context()); err != nil {
		x.t.Fatal(err)
	}
	for old := 1; old > 0; {
		e2etest.Pause(x.t)
		if err := x.db.QueryRow(x.t.Context(), `/* all tenants: a test */ SELECT COUNT(*) FROM traffic WHERE bucket = 0`).Scan(&old); err != nil {
			x.t.Fatal(err)
		}
	}
}

func (x *pausing) exec(text string, args ...any) {
	x.t.Helper()
	if _, err := x.db.Exec(x.t.Context(), "/* all tenants: a test */ "+text, args...); err != nil {
		x.t.Fatal(err)
	}
}

// paused waits until the broadcast is paused for a reason, and checks that it cannot be resumed while the
// reason persists.
func (x *pausing) paused(reason string) {
	x.t.Helper()
	if b := x.await(x.broadcast, "paused"); b["pause_reason"] != reason {
		x.t.Fatalf("the broadcast is paused as %v, want %s", b["pause_reason"], reason)
	}
	a := x.refused(http.MethodPost, "/broadcasts/"+x.broadcast+"/resume", "PAUSE_CAUSE_ACTIVE")
	if details, _ := a["details"].(map[string]any); details["pause_reason"] != reason {
		x.t.Errorf("resuming is refused with %v", a)
	}
}

// refused makes a request that must be refused with a code, and returns the error.
func (x *pausing) refused(method, path, code string) map[string]any {
	x.t.Helper()
	a, err := x.ready.Owner.Do(x.t.Context(), method, path, nil)
	if err != nil || a.Status/100 != 4 || a.Code() != code {
		x.t.Fatalf("%s %s: %d %s, %v; want %s", method, path, a.Status, a.Body, err, code)
	}
	return a.Map()["error"].(map[string]any)
}

// resume resumes the broadcast, which goes on.
func (x *pausing) resume() {
	x.t.Helper()
	e2etest.Must(x.t, x.ready.Key, http.MethodPost, "/broadcasts/"+x.broadcast+"/resume", nil)
	x.await(x.broadcast, "sending")
}

// domain returns the sending domain.
func (x *pausing) domain() map[string]any {
	x.t.Helper()
	list := e2etest.Must(x.t, x.ready.Owner, http.MethodGet, "/sending-domains", nil)["data"].([]any)
	return list[0].(map[string]any)
}

// config returns the lane.
func (x *pausing) config() map[string]any {
	x.t.Helper()
	list := e2etest.Must(x.t, x.ready.Owner, http.MethodGet, "/mta-configs", nil)["data"].([]any)
	return list[0].(map[string]any)
}

// health returns the state of the lane.
func (x *pausing) health() string {
	x.t.Helper()
	return x.config()["health"].(map[string]any)["state"].(string)
}

// pausedDomain checks that the domain is paused for a reason, and that no broadcast of it can begin.
func (x *pausing) pausedDomain(reason string) {
	x.t.Helper()
	if d := x.domain(); d["paused"] != true || d["pause_reason"] != reason {
		x.t.Errorf("the domain has paused %v, pause_reason %v; want %s", d["paused"], d["pause_reason"], reason)
	}
	b := e2etest.Must(x.t, x.ready.Key, http.MethodPost, "/broadcasts/"+x.broadcast+"/clone", nil)["id"].(string)
	x.refused(http.MethodPost, "/broadcasts/"+b+"/schedule", "NO_IDENTITY")
}

// A domain is paused when recipients of a thousand deliveries complain too often, or when too many of its
// mails bounce, and its broadcasts with it. A user resumes the domain, then the broadcasts.
func TestRatesPauseADomain(t *testing.T) {
	t.Parallel()
	for reason, refused := range map[string]int{
		"complaint_rate": 0,
		"bounce_rate":    120, // 10.7 %
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			dbtest.Addresses(t, func(t *testing.T, address string) {
				t.Parallel()
				x := newPausing(t, &harness.Program{Env: []string{"PACKETBOAT_ALLOW_PRIVATE_WEBHOOKS=true"}}, address, "-refuse", `@gone\.test$=550 5.1.1 no such user`)
				x.seed(1000, "fine.test")
				x.seed(refused, "gone.test")
				told := x.webhook("domain.paused")
				x.await(x.send(0), "completed")
				x.begin()
				if refused == 0 {
					x.complain(4) // 0.4 %
				}
				x.restart()
				x.paused("domain_paused")
				x.pausedDomain(reason)
				event := <-told
				if rate, _ := event["rate"].(float64); event["reason"] != reason || event["domain"] != x.ready.Domain || rate < 0.003 || rate > 0.11 || event["window_hours"] != 24.0 {
					t.Errorf("the webhook got %v", event)
				}
				d := e2etest.Must(t, x.ready.Owner, http.MethodPost, "/sending-domains/"+x.domain()["id"].(string)+"/resume", nil)
				if d["paused"] != false || d["pause_reason"] != nil {
					t.Errorf("the resumed domain has paused %v, pause_reason %v", d["paused"], d["pause_reason"])
				}
				x.resume()
				x.restart() // the rates of before do not pause it again
				if b := x.await(x.broadcast, "sending"); b["pause_reason"] != nil || x.domain()["paused"] != false {
					t.Errorf("after another look, the broadcast has the pause_reason %v; the domain is %v", b["pause_reason"], x.domain())
				}
			})
		})
	}
}

// webhook returns the data of the events of a type, as an endpoint gets them.
func (x *pausing) webhook(event string) <-chan map[string]any {
	x.t.Helper()
	got := make(chan map[string]any, 10)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var e struct{ Data map[string]any }
		if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
			x.t.Error(err)
		}
		got <- e.Data
	}))
	x.t.Cleanup(s.Close)
	e2etest.Must(x.t, x.ready.Owner, http.MethodPost, "/settings/webhooks", map[string]any{"url": s.URL, "event_types": []string{event}})
	return got
}

// complain lets the relay report complaints of recipients.
func (x *pausing) complain(n int) {
	x.t.Helper()
	messages, err := x.sink.Messages()
	if err != nil || len(messages) < n {
		x.t.Fatalf("%d messages, %v", len(messages), err)
	}
	var reports []map[string]any
	for _, m := range messages[:n] {
		reports = append(reports, map[string]any{"message_id": m.MessageID, "event": "complained"})
	}
	_, hook, _ := strings.Cut(x.config()["hook_url"].(string), "/_q/")
	a, err := x.ready.Key.Raw(x.t.Context(), http.MethodPost, "/_q/"+hook, reports)
	if err != nil || a.Status != http.StatusNoContent {
		x.t.Fatalf("the hook: %d %s, %v", a.Status, a.Body, err)
	}
}

// A domain whose DNS records are lost for three days is paused with its broadcasts, until a check finds them.
func TestLostRecordsPauseADomain(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel()
		zone := dnstest.New(t, "mail.boat.example. 60 IN A 127.0.0.1", `mail.boat.example. 60 IN TXT "v=spf1 ip4:192.0.2.1 -all"`)
		x := newPausing(t, &harness.Program{Env: []string{
			"PACKETBOAT_DNS_RESOLVER=" + zone.Addr, "PACKETBOAT_MX_HOST=mail.boat.example", "PACKETBOAT_SPF_HOST=mail.boat.example", "PACKETBOAT_TRACK_HOST=mail.boat.example",
		}}, address)
		x.exec(`UPDATE sending_domain SET verified_by = 'dns'`) // the operator's word would outlast the records
		x.seed(100, "fine.test")
		x.begin()
		path := "/sending-domains/" + x.domain()["id"].(string)
		verify := func() (d e2etest.Domain) {
			t.Helper()
			a, err := x.ready.Owner.Do(t.Context(), http.MethodPost, path+"/verify", nil)
			if err != nil || a.Status != http.StatusOK {
				t.Fatalf("verify: %d %s, %v", a.Status, a.Body, err)
			}
			if err := a.Decode(&d); err != nil {
				t.Fatal(err)
			}
			return d
		}
		if d := verify(); d.Status != "verified" {
			t.Fatalf("when records were lost just now, the domain is %s", d.Status)
		}
		x.exec(`UPDATE sending_domain SET failing_since = failing_since - $1`, (73 * time.Hour).Microseconds())
		d := verify()
		if d.Status != "failed" {
			t.Fatalf("after three days without records, the domain is %s", d.Status)
		}
		x.paused("domain_paused")
		x.pausedDomain("dns_lost")
		x.refused(http.MethodPost, path+"/resume", "PAUSE_CAUSE_ACTIVE")
		for _, purpose := range []string{"dkim", "return_path", "return_path_spf", "dmarc", "tracking"} {
			d.Publish(t, zone, purpose)
		}
		if d = verify(); d.Status != "verified" || x.domain()["paused"] != false {
			t.Fatalf("with its records, the domain is %s, %v", d.Status, x.domain())
		}
		if b := x.await(x.broadcast, "paused"); b["pause_reason"] != "domain_paused" {
			t.Errorf("the broadcast is paused as %v", b["pause_reason"])
		}
		x.resume()
	})
}

// A broadcast whose only relay has been down for ten minutes is paused, and can be resumed when the relay is
// back.
func TestAnOutageOfTheRelayPausesABroadcast(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel()
		x := newPausing(t, &harness.Program{}, address)
		x.seed(200, "fine.test")
		if err := x.sink.Kill(); err != nil {
			t.Fatal(err)
		}
		x.broadcast = x.send(0)
		x.await(x.broadcast, "sending")
		tries := 0
		for tries == 0 {
			e2etest.Pause(t)
			if err := x.db.QueryRow(t.Context(), `/* all tenants: a test */ SELECT COALESCE(SUM(unreached), 0) FROM traffic`).Scan(&tries); err != nil {
				t.Fatal(err)
			}
		}
		x.exec(`UPDATE traffic SET tries = 20 * tries, unreached = 20 * unreached`) // as if it had been tried for two minutes
		x.restart()
		if state := x.health(); state != "down" {
			t.Fatalf("without its relay, the lane is %s", state)
		}
		x.exec(`UPDATE mta_health SET since = since - $1`, (11 * time.Minute).Microseconds())
		x.restart()
		x.paused("capacity_collapsed")
		if err := x.sink.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		x.exec(`UPDATE mta_health SET probed_at = 0`)
		x.restart()
		if state := x.health(); state == "down" {
			t.Fatalf("with its relay, the lane is %s", state)
		}
		if b := x.await(x.broadcast, "paused"); b["pause_reason"] != "capacity_collapsed" {
			t.Errorf("the broadcast is paused as %v", b["pause_reason"])
		}
		e2etest.Must(t, x.ready.Key, http.MethodPost, "/broadcasts/"+x.broadcast+"/resume", nil)
		if err := x.ready.Hurry(t.Context(), x.db, x.broadcast); err != nil {
			t.Fatal(err)
		}
		if messages, err := x.sink.Messages(); err != nil || len(messages) != 200 {
			t.Errorf("%d messages, %v", len(messages), err)
		}
	})
}

// The operator's pause of a tenant pauses its broadcasts, until the operator ends it.
func TestAPausedTenantSendsNothing(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel()
		x := newPausing(t, &harness.Program{}, address)
		x.seed(100, "fine.test")
		x.begin()
		command := func(args ...string) {
			t.Helper()
			if _, err := x.p.Run(t.Context(), append(args, "--slug", harness.Tenant)...); err != nil {
				t.Fatal(err)
			}
		}
		command("tenant", "pause", "--reason", "unpaid")
		x.paused("tenant_paused")
		command("tenant", "resume")
		if b := x.await(x.broadcast, "paused"); b["pause_reason"] != "tenant_paused" {
			t.Errorf("the broadcast is paused as %v", b["pause_reason"])
		}
		x.resume()
	})
}
