package sequence

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// MaxPerHour is how often a contact may be enrolled within an hour, in all sequences together.
const MaxPerHour = 20

// Candidate is a contact to enroll.
type Candidate struct {
	Contact id.Contact
	Trigger json.RawMessage // the event that enrolls it, a JSON object; nil: none
}

// Enrolled is the result of enrolling a contact. With New false it is the enrollment that it has or
// had, and nothing changed.
type Enrolled struct {
	Contact    id.Contact
	Enrollment id.Enrollment // zero if Limited
	New        bool
	Limited    bool // it was enrolled too often within the last hour
}

// past is what is known about a contact's enrollments in a sequence.
type past struct {
	number int           // of enrollments
	last   id.Enrollment // the open one, or the latest
	open   bool
}

// EnrollAll enrolls contacts, each at most once, in an active sequence, and returns the results in
// the order of the candidates. Since it appends to the journal, it should be the last statement of a
// transaction.
func EnrollAll(ctx context.Context, tx *sqldb.DB, s Sequence, list []Candidate, now time.Time) ([]Enrolled, error) {
	if s.Status != Active || s.Graph.Entry == "" {
		return nil, ErrNotEnrollable
	}
	now = now.UTC().Truncate(time.Microsecond)
	ids := make([]id.Contact, len(list))
	for i, c := range list {
		ids[i] = c.Contact
	}
	// A change of the sequence reaches its enrollments page by page. One that it has ended, but whose row
	// still says active, must not keep its contact from being enrolled again.
	if len(s.pending) > 0 {
		if err := s.settleContacts(ctx, tx, ids, now); err != nil {
			return nil, err
		}
	}
	earlier, err := pastOf(ctx, tx, s, ids)
	if err != nil {
		return nil, err
	}
	recent, err := recentOf(ctx, tx, s.Tenant, ids, now.Add(-time.Hour))
	if err != nil {
		return nil, err
	}
	results, fresh := decide(s, list, earlier, recent)
	if len(fresh) == 0 {
		return results, nil
	}
	added, err := insertEnrollments(ctx, tx, s, fresh, now)
	if err != nil {
		return nil, err
	}
	// What was read above is not locked. Another transaction may have enrolled some of the contacts
	// since. Its enrollment is the result.
	if len(added) < len(fresh) {
		if earlier, err = pastOf(ctx, tx, s, ids); err != nil {
			return nil, err
		}
		for i, r := range results {
			if r.New && !added[r.Enrollment] {
				results[i] = Enrolled{Contact: r.Contact, Enrollment: earlier[r.Contact].last}
			}
		}
	}
	shareEnrollments(results)
	if len(added) == 0 {
		return results, nil
	}
	return results, recordEnrolled(ctx, tx, s, results, now)
}

// entrant is a contact with its new enrollment.
type entrant struct {
	Candidate
	enrollment id.Enrollment
	number     int // of earlier enrollments
}

// decide returns the results as they are if no other transaction enrolls a contact meanwhile, and
// those to insert. A contact that is in the list again has a result without an enrollment.
func decide(s Sequence, list []Candidate, earlier map[id.Contact]past, recent map[id.Contact]int) (results []Enrolled, fresh []entrant) {
	results, seen := make([]Enrolled, len(list)), make(map[id.Contact]bool, len(list))
	for i, c := range list {
		p := earlier[c.Contact]
		switch {
		case p.open, p.number > 0 && !s.AllowReentry:
			results[i] = Enrolled{Contact: c.Contact, Enrollment: p.last}
		case seen[c.Contact]:
			results[i] = Enrolled{Contact: c.Contact}
		// Sequences can enroll each other's contacts in a circle. The limit ends it.
		case recent[c.Contact] >= MaxPerHour:
			results[i] = Enrolled{Contact: c.Contact, Limited: true}
		default:
			seen[c.Contact] = true
			e := entrant{c, id.New[id.Enrollment](), p.number}
			results[i] = Enrolled{Contact: c.Contact, Enrollment: e.enrollment, New: true}
			fresh = append(fresh, e)
		}
	}
	return results, fresh
}

// shareEnrollments gives the results of contacts that are in the list again the enrollment of their
// first.
func shareEnrollments(results []Enrolled) {
	first := make(map[id.Contact]id.Enrollment, len(results))
	for i, r := range results {
		if _, ok := first[r.Contact]; !ok {
			first[r.Contact] = r.Enrollment
		}
		if !r.Limited {
			results[i].Enrollment = first[r.Contact]
		}
	}
}

