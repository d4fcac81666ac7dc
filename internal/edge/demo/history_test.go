package demo_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/edge/app"
	"github.com/packetboat/packetboat/internal/edge/demo"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
	"github.com/packetboat/packetboat/internal/view/report"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// world is a demo in a database.
type world struct {
	t      *testing.T
	db     *sqldb.DB
	cfg    app.Config
	store  *app.Store
	tenant tenant.Tenant
	access demo.Access
}

func newWorld(t *testing.T, db *sqldb.DB) *world {
	t.Helper()
	box, err := secret.NewBox(make([]byte, secret.KeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	o := app.DefaultOptions()
	o.DataDir = t.TempDir()
	stock := http.NewServeMux()
	server := httptest.NewServer(stock)
	t.Cleanup(server.Close)
	o.BaseURL = server.URL
	cfg, err := o.Config()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, db: db, cfg: cfg, store: &app.Store{DB: db, Box: box}}
	w.prepare()
	stock.Handle("POST "+demo.StockPath, demo.StockSystem{Began: w.tenant.CreatedAt})
	return w
}

// prepare does what each start of the demo does first.
func (w *world) prepare() {
	w.t.Helper()
	compiler := mjml.New()
	defer compiler.Close()
	var err error
	w.tenant, w.access, err = demo.Account{
		DB: w.db, Box: w.store.Box, Dir: w.cfg.DataDir, TrackingHost: w.cfg.BaseURL.Host, Stock: demo.StockURL(w.cfg.BaseURL), MJML: compiler, Setup: app.TenantSetup(), Now: noon,
	}.Prepare(w.t.Context())
	w.must(err)
}

// fill carries out the history until the log says a text; empty: until its end.
func (w *world) fill(until string) error {
	w.t.Helper()
	ctx, stop := context.WithCancel(w.t.Context())
	defer stop()
	log := slog.Handler(slog.DiscardHandler)
	if os.Getenv("DEMO_LOG") != "" {
		log = slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})
	}
	if until != "" {
		log = stopsAt{log, until, stop}
	}
	err := app.FillDemo(ctx, w.cfg, w.store, w.tenant, w.access, slog.New(log))
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// stopsAt is a log that interrupts at a text.
type stopsAt struct {
	slog.Handler
	text string
	stop func()
}

func (s stopsAt) Enabled(context.Context, slog.Level) bool { return true }
func (s stopsAt) WithAttrs([]slog.Attr) slog.Handler       { return s }
func (s stopsAt) WithGroup(string) slog.Handler            { return s }
func (s stopsAt) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if strings.Contains(a.Value.String(), s.text) {
			s.stop()
		}
		return true
	})
	return nil
}

// counts are numbers that do not depend on random ids.
type counts struct {
	Contacts   map[contact.Status]int
	Broadcasts map[broadcast.Status]int
	Finished   map[string]map[outbox.Status]int // messages of finished broadcasts, by name
	Recipients map[string]int                   // of live ones
	Bounces    map[reply.Class]int
	Requests   map[string]int // to the webhook, by status
	Rows       map[string]int // of tables
}

// want is what a history leaves.
var want = counts{
	Contacts: map[contact.Status]int{
		contact.Active: 978, contact.Bounced: 18, contact.Complained: 2, contact.Pending: 4, contact.Suppressed: 3, contact.Unsubscribed: 11,
	},
	Broadcasts: map[broadcast.Status]int{broadcast.Completed: 3, broadcast.Draft: 3, broadcast.Paused: 1, broadcast.Scheduled: 1, broadcast.Sending: 1},
	Finished: map[string]map[outbox.Status]int{
		"Letter from the quay, number 1":    {outbox.StatusDelivered: 184, outbox.StatusBounced: 9},
		"Catalogue of the season":           {outbox.StatusDelivered: 950, outbox.StatusBounced: 33},
		"Reading club: which subject works": {outbox.StatusDelivered: 210, outbox.StatusBounced: 6},
	},
	Recipients: map[string]int{"A shelf for your office": 760, "Last copies of the year": 100},
	Bounces:    map[reply.Class]int{reply.Hard: 18, reply.Soft: 30},
	Requests:   map[string]int{"delivered": 49, "failed": 4},
	Rows: map[string]int{
		"automation_run": 15, "block": 4, "enrollment": 12, "form_submission": 16, "job": 2, "library_entry": 2, "library_version": 3,
		"saved_filter": 3, "seed": 19, "seed_sync": 3, "segment": 16, "suppression": 27, "template": 11, "visitor": 59,
	},
}

