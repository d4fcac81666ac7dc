package public_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/edge/public"
	"github.com/packetboat/packetboat/internal/engine/inbound"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestARelayReportsBouncesByItsHook(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		p := newPost(t, db)
		now := func() time.Time { return p.now }
		recorder := inbound.NewRecorder(db, time.Now)
		run, stop := context.WithCancel(context.WithoutCancel(t.Context()))
		done := make(chan error, 1)
		go func() { done <- recorder.Run(run) }()
		t.Cleanup(func() { stop(); <-done })
		(&public.Hooks{
			DB: db, Keys: p.keys, Log: slog.New(slog.DiscardHandler), Now: now,
			Receiver: &inbound.Receiver{DB: db, Keys: p.keys, Recorder: recorder, Log: slog.New(slog.DiscardHandler), Now: now},
		}).Routes(p.mux)
		path := "/_q/hooks/mta/" + p.keys.Hook(p.Tenant, p.Lane.ID)
		messageID := "<" + p.keys.MessageID(p.message.ID) + "@" + p.Domain.ReturnPathHost + ">"
		state := func() outbox.State {
			t.Helper()
			m, err := outbox.Find(t.Context(), db, p.Tenant, p.message.ID)
			if err != nil {
				t.Fatal(err)
			}
			return m.State
		}
		for name, tt := range map[string]struct {
			path, body string
			code       int
		}{
			"no token":          {"/_q/hooks/mta/x", `[]`, http.StatusNotFound},
			"token of no lane":  {"/_q/hooks/mta/" + p.keys.Hook(p.Tenant, id.New[id.Lane]()), `[]`, http.StatusNotFound},
			"another tenant":    {"/_q/hooks/mta/" + p.keys.Hook(p.Tenant+1, p.Lane.ID), `[]`, http.StatusNotFound},
			"no JSON":           {path, `x`, http.StatusBadRequest},
			"no array":          {path, `{}`, http.StatusBadRequest},
			"too many":          {path, "[" + strings.Repeat("{},", 1000) + "{}]", http.StatusBadRequest},
			"too large":         {path, `["` + strings.Repeat("x", 2<<20) + `"]`, http.StatusRequestEntityTooLarge},
			"empty":             {path, `[]`, http.StatusNoContent},
			"message id alone":  {path, `[{"message_id": "` + p.message.ID.String() + `", "event": "bounced", "code": 550, "status": "5.1.1"}]`, http.StatusNoContent},
			"unknown event":     {path, `[{"message_id": "` + messageID + `", "event": "opened"}]`, http.StatusNoContent},
			"nothing to change": {path, `[{"message_id": "` + messageID + `", "event": "delivered"}, {"message_id": "` + messageID + `", "event": "deferred", "code": 450}]`, http.StatusNoContent},
		} {
			if w := p.do("POST", tt.path, strings.NewReader(tt.body)); w.Code != tt.code {
				t.Errorf("%s: %d, want %d", name, w.Code, tt.code)
			}
		}
		if got := state(); got != outbox.Delivered {
			t.Fatalf("the message is %s", got)
		}
		for range 2 {
			body := `[{"message_id": "` + messageID + `", "event": "bounced", "code": "550", "status": "5.1.1", "reason": "550 5.1.1 no such user", "at": "2026-03-01T12:30:00Z"},
				{"message_id": "` + messageID + `", "event": "complained"}]`
			if w := p.do("POST", path, strings.NewReader(body)); w.Code != http.StatusNoContent {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
		}
		m, err := outbox.Find(t.Context(), db, p.Tenant, p.message.ID)
		if err != nil || m.State != outbox.Bounced || m.BounceType != contact.BounceHard {
			t.Errorf("the message is %s %s, %v", m.State, m.BounceType, err)
		}
	})
}
