package outbox_test

import (
	"fmt"
	"testing"
	"time"

	"packetboat/internal/id"
	"packetboat/internal/outbox"
	"packetboat/internal/sqldb"
	"packetboat/internal/sqldb/dbtest"
)

func TestZZ(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme := id.New[id.Tenant]()
		for s := range 150 {
			stream := id.New[string]()
			typ := id.EmailType([]string{"news", "offers"}[s%2])
			if err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
				if err := outbox.Begin(t.Context(), tx, outbox.Stream{Tenant: acme, ID: stream, Kind: "broadcast", EmailType: typ}, noon); err != nil {
					return err
				}
				l := messages(2000)
				_, err := outbox.Put(t.Context(), tx, acme, stream, l)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		if db.Dialect() == sqldb.Postgres {
			db.Exec(t.Context(), "ANALYZE outbox")
		}
		var ids []id.Contact
		for i := range 1000 {
			ids = append(ids, id.Contact(fmt.Sprintf("c%05d", i+500)))
		}
		for range 3 {
			at := time.Now()
			got, err := outbox.LastSenders(t.Context(), db, acme, "news", "x", ids)
			fmt.Println(db.Dialect(), len(got), err, time.Since(at))
		}
	})
}
