package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"
	"time"

	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// PersonalData returns how to erase people from the files of jobs: those of exports, and the errors
// files of imports. An anonymized person may occur in any of them, with an address or name written
// differently, or in columns with neither; so all files of the tenant are removed. The parameters
// of jobs are cleared when a job ends. What imports replaced in them, to be undone, is erased of these people alone.
func PersonalData(now func() time.Time) contact.PersonalData {
	return contact.PersonalData{
		Name:   "former_values_of_imports",
		Export: exportReplaced,
		Erase: func(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, people []contact.Person) error {
			if err := eraseReplaced(ctx, tx, tenant, people); err != nil {
				return err
			}
			return job.EraseFiles(ctx, tx, tenant, []job.Kind{job.Export}, now())
		},
	}
}

// holding is a step of an import that may have former values of some contacts.
type holding struct {
	imported id.Job
	row      int64
}

// holdings returns the steps that may have former values of contacts, by the ends of the ids.
func holdings(ctx context.Context, db *sqldb.DB, tenant id.Tenant, contacts []id.Contact) ([]holding, error) {
	rows, err := db.Query(ctx, `
		SELECT job_id, row_number, whom FROM import_change WHERE tenant_id = $1 AND whom IS NOT NULL
		/* reads the tenant: four bytes of each contact that an import of a week has changed */`, tenant)
	var list []holding
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var h holding
		var whom []byte
		err := scan(&h.imported, &h.row, &whom)
		if slices.ContainsFunc(contacts, func(c id.Contact) bool { return hasTail(whom, c) }) {
			list = append(list, h)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find former values of contacts: %w", err)
	}
	return list, nil
}

// hasTail reports whether the end of a contact's id is in a sorted index.
func hasTail(whom []byte, c id.Contact) bool {
	tail := tailOf(c)
	n := len(whom) / tailBytes
	at := func(i int) []byte { return whom[i*tailBytes : (i+1)*tailBytes] }
	i := sort.Search(n, func(i int) bool { return bytes.Compare(at(i), tail) >= 0 })
	return i < n && bytes.Equal(at(i), tail)
}

// changes reads the changes of a step; none if it was undone meanwhile.
func (h holding) changes(ctx context.Context, db *sqldb.DB, tenant id.Tenant, lock string) (c traceChanges, err error) {
	var packed []byte
	err = db.QueryRow(ctx, `SELECT changed FROM import_change WHERE tenant_id = $1 AND job_id = $2 AND row_number = $3`+lock, tenant, h.imported, h.row).Scan(&packed)
	if errors.Is(err, sqldb.ErrNoRows) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("read former values of contacts: %w", err)
	}
	return unpackChanges(packed)
}

// eraseReplaced erases what imports replaced in people.
func eraseReplaced(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, people []contact.Person) error {
	ids := make([]id.Contact, len(people))
	erased := map[id.Contact]bool{}
	for i, p := range people {
		ids[i], erased[p.ID] = p.ID, true
	}
	list, err := holdings(ctx, tx, tenant, ids)
	if err != nil {
		return err
	}
	for _, h := range list {
		c, err := h.changes(ctx, tx, tenant, tx.ForUpdate())
		if err != nil {
			return err
		}
		for i, r := range c.Changed {
			if erased[r.Contact] { // the contact stays, so that an undo counts it
				c.Changed[i] = contact.Replaced{Contact: r.Contact, Revision: r.Revision}
			}
		}
		packed, _, err := c.pack()
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE import_change SET changed = $4 WHERE tenant_id = $1 AND job_id = $2 AND row_number = $3`, tenant, h.imported, h.row, packed)
		if err != nil {
			return fmt.Errorf("erase former values of contacts: %w", err)
		}
	}
	return nil
}

// replacedValues is what an import replaced, in an export of personal data.
type replacedValues struct {
	Import id.Job         `json:"import_id"`
	Values map[string]any `json:"values"`
}

// exportReplaced yields what imports replaced in a person.
func exportReplaced(ctx context.Context, db *sqldb.DB, tenant id.Tenant, p contact.Person) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		list, err := holdings(ctx, db, tenant, []id.Contact{p.ID})
		if err != nil {
			yield(nil, err)
			return
		}
		for _, h := range list {
			c, err := h.changes(ctx, db, tenant, "")
			if err != nil {
				yield(nil, err)
				return
			}
			for _, r := range c.Changed {
				if r.Contact != p.ID || len(r.Values) == 0 {
					continue
				}
				values := make(map[string]any, len(r.Values))
				for name, v := range r.Values {
					values[name] = v.Was
				}
				if !yield(replacedValues{h.imported, values}, nil) {
					return
				}
			}
		}
	}
}
