package segment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// MaxMembers is how many contacts one request may add or remove.
const MaxMembers = 1000

// People selects contacts by id and by address.
type People struct {
	IDs    []id.Contact
	Emails []string
}

// MemberSort returns the order in which a request lists the members of s. A list is in the order in
// which members were added, unless the request names another.
func (s Segment) MemberSort(name string) contact.Sort {
	if s.Type == Static && (name == "" || name == string(contact.ByMemberAdded)) {
		return contact.ByMemberAdded
	}
	return contact.ParseSort(name)
}

// Added is the result of Add. NotFound holds ids and addresses as the request had them.
type Added struct {
	Added, Already int
	NotFound       []string
}

// Removed is the result of Remove. NotMembers counts all other contacts of the request, including
// those that do not exist.
type Removed struct {
	Removed, NotMembers int
}

// Add puts contacts on a static list. It does not create contacts.
func Add(ctx context.Context, db *sqldb.DB, tenant id.Tenant, segment id.Segment, people People, now time.Time) (Added, error) {
	if err := people.Check(); err != nil {
		return Added{}, err
	}
	var r Added
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		s, err := list(ctx, tx, tenant, segment)
		if err != nil {
			return err
		}
		contacts, missing, err := people.resolve(ctx, tx, tenant)
		if err != nil {
			return err
		}
		fresh, err := insertMembers(ctx, tx, tenant, s.ID, contacts, now)
		if err != nil {
			return err
		}
		r = Added{Added: len(fresh), Already: len(contacts) - len(fresh), NotFound: missing}
		return changed(ctx, tx, tenant, s, fresh, journal.ListAdded, now)
	})
	if err != nil {
		return Added{}, fmt.Errorf("add members: %w", err)
	}
	return r, nil
}

// Saved are contacts that a transaction has saved.
type Saved struct {
	fresh, known []id.Contact // fresh ones are on no list yet
}

// Add adds a contact. One that was withdrawn and is created again may be on lists.
func (s *Saved) Add(c contact.Contact, created bool) {
	if created && c.Revision == 1 {
		s.fresh = append(s.fresh, c.ID)
	} else {
		s.known = append(s.known, c.ID)
	}
}

// AddSaved puts contacts on a static list in the transaction that saved them, and returns those that it found and that
// were not on it. It is for a series of calls, as an import makes: only the last one recounts a small list, the others
// adjust its counts.
func AddSaved(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, segment id.Segment, saved Saved, last bool, now time.Time) ([]id.Contact, error) {
	joined, err := addSaved(ctx, tx, tenant, segment, saved, last, now)
	if err != nil {
		return nil, fmt.Errorf("add saved members: %w", err)
	}
	return joined, nil
}

func addSaved(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, segment id.Segment, saved Saved, last bool, now time.Time) ([]id.Contact, error) {
	s, err := list(ctx, tx, tenant, segment)
	if err != nil {
		return nil, err
	}
	t := tx.Table("segment_id UUID", "contact_id UUID", "added_at BIGINT")
	for _, c := range saved.fresh {
		t.Add(s.ID, c, sqldb.Micros(now))
	}
	if err := t.Load(ctx, tx, "segment_member", tenant); err != nil {
		return nil, err
	}
	joined, err := insertMembers(ctx, tx, tenant, s.ID, saved.known, now)
	if err != nil {
		return nil, err
	}
	all := append(slices.Clone(saved.fresh), joined...)
	count := adjust
	if last {
		count = recountSmall
	}
	if err := count(ctx, tx, tenant, s, all, true, now); err != nil {
		return nil, err
	}
	return joined, appendChanges(ctx, tx, tenant, s, all, journal.ListAdded, now)
}

