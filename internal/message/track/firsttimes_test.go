package track_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Hits classified as bot do not count, nor do unsubscribes from other mails to the same
// contact.
func TestFirstTimes(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		tenant, send := idtest.Tenant(), id.New[id.Send]()
		start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		at := func(seconds int) *time.Time { return new(start.Add(time.Duration(seconds) * time.Second)) }
		read, ignored, left := newMail(tenant, send), newMail(tenant, send), newMail(tenant, send)
		earlier := newMail(tenant, id.New[id.Send]()) // to the same contact
		earlier.contact = left.contact
		hit := func(m mail, second int, click bool) {
			t.Helper()
			record(t, db, m.hit(track.Hit{At: *at(second), Click: click, IP: "192.0.2.1", Agent: "Firefox"}))
		}
		for _, second := range []int{30, 5, 20} {
			hit(read, second, false)
			hit(read, second+1, true)
		}
		classify(t, db, read, func(h track.Hit) track.Class {
			if h.At.Before(*at(10)) {
				return track.Bot
			}
			return track.Human
		})
		hit(ignored, 1, false)
		classify(t, db, ignored, func(track.Hit) track.Class { return track.Bot })
		says := func(m mail, typ journal.Type, flag track.Flags, seconds ...int) {
			t.Helper()
			if err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
				if _, err := track.SetFlag(t.Context(), tx, tenant, m.send, m.message, flag, noon); err != nil {
					return err
				}
				for _, s := range seconds {
					if err := journal.Append(t.Context(), tx, journal.Entry{
						Tenant: tenant, Type: typ, Contact: m.contact, Send: m.send, Message: m.message, At: *at(s),
					}); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		says(earlier, journal.EmailUnsubscribed, track.Unsubscribed, 2)
		says(left, journal.EmailUnsubscribed, track.Unsubscribed, 50, 40)
		says(left, journal.EmailComplained, track.Complained, 60)

		sent := map[id.Message]id.Contact{read.message: read.contact, ignored.message: ignored.contact, left.message: left.contact}
		want := map[id.Message]track.FirstTimes{
			read.message: {Opened: at(20), Clicked: at(21)},
			left.message: {Unsubscribed: at(40), Complained: at(60)},
		}
		if got, err := track.LoadFirstTimes(t.Context(), db, tenant, sent); err != nil || cmp.Diff(want, got) != "" {
			t.Errorf("MomentsOf: %v (-want +got)\n%s", err, cmp.Diff(want, got))
		}
		for _, none := range []struct {
			tenant id.Tenant
			sent   map[id.Message]id.Contact
		}{{tenant, nil}, {idtest.Tenant(), sent}} {
			if got, err := track.LoadFirstTimes(t.Context(), db, none.tenant, none.sent); err != nil || len(got) != 0 {
				t.Errorf("first times of no message, or for another tenant = %v, %v", got, err)
			}
		}
	})
}
