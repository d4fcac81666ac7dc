package sqldb_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestWritesOfWatchedTablesAreReportedAfterTheCommit(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		if _, err := db.Exec(ctx, `CREATE TABLE thing (tenant_id INTEGER NOT NULL, id UUID NOT NULL, size BIGINT, PRIMARY KEY (tenant_id, id))`); err != nil {
			t.Fatal(err)
		}
		var got []sqldb.Write
		db.WatchWrites(map[string]sqldb.IDParam{"thing": sqldb.ParamOf[id.Block]()}, func(list []sqldb.Write) { got = append(got, list...) })
		want := func(when string, want ...sqldb.Write) {
			t.Helper()
			if !slices.Equal(got, want) {
				t.Errorf("%s: reported %v, want %v", when, got, want)
			}
			got = nil
		}
		one, two := idtest.Named[id.Block]("1"), idtest.Named[id.Block]("2")
		insert := func(db *sqldb.DB, tenant id.Tenant, row id.Block) error {
			_, err := db.Exec(ctx, `INSERT INTO thing (tenant_id, id, size) VALUES ($1, $2, $3)`, tenant, row, 1)
			return err
		}
		ok := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		ok(insert(db, 1, one))
		want("outside of a transaction", sqldb.Write{"thing", 1, one})
		ok(db.InTx(ctx, func(tx *sqldb.DB) error {
			err := errors.Join(insert(tx, 1, two), insert(tx, 2, one))
			want("before the commit")
			b := tx.Batch()
			b.Queue(`UPDATE thing SET size = 2 WHERE tenant_id = $1 AND id = $2`, nil, id.Tenant(1), two)
			b.Queue(`UPDATE thing SET size = 3 WHERE tenant_id = $1`, nil, id.Tenant(1))
			return errors.Join(err, b.Run(ctx))
		}))
		want("after the commit", sqldb.Write{"thing", 1, two}, sqldb.Write{"thing", 2, one}, sqldb.Write{"thing", 1, [16]byte{}})
		boom := errors.New("boom")
		if err := db.InTx(ctx, func(tx *sqldb.DB) error {
			_, err := tx.Exec(ctx, `DELETE FROM thing WHERE tenant_id = $1 AND id = $2`, id.Tenant(1), two)
			return errors.Join(err, boom)
		}); !errors.Is(err, boom) {
			t.Fatal(err)
		}
		want("after a rollback")
		var size int64
		ok(db.QueryRow(ctx, `UPDATE thing SET size = size + 1 WHERE tenant_id = $1 AND id = $2 RETURNING size`, id.Tenant(2), one).Scan(&size))
		want("a statement with a result", sqldb.Write{"thing", 2, one})
		ok(db.QueryRow(ctx, `SELECT size FROM thing WHERE tenant_id = $1 AND id = $2`, id.Tenant(2), one).Scan(&size))
		_, err := db.Exec(ctx, `UPDATE thing SET size = $1 WHERE size = $1 /* all tenants: a test */`, 9)
		ok(err)
		want("reading, and all tenants")
		_, err = db.Exec(ctx, `DELETE FROM thing WHERE tenant_id = $1 AND id IN ($2, $3)`, id.Tenant(1), one, two)
		ok(err)
		want("several rows", sqldb.Write{"thing", 1, [16]byte{}})
	})
}

func TestMoreWritesThanAreReportedOneByOne(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var got []sqldb.Write
		db.WatchWrites(nil, func(list []sqldb.Write) { got = list })
		err := db.InTx(context.Background(), func(tx *sqldb.DB) error {
			for range 1000 {
				tx.Wrote(sqldb.Write{"thing", 1, id.New[id.Block]()}, sqldb.Write{"other", 1, id.New[id.Block]()})
			}
			return nil
		})
		if err != nil || len(got) > 100 || !slices.Contains(got, sqldb.Write{Table: "thing", Tenant: 1}) || !slices.Contains(got, sqldb.Write{Table: "other", Tenant: 1}) {
			t.Errorf("%d writes are reported, %v; want some and one without an id for each table", len(got), err)
		}
	})
}
