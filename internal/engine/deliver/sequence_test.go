package deliver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/mail"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/content/library"
	"github.com/packetboat/packetboat/internal/engine/flow"
	"github.com/packetboat/packetboat/internal/mail/mx"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// TestMailsPrintTheEventThatEnrolled enrolls contacts by different events, one of them twice, and one
// by a call.
func TestMailsPrintTheEventThatEnrolled(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		relay := sink.Start(t, sink.Options{})
		h.relay(relay.Port())
		entry, err := library.Create(t.Context(), h.Author(h.now()), h.Tenant, library.Change{
			Name: new("Receipt"),
			Content: &draft.Change{Parts: map[draft.Field]*string{
				draft.Subject:  new("{{ event.plan }} for {{ event.seats }}"),
				draft.BodyHTML: new(`<p>{{ event.name }}: {{ event.properties.plan }}</p>`),
			}},
		})
		h.must(err)
		s, err := sequence.Create(t.Context(), db, h.Tenant, sequence.Change{Name: new("Orders"), AllowReentry: new(true)}, h.now())
		h.must(err)
		config, err := json.Marshal(map[string]any{"message_id": entry.ID, "email_type_key": h.Type.Key, "mta_config_key": h.Lane.Key})
		h.must(err)
		_, err = sequence.SetGraph(t.Context(), db, h.Tenant, s.ID,
			sequence.Graph{Entry: "mail", Nodes: []sequence.Node{{ID: "mail", Type: sequence.SendNode, Config: config}}}, false, h.now())
		h.must(err)
		s, err = sequence.Activate(t.Context(), db, h.Tenant, s.ID, h.now())
		h.must(err)
		_, err = db.Exec(t.Context(), `INSERT INTO mail_domain (domain, smtp_provider, next_at, tries) VALUES ('example.com', $1, 0, 0)`, mx.Gmail)
		h.must(err)
		people := h.AddContacts(h.List.ID, "c", 3)
		steps := &flow.Engine{DB: db, Now: h.now, Log: slog.New(slog.DiscardHandler)}
		enroll := func(at int, plan string, seats int) {
			t.Helper()
			var data json.RawMessage
			if plan != "" {
				data, err = journal.Trigger{Name: "ordered", Type: "event", At: h.now(), Properties: map[string]any{"plan": plan, "seats": seats}}.Encode()
				h.must(err)
			}
			h.must(db.InTx(t.Context(), func(tx *sqldb.DB) error {
				_, err := sequence.EnrollAll(t.Context(), tx, s, []sequence.Candidate{{Contact: people[at].ID, Trigger: data}}, h.now())
				return err
			}))
			h.pass(time.Second)
			for more := true; more; {
				more, err = steps.Tick(t.Context())
				h.must(err)
			}
		}
		enroll(0, "pro", 3)
		enroll(1, "free", 1)
		enroll(2, "", 0)
		enroll(0, "team", 12)
		sends, err := sequence.Sends(t.Context(), db, h.Tenant, s.ID)
		h.must(err)
		mixes, err := outbox.LoadMixes(t.Context(), db, h.Tenant, sends["mail"])
		h.must(err)
		for _, m := range mixes {
			if m.Provider != mx.Gmail {
				t.Errorf("the provider of %d messages is %q", m.Total, m.Provider)
			}
		}
		h.run(h.engine())
		ctx, cancel := context.WithTimeout(t.Context(), maxWaitInMemory)
		defer cancel()
		arrived, err := relay.Await(ctx, 4)
		h.must(err)
		var subjects []string
		for _, m := range arrived {
			parsed, err := mail.ReadMessage(bytes.NewReader(m.Raw))
			h.must(err)
			body, err := io.ReadAll(parsed.Body)
			h.must(err)
			subject := parsed.Header.Get("Subject")
			plan, _, _ := strings.Cut(subject, " ")
			if plan != "for" && !strings.Contains(string(body), "<p>ordered: "+plan) {
				t.Errorf("the mail %q has the body %s", subject, body)
			}
			subjects = append(subjects, subject)
		}
		slices.Sort(subjects)
		if diff := cmp.Diff([]string{"for", "free for 1", "pro for 3", "team for 12"}, subjects); diff != "" {
			t.Error(diff)
		}
	})
}
