package seedlist

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// Change holds the changes that a request makes to a list; nil leaves a part unchanged, and a
// pointer to nil clears it.
type Change struct {
	Name             *string
	VendorLabel      **string
	VendorURL        **string
	IncludeByDefault *bool
	RotationDays     **int
	GraceDays        *int
	Identities       *[]id.Identity
}

// Limits of the fields of a list.
const (
	maxName     = 200
	maxURL      = 2000
	maxRotation = 365
)

// CheckNew validates the change as one of a new list, except for references.
func (ch Change) CheckNew() error { return ch.check(List{}) }

// Check validates the change, except for references, independently of the list.
func (ch Change) Check() error { return ch.check(List{Name: "-"}) }

func (ch Change) check(l List) error {
	var p fault.Problems
	ch.apply(&l, &p)
	return p.Err()
}

// apply sets the fields of the change, except for references, and adds their problems to p.
func (ch Change) apply(l *List, p *fault.Problems) {
	if ch.Name != nil {
		l.Name = strings.TrimSpace(norm.NFC.String(*ch.Name))
	}
	if n := utf8.RuneCountInString(l.Name); n == 0 || n > maxName || strings.ContainsRune(l.Name, 0) {
		p.Add("name", "required, 1 to 200 characters")
	}
	if ch.VendorLabel != nil {
		l.VendorLabel = trimmed(*ch.VendorLabel)
		if v := l.VendorLabel; v != nil && (utf8.RuneCountInString(*v) > maxName || strings.ContainsRune(*v, 0)) {
			p.Add("vendor_label", "at most 200 characters")
		}
	}
	if ch.VendorURL != nil {
		l.VendorURL = trimmed(*ch.VendorURL)
		if l.VendorURL != nil && !isWebAddress(*l.VendorURL) {
			p.Add("vendor_dashboard_url", "must be an http or https URL of at most 2000 characters")
		}
	}
	if ch.IncludeByDefault != nil {
		l.IncludeByDefault = *ch.IncludeByDefault
	}
	if ch.RotationDays != nil {
		l.RotationDays = *ch.RotationDays
		if d := l.RotationDays; d != nil && (*d < 1 || *d > maxRotation) {
			p.Add("rotation_days", "must be from 1 to 365, or null")
		}
	}
	if ch.GraceDays != nil {
		l.GraceDays = *ch.GraceDays
		if l.GraceDays < 0 || l.GraceDays > maxRotation {
			p.Add("rotation_grace_days", "must be from 0 to 365")
		}
	}
}

// trimmed returns a text without surrounding spaces, or nil for an empty one.
func trimmed(s *string) *string {
	if s == nil {
		return nil
	}
	t := strings.TrimSpace(norm.NFC.String(*s))
	if t == "" {
		return nil
	}
	return &t
}

func isWebAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && len(s) <= maxURL && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil &&
		!strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

// Create creates a list without addresses.
func Create(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ch Change, now time.Time) (List, error) {
	return write(ctx, db, tenant, ch, func(tx *sqldb.DB) (List, error) {
		var n int
		if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM seed_list WHERE tenant_id = $1`, tenant).Scan(&n); err != nil {
			return List{}, err
		}
		if n >= MaxLists {
			return List{}, ErrLimit.Sayf("a tenant may have at most %d seed lists", MaxLists)
		}
		return List{ID: id.New[id.SeedList](), CreatedAt: now}, nil
	}, func(tx *sqldb.DB, l List) error {
		n, err := tx.Exec(ctx, `
			INSERT INTO seed_list (tenant_id, id, name, vendor_label, vendor_dashboard_url, include_by_default, rotation_days, rotation_grace_days, created_at, updated_at, revised_by)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10) ON CONFLICT (tenant_id, name) DO NOTHING`,
			tenant, l.ID, l.Name, l.VendorLabel, l.VendorURL, l.IncludeByDefault, l.RotationDays, l.GraceDays, sqldb.Micros(now), revision.By(ctx))
		if err == nil && n == 0 {
			err = ErrDuplicate
		}
		return err
	})
}

// Edit changes a list, but not its addresses.
func Edit(ctx context.Context, db *sqldb.DB, tenant id.Tenant, list id.SeedList, ch Change, now time.Time) (List, error) {
	return write(ctx, db, tenant, ch, func(tx *sqldb.DB) (List, error) {
		if err := lock(ctx, tx, tenant, list); err != nil {
			return List{}, err
		}
		if err := Revisions.Check(ctx, tx, tenant, list); err != nil {
			return List{}, err
		}
		return Find(ctx, tx, tenant, list)
	}, func(tx *sqldb.DB, l List) error {
		var taken int
		err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM seed_list WHERE tenant_id = $1 AND name = $2 AND id <> $3`, tenant, l.Name, l.ID).Scan(&taken)
		if err != nil {
			return err
		}
		if taken > 0 {
			return ErrDuplicate
		}
		_, err = tx.Exec(ctx, `
			UPDATE seed_list SET name = $3, vendor_label = $4, vendor_dashboard_url = $5, include_by_default = $6,
				rotation_days = $7, rotation_grace_days = $8, updated_at = $9, revision = revision + 1, revised_by = $10
			WHERE tenant_id = $1 AND id = $2`,
			tenant, l.ID, l.Name, l.VendorLabel, l.VendorURL, l.IncludeByDefault, l.RotationDays, l.GraceDays, sqldb.Micros(now), revision.By(ctx))
		return err
	})
}

