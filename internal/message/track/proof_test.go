package track_test

import (
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Forms and events of a website prove the clicks of the hour before; events from the API prove nothing.
func TestWhatProvesAClick(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, tenant := t.Context(), idtest.Tenant()
		contact, message, send := id.New[id.Contact](), id.New[id.Message](), id.New[id.Send]()
		click := track.Hit{
			Tenant: tenant, Send: send, Message: message, Contact: contact, Click: true, URL: "https://example.org/", At: noon, Method: "GET", Agent: "x", IP: "192.0.2.1",
		}
		if err := db.InTx(ctx, func(tx *sqldb.DB) error { return track.Record(ctx, tx, []track.Hit{click}) }); err != nil {
			t.Fatal(err)
		}
		entries := []journal.Entry{
			{Tenant: tenant, Type: journal.CustomEvent, Name: "api", Contact: contact, At: noon.Add(time.Minute), Data: journal.Event{}},
			{Tenant: tenant, Type: journal.CustomEvent, Name: "late", Contact: contact, At: noon.Add(2 * time.Hour), Data: journal.Event{Source: "website"}},
			{Tenant: tenant, Type: journal.CustomEvent, Name: "other", Contact: id.New[id.Contact](), At: noon.Add(time.Minute), Data: journal.Event{Source: "website"}},
			{Tenant: tenant, Type: journal.CustomEvent, Name: "seen", Contact: contact, At: noon.Add(3 * time.Minute), Data: journal.Event{Source: "website"}},
			{Tenant: tenant, Type: journal.FormSubmitted, Name: "form", Contact: contact, At: noon.Add(5 * time.Minute)},
		}
		if err := db.InTx(ctx, func(tx *sqldb.DB) error { return journal.Append(ctx, tx, entries...) }); err != nil {
			t.Fatal(err)
		}
		if err := (&journal.Engine{DB: db, Followers: []journal.Follower{track.ProofFollower()}}).Drain(ctx); err != nil {
			t.Fatal(err)
		}
		got, err := track.PendingProofs(ctx, db, 10)
		if err != nil || len(got) != 2 || got[0].Kind != track.ProofEvent || !got[0].At.Equal(noon.Add(3*time.Minute)) || got[1].Kind != track.ProofForm || got[1].Message != message {
			t.Fatalf("proofs are %+v, %v", got, err)
		}
		if err := db.InTx(ctx, func(tx *sqldb.DB) error { return track.ProofsProcessed(ctx, tx, tenant, got) }); err != nil {
			t.Fatal(err)
		}
		if left, err := track.PendingProofs(ctx, db, 10); err != nil || len(left) != 0 {
			t.Errorf("still pending: %v, %v", left, err)
		}
	})
}
