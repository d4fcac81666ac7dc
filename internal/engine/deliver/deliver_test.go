package deliver_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/mail"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/engine/deliver"
	"github.com/packetboat/packetboat/internal/engine/dispatch"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// maxWaitInMemory is the timeout of every wait in these tests, generous for a busy machine.
const maxWaitInMemory = time.Minute

// house is an account with a relay, and a clock that can be advanced.
type house struct {
	*broadcasttest.Account
	t      *testing.T
	began  time.Time
	ahead  atomic.Int64
	people []contact.Contact
	id     id.Broadcast
}

func newHouse(t *testing.T, db *sqldb.DB) *house {
	t.Helper()
	return &house{Account: broadcasttest.New(t, db, "acme"), t: t, began: time.Now()}
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) now() time.Time {
	return broadcasttest.Now.Add(time.Since(h.began) + time.Duration(h.ahead.Load()))
}

// pass advances the clock.
func (h *house) pass(d time.Duration) { h.ahead.Add(int64(d)) }

// relay adds an SMTP server as the account's lane.
func (h *house) relay(port int, edits ...func(*lane.Fields)) {
	h.t.Helper()
	f := lane.Fields{
		Name: new("Relay"), Type: new(lane.SMTP), Host: new("127.0.0.1"), Port: new(port),
		TLS: new(smtpclient.None), Auth: new(smtpclient.AuthNone), MaxConnections: new(4),
	}
	for _, edit := range edits {
		edit(&f)
	}
	var err error
	h.Lane, err = lane.Create(h.t.Context(), h.DB, broadcasttest.Box(h.t), h.Tenant, f, lane.Rules{AllowPrivate: true}, broadcasttest.Now)
	h.must(err)
}

// send puts a broadcast to n contacts into the outbox.
func (h *house) send(n int, edits ...func(*broadcast.Change)) {
	h.t.Helper()
	h.people = h.AddContacts(h.List.ID, "c", n)
	h.sendAgain(n, edits...)
}

// sendAgain puts another broadcast to the same n contacts into the outbox.
func (h *house) sendAgain(n int, edits ...func(*broadcast.Change)) {
	h.t.Helper()
	h.id = h.Schedule(edits...).ID
	d := &dispatch.Engine{DB: h.DB, Owner: "test", Now: h.now, Log: slog.New(slog.DiscardHandler)}
	for more := true; more; {
		var err error
		more, err = d.Tick(h.t.Context())
		h.must(err)
	}
	if p := h.progress(); p.Total != n || p.Phase != outbox.Open {
		h.t.Fatalf("%d of %d messages are in the outbox, which is %s", p.Total, n, p.Phase)
	}
}

func (h *house) engine() *deliver.Engine {
	keys, box := track.NewKeys(broadcasttest.Box(h.t)), broadcasttest.Box(h.t)
	return &deliver.Engine{
		DB: h.DB, Box: box, Keys: keys,
		Contents: &content.Cache{DB: h.DB},
		Senders:  &render.Senders{DB: h.DB, Now: h.now},
		Signers:  &deliver.Signers{DB: h.DB, Box: box},
		Renderer: &render.Renderer{Keys: keys, BaseURL: &url.URL{Scheme: "https", Host: "packetboat.example"}},
		Log:      slog.New(slog.DiscardHandler), Now: h.now,
		Metrics:        deliver.NewMetrics(prometheus.NewRegistry()),
		FeedbackSender: "packetboat", AllowPrivate: true,
	}
}

// run starts an engine and returns a function that stops it and waits for its end.
func (h *house) run(e *deliver.Engine) (stop func()) {
	h.t.Helper()
	ctx, cancel := context.WithCancel(h.t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			h.t.Errorf("Run: %v", err)
		}
	})
	h.t.Cleanup(stop)
	return stop
}

func (h *house) progress() outbox.Progress {
	h.t.Helper()
	p, err := outbox.Load(context.WithoutCancel(h.t.Context()), h.DB, h.Tenant, h.SendOf(h.id))
	h.must(err)
	return p
}

// await polls until done returns true for the progress of the send.
func (h *house) await(what string, done func(outbox.Progress) bool) outbox.Progress {
	h.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	late := time.After(maxWaitInMemory)
	for {
		p := h.progress()
		if done(p) {
			return p
		}
		select {
		case <-tick.C:
		case <-late:
			h.t.Fatalf("timeout waiting until %s: %+v; messages: %+v", what, p, h.failures())
		}
	}
}

func (h *house) failures() (list []string) {
	for _, r := range h.messages() {
		if r.State != outbox.Delivered {
			list = append(list, r.Email+" "+string(r.State)+" "+r.Error)
		}
	}
	return list[:min(len(list), 5)]
}

// over waits until no message is waiting.
func (h *house) over() outbox.Progress {
	h.t.Helper()
	return h.await("all has ended", func(p outbox.Progress) bool { return p.Waiting == 0 })
}

func (h *house) messages() []outbox.Record {
	h.t.Helper()
	list, err := outbox.First(context.WithoutCancel(h.t.Context()), h.DB, h.Tenant, h.SendOf(h.id), 1000)
	h.must(err)
	return list
}

// sums fails the test if the sums of the send are not as wanted.
func (h *house) sums(want outbox.Sums) {
	h.t.Helper()
	if got := h.progress().Sums; got != want {
		h.t.Errorf("sums = %+v, want %+v", got, want)
	}
}

// arrived returns how many mails each address received.
func arrived(s *sink.Server) map[string]int {
	got := map[string]int{}
	for _, m := range s.Messages() {
		for _, to := range m.Rcpt {
			got[to]++
		}
	}
	return got
}

func messageIDs(list []sink.Message) []string {
	var ids []string
	for _, m := range list {
		ids = append(ids, m.MessageID)
	}
	slices.Sort(ids)
	return ids
}

func (h *house) awaitSink(s *sink.Server, n int) []sink.Message {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), maxWaitInMemory)
	defer cancel()
	list, err := s.Await(ctx, n)
	h.must(err)
	return list
}

// watch waits for a message in the log.
type watch struct {
	slog.Handler
	words string
	seen  chan struct{}
	once  sync.Once
}

func newWatch(words string) *watch {
	return &watch{Handler: slog.DiscardHandler, words: words, seen: make(chan struct{})}
}

func (w *watch) logger() *slog.Logger { return slog.New(w) }

func (w *watch) Enabled(context.Context, slog.Level) bool { return true }

func (w *watch) Handle(_ context.Context, r slog.Record) error {
	if r.Message == w.words {
		w.once.Do(func() { close(w.seen) })
	}
	return nil
}

func (w *watch) await(t *testing.T) {
	t.Helper()
	select {
	case <-w.seen:
	case <-time.After(maxWaitInMemory):
		t.Fatalf("timeout waiting for %q in the log", w.words)
	}
}

// header returns a field of a message's header.
func header(t *testing.T, raw []byte, name string) string {
	t.Helper()
	m, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return m.Header.Get(name)
}
