package outbox_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"packetboat/internal/id"
	"packetboat/internal/outbox"
	"packetboat/internal/sqldb"
	"packetboat/internal/sqldb/dbtest"
)

func TestLastSenders(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme, other := id.New[id.Tenant](), id.New[id.Tenant]()
		send := func(tenant id.Tenant, typ id.EmailType, from id.Identity, state outbox.State, contacts ...id.Contact) id.Send {
			t.Helper()
			stream := id.New[id.Send]()
			err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
				if err := outbox.Begin(t.Context(), tx, outbox.Stream{Tenant: tenant, ID: stream, Source: outbox.FromBroadcast(id.New[id.Broadcast]()), EmailType: typ}, noon); err != nil {
					return err
				}
				var list []outbox.Message
				for _, c := range contacts {
					list = append(list, outbox.Message{Contact: c, Email: string(c) + "@example.org", Content: "content", Identity: from, Lane: "lane", DueAt: noon})
				}
				if _, err := outbox.Put(t.Context(), tx, tenant, stream, list); err != nil {
					return err
				}
				_, err := tx.Exec(t.Context(), `UPDATE outbox SET state = $3 WHERE tenant_id = $1 AND stream_id = $2`, tenant, stream, state)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return stream
		}
		send(acme, "news", "ann", outbox.Delivered, "a", "b", "c")
		send(acme, "news", "bob", outbox.Bounced, "b", "f")
		send(acme, "news", "eve", outbox.Queued, "c")
		send(acme, "offers", "dan", outbox.Delivered, "a", "d")
		send(other, "news", "mal", outbox.Delivered, "a", "e")
		for _, state := range []outbox.State{outbox.Failed, outbox.Skipped, outbox.HeldBack, outbox.Dropped} {
			send(acme, "news", "nobody", state, "a", "g")
		}
		asking := send(acme, "news", "me", outbox.Queued, "a", "h")
		everybody := []id.Contact{"a", "b", "c", "d", "e", "f", "g", "h", "i"}
		for _, tt := range []struct {
			typ  id.EmailType
			of   []id.Contact
			want map[id.Contact]id.Identity
		}{
			{"news", everybody, map[id.Contact]id.Identity{"a": "ann", "b": "bob", "c": "eve", "f": "bob"}},
			{"news", everybody[:1], map[id.Contact]id.Identity{"a": "ann"}},
			{"news", nil, map[id.Contact]id.Identity{}},
			{"offers", everybody, map[id.Contact]id.Identity{"a": "dan", "d": "dan"}},
			{"other", everybody, map[id.Contact]id.Identity{}},
		} {
			got, err := outbox.LastSenders(t.Context(), db, acme, tt.typ, asking, tt.of)
			if err != nil || !maps.Equal(got, tt.want) {
				t.Errorf("LastSenders(%s, %v) = %v, %v; want %v", tt.typ, tt.of, got, err, tt.want)
			}
		}
	})
}

// However many sends lie between, the last one counts.
func TestLastSendersOfLongAgo(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme, want := id.New[id.Tenant](), map[id.Contact]id.Identity{}
		err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
			for n := range 60 {
				stream, from := id.New[id.Send](), id.Identity(fmt.Sprint("i", n))
				if err := outbox.Begin(t.Context(), tx, outbox.Stream{Tenant: acme, ID: stream, Source: outbox.FromBroadcast(id.New[id.Broadcast]()), EmailType: "news"}, noon.Add(time.Duration(n)*time.Hour)); err != nil {
					return err
				}
				var list []outbox.Message
				for c := range 60 { // contact 0 is in all, 1 in every other, ...; never in the last sends
					if contact := id.Contact(fmt.Sprint("c", c)); n%(c+1) == 0 && n < 60-c {
						list = append(list, outbox.Message{Contact: contact, Email: "c@example.org", Content: "content", Identity: from, Lane: "lane", DueAt: noon})
						want[contact] = from
					}
				}
				if _, err := outbox.Put(t.Context(), tx, acme, stream, list); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := outbox.LastSenders(t.Context(), db, acme, "news", "", slices.Collect(maps.Keys(want)))
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("LastSenders = %v, %v; want %v", got, err, want)
		}
	})
}

func TestFailedOtherwise(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setup(t, db, 5)
		f.put(t, "state = 'failed', error = 'render_error: html'", 0, 1)
		f.put(t, "state = 'bounced', error = '550'", 2)
		for _, tt := range []struct {
			set   string
			words string
			want  bool
		}{
			{"", "render_error", false},
			{"", "render%", true},
			{"", "no", true},
			{"state = 'failed', error = NULL", "render_error", true},
			{"state = 'failed', error = 'expired'", "render_error", true},
		} {
			if tt.set != "" {
				f.put(t, tt.set, 3)
			}
			if got, err := outbox.FailedOtherwise(t.Context(), db, f.tenant, f.stream, tt.words); err != nil || got != tt.want {
				t.Errorf("%s: FailedOtherwise(%s) = %v, %v; want %v", tt.set, tt.words, got, err, tt.want)
			}
		}
	})
}
