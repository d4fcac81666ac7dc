package flow

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// TestManyCallersEnrollAtOnce makes requests at the same time, of which some fail, repeat a key or name
// the same contact. Each has the result that it would have alone.
func TestManyCallersEnrollAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		people := f.AddContacts(f.List.ID, "c", 12)
		s := f.start(waiting(), sequence.Change{})
		draft, err := sequence.Create(t.Context(), db, f.Tenant, sequence.Change{Name: new("Draft")}, f.now)
		f.must(err)
		e := sequence.NewEnroller(db, sender.ContactRules, func() time.Time { return f.now })
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = e.Run(ctx) }) // it returns nil
		defer running.Wait()
		defer stop()
		type request struct {
			sequence.Request
			seq  id.Sequence
			want error
		}
		var list []request
		for i, p := range people {
			list = append(list,
				request{sequence.Request{Contact: p.ID, Key: fmt.Sprint("key ", i)}, s.ID, nil},
				request{sequence.Request{Contact: p.ID, Key: fmt.Sprint("key ", i)}, s.ID, nil},
				request{sequence.Request{Email: p.Email}, s.ID, nil},
				request{sequence.Request{Email: fmt.Sprintf("new%d@example.org", i), ExternalID: fmt.Sprint("x", i)}, s.ID, nil})
		}
		stage := sequence.Request{Email: "stage@example.org"}
		stage.Change.Stage = new("019a0000-0000-7000-8000-000000000000")
		list = append(list,
			request{sequence.Request{Contact: people[0].ID}, id.New[id.Sequence](), sequence.ErrNotFound},
			request{sequence.Request{Contact: people[0].ID}, draft.ID, sequence.ErrNotEnrollable},
			request{sequence.Request{Contact: id.New[id.Contact]()}, s.ID, contact.ErrNotFound},
			request{sequence.Request{ExternalID: "nobody"}, s.ID, contact.ErrNotFound},
			request{stage, s.ID, contact.ErrInvalidStage},
			request{sequence.Request{}, s.ID, contact.ErrMissingIdentifier})
		receipts, errs := make([]sequence.Receipt, len(list)), make([]error, len(list))
		var all sync.WaitGroup
		for i, r := range list {
			all.Go(func() { receipts[i], errs[i] = e.Enroll(t.Context(), f.Tenant, r.seq, r.Request) })
		}
		all.Wait()
		enrolled, byContact := 0, map[id.Contact]id.Enrollment{}
		for i, r := range list {
			if !errors.Is(errs[i], r.want) || (errs[i] == nil) != (r.want == nil) {
				t.Errorf("request %d: error %v, want %v", i, errs[i], r.want)
			}
			if errs[i] != nil {
				continue
			}
			got := receipts[i]
			if got.Status == "enrolled" && !got.Replayed {
				enrolled++
			}
			if had, ok := byContact[got.Contact]; got.Enrollment.IsZero() || ok && had != got.Enrollment {
				t.Errorf("request %d: enrollment %s of a contact with %s", i, got.Enrollment, had)
			}
			byContact[got.Contact] = got.Enrollment
		}
		if want := 2 * len(people); enrolled != want || len(byContact) != want {
			t.Errorf("%d of %d contacts were enrolled, want %d", enrolled, len(byContact), want)
		}
		for i := range people {
			if receipts[4*i].Enrollment != receipts[4*i+1].Enrollment || receipts[4*i].Replayed == receipts[4*i+1].Replayed {
				t.Errorf("requests with the same key returned %+v and %+v", receipts[4*i], receipts[4*i+1])
			}
		}
		if diff := cmp.Diff(map[string]int{"active": 2 * len(people)}, f.statuses(s)); diff != "" {
			t.Error(diff)
		}
		if _, err := contact.ByEmail(t.Context(), db, f.Tenant, "stage@example.org"); !errors.Is(err, contact.ErrNotFound) {
			t.Errorf("a request that failed created a contact: %v", err)
		}
	})
}

