package outbox_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestSamplesAreStoredAtIntervals(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
		mine, theirs := idtest.Tenant(), idtest.Tenant()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, s := range []outbox.Send{{Tenant: mine, ID: idtest.Named[id.Send]("a"), Source: outbox.FromBroadcast(id.New[id.Broadcast]())}, {Tenant: mine, ID: idtest.Named[id.Send]("held"), Source: outbox.FromBroadcast(id.New[id.Broadcast]())}, {Tenant: theirs, ID: idtest.Named[id.Send]("b"), Source: outbox.FromBroadcast(id.New[id.Broadcast]())}} {
			must(db.InTx(ctx, func(tx *sqldb.DB) error { return outbox.Create(ctx, tx, s, outbox.Terms{}, noon) }))
		}
		sent := func(n int) {
			_, err := db.Exec(ctx, `UPDATE send SET waiting = 100, sent = $2,
				phase = CASE WHEN id = $3 THEN 'held' ELSE 'open' END WHERE tenant_id = $1 OR true`, mine, n, idtest.Named[id.Send]("held"))
			must(err)
			_, err = db.Exec(ctx, `INSERT INTO send_ready (tenant_id, send_id) SELECT tenant_id, id FROM send WHERE tenant_id = $1 OR true ON CONFLICT DO NOTHING`, mine)
			must(err)
		}
		samples := func(tenant id.Tenant, send id.Send, since time.Time) []outbox.Sample {
			list, err := outbox.LoadSamples(ctx, db, tenant, send, since)
			must(err)
			return list
		}
		at := func(s int) time.Time { return noon.Add(time.Duration(s) * time.Second) }
		for _, look := range []struct{ at, sent int }{{3, 10}, {7, 20}, {9, 30}, {13, 40}, {41, 50}} {
			sent(look.sent)
			must(outbox.RecordSamples(ctx, db, at(look.at)))
		}
		all := []outbox.Sample{{At: at(3), Sent: 10}, {At: at(13), Sent: 40}, {At: at(41), Sent: 50}}
		if diff := cmp.Diff(all, samples(mine, idtest.Named[id.Send]("a"), noon)); diff != "" {
			t.Errorf("samples (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(all[1:], samples(theirs, idtest.Named[id.Send]("b"), at(10))); diff != "" {
			t.Errorf("samples since a time (-want +got):\n%s", diff)
		}
		if n := len(samples(mine, idtest.Named[id.Send]("b"), noon)) + len(samples(mine, idtest.Named[id.Send]("held"), noon)); n > 0 {
			t.Errorf("%d samples of a held send, or of another tenant's", n)
		}
		must(outbox.RecordSamples(ctx, db, at(1000)))
		if diff := cmp.Diff([]outbox.Sample{{At: at(1000), Sent: 50}}, samples(mine, idtest.Named[id.Send]("a"), noon)); diff != "" {
			t.Errorf("samples after a while (-want +got):\n%s", diff)
		}
	})
}

func TestWaitsAreReturnedWhileTheyAreValid(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, noon, tenant := t.Context(), time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC), idtest.Tenant()
		note := func(at time.Time, list ...outbox.Wait) {
			t.Helper()
			if err := outbox.SaveWaits(ctx, db, list, at); err != nil {
				t.Fatal(err)
			}
		}
		load := func(at time.Time) *outbox.Wait {
			t.Helper()
			w, err := outbox.LoadWait(ctx, db, tenant, idtest.Named[id.Send]("a"), at)
			if err != nil {
				t.Fatal(err)
			}
			return w
		}
		rate := outbox.Wait{
			Tenant: tenant, Send: idtest.Named[id.Send]("a"), Kind: outbox.WaitProviderRate, Lane: id.New[id.Lane](), Provider: "gmail",
			Max: 50, Per: time.Minute, Until: noon.Add(2 * time.Second), Reason: "no faster",
		}
		day := outbox.Wait{Tenant: tenant, Send: idtest.Named[id.Send]("a"), Kind: outbox.WaitLaneDay, Lane: rate.Lane, Until: noon.Add(time.Hour), Reason: "tomorrow"}
		other := outbox.Wait{Tenant: idtest.Tenant(), Send: idtest.Named[id.Send]("a"), Kind: outbox.WaitHold, Until: noon.Add(time.Hour), Reason: "paused"}
		note(noon)
		note(noon, rate, other)
		if diff := cmp.Diff(&rate, load(noon.Add(15*time.Second))); diff != "" {
			t.Errorf("repeated waits for a rate (-want +got):\n%s", diff)
		}
		if w := load(noon.Add(time.Minute)); w != nil {
			t.Errorf("a minute after the last wait: %+v", w)
		}
		note(noon.Add(5*time.Second), day)
		if diff := cmp.Diff(&day, load(noon.Add(50*time.Minute))); diff != "" {
			t.Errorf("a day that is used up (-want +got):\n%s", diff)
		}
		if w := load(noon.Add(61 * time.Minute)); w != nil {
			t.Errorf("the next day: %+v", w)
		}
		note(noon.Add(72*time.Hour), other)
		var n int
		if err := db.QueryRow(ctx, `SELECT COUNT(*) FROM outbox_wait WHERE tenant_id = $1 OR true`, tenant).Scan(&n); err != nil || n != 1 {
			t.Errorf("%d waits are stored, %v", n, err)
		}
	})
}
