package track_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Record reads no hits, and classification reads those of a message once, whatever their
// number.
func TestStatementsOfRecordAndApplyVerdicts(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		m, other := newMails()
		var hits []track.Hit
		for i := range 300 {
			h := open("", time.Duration(i)*time.Second)
			h.Click = i%2 == 0
			hits = append(hits, m.hit(h), other.hit(h))
		}
		record(t, db, hits...)
		reads, statements := 0, 0
		ctx := sqldb.WithQueryTrace(t.Context(), func(text string, _ []any) {
			statements++
			if strings.Contains(text, "FROM hit") {
				reads++
			}
		})
		var more []track.Hit
		for i := range 100 {
			more = append(more, m.hit(click("", time.Hour+time.Duration(i)*time.Second)), other.hit(open("", time.Hour+time.Duration(i)*time.Second)))
		}
		if err := db.InTx(ctx, func(tx *sqldb.DB) error { return track.Record(ctx, tx, more) }); err != nil {
			t.Fatal(err)
		}
		if reads != 0 {
			t.Errorf("hits are read %d times to record some", reads)
		}
		if statements > 2*4 { // for each tenant: anonymised contacts, hits, flags, sums
			t.Errorf("%d statements to record 200 hits", statements)
		}
		reads = 0
		err := db.InTx(ctx, func(tx *sqldb.DB) error {
			found, err := track.LoadEvidence(ctx, tx, m.tenant, []id.Message{m.message})
			if err != nil {
				return err
			}
			for i := range found.Hits {
				found.Hits[i].Class = track.Human
			}
			return found.ApplyVerdicts(ctx, found.Hits)
		})
		if err != nil || reads != 1 {
			t.Errorf("hits are read %d times to classify a message, %v", reads, err)
		}
	})
}

// Two transactions that add hits to the same messages, given in opposite order, and one
// that classifies them do not deadlock, and each hit counts once.
func TestConcurrentTransactionsCountHitsOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := newMail(idtest.Tenant(), id.New[id.Send]())
		b := newMail(a.tenant, a.send)
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				for i := range 15 {
					at := time.Duration(i) * time.Second
					hits := []track.Hit{a.hit(open("", at)), b.hit(click("", at))}
					if w%2 == 0 {
						hits[0], hits[1] = hits[1], hits[0]
					}
					record(t, db, hits...)
				}
			})
		}
		wg.Go(func() {
			for range 10 {
				classify(t, db, a, func(track.Hit) track.Class { return track.Human })
			}
		})
		wg.Wait()
		counts, err := track.HitCounts(context.WithoutCancel(t.Context()), db, a.tenant, []id.Message{a.message, b.message})
		if err != nil || counts[a.message] != 15 || counts[b.message] != 15 {
			t.Errorf("Counts = %v, %v; want 15 each", counts, err)
		}
		if got, want := sums(t, db, a.tenant, a.send), sumsOfHits(t, db, a.tenant, []mail{a, b}, nil); got != want {
			t.Errorf("sums are %+v, rows add up to %+v", got, want)
		}
	})
}

// Hits of messages that do not exist, or belong to another tenant, are skipped.
func TestHitsOfMessagesThatDoNotExist(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		tenant, other, send := idtest.Tenant(), idtest.Tenant(), id.New[id.Send]()
		m := outbox.Message{ID: id.New[id.Message](), Contact: id.New[id.Contact](), Email: "a@example.org", DueAt: noon}
		err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
			if err := outbox.Create(t.Context(), tx, outbox.Send{Tenant: tenant, ID: send, Source: outbox.FromBroadcast(id.New[id.Broadcast]())}, outbox.Terms{}, noon); err != nil {
				return err
			}
			if _, err := outbox.AddMessages(t.Context(), tx, tenant, send, []outbox.Message{m}); err != nil {
				return err
			}
			_, err := tx.Exec(t.Context(), `UPDATE outbox SET state = 'sent', sent_at = $2 WHERE tenant_id = $1`, tenant, noon.UnixMicro())
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		at := noon.Add(time.Hour)
		record(t, db,
			track.Hit{Tenant: other, Message: m.ID, Method: "GET", At: at},
			track.Hit{Tenant: tenant, Message: id.New[id.Message](), Method: "GET", At: at},
			track.Hit{Tenant: tenant, Message: m.ID, Method: "GET", At: at},
			track.Hit{Tenant: tenant, Message: m.ID, Method: "GET", At: at})
		hits, err := track.HitsOf(t.Context(), db, tenant, []id.Message{m.ID})
		if err != nil || len(hits) != 1 || hits[0].Send != send || hits[0].Contact != m.Contact || *hits[0].SinceSent != time.Hour {
			t.Errorf("HitsOf = %+v, %v; want one hit of the message's send and contact", hits, err)
		}
		if s := sums(t, db, tenant, send); s.ApparentOpened != 1 {
			t.Errorf("sums are %+v", s)
		}
		if hits, err := track.HitsOf(t.Context(), db, other, []id.Message{m.ID}); err != nil || len(hits) != 0 {
			t.Errorf("the other tenant has %d hits, %v", len(hits), err)
		}
	})
}
