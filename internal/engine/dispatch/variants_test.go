package dispatch_test

import (
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestEachContactGetsItsAssignedVariant(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		a.AddContacts(a.List.ID, "a", 60)
		variant := func(name string) broadcast.Variant {
			return broadcast.Variant{ID: name, Name: name, Weight: 1, Overrides: map[draft.Field]string{draft.Subject: "Subject " + name}}
		}
		b := a.Schedule(func(ch *broadcast.Change) {
			ch.Variants = &[]broadcast.Variant{variant("a"), variant("b"), variant("c")}
		})
		at := now
		settle(t, engine(db, "one", &at))
		run, err := broadcast.LoadRun(t.Context(), db, a.Tenant, b.ID)
		if err != nil || len(run.Contents) != 3 {
			t.Fatalf("contents %v, %v; want three", run.Contents, err)
		}
		for name, frozen := range run.Contents {
			c, err := content.Load(t.Context(), db, a.Tenant, frozen)
			if err != nil || c.Subject != "Subject "+name || c.Context.UTMContent != name {
				t.Errorf("variant %s: subject %q, utm_content %q, %v", name, c.Subject, c.Context.UTMContent, err)
			}
		}
		n := outbox.Node{DB: db, Owner: "test"}
		if err := n.Renew(t.Context(), now.Add(48*time.Hour)); err != nil {
			t.Fatal(err)
		}
		items, err := n.Claim(t.Context(), a.Tenant, b.Send, 100, now.Add(24*time.Hour))
		if err != nil || len(items) != 60 {
			t.Fatalf("%d messages, %v; want 60", len(items), err)
		}
		shares := map[string]int{}
		for _, it := range items {
			shares[it.Variant]++
			if want := b.Assign(it.Contact); it.Variant != want || it.Content != run.Contents[want] {
				t.Errorf("contact %s has variant %q and content %s, want %q", it.Contact, it.Variant, it.Content, want)
			}
		}
		if len(shares) != 3 {
			t.Errorf("shares %v, want all variants", shares)
		}
	})
}
