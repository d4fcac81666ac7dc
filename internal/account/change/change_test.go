package change_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/packetboat/packetboat/internal/account/change"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// installation is a relay, and the hubs of two processes, on one database.
type installation struct {
	t     *testing.T
	db    *sqldb.DB
	now   time.Time
	relay *change.Relay
	hubs  [2]*change.Hub
}

func eachInstallation(t *testing.T, f func(t *testing.T, s *installation)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := &installation{t: t, db: db, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
		clock := func() time.Time { return s.now }
		sources := func(_ context.Context, _ *sqldb.DB, _ id.Tenant, sends []id.Send) (map[id.Send]change.Change, error) {
			found := map[id.Send]change.Change{}
			for _, send := range sends {
				found[send] = change.Change{Type: change.Broadcast, ID: "of " + send.String()}
			}
			return found, nil
		}
		log := slog.New(slog.NewTextHandler(t.Output(), nil))
		s.relay = &change.Relay{DB: db, Now: clock, Log: log, Sources: sources}
		s.relay.Watch()
		for i := range s.hubs {
			s.hubs[i] = change.NewHub(db, clock, log)
		}
		f(t, s)
	})
}

// received are what a stream sent.
type received struct{ list []string }

func (r *received) Event(e change.Event) error {
	if e.Reset {
		r.list = append(r.list, "reset")
	}
	for _, c := range e.Changes {
		r.list = append(r.list, strings.TrimSuffix(string(c.Type)+" "+c.ID, " "))
	}
	return nil
}

func (r *received) Comment(string) error { return nil }

// open opens a stream of the second process.
func (s *installation) open(tenant id.Tenant, after string) *change.Stream {
	s.t.Helper()
	x, err := s.hubs[1].Open(s.t.Context(), change.Caller{Tenant: tenant, User: id.New[id.User](), After: after, May: func(change.Type) bool { return true }})
	if err != nil {
		s.t.Fatal(err)
	}
	return x
}

