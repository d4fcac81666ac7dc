package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/campaign/usermail"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/engine/flow"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

type object = map[string]any

// lead takes a contact through a sequence of nodes without branches.
func (s *site) lead(nodes ...sequence.Node) contact.Contact {
	s.t.Helper()
	must := func(err error) {
		s.t.Helper()
		if err != nil {
			s.t.Fatal(err)
		}
	}
	ctx := s.t.Context()
	seq, err := sequence.Create(ctx, s.db, s.tenant, sequence.Change{Name: new("Orders")}, s.clock())
	must(err)
	g := sequence.Graph{Entry: nodes[0].ID, Nodes: nodes}
	for i := range nodes[1:] {
		g.Edges = append(g.Edges, sequence.Edge{From: nodes[i].ID, To: nodes[i+1].ID})
	}
	_, err = sequence.SetGraphUnder(ctx, s.db, s.box, s.tenant, seq.ID, g, sequence.Change{}, webhook.Rules{AllowPrivate: true}, false, s.clock())
	must(err)
	seq, err = sequence.Activate(ctx, s.db, s.tenant, seq.ID, s.clock())
	must(err)
	c, err := contact.Create(ctx, s.db, s.tenant, id.New[id.Contact]().String()+"@example.org", contact.Change{
		Texts: map[contact.Text]*string{contact.FirstName: new(`Ann "A"` + "\r\nX-Bad: 1")},
	}, contact.Rules{}, s.clock())
	must(err)
	data, err := journal.Trigger{Name: "ordered", Type: "event", At: s.clock(), Properties: object{"plan": "pro", "seats": 3}}.Encode()
	must(err)
	must(s.db.InTx(ctx, func(tx *sqldb.DB) error {
		_, err := sequence.EnrollAll(ctx, tx, seq, []sequence.Candidate{{Contact: c.ID, Trigger: data}}, s.clock())
		return err
	}))
	steps := &flow.Engine{DB: s.db, Now: s.clock, Box: s.box, Log: slog.New(slog.DiscardHandler)}
	for more := true; more; {
		more, err = steps.Tick(ctx)
		must(err)
	}
	list, err := sequence.OfContact(ctx, s.db, s.tenant, c.ID)
	must(err)
	if len(list) != 1 || list[0].Status != sequence.Completed {
		s.t.Fatalf("the enrollment is %+v", list)
	}
	return c
}

func stepNode(nodeID string, t sequence.NodeType, config object) sequence.Node {
	raw, err := json.Marshal(config)
	if err != nil {
		panic(err)
	}
	return sequence.Node{ID: nodeID, Type: t, Config: raw}
}

