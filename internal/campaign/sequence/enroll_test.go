package sequence

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// active makes an active sequence that adds tags.
func (a account) active(name string) Sequence {
	a.Helper()
	s, err := Activate(a.Context(), a.db, a.tenant, a.tagging(name, "a", "b").ID, noon)
	a.must(err)
	return s
}

func (a account) people(names ...string) []id.Contact {
	a.Helper()
	ids := make([]id.Contact, len(names))
	for i, name := range names {
		c, err := contact.Create(a.Context(), a.db, a.tenant, name+"@example.org", contact.Change{}, contact.Rules{}, noon)
		a.must(err)
		ids[i] = c.ID
	}
	return ids
}

func (a account) enroll(s Sequence, now time.Time, contacts ...id.Contact) []Enrolled {
	a.Helper()
	list := make([]Candidate, len(contacts))
	for i, c := range contacts {
		list[i] = Candidate{Contact: c}
	}
	var results []Enrolled
	a.must(a.db.InTx(a.Context(), func(tx *sqldb.DB) (err error) {
		results, err = EnrollAll(a.Context(), tx, s, list, now)
		return err
	}))
	return results
}

func (a account) exit(s Sequence, now time.Time, contacts ...id.Contact) []id.Contact {
	a.Helper()
	gone, err := ExitContacts(a.Context(), a.db, a.tenant, s.ID, contacts, ReasonManual, now)
	a.must(err)
	return gone
}

// history shows the states of a contact's enrollments, the newest first.
func (a account) history(c id.Contact) string {
	a.Helper()
	list, err := OfContact(a.Context(), a.db, a.tenant, c)
	a.must(err)
	var words []string
	for _, e := range list {
		words = append(words, strings.TrimSpace(fmt.Sprintf("%s %s%s", e.Status, e.Reason, e.Node)))
	}
	return strings.Join(words, ", ")
}

// checkCounts compares the numbers of a sequence with its enrollments, and with what they should be.
func (a account) checkCounts(s Sequence, want NodeCount) {
	a.Helper()
	stored, err := StoredTally(a.Context(), a.db, a.tenant, s.ID)
	a.must(err)
	counted, err := CountEnrollments(a.Context(), a.db, a.tenant, s.ID)
	a.must(err)
	if diff := cmp.Diff(counted, stored); diff != "" || stored.All != want {
		a.Errorf("the numbers are %+v, want %+v; those of its enrollments differ by\n%s", stored.All, want, diff)
	}
}

func TestAContactIsInASequenceOnce(t *testing.T) {
	eachAccount(t, func(a account) {
		for _, again := range []bool{false, true} {
			s := a.active(fmt.Sprint("Reentry ", again))
			_, err := Update(a.Context(), a.db, a.tenant, s.ID, Change{AllowReentry: &again}, noon)
			a.must(err)
			s = a.reload(s)
			p := a.people(fmt.Sprint("ann", again), fmt.Sprint("bob", again))
			first := a.enroll(s, noon, p[0], p[1], p[0])
			if !first[0].New || !first[1].New || first[2] != (Enrolled{Contact: p[0], Enrollment: first[0].Enrollment}) {
				a.Errorf("a contact that is in the list twice: %+v", first)
			}
			if got := a.enroll(s, noon, p[0]); got[0] != (Enrolled{Contact: p[0], Enrollment: first[0].Enrollment}) {
				a.Errorf("a contact that is in it: %+v", got)
			}
			if gone := a.exit(s, noon.Add(time.Minute), p[0]); len(gone) != 1 {
				a.Errorf("%v left", gone)
			}
			got := a.enroll(s, noon.Add(2*time.Minute), p[0])[0]
			if got.New != again || (got.Enrollment != first[0].Enrollment) != again {
				a.Errorf("a contact that was in it, with re-entry %v: %+v", again, got)
			}
			want := NodeCount{Entered: 2, Exited: 1}
			if again {
				want.Entered++
			}
			a.checkCounts(s, want)
			if inside := s.Inside(want); inside != want.Entered-1 {
				a.Errorf("%d inside of %+v", inside, want)
			}
		}
	})
}