// write applies a change to the list that load returns, stores the result, and returns the list.
func write(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ch Change, load func(tx *sqldb.DB) (List, error), store func(tx *sqldb.DB, l List) error) (List, error) {
	var l List
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		var err error
		if l, err = load(tx); err != nil {
			return err
		}
		var p fault.Problems
		ch.apply(&l, &p)
		if err := checkIdentities(ctx, tx, tenant, ch.Identities, &p); err != nil {
			return err
		}
		if err := p.Err(); err != nil {
			return err
		}
		if err := store(tx, l); err != nil {
			return err
		}
		if ch.Identities != nil {
			if err := attach(ctx, tx, tenant, l.ID, *ch.Identities); err != nil {
				return err
			}
		}
		l, err = Find(ctx, tx, tenant, l.ID)
		return err
	})
	if sqldb.IsUniqueViolation(err) {
		return List{}, ErrDuplicate.Because(err)
	}
	if err != nil {
		return List{}, fmt.Errorf("write a seed list: %w", err)
	}
	return l, nil
}

// checkIdentities adds a problem for each identity that does not exist.
func checkIdentities(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, ids *[]id.Identity, p *fault.Problems) error {
	if ids == nil || len(*ids) == 0 {
		return nil
	}
	found, err := sender.IdentitiesByID(ctx, tx, tenant, *ids)
	if err != nil {
		return err
	}
	for _, i := range *ids {
		if !slices.ContainsFunc(found, func(f sender.Identity) bool { return f.ID == i }) {
			p.AddElement("sending_identity_ids", "no such sending identity")
		}
	}
	return nil
}

// attach replaces the identities that a list is attached to.
func attach(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, list id.SeedList, ids []id.Identity) error {
	if _, err := tx.Exec(ctx, `DELETE FROM seed_list_identity WHERE tenant_id = $1 AND seed_list_id = $2`, tenant, list); err != nil {
		return err
	}
	t := tx.Table("identity_id UUID", "seed_list_id UUID")
	ids = slices.Clone(ids)
	slices.SortFunc(ids, id.Compare)
	for _, i := range slices.Compact(ids) {
		t.Add(i, list)
	}
	_, err := t.Insert(ctx, tx, "seed_list_identity", tenant)
	return err
}

