package track

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var accepted = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// mailed is a tenant with messages of one send that were sent an hour ago.
type mailed struct {
	tenant   id.Tenant
	send     id.Send
	messages []id.Message
}

func newMailed(t *testing.T, db *sqldb.DB, n int) mailed {
	t.Helper()
	m := mailed{tenant: idtest.Tenant(), send: id.New[id.Send]()}
	var list []outbox.Message
	for range n {
		list = append(list, outbox.Message{ID: id.New[id.Message](), Contact: id.New[id.Contact](), Email: "a@example.org", DueAt: accepted})
		m.messages = append(m.messages, list[len(list)-1].ID)
	}
	err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
		if err := outbox.Create(t.Context(), tx, outbox.Send{Tenant: m.tenant, ID: m.send, Source: outbox.FromBroadcast(id.New[id.Broadcast]())}, outbox.Terms{}, accepted); err != nil {
			return err
		}
		if _, err := outbox.AddMessages(t.Context(), tx, m.tenant, m.send, list); err != nil {
			return err
		}
		_, err := tx.Exec(t.Context(), `UPDATE outbox SET state = 'sent', sent_at = $2 WHERE tenant_id = $1`, m.tenant, accepted.Add(-time.Hour).UnixMicro())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// requests returns n requests for links of the messages, some of them repeated.
func (m mailed) requests(random *rand.Rand, n int) []Hit {
	var list []Hit
	for range n {
		h := Hit{
			Tenant: m.tenant, Message: m.messages[random.IntN(len(m.messages))], At: accepted.Add(time.Duration(random.IntN(5e6)) * time.Microsecond),
			Method: []string{"GET", "HEAD"}[random.IntN(2)], Agent: fmt.Sprint("agent ", random.IntN(3)), IP: fmt.Sprint("192.0.2.", random.IntN(9)), Prefetch: random.IntN(5) == 0,
		}
		if random.IntN(3) == 0 {
			h.Click, h.Link = true, random.IntN(4)
			h.URL = fmt.Sprint("https://example.org/", h.Link)
		}
		list = append(list, h)
		if random.IntN(5) == 0 {
			list = append(list, list[random.IntN(len(list))])
		}
	}
	return list
}

// recorded returns the hits of a tenant's messages, as texts that are comparable between
// tenants, and the sums. Of equal requests within a second any may be stored, so the texts
// have seconds only.
func (m mailed) recorded(t *testing.T, db *sqldb.DB) (texts []string, s Sums) {
	t.Helper()
	for i, message := range m.messages {
		hits, err := HitsOf(t.Context(), db, m.tenant, []id.Message{message})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hits {
			if *h.SinceSent != h.At.Sub(accepted.Add(-time.Hour)) {
				t.Errorf("%s after the mail was sent, not %s", h.At.Sub(accepted.Add(-time.Hour)), h.SinceSent)
			}
			h.Tenant, h.Message, h.Send, h.Contact, h.ID, h.SinceSent = 0, id.Message{}, id.Send{}, id.Contact{}, id.Hit{}, nil
			h.At = h.At.Truncate(time.Second)
			texts = append(texts, fmt.Sprintf("%d: %+v", i, h))
		}
	}
	slices.Sort(texts)
	s, err := LoadSums(t.Context(), db, m.tenant, m.send)
	if err != nil {
		t.Fatal(err)
	}
	return texts, s
}

func newInbox(db *sqldb.DB) *Inbox { return &Inbox{DB: db, Log: slog.New(slog.DiscardHandler)} }

// Hits that several processes accept and two inboxes record give the same result as one
// call of Record.
func TestAcceptedHitsAreRecordedOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a, b, direct := newMailed(t, db, 20), newMailed(t, db, 20), newMailed(t, db, 20)
		seed := rand.Uint64()
		requests := a.requests(rand.New(rand.NewPCG(seed, 1)), 600)
		index := map[id.Message]int{}
		for i, m := range a.messages {
			index[m] = i
		}
		as := func(m mailed, h Hit) Hit { h.Tenant, h.Message = m.tenant, m.messages[index[h.Message]]; return h }
		var same []Hit
		for _, h := range requests {
			same = append(same, as(direct, h))
		}
		if err := db.InTx(t.Context(), func(tx *sqldb.DB) error { return Record(t.Context(), tx, same) }); err != nil {
			t.Fatal(err)
		}
		var work sync.WaitGroup
		for part := range 6 {
			work.Go(func() {
				for i := part; i < len(requests); i += 6 * 5 {
					var hits []Hit
					for j := i; j < min(i+6*5, len(requests)); j += 6 {
						hits = append(hits, requests[j], as(b, requests[j]))
					}
					if err := Accept(t.Context(), db, hits); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for range 2 {
			work.Go(func() {
				for range 10 {
					if err := newInbox(db).Drain(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		work.Wait()
		if err := newInbox(db).Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		want, wantSums := direct.recorded(t, db)
		for _, m := range []mailed{a, b} {
			if got, sums := m.recorded(t, db); !reflect.DeepEqual(got, want) || sums != wantSums {
				t.Errorf("seed %d: %d hits, %+v; want %d, %+v", seed, len(got), sums, len(want), wantSums)
			}
		}
		if n := inInbox(t, db); n != 0 {
			t.Errorf("%d packs are left in the inbox", n)
		}
	})
}

func inInbox(t *testing.T, db *sqldb.DB) (n int) {
	t.Helper()
	if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM hit_inbox /* all tenants: counted */`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// One hit that the database rejects does not prevent recording the others.
func TestARejectedHitIsDropped(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		mails := []mailed{newMailed(t, db, 1), newMailed(t, db, 1)}
		var hits []Hit
		for i := range 20 {
			h := Hit{Tenant: mails[i%2].tenant, Message: mails[i%2].messages[0], Method: "GET", Agent: fmt.Sprint(i), At: accepted}
			if i == 7 {
				h.Agent = "refused"
			}
			hits = append(hits, h)
		}
		refuse := `CREATE TRIGGER refuse BEFORE INSERT ON hit WHEN NEW.agent = 'refused' BEGIN SELECT RAISE(ABORT, 'refused'); END`
		if db.Dialect() == sqldb.Postgres {
			refuse = `ALTER TABLE hit ADD CHECK (agent <> 'refused')`
		}
		if _, err := db.Exec(t.Context(), refuse); err != nil {
			t.Fatal(err)
		}
		if err := Accept(t.Context(), db, hits); err != nil {
			t.Fatal(err)
		}
		for range 10 { // packs that were split are recorded by the next Drain
			if err := newInbox(db).Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for i, m := range mails {
			if got, _ := m.recorded(t, db); len(got) != 10-i {
				t.Errorf("%d hits, want %d", len(got), 10-i)
			}
		}
		if n := inInbox(t, db); n != 0 {
			t.Errorf("%d packs are left in the inbox", n)
		}
	})
}

// A pack of a later version stays in the inbox.
func TestAPackOfAnUnknownVersionStays(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		m := newMailed(t, db, 1)
		h := Hit{Tenant: m.tenant, Message: m.messages[0], Method: "GET", At: accepted}
		if _, err := db.Exec(t.Context(), `INSERT INTO hit_inbox (tenant_id, id, n, hits) VALUES ($1, $2, 1, $3)`, m.tenant, id.New[id.HitPack](), []byte{packVersion + 1, 0}); err != nil {
			t.Fatal(err)
		}
		if err := Accept(t.Context(), db, []Hit{h}); err != nil {
			t.Fatal(err)
		}
		if err := newInbox(db).Drain(t.Context()); !errors.Is(err, errPack) {
			t.Errorf("Drain = %v", err)
		}
		if got, _ := m.recorded(t, db); len(got) != 1 || inInbox(t, db) != 1 {
			t.Errorf("%d hits are recorded, and %d packs left", len(got), inInbox(t, db))
		}
	})
}

// The loop records hits, also those that another process accepted.
func TestTheInboxLoopRecordsHits(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		m := newMailed(t, db, 3)
		ctx, stop := context.WithCancel(t.Context())
		box := newInbox(db)
		box.Every = time.Millisecond
		ended := make(chan error)
		go func() { ended <- box.Run(ctx) }()
		for i, message := range m.messages {
			h := Hit{Tenant: m.tenant, Message: message, Method: "GET", At: accepted}
			if i == 0 {
				if err := Accept(t.Context(), db, []Hit{h}); err != nil {
					t.Fatal(err)
				}
			} else if err := insertPack(t.Context(), db, []Hit{h}); err != nil { // without a notification
				t.Fatal(err)
			}
			for s := (Sums{}); s.ApparentOpened != i+1; {
				_, s = m.recorded(t, db)
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestUnpackReturnsThePackedHits(t *testing.T) {
	t.Parallel()
	m := mailed{tenant: 7, messages: []id.Message{id.New[id.Message](), id.New[id.Message]()}}
	want := m.requests(rand.New(rand.NewPCG(1, 2)), 300)
	want = append(want, Hit{Tenant: 7, At: time.UnixMicro(-1).UTC(), Agent: strings.Repeat("é", 300)})
	packed := pack(want)
	got, err := unpack(7, packed)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("unpack returns %d hits, %v; want the %d packed ones", len(got), err, len(want))
	}
	if len(packed) > 30*len(want)+1000 {
		t.Errorf("%d hits take %d bytes", len(want), len(packed))
	}
	for i := range len(packed) - 1 {
		if some, err := unpack(7, packed[:i]); err == nil && len(some) > 0 && !reflect.DeepEqual(some, want[:len(some)]) {
			t.Fatalf("the first %d bytes decode to other hits", i)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	m := mailed{messages: []id.Message{id.New[id.Message]()}}
	f.Add(pack(m.requests(rand.New(rand.NewPCG(1, 2)), 3)))
	f.Add(pack([]Hit{{Click: true, URL: "https://example.org/", Agent: "a"}}))
	f.Add([]byte{packVersion, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, b []byte) {
		hits, err := unpack(1, b)
		if err != nil {
			return
		}
		again, err := unpack(1, pack(hits))
		if err != nil || !reflect.DeepEqual(again, hits) {
			t.Errorf("%+v becomes %+v, %v", hits, again, err)
		}
	})
}
