package outbox_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// opened creates n sends of steps of sequences, which are never sealed.
func opened(t *testing.T, db *sqldb.DB, tenant id.Tenant, n int) []id.Send {
	t.Helper()
	sends := make([]id.Send, n)
	err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
		for i := range sends {
			sends[i] = id.New[id.Send]()
			s := outbox.Send{Tenant: tenant, ID: sends[i], Source: outbox.FromSequence(id.New[id.Sequence]())}
			if err := outbox.Create(t.Context(), tx, s, outbox.Terms{}, noon); err != nil {
				return err
			}
			if err := outbox.Start(t.Context(), tx, tenant, s.ID, noon); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sends
}

// one is a message to a contact, on one of its visits.
func one(contact, visit int) []outbox.Message {
	m := messages(contact + 1)[contact]
	m.Visit = visit
	return []outbox.Message{m}
}

func ready(t *testing.T, db *sqldb.DB) []id.Send {
	t.Helper()
	list, err := outbox.ReadySends(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	var sends []id.Send
	for _, r := range list {
		sends = append(sends, r.Send)
	}
	return sends
}

// Sends that are open for months are not read while no message waits.
func TestIdleOpenSendsAreNotRead(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		tenant := idtest.Tenant()
		sends := opened(t, db, tenant, 2000)
		rows := func() (n int) {
			t.Helper()
			if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM send_ready /* all tenants: of the test */`).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		if got := ready(t, db); len(got) != 0 || rows() != 0 {
			t.Fatalf("%d idle sends are read, and %d the next time", len(got), rows())
		}
		for visit := range 3 { // messages are added and delivered one by one
			f := fixture{db: db, tenant: tenant, send: sends[1000+visit]}
			if _, err := outbox.AddMessages(t.Context(), db, tenant, f.send, one(visit, visit)); err != nil {
				t.Fatal(err)
			}
			if got := ready(t, db); !slices.Equal(got, []id.Send{f.send}) || rows() != 1 {
				t.Errorf("with a message in one, %v are read", got)
			}
			f.finish(t, 5)
			if got := ready(t, db); len(got) != 0 || rows() != 0 {
				t.Errorf("when it is delivered, %v are read", got)
			}
			if p := progress(t, db, tenant, f.send); p.Phase != outbox.Open || p.Delivered != 1 {
				t.Errorf("the send is %s with %+v", p.Phase, p.Sums)
			}
		}
	})
}

// A paused send is not read until it is started again; messages added meanwhile wait.
func TestPausedSendsAreNotRead(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		tenant := idtest.Tenant()
		send := opened(t, db, tenant, 1)[0]
		put := func(contact int) {
			t.Helper()
			if _, err := outbox.AddMessages(t.Context(), db, tenant, send, one(contact, 0)); err != nil {
				t.Fatal(err)
			}
		}
		put(0)
		if err := outbox.Pause(t.Context(), db, tenant, send); err != nil {
			t.Fatal(err)
		}
		if got := ready(t, db); len(got) != 0 {
			t.Errorf("a paused send is read")
		}
		put(1)
		if got := ready(t, db); len(got) != 0 {
			t.Errorf("a paused send is read when a message is added")
		}
		if err := outbox.Start(t.Context(), db, tenant, send, noon); err != nil {
			t.Fatal(err)
		}
		if got := ready(t, db); !slices.Equal(got, []id.Send{send}) {
			t.Errorf("a send that was started again is not read")
		}
	})
}

// A message that is put while the send is being removed from send_ready is found the next time.
func TestMessagesPutDuringDequeueAreFound(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		tenant := idtest.Tenant()
		f := fixture{db: db, tenant: tenant, send: opened(t, db, tenant, 1)[0]}
		put := func(tx *sqldb.DB, contact int) {
			t.Helper()
			if _, err := outbox.AddMessages(t.Context(), tx, tenant, f.send, one(contact, 0)); err != nil {
				t.Fatal(err)
			}
		}
		for contact := range 5 {
			put(db, 10+contact)
			f.finish(t, 1) // the send is read once more, without work
			var looking sync.WaitGroup
			err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
				put(tx, contact)
				looking.Go(func() {
					if _, err := outbox.ReadySends(t.Context(), db); err != nil {
						t.Error(err)
					}
				})
				return awaitLock(t, db)
			})
			if looking.Wait(); err != nil {
				t.Fatal(err)
			}
			if got := ready(t, db); !slices.Equal(got, []id.Send{f.send}) {
				t.Fatalf("with a message waiting, %v are read", got)
			}
			f.finish(t, 1)
		}
	})
}

// awaitLock waits until a session of the database waits for a row lock. On SQLite there is only one
// writer at a time.
func awaitLock(t *testing.T, db *sqldb.DB) error {
	t.Helper()
	if db.Dialect() != sqldb.Postgres {
		return nil
	}
	for waiting := false; !waiting; {
		err := db.QueryRow(t.Context(), `
			SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waiting)
		if err != nil {
			return err
		}
	}
	return nil
}
