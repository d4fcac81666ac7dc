package deliver

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"packetboat/internal/id"
	"packetboat/internal/outbox"
	"packetboat/internal/sqldb"
	"packetboat/internal/sqldb/dbtest"
)

func TestAClaimThatSeemedToFailIsFound(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
		tenant, stream := id.New[id.Tenant](), id.New[string]()
		messages := make([]outbox.Message, 5)
		for i := range messages {
			messages[i] = outbox.Message{Contact: id.Contact(fmt.Sprint(i)), Email: fmt.Sprint(i, "@example.com"), DueAt: now}
		}
		err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
			if err := outbox.Begin(t.Context(), tx, outbox.Stream{Tenant: tenant, ID: stream, Kind: "broadcast"}, now); err != nil {
				return err
			}
			if _, err := outbox.Put(t.Context(), tx, tenant, stream, messages); err != nil {
				return err
			}
			return outbox.Start(t.Context(), tx, tenant, stream)
		})
		if err != nil {
			t.Fatal(err)
		}
		e := &Engine{
			DB: db, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
			node: &outbox.Node{DB: db, Owner: "me"}, giveUp: context.WithoutCancel(t.Context()),
		}
		known, err := e.node.Claim(t.Context(), tenant, stream, 2, now)
		if err != nil {
			t.Fatal(err)
		}
		e.inHand.add(known)
		if _, err := e.node.Claim(t.Context(), tenant, stream, 9, now); err != nil { // and nobody hears of it
			t.Fatal(err)
		}
		if err := e.forgotten(tenant, stream); err != nil {
			t.Fatal(err)
		}
		again, err := e.claim(t.Context(), tenant, stream, outbox.Position{})
		if err != nil || len(again) != 3 {
			t.Errorf("%d messages are claimed anew, %v; want the 3 that were forgotten", len(again), err)
		}
		e.release(append(again, known...)...)
		if len(e.inHand.held) != 0 {
			t.Errorf("%d messages are in hand after all were put back", len(e.inHand.held))
		}
	})
}