// TestConsentCountsWhenAMailIsQueued takes back consent between enrollment and mail: the node skips the
// contact, which goes on. Bounces, complaints and the suppression list end the enrollment.
func TestConsentCountsWhenAMailIsQueued(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		people := f.AddContacts(f.List.ID, "c", 6)
		s := f.start(graph("rest", []sequence.Node{
			node("rest", sequence.WaitNode, object{"mode": "duration", "amount": 1, "unit": "hour"}),
			node("hello", sequence.SendNode, object{"message_id": f.entry.ID, "email_type_key": f.Type.Key}),
			node("again", sequence.WaitNode, object{"mode": "duration", "amount": 1, "unit": "hour"}),
		}, [3]string{"rest", "", "hello"}, [3]string{"hello", "", "again"}), sequence.Change{})
		f.enroll(s, nil, ids(people)...)
		f.drain()
		// Type: skipped. The others leave, some before the journal's follower has seen why.
		f.change(people[1].ID, contact.Change{Subscriptions: map[string]*bool{f.Type.Key: new(false)}})
		_, err := suppression.Add(t.Context(), db, f.Tenant, people[2].Email, "", f.now)
		f.must(err)
		_, err = contact.UnsubscribeAll(t.Context(), db, f.Tenant, []id.Contact{people[3].ID}, f.now)
		f.must(err)
		f.change(people[4].ID, contact.Change{DoNotContact: new(true)})
		f.now = f.now.Add(time.Hour)
		f.tick() // without the followers
		if diff := cmp.Diff(map[string]int{"hello": 2}, f.mails(s)); diff != "" {
			t.Errorf("mails: %s", diff)
		}
		f.drain()
		for i, want := range []string{"again", "again", "contact_suppressed", "unsubscribed", "do_not_contact", "again"} {
			list, err := sequence.OfContact(t.Context(), db, f.Tenant, people[i].ID)
			f.must(err)
			if got := list[0].Node + string(list[0].Reason); got != want {
				t.Errorf("contact %d is %q, want %q", i, got, want)
			}
		}
		for _, c := range []int{0, 5} {
			_, err := db.Exec(t.Context(), `UPDATE contact SET global_status = $3 WHERE tenant_id = $1 AND id = $2`, f.Tenant, people[c].ID, map[int]string{0: "bounced", 5: "complained"}[c])
			f.must(err)
		}
		f.change(people[0].ID, contact.Change{DoNotContact: new(true)}) // an entry of the journal about each
		f.change(people[5].ID, contact.Change{DoNotContact: new(true)})
		f.drain()
		for _, c := range []int{0, 5} {
			list, err := sequence.OfContact(t.Context(), db, f.Tenant, people[c].ID)
			f.must(err)
			if list[0].Reason != sequence.ReasonSuppressed {
				t.Errorf("contact %d left because of %q, want %q", c, list[0].Reason, sequence.ReasonSuppressed)
			}
		}
	})
}

// TestLoopsEndAfterAHundredVisits leads a contact through a loop until it fails.
func TestLoopsEndAfterAHundredVisits(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f := newFixture(t, db)
		people := f.AddContacts(f.List.ID, "c", 1)
		s := f.start(graph("rest", []sequence.Node{
			node("rest", sequence.WaitNode, object{"mode": "until_date", "at": f.now.Add(-time.Hour).Format(time.RFC3339)}),
			node("hello", sequence.SendNode, object{"message_id": f.entry.ID, "email_type_key": f.Type.Key}),
		}, [3]string{"rest", "", "hello"}, [3]string{"hello", "", "rest"}), sequence.Change{})
		f.enroll(s, nil, people[0].ID)
		f.tick()
		list, err := sequence.OfContact(t.Context(), db, f.Tenant, people[0].ID)
		f.must(err)
		if list[0].Status != sequence.Failed || list[0].Reason != sequence.ReasonError || list[0].Outcome() != "failed" {
			t.Errorf("the enrollment is %s, %s", list[0].Status, list[0].Reason)
		}
		if diff := cmp.Diff(map[string]int{"hello": 100}, f.mails(s)); diff != "" {
			t.Errorf("mails: %s", diff)
		}
	})
}
