package recount_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/account/workingcopy"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/content/asset"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
	"github.com/packetboat/packetboat/internal/view/recount"
)

// site is a tenant with forms, a sequence and visitors.
type site struct {
	*testing.T
	db     *sqldb.DB
	tenant id.Tenant
}

func newSite(t *testing.T, db *sqldb.DB, slug string) *site {
	t.Helper()
	made, err := tenant.Create(t.Context(), db, slug, slug, "UTC", noon)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t, db, made.ID}
	for n := range 3 { // with as many submissions, and one that is spam
		form := id.New[id.Form]()
		s.exec(`INSERT INTO form (tenant_id, id, slug, status, document, submission_count, created_at, updated_at) VALUES ($1, $2, $3, 'published', '{}', $4, 1, 1)`,
			s.tenant, form, fmt.Sprint(slug, n), n)
		for i := range n + 1 {
			s.exec(`
				INSERT INTO form_submission (tenant_id, id, form_id, outcome, submitted_at, ip, agent, page_url, answers, consents)
				VALUES ($1, $2, $3, $4, 1, '', '', '', '{}', '[]')`, s.tenant, id.New[id.FormSubmission](), form, []string{"spam", "accepted", "confirmed"}[i])
		}
	}
	s.enroll()
	for range 4 {
		v := id.New[id.Visitor]()
		s.exec(`INSERT INTO visitor (tenant_id, id, first_seen_at, seen_at, session_at) VALUES ($1, $2, 1, 1, 1)`, s.tenant, v)
		s.exec(`INSERT INTO visitor_kept (tenant_id, visitor_id, id, at, data) VALUES ($1, $2, $3, 1, $4)`, s.tenant, v, id.New[id.VisitorRequest](), []byte("x"))
	}
	s.exec(`INSERT INTO visitor_total (tenant_id, visitors, kept, kept_bytes, pending) VALUES ($1, 4, 4, 4, 2)`, s.tenant)
	s.store()
	s.fillLists()
	return s
}

// store stores files, a working copy and an image.
func (s *site) store() {
	s.Helper()
	for n := range 2 {
		f, err := job.NewFile(s.Context(), s.db, s.tenant, id.Job{}, "file.csv", "text/csv", noon)
		if err == nil {
			err = f.Append(s.Context(), s.db, make([]byte, 100+n))
		}
		if err != nil {
			s.Fatal(err)
		}
	}
	key := workingcopy.Key{Kind: "broadcast", Record: "new"}
	if err := workingcopy.Store(s.Context(), s.db, s.tenant, id.New[id.User](), key, workingcopy.Input{Title: "x", Data: []byte(`{"name": "x"}`)}, noon); err != nil {
		s.Fatal(err)
	}
	if _, err := asset.Add(s.Context(), s.db, s.tenant, "x.png", []byte("image"), asset.Image{Type: "image/png", Width: 1, Height: 1}, noon); err != nil {
		s.Fatal(err)
	}
}

// fillLists creates contacts, some of them deleted, and two lists, one of them with members.
func (s *site) fillLists() {
	s.Helper()
	var ids []id.Contact
	for n := range 5 {
		c, err := contact.Create(s.Context(), s.db, s.tenant, fmt.Sprintf("member%d@example.org", n), contact.Change{}, contact.Rules{}, noon)
		if err != nil {
			s.Fatal(err)
		}
		ids = append(ids, c.ID)
	}
	for _, members := range [][]id.Contact{nil, ids[:3]} {
		name := "Members"
		l, err := segment.CreateList(s.Context(), s.db, s.tenant, segment.Change{Name: &name}, noon)
		if err == nil && len(members) > 0 {
			_, err = segment.Add(s.Context(), s.db, s.tenant, l.ID, segment.People{IDs: members}, noon)
		}
		if err != nil {
			s.Fatal(err)
		}
	}
	if _, err := contact.Delete(s.Context(), s.db, s.tenant, ids[2:4], noon); err != nil {
		s.Fatal(err)
	}
}

