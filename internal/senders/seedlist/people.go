package seedlist

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// PersonalData returns access to the seeds and the history of updates for exports and erasure of
// contacts. A contact that is anonymised has no address any more, so seeds with its former address
// leave their conflict; the history of updates no longer names it.
func PersonalData() contact.PersonalData {
	return contact.PersonalData{Name: "seeds", Export: export, Erase: erase}
}

// exported is a seed in an export of personal data.
type exported struct {
	ID     id.Seed     `json:"id"`
	List   id.SeedList `json:"seed_list_id"`
	Email  string      `json:"email"`
	Status Status      `json:"status"`
}

func export(ctx context.Context, db *sqldb.DB, tenant id.Tenant, p contact.Person) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		rows, err := db.Query(ctx, `
			SELECT id, seed_list_id, email, status FROM seed WHERE tenant_id = $1 AND email`+db.In(2)+`ORDER BY id`, tenant, sqldb.List(db, p.Addresses))
		list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (s exported, err error) {
			err = scan(&s.ID, &s.List, &s.Email, &s.Status)
			return s, err
		})
		if err != nil {
			yield(nil, fmt.Errorf("export seeds: %w", err))
			return
		}
		for _, s := range list {
			if !yield(s, nil) {
				return
			}
		}
	}
}

func erase(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, people []contact.Person) error {
	var emails []string
	for _, p := range people {
		emails = append(emails, p.Addresses...)
	}
	if len(emails) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `DELETE FROM seed_sync_sample WHERE tenant_id = $1 AND entry`+tx.In(2), tenant, sqldb.List(tx, emails))
	if err != nil {
		return fmt.Errorf("erase addresses from the history of seed lists: %w", err)
	}
	others, err := otherContacts(ctx, tx, tenant, people, emails)
	if err != nil {
		return err
	}
	return releaseConflicts(ctx, tx, tenant, slices.DeleteFunc(emails, func(e string) bool { return others[e] }))
}

// otherContacts returns which of some addresses are those of contacts other than people.
func otherContacts(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, people []contact.Person, emails []string) (map[string]bool, error) {
	found, err := contact.IDsByEmail(ctx, tx, tenant, emails)
	others := map[string]bool{}
	for email, c := range found {
		others[email] = !slices.ContainsFunc(people, func(p contact.Person) bool { return p.ID == c })
	}
	return others, err
}
