package httpapi_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/engine/dispatch"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/lane"
)

// spreadTest is the API with contacts on the list, and a dispatcher with a fixed clock.
type spreadTest struct {
	*sendingTest
	engine *dispatch.Engine
}

func newSpreadTest(t *testing.T, s *sendingTest, readers int) spreadTest {
	t.Helper()
	var contacts []id.Contact
	for i := range readers {
		c, err := contact.Create(t.Context(), s.db, s.acme, fmt.Sprintf("reader%d@example.org", i), contact.Change{}, contact.Rules{}, s.now)
		if err != nil {
			t.Fatal(err)
		}
		contacts = append(contacts, c.ID)
	}
	if _, err := segment.Add(t.Context(), s.db, s.acme, s.list.ID, segment.People{IDs: contacts}, s.now); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC)
	return spreadTest{s, &dispatch.Engine{
		DB: s.db, Owner: "test", Now: func() time.Time { return at }, Log: slog.New(slog.DiscardHandler), Page: 3, Pages: 1,
	}}
}

func (s spreadTest) tickUntilIdle() {
	s.t.Helper()
	for range 100 {
		if more, err := s.engine.Tick(s.t.Context()); err != nil {
			s.t.Fatal(err)
		} else if !more {
			return
		}
	}
	s.t.Fatal("the dispatcher does not become idle")
}

// start begins a send and returns its path and id.
func (s spreadTest) start(with string) (path string, bid id.Broadcast) {
	s.t.Helper()
	made := s.must(201, "key", "POST /broadcasts", broadcastJSON(s.t, with))
	path = "/broadcasts/" + made.str("id")
	s.must(200, "key", "POST "+path+"/schedule", "")
	s.tickUntilIdle()
	return path, id.Read[id.Broadcast](made.str("id"))
}

// planText returns the days of the plan in an answer.
func planText(r response) string {
	p := r.body["view_model"].(map[string]any)["delivery_progress"].(map[string]any)
	var text strings.Builder
	for _, d := range p["plan"].([]any) {
		d := d.(map[string]any)
		fmt.Fprintf(&text, "%s %v %v, ", d["date"].(string)[5:], d["planned"], d["status"])
	}
	next, _ := json.Marshal([]any{p["phase"], p["next_batch_at"], p["eta"]})
	return text.String() + string(next)
}

// reserved returns what the days of a send carry, lanes taken together.
func (s spreadTest) reserved(t id.Tenant, bid id.Broadcast) (total int, text string) {
	s.t.Helper()
	days, err := outbox.Days(s.t.Context(), s.db, t, s.sendOf(t, bid.String()))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, d := range days {
		total += d.Planned
		text += fmt.Sprintf("%s %d ", d.Day[5:], d.Planned)
	}
	return total, text
}

