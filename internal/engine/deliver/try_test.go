package deliver_test

import (
	"context"
	"testing"
	"time"

	"packetboat/e2e/sink"
	"packetboat/internal/broadcast/broadcasttest"
	"packetboat/internal/engine/deliver"
	"packetboat/internal/mailbox"
	"packetboat/internal/sqldb/dbtest"
)

func TestATrialSaysWhatTheServerSaid(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.SQLite(t))
	tester := &deliver.Tester{DB: h.DB, Box: broadcasttest.Box(t), Now: h.now, AllowPrivate: true}
	trial, err := tester.Try(t.Context(), h.Tenant, h.Lane.ID, "", "me@example.com")
	h.must(err)
	list, _, err := mailbox.List(t.Context(), h.DB, h.Tenant, mailbox.Query{Lane: h.Lane.ID, Limit: 9})
	h.must(err)
	if !trial.Accepted || len(list) != 1 || list[0].MailFrom != h.Identity.Address {
		t.Errorf("sink: %+v, mailbox: %+v", trial, list)
	}
	s := sink.Start(t, sink.Options{})
	h.relay(s.Port())
	for _, test := range []struct {
		name     string
		rule     sink.Rule
		accepted bool
		code     int
	}{
		{"accepted", sink.Rule{Stage: sink.Rcpt}, true, 250},
		{"refused", sink.Rule{Stage: sink.Rcpt, Reply: "550 5.1.1 no such user"}, false, 550},
		{"not let in", sink.Rule{Stage: sink.Connect, Reply: "554 5.7.1 go away", Drop: true}, false, 554},
		{"silent", sink.Rule{Stage: sink.Dot, Delay: time.Hour}, false, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			h.must(s.SetRules([]sink.Rule{test.rule}))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			trial, err := tester.Try(ctx, h.Tenant, h.Lane.ID, "", "me@example.com")
			if err != nil || trial.Accepted != test.accepted || trial.Code != test.code {
				t.Errorf("trial = %+v, %v; want accepted %v, code %d", trial, err, test.accepted, test.code)
			}
		})
	}
}