// TestContactsAreRefused enrolls those that do not exist, who were erased or are enrolled all the time, and into
// sequences that take nobody. Nothing changes.
func TestContactsAreRefused(t *testing.T) {
	eachAccount(t, func(a account) {
		s, rules := a.active("Active"), contact.Rules{}
		p := a.people("ann", "erased", "often")
		_, err := contact.Anonymize(a.Context(), a.db, a.tenant, p[1:2], nil, noon)
		a.must(err)
		for i := range MaxPerHour {
			a.enroll(a.active(fmt.Sprint("Number ", i)), noon, p[2])
		}
		paused, err := Pause(a.Context(), a.db, a.tenant, a.active("Paused").ID, noon)
		a.must(err)
		archived, err := Archive(a.Context(), a.db, a.tenant, a.active("Archived").ID, noon)
		a.must(err)
		for name, c := range map[string]struct {
			seq  id.Sequence
			r    Request
			want error
		}{
			"no contact":         {s.ID, Request{}, contact.ErrMissingIdentifier},
			"an unknown contact": {s.ID, Request{Contact: id.New[id.Contact]()}, contact.ErrNotFound},
			"an unknown name":    {s.ID, Request{ExternalID: "nobody"}, contact.ErrNotFound},
			"an erased contact":  {s.ID, Request{Contact: p[1]}, contact.ErrAnonymized},
			"too often":          {s.ID, Request{Contact: p[2]}, ErrEnrollLimit},
			"no sequence":        {id.New[id.Sequence](), Request{Contact: p[0]}, ErrNotFound},
			"a draft":            {a.tagging("Draft", "a").ID, Request{Contact: p[0]}, ErrNotEnrollable},
			"a paused one":       {paused.ID, Request{Contact: p[0]}, ErrNotEnrollable},
			"an archived one":    {archived.ID, Request{Contact: p[0]}, ErrNotEnrollable},
			"and a new address":  {archived.ID, Request{Email: "new@example.org"}, ErrNotEnrollable},
		} {
			if got, err := Enroll(a.Context(), a.db, a.tenant, c.seq, c.r, rules, noon); !errors.Is(err, c.want) || got != (Receipt{}) {
				a.Errorf("%s: %+v, %v; want %v", name, got, err, c.want)
			}
		}
		a.checkCounts(s, NodeCount{})
		if _, err := contact.ByEmail(a.Context(), a.db, a.tenant, "new@example.org"); !errors.Is(err, contact.ErrNotFound) {
			a.Errorf("a refused request made a contact: %v", err)
		}
		if got, err := Enroll(a.Context(), a.db, a.tenant, s.ID, Request{Contact: p[2]}, rules, noon.Add(time.Hour+time.Minute)); err != nil || got.Status != "enrolled" {
			a.Errorf("an hour later: %+v, %v", got, err)
		}
	})
}

// TestAKeyIsAnsweredOnce repeats requests with their keys: the result is the first one, until the key expires.
func TestAKeyIsAnsweredOnce(t *testing.T) {
	eachAccount(t, func(a account) {
		s, second, rules := a.active("First"), a.active("Second"), contact.Rules{}
		call := func(s Sequence, key, email string, now time.Time) Receipt {
			a.Helper()
			r, err := Enroll(a.Context(), a.db, a.tenant, s.ID, Request{Email: email, Key: key}, rules, now)
			a.must(err)
			return r
		}
		first := call(s, "k", "ann@example.org", noon)
		if first.Status != "enrolled" || !first.Created || first.Replayed {
			a.Errorf("the first: %+v", first)
		}
		replay := first
		replay.Replayed = true
		a.exit(s, noon, first.Contact)
		for _, email := range []string{"ann@example.org", "other@example.org"} {
			if got := call(s, "k", email, noon.Add(keyLife-time.Second)); got != replay {
				a.Errorf("the key with %s: %+v, want %+v", email, got, replay)
			}
		}
		if got := call(s, "", "ann@example.org", noon); got.Status != "duplicate" || got.Enrollment != first.Enrollment || got.Created || got.Replayed {
			a.Errorf("without a key: %+v", got)
		}
		if got := call(second, "k", "ann@example.org", noon); got.Status != "enrolled" || got.Replayed || got.Contact != first.Contact {
			a.Errorf("the key in another sequence: %+v", got)
		}
		if got := call(s, "k", "other@example.org", noon.Add(keyLife)); got.Status != "enrolled" || got.Replayed || !got.Created {
			a.Errorf("the key after it has expired: %+v", got)
		}
		a.checkCounts(s, NodeCount{Entered: 2, Exited: 1})
	})
}

