// Package tenant knows the tenants of an installation and their settings.
//
//	active ⇄ paused
//	   └───────┴──→ deleted   (the row and its slug stay)
//
// Everything else hangs on a tenant's id. Whatever a new tenant starts with is
// put there by the packages that own it: app lists their Setup functions.
package tenant

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Status says whether a tenant may work.
type Status string

// The states of a tenant.
const (
	Active  Status = "active"
	Paused  Status = "paused"  // everything works, but nothing is sent
	Deleted Status = "deleted" // nobody finds it any more
)

// ErrNotFound says that no tenant has the slug, or that it was deleted.
var ErrNotFound = fault.New(fault.NotFound, "TENANT_NOT_FOUND", "there is no such tenant")

// ErrDuplicateSlug says that a tenant has, or had, the slug: it is never reused.
var ErrDuplicateSlug = fault.New(fault.Conflict, "DUPLICATE_SLUG", "the tenant slug is taken")

// Tenant is one customer of the installation. Nothing of one is visible to another.
type Tenant struct {
	ID           id.Tenant
	Slug         string
	Name         string
	Status       Status
	PauseReason  string
	ContactLimit *int // nil: none
	SiteKey      string
	Settings     Settings
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// Setup puts into a new tenant what it starts with. It runs in the transaction
// that makes the tenant.
type Setup func(ctx context.Context, tx *sqldb.DB, t Tenant, now time.Time) error

// slugs are immutable, and part of every path.
var slugs = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,38}[a-z0-9]$`)

// CheckSlug adds a problem at path unless slug is one.
func CheckSlug(p *fault.Problems, path, slug string) {
	switch {
	case slug == "":
		p.Add(path, "required")
	case !slugs.MatchString(slug):
		p.Add(path, "use 3 to 40 lower-case letters, digits and hyphens, beginning and ending with a letter or digit")
	}
}

// Create makes a tenant and runs the setups in order, all in one transaction.
// An empty timezone means UTC.
func Create(ctx context.Context, db *sqldb.DB, slug, name, timezone string, now time.Time, setups ...Setup) (Tenant, error) {
	name = strings.TrimSpace(name)
	timezone = cmp.Or(timezone, "UTC")
	var p fault.Problems
	CheckSlug(&p, "slug", slug)
	CheckName(&p, "name", name)
	checkTimezone(&p, "timezone", timezone)
	if err := p.Err(); err != nil {
		return Tenant{}, err
	}
	t := Tenant{
		Slug:      slug,
		Name:      name,
		Status:    Active,
		SiteKey:   "pk_" + strings.ToLower(rand.Text()),
		Settings:  Defaults(timezone),
		CreatedAt: now.UTC().Truncate(time.Microsecond),
		UpdatedAt: now.UTC().Truncate(time.Microsecond),
	}
	err := numbered(func() error {
		return db.InTx(ctx, func(tx *sqldb.DB) (err error) {
			if t.ID, err = insert(ctx, tx, t); err != nil {
				return err
			}
			return t.setUp(ctx, tx, setups, now)
		})
	})
	if err != nil {
		return Tenant{}, err
	}
	if len(setups) > 0 { // a setup may have chosen a default
		return ByID(ctx, db, t.ID)
	}
	return t, nil
}

func (t Tenant) setUp(ctx context.Context, tx *sqldb.DB, setups []Setup, now time.Time) error {
	for _, setup := range setups {
		if err := setup(ctx, tx, t, now); err != nil {
			return fmt.Errorf("set up tenant: %w", err)
		}
	}
	return nil
}

// numbered runs create again when a tenant that was made at the same moment took
// the number.
func numbered(create func() error) error {
	for try := 1; ; try++ {
		if err := create(); try == 8 || !errors.Is(err, errNumberTaken) {
			return err
		}
	}
}

// Pause stops every send of the tenant. Pausing again replaces the reason.
func Pause(ctx context.Context, db *sqldb.DB, t id.Tenant, reason string, now time.Time) error {
	return move(ctx, db, t, Paused, reason, now)
}

// Resume lets a paused tenant send again.
func Resume(ctx context.Context, db *sqldb.DB, t id.Tenant, now time.Time) error {
	return move(ctx, db, t, Active, "", now)
}

// Delete hides the tenant for good. Its rows and its slug stay.
func Delete(ctx context.Context, db *sqldb.DB, t id.Tenant, now time.Time) error {
	return move(ctx, db, t, Deleted, "", now)
}

func move(ctx context.Context, db *sqldb.DB, t id.Tenant, to Status, reason string, now time.Time) error {
	n, err := db.Exec(ctx, `
		UPDATE tenant SET status = $2, pause_reason = $3, updated_at = $4
		WHERE tenant_id = $1 AND status <> 'deleted'`,
		t, to, sqldb.Null(reason), now.UnixMicro())
	if err != nil {
		return fmt.Errorf("make tenant %s: %w", to, err)
	}
	if n == 0 {
		return ErrNotFound
	}
	return nil
}

// SetContactLimit bounds how many billable contacts the tenant may hold; nil
// lifts the bound. Contacts over it stay, new ones are refused.
func SetContactLimit(ctx context.Context, db *sqldb.DB, t id.Tenant, limit *int, now time.Time) error {
	if limit != nil && *limit < 0 {
		return fault.Input(fault.Field{Path: "contact_limit", Message: "must not be negative"})
	}
	n, err := db.Exec(ctx, `
		UPDATE tenant SET contact_limit = $2, updated_at = $3
		WHERE tenant_id = $1 AND status <> 'deleted'`, t, limit, now.UnixMicro())
	if err != nil {
		return fmt.Errorf("set contact limit: %w", err)
	}
	if n == 0 {
		return ErrNotFound
	}
	return nil
}

// BySlug returns the tenant with the slug, unless it was deleted.
func BySlug(ctx context.Context, db *sqldb.DB, slug string) (Tenant, error) {
	return one(db.QueryRow(ctx, `
		SELECT `+columns+` FROM tenant
		WHERE slug = $1 AND status <> 'deleted' /* all tenants: a slug is how one is found */`, slug))
}

// ByID returns the tenant, deleted or not.
func ByID(ctx context.Context, db *sqldb.DB, t id.Tenant) (Tenant, error) {
	return one(db.QueryRow(ctx, `SELECT `+columns+` FROM tenant WHERE tenant_id = $1`, t))
}

// ContactLimit returns how many billable contacts the tenant may hold; nil: any number.
func ContactLimit(ctx context.Context, db *sqldb.DB, t id.Tenant) (*int, error) {
	var limit sql.NullInt64
	err := db.QueryRow(ctx, `SELECT contact_limit FROM tenant WHERE tenant_id = $1`, t).Scan(&limit)
	switch {
	case errors.Is(err, sqldb.ErrNoRows):
		return nil, ErrNotFound
	case err != nil:
		return nil, fmt.Errorf("read the contact limit: %w", err)
	case !limit.Valid:
		return nil, nil
	}
	return new(int(limit.Int64)), nil
}

// List returns all tenants that were not deleted, by slug.
func List(ctx context.Context, db *sqldb.DB) ([]Tenant, error) {
	rows, err := db.Query(ctx, `
		SELECT `+columns+` FROM tenant
		WHERE status <> 'deleted' ORDER BY slug /* all tenants: the operator's list */`)
	list, err := sqldb.Collect(rows, err, scan)
	if err != nil {
		return nil, fmt.Errorf("list tenants: %w", err)
	}
	return list, nil
}

func one(row *sqldb.Row) (Tenant, error) {
	t, err := scan(row.Scan)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Tenant{}, ErrNotFound
	}
	if err != nil {
		return Tenant{}, fmt.Errorf("load tenant: %w", err)
	}
	return t, nil
}