func (w *world) counts() counts {
	w.t.Helper()
	ctx, db, t := w.t.Context(), w.db, w.tenant.ID
	c := counts{map[contact.Status]int{}, map[broadcast.Status]int{}, map[string]map[outbox.Status]int{}, map[string]int{}, map[reply.Class]int{}, map[string]int{}, map[string]int{}}
	for _, s := range contact.Statuses() {
		n, err := contact.Count(ctx, db, t, contact.Selector{Statuses: []contact.Status{s}})
		w.must(err)
		c.Contacts[s] = n
	}
	for _, b := range w.broadcasts() {
		c.Broadcasts[b.Status]++
		messages := w.messages(b)
		switch {
		case b.Status.Ended():
			c.Finished[b.Name] = map[outbox.Status]int{}
			for _, m := range messages {
				c.Finished[b.Name][m.Status()]++
				if m.Status() == outbox.StatusBounced {
					c.Bounces[m.Bounce()]++
				}
			}
		case len(messages) > 0:
			c.Recipients[b.Name] = len(messages)
		}
	}
	rows, err := db.Query(ctx, `SELECT status, COUNT(*) FROM webhook_delivery WHERE tenant_id = $1 GROUP BY status`, t)
	w.must(sqldb.Each(rows, err, func(scan func(...any) error) error {
		var status string
		var n int
		err := scan(&status, &n)
		c.Requests[status] = n
		return err
	}))
	for table := range want.Rows {
		var n int
		w.must(db.QueryRow(ctx, `SELECT COUNT(*) FROM `+table+` WHERE tenant_id = $1`, t).Scan(&n))
		c.Rows[table] = n
	}
	return c
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) broadcasts() []broadcast.Broadcast {
	w.t.Helper()
	list, err := broadcast.List(w.t.Context(), w.db, w.tenant.ID, broadcast.Filter{})
	w.must(err)
	return list
}

func (w *world) messages(b broadcast.Broadcast) []outbox.Record {
	w.t.Helper()
	list, more, err := outbox.List(w.t.Context(), w.db, w.tenant.ID, b.Send, outbox.Recipients{Limit: 2000})
	w.must(err)
	if more {
		w.t.Fatalf("%s has more than 2000 messages", b.Name)
	}
	return list
}

// hits returns the numbers of hits of all broadcasts, by class.
func (w *world) hits() map[track.Class]int {
	w.t.Helper()
	n := map[track.Class]int{}
	for _, b := range w.broadcasts() {
		var messages []id.Message
		for _, m := range w.messages(b) {
			messages = append(messages, m.ID)
		}
		hits, err := track.HitsOf(w.t.Context(), w.db, w.tenant.ID, messages)
		w.must(err)
		for _, h := range hits {
			n[h.Class]++
		}
	}
	return n
}

