package sequence

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Request enrolls one contact, which is found by its id, its address or its external id, whichever
// comes first. A contact with a new address is created.
type Request struct {
	Contact    id.Contact
	Email      string
	ExternalID string
	Change     contact.Change // of the contact, in the same transaction
	Key        string         // idempotency key; empty: none
}

// Receipt is the result of a Request.
type Receipt struct {
	Status     string        `json:"status"` // "enrolled" or "duplicate"
	Enrollment id.Enrollment `json:"enrollment_id"`
	Contact    id.Contact    `json:"contact_id"`
	Created    bool          `json:"contact_created"`

	Replayed bool `json:"-"` // it is the result of an earlier request with the same key
}

// keyLife is how long the result of a request is stored for its key.
const keyLife = 30 * 24 * time.Hour

// maxKey is the length of a key, in characters.
const maxKey = 128

// Check checks the request by itself.
func (r Request) Check() error {
	var p fault.Problems
	d := r.draft()
	if d.Email == "" {
		d.ID = id.New[id.Contact]() // no address is required
	}
	p.AddFrom(d.Check())
	if len([]rune(r.Key)) > maxKey {
		p.Add("idempotency_key", fmt.Sprintf("must be at most %d characters", maxKey))
	}
	if err := p.Err(); err != nil {
		return err
	}
	if r.Contact.IsZero() && r.Email == "" && r.ExternalID == "" {
		return contact.ErrMissingIdentifier.Sayf("send contact_id, email or external_id")
	}
	return nil
}

// draft returns the change of the contact.
func (r Request) draft() contact.Draft {
	d := contact.Draft{ID: r.Contact, Email: r.Email, Change: r.Change}
	if !r.Contact.IsZero() {
		d.Email = ""
	}
	d.Change.SourceIfNew = "sequence"
	if r.ExternalID != "" {
		d.Change.Texts = maps.Clone(d.Change.Texts)
		if d.Change.Texts == nil {
			d.Change.Texts = map[contact.Text]*string{}
		}
		d.Change.Texts[contact.ExternalID] = &r.ExternalID
	}
	return d
}

// Enroll carries out a request in one transaction: the contact is created or changed, and enrolled.
func Enroll(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence, r Request, rules contact.Rules, now time.Time) (Receipt, error) {
	if err := r.Check(); err != nil {
		return Receipt{}, err
	}
	var receipt Receipt
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		var err error
		if r.Key != "" {
			done, err := receiptOf(ctx, tx, tenant, seq, r.Key, now)
			if err != nil || done != nil {
				if done != nil {
					receipt = *done
				}
				return err
			}
		}
		s, err := Load(ctx, tx, tenant, seq)
		if err != nil {
			return err
		}
		if r.Contact, err = r.find(ctx, tx, tenant); err != nil {
			return err
		}
		if s.Status != Active {
			return ErrNotEnrollable
		}
		if receipt, err = r.enroll(ctx, tx, s, rules, now); err != nil || r.Key == "" {
			return err
		}
		return receipt.store(ctx, tx, tenant, seq, r.Key, now)
	})
	if err != nil {
		return Receipt{}, fmt.Errorf("enroll a contact: %w", err)
	}
	return receipt, nil
}

// find returns the contact that the request names by an id; zero if it names it by its address.
func (r Request) find(ctx context.Context, tx *sqldb.DB, tenant id.Tenant) (id.Contact, error) {
	var c contact.Contact
	var err error
	switch {
	case !r.Contact.IsZero():
		c, err = contact.ByID(ctx, tx, tenant, r.Contact)
	case r.Email == "":
		c, err = contact.ByExternalID(ctx, tx, tenant, r.ExternalID)
	}
	return c.ID, err
}

func (r Request) enroll(ctx context.Context, tx *sqldb.DB, s Sequence, rules contact.Rules, now time.Time) (Receipt, error) {
	saved, err := contact.SaveAll(ctx, tx, s.Tenant, []contact.Draft{r.draft()}, rules, now)
	if err == nil {
		err = saved[0].Err
	}
	if err != nil {
		return Receipt{}, err
	}
	c := saved[0].Contact
	if c.AnonymizedAt != nil {
		return Receipt{}, contact.ErrNotFound
	}
	results, err := EnrollAll(ctx, tx, s, []Candidate{{Contact: c.ID}}, now)
	if err != nil {
		return Receipt{}, err
	}
	if results[0].Limited {
		return Receipt{}, ErrEnrollLimit.With(fault.Wait{Seconds: int(time.Hour / time.Second)})
	}
	receipt := Receipt{Status: "duplicate", Enrollment: results[0].Enrollment, Contact: c.ID, Created: saved[0].Created}
	if results[0].New {
		receipt.Status = "enrolled"
	}
	return receipt, nil
}

