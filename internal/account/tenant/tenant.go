// Package tenant stores the tenants of an installation and their settings.
//
//	active ⇄ paused
//	   └───────┴──→ deleted   (the row and its slug stay)
//
// All other tables refer to a tenant's id. The initial records of a new tenant are created by the
// packages that own them: app lists their Setup functions.
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

	"github.com/packetboat/packetboat/internal/base/calendar"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Status is the status of a tenant.
type Status string

// The statuses of a tenant.
const (
	Active  Status = "active"
	Paused  Status = "paused"  // everything works except sending
	Deleted Status = "deleted" // not found by slug any more
)

// ErrNotFound means that no tenant has the slug, or that it was deleted.
var ErrNotFound = fault.New(fault.NotFound, "TENANT_NOT_FOUND", "there is no such tenant")

// ErrDuplicateSlug means that a tenant has, or had, the slug; slugs are never reused.
var ErrDuplicateSlug = fault.New(fault.Conflict, "DUPLICATE_SLUG", "the tenant slug is taken")

// Tenant is one customer of the installation. Tenants cannot see each other's data.
type Tenant struct {
	ID           id.Tenant
	Slug         string
	Name         string
	Status       Status
	PauseReason  string
	ContactLimit *int // nil: no limit
	SiteKey      string
	Settings     Settings
	RetentionAt  time.Time // when the retention was last changed; zero: never
	CreatedAt    time.Time
	UpdatedAt    time.Time
	Revision     int64 // of the settings; increases with each write
}

// Setup creates initial records of a new tenant, in the transaction that creates the tenant.
type Setup func(ctx context.Context, tx *sqldb.DB, t Tenant, now time.Time) error

// slugs never change, and are part of every path.
var slugs = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,38}[a-z0-9]$`)

// CheckSlug adds a problem at path if slug is not valid.
func CheckSlug(p *fault.Problems, path, slug string) {
	switch {
	case slug == "":
		p.Add(path, "required")
	case !slugs.MatchString(slug):
		p.Add(path, "use 3 to 40 lower-case letters, digits and hyphens, beginning and ending with a letter or digit")
	}
}

// Create creates a tenant and runs the setups in order, in one transaction. An empty timezone means
// UTC.
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
	timezone, _ = calendar.ZoneName(timezone)
	t := Tenant{
		Slug:      slug,
		Name:      name,
		Status:    Active,
		Revision:  1,
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
	if len(setups) > 0 { // a setup may have changed the tenant's settings
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

// numbered retries create if a concurrent transaction took the number.
func numbered(create func() error) error {
	for try := 1; ; try++ {
		if err := create(); try == 8 || !errors.Is(err, errNumberTaken) {
			return err
		}
	}
}

// Pause pauses all sends of the tenant. Pausing again replaces the reason.
func Pause(ctx context.Context, db *sqldb.DB, t id.Tenant, reason string, now time.Time) error {
	return move(ctx, db, t, Paused, reason, now)
}

// Resume ends a pause.
func Resume(ctx context.Context, db *sqldb.DB, t id.Tenant, now time.Time) error {
	return move(ctx, db, t, Active, "", now)
}

// Delete marks the tenant as deleted, permanently. Its data are deleted after ErasedAfter by package
// retention; the slug stays.
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

// SetContactLimit sets the maximum number of billable contacts; nil removes the limit. Existing
// contacts beyond it stay, new ones are refused.
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

// BySlug returns the tenant with the slug, unless it is deleted.
func BySlug(ctx context.Context, db *sqldb.DB, slug string) (Tenant, error) {
	return one(db.QueryRow(ctx, `
		SELECT `+columns+` FROM tenant
		WHERE slug = $1 AND status <> 'deleted' /* all tenants: a slug is how one is found */`, slug))
}

// BySiteKey returns the tenant with the site key, unless it is deleted.
func BySiteKey(ctx context.Context, db *sqldb.DB, key string) (Tenant, error) {
	return one(db.QueryRow(ctx, `
		SELECT `+columns+` FROM tenant
		WHERE site_key = $1 AND status <> 'deleted' /* all tenants: a site key is how one is found */`, key))
}

// ByID returns the tenant, deleted or not.
func ByID(ctx context.Context, db *sqldb.DB, t id.Tenant) (Tenant, error) {
	return one(db.QueryRow(ctx, `SELECT `+columns+` FROM tenant WHERE tenant_id = $1`, t))
}

// ContactLimit returns the maximum number of billable contacts; nil: no limit.
func ContactLimit(ctx context.Context, db *sqldb.DB, t id.Tenant) (*int, error) {
	b := db.Batch()
	limit := QueueContactLimit(b, t)
	if err := b.Run(ctx); err != nil {
		return nil, fmt.Errorf("read the contact limit: %w", err)
	}
	return limit()
}

// QueueContactLimit is ContactLimit as part of a batch. It returns a function to be called
// after the batch has run.
func QueueContactLimit(b *sqldb.Batch, t id.Tenant) func() (*int, error) {
	found := false
	var limit sql.NullInt64
	b.Queue(`SELECT contact_limit FROM tenant WHERE tenant_id = $1`, func(scan func(...any) error) error {
		found = true
		return scan(&limit)
	}, t)
	return func() (*int, error) {
		switch {
		case !found:
			return nil, ErrNotFound
		case !limit.Valid:
			return nil, nil
		}
		return new(int(limit.Int64)), nil
	}
}

// List returns all tenants that are not deleted, by slug.
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
