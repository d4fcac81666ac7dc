package journal_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestForgetKeepsEntriesWithoutPersonalData(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		mine, theirs := idtest.Tenant(), idtest.Tenant()
		ann, bob := id.New[id.Contact](), id.New[id.Contact]()
		ann2 := ann // the same id, in another tenant
		secrets := map[string]any{"email": "ann@example.org", "note": "Ann"}
		record := func(tenant id.Tenant, c id.Contact, typ journal.Type, name string, data any) {
			at = at.Add(time.Second)
			e := journal.Entry{Tenant: tenant, Contact: c, Type: typ, Name: name, At: at, Data: data}
			if err := journal.Append(t.Context(), db, e); err != nil {
				t.Fatal(err)
			}
		}
		for tenant, c := range map[id.Tenant]id.Contact{mine: ann, theirs: ann2} {
			record(tenant, c, journal.ContactCreated, "", nil)
			record(tenant, c, journal.CustomEvent, "order_placed", map[string]any{"properties": secrets})
			record(tenant, c, journal.PageViewed, "https://example.org/ann@example.org", secrets)
			record(tenant, c, journal.TagAdded, "Ann's", nil)
			record(tenant, c, journal.EmailBounced, "", map[string]any{"class": "hard", "code": 550, "text": "550 ann@example.org"})
			record(tenant, c, journal.EmailClicked, "", map[string]any{"classification": "human", "first": true, "link_url": "https://x.org/"})
			record(tenant, c, journal.EmailDelivered, "", nil)
			record(tenant, id.Contact{}, journal.SuppressionAdded, "", map[string]any{"email": "ann@example.org", "reason": "Ann asked"})
			record(tenant, id.Contact{}, journal.SuppressionAdded, "", map[string]any{"email": "bob@example.org"})
		}
		record(mine, bob, journal.CustomEvent, "order_placed", secrets)
		for i := range 1200 { // more than a page
			record(mine, ann, journal.FormSubmitted, "contact-form", map[string]any{"answer": fmt.Sprintf("Ann %d", i)})
		}
		count := func() (n int) {
			if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM journal WHERE tenant_id = $1 AND (name IS NULL OR name <> '')`, mine).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		before := count()
		if err := journal.Erase(t.Context(), db, mine, []id.Contact{ann}, []string{"ann@example.org"}); err != nil {
			t.Fatal(err)
		}
		if after := count(); after != before {
			t.Errorf("%d entries remain of %d", after, before)
		}
		personal := func(tenant id.Tenant) (n int) {
			rows, err := db.Query(t.Context(), `SELECT COALESCE(name, ''), COALESCE(data, '{}') FROM journal WHERE tenant_id = $1 AND (contact_id IS NULL OR contact_id <> $2)`, tenant, bob)
			err = sqldb.Each(rows, err, func(scan func(...any) error) error {
				var name, data string
				err := scan(&name, &data)
				if strings.Contains(strings.ToLower(name+data), "ann") {
					n++
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		if n := personal(mine); n != 0 {
			t.Errorf("%d entries still speak of her", n)
		}
		if n := personal(theirs); n != 5 {
			t.Errorf("%d entries of the other tenant speak of her, want 5", n)
		}
		kept := map[journal.Type]string{}
		n := 0
		for e, err := range journal.Timeline(t.Context(), db, mine, ann) {
			if err != nil {
				t.Fatal(err)
			}
			data := map[string]any{}
			if err := e.Decode(&data); err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(data)
			if err != nil {
				t.Fatal(err)
			}
			kept[e.Type] = e.Name + string(text)
			n++
		}
		if n != 5+1200 {
			t.Errorf("the timeline has %d entries, want %d", n, 5+1200)
		}
		for typ, want := range map[journal.Type]string{
			journal.CustomEvent: "order_placed{}", journal.PageViewed: "{}", journal.TagAdded: "{}", journal.FormSubmitted: "contact-form{}",
			journal.EmailBounced: `{"class":"hard","code":550}`,
			journal.EmailClicked: `{"classification":"human","first":true,"link_url":"https://x.org/"}`,
		} {
			if kept[typ] != want {
				t.Errorf("%s is left with %s, want %s", typ, kept[typ], want)
			}
		}
		for e, err := range journal.Timeline(t.Context(), db, mine, bob) {
			if raw, _ := e.Data.(json.RawMessage); err != nil || !strings.Contains(string(raw), "ann@example.org") {
				t.Errorf("another contact's entry was changed: %s, %v", raw, err)
			}
		}
	})
}
