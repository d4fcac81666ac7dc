package deliver_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// breakKey replaces the sealed DKIM key of the house's domain by one that cannot be opened. It
// returns a function that restores the key.
func (h *house) breakKey() (restore func()) {
	h.t.Helper()
	var sealed string
	h.must(h.DB.QueryRow(h.t.Context(), `SELECT dkim_key FROM sending_domain WHERE tenant_id = $1 AND id = $2`, h.Tenant, h.Domain.ID).Scan(&sealed))
	set := func(key string) {
		h.t.Helper()
		_, err := h.DB.Exec(h.t.Context(), `UPDATE sending_domain SET dkim_key = $3 WHERE tenant_id = $1 AND id = $2`, h.Tenant, h.Domain.ID, key)
		h.must(err)
	}
	set(sealed[:len(sealed)-8] + "AAAAAAAA")
	return func() { h.t.Helper(); set(sealed) }
}

// errorLog sends the errors that are logged to its channel, as long as it has space.
type errorLog struct{ lines chan string }

func (errorLog) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }
func (e errorLog) WithAttrs([]slog.Attr) slog.Handler         { return e }
func (e errorLog) WithGroup(string) slog.Handler              { return e }

func (e errorLog) Handle(_ context.Context, r slog.Record) error {
	line := r.Message
	r.Attrs(func(a slog.Attr) bool {
		line += " " + a.String()
		return true
	})
	select {
	case e.lines <- line:
	default:
	}
	return nil
}

func TestMailWhoseKeyCannotBeOpenedWaits(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		other := &house{Account: broadcasttest.New(t, db, "other"), t: t, began: h.began}
		s := sink.Start(t, sink.Options{})
		for _, x := range []*house{h, other} {
			x.relay(s.Port(), func(f *lane.Fields) { f.DKIMSign = new(true) })
		}
		h.send(3)
		other.send(2)
		restore := h.breakKey()
		logged := errorLog{make(chan string, 1)}
		e := h.engine()
		e.Log = slog.New(logged)
		h.run(e)
		select {
		case line := <-logged.lines:
			for _, want := range []string{"feed send failed", "broadcast=" + h.id.String(), "open the DKIM key of domain " + h.Domain.ID.String()} {
				if !strings.Contains(line, want) {
					t.Errorf("the log does not say %q: %s", want, line)
				}
			}
		case <-time.After(maxWaitInMemory):
			t.Fatal("no error was logged")
		}
		other.over()
		if p := h.progress(); p.Waiting != 3 || len(s.Messages()) != 2 {
			t.Errorf("%d messages wait and %d were sent, want 3 and the other tenant's 2", p.Waiting, len(s.Messages()))
		}
		restore()
		h.pass(time.Minute)
		h.over()
		if n := len(s.Messages()); n != 5 {
			t.Errorf("%d messages were sent, want 5", n)
		}
	})
}

func TestNoKeyIsOpenedForALaneWithoutSignatures(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		s := sink.Start(t, sink.Options{})
		h.relay(s.Port(), func(f *lane.Fields) { f.DKIMSign = new(false) })
		h.send(2)
		h.breakKey()
		h.run(h.engine())
		h.over()
		if n := len(s.Messages()); n != 2 {
			t.Errorf("%d messages were sent, want 2", n)
		}
	})
}

func TestTestSendsReportAKeyThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		s := sink.Start(t, sink.Options{})
		h.relay(s.Port(), func(f *lane.Fields) { f.DKIMSign = new(true) })
		b := h.Create()
		test, err := broadcast.PrepareTest(t.Context(), db, h.Tenant, b.ID, broadcast.TestRequest{To: []string{"ann@example.com"}})
		h.must(err)
		restore := h.breakKey()
		tester := h.tester()
		results, err := broadcast.SendTest(t.Context(), db, test, tester, h.now())
		h.must(err)
		want := "the DKIM key of " + h.Domain.Name + " could not be opened"
		if len(results) != 1 || results[0].Status != render.TestFailed || results[0].Error != want || results[0].MessageID != "" {
			t.Errorf("results = %+v, want one that failed with %q", results, want)
		}
		if _, err := tester.Try(t.Context(), h.Tenant, h.Lane.ID, id.Identity{}, "ann@example.com"); err == nil || !strings.Contains(err.Error(), "open the DKIM key") {
			t.Errorf("Try = %v", err)
		}
		restore()
		if results, err = broadcast.SendTest(t.Context(), db, test, tester, h.now()); err != nil || results[0].Status != render.TestSent {
			t.Errorf("with the key: %+v, %v", results, err)
		}
		h.breakKey() // the opened key is cached
		if results, err = broadcast.SendTest(t.Context(), db, test, tester, h.now()); err != nil || results[0].Status != render.TestSent {
			t.Errorf("again: %+v, %v", results, err)
		}
		if n := len(s.Messages()); n != 2 {
			t.Errorf("%d messages were sent, want 2", n)
		}
	})
}