func TestRescheduleAnswersWithTheNewPlan(t *testing.T) {
	for _, tt := range []struct {
		name   string
		with   string
		perDay int    // of the lane; 0: no limit
		window string // the end of the send window when the days are replaced
		skip   string
		before string // the days of the plan
		after  string
		held   int
	}{
		{
			name: "days", with: `"delivery_window_days": 3`, skip: "2026-03-02",
			before: "03-01 2 today, 03-02 2 planned, 03-03 2 planned, ", after: "03-01 3 today, 03-02 0 skipped, 03-03 3 planned, ",
		},
		{
			name: "window", with: `"delivery_window_days": 3, "throttle_per_hour": 1`, window: "14:00", skip: "2026-03-05",
			before: "03-01 2 today, 03-02 2 planned, 03-03 2 planned, ", after: "03-01 2 today, 03-02 2 planned, 03-03 2 planned, ",
		},
		{
			name: "window that has passed", with: `"delivery_window_days": 3`, window: "10:00", skip: "2026-03-05",
			before: "03-01 2 today, 03-02 2 planned, 03-03 2 planned, ", after: "03-01 0 today, 03-02 4 planned, 03-03 2 planned, ",
		},
		{
			name: "excess is sent later", with: `"delivery_window_days": 3`, perDay: 2, skip: "2026-03-02",
			before: "03-01 2 today, 03-02 2 planned, 03-03 2 planned, ", after: "03-01 2 today, 03-02 0 skipped, 03-03 2 planned, 03-04 2 planned, ",
		},
		{
			name: "excess is held back", with: `"delivery_window_days": 3, "overflow_mode": "holdback"`, perDay: 2, skip: "2026-03-02",
			before: "03-01 2 today, 03-02 2 planned, 03-03 2 planned, ", after: "03-01 2 today, 03-02 0 skipped, 03-03 2 planned, ", held: 2,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			eachSending(t, func(t *testing.T, s *sendingTest) {
				ctx := t.Context()
				sp := newSpreadTest(t, s, 6)
				stranger := broadcasttest.New(t, s.db, "stranger")
				stranger.AddContacts(stranger.List.ID, "x", 4)
				theirs := stranger.Schedule(func(ch *broadcast.Change) {
					ch.Delivery = &broadcast.DeliveryChange{Mode: new(broadcast.OverDays), WindowDays: new(new(2))}
					ch.Start.At = new(sp.engine.Now())
				})
				if tt.perDay > 0 {
					if _, err := lane.Update(ctx, s.db, broadcasttest.Box(t), s.acme, s.lane.ID, lane.Fields{MaxPerDay: &lane.Bound{To: &tt.perDay}}, lane.Rules{}, broadcasttest.Now); err != nil {
						t.Fatal(err)
					}
				}
				at, bid := sp.start(`{"delivery_mode": "over_days", "scheduled_at": "2026-03-01", ` + tt.with + `}`)
				_, foreign := sp.reserved(stranger.Tenant, theirs.ID)
				s.now = sp.engine.Now()
				if got := planText(s.must(200, "key", "GET "+at, "")); !strings.HasPrefix(got, tt.before) {
					t.Fatalf("the first plan is %s, want %s", got, tt.before)
				}
				if tt.window != "" {
					set := tenant.Defaults("UTC")
					set.SendWindow = tenant.SendWindow{Start: "08:00", End: tt.window}
					if err := tenant.SaveSettings(ctx, s.db, s.acme, "acme", set, s.now); err != nil {
						t.Fatal(err)
					}
				}
				again := fmt.Sprintf(`{"skipped_dates": [%q]}`, tt.skip)
				s.must(404, "key", "POST /t/other/api"+at+"/reschedule", again)
				s.mustRefuse("key", "POST "+at+"/reschedule", strings.TrimSuffix(again, "}")+`, "scheduled_at": "2026-03-09T00:00:00Z"}`, 400, "INVALID_INPUT")
				answer := planText(s.must(200, "key", "POST "+at+"/reschedule", again))
				if !strings.HasPrefix(answer, tt.after) {
					t.Errorf("reschedule answered with %s, want %s", answer, tt.after)
				}
				for range 12 { // page by page
					if got := planText(s.must(200, "editor", "GET "+at, "")); got != answer {
						t.Errorf("reschedule answered with %s, and later it is %s", answer, got)
					}
					if _, err := sp.engine.Tick(ctx); err != nil {
						t.Fatal(err)
					}
				}
				sp.tickUntilIdle()
				last := s.must(200, "editor", "POST "+at+"/reschedule", again) // changes nothing
				if got := planText(last); got != answer {
					t.Errorf("the same days again are answered with %s, before with %s", got, answer)
				}
				if n, text := sp.reserved(s.acme, bid); n != 6-tt.held {
					t.Errorf("of 6 messages %s are reserved, and %d held back", text, tt.held)
				}
				if n, text := sp.reserved(stranger.Tenant, theirs.ID); n != 4 || text != foreign {
					t.Errorf("the other tenant's send was %s and is %s", foreign, text)
				}
				progress, err := outbox.Load(ctx, s.db, s.acme, s.sendOf(s.acme, bid.String()))
				if err != nil || progress.HeldBack != tt.held || progress.Phase != outbox.Open {
					t.Errorf("the send is %+v, %v", progress, err)
				}
			})
		})
	}
}

// The plan in the answer stays, even if an engine runs at the same time.
func TestRescheduleWhileAnEngineRuns(t *testing.T) {
	eachAPIConcurrently(t, func(t *testing.T, p *apiTest) {
		s := newSendingTest(t, p)
		const readers = 9
		sp := newSpreadTest(t, s, readers)
		at, bid := sp.start(`{"delivery_mode": "over_days", "scheduled_at": "2026-03-01", "delivery_window_days": 4}`)
		s.now = sp.engine.Now()
		for i := range 6 {
			ended := make(chan error)
			go func() {
				var failed error
				for range 3 {
					if _, err := sp.engine.Tick(t.Context()); err != nil {
						failed = err
					}
				}
				ended <- failed
			}()
			answer := planText(s.must(200, "key", "POST "+at+"/reschedule", fmt.Sprintf(`{"skipped_dates": ["2026-03-0%d"]}`, 2+i%3)))
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			if day := fmt.Sprintf("03-0%d ", 2+i%3); strings.Contains(answer, day) && !strings.Contains(answer, day+"0 skipped") {
				t.Errorf("reschedule answered with %s, in which %sis used", answer, day)
			}
			if i%2 == 0 { // otherwise the engine is still planning at the next request
				sp.tickUntilIdle()
			}
			if got := planText(s.must(200, "key", "GET "+at, "")); got != answer {
				t.Errorf("reschedule answered with %s, and later it is %s", answer, got)
			}
			if n, text := sp.reserved(s.acme, bid); n != readers {
				t.Errorf("of %d messages %s are reserved", readers, text)
			}
		}
	})
}