// TestExitsEndWhatIsOpen ends enrollments in one sequence or in all, and one by hand.
func TestExitsEndWhatIsOpen(t *testing.T) {
	eachAccount(t, func(a account) {
		s, second := a.active("First"), a.active("Second")
		p := a.people("ann", "bob", "eve")
		entered := a.enroll(s, noon, p...)
		a.enroll(second, noon, p...)
		later := noon.Add(time.Hour)
		if gone := a.exit(s, later, p[0], id.New[id.Contact]()); !cmp.Equal(gone, p[:1]) {
			a.Errorf("%v left the first, want %v", gone, p[:1])
		}
		if gone := a.exit(s, later, p[0]); len(gone) != 0 {
			a.Errorf("%v left again", gone)
		}
		if gone, err := ExitContacts(a.Context(), a.db, a.tenant, id.Sequence{}, p[1:2], ReasonDoNotContact, later); err != nil || len(gone) != 2 {
			a.Errorf("%v left all, %v; want the contact twice", gone, err)
		}
		e, err := ExitOne(a.Context(), a.db, a.tenant, s.ID, entered[2].Enrollment, later)
		if err != nil || e.Status != Exited || e.Reason != ReasonManual || !e.ExitedAt.Equal(later) {
			a.Errorf("the end of one: %+v, %v", e, err)
		}
		for _, c := range []struct {
			seq        id.Sequence
			enrollment id.Enrollment
			want       error
		}{{s.ID, e.ID, ErrTransition}, {second.ID, e.ID, ErrNoEnrollment}, {s.ID, id.New[id.Enrollment](), ErrNoEnrollment}, {id.New[id.Sequence](), e.ID, ErrNotFound}} {
			if _, err := ExitOne(a.Context(), a.db, a.tenant, c.seq, c.enrollment, later); !errors.Is(err, c.want) {
				a.Errorf("the end of %v in %v: %v, want %v", c.enrollment, c.seq, err, c.want)
			}
		}
		var got []string
		for _, c := range p {
			got = append(got, a.history(c))
		}
		if diff := cmp.Diff([]string{"active a, exited manual", "exited do_not_contact, exited do_not_contact", "active a, exited manual"}, got); diff != "" {
			a.Errorf("the enrollments:\n%s", diff)
		}
		a.checkCounts(s, NodeCount{Entered: 3, Exited: 3})
		a.checkCounts(second, NodeCount{Entered: 3, Exited: 1})
		at, err := CountsByTime(a.Context(), a.db, a.tenant, s.ID, later, later.Add(time.Hour))
		if want := map[time.Time]NodeCount{later: {Exited: 3}}; err != nil || !cmp.Equal(at, want) {
			a.Errorf("the numbers of the hour in which they left: %v, %v", at, err)
		}
	})
}

// TestCountsOfEndings ends enrollments in each way.
func TestCountsOfEndings(t *testing.T) {
	eachAccount(t, func(a account) {
		s := a.active("Endings")
		p := a.people("completed", "failed", "goal", "condition", "inside")
		a.enroll(s, noon, p...)
		for i, end := range []struct {
			status EnrollmentStatus
			reason Reason
		}{{Completed, ""}, {Failed, ReasonError}, {Exited, ReasonGoal}, {Exited, ReasonCondition}} {
			list, err := OfContact(a.Context(), a.db, a.tenant, p[i])
			a.must(err)
			list[0].Finish(end.status, end.reason, noon.Add(time.Minute))
			a.must(a.db.InTx(a.Context(), func(tx *sqldb.DB) error {
				return SaveSteps(a.Context(), tx, a.tenant, Steps{Enrollments: list}, noon.Add(time.Minute))
			}))
		}
		want := NodeCount{Entered: 5, Completed: 1, Exited: 2, Converted: 1, Failed: 1}
		a.checkCounts(s, want)
		if n := s.Inside(want); n != 1 {
			a.Errorf("%d inside", n)
		}
		totals, err := Totals(a.Context(), a.db, a.tenant)
		if err != nil || !cmp.Equal(totals, map[id.Sequence]NodeCount{s.ID: want}) {
			a.Errorf("the numbers of all sequences: %v, %v", totals, err)
		}
		stored, err := StoredTally(a.Context(), a.db, a.tenant, s.ID)
		a.must(err)
		counted, wrong := stored, stored
		wrong.All.Entered += 7
		a.must(Correct(a.Context(), a.db, a.tenant, s.ID, stored, wrong))
		a.must(Correct(a.Context(), a.db, a.tenant, s.ID, wrong, counted))
		a.checkCounts(s, want)
	})
}

