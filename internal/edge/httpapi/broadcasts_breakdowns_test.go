package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/mx"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// answer returns the body of a GET, which may be an array.
func (s *sendingTest) answer(t *testing.T, caller, path string) any {
	t.Helper()
	r := httptest.NewRequest("GET", "/t/acme/api"+path, nil)
	if caller == "key" {
		r.Header.Set("X-API-Key", caller)
	} else {
		r.AddCookie(&http.Cookie{Name: "role", Value: caller})
	}
	w := httptest.NewRecorder()
	s.router.ServeHTTP(w, r)
	var v any
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil || w.Code != 200 {
		t.Fatalf("GET %s answered %d %s: %v", path, w.Code, w.Body, err)
	}
	return v
}

// pick returns the value at a path of names and indexes.
func pick(t *testing.T, v any, path ...any) any {
	t.Helper()
	for _, p := range path {
		switch p := p.(type) {
		case int:
			list, _ := v.([]any)
			if p >= len(list) {
				t.Fatalf("%v has no element %d", v, p)
			}
			v = list[p]
		case string:
			o, _ := v.(map[string]any)
			v = o[p]
		}
	}
	return v
}

// aSend is a broadcast with messages in the outbox, as the engines leave them.
type aSend struct {
	id       string
	send     id.Send
	messages []outbox.Message
	items    map[id.Message]outbox.Item
	node     *outbox.Node
}

