package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/engine/classify"
	"github.com/packetboat/packetboat/internal/engine/dispatch"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// links returns the answer of GET …/links, which is an array.
func (s *sendingTest) links(t *testing.T, at string) []map[string]any {
	t.Helper()
	r := httptest.NewRequest("GET", "/t/acme/api"+at+"/links", nil)
	r.Header.Set("X-API-Key", "key")
	w := httptest.NewRecorder()
	s.router.ServeHTTP(w, r)
	var list []map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || w.Code != 200 || list == nil {
		t.Fatalf("links answered %d %s: %v", w.Code, w.Body, err)
	}
	return list
}

func TestABroadcastIsReported(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		ctx := t.Context()
		var contacts []id.Contact
		for i := range 3 {
			c, err := contact.Create(ctx, s.db, s.acme, fmt.Sprintf("p%d@example.com", i), contact.Change{}, contact.Rules{}, s.now)
			if err != nil {
				t.Fatal(err)
			}
			contacts = append(contacts, c.ID)
		}
		if _, err := segment.Add(ctx, s.db, s.acme, s.list.ID, segment.People{IDs: contacts}, s.now); err != nil {
			t.Fatal(err)
		}
		made := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"scheduled_at": "2026-01-01"}`))
		at := "/broadcasts/" + made.str("id")
		want := map[string]any{
			"broadcast_id": made.str("id"), "name": "Spring news", "status": "draft", "sent_at": "2026-01-01T00:00:00.000Z", "last_send_at": nil,
			"classifier_last_run_at": nil, "classifier_interval_ms": nil,
		}
		for _, name := range []string{
			"total_recipients", "total_sent", "total_delivered", "total_failed", "total_bounced", "total_complained", "total_unsubscribed",
			"total_opened", "total_clicked", "apparent_opened", "verified_opened", "confirmed_opened", "bot_opened", "bot_clicked",
			"pending_opened", "pending_clicked", "open_rate", "apparent_open_rate", "verified_open_rate", "confirmed_open_rate", "click_rate", "bounce_rate",
		} {
			want[name] = 0.0
		}
		expect := func(step string) {
			t.Helper()
			if d := cmp.Diff(want, s.must(200, "key", "GET "+at+"/report", "").body); d != "" {
				t.Errorf("%s (-want +got):\n%s", step, d)
			}
		}
		expect("a draft")
		if list := s.links(t, at); len(list) != 0 {
			t.Errorf("the links of a draft are %v", list)
		}

		s.must(200, "key", "POST "+at+"/schedule", "")
		engine := dispatch.Engine{DB: s.db, Owner: "test", Now: func() time.Time { return s.now }, Log: slog.New(slog.DiscardHandler)}
		for range 5 {
			if _, err := engine.Tick(ctx); err != nil {
				t.Fatal(err)
			}
		}
		records, err := outbox.First(ctx, s.db, s.acme, s.sendOf(s.acme, made.str("id")), 3)
		if err != nil || len(records) != 3 {
			t.Fatalf("%d messages, %v", len(records), err)
		}
		const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
		early := s.now
		err = s.db.InTx(ctx, func(tx *sqldb.DB) error {
			hit := func(i int, click bool, agent string) track.Hit {
				h := track.Hit{
					Tenant: s.acme, Send: s.sendOf(s.acme, made.str("id")), Message: records[i].ID, Contact: records[i].Contact,
					At: early, SinceSent: new(time.Hour), Method: "GET", Agent: agent, IP: fmt.Sprintf("192.0.2.%d", i),
				}
				if click {
					h.Click, h.URL = true, "https://example.org/"
				}
				return h
			}
			return track.Record(ctx, tx, []track.Hit{hit(0, false, browser), hit(0, true, browser), hit(1, false, "curl/8"), hit(1, true, "curl/8")})
		})
		if err != nil {
			t.Fatal(err)
		}
		want["status"], want["total_recipients"], want["classifier_interval_ms"] = "sending", 3.0, 60000.0
		want["apparent_opened"], want["apparent_open_rate"], want["pending_opened"], want["pending_clicked"] = 2.0, 0.6667, 2.0, 2.0
		expect("sending, before the classifier ran")

		later := early.Add(time.Minute)
		run, stop := context.WithCancel(ctx)
		defer stop()
		classifier := classify.Engine{DB: s.db, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return later }, Every: time.Hour, Live: func(context.Context, id.Tenant, id.Send) (bool, error) {
			return true, nil
		}}
		ended := make(chan error, 1)
		go func() { ended <- classifier.Run(run) }()
		for last := (*time.Time)(nil); last == nil; {
			if last, err = classify.LastRun(ctx, s.db); err != nil {
				t.Fatal(err)
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		want["classifier_last_run_at"] = later.UTC().Format("2006-01-02T15:04:05.000Z")
		for _, name := range []string{"total_opened", "total_clicked", "verified_opened", "confirmed_opened", "bot_opened", "bot_clicked"} {
			want[name] = 1.0
		}
		for _, name := range []string{"open_rate", "click_rate", "verified_open_rate", "confirmed_open_rate"} {
			want[name] = 0.3333
		}
		want["pending_opened"], want["pending_clicked"] = 0.0, 0.0
		expect("sending")
		stamp := early.UTC().Format("2006-01-02T15:04:05.000Z")
		if d := cmp.Diff([]map[string]any{{
			"link_id": 0.0, "url": "https://example.org/", "label": "read", "unique_clicks": 1.0, "total_clicks": 1.0, "click_rate": 0.3333,
			"first_click_at": stamp, "last_click_at": stamp,
		}}, s.links(t, at)); d != "" {
			t.Errorf("links (-want +got):\n%s", d)
		}

		s.must(200, "key", "POST "+at+"/cancel", "")
		want["status"], want["classifier_last_run_at"], want["classifier_interval_ms"] = "cancelled", nil, nil
		expect("cancelled")

		for _, path := range []string{at, "/broadcasts/nonsense", "/broadcasts/" + id.NewText()} {
			for _, what := range []string{"report", "links"} {
				where := "/t/other/api" + path
				if path != at {
					where = path
				}
				if r := s.call("key", "GET "+where+"/"+what, ""); r.status != 404 {
					t.Errorf("GET %s/%s answered %d %s", where, what, r.status, r.text)
				}
			}
		}
	})
}
