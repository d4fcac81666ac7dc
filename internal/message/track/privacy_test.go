package track_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestHitsOfAnonymisedContactsHaveNoPersonalData(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		tenant, send := idtest.Tenant(), id.New[id.Send]()
		ann, err := contact.Create(t.Context(), db, tenant, "ann@example.org", contact.Change{}, contact.Rules{}, at)
		if err != nil {
			t.Fatal(err)
		}
		hers, bobs := newMail(tenant, send), newMail(tenant, send)
		hers.contact = ann.ID
		n := 0
		visit := func(agent string) {
			for _, m := range []mail{hers, bobs} {
				n++
				record(t, db, m.hit(track.Hit{At: at.Add(time.Duration(n) * time.Minute), Agent: agent, IP: "198.51.100.7"}))
			}
		}
		exported := func(c id.Contact) (text string, hits int) {
			for one, err := range track.PersonalData().Export(t.Context(), db, tenant, contact.Person{ID: c}) {
				if err != nil {
					t.Fatal(err)
				}
				b, err := json.Marshal(one)
				if err != nil {
					t.Fatal(err)
				}
				text, hits = text+string(b)+"\n", hits+1
			}
			return text, hits
		}
		visit("Quokka/1")
		visit("Mozilla (via ggpht.com GoogleImageProxy)")
		if text, hits := exported(ann.ID); hits != 2 || strings.Count(text, "198.51.100.7") != 2 || !strings.Contains(text, "Quokka/1") {
			t.Errorf("%d hits are exported:\n%s", hits, text)
		}
		if _, err := contact.Anonymize(t.Context(), db, tenant, []id.Contact{ann.ID}, []contact.PersonalData{track.PersonalData()}, at); err != nil {
			t.Fatal(err)
		}
		visit("Quokka/2") // a link of an old mail is followed
		text, hits := exported(ann.ID)
		if hits != 3 || strings.Contains(text, "198.51.100.7") || strings.Contains(text, "Quokka") || strings.Contains(text, "ggpht") {
			t.Errorf("%d hits are left:\n%s", hits, text)
		}
		if !strings.Contains(text, "GoogleImageProxy") { // on which the flags depend
			t.Errorf("the agent of a proxy is erased:\n%s", text)
		}
		if text, hits := exported(bobs.contact); hits != 3 || strings.Count(text, "198.51.100.7") != 3 {
			t.Errorf("another contact's %d hits:\n%s", hits, text)
		}
	})
}