// The history is carried out once, however often it is interrupted, and its reports add up.
func TestHistoryIsCarriedOutOnce(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("sends some thousand mails")
	}
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db)
		for _, at := range []string{"createEmailType", "createSegment", "scheduleBroadcast", "sign-up of Klara", "scheduleBroadcast", "readers of Catalogue", "leavers of Catalogue", "createJob", "pauseBroadcast"} {
			w.prepare()
			w.must(w.fill(at))
		}
		w.prepare()
		w.must(w.fill(""))
		if diff := cmp.Diff(want, w.counts()); diff != "" {
			t.Errorf("the history left (-want +got):\n%s", diff)
		}
		hits := w.hits()
		if hits[track.Human] < 500 || hits[track.Privacy] < 300 || hits[track.Bot] < 200 || hits[track.Pending] > 0 {
			t.Errorf("hits by class = %v; want many of people, privacy proxies and machines, and none pending", hits)
		}
		for _, b := range w.broadcasts() {
			w.addsUp(b)
		}
		w.sequenceIsRead()
		w.must(w.fill(""))
		if diff := cmp.Diff(want, w.counts()); diff != "" {
			t.Errorf("a second call changed (-before +after):\n%s", diff)
		}
		if diff := cmp.Diff(hits, w.hits()); diff != "" {
			t.Errorf("a second call changed the hits (-before +after):\n%s", diff)
		}
	})
}

// sequenceIsRead checks that people have read the mails of the sequence, and that some reached its goal.
func (w *world) sequenceIsRead() {
	w.t.Helper()
	list, err := sequence.After(w.t.Context(), w.db, w.tenant.ID, id.Sequence{}, 2)
	w.must(err)
	if len(list) != 1 {
		w.t.Fatalf("%d sequences, want 1", len(list))
	}
	all, err := sequence.Counts(w.t.Context(), w.db, w.tenant.ID, list[0])
	w.must(err)
	sends, err := sequence.Sends(w.t.Context(), w.db, w.tenant.ID, list[0])
	w.must(err)
	opened, clicked := 0, 0
	for _, send := range sends {
		r, err := report.Of(w.t.Context(), w.db, w.tenant.ID, send)
		w.must(err)
		opened, clicked = opened+r.People.VerifiedOpened, clicked+r.People.HumanClicked
	}
	if all[""].Converted != 3 || opened < 5 || clicked < 2 {
		w.t.Errorf("of the sequence %d converted, %d opened and %d clicked; want 3, some and some", all[""].Converted, opened, clicked)
	}
}

// addsUp checks that the sums of a finished broadcast's report are those of its rows.
func (w *world) addsUp(b broadcast.Broadcast) {
	w.t.Helper()
	if !b.Status.Ended() {
		return
	}
	r, err := report.Of(w.t.Context(), w.db, w.tenant.ID, b.Send)
	w.must(err)
	of := map[outbox.Status]int{}
	for _, m := range w.messages(b) {
		of[m.Status()]++
	}
	if r.Messages.Total != len(w.messages(b)) || r.Messages.Delivered != of[outbox.StatusDelivered] || r.Messages.Bounced != of[outbox.StatusBounced] {
		w.t.Errorf("the report of %s has %d recipients, %d delivered and %d bounced; its messages are %v", b.Name, r.Messages.Total, r.Messages.Delivered, r.Messages.Bounced, of)
	}
}

// A demo that somebody has used without its history never gets one: the engines of the past would send, at
// times of the past, what was scheduled.
func TestADemoThatWasUsedHasNoHistory(t *testing.T) {
	t.Parallel()
	for name, use := range map[string]func(w *world) error{
		"a contact": func(w *world) error {
			_, err := contact.Create(w.t.Context(), w.db, w.tenant.ID, "ann@example.org", contact.Change{}, contact.Rules{}, noon)
			return err
		},
		"an act of its owner": func(w *world) error {
			return auth.Audit(w.t.Context(), w.db, auth.By{Actor: auth.Actor{Type: "user"}}.Did(w.tenant.ID, "broadcast.schedule", "broadcast", "x", noon))
		},
		"a tenant of today": func(w *world) error {
			w.tenant.CreatedAt = time.Now()
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				w := newWorld(t, db)
				before := len(w.broadcasts())
				w.must(use(w))
				w.must(w.fill(""))
				if after := len(w.broadcasts()); after != before {
					t.Errorf("%d broadcasts before the start, and %d after it", before, after)
				}
			})
		})
	}
}
