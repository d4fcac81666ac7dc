package mailbox_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/content/mailbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestGroupsAreReadAndDeletedAlone(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, mine, other := t.Context(), idtest.Tenant(), idtest.Tenant()
		put := func(tenant id.Tenant, send id.Send, at time.Time) {
			t.Helper()
			d := mailbox.Delivery{Tenant: tenant, Lane: idtest.Named[id.Lane]("lane"), Send: send, From: "b@example.com", To: "ann@example.org", Raw: []byte("Subject: x\r\n\r\nx")}
			if err := mailbox.Deliver(ctx, db, d, at); err != nil {
				t.Fatal(err)
			}
		}
		expect := func(when string, tenant id.Tenant, want ...mailbox.Group) {
			t.Helper()
			got, err := mailbox.Groups(ctx, db, tenant)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: Groups (-want +got):\n%s", when, diff)
			}
		}
		later, latest := noon.Add(time.Second), noon.Add(2*time.Second)
		put(mine, idtest.Named[id.Send]("spring"), noon)
		put(mine, idtest.Named[id.Send]("spring"), later)
		put(mine, id.Send{}, latest)
		put(other, idtest.Named[id.Send]("spring"), noon)
		none, spring := mailbox.Group{Total: 1, Unread: 1, Newest: latest}, mailbox.Group{Send: idtest.Named[id.Send]("spring"), Total: 2, Unread: 2, Newest: later}
		theirs := mailbox.Group{Send: idtest.Named[id.Send]("spring"), Total: 1, Unread: 1, Newest: noon}
		expect("delivered", mine, none, spring)

		list, _, err := mailbox.List(ctx, db, mine, mailbox.Query{Send: new(idtest.Named[id.Send]("spring")), Limit: 10})
		if err != nil || len(list) != 2 || list[0].Read || list[1].Read {
			t.Fatalf("List of a send = %+v, %v; want two unread messages", list, err)
		}
		if err := mailbox.MarkRead(ctx, db, other, list[0].ID, latest); err != nil {
			t.Fatal(err)
		}
		expect("marked by another tenant", mine, none, spring)
		if err := mailbox.MarkRead(ctx, db, mine, list[0].ID, latest); err != nil {
			t.Fatal(err)
		}
		spring.Unread = 1
		expect("one marked", mine, none, spring)
		if err := mailbox.MarkAllRead(ctx, db, mine, new(idtest.Named[id.Send]("spring")), latest); err != nil {
			t.Fatal(err)
		}
		spring.Unread = 0
		expect("a send marked", mine, none, spring)

		if err := mailbox.Delete(ctx, db, other, list[0].ID); !errors.Is(err, mailbox.ErrNotFound) {
			t.Errorf("Delete by another tenant: %v, want %v", err, mailbox.ErrNotFound)
		}
		if err := mailbox.DeleteAll(ctx, db, mine, new(idtest.Named[id.Send]("spring")), noon); err != nil {
			t.Fatal(err)
		}
		spring.Total = 1
		expect("what came up to noon deleted", mine, none, spring)
		if err := mailbox.Delete(ctx, db, mine, list[0].ID); err != nil {
			t.Error(err)
		}
		expect("the last of a send deleted", mine, none)
		if err := mailbox.DeleteAll(ctx, db, mine, nil, latest); err != nil {
			t.Fatal(err)
		}
		expect("all deleted", mine)
		expect("all of the other's deleted", other, theirs)
	})
}
