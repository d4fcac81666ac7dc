package outbox_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// put sets columns of some messages of the fixture.
func (f fixture) put(t *testing.T, set string, contacts ...int) {
	t.Helper()
	ids := make([]id.Contact, len(contacts))
	for i, c := range contacts {
		ids[i] = idtest.Named[id.Contact](fmt.Sprintf("c%05d", c))
	}
	n, err := f.db.Exec(t.Context(), `UPDATE outbox SET `+set+` WHERE tenant_id = $1 AND send_id = $2 AND contact_id`+f.db.In(3),
		f.tenant, f.send, sqldb.List(f.db, ids))
	if err != nil || n != int64(len(contacts)) {
		t.Fatalf("%s: %d messages, %v", set, n, err)
	}
	_, err = f.db.Exec(t.Context(), `
		INSERT INTO outbox_note (tenant_id, send_id, contact_id, message_id, state)
		SELECT tenant_id, send_id, contact_id, id, state FROM outbox
		WHERE tenant_id = $1 AND send_id = $2 AND contact_id`+f.db.In(3)+` AND state NOT IN ('queued', 'sent', 'delivered')`,
		f.tenant, f.send, sqldb.List(f.db, ids))
	if err != nil {
		t.Fatal(err)
	}
}

// note sets columns of the notes of some messages of the fixture.
func (f fixture) note(t *testing.T, set string, contacts ...int) {
	t.Helper()
	for _, c := range contacts {
		n, err := f.db.Exec(t.Context(), `UPDATE outbox_note SET `+set+` WHERE tenant_id = $1 AND send_id = $2 AND contact_id = $3`,
			f.tenant, f.send, idtest.Named[id.Contact](fmt.Sprintf("c%05d", c)))
		if err != nil || n != 1 {
			t.Fatalf("%s: %d notes, %v", set, n, err)
		}
	}
}

// variant sets the variant of the messages of some contacts.
func (f fixture) variant(t *testing.T, name string, contacts ...int) {
	t.Helper()
	_, err := f.db.Exec(t.Context(), `
		INSERT INTO outbox_mix (tenant_id, send_id, n, content_id, content_version, variant_id, identity_id)
		SELECT tenant_id, send_id, $3, content_id, content_version, $4, identity_id FROM outbox_mix WHERE tenant_id = $1 AND send_id = $2 AND variant_id IS NULL`,
		f.tenant, f.send, int(name[0]), name)
	if err != nil {
		t.Fatal(err)
	}
	f.put(t, fmt.Sprintf("mix = %d", name[0]), contacts...)
}

func numbers(list []outbox.Record) string {
	var b strings.Builder
	for _, r := range list {
		b.WriteString(strings.TrimLeft(strings.Trim(string(r.Contact[:]), "c\x00"), "0") + " ")
	}
	return strings.TrimSpace(b.String())
}

func TestRecipientsAreFoundByStatusVariantAndAddress(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setup(t, db, 12)
		for set, contacts := range map[string][]int{
			"attempts = 1":                                 {2},
			"deferred = TRUE":                              {3},
			"attempts = 1, deferred = TRUE":                {4},
			"state = 'sent'":                               {5, 6},
			"state = 'delivered'":                          {7},
			"state = 'bounced'":                            {8},
			"state = 'failed'":                             {9},
			"state = 'skipped', email = 'a_%\\@x.example'": {10},
			"state = 'cancelled'":                          {11},
		} {
			f.put(t, set, contacts...)
		}
		f.variant(t, "b", 5, 6)
		f.variant(t, "a", 7)
		last := idtest.Named[id.Contact]("c00012")
		if _, err := db.Exec(t.Context(), `UPDATE outbox SET contact_id = $3 WHERE tenant_id = $1 AND contact_id = $2`, f.tenant, idtest.Named[id.Contact]("c00000"), last); err != nil {
			t.Fatal(err)
		}
		f.put(t, "state = 'held_back'", 12)
		for _, tt := range []struct {
			q    outbox.Recipients
			want string
		}{
			{outbox.Recipients{}, "1 2 3 4 5 6 7 8 9 10 11 12"},
			{outbox.Recipients{Status: []outbox.Status{outbox.StatusPending}}, ""},
			{outbox.Recipients{Status: []outbox.Status{outbox.StatusQueued}}, "1 2"},
			{outbox.Recipients{Status: []outbox.Status{outbox.StatusDeferred}}, "3 4"},
			{outbox.Recipients{Status: []outbox.Status{outbox.StatusDeferred, outbox.StatusQueued, outbox.StatusSent}}, "1 2 3 4 5 6"},
			{outbox.Recipients{Status: []outbox.Status{outbox.StatusQueued, outbox.StatusFailed}}, "1 2 9"},
			{outbox.Recipients{Status: []outbox.Status{outbox.StatusDelivered}}, "7"},
			{outbox.Recipients{Status: []outbox.Status{outbox.StatusBounced, outbox.StatusFailed}}, "8 9"},
			{outbox.Recipients{Status: []outbox.Status{outbox.StatusSkipped, outbox.StatusCancelled, outbox.StatusHeldBack}}, "10 11 12"},
			{outbox.Recipients{Status: outbox.Statuses()}, "1 2 3 4 5 6 7 8 9 10 11 12"},
			{outbox.Recipients{Variant: "b"}, "5 6"},
			{outbox.Recipients{Variant: "b", Status: []outbox.Status{outbox.StatusDelivered}}, ""},
			{outbox.Recipients{Search: "C1@EXAMPLE"}, "1"},
			{outbox.Recipients{Search: "_%\\"}, "10"},
			{outbox.Recipients{Search: "nobody"}, ""},
			{outbox.Recipients{After: idtest.Named[id.Contact]("c00010")}, "11 12"},
			{outbox.Recipients{After: idtest.Named[id.Contact]("c00005"), Status: []outbox.Status{outbox.StatusSent, outbox.StatusBounced}}, "6 8"},
		} {
			tt.q.Limit = 50
			list, more, err := outbox.List(t.Context(), db, f.tenant, f.send, tt.q)
			if got := numbers(list); err != nil || more || got != tt.want {
				t.Errorf("List(%+v) = %q, more %v, %v; want %q", tt.q, got, more, err, tt.want)
			}
			for _, r := range list {
				if len(tt.q.Status) > 0 && !slices.Contains(tt.q.Status, r.Status()) {
					t.Errorf("List(%+v) contains one that is %s", tt.q, r.Status())
				}
			}
		}
		if failed, err := outbox.FirstFailures(t.Context(), db, f.tenant, f.send, 1); err != nil || numbers(failed) != "8" {
			t.Errorf("FirstFailures = %v, %v", failed, err)
		}
		if list, _, err := outbox.List(t.Context(), db, idtest.Tenant(), f.send, outbox.Recipients{Limit: 5}); err != nil || len(list) != 0 {
			t.Errorf("another tenant sees %v, %v", list, err)
		}
	})
}