// pass has the relay store what changed, and the second process read it.
func (s *installation) pass() {
	s.t.Helper()
	if _, err := s.relay.Flush(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	s.now = s.now.Add(time.Second)
	if err := s.hubs[1].Tick(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// want checks what a stream sends, and its position.
func (s *installation) want(x *change.Stream, want ...string) (position string) {
	s.t.Helper()
	e, _ := x.Take()
	var got received
	_ = got.Event(e)
	if !slices.Equal(got.list, want) {
		s.t.Errorf("sent %q, want %q", got.list, want)
	}
	return e.Position
}

// wrote reports a write as a statement does.
func (s *installation) wrote(tenant id.Tenant, table string, row [16]byte) {
	s.db.Wrote(sqldb.Write{Table: table, Tenant: tenant, ID: row})
}

func TestChangesReachTheStreamsOfTheirTenant(t *testing.T) {
	eachInstallation(t, func(t *testing.T, s *installation) {
		mine, others := s.open(1, ""), s.open(2, "")
		form, send := idtest.Named[id.Form]("f"), idtest.Named[id.Send]("s")
		s.wrote(1, "form", form)
		s.wrote(1, "form_submission", form)
		s.wrote(1, "tenant", [16]byte{})
		s.wrote(1, "send", send)
		s.wrote(1, "contact", idtest.Named[id.Contact]("c"))
		s.want(mine)
		s.pass()
		s.want(mine, "account", "broadcast of "+send.String(), "contact "+idtest.Named[id.Contact]("c").String(), "form "+form.String())
		s.want(others)
		s.pass()
		s.want(mine) // each once
	})
}

func TestManyIdsBecomeOneChange(t *testing.T) {
	eachInstallation(t, func(t *testing.T, s *installation) {
		x := s.open(1, "")
		for i := range change.MaxIDs + 1 {
			s.wrote(1, "contact", idtest.Named[id.Contact](fmt.Sprint(i)))
			s.wrote(1, "send", idtest.Named[id.Send](fmt.Sprint(i)))
		}
		s.wrote(1, "job", idtest.Named[id.Job]("j"))
		s.pass()
		s.want(x, "broadcast", "contact", "job "+idtest.Named[id.Job]("j").String(), "sequence")
	})
}

// A process learns within a second or two that another one has opened the first stream of a tenant.
func TestChangesWaitForAListener(t *testing.T) {
	eachInstallation(t, func(t *testing.T, s *installation) {
		s.wrote(1, "template", [16]byte{})
		s.wrote(2, "template", [16]byte{})
		s.pass()
		x := s.open(1, "")
		s.pass()
		s.want(x, "template")
		s.pass()
		y := s.open(2, "")
		s.pass()
		s.want(y) // too late
		var rows int
		if err := s.db.QueryRow(t.Context(), `SELECT COUNT(*) FROM change_hint WHERE tenant_id = $1`, id.Tenant(2)).Scan(&rows); err != nil || rows > 0 {
			t.Errorf("%d hints of a tenant without a stream are stored, %v", rows, err)
		}
	})
}

func TestAStreamContinuesWhereTheLastOneEnded(t *testing.T) {
	eachInstallation(t, func(t *testing.T, s *installation) {
		first := s.open(1, "")
		s.wrote(1, "block", [16]byte{})
		s.pass()
		s.want(first, "block")
		s.now = s.now.Add(20 * time.Second) // hints may become visible this late
		s.pass()
		at := s.want(first)
		first.Close()
		s.now = s.now.Add(time.Minute)
		s.wrote(1, "job", [16]byte{})
		s.wrote(2, "form", [16]byte{})
		s.pass()
		s.now = s.now.Add(change.Resumable - 2*time.Minute)
		next := s.open(1, at)
		s.want(next, "job")
		next.Close()
		s.now = s.now.Add(2 * time.Minute)
		for _, unknown := range []string{at, "x", "0", "99999999999999999", "-1", "99999999999999999999999"} {
			s.want(s.open(1, unknown), "reset")
		}
	})
}

func TestOldHintsAreDeleted(t *testing.T) {
	eachInstallation(t, func(t *testing.T, s *installation) {
		s.open(1, "").Close()
		s.wrote(1, "job", [16]byte{})
		s.pass()
		s.now = s.now.Add(time.Hour)
		s.open(2, "")
		s.pass()
		var rows int
		if err := s.db.QueryRow(t.Context(), `SELECT COUNT(*) FROM change_hint`).Scan(&rows); err != nil || rows > 0 {
			t.Errorf("%d hints are left, %v", rows, err)
		}
		if err := s.db.QueryRow(t.Context(), `SELECT COUNT(*) FROM change_listener`).Scan(&rows); err != nil || rows != 1 {
			t.Errorf("%d listeners are left, %v; want that of the open stream", rows, err)
		}
	})
}

func TestStreamsAreLimited(t *testing.T) {
	eachInstallation(t, func(t *testing.T, s *installation) {
		open := func(tenant id.Tenant, user string) error {
			_, err := s.hubs[1].Open(t.Context(), change.Caller{Tenant: tenant, User: idtest.Named[id.User](user), May: func(change.Type) bool { return true }})
			return err
		}
		for range change.MaxPerUser {
			if err := open(1, "ann"); err != nil {
				t.Fatal(err)
			}
		}
		if f, ok := fault.As(open(1, "ann")); !ok || f.Kind != fault.Limited {
			t.Errorf("one more stream of a user: %v", f)
		}
		for i := range change.MaxPerTenant - change.MaxPerUser {
			if err := open(1, fmt.Sprint(i)); err != nil {
				t.Fatal(err)
			}
		}
		if f, ok := fault.As(open(1, "bob")); !ok || f.Kind != fault.Limited {
			t.Errorf("one more stream of a tenant: %v", f)
		}
		if err := open(2, "bob"); err != nil {
			t.Errorf("a stream of another tenant: %v", err)
		}
	})
}

func TestChangesThatTheRoleMayNotReadAreLeftOut(t *testing.T) {
	eachInstallation(t, func(t *testing.T, s *installation) {
		x, err := s.hubs[1].Open(t.Context(), change.Caller{Tenant: 1, May: func(typ change.Type) bool { return typ != change.Webhook }})
		if err != nil {
			t.Fatal(err)
		}
		s.wrote(1, "webhook_endpoint", [16]byte{})
		s.pass()
		s.want(x)
		s.wrote(1, "webhook_endpoint", [16]byte{})
		s.wrote(1, "job", [16]byte{})
		s.pass()
		s.want(x, "job")
	})
}

// timed records when a stream sends.
type timed struct {
	begun time.Time
	list  []string
}

func (w *timed) add(what string) error {
	w.list = append(w.list, fmt.Sprintf("%v %s", time.Since(w.begun), what))
	return nil
}
func (w *timed) Event(e change.Event) error {
	return w.add("event of " + fmt.Sprint(len(e.Changes)))
}
func (w *timed) Comment(string) error { return w.add("comment") }

func TestAStreamSendsAtMostOnceASecondAndEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := change.NewStream(change.Caller{May: func(change.Type) bool { return true }})
		w := &timed{begun: time.Now()}
		go func() {
			for i := range 4 { // at 0.3, 0.6, 0.9, 1.2 s
				time.Sleep(300 * time.Millisecond)
				x.Receive([]change.Change{{Type: change.Job, ID: fmt.Sprint(i)}})
			}
		}()
		x.Run(t.Context(), w)
		if took := time.Since(w.begun); took != change.Lifetime {
			t.Errorf("the stream ended after %v", took)
		}
		want := []string{"0s comment", "300ms event of 1", "1.3s event of 3", "20s comment", "40s comment"}
		if len(w.list) < 40 || !slices.Equal(w.list[:5], want) {
			t.Errorf("sent %q, want it to begin with %q", w.list, want)
		}
	})
}

func TestClosingTheHubEndsStreams(t *testing.T) {
	eachInstallation(t, func(t *testing.T, s *installation) {
		x, ended := s.open(1, ""), make(chan bool)
		go func() { x.Run(t.Context(), &received{}); close(ended) }()
		s.hubs[1].Close()
		<-ended
		s.open(1, "").Run(t.Context(), &received{}) // one that is opened later
	})
}
