package outbox_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/senders/route"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestTermsOfASend(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, acme, other := t.Context(), idtest.TenantNamed("acme"), idtest.TenantNamed("other")
		send := id.New[id.Send]()
		create := func(tenant id.Tenant, terms outbox.Terms) {
			t.Helper()
			err := db.InTx(ctx, func(tx *sqldb.DB) error {
				return outbox.Create(ctx, tx, outbox.Send{Tenant: tenant, ID: send, Source: outbox.FromBroadcast(id.New[id.Broadcast]())}, terms, noon)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		want := func(tenant id.Tenant, want outbox.Terms) {
			t.Helper()
			got, err := outbox.LoadTerms(ctx, db, tenant, send)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("terms (-want +got):\n%s", diff)
			}
		}
		first := route.Route{Identity: idtest.Named[id.Identity]("a"), Lane: idtest.Named[id.Lane]("x"), Weight: 2, Capacity: 10}
		again := first
		again.Weight, again.Capacity = 5, 0
		second := route.Route{Identity: first.Identity, Lane: idtest.Named[id.Lane]("y")}

		want(acme, outbox.Terms{}) // the send does not exist
		if all, err := outbox.AddRoutes(ctx, db, acme, send, []route.Route{first}); err != nil || all != nil {
			t.Errorf("routes of a send that does not exist: %v, %v", all, err)
		}
		create(acme, outbox.Terms{PerHour: 100})
		create(other, outbox.Terms{}) // a send with the same id
		create(acme, outbox.Terms{PerHour: 7})
		want(acme, outbox.Terms{PerHour: 100})

		for _, step := range []struct{ add, want []route.Route }{
			{nil, nil},
			{[]route.Route{first}, []route.Route{first}},
			{[]route.Route{again, second}, []route.Route{first, second}}, // stored routes keep their weights
			{[]route.Route{second}, []route.Route{first, second}},
		} {
			all, err := outbox.AddRoutes(ctx, db, acme, send, step.add)
			if diff := cmp.Diff(step.want, all); err != nil || diff != "" {
				t.Errorf("routes (-want +got), %v:\n%s", err, diff)
			}
		}
		want(acme, outbox.Terms{PerHour: 100, Routes: []route.Route{first, second}})
		want(other, outbox.Terms{})
	})
}
