package outbox_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestLastSenders(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme, other := idtest.Tenant(), idtest.Tenant()
		send := func(tenant id.Tenant, typ id.EmailType, from id.Identity, state outbox.State, contacts ...id.Contact) id.Send {
			t.Helper()
			send := id.New[id.Send]()
			err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
				if err := outbox.Create(t.Context(), tx, outbox.Send{Tenant: tenant, ID: send, Source: outbox.FromBroadcast(id.New[id.Broadcast]()), EmailType: typ}, outbox.Terms{}, noon); err != nil {
					return err
				}
				var list []outbox.Message
				for _, c := range contacts {
					list = append(list, outbox.Message{Contact: c, Email: c.String() + "@example.org", Content: idtest.Named[id.Content]("content"), Identity: from, Lane: idtest.Named[id.Lane]("lane"), DueAt: noon})
				}
				if _, err := outbox.AddMessages(t.Context(), tx, tenant, send, list); err != nil {
					return err
				}
				_, err := tx.Exec(t.Context(), `UPDATE outbox SET state = $3 WHERE tenant_id = $1 AND send_id = $2`, tenant, send, state)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return send
		}
		send(acme, idtest.Named[id.EmailType]("news"), idtest.Named[id.Identity]("ann"), outbox.Delivered, idtest.Named[id.Contact]("a"), idtest.Named[id.Contact]("b"), idtest.Named[id.Contact]("c"))
		send(acme, idtest.Named[id.EmailType]("news"), idtest.Named[id.Identity]("bob"), outbox.Bounced, idtest.Named[id.Contact]("b"), idtest.Named[id.Contact]("f"))
		send(acme, idtest.Named[id.EmailType]("news"), idtest.Named[id.Identity]("eve"), outbox.Queued, idtest.Named[id.Contact]("c"))
		send(acme, idtest.Named[id.EmailType]("offers"), idtest.Named[id.Identity]("dan"), outbox.Delivered, idtest.Named[id.Contact]("a"), idtest.Named[id.Contact]("d"))
		send(other, idtest.Named[id.EmailType]("news"), idtest.Named[id.Identity]("mal"), outbox.Delivered, idtest.Named[id.Contact]("a"), idtest.Named[id.Contact]("e"))
		for _, state := range []outbox.State{outbox.Failed, outbox.Skipped, outbox.HeldBack, outbox.MessageCancelled} {
			send(acme, idtest.Named[id.EmailType]("news"), idtest.Named[id.Identity]("nobody"), state, idtest.Named[id.Contact]("a"), idtest.Named[id.Contact]("g"))
		}
		asking := send(acme, idtest.Named[id.EmailType]("news"), idtest.Named[id.Identity]("me"), outbox.Queued, idtest.Named[id.Contact]("a"), idtest.Named[id.Contact]("h"))
		all := []id.Contact{idtest.Named[id.Contact]("a"), idtest.Named[id.Contact]("b"), idtest.Named[id.Contact]("c"), idtest.Named[id.Contact]("d"), idtest.Named[id.Contact]("e"), idtest.Named[id.Contact]("f"), idtest.Named[id.Contact]("g"), idtest.Named[id.Contact]("h"), idtest.Named[id.Contact]("i")}
		for _, tt := range []struct {
			typ  id.EmailType
			of   []id.Contact
			want map[id.Contact]id.Identity
		}{
			{idtest.Named[id.EmailType]("news"), all, map[id.Contact]id.Identity{idtest.Named[id.Contact]("a"): idtest.Named[id.Identity]("ann"), idtest.Named[id.Contact]("b"): idtest.Named[id.Identity]("bob"), idtest.Named[id.Contact]("c"): idtest.Named[id.Identity]("eve"), idtest.Named[id.Contact]("f"): idtest.Named[id.Identity]("bob")}},
			{idtest.Named[id.EmailType]("news"), all[:1], map[id.Contact]id.Identity{idtest.Named[id.Contact]("a"): idtest.Named[id.Identity]("ann")}},
			{idtest.Named[id.EmailType]("news"), nil, map[id.Contact]id.Identity{}},
			{idtest.Named[id.EmailType]("offers"), all, map[id.Contact]id.Identity{idtest.Named[id.Contact]("a"): idtest.Named[id.Identity]("dan"), idtest.Named[id.Contact]("d"): idtest.Named[id.Identity]("dan")}},
			{idtest.Named[id.EmailType]("other"), all, map[id.Contact]id.Identity{}},
		} {
			got, err := outbox.LastSenders(t.Context(), db, acme, tt.typ, asking, tt.of)
			if err != nil || !maps.Equal(got, tt.want) {
				t.Errorf("LastSenders(%s, %v) = %v, %v; want %v", tt.typ, tt.of, got, err, tt.want)
			}
		}
	})
}

// The last send counts, however many sends to others are newer.
func TestLastSendersInOldSends(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme, want := idtest.Tenant(), map[id.Contact]id.Identity{}
		err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
			for n := range 60 {
				send, from := id.New[id.Send](), idtest.Named[id.Identity](fmt.Sprint("i", n))
				if err := outbox.Create(t.Context(), tx, outbox.Send{Tenant: acme, ID: send, Source: outbox.FromBroadcast(id.New[id.Broadcast]()), EmailType: idtest.Named[id.EmailType]("news")}, outbox.Terms{}, noon.Add(time.Duration(n)*time.Hour)); err != nil {
					return err
				}
				var list []outbox.Message
				for c := range 60 { // contact 0 is in all, 1 in every other, ...; never in the last sends
					if contact := idtest.Named[id.Contact](fmt.Sprint("c", c)); n%(c+1) == 0 && n < 60-c {
						list = append(list, outbox.Message{Contact: contact, Email: "c@example.org", Content: idtest.Named[id.Content]("content"), Identity: from, Lane: idtest.Named[id.Lane]("lane"), DueAt: noon})
						want[contact] = from
					}
				}
				if _, err := outbox.AddMessages(t.Context(), tx, acme, send, list); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := outbox.LastSenders(t.Context(), db, acme, idtest.Named[id.EmailType]("news"), id.Send{}, slices.Collect(maps.Keys(want)))
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("LastSenders = %v, %v; want %v", got, err, want)
		}
	})
}

func TestFailedOtherwise(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setup(t, db, 5)
		f.put(t, "state = 'failed'", 0, 1)
		f.note(t, "error = 'render_error: html'", 0, 1)
		f.put(t, "state = 'bounced'", 2)
		f.note(t, "error = '550'", 2)
		f.put(t, "state = 'failed'", 3)
		f.note(t, "error = 'render_error'", 3)
		for _, tt := range []struct {
			set   string
			words string
			want  bool
		}{
			{"", "render_error", false},
			{"", "render%", true},
			{"", "no", true},
			{"error = NULL", "render_error", true},
			{"error = 'expired'", "render_error", true},
		} {
			if tt.set != "" {
				f.note(t, tt.set, 3)
			}
			if got, err := outbox.FailedOtherwise(t.Context(), db, f.tenant, f.send, tt.words); err != nil || got != tt.want {
				t.Errorf("%s: FailedOtherwise(%s) = %v, %v; want %v", tt.set, tt.words, got, err, tt.want)
			}
		}
	})
}
