package httpapi_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/engine/dispatch"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// sendTo schedules and prepares a broadcast to n contacts.
func (s *sendingTest) sendTo(t *testing.T, n int) (at string, records []outbox.Record) {
	t.Helper()
	return s.send(t, `{"scheduled_at": "2026-01-01"}`, n)
}

// send begins to send a broadcast with some fields to new contacts.
func (s *sendingTest) send(t *testing.T, fields string, n int) (at string, records []outbox.Record) {
	t.Helper()
	ctx := t.Context()
	contacts := make([]id.Contact, n)
	for i := range n {
		c, err := contact.Create(ctx, s.db, s.acme, fmt.Sprintf("p%d@example.com", i), contact.Change{}, contact.Rules{}, s.now)
		if err != nil {
			t.Fatal(err)
		}
		contacts[i] = c.ID
	}
	if _, err := segment.Add(ctx, s.db, s.acme, s.list.ID, segment.People{IDs: contacts}, s.now); err != nil {
		t.Fatal(err)
	}
	made := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, fields)).str("id")
	s.must(200, "key", "POST /broadcasts/"+made+"/schedule", "")
	engine := dispatch.Engine{DB: s.db, Owner: "test", Now: func() time.Time { return s.now }, Log: slog.New(slog.DiscardHandler)}
	for range 5 {
		if _, err := engine.Tick(ctx); err != nil {
			t.Fatal(err)
		}
	}
	records, err := outbox.First(ctx, s.db, s.acme, s.sendOf(s.acme, made), n)
	if err != nil || len(records) != n {
		t.Fatalf("%d messages, %v; want %d", len(records), err, n)
	}
	return "/broadcasts/" + made, records
}

