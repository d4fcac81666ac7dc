package sender_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/senders/traffic"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestWarningsBeginAndEndOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, at := t.Context(), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		box, err := secret.NewBox(make([]byte, secret.KeyBytes))
		if err != nil {
			t.Fatal(err)
		}
		mine, theirs := idtest.Tenant(), idtest.Tenant()
		domain := func(tenant id.Tenant, name string) traffic.Domain {
			t.Helper()
			d, err := sender.CreateDomain(ctx, db, box, tenant, sender.DomainDraft{Domain: name}, at)
			if err != nil {
				t.Fatal(err)
			}
			return traffic.Domain{Tenant: tenant, Domain: d.ID}
		}
		shop, other := domain(mine, "shop.example"), domain(theirs, "other.example")
		broadcast := id.New[id.Broadcast]()
		complaints := sender.Warning{Metric: sender.Complaints, Provider: "yahoo", Count: 20, Of: 10_000, Threshold: 0.001, Window: 24 * time.Hour}
		bounces := sender.Warning{Metric: sender.HardBounces, Count: 60, Of: 2000, Threshold: 0.02, Window: 24 * time.Hour}
		unknown := sender.Warning{Metric: sender.UnknownUsers, Broadcast: broadcast, Count: 120, Of: 1000, Threshold: 0.08, Window: 24 * time.Hour}
		save := func(after time.Duration, found map[traffic.Domain][]sender.Warning, want ...sender.WarningChange) {
			t.Helper()
			at = at.Add(after)
			known, err := sender.AllWarnings(ctx, db)
			if err != nil {
				t.Fatal(err)
			}
			resumed, err := sender.Resumed(ctx, db, at.Add(-24*time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			got, err := sender.SaveWarnings(ctx, db, known, found, resumed, at)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("SaveWarnings: %v (-want +got)\n%s", err, diff)
			}
		}
		since := func(w sender.Warning, at time.Time) sender.Warning {
			w.Since = at
			return w
		}
		wantOf := func(tenant id.Tenant, want map[id.Domain][]sender.Warning) {
			t.Helper()
			got, err := sender.Warnings(ctx, db, tenant)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("Warnings: %v (-want +got)\n%s", err, diff)
			}
		}
		type found = map[traffic.Domain][]sender.Warning
		type of = map[id.Domain][]sender.Warning

		begun := at
		gone := traffic.Domain{Tenant: mine, Domain: id.New[id.Domain]()}
		save(0, found{shop: {complaints, bounces, unknown}, gone: {bounces}},
			sender.WarningChange{Domain: shop, Warning: since(complaints, begun)},
			sender.WarningChange{Domain: shop, Warning: since(bounces, begun)},
			sender.WarningChange{Domain: shop, Warning: since(unknown, begun)})
		wantOf(mine, of{shop.Domain: {since(complaints, begun), since(bounces, begun), since(unknown, begun)}})
		wantOf(theirs, of{})

		complaints.Count, bounces.Count, bounces.Threshold = 25, 140, 0.05
		save(time.Minute, found{shop: {bounces, complaints, unknown}, other: {complaints}},
			sender.WarningChange{Domain: shop, Warning: since(bounces, begun)}, // it reached the next threshold
			sender.WarningChange{Domain: other, Warning: since(complaints, begun.Add(time.Minute))})
		wantOf(mine, of{shop.Domain: {since(complaints, begun), since(bounces, begun), since(unknown, begun)}})
		if n, err := sender.CountWarnings(ctx, db); err != nil || n[sender.Complaints] != 2 || n[sender.HardBounces] != 1 || n[sender.UnknownUsers] != 1 {
			t.Errorf("CountWarnings = %v, %v", n, err)
		}
		save(time.Minute, found{shop: {complaints}, other: {complaints}},
			sender.WarningChange{Domain: shop, Warning: since(bounces, begun), Ended: true},
			sender.WarningChange{Domain: shop, Warning: since(unknown, begun), Ended: true})
		wantOf(mine, of{shop.Domain: {since(complaints, begun)}})

		// A warning from before the domain was resumed is not shown, and begins again if the numbers since say so.
		if _, err := sender.PauseDomain(ctx, db, mine, shop.Domain, sender.Pause{Reason: sender.PausedByOperator}, at); err != nil {
			t.Fatal(err)
		}
		at = at.Add(time.Minute)
		if _, err := sender.ResumeDomain(ctx, db, mine, shop.Domain, at); err != nil {
			t.Fatal(err)
		}
		wantOf(mine, of{})
		again := at.Add(time.Minute)
		save(time.Minute, found{shop: {complaints}, other: {complaints}},
			sender.WarningChange{Domain: shop, Warning: since(complaints, begun), Ended: true},
			sender.WarningChange{Domain: shop, Warning: since(complaints, again)})
		wantOf(mine, of{shop.Domain: {since(complaints, again)}})

		if err := sender.DeleteDomain(ctx, db, mine, shop.Domain); err != nil {
			t.Fatal(err)
		}
		save(time.Minute, nil, sender.WarningChange{Domain: other, Warning: since(complaints, begun.Add(time.Minute)), Ended: true})
	})
}
