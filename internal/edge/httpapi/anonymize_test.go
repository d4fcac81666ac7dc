package httpapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/content/mailbox"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// person is a contact with personal data in every table that can have it.
type person struct {
	id    id.Contact
	email string
}

// traces are texts that identify the person, in lower case.
var traces = []string{
	"zebediah", "quokka", "(170) 555", "q0kk4", "198.51.100.7",
}

// newPerson creates a person with personal data, and another contact with similar data.
func newPerson(t *testing.T, s *apiTest) person {
	t.Helper()
	s.must(201, "owner", "POST /settings/custom-fields", `{"name": "Note", "field_type": "string"}`)
	key := s.must(201, "key", "POST /segments", `{"name": "Readers", "type": "static"}`).str("segment_key")
	addHistory(t, s, key, "bystander", "bystander")
	return addHistory(t, s, key, "Zebediah", "Quokka")
}

func addHistory(t *testing.T, s *apiTest, list, first, last string) person {
	t.Helper()
	low := strings.ToLower(first)
	ip := map[string]string{"Quokka": "198.51.100.7"}[last]
	digits := map[string]string{"Quokka": " (170) 5551234"}[last]
	code := map[string]string{"Quokka": "Q0KK4"}[last]
	former, email := low+".old@"+strings.ToLower(last)+".example", low+"@"+strings.ToLower(last)+"-mail.example"
	c := s.must(201, "key", "POST /contacts", fmt.Sprintf(`{"email": %q, "full_name": "%s M. %s", "source": "friend of %[2]s", "external_id": "%[3]s-4711",
		"title": "Dr. %[2]s", "company": "%[3]s Ltd", "phone": "1", "website": "https://%[3]s.example/", "timezone": "Europe/Berlin",
		"address_line1": "%[3]s Street 1", "address_line2": "c/o %[2]s", "city": "%[3]sville", "state": "%[3]s", "postal_code": %[4]q, "country": "DE",
		"custom_fields": {"note": "%[2]s likes %[3]ss"}, "tags": ["%[2]s's", "vip"]}`, former, first, last, code))
	p := person{id.Read[id.Contact](c.str("id")), email}
	at := "/contacts/" + c.str("id")
	s.must(200, "key", "POST /segments/"+list+"/members", `{"contact_ids": ["`+c.str("id")+`"]}`)
	tx := func(f func(tx *sqldb.DB) error) {
		t.Helper()
		if err := s.db.InTx(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}

	// A message to the former address, opened, and one to the new address, refused.
	send := func(to string, r outbox.Result) outbox.Item {
		t.Helper()
		send := id.New[id.Send]()
		tx(func(tx *sqldb.DB) error {
			if err := outbox.Create(t.Context(), tx, outbox.Send{Tenant: s.acme, ID: send, Source: outbox.FromBroadcast(id.New[id.Broadcast]())}, outbox.Terms{}, s.now); err != nil {
				return err
			}
			_, err := outbox.AddMessages(t.Context(), tx, s.acme, send, []outbox.Message{{
				Contact: p.id, Email: to, Content: idtest.Named[id.Content]("content"), ContentVersion: 1, Identity: idtest.Named[id.Identity]("identity"), Lane: idtest.Named[id.Lane]("lane"), DueAt: s.now,
			}})
			if err != nil {
				return err
			}
			return outbox.Start(t.Context(), tx, s.acme, send, s.now)
		})
		node := &outbox.Node{DB: s.db, Owner: "node"}
		items, err := node.Claim(t.Context(), s.acme, send, 1, s.now.Add(time.Minute))
		if err != nil || len(items) != 1 {
			t.Fatalf("Claim = %d messages, %v", len(items), err)
		}
		r.Item, r.At = items[0], s.now
		if _, err := node.Commit(t.Context(), []outbox.Result{r}, nil, s.now); err != nil {
			t.Fatal(err)
		}
		tx(func(tx *sqldb.DB) error {
			raw := "Subject: Dear " + first + "\r\nTo: " + to + "\r\n\r\nHi " + last + "\r\n"
			return mailbox.Deliver(t.Context(), tx, mailbox.Delivery{Tenant: s.acme, Lane: idtest.Named[id.Lane]("lane"), From: "b@bounce.example.com", To: to, Raw: []byte(raw)}, s.now)
		})
		return items[0]
	}
	read := send(former, outbox.Result{State: outbox.Delivered})
	s.must(200, "key", "PUT "+at, fmt.Sprintf(`{"email": %q, "phone": "+49%s", "tags": ["%s's"]}`, email, digits, first))
	send(email, outbox.Result{State: outbox.Bounced, BounceType: "hard", Category: "no_mailbox", Code: 550, Enhanced: "5.1.1", Error: "550 5.1.1 no " + first})
	hits := []track.Hit{
		{Method: "GET", Agent: last + "-Agent/1", IP: ip},
		{Method: "GET", Agent: last + "-Agent/1", IP: ip, Click: true, URL: "https://example.org/"},
	}
	for i := range hits {
		h := &hits[i]
		h.Tenant, h.Send, h.Message, h.Contact, h.At = s.acme, read.Send, read.ID, p.id, s.now.Add(time.Duration(i)*time.Minute)
	}
	tx(func(tx *sqldb.DB) error {
		if err := track.Record(t.Context(), tx, hits); err != nil {
			return err
		}
		found, err := track.LoadEvidence(t.Context(), tx, s.acme, []id.Message{read.ID})
		if err != nil {
			return err
		}
		all := slices.Clone(found.Hits)
		for i := range all {
			all[i].Class, all[i].Rule = track.Human, "test"
		}
		return found.ApplyVerdicts(t.Context(), all)
	})

	// Events of the website and of the tenant's server.
	var entries []journal.Entry
	addEvent := func(typ journal.Type, name string, data any) {
		entries = append(entries, journal.Entry{Tenant: s.acme, Contact: p.id, Type: typ, Name: name, At: s.now, Data: data})
	}
	for i := range 1001 {
		addEvent(journal.CustomEvent, "order_placed", map[string]any{"properties": map[string]any{"to": first, "n": i}})
	}
	addEvent(journal.PageViewed, "https://example.org/?user="+email, map[string]any{"title": "Welcome " + first})
	addEvent(journal.FormSubmitted, "survey", map[string]any{"answers": map[string]any{"name": last}})
	tx(func(tx *sqldb.DB) error { return journal.Append(t.Context(), tx, entries...) })
	_, err := s.db.Exec(t.Context(), `INSERT INTO contact_activity (tenant_id, contact_id, deliverability_updated_at, touch) VALUES ($1, $2, 0, $3)
			ON CONFLICT (tenant_id, contact_id) DO UPDATE SET touch = excluded.touch`, s.acme, p.id,
		`{"first_touch_source": "`+last+`", "first_touch_landing_url": "https://example.org/`+first+`"}`)
	if err != nil {
		t.Fatal(err)
	}

	_, err = s.db.Exec(t.Context(), `INSERT INTO visitor (tenant_id, id, contact_id, first_seen_at, seen_at, session_at, strength, linked_at, first_touch)
			VALUES ($1, $2, $3, $4, $4, $4, 1, $4, $5)`, s.acme, id.New[id.Visitor](), p.id, s.now.UnixMicro(), `{"landing_url": "https://example.org/`+first+`"}`)
	if err != nil {
		t.Fatal(err)
	}

	// Both addresses were on the suppression list, the former one was removed.
	for _, address := range []string{former, email} {
		s.must(201, "key", "POST /suppressions", `{"email": "`+address+`", "reason": "said `+first+`"}`)
	}
	s.must(204, "key", "DELETE /suppressions?email="+former, "")
	return p
}

// dumpTables returns every row of every table as text, except for some tables.
func dumpTables(t *testing.T, db *sqldb.DB, without ...string) []string {
	t.Helper()
	names := `SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name /* all tenants: every table there is */`
	if db.Dialect() == sqldb.Postgres {
		names = `SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() ORDER BY table_name /* all tenants: every table there is */`
	}
	rows, err := db.Query(t.Context(), names)
	tables, err := sqldb.Collect(rows, err, func(scan func(...any) error) (s string, err error) { return s, scan(&s) })
	if err != nil || len(tables) < 20 {
		t.Fatalf("%d tables, %v", len(tables), err)
	}
	var out []string
	for _, table := range tables {
		if slices.Contains(without, table) {
			continue
		}
		rows, err := db.Query(t.Context(), `SELECT * FROM "`+table+`" /* all tenants: everything */`)
		if err != nil {
			t.Fatalf("%s: %v", table, err)
		}
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		list, err := sqldb.Collect(rows, nil, func(scan func(...any) error) (string, error) {
			values, dest := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				dest[i] = &values[i]
			}
			err := scan(dest...)
			var b strings.Builder
			b.WriteString(table)
			for i, v := range values {
				if raw, ok := v.([]byte); ok {
					v = string(raw)
				}
				fmt.Fprintf(&b, " | %s=%v", columns[i], v)
			}
			return b.String(), err
		})
		if err != nil {
			t.Fatalf("%s: %v", table, err)
		}
		out = append(out, list...)
	}
	return out
}

