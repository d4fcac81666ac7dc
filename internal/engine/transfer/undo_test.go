package transfer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/engine/transfer"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/sender"
)

// startUndo queues the undo of an import.
func (d *fixture) startUndo(imported job.Job) (job.Job, error) {
	d.Helper()
	return transfer.StartUndo(d.Context(), d.db, imported, auth.Principal{Tenant: d.tenant}, d.now)
}

// undo undoes an import, and returns its result as text.
func (d *fixture) undo(imported job.Job) string {
	d.Helper()
	j, err := d.startUndo(imported)
	d.ok(err)
	return d.undone(j)
}

// undone runs an undo to its end, and returns its result as text.
func (d *fixture) undone(j job.Job) string {
	d.Helper()
	for !j.Status.Ended() {
		d.run()
		d.now = d.now.Add(time.Hour)
		var err error
		j, err = job.ByID(d.Context(), d.db, d.tenant, j.ID)
		d.ok(err)
	}
	if j.Status != job.Completed {
		d.Fatalf("the undo is %s: %v", j.Status, j.Error)
	}
	if j.Total == nil || j.Processed != *j.Total {
		d.Errorf("the undo has processed %d of %d", j.Processed, *j.Total)
	}
	return undoText(d, j)
}

func undoText(d *fixture, j job.Job) string {
	d.Helper()
	var r transfer.UndoResult
	d.ok(json.Unmarshal(j.Result, &r))
	text := []string{fmt.Sprintf("deleted %d, restored %d", r.Deleted, r.Restored)}
	for _, why := range slices.Sorted(maps.Keys(r.Kept)) {
		text = append(text, fmt.Sprintf("%s %d", why, r.Kept[why]))
	}
	return strings.Join(text, ", ")
}

// edit changes a contact by its address.
func (d *fixture) edit(email string, ch contact.Change) {
	d.Helper()
	rules, err := sender.ContactRules(d.Context(), d.db, d.tenant)
	d.ok(err)
	_, err = contact.Update(d.Context(), d.db, d.tenant, d.contact(email).ID, ch, rules, d.now)
	d.ok(err)
}

// profile returns what an undo gives back of a contact, as text.
func (d *fixture) profile(email string) string {
	d.Helper()
	c := d.contact(email)
	text := []string{string(c.Status), c.Stage.String()}
	for _, t := range contact.Texts() {
		if v, _ := c.Value(string(t)); v != nil {
			b, err := json.Marshal(v)
			d.ok(err)
			text = append(text, fmt.Sprintf("%s=%s", t, b))
		}
	}
	for _, v := range []any{c.CustomFields, c.Tags, c.Subscriptions, c.CategorySubscriptions, c.DoNotContact, []float64{c.ProspectScore, c.CustomerScore}} {
		b, err := json.Marshal(v)
		d.ok(err)
		text = append(text, string(b))
	}
	lists, err := segment.Memberships(d.Context(), d.db, d.tenant, c.ID)
	d.ok(err)
	for _, m := range lists {
		text = append(text, m.Segment.Key)
	}
	return strings.Join(text, " ")
}

func TestAnUndoDeletesWhatTheImportCreated(t *testing.T) {
	each(t, func(d *fixture) {
		s := d.list("Readers")
		j := d.load("email,city\nann@example.org,Bonn\nbob@example.org,Rome\n", transfer.Options{SegmentKey: s.Key, Tags: []string{"new"}})
		d.edit("bob@example.org", contact.Change{Texts: map[contact.Text]*string{contact.City: new("Oslo")}})
		if got := d.undo(j); got != "deleted 1, restored 0, changed 1" {
			d.Errorf("the undo: %s", got)
		}
		if c := d.contact("ann@example.org"); c.Status != contact.Suppressed {
			d.Errorf("Ann is %s", c.Status)
		}
		if c := d.contact("bob@example.org"); c.Status != contact.Active || *c.City != "Oslo" {
			d.Errorf("Bob is %s", d.profile("bob@example.org"))
		}
		s, err := segment.Find(d.Context(), d.db, d.tenant, s.Key)
		d.ok(err)
		if *s.MembersAll != 1 {
			d.Errorf("the list has %d members", *s.MembersAll)
		}
		// Who comes again is new, and has nothing of the first import.
		again := d.load("email,first_name\nann@example.org,Ann\n", transfer.Options{})
		if got := d.resultText(again); got != "completed 1: 1+0+0+0" {
			d.Errorf("the second import: %s", got)
		}
		if c := d.contact("ann@example.org"); c.Status != contact.Active || c.City != nil || len(c.Tags) > 0 || c.FirstName == nil {
			d.Errorf("Ann is %s", d.profile("ann@example.org"))
		}
	})
}