// lock locks the row of a list until tx ends.
func lock(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, list id.SeedList) error {
	var one int
	err := tx.QueryRow(ctx, `SELECT 1 FROM seed_list WHERE tenant_id = $1 AND id = $2`+tx.ForUpdate(), tenant, list).Scan(&one)
	if errors.Is(err, sqldb.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

// Delete deletes a list with its addresses and its history.
func Delete(ctx context.Context, db *sqldb.DB, tenant id.Tenant, list id.SeedList) error {
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		if err := Revisions.Check(ctx, tx, tenant, list); err != nil {
			return err
		}
		n, err := tx.Exec(ctx, `DELETE FROM seed_list WHERE tenant_id = $1 AND id = $2`, tenant, list)
		if err == nil && n == 0 {
			err = ErrNotFound
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("delete a seed list: %w", err)
	}
	return nil
}

// Find returns a list.
func Find(ctx context.Context, db *sqldb.DB, tenant id.Tenant, list id.SeedList) (List, error) {
	found, err := ByIDs(ctx, db, tenant, []id.SeedList{list})
	if err == nil && len(found) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return List{}, err
	}
	return found[0], nil
}

// All returns the lists of a tenant by name.
func All(ctx context.Context, db *sqldb.DB, tenant id.Tenant) ([]List, error) {
	return load(ctx, db, tenant, `SELECT `+listColumns+` FROM seed_list WHERE tenant_id = $1 ORDER BY `+db.SortText("name")+`, id`)
}

// ByIDs returns those of the lists that exist, by name.
func ByIDs(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.SeedList) ([]List, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return load(ctx, db, tenant, `SELECT `+listColumns+` FROM seed_list WHERE tenant_id = $1 AND id`+db.In(2)+`ORDER BY `+db.SortText("name")+`, id`, sqldb.List(db, ids))
}

// Names returns the names of those of the lists that exist.
func Names(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.SeedList) (map[id.SeedList]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := db.Query(ctx, `SELECT id, name FROM seed_list WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	names, err := sqldb.Names[id.SeedList](rows, err)
	if err != nil {
		return nil, fmt.Errorf("load the names of seed lists: %w", err)
	}
	return names, nil
}

const listColumns = `id, name, vendor_label, vendor_dashboard_url, include_by_default, rotation_days, rotation_grace_days, refreshed_at, created_at, updated_at, revision`

// load returns the lists that a statement selects, with their identities and counts.
func load(ctx context.Context, db *sqldb.DB, tenant id.Tenant, text string, args ...any) ([]List, error) {
	rows, err := db.Query(ctx, text, append([]any{tenant}, args...)...)
	lists, err := sqldb.Collect(rows, err, func(scan func(...any) error) (l List, err error) {
		l.Identities = []Identity{}
		err = scan(&l.ID, &l.Name, &l.VendorLabel, &l.VendorURL, &l.IncludeByDefault, &l.RotationDays, &l.GraceDays,
			sqldb.ToNullTime(&l.SeedsUpdatedAt), sqldb.ToTime(&l.CreatedAt), sqldb.ToTime(&l.UpdatedAt), &l.Revision)
		return l, err
	})
	if err == nil {
		err = addDetails(ctx, db, tenant, lists)
	}
	if err != nil {
		return nil, fmt.Errorf("load seed lists: %w", err)
	}
	return lists, nil
}

// addDetails adds the identities and counts of lists.
func addDetails(ctx context.Context, db *sqldb.DB, tenant id.Tenant, lists []List) error {
	if len(lists) == 0 {
		return nil
	}
	at, ids := make(map[id.SeedList]*List, len(lists)), make([]id.SeedList, len(lists))
	for i := range lists {
		at[lists[i].ID], ids[i] = &lists[i], lists[i].ID
	}
	rows, err := db.Query(ctx, `
		SELECT x.seed_list_id, i.id, i.email_address FROM seed_list_identity AS x
		JOIN sending_identity AS i ON i.tenant_id = x.tenant_id AND i.id = x.identity_id
		WHERE x.tenant_id = $1 AND x.seed_list_id`+db.In(2)+`ORDER BY i.email_address`, tenant, sqldb.List(db, ids))
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var list id.SeedList
		var i Identity
		err := scan(&list, &i.ID, &i.Address)
		at[list].Identities = append(at[list].Identities, i)
		return err
	})
	if err != nil {
		return err
	}
	rows, err = db.Query(ctx, `
		SELECT seed_list_id, status, COUNT(*) FROM seed WHERE tenant_id = $1 AND seed_list_id`+db.In(2)+`GROUP BY seed_list_id, status`,
		tenant, sqldb.List(db, ids))
	return sqldb.Each(rows, err, func(scan func(...any) error) error {
		var list id.SeedList
		var status Status
		var n int
		err := scan(&list, &status, &n)
		at[list].Counts.add(status, n)
		return err
	})
}

func (c *Counts) add(s Status, n int) {
	switch s {
	case Active:
		c.Active += n
	case Paused:
		c.Paused += n
	case Retired:
		c.Retired += n
	case Conflict:
		c.Conflict += n
	}
}