// rowsContaining returns the rows that contain one of the words.
func rowsContaining(rows []string, words ...string) []string {
	var out []string
	for _, r := range rows {
		low := strings.ToLower(r)
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(low, w) }) {
			out = append(out, r)
		}
	}
	return out
}

// aggregates returns the counts that anonymising must not change.
func aggregates(t *testing.T, s *apiTest) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, text := range map[string]string{
		"events":   `SELECT type, COUNT(*), COUNT(name) FROM journal WHERE tenant_id = $1 AND type NOT IN ('contact_anonymized', 'page_viewed', 'tag_added', 'tag_removed') GROUP BY type ORDER BY type`,
		"sends":    `SELECT id, total, waiting * 1000000 + sent * 10000 + delivered * 100 + bounced FROM send WHERE tenant_id = $1 ORDER BY id`,
		"messages": `SELECT state, COUNT(*), COUNT(sent_at) FROM outbox WHERE tenant_id = $1 GROUP BY state ORDER BY state`,
		"hits":     `SELECT class, COUNT(*), COUNT(DISTINCT contact_id) FROM hit WHERE tenant_id = $1 GROUP BY class ORDER BY class`,
		"sums":     `SELECT send_id, verified_opened * 100 + human_opened, human_clicked FROM engagement_sum WHERE tenant_id = $1 ORDER BY send_id`,
		"mails":    `SELECT contact_id, total_emails_sent * 100 + total_emails_opened, total_emails_clicked FROM contact_activity WHERE tenant_id = $1 ORDER BY contact_id`,
		"members":  `SELECT segment_id, COUNT(*), COUNT(*) FROM segment_member WHERE tenant_id = $1 GROUP BY segment_id`,
	} {
		rows, err := s.db.Query(t.Context(), text, s.acme)
		list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (string, error) {
			var key string
			var a, b int64
			err := scan(&key, &a, &b)
			return fmt.Sprint(key, " ", a, " ", b), err
		})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = strings.Join(list, "\n")
	}
	return out
}

