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

// maxPerHour is how often a contact may be enrolled within an hour, in all sequences together.
const maxPerHour = 20

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
	results := make([]Enrolled, len(list))
	t := tx.Table("id UUID", "contact_id UUID", "number INTEGER", "trigger_data JSONB")
	at := map[id.Contact]int{}
	for i, c := range list {
		p := earlier[c.Contact]
		_, twice := at[c.Contact]
		switch {
		case p.open, p.number > 0 && !s.AllowReentry:
			results[i] = Enrolled{Contact: c.Contact, Enrollment: p.last}
		case twice:
			results[i] = Enrolled{Contact: c.Contact}
		case recent[c.Contact] >= maxPerHour:
			results[i] = Enrolled{Contact: c.Contact, Limited: true}
		default:
			results[i] = Enrolled{Contact: c.Contact, Enrollment: id.New[id.Enrollment](), New: true}
			at[c.Contact] = i
			t.Add(results[i].Enrollment, c.Contact, p.number, sqldb.Null(string(c.Trigger)))
		}
	}
	if t.Len() == 0 {
		return results, nil
	}
	rows, err := tx.Query(ctx, `
		INSERT INTO enrollment (tenant_id, id, sequence_id, contact_id, number, trigger_data, status, node_id, visits, epoch, due_at, timer_at, entered_at, node_entered_at)
		SELECT h.tenant_id, v.id, `+tx.Param(2, "UUID")+`, v.contact_id, v.number, v.trigger_data, 'active', `+tx.Param(3, "TEXT")+`, `+tx.Param(5, "JSONB")+`, `+tx.Param(6, "INTEGER")+`,
			`+tx.Param(4, "BIGINT")+`, `+tx.Param(4, "BIGINT")+`, `+tx.Param(4, "BIGINT")+`, `+tx.Param(4, "BIGINT")+`
		FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 7)+`
		WHERE true ON CONFLICT DO NOTHING RETURNING id, contact_id`, t.Args(s.Tenant, s.ID, s.Graph.Entry, sqldb.Micros(now), `{"`+s.Graph.Entry+`":1}`, s.Epoch)...)
	added := map[id.Contact]bool{}
	var entries []journal.Entry
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var e id.Enrollment
		var c id.Contact
		err := scan(&e, &c)
		added[c] = true
		entries = append(entries, journal.Entry{
			Tenant: s.Tenant, Type: journal.SequenceEnrolled, Name: s.ID.String(), Contact: c, At: now,
			Data: map[string]any{"enrollment_id": e},
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("enroll contacts: %w", err)
	}
	if len(added) < t.Len() { // another transaction enrolled some of them
		again, err := pastOf(ctx, tx, s, ids)
		if err != nil {
			return nil, err
		}
		for i, r := range results {
			if r.New && !added[r.Contact] {
				results[i] = Enrolled{Contact: r.Contact, Enrollment: again[r.Contact].last}
			}
		}
	}
	for i, r := range results {
		if r.Enrollment.IsZero() && !r.Limited {
			results[i].Enrollment = results[at[r.Contact]].Enrollment
		}
	}
	if len(entries) == 0 {
		return results, nil
	}
	c := counts{}
	c.addAt(s.ID, NodeCount{Entered: len(entries)}, now)
	c.add(s.ID, s.Graph.Entry, NodeCount{Entered: len(entries)})
	if err := c.write(ctx, tx, s.Tenant); err != nil {
		return nil, err
	}
	tx.Notify(Wake)
	return results, journal.Append(ctx, tx, entries...)
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