func TestAnUndoGivesFormerValuesBack(t *testing.T) {
	each(t, func(d *fixture) {
		s := d.list("Readers")
		d.save("ann@example.org", contact.Change{
			Texts: map[contact.Text]*string{contact.City: new("Bonn"), contact.FullName: new("Ann Lee"), contact.ExternalID: new("a1")},
			Tags:  &[]string{"old"}, CustomFields: map[string]any{"plan": "free", "seats": 3.0, "likes": []any{"a"}}, DoNotContact: new(true),
		})
		before := d.profile("ann@example.org")
		header := "email,city,full_name,external_id,plan,seats,likes,vip,born,do_not_contact,subscriptions.offers,stage_id\n"
		j := d.load(header+"ann@example.org,Rome,A. L.,a2,pro,5,\"b,c\",yes,2000-01-02,no,yes,customer\n", transfer.Options{SegmentKey: s.Key, Tags: []string{"new"}})
		if after := d.profile("ann@example.org"); after == before || !strings.Contains(after, "Rome") {
			d.Fatalf("imported: %s", after)
		}
		if got := d.undo(j); got != "deleted 0, restored 1" {
			d.Errorf("the undo: %s", got)
		}
		if after := d.profile("ann@example.org"); after != before {
			d.Errorf("Ann is\n%s, was\n%s", after, before)
		}
	})
}

func TestWhatAnUndoKeeps(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before contact.Change
		row    string // after the address: city, status, do_not_contact, offers, plan
		since  func(d *fixture)
		result string
		want   func(c contact.Contact) bool
	}{
		{name: "a field with another value since", row: "Rome,,,,", since: func(d *fixture) {
			d.edit("ann@example.org", contact.Change{Texts: map[contact.Text]*string{contact.City: new("Oslo")}})
		}, result: "deleted 0, restored 0, changed 1", want: func(c contact.Contact) bool { return *c.City == "Oslo" }},
		{name: "one field of two", row: "Rome,,,,pro", since: func(d *fixture) {
			d.edit("ann@example.org", contact.Change{Texts: map[contact.Text]*string{contact.City: new("Oslo")}})
		}, result: "deleted 0, restored 1, changed 1", want: func(c contact.Contact) bool { return *c.City == "Oslo" && c.CustomFields["plan"] == nil }},
		{name: "a refusal", row: "Rome,unsubscribed,yes,no,", result: "deleted 0, restored 1, refusal 1", want: func(c contact.Contact) bool {
			on, given := c.Subscriptions["offers"]
			return c.City == nil && c.Status == contact.Unsubscribed && c.DoNotContact && given && !on
		}},
		{name: "a deletion by somebody else", row: "Rome,,,,", since: func(d *fixture) {
			_, err := contact.Delete(d.Context(), d.db, d.tenant, []id.Contact{d.contact("ann@example.org").ID}, d.now)
			d.ok(err)
		}, result: "deleted 0, restored 1", want: func(c contact.Contact) bool { return c.City == nil && c.Status == contact.Suppressed }},
		{name: "a pending contact that nothing has confirmed", before: contact.Change{Unverified: true}, row: "Rome,,,,", result: "deleted 0, restored 1",
			want: func(c contact.Contact) bool { return c.City == nil && c.Status == contact.Pending && c.Stage.IsZero() }},
		{name: "a pending contact with an event since", before: contact.Change{Unverified: true}, row: "Rome,,,,", since: func(d *fixture) {
			d.happens(journal.CustomEvent, "ann@example.org")
		}, result: "deleted 0, restored 1, event 1", want: func(c contact.Contact) bool { return c.City == nil && c.Status == contact.Active }},
		{name: "an anonymised contact", row: "Rome,,,,", since: func(d *fixture) { d.anonymize("ann@example.org") }, result: "deleted 0, restored 0, anonymized 1"},
		{name: "a subscription that was turned off since", row: "Rome,,,yes,", since: func(d *fixture) {
			d.edit("ann@example.org", contact.Change{Subscriptions: map[string]*bool{"offers": new(false)}})
		}, result: "deleted 0, restored 1, changed 1", want: func(c contact.Contact) bool { on, given := c.Subscriptions["offers"]; return given && !on }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			each(t, func(d *fixture) {
				first := d.save("ann@example.org", tt.before)
				j := d.load("email,city,status,do_not_contact,subscriptions.offers,plan\nann@example.org,"+tt.row+"\n", transfer.Options{})
				if got := d.resultText(j); got != "completed 1: 0+1+0+0" {
					d.Fatalf("the import: %s", got)
				}
				if tt.since != nil {
					tt.since(d)
				}
				if got := d.undo(j); got != tt.result {
					d.Errorf("the undo: %s, want %s", got, tt.result)
				}
				c, err := contact.ByID(d.Context(), d.db, d.tenant, first.ID)
				d.ok(err)
				if tt.want != nil && !tt.want(c) {
					d.Errorf("Ann is %s", d.profile("ann@example.org"))
				}
			})
		})
	}
}