// TestWebhooksOfSteps makes requests with a body of texts, of JSON and without one, and signs them
// once there is a secret.
func TestWebhooksOfSteps(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newSite(t, db)
		key, err := webhook.NewCallSecret(t.Context(), db, s.box, s.tenant, s.clock())
		if err != nil {
			t.Fatal(err)
		}
		r := newReceiver(t, nil)
		c := s.lead(
			stepNode("text", sequence.WebhookNode, object{"url": r.URL + "/text", "headers": object{"X-Plan": "{{ event.plan }} {{ first_name }}"}, "body": "{{ event.plan }} of {{ sequence.name }}"}),
			stepNode("json", sequence.WebhookNode, object{"url": r.URL + "/json", "body": object{"name": "{{ first_name }}", "n": 12345678901234567, "list": []any{"{{ event.seats }}", true}}}),
			stepNode("none", sequence.WebhookNode, object{"url": r.URL + "/none"}),
		)
		s.tick()
		got := r.requests()
		if len(got) != 3 {
			t.Fatalf("%d requests", len(got))
		}
		slices.SortFunc(got, func(a, b request) int { return len(a.body) - len(b.body) })
		for _, one := range got {
			if err := verify(t, key, one); err != nil {
				t.Errorf("%s: %v", one.body, err)
			}
		}
		if text := got[0]; string(text.body) != "pro of Orders" || text.header.Get("Content-Type") != "text/plain; charset=utf-8" ||
			text.header.Get("X-Plan") != `pro Ann "A"  X-Bad: 1` || text.header.Get("X-Bad") != "" {
			t.Errorf("the text is %q with %v", text.body, text.header)
		}
		if want := `{"list":["3",true],"n":12345678901234567,"name":"Ann \"A\"\r\nX-Bad: 1"}`; string(got[1].body) != want {
			t.Errorf("the JSON is %s, want %s", got[1].body, want)
		}
		e := decode(t, got[2])
		if e.Type != "sequence.step" || e.Data["contact_id"] != c.ID.String() || e.Data["node_id"] != "none" || e.Data["event"].(object)["name"] != "ordered" {
			t.Errorf("the standard body is %s", got[2].body)
		}
		s.advance(time.Hour)
		s.tick()
		if again := r.requests(); len(again) != 3 {
			t.Errorf("%d requests after an hour", len(again))
		}
		if _, err := webhook.Prune(t.Context(), db, s.tenant, s.clock().Add(time.Hour), 100); err != nil {
			t.Fatal(err)
		}
		var queues int
		if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM webhook_queue WHERE tenant_id = $1`, s.tenant).Scan(&queues); err != nil || queues != 0 {
			t.Errorf("%d queues are left, %v", queues, err)
		}
	})
}

// TestFailingWebhooksAreTriedThreeTimes answers with failures; the contact has continued.
func TestFailingWebhooksAreTriedThreeTimes(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newSite(t, db)
		r := newReceiver(t, status(http.StatusInternalServerError))
		s.lead(stepNode("call", sequence.WebhookNode, object{"url": r.URL}))
		for range 6 {
			s.tick()
			s.advance(6 * time.Minute)
		}
		got := r.requests()
		if len(got) != webhook.CallTries {
			t.Fatalf("%d attempts", len(got))
		}
		for _, one := range got {
			if one.header.Get("Webhook-Id") != got[0].header.Get("Webhook-Id") || one.header.Get("Webhook-Signature") != "" {
				t.Errorf("an attempt without a secret has the headers %v", one.header)
			}
		}
		// A private address is refused by the engine too.
		s.engine.AllowPrivate = false
		s.lead(stepNode("call", sequence.WebhookNode, object{"url": r.URL + "/private"}))
		s.tick()
		if now := r.requests(); len(now) != len(got) {
			t.Errorf("a private address was requested")
		}
	})
}

// TestErasedContactsAreNotSent erases a contact whose request and mail wait.
func TestErasedContactsAreNotSent(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newSite(t, db)
		s.user("ann@acme.example")
		r := newReceiver(t, nil)
		c := s.lead(
			stepNode("call", sequence.WebhookNode, object{"url": r.URL, "body": "not JSON {{ email }}"}),
			stepNode("tell", sequence.NotifyNode, object{"to": []string{"ann@acme.example"}, "subject": "Hi", "body": "{{ email }}"}),
		)
		who := contact.Person{ID: c.ID}
		for _, p := range []contact.PersonalData{webhook.PersonalData(), usermail.PersonalData()} {
			n := 0
			for record, err := range p.Export(t.Context(), db, s.tenant, who) {
				text, wrong := json.Marshal(record)
				if err != nil || wrong != nil || !strings.Contains(string(text), c.Email) {
					t.Errorf("the export of %s has %s, %v, %v", p.Name, text, err, wrong)
				}
				n++
			}
			if n != 1 {
				t.Errorf("the export of %s has %d records", p.Name, n)
			}
			if err := db.InTx(t.Context(), func(tx *sqldb.DB) error { return p.Erase(t.Context(), tx, s.tenant, []contact.Person{who}) }); err != nil {
				t.Fatal(err)
			}
		}
		s.tick()
		mails := s.mails(nil)
		if len(r.requests()) != 0 || len(mails) != 0 {
			t.Errorf("%d requests and %d mails about an erased contact", len(r.requests()), len(mails))
		}
	})
}

// user adds a user of the account.
func (s *site) user(email string) {
	s.t.Helper()
	u, err := auth.CreateUser(s.t.Context(), s.db, email, "Ann", "", s.clock())
	if err == nil {
		err = auth.AddMember(s.t.Context(), s.db, s.tenant, u.ID, auth.Editor, auth.BySystem, s.clock())
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// mails sends mails to users until none is due, and returns them.
func (s *site) mails(failing error) []string {
	s.t.Helper()
	var sent []string
	m := &UserMails{DB: s.db, Log: slog.New(slog.DiscardHandler), Now: s.clock, Mail: func(_ context.Context, to, subject, text string) error {
		if failing == nil {
			sent = append(sent, to+"|"+subject+"|"+text)
		}
		return failing
	}}
	for more := true; more; {
		var err error
		if more, err = m.Tick(s.t.Context()); err != nil {
			s.t.Fatal(err)
		}
	}
	return sent
}

// TestMailsGoToUsers mails users, one of whom has left, and keeps to the limit of an hour.
func TestMailsGoToUsers(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newSite(t, db)
		s.user("ann@acme.example")
		c := s.lead(stepNode("tell", sequence.NotifyNode, object{"to": []string{"ann@acme.example"}, "subject": "{{ first_name }} ordered", "body": "{{ event.plan }} by {{ email }}"}))
		if list := s.mails(errors.New("no relay")); len(list) != 0 {
			t.Fatal("a mail was sent by a relay that fails")
		}
		s.advance(2 * time.Minute)
		if diff := cmp.Diff([]string{`ann@acme.example|Ann "A" X-Bad: 1 ordered|pro by ` + c.Email}, s.mails(nil)); diff != "" {
			t.Error(diff)
		}
		list := []usermail.Mail{{To: "left@acme.example", Subject: "a", Body: "b"}}
		for range usermail.MaxWaiting {
			list = append(list, usermail.Mail{To: "ann@acme.example", Subject: "a", Body: "b"})
		}
		added, err := usermail.Add(t.Context(), db, s.tenant, list, s.clock())
		if err != nil || added != usermail.MaxWaiting {
			t.Fatalf("%d mails were added, %v", added, err)
		}
		if sent := s.mails(nil); len(sent) != usermail.MaxPerHour-1 {
			t.Errorf("%d mails were sent in the hour", len(sent))
		}
		s.advance(time.Hour)
		if sent := s.mails(nil); len(sent) != usermail.MaxPerHour {
			t.Errorf("%d mails were sent in the next hour", len(sent))
		}
	})
}

func TestAnEndpointWhoseDeliveriesCannotBeReadIsServedAgainAfterAPause(t *testing.T) {
	t.Parallel()
	s := newSite(t, dbtest.SQLite(t))
	e, _ := s.endpoint(s.tenant, "http://127.0.0.1:1/")
	s.test(e)
	// As with a damaged page, or a disk that fails.
	if _, err := s.db.Exec(t.Context(), `ALTER TABLE webhook_delivery RENAME COLUMN timeout_s TO timeout_damaged`); err != nil {
		t.Fatal(err)
	}
	log := failures{}
	s.engine.Log = slog.New(slog.NewTextHandler(&log, nil))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		for log.n.Load() == 0 && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(100 * time.Millisecond) // a loop without a pause fails a hundred times
		stop()
	}()
	if err := s.engine.Run(ctx); err != nil {
		t.Error(err)
	}
	if n := log.n.Load(); n > 3 {
		t.Errorf("the failure was logged %d times", n)
	}
}

// failures counts the lines of a log that tell of a failure to read.
type failures struct{ n atomic.Int64 }

func (f *failures) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("read due webhook deliveries")) {
		f.n.Add(1)
	}
	return len(line), nil
}