func TestRecipientsOfABroadcast(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		ctx := t.Context()
		draft := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{}`)).str("id")
		if r := s.must(200, "key", "GET /broadcasts/"+draft+"/recipients", ""); strings.TrimSpace(r.text) != `{"data":[],"next_cursor":null,"has_more":false}` {
			t.Errorf("a draft's recipients are %s", r.text)
		}
		at, records := s.sendTo(t, 5)
		when := s.now
		become := func(i int, set string) {
			t.Helper()
			if n, err := s.db.Exec(ctx, `UPDATE outbox SET `+set+` WHERE tenant_id = $1 AND id = $2`, s.acme, records[i].ID); err != nil || n != 1 {
				t.Fatal(n, err)
			}
		}
		micros := fmt.Sprint(when.UnixMicro())
		become(0, "state = 'delivered', mix = 2, sent_at = "+micros)
		become(1, "state = 'bounced'")
		become(2, "state = 'skipped'")
		for _, text := range []string{
			`INSERT INTO outbox_mix (tenant_id, send_id, n, content_id, content_version, variant_id, identity_id)
			SELECT tenant_id, send_id, 2, content_id, content_version, 'b', identity_id FROM outbox_mix WHERE tenant_id = $1`,
			`INSERT INTO outbox_note (tenant_id, send_id, contact_id, message_id, state, bounce_type, error, skip_reason, ended_at)
			SELECT tenant_id, send_id, contact_id, id, state, CASE WHEN state = 'bounced' THEN 'hard' END, CASE WHEN state = 'bounced' THEN 'no such user' END,
				CASE WHEN state = 'skipped' THEN 'render_error' END, CASE WHEN state = 'bounced' THEN ` + micros + ` END
			FROM outbox WHERE tenant_id = $1 AND state IN ('bounced', 'skipped')`,
		} {
			if _, err := s.db.Exec(ctx, text, s.acme); err != nil {
				t.Fatal(err)
			}
		}
		become(3, "deferred = TRUE")
		m := records[0]
		err := s.db.InTx(ctx, func(tx *sqldb.DB) error {
			hit := func(after time.Duration, click bool, class track.Class) track.Hit {
				h := track.Hit{
					Tenant: s.acme, Send: m.Send, Message: m.ID, Contact: m.Contact, At: when.Add(after), SinceSent: &after,
					Method: "GET", Agent: "Firefox", IP: "192.0.2.1", Class: class, Click: click,
				}
				if click {
					h.URL = "https://example.org/"
				}
				return h
			}
			if err := track.Record(ctx, tx, []track.Hit{hit(9*time.Second, false, track.Pending), hit(5*time.Second, false, track.Pending), hit(7*time.Second, true, track.Pending)}); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, `UPDATE hit SET class = 'bot' WHERE tenant_id = $1 AND at = $2`, s.acme, when.Add(5*time.Second).UnixMicro()); err != nil {
				return err
			}
			if _, err := track.SetFlag(ctx, tx, s.acme, m.Send, m.ID, track.Unsubscribed, when.Add(20*time.Second)); err != nil {
				return err
			}
			return journal.Append(ctx, tx, journal.Entry{
				Tenant: s.acme, Type: journal.EmailUnsubscribed, Contact: m.Contact, Send: m.Send, Message: m.ID, At: when.Add(20 * time.Second),
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		stamp := func(after time.Duration) string {
			return when.Add(after).UTC().Format("2006-01-02T15:04:05.000Z")
		}
		row := func(i int, with map[string]any) map[string]any {
			want := map[string]any{
				"contact_id": records[i].Contact.String(), "email": records[i].Email, "sending_identity_email": "news@acme.example.com", "mta_config_key": "sink",
				"status": "queued", "content_version": 1.0,
			}
			for _, name := range []string{
				"variant_id", "planned_for", "sent_at", "delivered_at", "first_opened_at", "first_clicked_at", "bounced_at", "bounce_type",
				"complained_at", "unsubscribed_at", "skip_reason", "error",
			} {
				want[name] = nil
			}
			maps.Copy(want, with)
			return want
		}
		due := records[3].DueAt.UTC().Format("2006-01-02T15:04:05.000Z")
		all := []map[string]any{
			row(0, map[string]any{
				"status": "delivered", "variant_id": "b", "sent_at": stamp(0), "delivered_at": stamp(0), "first_opened_at": stamp(9 * time.Second),
				"first_clicked_at": stamp(7 * time.Second), "unsubscribed_at": stamp(20 * time.Second),
			}),
			row(1, map[string]any{"status": "bounced", "bounced_at": stamp(0), "bounce_type": "hard", "error": "no such user"}),
			row(2, map[string]any{"status": "skipped", "skip_reason": "render_error"}),
			row(3, map[string]any{"status": "deferred", "planned_for": due}),
			row(4, map[string]any{"planned_for": due}),
		}
		rows := func(r response, field string) []map[string]any {
			t.Helper()
			text, _ := json.Marshal(r.body[field])
			var list []map[string]any
			if err := json.Unmarshal(text, &list); err != nil {
				t.Fatal(err)
			}
			return list
		}
		for _, caller := range []string{"key", "key reports:read", "viewer"} {
			if d := cmp.Diff(all, rows(s.must(200, caller, "GET "+at+"/recipients", ""), "data")); d != "" {
				t.Errorf("recipients for %s (-want +got):\n%s", caller, d)
			}
		}
		if d := cmp.Diff(all, rows(s.must(200, "key", "GET "+at, ""), "recipients")); d != "" {
			t.Errorf("recipients of the broadcast (-want +got):\n%s", d)
		}

		for query, want := range map[string][]int{
			"status=bounced,+skipped,": {1, 2}, "status=queued": {4}, "status=deferred,delivered": {0, 3}, "status=pending": {},
			"variant_id=b": {0}, "variant_id=c": {}, "search=P3@": {3}, "search=%25": {}, "limit=x": {0, 1, 2, 3, 4}, "limit=0": {0},
		} {
			got := s.must(200, "key", "GET "+at+"/recipients?"+query, "").data("contact_id")
			var ids []string
			for _, i := range want {
				ids = append(ids, records[i].Contact.String())
			}
			if !slices.Equal(got, ids) {
				t.Errorf("?%s returns %v, want %v", query, got, ids)
			}
		}
		var got []string
		query := "?limit=2"
		for pages := 1; ; pages++ {
			r := s.must(200, "viewer", "GET "+at+"/recipients"+query, "")
			got = append(got, r.data("contact_id")...)
			if r.body["has_more"] != (pages < 3) || (r.body["next_cursor"] == nil) != (pages == 3) {
				t.Fatalf("page %d is %s", pages, r.text)
			}
			if pages == 3 {
				break
			}
			query = "?limit=2&cursor=" + url.QueryEscape(r.str("next_cursor"))
		}
		if len(got) != 5 || !slices.IsSorted(got) {
			t.Errorf("three pages have %v", got)
		}
		contacts := s.must(200, "key", "GET /contacts?limit=1", "").str("next_cursor")
		for query, code := range map[string]string{"status=claimed": "INVALID_STATUS", "status=sent,x": "INVALID_STATUS", "cursor=x": "INVALID_CURSOR", "cursor=" + url.QueryEscape(contacts): "INVALID_CURSOR"} {
			if r := s.call("key", "GET "+at+"/recipients?"+query, ""); r.status != 400 || r.code != code {
				t.Errorf("?%s answered %d %s, want %s", query, r.status, r.text, code)
			}
		}
		s.must(403, "key broadcasts:read", "GET "+at+"/recipients", "")
		s.must(404, "key", "GET /t/other/api"+at+"/recipients", "")
		s.must(404, "key", "GET /broadcasts/nope/recipients", "")
		s.must(404, "key", "GET /broadcasts/"+id.New[id.Broadcast]().String()+"/recipients", "")
	})
}

func TestCloneOfABroadcast(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		from := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"name": "Spring", "tags": ["a"], "metadata": {"wave": 12345678901234567890}, "exclude_segment_keys": ["others"],
			"sending_identity_emails": ["news@acme.example.com"], "scheduled_at": "2026-01-01", "tracking_enabled": false}`))
		at := "/broadcasts/" + from.str("id")
		s.must(200, "key", "POST "+at+"/schedule", "")
		s.must(200, "key", "POST "+at+"/cancel", "")
		from = s.must(200, "key", "GET "+at, "")
		own := []string{"id", "name", "status", "created_at", "updated_at", "created_by", "scheduled_at", "view_model"}
		for caller, body := range map[string]string{"key": "", "key broadcasts:write": `{}`, "editor": `{"name": "Mine", "status": "sending"}`} {
			made := s.must(201, caller, "POST "+at+"/clone", body)
			name := "Spring (copy)"
			if caller == "editor" {
				name = "Mine"
			}
			if made.str("name") != name || made.str("status") != "draft" || made.body["scheduled_at"] != nil || made.str("id") == from.str("id") {
				t.Errorf("%s created %s", caller, made.text)
			}
			if _, there := made.body["include_segment_ids"]; there != (caller == "editor") {
				t.Errorf("%s gets %s", caller, made.text)
			}
			if !strings.Contains(made.text, `"metadata":{"wave":12345678901234567890}`) {
				t.Errorf("metadata was changed: %s", made.text)
			}
			got := s.must(200, "key", "GET /broadcasts/"+made.str("id"), "").body
			for name, want := range from.body {
				if d := cmp.Diff(want, got[name]); d != "" && !slices.Contains(own, name) {
					t.Errorf("%s of the copy (-original +copy):\n%s", name, d)
				}
			}
		}
		if _, err := s.db.Exec(t.Context(), `UPDATE broadcast SET kind = 'triggered' WHERE tenant_id = $1 AND id = $2`, s.acme, idtest.Must[id.Broadcast](from.str("id"))); err != nil {
			t.Fatal(err)
		}
		if made := s.must(201, "key", "POST "+at+"/clone", `{}`); made.str("kind") != "regular" {
			t.Errorf("the copy of a triggered one is %s", made.text)
		}
		if list := s.must(200, "key", "GET /broadcasts", ""); len(list.data("id")) != 4 {
			t.Errorf("after four copies: %s", list.text)
		}
		for _, bad := range []string{`{"name": ""}`, `{"name": null}`, `{"name": 5}`, `{"name": "a\u0000b"}`, `{"name": "` + strings.Repeat("x", 201) + `"}`} {
			if r := s.call("key", "POST "+at+"/clone", bad); r.status != 400 || r.code != "INVALID_INPUT" {
				t.Errorf("%.30s answered %d %s", bad, r.status, r.text)
			}
		}
		s.must(403, "key broadcasts:read broadcasts:schedule", "POST "+at+"/clone", "")
		s.must(403, "viewer", "POST "+at+"/clone", "")
		s.must(404, "key", "POST /t/other/api"+at+"/clone", "")
		s.must(404, "key", "POST /broadcasts/nope/clone", "")
	})
}