func TestCreatedContactsThatAnUndoKeeps(t *testing.T) {
	each(t, func(d *fixture) {
		s := d.list("Others")
		since := []struct {
			name   string
			happen func(email string)
			why    string
		}{
			{"nothing", func(string) {}, ""},
			{"segment", func(email string) { d.happens(journal.SegmentEntered, email) }, ""},
			{"event", func(email string) { d.happens(journal.CustomEvent, email) }, "event"},
			{"page", func(email string) { d.happens(journal.PageViewed, email) }, "event"},
			{"form", func(email string) { d.happens(journal.FormSubmitted, email) }, "submitted"},
			{"sequence", func(email string) { d.happens(journal.SequenceEnrolled, email) }, "enrolled"},
			{"opened", func(email string) { d.happens(journal.EmailOpened, email) }, "mailed"},
			{"sent", func(email string) { d.mail(email, "sent") }, "mailed"},
			{"waiting", func(email string) { d.mail(email, "queued") }, "mailed"},
			{"skipped", func(email string) { d.mail(email, "skipped") }, ""},
			{"tag", func(email string) { d.edit(email, contact.Change{Tags: &[]string{"vip"}}) }, "changed"},
			{"consent", func(email string) {
				d.edit(email, contact.Change{Subscriptions: map[string]*bool{"offers": new(false)}})
			}, "changed"},
			{"list", func(email string) {
				_, err := segment.Add(d.Context(), d.db, d.tenant, s.ID, segment.People{Emails: []string{email}}, d.now)
				d.ok(err)
			}, "changed"},
			{"deleted", func(email string) {
				_, err := contact.Delete(d.Context(), d.db, d.tenant, []id.Contact{d.contact(email).ID}, d.now)
				d.ok(err)
			}, "deleted"},
			{"anonymised", d.anonymize, "anonymized"},
		}
		lines, want := []string{"email"}, map[string]int{}
		for _, tt := range since {
			lines = append(lines, tt.name+"@example.org")
			want[tt.why]++
		}
		j := d.load(strings.Join(lines, "\n"), transfer.Options{})
		ids := map[string]id.Contact{}
		for _, tt := range since {
			ids[tt.name] = d.contact(tt.name + "@example.org").ID
		}
		d.now = d.now.Add(time.Hour)
		for _, tt := range since {
			tt.happen(tt.name + "@example.org")
		}
		results := []string{fmt.Sprintf("deleted %d, restored 0", want[""])}
		for _, why := range slices.Sorted(maps.Keys(want)) {
			if why != "" {
				results = append(results, fmt.Sprintf("%s %d", why, want[why]))
			}
		}
		if got, result := d.undo(j), strings.Join(results, ", "); got != result {
			d.Errorf("the undo: %s, want %s", got, result)
		}
		for _, tt := range since {
			c, err := contact.ByID(d.Context(), d.db, d.tenant, ids[tt.name])
			d.ok(err)
			if deleted := c.Withdrawn; deleted != (tt.why == "") {
				d.Errorf("%s: withdrawn %v, want it to be kept as %q", tt.name, deleted, tt.why)
			}
		}
	})
}

