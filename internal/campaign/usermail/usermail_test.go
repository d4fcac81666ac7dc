package usermail_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/usermail"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var (
	noon  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	acme  = id.Tenant(101)
	other = id.Tenant(102)
	ann   = id.New[id.Contact]()
)

// each runs f on both databases. A mail of a second tenant about the same contact must stay as it is.
func each(t *testing.T, f func(t *testing.T, db *sqldb.DB)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		add(t, db, other, noon, usermail.Mail{Contact: ann, To: "their@example.org", Subject: "theirs", Body: "their text"})
		f(t, db)
		list := due(t, db, other, noon.Add(24*time.Hour))
		if len(list) != 1 || list[0].Subject != "theirs" || list[0].Body != "their text" || list[0].Contact != ann {
			t.Errorf("the other tenant's mails: %+v", list)
		}
	})
}

func add(t *testing.T, db *sqldb.DB, tenant id.Tenant, at time.Time, list ...usermail.Mail) int {
	t.Helper()
	n, err := usermail.Add(t.Context(), db, tenant, list, at)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func due(t *testing.T, db *sqldb.DB, tenant id.Tenant, at time.Time) []usermail.Mail {
	t.Helper()
	list, err := usermail.Due(t.Context(), db, tenant, at)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func numbered(n int) (list []usermail.Mail) {
	for i := range n {
		list = append(list, usermail.Mail{To: "team@example.org", Subject: fmt.Sprint("notice ", i)})
	}
	return list
}

// TestMailsWaitUntilTheyAreSent adds a mail, which is due at once, and sends it.
func TestMailsWaitUntilTheyAreSent(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		if n := add(t, db, acme, noon); n != 0 {
			t.Errorf("%d of no mails were added", n)
		}
		add(t, db, acme, noon, usermail.Mail{Contact: ann, To: "team@example.org", Subject: "New\r\nlead", Body: "Ann\x00 asks"})
		if list := due(t, db, acme, noon.Add(-time.Second)); len(list) != 0 {
			t.Errorf("due before they were added: %+v", list)
		}
		list := due(t, db, acme, noon)
		if len(list) != 1 || list[0].To != "team@example.org" || list[0].Subject != "New lead" || list[0].Body != "Ann asks" || list[0].Contact != ann {
			t.Fatalf("due: %+v", list)
		}
		if err := usermail.Sent(t.Context(), db, acme, list[0], noon); err != nil {
			t.Fatal(err)
		}
		if list := due(t, db, acme, noon.Add(time.Hour)); len(list) != 0 {
			t.Errorf("due after they were sent: %+v", list)
		}
		var left int
		if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM notice WHERE tenant_id = $1 AND (contact_id IS NOT NULL OR subject <> '' OR body <> '')`, acme).Scan(&left); err != nil || left != 0 {
			t.Errorf("%d sent mails still have content, %v", left, err)
		}
	})
}

// TestSubjectsAreOneLine shortens subjects by characters.
func TestSubjectsAreOneLine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", usermail.MaxSubject)
	for text, want := range map[string]string{
		"": "(no subject)", " \r\n\t": "(no subject)", "a\r\nBcc: x@example.org": "a Bcc: x@example.org", "a \xff b": "a b", long: long, long + "é": long,
	} {
		if got := usermail.Subject(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestBodiesAreCutAtACharacter stores no more than MaxBody, and nothing that is not UTF-8.
func TestBodiesAreCutAtACharacter(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		add(t, db, acme, noon, usermail.Mail{To: "team@example.org", Body: "x" + strings.Repeat("é", usermail.MaxBody/2)})
		body := due(t, db, acme, noon)[0].Body
		if len(body) != usermail.MaxBody-1 || !utf8.ValidString(body) {
			t.Errorf("%d bytes, which are UTF-8: %v", len(body), utf8.ValidString(body))
		}
	})
}

// TestATenantHasAtMostSoManyWaiting adds only as many as there is room for, again after some were sent.
func TestATenantHasAtMostSoManyWaiting(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		if n := add(t, db, acme, noon, numbered(usermail.MaxWaiting-1)...); n != usermail.MaxWaiting-1 {
			t.Errorf("%d were added", n)
		}
		if n := add(t, db, acme, noon, numbered(3)...); n != 1 {
			t.Errorf("%d of three were added beside all but one", n)
		}
		if n := add(t, db, acme, noon, numbered(1)...); n != 0 {
			t.Errorf("%d were added beyond the limit", n)
		}
		if err := usermail.Sent(t.Context(), db, acme, due(t, db, acme, noon)[0], noon); err != nil {
			t.Fatal(err)
		}
		if n := add(t, db, acme, noon, numbered(2)...); n != 1 {
			t.Errorf("%d of two were added after one was sent", n)
		}
	})
}

// TestATenantSendsAtMostSoManyAnHour postpones the rest to an hour after the first.
func TestATenantSendsAtMostSoManyAnHour(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		add(t, db, acme, noon, numbered(usermail.MaxPerHour+1)...)
		for sent := 0; sent < usermail.MaxPerHour; {
			list := due(t, db, acme, noon.Add(time.Duration(sent)*time.Second))
			if len(list) == 0 || len(list) > 20 {
				t.Fatalf("%d at a time after %d", len(list), sent)
			}
			for _, n := range list {
				if err := usermail.Sent(t.Context(), db, acme, n, noon.Add(time.Duration(sent)*time.Second)); err != nil {
					t.Fatal(err)
				}
				sent++
			}
		}
		if list := due(t, db, acme, noon.Add(30*time.Minute)); len(list) != 0 {
			t.Errorf("%d beyond the limit", len(list))
		}
		if list := due(t, db, acme, noon.Add(time.Hour-time.Second)); len(list) != 0 {
			t.Errorf("%d before the hour was over", len(list))
		}
		if list := due(t, db, acme, noon.Add(time.Hour)); len(list) != 1 {
			t.Errorf("%d when the hour was over", len(list))
		}
	})
}

// TestFailuresAreRepeatedFourTimes doubles the pause, and deletes the mail after the fifth attempt.
func TestFailuresAreRepeatedFourTimes(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		at := noon
		add(t, db, acme, at, numbered(1)...)
		for _, pause := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute} {
			again, err := usermail.Failed(t.Context(), db, acme, due(t, db, acme, at)[0], at)
			if err != nil || !again {
				t.Fatalf("no further attempt before %s: %v", pause, err)
			}
			if list := due(t, db, acme, at.Add(pause-time.Second)); len(list) != 0 {
				t.Errorf("due before %s", pause)
			}
			at = at.Add(pause)
		}
		again, err := usermail.Failed(t.Context(), db, acme, due(t, db, acme, at)[0], at)
		if err != nil || again {
			t.Errorf("a sixth attempt: %v, %v", again, err)
		}
		if list := due(t, db, acme, at.Add(24*time.Hour)); len(list) != 0 {
			t.Errorf("not deleted: %+v", list)
		}
	})
}

// TestTenantsThatWaitedLongestComeFirst lists the tenants with due mails.
func TestTenantsThatWaitedLongestComeFirst(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		add(t, db, acme, noon.Add(-time.Minute), numbered(2)...)
		add(t, db, 103, noon.Add(time.Minute), numbered(1)...)
		for at, want := range map[time.Time]string{noon.Add(-time.Hour): "[]", noon: fmt.Sprint([]id.Tenant{acme, other}), noon.Add(time.Minute): fmt.Sprint([]id.Tenant{acme, other, 103})} {
			list, err := usermail.DueTenants(t.Context(), db, at)
			if err != nil || fmt.Sprint(list) != want {
				t.Errorf("at %s: %v, %v; want %s", at, list, err, want)
			}
		}
	})
}

// TestSentMailsAreDeletedAfterADay deletes rows that no limit counts any more.
func TestSentMailsAreDeletedAfterADay(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		add(t, db, acme, noon, numbered(2)...)
		if err := usermail.Sent(t.Context(), db, acme, due(t, db, acme, noon)[0], noon); err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			after time.Duration
			want  int
		}{{24 * time.Hour, 2}, {24*time.Hour + time.Second, 1}} {
			if err := usermail.Prune(t.Context(), db, noon.Add(tt.after)); err != nil {
				t.Fatal(err)
			}
			var n int
			if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM notice WHERE tenant_id = $1`, acme).Scan(&n); err != nil || n != tt.want {
				t.Errorf("%d rows after %s, %v; want %d", n, tt.after, err, tt.want)
			}
		}
	})
}

// TestErasingAContactDeletesItsMails exports what waits about a contact, and deletes it.
func TestErasingAContactDeletesItsMails(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		add(t, db, acme, noon, usermail.Mail{Contact: ann, To: "team@example.org", Subject: "lead", Body: "Ann"}, usermail.Mail{To: "team@example.org", Subject: "all"})
		data, person := usermail.PersonalData(), contact.Person{ID: ann}
		exported := func() (list []string) {
			for e, err := range data.Export(t.Context(), db, acme, person) {
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, fmt.Sprint(e))
			}
			return list
		}
		if got := exported(); len(got) != 1 || got[0] != "{lead Ann}" {
			t.Errorf("exported %q", got)
		}
		if err := data.Erase(t.Context(), db, acme, []contact.Person{person}); err != nil {
			t.Fatal(err)
		}
		if got := exported(); len(got) != 0 {
			t.Errorf("exported %q after it was erased", got)
		}
		if list := due(t, db, acme, noon); len(list) != 1 || list[0].Subject != "all" {
			t.Errorf("due %+v", list)
		}
	})
}
