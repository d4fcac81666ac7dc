package webhook_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// bodies returns all stored texts of a tenant's deliveries.
func bodies(t *testing.T, db *sqldb.DB, of id.Tenant) string {
	t.Helper()
	rows, err := db.Query(t.Context(), `SELECT body || COALESCE(response_body, '') || COALESCE(email, '') FROM webhook_delivery WHERE tenant_id = $1`, of)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (s string, err error) {
		err = scan(&s)
		return s, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, "\n")
}

func TestDeliveriesForgetAnonymizedContacts(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		acme, other := account(t, db, "acme"), account(t, db, "other")
		for _, of := range []id.Tenant{acme, other} {
			endpoint(t, db, of, webhook.AllEvents)
		}
		ann, bob, theirs := person(t, db, acme, "ann@example.org"), person(t, db, acme, "bob@example.org"), person(t, db, other, "ann@example.org")
		for range 12 { // more than a page
			for of, c := range map[id.Tenant]id.Contact{acme: ann.ID, other: theirs.ID} {
				if err := journal.Append(ctx, db, entriesOf(of, c)...); err != nil {
					t.Fatal(err)
				}
			}
		}
		without := journal.Entry{Tenant: acme, Type: journal.SuppressionAdded, At: noon, Data: map[string]any{"email": "ann@example.org", "reason": "Ann asked"}}
		if err := journal.Append(ctx, db, without); err != nil {
			t.Fatal(err)
		}
		follow(t, db)
		if _, err := db.Exec(ctx, `UPDATE webhook_delivery SET response_body = 'thanks, ann@example.org' WHERE tenant_id = $1 AND contact_id = $2`, acme, ann.ID); err != nil {
			t.Fatal(err)
		}
		stores := []contact.PersonalData{webhook.PersonalData()}
		var exported []any
		for one, err := range stores[0].Export(ctx, db, acme, contact.Person{ID: ann.ID, Addresses: []string{"ann@example.org"}}) {
			if err != nil {
				t.Fatal(err)
			}
			exported = append(exported, one)
		}
		text, err := json.Marshal(exported)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(exported); n != 12*22+2 || strings.Contains(string(text), "bob@") || !strings.Contains(string(text), "Ann asked") {
			t.Errorf("%d deliveries are exported: %.300s", n, text)
		}
		if _, err := contact.Anonymize(ctx, db, acme, []id.Contact{ann.ID}, stores, noon); err != nil {
			t.Fatal(err)
		}
		follow(t, db)
		for _, word := range []string{"ann@", "Ann", "/join", "9.5", "550 no"} {
			if strings.Contains(bodies(t, db, acme), word) {
				t.Errorf("%s is still stored", word)
			}
			if !strings.Contains(bodies(t, db, other), word) && word != "550 no" && word != "Ann" {
				t.Errorf("%s of the other tenant is gone", word)
			}
		}
		if got := bodies(t, db, acme); !strings.Contains(got, "bob@example.org") || !strings.Contains(got, `"anonymized":true`) || !strings.Contains(got, bob.ID.String()) {
			t.Error("another contact's deliveries, or the event of the anonymisation, are missing")
		}
	})
}

// A delivery that was added while the contact was being anonymised is redacted when the follower
// processes the entry about it.
func TestDeliveriesOfAContactThatIsBeingAnonymizedAreRedacted(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme := account(t, db, "acme")
		endpoint(t, db, acme, webhook.AllEvents)
		ann := person(t, db, acme, "ann@example.org")
		follow(t, db) // and does not commit until the contact is anonymised
		if _, err := contact.Anonymize(t.Context(), db, acme, []id.Contact{ann.ID}, nil, noon); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(bodies(t, db, acme), "ann@") {
			t.Fatal("the delivery has no address")
		}
		follow(t, db)
		if got := bodies(t, db, acme); strings.Contains(got, "ann@") {
			t.Errorf("stored are %s", got)
		}
	})
}

func TestRedactedBodiesKeepTheirForm(t *testing.T) {
	t.Parallel()
	body := `{"type":"event.recorded","timestamp":"2026-03-01T12:00:00.000Z","tenant_slug":"acme","data":{"contact_id":"c","email":"a@b","event_name":"<x>","properties":{"a":1}}}`
	got, changed, err := webhook.Redact(body)
	want := `{"type":"event.recorded","timestamp":"2026-03-01T12:00:00.000Z","tenant_slug":"acme","data":{"contact_id":"c","email":null,"event_name":"<x>","properties":{}}}`
	if err != nil || !changed || got != want {
		t.Errorf("Redact = %s, %v, %v; want %s", got, changed, err, want)
	}
	if again, changed, err := webhook.Redact(want); err != nil || changed || again != want {
		t.Errorf("Redact again = %s, %v, %v", again, changed, err)
	}
}

func TestOldDeliveriesArePrunedInSteps(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme, other := account(t, db, "acme"), account(t, db, "other")
		e, theirs := endpoint(t, db, acme, webhook.AllEvents), endpoint(t, db, other, webhook.AllEvents)
		for i := range 5 {
			for of, to := range map[id.Tenant]webhook.Endpoint{acme: e, other: theirs} {
				if _, err := webhook.Test(t.Context(), db, of, to.ID, noon); err != nil {
					t.Fatal(i, err)
				}
			}
		}
		before := time.Now().Add(time.Hour) // ids have the time at which they were made
		for i, want := range []int{2, 2, 1, 0} {
			if n, err := webhook.Prune(t.Context(), db, acme, before, 2); err != nil || n != want {
				t.Errorf("step %d: %d, %v; want %d", i, n, err, want)
			}
		}
		if n, err := webhook.Prune(t.Context(), db, other, noon.AddDate(-1, 0, 0), 100); err != nil || n != 0 {
			t.Errorf("of a year ago: %d, %v", n, err)
		}
		if got := fmt.Sprint(len(events(t, db, e)), len(events(t, db, theirs))); got != "0 5" {
			t.Errorf("left are %s", got)
		}
	})
}
