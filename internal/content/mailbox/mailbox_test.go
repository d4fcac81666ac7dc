package mailbox_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/content/mailbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const newsletter = "From: =?UTF-8?Q?S=C3=B8ren?= <news@example.com>\r\nTo: ann@example.org\r\n" +
	"Subject: =?utf-8?B?R3LDvMOfZQ==?=\r\n from the\r\n harbour\r\nMIME-Version: 1.0\r\n" +
	"Content-Type: multipart/alternative; boundary=b\r\n\r\n" +
	"--b\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nHej =C3=A5\r\n" +
	"--b\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>Hej =C3=A5</p>\r\n--b--\r\n"

func deliver(t *testing.T, db *sqldb.DB, tenant id.Tenant, lane id.Lane, to, raw string, at time.Time) {
	t.Helper()
	if err := mailbox.Deliver(t.Context(), db, mailbox.Delivery{Tenant: tenant, Lane: lane, From: "b.x@bounce.example.com", To: to, Raw: []byte(raw)}, at); err != nil {
		t.Fatal(err)
	}
}

func TestAMessageIsKeptAsItCame(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, mine, other, lane := t.Context(), idtest.Tenant(), idtest.Tenant(), id.New[id.Lane]()
		deliver(t, db, mine, lane, "ann@example.org", newsletter, noon)
		list, more, err := mailbox.List(ctx, db, mine, mailbox.Query{Limit: 10})
		if err != nil || more || len(list) != 1 {
			t.Fatalf("List = %v, %v, %v; want one message", list, more, err)
		}
		want := mailbox.Message{
			ID: list[0].ID, Lane: lane, MailFrom: "b.x@bounce.example.com", To: "ann@example.org",
			Author: "Søren <news@example.com>", Subject: "Grüße from the harbour", Size: len(newsletter), ReceivedAt: noon,
		}
		if diff := cmp.Diff(want, list[0]); diff != "" {
			t.Errorf("List (-want +got):\n%s", diff)
		}
		if m, raw, err := mailbox.Raw(ctx, db, mine, lane, want.ID); err != nil || m != want || string(raw) != newsletter {
			t.Errorf("Raw = %+v, %q, %v", m, raw, err)
		}
		_, parts, err := mailbox.Get(ctx, db, mine, id.Lane{}, want.ID)
		if err != nil || strings.TrimSpace(parts.Text) != "Hej å" || strings.TrimSpace(parts.HTML) != "<p>Hej å</p>" || len(parts.Headers) != 5 || parts.Headers[1] != [2]string{"To", "ann@example.org"} {
			t.Errorf("Get = %+v, %v", parts, err)
		}
		if from, subject := parts.Headers[0][1], parts.Headers[2][1]; from != want.Author || subject != want.Subject {
			t.Errorf("the headers have the author %q and the subject %q", from, subject)
		}
		for name, where := range map[string]struct {
			tenant id.Tenant
			lane   id.Lane
		}{"another tenant": {other, lane}, "another lane": {mine, id.New[id.Lane]()}} {
			if _, _, err := mailbox.Raw(ctx, db, where.tenant, where.lane, want.ID); !errors.Is(err, mailbox.ErrNotFound) {
				t.Errorf("Raw for %s: %v, want %v", name, err, mailbox.ErrNotFound)
			}
		}
	})
}

func TestHeadersAreReadable(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"X: plain":                    "plain",
		"X: =?iso-8859-1?q?Andr=E9?=": "André",
		"Reply-To: =?utf-8?q?M=C3=BCller?=\r\n =?utf-8?b?LCBB?= <a@example.org>": "Müller, A <a@example.org>",
		"X: =?utf-8?q?a=0D=0ABcc:_b?=":                                           "a  Bcc: b",
		"X: =?utf-8?q?a=00=FF?=":                                                 "a\uFFFD\uFFFD",
		"X: =?unknown?q?a=C3?=":                                                  "=?unknown?q?a=C3?=",
		"X: =?utf-8?q?" + strings.Repeat("a", 2000) + "?=":                       strings.Repeat("a", 2000),
	} {
		got := mailbox.Read([]byte(written + "\r\n\r\nx")).Headers
		if len(got) != 1 || got[0][1] != want {
			t.Errorf("%q is shown as %q, want %q", written, got, want)
		}
	}
}