func TestParseStatuses(t *testing.T) {
	t.Parallel()
	var names []string
	for _, s := range outbox.Statuses() {
		names = append(names, string(s))
	}
	if list, err := outbox.ParseStatuses(names); err != nil || !slices.Equal(list, outbox.Statuses()) {
		t.Errorf("ParseStatuses(%v) = %v, %v", names, list, err)
	}
	for _, name := range []string{"claimed", "SENT", ""} {
		if _, err := outbox.ParseStatuses([]string{"sent", name}); !errors.Is(err, outbox.ErrStatus) {
			t.Errorf("ParseStatuses(sent, %q) = %v, want INVALID_STATUS", name, err)
		}
	}
}

// Reading page by page returns each recipient once while the send changes, and no page reads more
// than it returns.
func TestPagesOfRecipients(t *testing.T) {
	t.Parallel()
	const all = 5000
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := setup(t, db, all)
		node := f.node(t, "n")
		var seen []id.Contact
		q := outbox.Recipients{Limit: 200}
		for more := true; more; {
			var list []outbox.Record
			var err error
			if list, more, err = outbox.List(t.Context(), db, f.tenant, f.send, q); err != nil || len(list) != 200 {
				t.Fatalf("a page of %d, %v", len(list), err)
			}
			for _, r := range list {
				seen = append(seen, r.Contact)
			}
			q.After = seen[len(seen)-1]
			f.claim(t, node, 100)
		}
		if len(seen) != all || !slices.IsSortedFunc(seen, id.Compare) || len(slices.Compact(seen)) != all {
			t.Errorf("the pages show %d recipients, want %d, each once", len(seen), all)
		}

		f.put(t, "state = 'bounced'", 17, 2500, 4999)
		for range 4 { // most tenants have sent more than once
			if err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
				s := outbox.Send{Tenant: f.tenant, ID: id.New[id.Send](), Source: outbox.FromBroadcast(id.New[id.Broadcast]())}
				if err := outbox.Create(t.Context(), tx, s, outbox.Terms{}, noon); err != nil {
					return err
				}
				_, err := outbox.AddMessages(t.Context(), tx, s.Tenant, s.ID, messages(1500))
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		if db.Dialect() == sqldb.Postgres { // as autovacuum does
			if _, err := db.Exec(t.Context(), `ANALYZE outbox`); err != nil {
				t.Fatal(err)
			}
		}
		for want, text := range map[string]string{
			"outbox_contact": `SELECT m.id, m.email FROM outbox AS m
				WHERE m.tenant_id = $1 AND m.send_id = $2 AND m.contact_id > $3 ORDER BY m.contact_id LIMIT $4`,
			"outbox_note_send": `SELECT m.id, m.email FROM outbox_note AS n JOIN outbox AS m ON m.tenant_id = n.tenant_id AND m.id = n.message_id
				WHERE m.tenant_id = $1 AND n.tenant_id = $1 AND n.send_id = $2 AND n.contact_id > $3 ORDER BY n.contact_id LIMIT $4`,
		} {
			if got := plan(t, db, text, f.tenant, f.send, idtest.Named[id.Contact]("c00100"), 51); !strings.Contains(got, want) {
				t.Errorf("a page is not read by %s:\n%s", want, got)
			}
		}
	})
}

// plan returns the database's plan of a statement.
func plan(t *testing.T, db *sqldb.DB, text string, args ...any) string {
	t.Helper()
	explain := "EXPLAIN QUERY PLAN "
	if db.Dialect() == sqldb.Postgres {
		explain = "EXPLAIN "
	}
	rows, err := db.Query(t.Context(), explain+text, args...)
	lines, err := sqldb.Collect(rows, err, func(scan func(...any) error) (line string, err error) {
		if db.Dialect() == sqldb.Postgres {
			err := scan(&line)
			return line, err
		}
		var node, parent, unused int
		err = scan(&node, &parent, &unused, &line)
		return line, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

func TestABounceIsShownAsHardOrSoft(t *testing.T) {
	for kept, want := range map[string]string{"": "", "hard": "hard", "soft": "soft", "block": "soft"} {
		if got := (outbox.Record{BounceType: kept}).Bounce(); string(got) != want {
			t.Errorf("a bounce kept as %q is shown as %q, want %q", kept, got, want)
		}
	}
}
