package inbound_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/engine/inbound/inboundtest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/senders/seedlist"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// A hard bounce that comes back by mail retires the seed. Other reports about copies, which programs of
// vendors cause, change nothing.
func TestALateBounceRetiresTheSeed(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setUp(t, db, 4) // whose messages become copies
		ctx := t.Context()
		list, err := seedlist.Create(ctx, db, f.Tenant, seedlist.Change{Name: new("Vendor")}, broadcasttest.Now)
		if err != nil {
			t.Fatal(err)
		}
		r := seedlist.Request{Kind: seedlist.Replace}
		for i := range f.People {
			r.Add = append(r.Add, seedlist.Entry{Email: fmt.Sprintf("s%d@vendor.example", i)})
		}
		if _, err := seedlist.Update(ctx, db, f.Tenant, list.ID, r, broadcasttest.Now); err != nil {
			t.Fatal(err)
		}
		seeds, err := seedlist.ActiveSeeds(ctx, db, f.Tenant, list.ID, id.Seed{}, 10)
		if err != nil || len(seeds) != 4 {
			t.Fatalf("%d seeds, %v", len(seeds), err)
		}
		f.exec(`UPDATE send SET source_kind = $2 WHERE tenant_id = $1`, f.Tenant, string(outbox.KindSeedCopy))
		for i, s := range seeds {
			f.exec(`UPDATE outbox SET contact_id = $3, email = $4 WHERE tenant_id = $1 AND id = $2`, f.Tenant, f.Messages[i].ID, outbox.ForSeed(s.ID), s.Email)
			f.People[i].Email = s.Email
		}
		hard, full, complained, left := 0, 1, 2, 3
		for range 2 {
			for i, diagnostic := range map[int]string{hard: "550 5.1.1 no such user", full: "552 5.2.2 mailbox full"} {
				if code := f.Deliver(f.ReturnPath(i), inboundtest.Failure(f.People[i].Email, diagnostic)); code != 250 {
					t.Fatalf("report %d: %d", i, code)
				}
			}
			if code := f.Deliver("fbl@y.example", inboundtest.Complaint("abuse", "<"+f.Keys.MessageID(f.Messages[complained].ID)+"@"+f.Host()+">")); code != 250 {
				t.Fatalf("complaint: %d", code)
			}
			for _, address := range [][]byte{f.Keys.UnsubscribeAddress(f.Messages[left].ID, broadcasttest.Now), f.Keys.PreviewUnsubscribeAddress(f.Messages[left].ID, broadcasttest.Now)} {
				if code := f.Deliver("u."+string(address)+"@"+f.Host(), "Subject: unsubscribe\n\n"); code != 250 {
					t.Fatalf("unsubscribe: %d", code)
				}
			}
		}
		var types []journal.Type
		e := &journal.Engine{DB: db, Log: slog.New(slog.DiscardHandler), Followers: []journal.Follower{seedlist.Follower(), {
			Name: "types", Follow: func(_ context.Context, _ *sqldb.DB, entries []journal.Entry) error {
				for _, one := range entries {
					if one.Send == f.Send {
						types = append(types, one.Type)
					}
				}
				return nil
			},
		}}}
		if err := e.Drain(ctx); err != nil {
			t.Fatal(err)
		}
		found, err := seedlist.SeedsByID(ctx, db, f.Tenant, []id.Seed{seeds[0].ID, seeds[1].ID, seeds[2].ID, seeds[3].ID})
		if err != nil {
			t.Fatal(err)
		}
		states := map[string]string{}
		for _, s := range found {
			states[s.Email] = fmt.Sprint(s.Status, " ", s.Reason)
		}
		if states[seeds[hard].Email] != "retired hard_bounce" || states[seeds[full].Email] != "active " || states[seeds[complained].Email] != "active " || states[seeds[left].Email] != "active " {
			t.Errorf("the seeds are %q", states)
		}
		for _, one := range types {
			if one != journal.SeedBounced {
				t.Errorf("the journal has %s", one)
			}
		}
		if sums, err := track.LoadSums(ctx, db, f.Tenant, f.Send); err != nil || sums.Complained != 0 || sums.Unsubscribed != 0 {
			t.Errorf("the copies have %+v, %v", sums, err)
		}
		var records int
		if err := db.QueryRow(ctx, `SELECT COUNT(*) FROM consent_record WHERE tenant_id = $1`, f.Tenant).Scan(&records); err != nil || records != 0 {
			t.Errorf("%d consent records, %v", records, err)
		}
	})
}