func TestListPagesAndSearches(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, mine, other, lane, spare := t.Context(), idtest.Tenant(), idtest.Tenant(), id.New[id.Lane](), id.New[id.Lane]()
		for i := range 7 {
			at := noon.Add(time.Duration(i/3) * time.Second) // some at the same moment
			deliver(t, db, mine, lane, fmt.Sprintf("r%d@example.org", i), "Subject: N"+fmt.Sprint(i)+" 100%_\\ ÅÄÖ\r\n\r\nx", at)
		}
		deliver(t, db, mine, spare, "spare@example.org", "Subject: spare\r\n\r\nx", noon)
		deliver(t, db, other, lane, "other@example.org", "Subject: other\r\n\r\nx", noon)

		seen := map[id.SinkMessage]bool{}
		q := mailbox.Query{Lane: lane, Limit: 3}
		for page := 0; ; page++ {
			list, more, err := mailbox.List(ctx, db, mine, q)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range list {
				if seen[m.ID] {
					t.Errorf("%s is on two pages", m.Subject)
				}
				seen[m.ID] = true
			}
			if !more {
				break
			}
			last := list[len(list)-1]
			q.After = &mailbox.Position{At: last.ReceivedAt, ID: last.ID}
			if page == 0 {
				deliver(t, db, mine, lane, "late@example.org", "Subject: late\r\n\r\nx", noon.Add(time.Hour))
			}
		}
		if len(seen) != 7 {
			t.Errorf("pages show %d messages, want the 7 that were there", len(seen))
		}
		for search, want := range map[string]int{
			"": 9, "n3": 1, "åäö": 7, "R4@EXAMPLE": 1, "100%_\\": 7, "100_": 0, "%": 7, "other": 0, "bounce.example.com": 9,
		} {
			list, _, err := mailbox.List(ctx, db, mine, mailbox.Query{Search: search, Limit: 20})
			if err != nil || len(list) != want {
				t.Errorf("search %q found %d, %v; want %d", search, len(list), err, want)
			}
		}
		if err := mailbox.Clear(ctx, db, mine, lane); err != nil {
			t.Fatal(err)
		}
		for tenant, want := range map[id.Tenant]int{mine: 1, other: 1} {
			if list, _, err := mailbox.List(ctx, db, tenant, mailbox.Query{Limit: 20}); err != nil || len(list) != want {
				t.Errorf("after Clear %d are left, %v; want %d", len(list), err, want)
			}
		}
	})
}

func TestPruneKeepsAWeekAndTheNewest(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, mine, other, lane := t.Context(), idtest.Tenant(), idtest.Tenant(), id.New[id.Lane]()
		deliver(t, db, other, lane, "fresh@example.org", "Subject: fresh\r\n\r\nx", noon)
		deliver(t, db, other, lane, "old@example.org", "Subject: old\r\n\r\nx", noon.Add(-mailbox.KeepFor-time.Second))
		rows := db.Table("id UUID", "received_at BIGINT")
		const surplus = 3
		for i := range mailbox.KeepNewest + surplus {
			rows.Add(id.New[id.SinkMessage](), noon.Add(time.Duration(i)*time.Millisecond).UnixMicro())
		}
		if _, err := db.Exec(ctx, `
			INSERT INTO sink_message (tenant_id, id, mta_config_id, send_id, mail_from, rcpt_to, author, subject, folded, size, raw, received_at)
			SELECT `+db.Param(1, "INTEGER")+`, v.id, `+db.Param(2, "UUID")+`, `+db.Param(4, "UUID")+`, '', '', '', '', '', 0, $3, v.received_at
			FROM `+rows.As("v", 5), rows.Args(mine, lane, []byte{}, id.Send{})...); err != nil {
			t.Fatal(err)
		}
		if more, err := mailbox.Prune(ctx, db, noon.Add(time.Minute)); err != nil || more {
			t.Fatalf("Prune = %v, %v; want no more", more, err)
		}
		for tenant, want := range map[id.Tenant]int64{mine: mailbox.KeepNewest, other: 1} {
			var left, oldest int64
			if err := db.QueryRow(ctx, `SELECT COUNT(*), MIN(received_at) FROM sink_message WHERE tenant_id = $1`, tenant).Scan(&left, &oldest); err != nil || left != want {
				t.Errorf("%d are left, %v; want %d", left, err, want)
			}
			if tenant == mine && oldest != noon.Add(surplus*time.Millisecond).UnixMicro() {
				t.Errorf("the oldest left is of %v, want the newest kept", time.UnixMicro(oldest))
			}
		}
	})
}

// Whatever was caught, it can be stored, listed and looked at.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		newsletter, "", "\r\n", "x", "Subject: =?latin1?q?=ff?=\r\n\r\n\xff\x00", "Subject: =?x?q?y?=\n\nb",
		"Content-Type: multipart/mixed\r\n\r\n--\r\n", "Content-Type: text/html; charset=utf-16\r\n\r\n<p",
		"Content-Type: multipart/mixed; boundary=\"\"\r\n\r\n--\r\n\r\n----", " folded: first\r\n\r\n",
		"Content-Type: message/rfc822\r\n\r\nSubject: inner\r\n\r\nx", "A:\r\n\tb\r\n c\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	for _, s := range odd {
		if len(s) < 10_000 {
			f.Add([]byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		parts := mailbox.Read(raw)
		texts := []string{parts.HTML, parts.Text}
		for _, h := range parts.Headers {
			texts = append(texts, h[0], h[1])
		}
		for _, s := range texts {
			if len(s) > 8<<20 || !utf8.ValidString(s) || strings.Contains(s, "\x00") {
				t.Errorf("Read(%q) holds %q, which no database takes", raw, s)
			}
		}
		if !bytes.Equal(raw, before) {
			t.Error("Read changed its input")
		}
	})
}