func TestManyBroadcastsAreArchivedAtOnce(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		add := func(ended bool) string {
			t.Helper()
			made := s.must(201, "key", "POST /broadcasts", broadcastJSON(t, `{"scheduled_at": "2026-01-01"}`)).str("id")
			if ended {
				s.must(200, "key", "POST /broadcasts/"+made+"/schedule", "")
				s.must(200, "key", "POST /broadcasts/"+made+"/cancel", "")
			}
			return made
		}
		one, two, draft, unknown := add(true), add(true), add(false), id.New[id.Broadcast]().String()
		ids := func(list ...string) string {
			text, _ := json.Marshal(map[string][]string{"ids": list})
			return string(text)
		}
		answer := func(archived, skipped []string) string {
			text, _ := json.Marshal(struct {
				Archived []string `json:"archived"`
				Skipped  []string `json:"skipped"`
			}{archived, skipped})
			return string(text)
		}
		none := []string{}
		if r := s.must(200, "key", "POST /t/other/api/broadcasts/bulk-archive", ids(one, two)); strings.TrimSpace(r.text) != answer(none, []string{one, two}) {
			t.Errorf("another tenant archived %s", r.text)
		}
		if r := s.must(200, "key broadcasts:write", "POST /broadcasts/bulk-archive", ids(two, draft, strings.ToUpper(one), unknown, two, draft)); strings.TrimSpace(r.text) != answer([]string{two, one}, []string{draft, unknown}) {
			t.Errorf("bulk-archive answered %s", r.text)
		}
		if r := s.must(200, "editor", "POST /broadcasts/bulk-archive", ids(one)); strings.TrimSpace(r.text) != answer(none, []string{one}) {
			t.Errorf("archiving again answered %s", r.text)
		}
		if got := s.must(200, "key", "GET /broadcasts?archived=only", "").data("id"); !slices.Equal(got, []string{two, one}) {
			t.Errorf("the archived broadcasts are %v", got)
		}
		many := slices.Repeat([]string{unknown}, broadcast.MaxArchived)
		if r := s.must(200, "key", "POST /broadcasts/bulk-archive", ids(many...)); strings.TrimSpace(r.text) != answer(none, []string{unknown}) {
			t.Errorf("a hundred answered %s", r.text)
		}
		for _, bad := range []string{ids(), `{}`, `{"ids": null}`, `{"ids": "x"}`, ids(one, "x"), `{"ids": [5]}`, ids(append(many, unknown)...)} {
			if r := s.call("key", "POST /broadcasts/bulk-archive", bad); r.status != 400 || r.code != "INVALID_INPUT" {
				t.Errorf("%.60s answered %d %s", bad, r.status, r.text)
			}
		}
		s.must(403, "key broadcasts:schedule", "POST /broadcasts/bulk-archive", ids(one))
		s.must(403, "viewer", "POST /broadcasts/bulk-archive", ids(one))
	})
}
