package consent_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/consent"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var (
	noon  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	acme  = id.Tenant(101)
	other = id.Tenant(102)
	ann   = id.New[id.Contact]()
	bert  = id.New[id.Contact]()
)

// each runs f on both databases. A record of a second tenant about the same contact must stay as it is.
func each(t *testing.T, f func(t *testing.T, db *sqldb.DB)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		add(t, db, other, consent.Record{Contact: ann, Granted: true, At: noon, Proof: consent.Proof{Source: "form:theirs", Wording: "theirs"}})
		before := list(t, db, other, ann)
		f(t, db)
		if diff := cmp.Diff(before, list(t, db, other, ann)); diff != "" || len(before) != 1 {
			t.Errorf("the other tenant's records changed:\n%s", diff)
		}
	})
}

func add(t *testing.T, db *sqldb.DB, tenant id.Tenant, records ...consent.Record) {
	t.Helper()
	if err := consent.Add(t.Context(), db, tenant, records...); err != nil {
		t.Fatal(err)
	}
}

func list(t *testing.T, db *sqldb.DB, tenant id.Tenant, c id.Contact) []consent.Record {
	t.Helper()
	records, err := consent.List(t.Context(), db, tenant, c)
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// TestRecordsAreListedAsTheyWereMade adds records out of order, and repeats one.
func TestRecordsAreListedAsTheyWereMade(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		full := consent.Record{
			Contact: ann, TypeKey: "newsletter", Granted: true, At: noon, Confirmed: true,
			Proof: consent.Proof{Source: "form:signup", Wording: "Yes, I want news.", IP: "192.0.2.1", Agent: "Firefox", PageURL: "https://www.example.com/", Message: id.New[id.Message]()},
		}
		withdrawn := consent.Record{Contact: ann, Category: id.New[id.Category](), At: noon.Add(time.Minute), Proof: consent.Proof{Source: consent.OneClick}}
		everything := consent.Record{Contact: ann, At: noon.Add(-time.Minute), Proof: consent.Proof{Source: consent.Complaint}}
		add(t, db, acme, full, withdrawn)
		add(t, db, acme, everything, full, consent.Record{Contact: bert, At: noon, Proof: consent.Proof{Source: consent.Mailto}})
		got := list(t, db, acme, ann)
		seen := map[id.ConsentRecord]bool{}
		for i := range got {
			if got[i].ID.IsZero() || seen[got[i].ID] {
				t.Errorf("record %d has the id %s", i, got[i].ID)
			}
			seen[got[i].ID], got[i].ID = true, id.ConsentRecord{}
		}
		if diff := cmp.Diff([]consent.Record{everything, full, full, withdrawn}, got); diff != "" {
			t.Errorf("records:\n%s", diff)
		}
		if got := list(t, db, acme, id.New[id.Contact]()); len(got) != 0 {
			t.Errorf("a contact without records has %v", got)
		}
	})
}

// TestTextsOfStrangersAreCut stores what a browser sent as far as every database can store it.
func TestTextsOfStrangersAreCut(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		add(t, db, acme, consent.Record{Contact: ann, At: noon, Proof: consent.Proof{
			Source: "form:signup", Wording: strings.Repeat("w", 5000), Agent: "x" + strings.Repeat("é", 300), PageURL: strings.Repeat("u", 2001),
		}}, consent.Record{Contact: bert, At: noon, Proof: consent.Proof{Source: "form:signup", Wording: strings.Repeat("w", 4000), Agent: "\x00 \xff", PageURL: "\xc3"}})
		cut := list(t, db, acme, ann)[0]
		if len(cut.Wording) != 4000 || len(cut.Agent) != 499 || !utf8.ValidString(cut.Agent) || len(cut.PageURL) != 2000 {
			t.Errorf("lengths %d, %d, %d", len(cut.Wording), len(cut.Agent), len(cut.PageURL))
		}
		whole := list(t, db, acme, bert)[0]
		if len(whole.Wording) != 4000 || whole.Agent != "\uFFFD \uFFFD" || whole.PageURL != "\uFFFD" {
			t.Errorf("stored %d, %q, %q", len(whole.Wording), whole.Agent, whole.PageURL)
		}
	})
}

// TestRecordsAreExportedAndErased exports all of a contact's records, and deletes those of the contacts named.
func TestRecordsAreExportedAndErased(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		add(t, db, acme,
			consent.Record{Contact: ann, TypeKey: "newsletter", Granted: true, At: noon, Proof: consent.Proof{Source: "form:signup", Wording: "Yes", IP: "192.0.2.1"}},
			consent.Record{Contact: ann, At: noon.Add(time.Minute), Proof: consent.Proof{Source: consent.OneClick}},
			consent.Record{Contact: bert, At: noon, Proof: consent.Proof{Source: consent.Mailto}})
		data := consent.PersonalData()
		var exported []string
		for e, err := range data.Export(t.Context(), db, acme, contact.Person{ID: ann}) {
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			exported = append(exported, string(text))
		}
		want := []string{
			`{"email_type_key":"newsletter","granted":true,"at":"2026-03-01T12:00:00Z","source":"form:signup","confirmed":false,"wording":"Yes","ip":"192.0.2.1","user_agent":"","page_url":""}`,
			`{"granted":false,"at":"2026-03-01T12:01:00Z","source":"one_click","confirmed":false,"wording":"","ip":"","user_agent":"","page_url":""}`,
		}
		if diff := cmp.Diff(want, exported); diff != "" {
			t.Errorf("exported:\n%s", diff)
		}
		for range data.Export(t.Context(), db, acme, contact.Person{ID: ann}) {
			break // a caller may stop
		}
		if err := data.Erase(t.Context(), db, acme, []contact.Person{{ID: ann}}); err != nil {
			t.Fatal(err)
		}
		if a, b := list(t, db, acme, ann), list(t, db, acme, bert); len(a) != 0 || len(b) != 1 {
			t.Errorf("after erasing one contact: %v, and of the other %v", a, b)
		}
	})
}
