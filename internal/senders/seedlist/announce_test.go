package seedlist_test

import (
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/change"
	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/seedlist"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Whatever writes a list, its seeds or its updates, a request or an engine, announces it to the tenant's streams.
func TestEveryWriteIsAnnounced(t *testing.T) {
	each(t, func(h harness) {
		ctx := h.Context()
		clock := func() time.Time { return noon }
		relay := &change.Relay{DB: h.db, Now: clock, Log: slog.New(slog.DiscardHandler)}
		relay.Watch()
		stream, err := change.NewHub(h.db, clock, slog.New(slog.DiscardHandler)).
			Open(ctx, change.Caller{Tenant: acme, User: id.New[id.User](), May: func(change.Type) bool { return true }})
		h.must(err)
		defer stream.Close()
		announced := func() (ids map[string]bool) {
			ids = map[string]bool{}
			_, err := relay.Flush(ctx)
			h.must(err)
			rows, err := h.db.Query(ctx, `DELETE FROM change_hint WHERE tenant_id = $1 RETURNING changes`, acme)
			h.must(sqldb.Each(rows, err, func(scan func(...any) error) error {
				var text []byte
				var list []change.Change
				if err := scan(&text); err != nil {
					return err
				}
				err := json.Unmarshal(text, &list)
				for _, c := range list {
					if c.Type == change.SeedList {
						ids[c.ID] = true
					}
				}
				return err
			}))
			return ids
		}
		want := func(what, list string, act func()) {
			h.Helper()
			announced() // what came before
			act()
			if got := announced(); !got[list] && !got[""] {
				h.Errorf("%s announces %v, want %s", what, got, list)
			}
		}
		list := h.list.String()
		want("an update", list, func() { h.replace("a@gmail.com", "ann@example.org", "bob@example.org") })
		want("an update of nothing", list, func() { h.replace("a@gmail.com", "ann@example.org", "bob@example.org") })
		want("an edit", list, func() {
			_, err := seedlist.Edit(ctx, h.db, acme, h.list, seedlist.Change{Name: new("Renamed")}, noon)
			h.must(err)
		})
		want("an action on a seed", list, func() { h.must(h.apply(seedlist.Pause, "a@gmail.com")) })
		var ann contact.Contact
		want("a contact with the address of a seed", list, func() { ann = h.contact("ann@example.org"); h.follow() })
		h.wantStates("a@gmail.com paused", "ann@example.org conflict contact", "bob@example.org active")
		want("a contact that is anonymised", list, func() {
			_, err := suppression.Anonymize(ctx, h.db, acme, []id.Contact{ann.ID}, false, []contact.PersonalData{seedlist.PersonalData()}, noon)
			h.must(err)
		})
		want("a bounce", list, func() {
			h.must(h.db.InTx(ctx, func(tx *sqldb.DB) error {
				return journal.Append(ctx, tx, journal.Entry{
					Tenant: acme, Type: journal.SeedBounced, At: noon, Data: seedlist.Bounced{Seed: h.seed("bob@example.org")},
				})
			}))
			h.follow()
		})
		h.contact("eve@example.org")
		h.replace("eve@example.org")
		_, err = h.db.Exec(ctx, `UPDATE seed SET status = 'active', status_reason = NULL WHERE tenant_id = $1 AND email = 'eve@example.org'`, acme)
		h.must(err)
		want("the daily check", list, func() { h.recheck() })
		want("a deletion", list, func() { h.must(seedlist.Delete(ctx, h.db, acme, h.list)) })
	})
}
