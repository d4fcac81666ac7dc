package seedlist

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

const seedColumns = `id, seed_list_id, email, provider, status, status_reason, retired_at`

func scanSeed(scan func(...any) error) (s Seed, err error) {
	err = scan(&s.ID, &s.List, &s.Email, &s.Provider, &s.Status, sqldb.ToText(&s.Reason), sqldb.ToNullTime(&s.RetiredAt))
	return s, err
}

// Filter selects seeds of a list, and a page of them.
type Filter struct {
	Search   string   // part of the address, ignoring case
	Statuses []Status // any of these; empty: all
	Offset   int
	Limit    int
}

// ParseStatuses parses names of statuses.
func ParseStatuses(names []string) ([]Status, error) {
	list := make([]Status, len(names))
	for i, n := range names {
		if list[i] = Status(n); !slices.Contains(Statuses(), list[i]) {
			return nil, ErrStatus
		}
	}
	return list, nil
}

// Seeds returns a page of the seeds of a list, by address, and the number of all that match.
func Seeds(ctx context.Context, db *sqldb.DB, tenant id.Tenant, list id.SeedList, f Filter) (seeds []Seed, total int, err error) {
	if _, err := Find(ctx, db, tenant, list); err != nil {
		return nil, 0, err
	}
	if len(f.Statuses) == 0 {
		f.Statuses = Statuses()
	}
	if strings.ContainsRune(f.Search, 0) { // no address contains it
		return nil, 0, nil
	}
	const where = ` FROM seed WHERE tenant_id = $1 AND seed_list_id = $2 AND email LIKE $3 ESCAPE '\' AND status`
	args := []any{tenant, list, "%" + sqldb.EscapeLike(strings.ToLower(strings.TrimSpace(f.Search))) + "%", sqldb.List(db, f.Statuses)}
	err = db.QueryRow(ctx, `SELECT COUNT(*)`+where+db.In(4), args...).Scan(&total)
	if err == nil {
		rows, failed := db.Query(ctx, `SELECT `+seedColumns+where+db.In(4)+`ORDER BY email LIMIT $5 OFFSET $6`, append(args, f.Limit, f.Offset)...)
		seeds, err = sqldb.Collect(rows, failed, scanSeed)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("list seeds: %w", err)
	}
	return seeds, total, nil
}

// Action is a change of one seed by a user.
type Action string

// The actions. Each of them may be repeated.
const (
	Pause      Action = "pause"      // an active seed
	Resume     Action = "resume"     // a paused seed
	Retire     Action = "retire"     // any seed; updates do not reactivate it
	Reactivate Action = "reactivate" // a retired seed
)

// to returns the state of a seed after the action, and whether the action is allowed.
func (a Action) to(s Seed, isContact bool, now time.Time) (Seed, bool) {
	switch {
	case a == Pause && (s.Status == Active || s.Status == Paused):
		s.Status = Paused
	case a == Resume && (s.Status == Active || s.Status == Paused):
		s.Status = Active
	case a == Retire && s.Status == Retired:
		s.Reason = RetiredByUser // it keeps the time of its retirement
	case a == Retire:
		s.Status, s.Reason, s.RetiredAt = Retired, RetiredByUser, &now
	case a == Reactivate && s.Status == Retired:
		s.Status, s.Reason, s.RetiredAt = Active, "", nil
		if isContact {
			s.Status, s.Reason = Conflict, IsContact
		}
	case a == Reactivate && s.Status == Active:
	default:
		return s, false
	}
	return s, true
}