// newSend puts messages of two senders and providers into the outbox for a new broadcast, and
// claims them. The first three are for gmail.
func (s *sendingTest) newSend(t *testing.T, n int, began time.Time) *aSend {
	t.Helper()
	ctx := t.Context()
	made := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"scheduled_at": "2026-01-01"}`))
	b := &aSend{id: made.str("id"), send: s.sendOf(s.acme, made.str("id")), items: map[id.Message]outbox.Item{}}
	bid, _ := id.Parse[id.Broadcast](b.id)
	err := s.db.InTx(ctx, func(tx *sqldb.DB) error {
		if err := outbox.Create(ctx, tx, outbox.Send{Tenant: s.acme, ID: b.send, Source: outbox.FromBroadcast(bid)}, outbox.Terms{}, began); err != nil {
			return err
		}
		b.messages = nil
		for i := range n {
			m := outbox.Message{
				ID: id.New[id.Message](), Contact: id.New[id.Contact](), Email: fmt.Sprintf("p%d@a%d.example", i, i%2), Content: id.New[id.Content](),
				Identity: id.New[id.Identity](), Lane: id.New[id.Lane](), DueAt: began, Provider: mx.Gmail,
			}
			if i > 0 {
				m.Content, m.Identity, m.Lane = b.messages[0].Content, b.messages[0].Identity, b.messages[0].Lane
			}
			if i >= 3 {
				m.Provider = ""
			}
			b.messages = append(b.messages, m)
		}
		if _, err := outbox.AddMessages(ctx, tx, s.acme, b.send, b.messages); err != nil {
			return err
		}
		return outbox.Start(ctx, tx, s.acme, b.send, began)
	})
	if err != nil {
		t.Fatal(err)
	}
	b.node = &outbox.Node{DB: s.db, Owner: "test" + b.id}
	if err := b.node.Renew(ctx, began.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	items, err := b.node.Claim(ctx, s.acme, b.send, n, began.Add(time.Minute))
	if err != nil || len(items) != n {
		t.Fatalf("claimed %d, %v", len(items), err)
	}
	for _, it := range items {
		b.items[it.ID] = it
	}
	return b
}

// settle stores a result of a message.
func (b *aSend) settle(t *testing.T, i int, r outbox.Result) {
	t.Helper()
	r.Item = b.items[b.messages[i].ID]
	if _, err := b.node.Commit(t.Context(), []outbox.Result{r}, nil, r.At); err != nil {
		t.Fatal(err)
	}
}

// classified records hits of a message, and gives all of its pending hits a class.
func (s *sendingTest) classified(t *testing.T, b *aSend, i int, class track.Class, hits ...track.Hit) {
	t.Helper()
	m := b.messages[i]
	err := s.db.InTx(t.Context(), func(tx *sqldb.DB) error {
		for k := range hits {
			hits[k].Tenant, hits[k].Message, hits[k].Method, hits[k].Click = s.acme, m.ID, "GET", hits[k].URL != ""
		}
		if err := track.Record(t.Context(), tx, hits); err != nil || class == track.Pending {
			return err
		}
		found, err := track.LoadEvidence(t.Context(), tx, s.acme, []id.Message{m.ID})
		if err != nil {
			return err
		}
		var verdicts []track.Hit
		for _, h := range found.Hits {
			if h.Class == track.Pending {
				h.Class = class
				verdicts = append(verdicts, h)
			}
		}
		return found.ApplyVerdicts(t.Context(), verdicts)
	})
	if err != nil {
		t.Fatal(err)
	}
}

const (
	iphone  = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148"
	desktop = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
)

// One broadcast of six recipients: four are delivered, of which one bounces later; one bounces, one
// fails. Each number of each report is what happened.
func TestReportsOfABroadcastAgree(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		ctx := t.Context()
		began := s.now.Truncate(time.Hour).Add(10 * time.Minute)
		b := s.newSend(t, 6, began)
		for i := range 4 {
			b.settle(t, i, outbox.Result{State: outbox.Delivered, At: began})
		}
		b.settle(t, 4, outbox.Result{State: outbox.Bounced, At: began, BounceType: "hard", Category: "mailbox", Code: 550, Enhanced: "5.1.1", Error: "no such user"})
		b.settle(t, 5, outbox.Result{State: outbox.Failed, At: began, Error: "cannot be rendered"})
		late := outbox.Bounce{Message: b.messages[3].ID, At: began.Add(2 * time.Hour), Refusal: outbox.Refusal{Class: "block", Category: "policy", Code: 550, Enhanced: "5.7.1"}}
		if n, err := outbox.RecordBounces(ctx, s.db, s.acme, []outbox.Bounce{late, late}); err != nil || len(n) != 1 {
			t.Fatalf("RecordBounces = %d, %v", n, err)
		}
		if n, err := outbox.RecordBounces(ctx, s.db, s.acme, []outbox.Bounce{late}); err != nil || len(n) != 0 {
			t.Errorf("a bounce counts again: %d, %v", n, err)
		}
		s.classified(t, b, 0, track.Human, track.Hit{At: began.Add(100 * time.Second), Agent: iphone, IP: "192.0.2.1"}, track.Hit{At: began.Add(200 * time.Second), URL: "https://example.org/", Agent: iphone, IP: "192.0.2.1"})
		s.classified(t, b, 1, track.Privacy, track.Hit{At: began.Add(3 * time.Hour), Agent: desktop, IP: "192.0.2.2"})
		s.classified(t, b, 2, track.Bot, track.Hit{At: began.Add(time.Hour), Agent: "curl", IP: "192.0.2.3"})
		// After 60 days nothing counts.
		closed := began.Add(outbox.ReportOpen + time.Minute)
		s.classified(t, b, 2, track.Human, track.Hit{At: closed, Agent: desktop, IP: "192.0.2.3"}, track.Hit{At: closed, URL: "https://example.org/", Agent: desktop, IP: "192.0.2.3"})
		if n, err := outbox.RecordBounces(ctx, s.db, s.acme, []outbox.Bounce{{Message: b.messages[2].ID, At: closed, Refusal: outbox.Refusal{Class: "hard"}}}); err != nil || len(n) != 0 {
			t.Errorf("a bounce after 60 days moved %d messages, %v", n, err)
		}
		flag := func(i int, f track.Flags, at time.Time, want bool) {
			t.Helper()
			err := s.db.InTx(ctx, func(tx *sqldb.DB) error {
				fresh, err := track.SetFlag(ctx, tx, s.acme, b.send, b.messages[i].ID, f, at)
				if fresh != want {
					t.Errorf("SetFlag = %v, want %v", fresh, want)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		flag(0, track.Unsubscribed, began.Add(time.Hour), true)
		flag(0, track.Unsubscribed, began.Add(2*time.Hour), false)
		flag(1, track.Complained, began.Add(time.Hour), true)
		flag(2, track.Unsubscribed, closed, true) // is stored, and does not count
		flag(2, track.Unsubscribed, closed, false)

		at := "/broadcasts/" + b.id
		r := s.answer(t, "key", at+"/report")
		for name, want := range map[string]float64{
			"total_recipients": 6, "total_sent": 5, "total_delivered": 3, "total_failed": 1, "total_bounced": 2, "total_complained": 1, "total_unsubscribed": 1,
			"total_opened": 1, "total_clicked": 1, "apparent_opened": 3, "verified_opened": 2, "confirmed_opened": 1, "bot_opened": 1, "bot_clicked": 0,
			"pending_opened": 0, "verified_open_rate": 0.3333, "bounce_rate": 0.3333, "click_rate": 0.1667,
		} {
			if got := pick(t, r, name); got != want {
				t.Errorf("%s = %v, want %v", name, got, want)
			}
		}

		bounces := s.answer(t, "key", at+"/bounces?limit=1")
		stamp := func(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }
		if d := cmp.Diff(map[string]any{
			"contact_id": b.messages[3].Contact.String(), "email": "p3@a1.example", "type": "soft", "category": "policy", "smtp_code": 550.0,
			"enhanced_code": "5.7.1", "message": nil, "bounced_at": stamp(late.At),
		}, pick(t, bounces, "data", 0)); d != "" {
			t.Errorf("the newest bounce (-want +got):\n%s", d)
		}
		if d := cmp.Diff(map[string]any{
			"hard": 1.0, "soft": 0.0, "block": 1.0,
			"by_domain": []any{map[string]any{"domain": "a0.example", "count": 1.0}, map[string]any{"domain": "a1.example", "count": 1.0}},
			"by_code":   []any{map[string]any{"code": "550 5.1.1", "count": 1.0}, map[string]any{"code": "550 5.7.1", "count": 1.0}},
		}, pick(t, bounces, "summary")); d != "" {
			t.Errorf("the summary of bounces (-want +got):\n%s", d)
		}
		cursor, _ := pick(t, bounces, "next_cursor").(string)
		rest := s.answer(t, "key", at+"/bounces?limit=1&cursor="+cursor)
		if pick(t, rest, "data", 0, "message") != "no such user" || pick(t, rest, "has_more") != false {
			t.Errorf("the second page is %v", rest)
		}

		e := s.answer(t, "key", at+"/engagement")
		group := map[string]any{
			"sending_identity_email": nil, "recipients": 6.0, "delivered": 3.0, "bounced": 2.0, "opened": 2.0, "clicked": 1.0, "unsubscribed": 1.0,
			"open_rate": 0.3333, "click_rate": 0.1667,
		}
		if d := cmp.Diff(group, pick(t, e, "by_identity", 0)); d != "" {
			t.Errorf("by identity (-want +got):\n%s", d)
		}
		group["sending_identity_id"] = b.messages[0].Identity.String()
		if d := cmp.Diff(group, pick(t, s.answer(t, "viewer", at+"/engagement"), "by_identity", 0)); d != "" {
			t.Errorf("by identity, for a session (-want +got):\n%s", d)
		}
		for i, want := range []map[string]any{
			{"provider": "gmail", "recipients": 3.0, "delivered": 3.0, "bounced": 0.0, "opened": 2.0, "clicked": 1.0, "unsubscribed": 1.0, "open_rate": 0.6667, "click_rate": 0.3333},
			{"provider": "other", "recipients": 3.0, "delivered": 0.0, "bounced": 2.0, "opened": 0.0, "clicked": 0.0, "unsubscribed": 0.0, "open_rate": 0.0, "click_rate": 0.0},
		} {
			if d := cmp.Diff(want, pick(t, e, "by_provider", i)); d != "" {
				t.Errorf("by provider (-want +got):\n%s", d)
			}
		}
		if d := cmp.Diff(map[string]any{
			"broadcast_id": b.id, "by_variant": []any{}, "ahead": nil, "by_identity": pick(t, e, "by_identity"), "by_provider": pick(t, e, "by_provider"),
			"by_client":  []any{map[string]any{"client": "apple_mail", "opens": 1.0, "clicks": 1.0}, map[string]any{"client": "chrome", "opens": 1.0, "clicks": 0.0}},
			"by_device":  []any{map[string]any{"device": "mobile", "opens": 1.0, "clicks": 1.0}, map[string]any{"device": "desktop", "opens": 1.0, "clicks": 0.0}},
			"by_country": []any{map[string]any{"country": nil, "opens": 2.0, "clicks": 1.0}},
		}, e); d != "" {
			t.Errorf("engagement (-want +got):\n%s", d)
		}

		period := func(hours int, figures map[string]any) map[string]any {
			p := map[string]any{"at": stamp(began.Truncate(time.Hour).Add(time.Duration(hours) * time.Hour)), "sent": 0.0, "delivered": 0.0, "opened": 0.0, "clicked": 0.0, "bounced": 0.0, "unsubscribed": 0.0}
			maps.Copy(p, figures)
			return p
		}
		timing := s.answer(t, "key", at+"/timing")
		if d := cmp.Diff([]any{
			period(0, map[string]any{"sent": 5.0, "delivered": 3.0, "bounced": 1.0, "opened": 1.0, "clicked": 1.0}),
			period(1, map[string]any{"unsubscribed": 1.0}), period(2, map[string]any{"bounced": 1.0}), period(3, map[string]any{"opened": 1.0}),
		}, pick(t, timing, "series")); d != "" {
			t.Errorf("timing (-want +got):\n%s", d)
		}
		if open, _ := pick(t, timing, "median_seconds_to_open").(float64); open < 90 || open > 115 {
			t.Errorf("the median time to open is %v s, want about 100", open)
		}
		day := s.answer(t, "key", at+"/timing?interval=day")
		if n := len(pick(t, day, "series").([]any)); n > 2 || pick(t, day, "interval") != "day" || pick(t, day, "timezone") != "UTC" {
			t.Errorf("by day: %v", day)
		}

		o := s.answer(t, "viewer", fmt.Sprintf("/reports/overview?from=%s&to=%[1]s", began.Format(time.DateOnly)))
		if pick(t, o, "totals", "total_recipients") != 6.0 || pick(t, o, "totals", "total_sent") != 5.0 || pick(t, o, "totals", "verified_opened") != 2.0 ||
			pick(t, o, "by_email_type", 0, "total_bounced") != 2.0 || pick(t, o, "series", 0, "total_complained") != 1.0 || pick(t, o, "previous", "total_sent") != 0.0 {
			t.Errorf("the overview is %v", o)
		}
	})
}

func TestMetricsOfManyBroadcasts(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		began := s.now.Truncate(time.Hour)
		first, second := s.newSend(t, 2, began), s.newSend(t, 1, began)
		draft := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{}`)).str("id")
		first.settle(t, 0, outbox.Result{State: outbox.Delivered, At: began})
		open := func(b *aSend, i int, at time.Duration) {
			s.classified(t, b, i, track.Human, track.Hit{At: began.Add(at), Agent: desktop, IP: "192.0.2.1"})
		}
		open(first, 0, 20*time.Minute)
		list := func(query string) []any {
			t.Helper()
			v, _ := s.answer(t, "key", "/broadcasts/metrics-bulk"+query).([]any)
			return v
		}
		want := map[string]any{
			"broadcast_id": first.id, "total_recipients": 2.0, "delivered": 1.0, "opened": 1.0, "clicked": 0.0, "bounced": 0.0,
			"delivered_rate": 0.5, "opened_rate": 0.5, "clicked_rate": 0.0, "bounced_rate": 0.0, "sparkline": []any{1.0, 0.0, 0.0, 0.0, 0.0, 0.0},
			"pending_opened": 0.0, "pending_clicked": 0.0, "last_send_at": began.UTC().Format("2006-01-02T15:04:05.000Z"),
		}
		if d := cmp.Diff([]any{want}, list("")); d != "" { // the second and the draft have sent nothing
			t.Errorf("the default (-want +got):\n%s", d)
		}
		ids := "?ids=" + draft + ",%20" + id.NewText() + "," + first.id + ","
		got := list(ids)
		if len(got) != 2 || pick(t, got, 0, "broadcast_id") != draft || pick(t, got, 0, "total_recipients") != 0.0 {
			t.Errorf("by ids: %v", got)
		}
		if n := len(list("?ids=" + second.id)); n != 1 {
			t.Errorf("one that has sent nothing is answered with %d rows", n)
		}
		open(first, 1, 90*time.Minute+20*time.Minute)
		opened := func(query string) any {
			t.Helper()
			return pick(t, list(query), 0, "opened")
		}
		for _, query := range []string{"", "?refresh=TRUE", "?refresh=1"} {
			if n := opened(query); n != 1.0 {
				t.Errorf("%q: %v opened, want 1 from the cache", query, n)
			}
		}
		if n := opened("?refresh=true"); n != 2.0 {
			t.Errorf("refreshed: %v opened, want 2", n)
		}
		if d := cmp.Diff([]any{1.0, 1.0, 0.0, 0.0, 0.0, 0.0}, pick(t, list(""), 0, "sparkline")); d != "" {
			t.Errorf("the sparkline (-want +got):\n%s", d)
		}
		for range 5 { // six refreshes a minute
			list("?refresh=true")
		}
		if _, err := s.db.Exec(context.Background(), `UPDATE engagement_sum SET verified_opened = 7 WHERE tenant_id = $1 AND verified_opened > 0`, s.acme); err != nil {
			t.Fatal(err)
		}
		if n := opened("?refresh=true"); n != 2.0 {
			t.Errorf("the seventh refresh answers %v, want 2 from the cache", n)
		}
		s.now = s.now.Add(5 * time.Minute)
		if n, _ := opened("").(float64); n < 7 {
			t.Errorf("after five minutes a live send has %v, want the changed sum", n)
		}
		if r := s.call("key", "GET /broadcasts/metrics-bulk?ids=x,y", ""); r.status != 400 || r.code != "INVALID_INPUT" || r.problems() != "ids" {
			t.Errorf("malformed ids answered %d %s", r.status, r.text)
		}
		var long strings.Builder
		for range 101 {
			long.WriteString(id.NewText() + ",")
		}
		if r := s.call("key", "GET /broadcasts/metrics-bulk?ids="+long.String(), ""); r.status != 400 {
			t.Errorf("101 ids answered %d", r.status)
		}
	})
}