func TestAnonymisingErasesPersonalData(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		p := newPerson(t, s)
		rows := dumpTables(t, s.db)
		for _, word := range traces {
			if len(rowsContaining(rows, word)) == 0 {
				t.Errorf("no row contains %q before", word)
			}
		}
		// The log of changed contacts forgets the addresses of everybody: it is read by the minute.
		ofBystander := func(rows []string) int {
			return len(slices.DeleteFunc(rowsContaining(rows, "bystander"), func(r string) bool { return strings.HasPrefix(r, "contact_log | ") }))
		}
		before, bystanders := aggregates(t, s), ofBystander(rows)
		s.must(200, "admin", "POST /contacts/"+p.id.String()+"/anonymize", "")
		rows = dumpTables(t, s.db)
		left := rowsContaining(rows, traces...)
		for _, r := range left {
			if !strings.HasPrefix(r, "suppression | ") || !strings.Contains(r, "email="+p.email+" | reason=anonymized") {
				t.Errorf("left behind: %.200s", r)
			}
		}
		if len(left) == 0 {
			t.Error("the address is not on the suppression list")
		}
		if diff := cmp.Diff(before, aggregates(t, s)); diff != "" {
			t.Errorf("counts changed:\n%s", diff)
		}
		if n := ofBystander(rows); n != bystanders {
			t.Errorf("%d rows contain the other contact, want %d", n, bystanders)
		}
		if r := s.must(200, "admin", "GET /contacts/"+p.id.String()+"/export", ""); len(rowsContaining([]string{r.text}, traces...)) != 0 {
			t.Errorf("the export contains personal data: %.300s", r.text)
		}
	})
}

func TestAnonymisingWithoutSuppressionErasesTheAddress(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		p := newPerson(t, s)
		s.must(200, "admin", "POST /contacts/"+p.id.String()+"/anonymize", `{"suppress": false}`)
		if left := rowsContaining(dumpTables(t, s.db), traces...); len(left) != 0 {
			t.Errorf("left behind: %.2000s", strings.Join(left, "\n"))
		}
	})
}