// happens appends an entry about a contact to the journal, as the packages above this one do.
func (d *fixture) happens(what journal.Type, email string) {
	d.Helper()
	e := journal.Entry{Tenant: d.tenant, Type: what, Contact: d.contact(email).ID, At: d.now}
	if what == journal.EmailOpened {
		e.Send, e.Message = id.New[id.Send](), id.New[id.Message]()
	}
	d.ok(journal.Append(d.Context(), d.db, e))
}

// mail adds a message to a contact.
func (d *fixture) mail(email, state string) {
	d.Helper()
	sent := any(nil)
	if state == "sent" {
		sent = d.now.UnixMicro()
	}
	_, err := d.db.Exec(d.Context(), `
		INSERT INTO outbox (tenant_id, id, send_id, contact_id, lane_id, email, state, mix, due_at, sent_at) VALUES ($1, $2, $3, $4, $5, $6, $7, 1, $8, $9)`,
		d.tenant, id.New[id.Message](), id.New[id.Send](), d.contact(email).ID, id.New[id.Lane](), email, state, d.now.UnixMicro(), sent)
	d.ok(err)
}

func TestUndosThatAreRefused(t *testing.T) {
	each(t, func(d *fixture) {
		d.save("old@example.org", contact.Change{})
		dry := d.load("email\nann@example.org\n", transfer.Options{DryRun: true})
		nothing := d.load("email\nold@example.org\n", transfer.Options{})
		waits, err := d.start("email\nbob@example.org\n", transfer.Options{})
		d.ok(err)
		if _, err := d.startUndo(waits); !errors.Is(err, job.ErrTransition) {
			d.Errorf("the undo of an import that waits: %v", err)
		}
		d.run()
		for name, j := range map[string]job.Job{"dry run": dry, "import of what is there": nothing, "undo": {Kind: job.ImportUndo, Tenant: d.tenant}} {
			if _, err := d.startUndo(j); !errors.Is(err, transfer.ErrNotUndoable) {
				d.Errorf("the undo of a %s: %v", name, err)
			}
		}
		done := d.load("email\ncarl@example.org\n", transfer.Options{})
		first, err := d.startUndo(done)
		d.ok(err)
		for range 2 { // while it waits, and after it
			if _, err := d.startUndo(done); !errors.Is(err, transfer.ErrUndone) {
				d.Errorf("a second undo: %v", err)
			}
			d.run()
		}
		if got, err := job.ByID(d.Context(), d.db, d.tenant, first.ID); err != nil || got.Status != job.Completed {
			d.Errorf("the undo is %s, %v", got.Status, err)
		}
		late := d.load("email\ndora@example.org\n", transfer.Options{})
		d.now = late.FinishedAt.Add(transfer.UndoFor)
		if _, err := d.startUndo(late); !errors.Is(err, transfer.ErrUndoExpired) {
			d.Errorf("a late undo: %v", err)
		}
		d.now = late.FinishedAt.Add(-time.Second + transfer.UndoFor)
		if got := d.undo(late); got != "deleted 1, restored 0" {
			d.Errorf("an undo in time: %s", got)
		}
	})
}

// dyingAfter returns a runner that is interrupted when it asks for the time once more than n times.
func dyingAfter(n int, run job.Runner) job.Runner {
	return func(ctx context.Context, w *job.Work) error {
		ctx, die := context.WithCancel(ctx)
		defer die()
		now := w.Now
		w.Now = func() time.Time {
			if n--; n < 0 {
				die()
			}
			return now()
		}
		return run(ctx, w)
	}
}

// fileOf returns a file with addresses, enough for three steps.
func fileOf(n int) string {
	lines := []string{"email"}
	for i := range n {
		lines = append(lines, fmt.Sprintf("p%d@example.org", i))
	}
	return strings.Join(lines, "\n")
}