func TestReportsRefuseBadRequests(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		b := s.newSend(t, 1, s.now)
		for _, path := range []string{"bounces", "engagement", "timing", "links", "report"} {
			for _, at := range []string{"/t/other/api/broadcasts/" + b.id, "/broadcasts/nonsense", "/broadcasts/" + id.NewText()} {
				if r := s.call("key", "GET "+at+"/"+path, ""); r.status != 404 {
					t.Errorf("GET %s/%s answered %d", at, path, r.status)
				}
			}
			if r := s.call("key contacts:read", "GET /broadcasts/"+b.id+"/"+path, ""); r.status != 403 {
				t.Errorf("%s without the scope answered %d", path, r.status)
			}
		}
		for path, want := range map[string]string{
			"/broadcasts/" + b.id + "/timing?interval=week":          "INVALID_INPUT",
			"/broadcasts/" + b.id + "/bounces?cursor=x":              "INVALID_CURSOR",
			"/reports/overview?from=2026-02-30&to=yesterday":         "INVALID_INPUT",
			"/reports/overview?from=2026-02-02&to=2026-02-01":        "INVALID_INPUT",
			"/reports/overview?from=2020-01-01&to=2026-02-01":        "INVALID_INPUT",
			"/reports/overview?from=x&to=y&email_type_key=unknown-1": "INVALID_INPUT",
			"/reports/overview?email_type_key=unknown-1":             "INVALID_EMAIL_TYPE",
			"/activity?types=email_opened,unknown":                   "INVALID_INPUT",
		} {
			if r := s.call("viewer", "GET "+path, ""); r.status != 400 || r.code != want {
				t.Errorf("GET %s answered %d %s", path, r.status, r.text)
			}
		}
		if r := s.call("viewer", "GET /reports/overview?from=x&to=y&email_type_key=unknown-1", ""); len(r.paths()) != 3 {
			t.Errorf("not all problems are reported: %v", r.paths())
		}
		if r := s.call("key", "GET /reports/overview", ""); r.status != 403 || r.code != "API_KEY_FORBIDDEN" {
			t.Errorf("a key reads the overview: %d %s", r.status, r.text)
		}
	})
}

