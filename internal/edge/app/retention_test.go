package app

import (
	"log/slog"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/engine/retention"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// A round deletes the former values of contacts that are older than a tenant keeps opens and clicks, in as many steps
// as it takes, and those of no other tenant.
func TestARoundDeletesFormerValuesOfContacts(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		const day, keeps = 24 * time.Hour, 100
		tenants := map[string]id.Tenant{}
		for _, slug := range []string{"short", "long"} {
			in, err := tenant.Create(ctx, db, slug, slug, "UTC", now)
			if err != nil {
				t.Fatal(err)
			}
			tenants[slug] = in.ID
			if slug == "short" {
				in.Settings.Retention.Engagement = keeps
				if err := tenant.SaveSettings(ctx, db, in.ID, in.Name, in.Settings, now); err != nil {
					t.Fatal(err)
				}
			}
			err = db.InTx(ctx, func(tx *sqldb.DB) error {
				someone := id.New[id.Contact]()
				for i := range 1100 { // more than two steps, and of one contact the oldest and the newest
					until := now.Add(-keeps*day - time.Duration(i+1)*time.Minute)
					if i < 100 {
						until = now.Add(-keeps*day + time.Duration(i)*time.Minute) // the first is kept until the next microsecond
					}
					whose := id.New[id.Contact]()
					if i == 0 || i == 1099 {
						whose = someone
					}
					if _, err := tx.Exec(ctx, `INSERT INTO contact_version (until_at, tenant_id, version, contact_id, first_name, custom_fields, tags) VALUES ($1, $2, $3, $4, 'Ann', '{}', '[]')`,
						until.UnixMicro(), in.ID, i+1, whose); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		e := &retention.Engine{DB: db, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now }, Tables: oldRows()}
		want := func(when, slug string, want int) {
			t.Helper()
			if err := e.Round(ctx); err != nil {
				t.Fatal(err)
			}
			var n int
			var oldest int64
			if err := db.QueryRow(ctx, `SELECT COUNT(*), COALESCE(MIN(until_at), 0) FROM contact_version WHERE tenant_id = $1`, tenants[slug]).Scan(&n, &oldest); err != nil {
				t.Fatal(err)
			}
			if n != want || slug == "short" && n > 0 && oldest < now.Add(-keeps*day).UnixMicro() {
				t.Errorf("%s, %s keeps %d versions, the oldest until %v; want %d", when, slug, n, sqldb.Time(oldest), want)
			}
		}
		want("at noon", "short", 100)
		want("at noon", "long", 1100)
		now = now.Add(10 * time.Minute)
		want("ten minutes later", "short", 90)
		now = now.Add(day)
		want("a day later", "short", 0)
		want("a day later", "long", 1100)
		now = now.Add(2 * 365 * day)
		want("after two years", "long", 0)
	})
}
