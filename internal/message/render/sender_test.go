package render_test

import (
	"errors"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestSendersAreRememberedForAMoment(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		a, other := broadcasttest.New(t, db, "acme"), broadcasttest.New(t, db, "other")
		at := noon
		senders := &render.Senders{DB: db, Now: func() time.Time { return at }}
		get := func() *render.Sender {
			t.Helper()
			s, err := senders.Get(ctx, a.Tenant, a.Identity.ID, a.Type.ID)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		first := get()
		if first.Tenant.ID != a.Tenant || first.Identity.ID != a.Identity.ID || first.Domain.ID != a.Domain.ID || first.Type.ID != a.Type.ID {
			t.Errorf("Get = %+v", first)
		}
		if first.TrackingHost() != "127.0.0.1:8080" || first.ContentHost() != "127.0.0.1:8080" {
			t.Errorf("hosts are %s and %s", first.TrackingHost(), first.ContentHost())
		}
		if _, err := field.Create(ctx, db, a.Tenant, field.Draft{Name: "Plan", Type: field.String, Default: "free"}, noon); err != nil {
			t.Fatal(err)
		}
		at = at.Add(899 * time.Millisecond)
		if get() != first {
			t.Error("a sender was loaded again within a second")
		}
		now, err := senders.Reload(ctx, a.Tenant, a.Identity.ID, a.Type.ID)
		if err != nil || now.Fields["plan"].Default != "free" {
			t.Errorf("Reload does not see a change: %v, %v", now.Fields, err)
		}
		if _, err := senders.DB.Exec(ctx, `UPDATE custom_field SET name = 'Tariff' WHERE tenant_id = $1`, a.Tenant); err != nil {
			t.Fatal(err)
		}
		at = at.Add(time.Second)
		second := get()
		if second == now || second.Fields["plan"].Name != "Tariff" {
			t.Errorf("a change was not seen: %v", second.Fields)
		}
		if _, err := senders.Get(ctx, other.Tenant, a.Identity.ID, a.Type.ID); !errors.Is(err, sender.ErrIdentityNotFound) {
			t.Errorf("another tenant's identity: %v", err)
		}
	})
}

func TestASenderOfThePast(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		a := broadcasttest.New(t, db, "acme")
		senders := &render.Senders{DB: db, Now: func() time.Time { return noon }}
		past := func(identity id.Identity, typ id.EmailType) *render.Sender {
			t.Helper()
			s, err := senders.Past(ctx, a.Tenant, identity, typ)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		if s := past(a.Identity.ID, a.Type.ID); s.Identity.ID != a.Identity.ID || s.Type.ID != a.Type.ID || s.Domain.ID != a.Domain.ID {
			t.Error("one that is still there is not whole")
		}
		if s := past(id.New[id.Identity](), a.Type.ID); !s.Identity.ID.IsZero() || s.Type.ID != a.Type.ID || s.UnsubscribeScope().TypeKey != a.Type.Key {
			t.Errorf("without the identity: %+v", s)
		}
		if s := past(a.Identity.ID, id.New[id.EmailType]()); s.Identity.ID != a.Identity.ID || !s.UnsubscribeScope().Everything {
			t.Errorf("without the type: %+v", s)
		}
		if _, err := senders.Past(ctx, idtest.Tenant(), a.Identity.ID, a.Type.ID); !errors.Is(err, tenant.ErrNotFound) {
			t.Errorf("without the tenant: %v", err)
		}
	})
}