// insertEnrollments inserts enrollments at the entry of their sequence, due at once, and returns those
// that no other transaction kept out.
func insertEnrollments(ctx context.Context, tx *sqldb.DB, s Sequence, fresh []entrant, now time.Time) (map[id.Enrollment]bool, error) {
	t := tx.Table("id UUID", "contact_id UUID", "number INTEGER", "trigger_data JSONB")
	for _, e := range fresh {
		t.Add(e.enrollment, e.Contact, e.number, sqldb.Null(string(e.Trigger)))
	}
	// A contact has at most one open enrollment in a sequence, by a unique index: of two transactions, one
	// inserts. If an enrollment began and ended since earlier ones were read, this one has the same
	// number; its mails then have the visits of that one, and outbox adds none of them again.
	rows, err := tx.Query(ctx, `
		INSERT INTO enrollment (tenant_id, id, sequence_id, contact_id, number, trigger_data, status, node_id, visits, epoch, due_at, timer_at, entered_at, node_entered_at, steps)
		SELECT h.tenant_id, v.id, `+tx.Param(2, "UUID")+`, v.contact_id, v.number, v.trigger_data, 'active', `+tx.Param(3, "TEXT")+`, `+tx.Param(5, "JSONB")+`, `+tx.Param(6, "INTEGER")+`,
			`+tx.Param(4, "BIGINT")+`, `+tx.Param(4, "BIGINT")+`, `+tx.Param(4, "BIGINT")+`, `+tx.Param(4, "BIGINT")+`, `+tx.Param(7, "TEXT")+`
		FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 8)+`
		WHERE true ON CONFLICT DO NOTHING RETURNING id`, t.Args(s.Tenant, s.ID, s.Graph.Entry, sqldb.Micros(now), `{"`+s.Graph.Entry+`":1}`, s.Epoch,
		entering(s.Graph.mark(s.Graph.Entry), now))...)
	added := make(map[id.Enrollment]bool, len(fresh))
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var e id.Enrollment
		err := scan(&e)
		added[e] = true
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("enroll contacts: %w", err)
	}
	return added, nil
}

// recordEnrolled counts the new enrollments among results and records them in the journal.
func recordEnrolled(ctx context.Context, tx *sqldb.DB, s Sequence, results []Enrolled, now time.Time) error {
	var entries []journal.Entry
	for _, r := range results {
		if r.New {
			entries = append(entries, journal.Entry{
				Tenant: s.Tenant, Type: journal.SequenceEnrolled, Name: s.ID.String(), Contact: r.Contact, At: now,
				Data: map[string]any{"enrollment_id": r.Enrollment},
			})
		}
	}
	c := counts{}
	c.addAt(s.ID, NodeCount{Entered: len(entries)}, now)
	c.add(s.ID, s.Graph.Entry, NodeCount{Entered: len(entries)})
	if err := c.write(ctx, tx, s.Tenant); err != nil {
		return err
	}
	tx.Notify(Wake)
	return journal.Append(ctx, tx, entries...)
}

func pastOf(ctx context.Context, tx *sqldb.DB, s Sequence, contacts []id.Contact) (map[id.Contact]past, error) {
	rows, err := tx.Query(ctx, `
		SELECT contact_id, id, status IN ('active', 'paused') FROM enrollment
		WHERE tenant_id = $1 AND sequence_id = $2 AND contact_id`+tx.In(3)+` ORDER BY number`, s.Tenant, s.ID, sqldb.List(tx, contacts))
	all := map[id.Contact]past{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var c id.Contact
		var e id.Enrollment
		var open bool
		err := scan(&c, &e, &open)
		all[c] = past{number: all[c].number + 1, last: e, open: open}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find enrollments: %w", err)
	}
	return all, nil
}

// recentOf counts the enrollments of contacts since a time, in all sequences.
func recentOf(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, contacts []id.Contact, since time.Time) (map[id.Contact]int, error) {
	rows, err := tx.Query(ctx, `
		SELECT contact_id, COUNT(*) FROM enrollment
		WHERE tenant_id = $1 AND contact_id`+tx.In(2)+` AND entered_at > $3 GROUP BY contact_id`, tenant, sqldb.List(tx, contacts), sqldb.Micros(since))
	all := map[id.Contact]int{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var c id.Contact
		var n int
		err := scan(&c, &n)
		all[c] = n
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count recent enrollments: %w", err)
	}
	return all, nil
}
