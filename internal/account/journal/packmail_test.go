package journal_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Whatever is appended together, followers get each entry once, with its contact, send, message, time and data.
func TestPackedMailsAreFollowedOneByOne(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		mine := id.Tenant(1)
		say := func(e journal.Entry) string {
			data, _ := e.Data.(json.RawMessage)
			return fmt.Sprint(e.Tenant, e.Type, e.Name, e.Contact, e.Send, e.Message, e.At.UnixMicro(), string(data))
		}
		var got []string
		e := &journal.Engine{DB: db, Log: slog.New(slog.DiscardHandler), Followers: []journal.Follower{{
			Name: "all", Follow: func(_ context.Context, _ *sqldb.DB, entries []journal.Entry) error {
				for _, e := range entries {
					got = append(got, say(e))
				}
				return nil
			},
		}}}
		rapid.Check(t, func(rt *rapid.T) {
			sends := []id.Send{id.New[id.Send](), id.New[id.Send]()}
			types := []journal.Type{journal.EmailDelivered, journal.EmailDelivered, journal.EmailDelivered, journal.EmailSent, journal.EmailBounced, journal.ContactCreated}
			var want []string
			var entries []journal.Entry
			for range rapid.IntRange(0, 200).Draw(rt, "entries") {
				one := journal.Entry{
					Tenant: mine, Type: rapid.SampledFrom(types).Draw(rt, "type"),
					At: noon.Add(time.Duration(rapid.Int64Range(-5, 5).Draw(rt, "at")) * time.Microsecond),
				}
				if rapid.IntRange(0, 9).Draw(rt, "contact") > 0 { // a copy to a seed has none
					one.Contact = id.New[id.Contact]()
				}
				if one.Type != journal.ContactCreated {
					one.Send, one.Message = rapid.SampledFrom(sends).Draw(rt, "send"), id.New[id.Message]()
				}
				if one.Type == journal.EmailBounced || rapid.IntRange(0, 9).Draw(rt, "data") == 0 {
					one.Data = json.RawMessage(`{"after_sent": true}`)
				}
				entries, want = append(entries, one), append(want, say(one))
			}
			got = nil
			if err := db.InTx(t.Context(), func(tx *sqldb.DB) error { return journal.Append(t.Context(), tx, entries...) }); err != nil {
				rt.Fatal(err)
			}
			drain(t, e)
			slices.Sort(want)
			if slices.Sort(got); !slices.Equal(got, want) {
				rt.Errorf("followed %d entries, want %d: %v, want %v", len(got), len(want), got, want)
			}
		})
	})
}

// Forty mails of a send need one row, and contacts with such mails are found in it.
func TestMailsDeliveredTogetherNeedOneRow(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		mine, other, send := id.Tenant(1), id.Tenant(2), id.New[id.Send]()
		for other.Group() != mine.Group() {
			other++
		}
		mails := func(tenant id.Tenant, n int) []journal.Entry {
			list := make([]journal.Entry, n)
			for i := range list {
				list[i] = journal.Entry{
					Tenant: tenant, Type: journal.EmailDelivered, Contact: id.New[id.Contact](), Send: send, Message: id.New[id.Message](), At: noon.Add(time.Duration(i) * time.Second),
				}
			}
			return list
		}
		entries, others := mails(mine, 90), mails(other, 41)
		if err := db.InTx(t.Context(), func(tx *sqldb.DB) error { return journal.Append(t.Context(), tx, slices.Concat(entries, others)...) }); err != nil {
			t.Fatal(err)
		}
		var rows int
		if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM journal /* all tenants: one order for each group */`).Scan(&rows); err != nil || rows != 3+2 {
			t.Errorf("%d rows, %v; want 3 of 40, 40 and 10 mails, and 2 of 40 and one", rows, err)
		}
		look := func(contacts []id.Contact, pos int64, limit int) (found map[id.Contact]bool, more bool) {
			found = map[id.Contact]bool{}
			b := db.Batch()
			m := journal.QueueContactsAfter(b, db, mine, pos, []journal.Type{journal.EmailDelivered}, contacts, limit, found)
			if err := b.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			return found, *m
		}
		asked := []id.Contact{entries[0].Contact, entries[89].Contact, others[0].Contact, others[40].Contact, id.New[id.Contact]()}
		if found, more := look(asked, 0, 100); len(found) != 2 || !found[asked[0]] || !found[asked[1]] || more {
			t.Errorf("found %v, more: %v; want the first two of %v", found, more, asked)
		}
		if _, more := look(asked, 0, 5); !more {
			t.Error("not more, although the limit was reached")
		}
		if found, _ := look(asked, 1, 100); len(found) != 1 || !found[asked[1]] {
			t.Errorf("found %v after the first pack, want only the second", found)
		}
	})
}