// Skipped and cancelled messages are recipients, and neither sent nor failed.
func TestReportsCountRecipientsWithoutMail(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		b := s.newSend(t, 5, s.now)
		b.settle(t, 0, outbox.Result{State: outbox.Delivered, At: s.now})
		b.settle(t, 1, outbox.Result{State: outbox.Skipped, At: s.now, SkipReason: "unsubscribed"})
		b.settle(t, 2, outbox.Result{State: outbox.Queued, At: s.now, Due: s.now.Add(time.Hour), Error: "451 later"})
		if err := outbox.Cancel(t.Context(), s.db, s.acme, b.send, s.now); err != nil {
			t.Fatal(err)
		}
		r := s.answer(t, "key", "/broadcasts/"+b.id+"/report")
		for name, want := range map[string]float64{
			"total_recipients": 5, "total_sent": 1, "total_delivered": 1, "total_failed": 0, "total_bounced": 0, "bounce_rate": 0, "pending_opened": 0,
		} {
			if got := pick(t, r, name); got != want {
				t.Errorf("%s = %v, want %v", name, got, want)
			}
		}
		for status, want := range map[string]int{"delivered": 1, "skipped": 1, "cancelled": 3, "skipped,cancelled": 4, "sent": 0} {
			if got := len(s.must(200, "key", "GET /broadcasts/"+b.id+"/recipients?status="+status, "").data("status")); got != want {
				t.Errorf("%d recipients are %s, want %d", got, status, want)
			}
		}
	})
}