// If a reschedule fails, or its process dies, an engine completes it and reserves nothing twice.
func TestAnEngineCompletesAFailedReschedule(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		sp := newSpreadTest(t, s, 6)
		at, bid := sp.start(`{"delivery_mode": "over_days", "scheduled_at": "2026-03-01", "delivery_window_days": 3}`)
		s.now = sp.engine.Now()
		exec := func(statement string, args ...any) {
			t.Helper()
			if _, err := s.db.Exec(t.Context(), statement, args...); err != nil {
				t.Fatal(err)
			}
		}
		exec(`ALTER TABLE outbox_day RENAME TO outbox_day_gone`)
		if r := s.callUnchecked("key", "POST "+at+"/reschedule", `{"skipped_dates": ["2026-03-02"]}`); r.status < 500 {
			t.Errorf("without days reschedule answered %d", r.status)
		}
		exec(`ALTER TABLE outbox_day_gone RENAME TO outbox_day`)
		if _, text := sp.reserved(s.acme, bid); text != "03-01 2 03-02 2 03-03 2 " {
			t.Errorf("reserved are %s", text)
		}
		// The state after a process died without returning its lease.
		exec(`UPDATE broadcast_run SET owner = 'gone', lease_until = $3 WHERE tenant_id = $1 AND broadcast_id = $2`,
			s.acme, bid, sp.engine.Now().Add(time.Minute).UnixMicro())
		sp.tickUntilIdle()
		if _, text := sp.reserved(s.acme, bid); text != "03-01 2 03-02 2 03-03 2 " {
			t.Errorf("during the lease of another process the engine reserved %s", text)
		}
		exec(`UPDATE broadcast_run SET lease_until = $3 WHERE tenant_id = $1 AND broadcast_id = $2`, s.acme, bid, sp.engine.Now().UnixMicro())
		sp.tickUntilIdle()
		if _, text := sp.reserved(s.acme, bid); text != "03-01 3 03-03 3 " {
			t.Errorf("reserved are %s", text)
		}
		if got := planText(s.must(200, "key", "GET "+at, "")); !strings.HasPrefix(got, "03-01 3 today, 03-02 0 skipped, 03-03 3 planned, ") {
			t.Errorf("the plan is %s", got)
		}
	})
}

// A repeated reschedule makes a plan that the first one did not make.
func TestRescheduleTwiceMakesThePlanOnce(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		sp := newSpreadTest(t, s, 6)
		at, bid := sp.start(`{"delivery_mode": "over_days", "scheduled_at": "2026-03-01", "delivery_window_days": 3}`)
		s.now = sp.engine.Now()
		const days = `{"skipped_dates": ["2026-03-02"]}`
		if _, err := s.db.Exec(t.Context(), `ALTER TABLE outbox_day RENAME TO outbox_day_gone`); err != nil {
			t.Fatal(err)
		}
		s.callUnchecked("key", "POST "+at+"/reschedule", days)
		if _, err := s.db.Exec(t.Context(), `ALTER TABLE outbox_day_gone RENAME TO outbox_day`); err != nil {
			t.Fatal(err)
		}
		answer := planText(s.must(200, "key", "POST "+at+"/reschedule", days))
		sp.tickUntilIdle()
		if got := planText(s.must(200, "key", "GET "+at, "")); got != answer || !strings.HasPrefix(got, "03-01 3 today, 03-02 0 skipped, 03-03 3 planned, ") {
			t.Errorf("reschedule answered with %s, and later it is %s", answer, got)
		}
		if _, text := sp.reserved(s.acme, bid); text != "03-01 3 03-03 3 " {
			t.Errorf("reserved are %s", text)
		}
	})
}