// insertMembers puts contacts on a list and returns those that were not on it.
func insertMembers(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, segment id.Segment, contacts []id.Contact, now time.Time) ([]id.Contact, error) {
	if len(contacts) == 0 {
		return nil, nil
	}
	t := tx.Table("contact_id UUID")
	for _, c := range contacts {
		t.Add(c)
	}
	rows, err := tx.Query(ctx, `
		INSERT INTO segment_member (tenant_id, segment_id, contact_id, added_at)
		SELECT h.tenant_id, `+tx.Param(2, "UUID")+`, v.contact_id, CAST($3 AS BIGINT) FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 4)+`
		WHERE true ON CONFLICT DO NOTHING RETURNING contact_id`, t.Args(tenant, segment, sqldb.Micros(now))...)
	return sqldb.Collect(rows, err, contactID)
}

// Remove takes contacts off a static list.
func Remove(ctx context.Context, db *sqldb.DB, tenant id.Tenant, segment id.Segment, people People, now time.Time) (Removed, error) {
	if err := people.Check(); err != nil {
		return Removed{}, err
	}
	var r Removed
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		s, err := list(ctx, tx, tenant, segment)
		if err != nil {
			return err
		}
		contacts, missing, err := people.resolve(ctx, tx, tenant)
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `
			DELETE FROM segment_member
			WHERE tenant_id = $1 AND segment_id = $2 AND contact_id`+tx.In(3)+` RETURNING contact_id`,
			tenant, segment, sqldb.List(tx, contacts))
		gone, err := sqldb.Collect(rows, err, contactID)
		if err != nil {
			return err
		}
		r = Removed{Removed: len(gone), NotMembers: len(contacts) + len(missing) - len(gone)}
		return changed(ctx, tx, tenant, s, gone, journal.ListRemoved, now)
	})
	if err != nil {
		return Removed{}, fmt.Errorf("remove members: %w", err)
	}
	return r, nil
}

// RemoveAdded takes those contacts off a static list that were added to it at a time, and returns them. A list that is
// gone has none.
func RemoveAdded(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, segment id.Segment, contacts []id.Contact, at, now time.Time) ([]id.Contact, error) {
	if len(contacts) == 0 {
		return nil, nil
	}
	s, err := list(ctx, tx, tenant, segment)
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrNotStatic) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, `
		DELETE FROM segment_member
		WHERE tenant_id = $1 AND segment_id = $2 AND contact_id`+tx.In(3)+` AND added_at = $4 RETURNING contact_id`,
		tenant, segment, sqldb.List(tx, contacts), sqldb.Micros(at))
	gone, err := sqldb.Collect(rows, err, contactID)
	if err != nil {
		return nil, fmt.Errorf("remove members: %w", err)
	}
	return gone, changed(ctx, tx, tenant, s, gone, journal.ListRemoved, now)
}

// Check reports a fault unless p names 1 to MaxMembers contacts.
func (p People) Check() error {
	switch n := len(p.IDs) + len(p.Emails); {
	case n == 0:
		return fault.Input(fault.Field{Path: "contact_ids", Message: "name at least one contact here or in emails"})
	case n > MaxMembers:
		return ErrLimit.Sayf("at most %d contacts at once", MaxMembers)
	}
	return nil
}

// resolve returns the contacts that exist, each once and ordered by id, and the names in p that
// match none.
func (p People) resolve(ctx context.Context, tx *sqldb.DB, tenant id.Tenant) ([]id.Contact, []string, error) {
	missing := []string{}
	miss := func(name string) {
		if !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	existing, err := contact.Existing(ctx, tx, tenant, p.IDs)
	if err != nil {
		return nil, nil, err
	}
	var found []id.Contact
	for _, c := range p.IDs {
		if !existing[c] {
			miss(c.String())
			continue
		}
		found = append(found, c)
	}
	addrs := make([]string, len(p.Emails))
	for i, e := range p.Emails {
		addrs[i], _ = address.Normalize(e) // an invalid address matches no contact
	}
	byEmail, err := contact.IDsByEmail(ctx, tx, tenant, addrs)
	if err != nil {
		return nil, nil, err
	}
	for i, a := range addrs {
		if c, ok := byEmail[a]; ok {
			found = append(found, c)
			continue
		}
		miss(p.Emails[i])
	}
	slices.SortFunc(found, id.Compare)
	return slices.Compact(found), missing, nil
}

// list returns a static list and locks its row, so that concurrent changes do not corrupt its
// counts.
func list(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, segment id.Segment) (Segment, error) {
	s, err := find(ctx, tx, tenant, segment.String(), tx.ForUpdate())
	if err != nil {
		return Segment{}, err
	}
	if s.Type != Static {
		return Segment{}, ErrNotStatic
	}
	return s, nil
}

// changed updates the counts and appends the changes to the journal.
func changed(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, s Segment, contacts []id.Contact, t journal.Type, now time.Time) error {
	if len(contacts) == 0 {
		return nil
	}
	if err := recountSmall(ctx, tx, tenant, s, contacts, t == journal.ListAdded, now); err != nil {
		return err
	}
	return appendChanges(ctx, tx, tenant, s, contacts, t, now)
}

func appendChanges(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, s Segment, contacts []id.Contact, t journal.Type, now time.Time) error {
	data := map[string]any{"segment_id": s.ID, "segment_key": s.Key}
	entries := make([]journal.Entry, len(contacts))
	for i, c := range contacts {
		entries[i] = journal.Entry{Tenant: tenant, Type: t, Contact: c, At: now, Data: data}
	}
	return journal.Append(ctx, tx, entries...)
}

// smallList is the size up to which a change of members recounts the whole list. The counts of a
// larger list are adjusted by the contacts added or removed, since loading millions of contacts in
// batches would otherwise count it each time. That misses members whose status changed meanwhile;
// the next refresh corrects it.
const smallList = 20_000

// recountSmall recounts a small list after contacts joined or left it, and adjusts the counts of a larger one.
func recountSmall(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, s Segment, contacts []id.Contact, joined bool, now time.Time) error {
	if s.MembersAll != nil && *s.MembersAll > smallList {
		return adjust(ctx, tx, tenant, s, contacts, joined, now)
	}
	return s.recount(ctx, tx, tenant, now)
}

// adjust changes the counts of a list by contacts that joined or left it. A list that was never counted is counted.
func adjust(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, s Segment, contacts []id.Contact, joined bool, now time.Time) error {
	if s.MembersAll == nil || s.Members == nil {
		return s.recount(ctx, tx, tenant, now)
	}
	var sendable int
	err := tx.QueryRow(ctx, `
		SELECT COUNT(*) FROM contact c
		WHERE c.tenant_id = $1 AND c.id`+tx.In(2)+` AND `+isSendable, tenant, sqldb.List(tx, contacts)).Scan(&sendable)
	if err != nil {
		return err
	}
	all := len(contacts)
	if !joined {
		all, sendable = -all, -sendable
	}
	return s.store(ctx, tx, tenant, Counts{max(0, *s.Members+sendable), max(0, *s.MembersAll+all)}, now)
}

// Members returns one page of a segment's contacts. Only members of a list have a time at which
// they were added; those of a dynamic segment cannot be sorted by it.
func Members(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s Segment, q contact.Query, now time.Time) (contact.Page, error) {
	if s.Type == Dynamic {
		env, err := Env(ctx, db, tenant, now)
		if err != nil {
			return contact.Page{}, err
		}
		tree, err := s.tree(env.Schema)
		if err != nil {
			return contact.Page{}, err
		}
		if q.Where, err = matching(db, env, tree, q.Where); err != nil {
			return contact.Page{}, err
		}
		return contact.List(ctx, db, tenant, q)
	}
	q.From = &contact.Restriction{
		Join:    ` JOIN segment_member m ON m.tenant_id = c.tenant_id AND m.contact_id = c.id AND m.segment_id = $2 `,
		Args:    []any{s.ID},
		AddedAt: "m.added_at",
	}
	return contact.List(ctx, db, tenant, q)
}

// Membership is one list that a contact is on.
type Membership struct {
	Segment Segment
	AddedAt time.Time
}

// Memberships returns the static lists a contact is on, by name.
func Memberships(ctx context.Context, db *sqldb.DB, tenant id.Tenant, c id.Contact) ([]Membership, error) {
	rows, err := db.Query(ctx, `
		SELECT segment_id, added_at FROM segment_member
		WHERE tenant_id = $1 AND contact_id = $2`, tenant, c)
	type row struct {
		segment id.Segment
		added   int64
	}
	found, err := sqldb.Collect(rows, err, func(scan func(...any) error) (row, error) {
		var r row
		err := scan(&r.segment, &r.added)
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("list memberships: %w", err)
	}
	out := []Membership{}
	if len(found) == 0 {
		return out, nil
	}
	all, err := List(ctx, db, tenant, Filter{Types: []Type{Static}})
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if i := slices.IndexFunc(found, func(r row) bool { return r.segment == s.ID }); i >= 0 {
			out = append(out, Membership{s, sqldb.Time(found[i].added)})
		}
	}
	return out, nil
}
