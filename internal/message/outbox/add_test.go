package outbox_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Whatever pages are put, in whatever order and with whatever in common, each contact has the first
// message that was put for it, unchanged.
func TestPutKeepsTheFirstMessageOfEachContact(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		rapid.Check(t, func(rt *rapid.T) {
			tenant, send := idtest.Tenant(), id.New[id.Send]()
			if err := outbox.Create(t.Context(), db, outbox.Send{Tenant: tenant, ID: send, Source: outbox.FromBroadcast(id.New[id.Broadcast]())}, outbox.Terms{}, noon); err != nil {
				rt.Fatal(err)
			}
			some := func(name string) string { return rapid.SampledFrom([]string{name + "1", name + "2"}).Draw(rt, name) }
			want := map[id.Contact]outbox.Message{}
			for range rapid.IntRange(1, 4).Draw(rt, "pages") {
				shared := rapid.Bool().Draw(rt, "shared")
				contacts := rapid.SliceOfN(rapid.IntRange(0, 20), 0, 10).Draw(rt, "contacts")
				if rapid.Bool().Draw(rt, "in order") {
					from := rapid.IntRange(0, 20).Draw(rt, "from")
					contacts = nil
					for i := range rapid.IntRange(0, 10).Draw(rt, "length") {
						contacts = append(contacts, from+i)
					}
				}
				var page []outbox.Message
				for i, c := range contacts {
					m := outbox.Message{Contact: idtest.Named[id.Contact](fmt.Sprintf("c%03d", c)), Email: fmt.Sprintf("c%d@example.org", c)}
					if i > 0 && shared {
						m.Content, m.ContentVersion, m.Variant = page[0].Content, page[0].ContentVersion, page[0].Variant
						m.Identity, m.Lane, m.DueAt, m.Rank = page[0].Identity, page[0].Lane, page[0].DueAt, page[0].Rank
					} else {
						m.Content, m.ContentVersion = idtest.Named[id.Content](some("content")), rapid.IntRange(1, 2).Draw(rt, "version")
						m.Variant = rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "variant")
						m.Identity, m.Lane = idtest.Named[id.Identity](some("identity")), idtest.Named[id.Lane](some("lane"))
						m.DueAt = noon.Add(time.Duration(rapid.IntRange(0, 1).Draw(rt, "due")) * time.Hour)
						m.Rank = rapid.SampledFrom([]string{"", "1", "2"}).Draw(rt, "rank")
					}
					page = append(page, m)
				}
				before := len(want)
				for _, m := range page {
					if _, there := want[m.Contact]; !there {
						want[m.Contact] = m
					}
				}
				added, err := outbox.AddMessages(t.Context(), db, tenant, send, page)
				if err != nil || added != len(want)-before {
					rt.Fatalf("AddMessages(%v) = %d, %v; want %d added", contacts, added, err, len(want)-before)
				}
			}
			if p := progress(t, db, tenant, send); p.Total != len(want) || p.Waiting != len(want) {
				rt.Fatalf("sums are %+v after %d messages", p.Sums, len(want))
			}
			rows, err := db.Query(t.Context(), `
				SELECT o.contact_id, o.email, x.content_id, x.content_version, COALESCE(x.variant_id, ''), x.identity_id, o.lane_id, o.due_at, o.queued_at, COALESCE(o.rank, ''), o.id
				FROM outbox AS o JOIN outbox_mix AS x ON x.tenant_id = o.tenant_id AND x.send_id = o.send_id AND x.n = o.mix
				WHERE o.tenant_id = $1 AND o.send_id = $2 AND o.state = 'queued'`, tenant, send)
			list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (m outbox.Message, err error) {
				var due int64
				var queued *int64
				err = scan(&m.Contact, &m.Email, &m.Content, &m.ContentVersion, &m.Variant, &m.Identity, &m.Lane, &due, &queued, &m.Rank, &m.ID)
				if m.DueAt = sqldb.Time(due); queued != nil || !id.Valid(m.ID.String()) {
					rt.Errorf("message %q of %s: due %d, queued %v", m.ID, m.Contact, due, queued)
				}
				return m, err
			})
			if err != nil || len(list) != len(want) {
				rt.Fatalf("%d messages, %v; want %d", len(list), err, len(want))
			}
			for _, m := range list {
				m.ID = id.Message{}
				if m != want[m.Contact] {
					rt.Fatalf("the message is %+v, want %+v", m, want[m.Contact])
				}
			}
		})
	})
}
