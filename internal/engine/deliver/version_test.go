package deliver_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// TestMessagesStoreTheVersionTheyPrint changes all contacts several times while they are being mailed, and
// compares each mail with the version of its contact that its message has.
func TestMessagesStoreTheVersionTheyPrint(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const people = 700 // claimed in three batches
		h := newHouse(t, db)
		s := sink.Start(t, sink.Options{Rules: []sink.Rule{{Stage: sink.Dot, Delay: 5 * time.Millisecond}}})
		h.relay(s.Port())
		h.send(people, func(ch *broadcast.Change) { ch.Content.Parts[draft.Subject] = new("Name {{ first_name }}.") })
		h.run(h.engine())
		for i := range 10 {
			h.awaitSink(s, people*i/10+1)
			drafts := make([]contact.Draft, people)
			for j, c := range h.people {
				name := fmt.Sprintf("v%d", i)
				drafts[j] = contact.Draft{ID: c.ID, Change: contact.Change{Texts: map[contact.Text]*string{contact.FirstName: &name}}}
			}
			_, err := contact.SaveAll(t.Context(), db, h.Tenant, drafts, contact.Rules{}, h.now())
			h.must(err)
			if i%3 == 0 { // of some mails, the activity has been counted
				h.must((&journal.Engine{DB: db, Followers: []journal.Follower{contact.Follower()}}).Drain(t.Context()))
			}
		}
		h.over()
		records := map[string]outbox.Record{}
		for _, r := range h.messages() {
			records[r.ID.String()] = r
		}
		names := map[string]bool{}
		for _, m := range s.Messages() {
			r := records[m.Ref]
			c, err := contact.ByID(t.Context(), db, h.Tenant, r.Contact)
			h.must(err)
			then, known, err := c.AtVersion(t.Context(), db, r.ContactVersion)
			h.must(err)
			name := ""
			if then.FirstName != nil {
				name = *then.FirstName
			}
			if got := header(t, m.Raw, "Subject"); got != strings.TrimSpace("Name "+name+".") || !known {
				t.Errorf("%q was sent, and version %d has the name %q, known %t", got, r.ContactVersion, name, known)
			}
			names[name] = true
		}
		if len(records) != people || len(names) < 2 {
			t.Errorf("%d messages print the names %v", len(records), names)
		}
	})
}
