package sequence

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// PersonalData returns the enrollments of contacts. Erasing a contact removes the events that
// enrolled it; the enrollments and the logs of their steps stay: they name nodes, times and codes.
func PersonalData() contact.PersonalData {
	return contact.PersonalData{Name: "sequences", Export: export, Erase: erase}
}

// exported is an enrollment as a personal export shows it.
type exported struct {
	Sequence  id.Sequence      `json:"sequence_id"`
	Status    EnrollmentStatus `json:"status"`
	Outcome   string           `json:"outcome"`
	EnteredAt time.Time        `json:"entered_at"`
	ExitedAt  *time.Time       `json:"exited_at"`
	Steps     []exportedStep   `json:"steps"` // those that are stored
}

// exportedStep is a visit of a node as a personal export shows it.
type exportedStep struct {
	Node      string    `json:"node_id"`
	Type      NodeType  `json:"type"`
	EnteredAt time.Time `json:"entered_at"`
	Branch    string    `json:"branch_label,omitempty"`
	Why       WhyCode   `json:"why,omitempty"`
	Reason    string    `json:"reason_code,omitempty"`
}

func export(ctx context.Context, db *sqldb.DB, tenant id.Tenant, p contact.Person) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		list, err := OfContact(ctx, db, tenant, p.ID)
		if err != nil {
			yield(nil, err)
			return
		}
		logs, err := logsOf(ctx, db, tenant, p.ID)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, e := range list {
			steps := []exportedStep{}
			for _, v := range visits(logs[e.ID]) {
				steps = append(steps, exportedStep{v.node, v.typ, v.at, v.label, v.why.Code, v.why.Reason})
			}
			if !yield(exported{e.Sequence, e.Status, e.Outcome(), e.EnteredAt, e.ExitedAt, steps}, nil) {
				return
			}
		}
	}
}

// logsOf returns the logs of a contact's enrollments.
func logsOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, contact id.Contact) (map[id.Enrollment]string, error) {
	rows, err := db.Query(ctx, `SELECT id, steps FROM enrollment WHERE tenant_id = $1 AND contact_id = $2 AND steps IS NOT NULL`, tenant, contact)
	logs := map[id.Enrollment]string{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var e id.Enrollment
		var log string
		err := scan(&e, &log)
		logs[e] = log
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load the steps of a contact's enrollments: %w", err)
	}
	return logs, nil
}

func erase(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, people []contact.Person) error {
	ids := make([]id.Contact, len(people))
	for i, p := range people {
		ids[i] = p.ID
	}
	_, err := tx.Exec(ctx, `
		UPDATE enrollment SET trigger_data = NULL WHERE tenant_id = $1 AND contact_id`+tx.In(2)+` AND trigger_data IS NOT NULL`, tenant, sqldb.List(tx, ids))
	if err != nil {
		return fmt.Errorf("erase the trigger events of enrollments: %w", err)
	}
	return nil
}