// enroll enrolls contacts in a sequence, of whom some leave it in each way.
func (s *site) enroll() {
	s.Helper()
	name := "Welcome"
	seq, err := sequence.Create(s.Context(), s.db, s.tenant, sequence.Change{Name: &name}, noon)
	if err != nil {
		s.Fatal(err)
	}
	seq.Status, seq.Graph.Entry = sequence.Active, "first"
	var candidates []sequence.Candidate
	for range 6 {
		candidates = append(candidates, sequence.Candidate{Contact: id.New[id.Contact]()})
	}
	err = s.db.InTx(s.Context(), func(tx *sqldb.DB) error {
		_, err := sequence.EnrollAll(s.Context(), tx, seq, candidates, noon)
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
	if _, err := sequence.ExitContacts(s.Context(), s.db, s.tenant, seq.ID, []id.Contact{candidates[0].Contact}, sequence.ReasonManual, noon); err != nil {
		s.Fatal(err)
	}
	for i, end := range []struct {
		status sequence.EnrollmentStatus
		reason sequence.Reason
	}{{sequence.Completed, ""}, {sequence.Exited, sequence.ReasonGoal}, {sequence.Failed, sequence.ReasonError}} {
		list, err := sequence.OfContact(s.Context(), s.db, s.tenant, candidates[i+1].Contact)
		if err != nil || len(list) != 1 {
			s.Fatalf("%d enrollments, %v", len(list), err)
		}
		list[0].Finish(end.status, end.reason, noon.Add(time.Hour))
		err = s.db.InTx(s.Context(), func(tx *sqldb.DB) error {
			return sequence.SaveSteps(s.Context(), tx, s.tenant, sequence.Steps{Enrollments: list}, noon.Add(time.Hour))
		})
		if err != nil {
			s.Fatal(err)
		}
	}
}

func (s *site) exec(text string, args ...any) {
	s.Helper()
	if _, err := s.db.Exec(s.Context(), text, args...); err != nil {
		s.Fatal(err)
	}
}

// differences recounts the tenant.
func (s *site) differences(repair bool) []string {
	s.Helper()
	var found []string
	r := recount.Recount{DB: s.db, Repair: repair, Now: func() time.Time { return noon }, Page: 2, Found: func(d recount.Difference) {
		found = append(found, fmt.Sprintf("%s %s: stored %d, counted %d", d.Kind, d.Field, d.Stored, d.Counted))
	}}
	if _, err := r.Run(s.Context(), []id.Tenant{s.tenant}); err != nil {
		s.Fatal(err)
	}
	return found
}

// The numbers of submissions, enrollments and visitors are compared with the rows that they count, and
// corrected.
func TestNumbersOfRecordsAreCountedAgain(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme, other := newSite(t, db, "acme"), newSite(t, db, "other")
		if found := acme.differences(false); len(found) > 0 {
			t.Fatalf("a recount finds %v", found)
		}
		other.exec(`UPDATE form SET submission_count = 9 WHERE tenant_id = $1`, other.tenant)
		for _, change := range []struct {
			text string
			want int // differences
		}{
			{`UPDATE form SET submission_count = submission_count + 1 WHERE tenant_id = $1`, 3},
			{`UPDATE sequence_count SET entered = 0, completed = 7, exited = 0, converted = 0, failed = 2 WHERE tenant_id = $1 AND node_id = ''`, 5},
			{`DELETE FROM sequence_count WHERE tenant_id = $1 AND node_id = ''`, 5},
			{`UPDATE sequence_time_sum SET entered = entered - 1, failed = failed + 2 WHERE tenant_id = $1`, 4},
			{`DELETE FROM sequence_time_sum WHERE tenant_id = $1`, 6},
			{`UPDATE visitor_total SET visitors = 5, kept = 0, kept_bytes = 9 WHERE tenant_id = $1`, 3},
			{`DELETE FROM visitor_total WHERE tenant_id = $1`, 3},
			{`UPDATE asset_total SET files = 0, bytes = 9 WHERE tenant_id = $1`, 2},
			{`DELETE FROM asset_total WHERE tenant_id = $1`, 2},
			{`UPDATE quota SET bytes = bytes - 7 WHERE tenant_id = $1`, 2},
			{`DELETE FROM quota WHERE tenant_id = $1 AND kind = 'job_files'`, 1},
			{`UPDATE contact_count SET active = 0, suppressed = 3, bounced = 1 WHERE tenant_id = $1`, 3},
			{`DELETE FROM contact_count WHERE tenant_id = $1`, 2},
			{`UPDATE segment SET member_count_total = 7 WHERE tenant_id = $1 AND type = 'static'`, 2},
		} {
			acme.exec(change.text, acme.tenant)
			if found := acme.differences(false); len(found) != change.want {
				t.Errorf("%s: a recount finds %v", change.text, found)
			}
			acme.differences(true)
			if left := acme.differences(false); len(left) > 0 {
				t.Errorf("%s: %v are left", change.text, left)
			}
		}
		if found := other.differences(false); len(found) != 3 {
			t.Errorf("the recounts changed another tenant: %v", found)
		}
	})
}