// receiptOf returns the stored result of a request with a key; nil if there is none.
func receiptOf(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, seq id.Sequence, key string, now time.Time) (*Receipt, error) {
	var r Receipt
	err := tx.QueryRow(ctx, `SELECT result FROM sequence_key WHERE tenant_id = $1 AND sequence_id = $2 AND name = $3 AND expires_at > $4`,
		tenant, seq, key, sqldb.Micros(now)).Scan(sqldb.ToJSON(&r))
	if errors.Is(err, sqldb.ErrNoRows) {
		return nil, nil
	}
	r.Replayed = true
	return &r, err
}

// store stores the result of a request for its key. If another transaction stored one first, this
// one fails with a conflict and is run again.
func (r Receipt) store(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, seq id.Sequence, key string, now time.Time) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `DELETE FROM sequence_key WHERE tenant_id = $1 AND expires_at <= $2`, tenant, sqldb.Micros(now)); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO sequence_key (tenant_id, sequence_id, name, result, expires_at) VALUES ($1, $2, $3, $4, $5)`,
		tenant, seq, key, string(text), sqldb.Micros(now.Add(keyLife)))
	return err
}

// Names returns the names of sequences by id.
func Names(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Sequence) (map[id.Sequence]string, error) {
	rows, err := db.Query(ctx, `SELECT id, name FROM sequence WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	names, err := sqldb.Names[id.Sequence](rows, err)
	if err != nil {
		return nil, fmt.Errorf("read the names of sequences: %w", err)
	}
	return names, nil
}

// Report is the numbers of a sequence.
type Report struct {
	NodeCount
	Active  int
	Overdue int // of a paused sequence: enrollments that were due when it was paused
	Nodes   []NodeReport
}

// NodeReport is the numbers of a node; those of mails are zero for other nodes.
type NodeReport struct {
	Node    Node
	Send    id.Send // zero: the node has not sent
	Waiting int     // enrollments at the node
	NodeCount
}

// LoadReport returns the numbers of a sequence, without those of its mails.
func LoadReport(ctx context.Context, db *sqldb.DB, s Sequence) (Report, error) {
	all, err := Counts(ctx, db, s.Tenant, s.ID)
	if err != nil {
		return Report{}, err
	}
	sends, err := Sends(ctx, db, s.Tenant, s.ID)
	if err != nil {
		return Report{}, err
	}
	paused := int64(0)
	if s.PausedAt != nil {
		paused = sqldb.Micros(*s.PausedAt)
	}
	rows, err := db.Query(ctx, `
		SELECT node_id, COUNT(*), COUNT(CASE WHEN status = 'paused' AND COALESCE(left_at, 0) <= 0
			OR status = 'active' AND (met OR COALESCE(timer_at, 0) <= $3) THEN 1 END)
		FROM enrollment WHERE tenant_id = $1 AND sequence_id = $2 AND exited_at IS NULL GROUP BY node_id`, s.Tenant, s.ID, paused)
	at := map[string]int{}
	r := Report{NodeCount: all[""]}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var node string
		var n, overdue int
		err := scan(sqldb.ToText(&node), &n, &overdue)
		at[node] = n
		r.Active += n
		if s.Status == Paused {
			r.Overdue += overdue
		}
		return err
	})
	if err != nil {
		return Report{}, fmt.Errorf("count contacts at nodes: %w", err)
	}
	if s.Status == Archived || s.Status == Draft { // they have yet to follow the end of the sequence
		r.Active, r.Exited, at = 0, r.Exited+r.Active, nil
	}
	for _, n := range s.Graph.Nodes {
		r.Nodes = append(r.Nodes, NodeReport{Node: n, Send: sends[n.ID], Waiting: at[n.ID], NodeCount: all[n.ID]})
	}
	return r, nil
}