// Apply applies an action to a seed of a list.
func (a Action) Apply(ctx context.Context, db *sqldb.DB, tenant id.Tenant, list id.SeedList, seed id.Seed, now time.Time) (Seed, error) {
	var s Seed
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		if err := lock(ctx, tx, tenant, list); err != nil {
			return err
		}
		var err error
		s, err = scanSeed(tx.QueryRow(ctx, `
			SELECT `+seedColumns+` FROM seed WHERE tenant_id = $1 AND id = $2 AND seed_list_id = $3`+tx.ForUpdate(), tenant, seed, list).Scan)
		if errors.Is(err, sqldb.ErrNoRows) {
			return ErrNotFound
		}
		if err != nil {
			return err
		}
		contacts, err := contactsAmong(ctx, tx, tenant, []string{s.Email})
		if err != nil {
			return err
		}
		next, ok := a.to(s, contacts[s.Email], sqldb.Time(now.UnixMicro()))
		if !ok {
			return ErrTransition.Sayf("a seed that is %s does not allow %s", s.Status, a).With(map[string]Status{"status": s.Status})
		}
		if s.Status == Retired && next.Status != Retired {
			n, err := countPresent(ctx, tx, tenant, list)
			if err != nil {
				return err
			}
			if n >= MaxSeeds {
				return errTooMany
			}
		}
		s = next
		_, err = tx.Exec(ctx, `
			UPDATE seed SET status = $3, status_reason = $4, retired_at = $5 WHERE tenant_id = $1 AND id = $2`,
			tenant, s.ID, s.Status, sqldb.Null(s.Reason), sqldb.NullMicros(s.RetiredAt))
		return err
	})
	if err != nil {
		return Seed{}, fmt.Errorf("%s a seed: %w", a, err)
	}
	return s, nil
}

// countPresent returns how many seeds of a list are not retired.
func countPresent(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, list id.SeedList) (int, error) {
	var n int
	err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM seed WHERE tenant_id = $1 AND seed_list_id = $2 AND status <> 'retired'`, tenant, list).Scan(&n)
	return n, err
}

// lookupPage is how many addresses one statement looks up.
const lookupPage = 1000

// contactsAmong returns which of some normalized addresses are those of contacts. Anonymised contacts
// have no address any more, deleted ones keep theirs.
func contactsAmong(ctx context.Context, db *sqldb.DB, tenant id.Tenant, emails []string) (map[string]bool, error) {
	are := map[string]bool{}
	for page := range slices.Chunk(emails, lookupPage) {
		b := db.Batch()
		found := contact.QueueFind(b, db, tenant, nil, page)
		if err := b.Run(ctx); err != nil {
			return nil, fmt.Errorf("find contacts with the addresses of seeds: %w", err)
		}
		for email, c := range found.ByEmail {
			if !c.Anonymized {
				are[email] = true
			}
		}
	}
	return are, nil
}

// ActiveSeeds returns a page of the active seeds of a list by id, after one.
func ActiveSeeds(ctx context.Context, db *sqldb.DB, tenant id.Tenant, list id.SeedList, after id.Seed, limit int) ([]Seed, error) {
	rows, err := db.Query(ctx, `
		SELECT `+seedColumns+` FROM seed
		WHERE tenant_id = $1 AND seed_list_id = $2 AND id > $3 AND status = 'active' ORDER BY id LIMIT $4`, tenant, list, after, limit)
	seeds, err := sqldb.Collect(rows, err, scanSeed)
	if err != nil {
		return nil, fmt.Errorf("load active seeds: %w", err)
	}
	return seeds, nil
}

// SeedsByID returns those of some seeds that exist, by id.
func SeedsByID(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Seed) (map[id.Seed]Seed, error) {
	rows, err := db.Query(ctx, `SELECT `+seedColumns+` FROM seed WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	list, err := sqldb.Collect(rows, err, scanSeed)
	if err != nil {
		return nil, fmt.Errorf("load seeds: %w", err)
	}
	found := make(map[id.Seed]Seed, len(list))
	for _, s := range list {
		found[s.ID] = s
	}
	return found, nil
}

// WithContacts returns which of some seeds have the address of a contact.
func WithContacts(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seeds []Seed) (map[string]bool, error) {
	emails := make([]string, len(seeds))
	for i, s := range seeds {
		emails[i] = s.Email
	}
	return contactsAmong(ctx, db, tenant, emails)
}
