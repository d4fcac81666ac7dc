package outbox_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// crowd is two sends of one tenant, with a message of each for n contacts.
type crowd struct {
	*testing.T
	db       *sqldb.DB
	tenant   id.Tenant
	sends    []id.Send
	contacts []id.Contact
}

func newCrowd(t *testing.T, db *sqldb.DB, n int) crowd {
	t.Helper()
	c := crowd{T: t, db: db, tenant: idtest.Tenant(), sends: []id.Send{id.New[id.Send](), id.New[id.Send]()}}
	var list []outbox.Message
	for i := range n {
		email := fmt.Sprintf("c%d@example.org", i)
		made, err := contact.Create(t.Context(), db, c.tenant, email, contact.Change{}, contact.Rules{}, noon)
		if err != nil {
			t.Fatal(err)
		}
		c.contacts = append(c.contacts, made.ID)
		list = append(list, outbox.Message{
			Contact: made.ID, Email: email, Content: idtest.Named[id.Content]("content"), ContentVersion: 1, Identity: idtest.Named[id.Identity]("identity"), Lane: idtest.Named[id.Lane]("lane"),
			DueAt: noon.Add(time.Duration(i) * time.Second),
		})
	}
	for _, send := range c.sends {
		err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
			if err := outbox.Create(t.Context(), tx, outbox.Send{Tenant: c.tenant, ID: send, Source: outbox.FromBroadcast(id.New[id.Broadcast]())}, outbox.Terms{}, noon); err != nil {
				return err
			}
			if _, err := outbox.AddMessages(t.Context(), tx, c.tenant, send, list); err != nil {
				return err
			}
			return outbox.Start(t.Context(), tx, c.tenant, send, noon)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// begin settles messages of the first send: the first bounced, the second deferred; the third is in
// flight, and the others wait.
func (c crowd) begin() *outbox.Node {
	c.Helper()
	n := &outbox.Node{DB: c.db, Owner: "a"}
	if err := n.Renew(c.Context(), noon.Add(time.Hour)); err != nil {
		c.Fatal(err)
	}
	items, err := n.Claim(c.Context(), c.tenant, c.sends[0], 3, noon.Add(time.Hour))
	if err != nil || len(items) != 3 {
		c.Fatalf("Claim = %d messages, %v; want 3", len(items), err)
	}
	_, err = n.Commit(c.Context(), []outbox.Result{
		{Item: items[0], State: outbox.Bounced, At: noon, BounceType: "soft", Error: "550 " + items[0].Email + " is full"},
		{Item: items[1], State: outbox.Queued, At: noon, Due: noon.Add(time.Hour), Error: "451 later, " + items[1].Email},
	}, items[2:], noon)
	if err != nil {
		c.Fatal(err)
	}
	return n
}

func (c crowd) follow() {
	c.Helper()
	e := journal.Engine{DB: c.db, Followers: []journal.Follower{outbox.Follower()}, Log: slog.New(slog.DiscardHandler)}
	if err := e.Drain(c.Context()); err != nil {
		c.Fatal(err)
	}
}

func (c crowd) sums(want ...outbox.Sums) {
	c.Helper()
	for i, send := range c.sends {
		p := progress(c.T, c.db, c.tenant, send)
		if diff := cmp.Diff(want[i], p.Sums); diff != "" {
			c.Errorf("the sums of send %d differ:\n%s", i, diff)
		}
		for _, s := range []struct {
			states string
			n      int
		}{{"'queued'", p.Waiting}, {"'skipped'", p.Skipped}, {"'bounced'", p.Bounced}} {
			var n int
			err := c.db.QueryRow(c.Context(), `
				SELECT COUNT(*) FROM outbox WHERE tenant_id = $1 AND send_id = $2 AND state IN (`+s.states+`)`, c.tenant, send).Scan(&n)
			if err != nil || n != s.n {
				c.Errorf("send %d has %d messages in %s, %v; its sums say %d", i, n, s.states, err, s.n)
			}
		}
	}
}

func TestWaitingMessagesOfDeletedContactsAreSkipped(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		c, bystander := newCrowd(t, db, 6), newCrowd(t, db, 6)
		node := c.begin()
		// The sixth is deleted and restored before the follower runs.
		gone := []id.Contact{c.contacts[0], c.contacts[1], c.contacts[2], c.contacts[3], c.contacts[5]}
		if _, err := contact.Delete(t.Context(), db, c.tenant, gone, noon.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, err := contact.Restore(t.Context(), db, c.tenant, gone[4:], nil, noon.Add(2*time.Minute)); err != nil {
			t.Fatal(err)
		}
		c.follow()
		// Of the first send one has bounced, one was deferred and is skipped, one is in flight and
		// left to the node, one waited and is skipped.
		c.sums(
			outbox.Sums{Total: 6, Waiting: 3, Sent: 1, Bounced: 1, Skipped: 2},
			outbox.Sums{Total: 6, Waiting: 2, Skipped: 4})
		list, err := outbox.First(t.Context(), db, c.tenant, c.sends[1], 1)
		if err != nil || list[0].SkipReason != contact.SkipNotActive || list[0].EndedAt == nil {
			t.Errorf("a skipped message says %q at %v, %v", list[0].SkipReason, list[0].EndedAt, err)
		}
		if n := node.Claimed(); n != 1 {
			t.Fatalf("the node has claimed %d; want 1", n)
		}
		c.follow() // there are no more entries
		bystander.sums(outbox.Sums{Total: 6, Waiting: 6}, outbox.Sums{Total: 6, Waiting: 6})
	})
}

func TestTheOutboxExportsAndErasesPersonalData(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		c := newCrowd(t, db, 4)
		c.begin()
		_, err := db.Exec(t.Context(), `UPDATE outbox SET email = 'former@example.org' WHERE tenant_id = $1 AND send_id = $2 AND contact_id = $3`,
			c.tenant, c.sends[1], c.contacts[0])
		if err != nil {
			t.Fatal(err)
		}
		h := outbox.PersonalData()
		found, err := h.Addresses(t.Context(), db, c.tenant, c.contacts[:1])
		if diff := cmp.Diff(map[id.Contact][]string{c.contacts[0]: {"c0@example.org", "former@example.org"}}, found); err != nil || diff != "" {
			t.Errorf("Addresses: %v\n%s", err, diff)
		}
		who := contact.Person{ID: c.contacts[0], Addresses: []string{"c0@example.org"}}
		export := func() (text string, n int) {
			for one, err := range h.Export(t.Context(), db, c.tenant, who) {
				if err != nil {
					t.Fatal(err)
				}
				b, err := json.Marshal(one)
				if err != nil {
					t.Fatal(err)
				}
				text, n = text+string(b), n+1
			}
			return text, n
		}
		if text, n := export(); n != 2 || !strings.Contains(text, "550 c0@example.org is full") || !strings.Contains(text, "former@example.org") {
			t.Errorf("%d messages are exported: %s", n, text)
		}
		before := []outbox.Sums{progress(t, db, c.tenant, c.sends[0]).Sums, progress(t, db, c.tenant, c.sends[1]).Sums}
		if err := h.Erase(t.Context(), db, c.tenant, []contact.Person{who}); err != nil {
			t.Fatal(err)
		}
		c.sums(before...)
		if text, n := export(); n != 2 || strings.Contains(text, "example.org") || !strings.Contains(text, c.contacts[0].String()+"@anonymized.invalid") {
			t.Errorf("%d messages are left: %s", n, text)
		}
		who.ID = c.contacts[1]
		if text, n := export(); n != 2 || !strings.Contains(text, "c1@example.org") {
			t.Errorf("%d messages of others changed: %s", n, text)
		}
	})
}