// TestEnrollmentsFollowTheirSequence pauses, resumes and archives sequences, and removes a node: the enrollments show it
// at once, and their rows follow in pages of any size.
func TestEnrollmentsFollowTheirSequence(t *testing.T) {
	eachAccount(t, func(a account) {
		for name, c := range map[string]struct {
			do   []func(s Sequence) error
			want string
			left int // of three
		}{
			"paused": {[]func(Sequence) error{func(s Sequence) error {
				_, err := Pause(a.Context(), a.db, a.tenant, s.ID, noon.Add(time.Minute))
				return err
			}}, "paused a", 0},
			"resumed": {[]func(Sequence) error{func(s Sequence) error {
				_, err := Pause(a.Context(), a.db, a.tenant, s.ID, noon.Add(time.Minute))
				return err
			}, func(s Sequence) error {
				_, err := Resume(a.Context(), a.db, a.tenant, s.ID, noon.Add(time.Hour))
				return err
			}}, "active a", 0},
			"archived": {[]func(Sequence) error{func(s Sequence) error {
				_, err := Archive(a.Context(), a.db, a.tenant, s.ID, noon.Add(time.Minute))
				return err
			}}, "exited sequence_archived", 3},
			"without the node": {[]func(Sequence) error{func(s Sequence) error {
				_, err := Pause(a.Context(), a.db, a.tenant, s.ID, noon)
				return err
			}, func(s Sequence) error {
				_, err := SetGraph(a.Context(), a.db, a.tenant, s.ID, tags("b"), false, noon.Add(time.Minute))
				return err
			}}, "exited node_removed", 3},
		} {
			for _, page := range []int{1, 2, 10} {
				label := fmt.Sprint(name, ", pages of ", page)
				s := a.active(label)
				p := a.people(fmt.Sprint("a", len(label), name[:2], page), fmt.Sprint("b", len(label), name[:2], page), fmt.Sprint("c", len(label), name[:2], page))
				a.enroll(s, noon, p...)
				for _, do := range c.do {
					a.must(do(s))
				}
				for _, step := range []string{"before they follow", "afterwards"} {
					for _, one := range p {
						if got := a.history(one); got != c.want {
							a.Errorf("%s %s: %q, want %q", label, step, got, c.want)
						}
					}
					for range 5 {
						a.must(SettleSome(a.Context(), a.db, a.tenant, s.ID, page, noon.Add(2*time.Hour)))
					}
				}
				behind, err := ListUnsettled(a.Context(), a.db)
				if err != nil || len(behind) != 0 {
					a.Errorf("%s: %v have yet to follow, %v", label, behind, err)
				}
				a.checkCounts(s, NodeCount{Entered: 3, Exited: c.left})
			}
		}
	})
}

// The export of a person has the steps of its enrollments, and erasing it removes none.
func TestStepsInThePersonalExport(t *testing.T) {
	eachAccount(t, func(a account) {
		s := a.active("Welcome")
		p := a.people("ann", "bob")
		a.enroll(s, noon, p...)
		a.exit(s, noon.Add(time.Minute), p[0])
		for range 2 {
			var list []exported
			for row, err := range PersonalData().Export(a.Context(), a.db, a.tenant, contact.Person{ID: p[0]}) {
				a.must(err)
				list = append(list, row.(exported))
			}
			if len(list) != 1 || !cmp.Equal(list[0].Steps, []exportedStep{{Node: "a", Type: TagNode, EnteredAt: noon, Why: Left, Reason: "manual"}}) {
				a.Errorf("the export is %+v", list)
			}
			a.must(a.db.InTx(a.Context(), func(tx *sqldb.DB) error {
				return PersonalData().Erase(a.Context(), tx, a.tenant, []contact.Person{{ID: p[0]}})
			}))
		}
		for range PersonalData().Export(a.Context(), a.db, a.tenant+1, contact.Person{ID: p[0]}) {
			a.Error("another account exports it")
		}
	})
}