func TestAnUndoGoesOnAfterItWasCancelled(t *testing.T) {
	each(t, func(d *fixture) {
		j := d.load(fileOf(2500), transfer.Options{})
		first, err := d.startUndo(j)
		d.ok(err)
		d.e.Runners[job.ImportUndo] = dyingAfter(3, transfer.UndoImport)
		_, err = d.e.Tick(d.Context())
		d.ok(err)
		first, err = job.Cancel(d.Context(), d.db, d.tenant, first.ID, d.now)
		d.ok(err)
		var done transfer.UndoResult
		d.ok(json.Unmarshal(first.Result, &done))
		if done.Deleted == 0 || done.Deleted == 2500 {
			d.Fatalf("the first undo has deleted %d contacts", done.Deleted)
		}
		d.e.Runners[job.ImportUndo] = transfer.UndoImport
		if got, want := d.undo(j), fmt.Sprintf("deleted %d, restored 0", 2500-done.Deleted); got != want {
			d.Errorf("the second undo: %s, want %s", got, want)
		}
	})
}

// An import that was cancelled half way can be undone for what it did, and no other tenant's.
func TestAnImportThatWasCancelledCanBeUndone(t *testing.T) {
	each(t, func(d *fixture) {
		acme := d.tenant
		d.newTenant("other")
		d.save("p1@example.org", contact.Change{})
		other := d.tenant
		d.tenant = acme
		j, err := d.start(fileOf(2500), transfer.Options{})
		d.ok(err)
		d.e.Runners[job.Import] = dyingAfter(6, transfer.Import)
		more, err := d.e.Tick(d.Context())
		d.ok(err)
		d.e.Runners[job.Import] = transfer.Import
		j, err = job.Cancel(d.Context(), d.db, d.tenant, j.ID, d.now)
		d.ok(err)
		created := d.result(j).Created
		if !more || created == 0 || created == 2500 {
			d.Fatalf("the import has created %d contacts", created)
		}
		if got, want := d.undo(j), fmt.Sprintf("deleted %d, restored 0", created); got != want {
			d.Errorf("the undo: %s, want %s", got, want)
		}
		n, err := contact.CountByStatus(d.Context(), d.db, d.tenant)
		d.ok(err)
		if n.Of(contact.Active) != 0 {
			d.Errorf("%d contacts are active", n.Of(contact.Active))
		}
		if d.tenant = other; d.contact("p1@example.org").Status != contact.Active {
			d.Error("the undo deleted a contact of another tenant")
		}
	})
}

func TestFormerValuesAreErasedWithTheirContact(t *testing.T) {
	each(t, func(d *fixture) {
		for _, name := range []string{"ann", "bob"} {
			d.save(name+"@example.org", contact.Change{Texts: map[contact.Text]*string{contact.City: new("City of " + name)}})
		}
		j := d.load("email,city\nann@example.org,Rome\nbob@example.org,Rome\n", transfer.Options{})
		stores := transfer.PersonalData(func() time.Time { return d.now })
		held := func(email string, c id.Contact) (n int) {
			for r, err := range stores.Export(d.Context(), d.db, d.tenant, contact.Person{ID: c, Addresses: []string{email}}) {
				d.ok(err)
				if b, _ := json.Marshal(r); strings.Contains(string(b), "City of ") {
					n++
				}
			}
			return n
		}
		ann, bob := d.contact("ann@example.org").ID, d.contact("bob@example.org").ID
		if held("ann@example.org", ann) != 1 || held("bob@example.org", bob) != 1 {
			d.Error("the former values are not exported")
		}
		d.anonymize("ann@example.org")
		if held("ann@example.org", ann) != 0 || held("bob@example.org", bob) != 1 {
			d.Error("the former values of Ann are there, or those of Bob are gone")
		}
		if got := d.undo(j); got != "deleted 0, restored 1, anonymized 1" {
			d.Errorf("the undo: %s", got)
		}
	})
}

func TestWhatImportsChangedIsKeptForADayMoreThanAWeek(t *testing.T) {
	each(t, func(d *fixture) {
		j := d.load("email\nann@example.org\n", transfer.Options{})
		for _, tt := range []struct {
			at   time.Duration
			want int
		}{{-time.Second, 0}, {time.Second, 1}, {time.Second, 0}} {
			before := j.FinishedAt.Add(tt.at)
			if n, err := transfer.PruneChanges(d.Context(), d.db, d.tenant, before, 10); n != tt.want || err != nil {
				d.Errorf("PruneChanges(%s after the end) = %d, %v; want %d", tt.at, n, err, tt.want)
			}
		}
		if _, err := d.startUndo(j); !errors.Is(err, transfer.ErrNotUndoable) {
			d.Errorf("the undo of an import of which nothing is kept: %v", err)
		}
	})
}
