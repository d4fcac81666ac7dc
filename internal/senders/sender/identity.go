package sender

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// MaxIdentities is how many sending identities a tenant may have.
const MaxIdentities = 500

var (
	// ErrIdentityNotFound reports a sending identity that does not exist.
	ErrIdentityNotFound = fault.New(fault.NotFound, "NOT_FOUND", "no such sending identity")
	// ErrUnknownIdentity reports an address that is no sending identity.
	ErrUnknownIdentity = fault.New(fault.Invalid, "INVALID_SENDING_IDENTITY", "no sending identity has this address")
	// ErrIdentityInUse reports what still uses the identity.
	ErrIdentityInUse = fault.New(fault.Conflict, "IN_USE", "the sending identity is still in use")
	// ErrDuplicateIdentity reports that the tenant has the address already.
	ErrDuplicateIdentity = fault.New(fault.Conflict, "DUPLICATE_NAME", "a sending identity with this address exists")
	// ErrDomainNotVerified refuses to activate an identity before its domain is verified.
	ErrDomainNotVerified = fault.New(fault.Conflict, "DOMAIN_NOT_VERIFIED", "the sending domain is not verified yet")
	// ErrTooManyIdentities reports that the tenant has the maximum number of them.
	ErrTooManyIdentities = fault.New(fault.Invalid, "LIMIT_EXCEEDED", "a tenant may have 500 sending identities")
)

// Identity is an address that a tenant sends from.
type Identity struct {
	ID            id.Identity
	Tenant        id.Tenant
	Address       string
	DisplayName   string
	ReplyTo       string // empty: Address
	UTMCode       string // utm_source; empty means the tenant's slug
	Domain        id.Domain
	TrackingHost  *string // the domain's, if tracking is live
	ContentHost   *string // host of public pages; nil means TrackingHost
	DefaultLane   id.Lane
	EmailTypes    []id.EmailType
	VerifiedLanes []id.Lane // those that accepted a test mail
	Active        bool
	CreatedAt     time.Time
	Revision      int64 // increases with each change by users
}

// The tables of records with revisions, for conditions on them.
var (
	IdentityRevisions  = revision.Table{Name: "sending_identity", At: "COALESCE(revised_at, created_at)"}
	DomainRevisions    = revision.Table{Name: "sending_domain", At: "COALESCE(revised_at, created_at)"}
	EmailTypeRevisions = revision.Table{Name: "email_type", At: "COALESCE(revised_at, created_at)"}
	CategoryRevisions  = revision.Table{Name: "email_category", At: "COALESCE(revised_at, created_at)"}
)

// IdentityFields are the fields of a request; nil means absent, an empty string clears an optional
// field.
type IdentityFields struct {
	Address     *string
	DisplayName *string
	ReplyTo     *string
	UTMCode     *string
	ContentHost *string
	ImageHost   *string // refused unless it is empty: docs/api.md, "Not in this version"
	DefaultLane *id.Lane
	EmailTypes  *[]id.EmailType
	Active      *bool
}

// CheckNew validates the fields of a new identity, except for references.
func (f IdentityFields) CheckNew() error { return f.check(Identity{}) }

// Check validates the fields of a change, except for references, independently of the identity.
func (f IdentityFields) Check() error { return f.check(Identity{Address: "-", DisplayName: "-"}) }

func (f IdentityFields) check(i Identity) error {
	var p fault.Problems
	if f.Address != nil {
		if _, err := address.Parse(*f.Address); err != nil {
			p.Add("email_address", err.Error())
		}
	} else if i.Address == "" {
		p.Add("email_address", "required")
	}
	f.applyTexts(&i, &p)
	return p.Err()
}

// apply sets the fields in f, resolves references, and validates the result. By default a new
// identity is active if that is allowed.
func (f IdentityFields) apply(ctx context.Context, tx *sqldb.DB, i Identity, fresh bool) (Identity, error) {
	var p fault.Problems
	var domain Domain
	switch {
	case f.Address != nil:
		a, err := address.Parse(*f.Address)
		if err != nil {
			p.Add("email_address", err.Error())
			break
		}
		i.Address = a.String()
		domain, err = DomainByName(ctx, tx, i.Tenant, a.Domain)
		if errors.Is(err, ErrDomainNotFound) {
			p.Add("email_address", a.Domain+" is not one of the sending domains")
		} else if err != nil {
			return Identity{}, err
		}
		i.Domain = domain.ID
	case fresh:
		p.Add("email_address", "required")
	default:
		var err error
		if domain, err = DomainByID(ctx, tx, i.Tenant, i.Domain); err != nil {
			return Identity{}, err
		}
	}
	f.applyTexts(&i, &p)
	if err := f.applyReferences(ctx, tx, &i, &p); err != nil {
		return Identity{}, err
	}
	if err := p.Err(); err != nil {
		return Identity{}, err
	}
	verified := domain.Status == Verified
	switch {
	case f.Active != nil:
		i.Active = *f.Active
	case fresh:
		i.Active = verified
	}
	if i.Active && !verified {
		return Identity{}, ErrDomainNotVerified
	}
	i.TrackingHost = nil
	if domain.TrackingLive {
		i.TrackingHost = new(domain.TrackingHost)
	}
	return i, nil
}

func (f IdentityFields) applyTexts(i *Identity, p *fault.Problems) {
	setLine(p, "display_name", &i.DisplayName, f.DisplayName, 200)
	if i.DisplayName == "" {
		p.Add("display_name", "required")
	}
	if f.ReplyTo != nil {
		i.ReplyTo = ""
		if strings.TrimSpace(*f.ReplyTo) != "" {
			a, err := address.Normalize(*f.ReplyTo)
			if err != nil {
				p.Add("reply_to", err.Error())
			}
			i.ReplyTo = a
		}
	}
	setLine(p, "utm_code", &i.UTMCode, f.UTMCode, 100)
	if f.ContentHost != nil {
		i.ContentHost = nil
		if *f.ContentHost != "" {
			host, err := hostPort(*f.ContentHost)
			if err != nil {
				p.Add("content_rewrite_domain", err.Error())
			}
			i.ContentHost = &host
		}
	}
	if f.ImageHost != nil && *f.ImageHost != "" {
		p.Add("image_rewrite_domain", "is not available yet")
	}
}

func (f IdentityFields) applyReferences(ctx context.Context, tx *sqldb.DB, i *Identity, p *fault.Problems) error {
	if f.DefaultLane != nil {
		i.DefaultLane = *f.DefaultLane
		if !i.DefaultLane.IsZero() {
			_, err := lane.ByID(ctx, tx, i.Tenant, i.DefaultLane)
			if errors.Is(err, lane.ErrNotFound) {
				p.Add("default_mta_config_id", "no such MTA config")
			} else if err != nil {
				return err
			}
		}
	}
	if f.EmailTypes == nil {
		return nil
	}
	known, err := EmailTypes(ctx, tx, i.Tenant)
	if err != nil {
		return err
	}
	i.EmailTypes = []id.EmailType{}
	for _, t := range *f.EmailTypes {
		if !slices.ContainsFunc(known, func(k EmailType) bool { return k.ID == t }) {
			p.AddElement("email_type_ids", "no such email type")
		} else if !slices.Contains(i.EmailTypes, t) {
			i.EmailTypes = append(i.EmailTypes, t)
		}
	}
	slices.SortFunc(i.EmailTypes, id.Compare)
	return nil
}

// CreateIdentity adds a sending identity.
func CreateIdentity(ctx context.Context, db *sqldb.DB, tenant id.Tenant, f IdentityFields, now time.Time) (Identity, error) {
	var i Identity
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		var err error
		i, err = f.apply(ctx, tx, Identity{
			ID: id.New[id.Identity](), Tenant: tenant, CreatedAt: sqldb.Time(now.UnixMicro()), Revision: 1,
			EmailTypes: []id.EmailType{}, VerifiedLanes: []id.Lane{},
		}, true)
		if err != nil {
			return err
		}
		var count int
		if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM sending_identity WHERE tenant_id = $1`, tenant).Scan(&count); err != nil {
			return err
		}
		if count >= MaxIdentities {
			return ErrTooManyIdentities
		}
		n, err := tx.Exec(ctx, `
			INSERT INTO sending_identity (tenant_id, id, email_address, display_name, reply_to, sending_domain_id,
				content_rewrite_domain, utm_code, default_mta_config_id, active, created_at, revised_by)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
			ON CONFLICT (tenant_id, email_address) DO NOTHING`,
			tenant, i.ID, i.Address, i.DisplayName, sqldb.Null(i.ReplyTo), i.Domain,
			i.ContentHost, sqldb.Null(i.UTMCode), sqldb.Null(i.DefaultLane), i.Active, now.UnixMicro(), revision.By(ctx))
		if err != nil {
			return err
		}
		if n == 0 {
			return ErrDuplicateIdentity
		}
		return saveTypes(ctx, tx, i)
	})
	if err != nil {
		return Identity{}, fmt.Errorf("create a sending identity: %w", err)
	}
	return i, nil
}

// UpdateIdentity changes the fields in f. Changing the address clears the verified lanes.
func UpdateIdentity(ctx context.Context, db *sqldb.DB, tenant id.Tenant, identity id.Identity, f IdentityFields, now time.Time) (Identity, error) {
	var i Identity
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		var one int
		if err := tx.QueryRow(ctx, `SELECT 1 FROM sending_identity WHERE tenant_id = $1 AND id = $2`+tx.ForUpdate(), tenant, identity).Scan(&one); err != nil {
			return notFoundFault(err, ErrIdentityNotFound)
		}
		if err := IdentityRevisions.Check(ctx, tx, tenant, identity); err != nil {
			return err
		}
		before, err := IdentityByID(ctx, tx, tenant, identity)
		if err != nil {
			return err
		}
		if i, err = f.apply(ctx, tx, before, false); err != nil {
			return err
		}
		if i.Address != before.Address {
			var taken int
			if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM sending_identity WHERE tenant_id = $1 AND email_address = $2`, tenant, i.Address).Scan(&taken); err != nil {
				return err
			}
			if taken > 0 {
				return ErrDuplicateIdentity
			}
			if _, err := tx.Exec(ctx, `DELETE FROM identity_lane WHERE tenant_id = $1 AND identity_id = $2`, tenant, identity); err != nil {
				return err
			}
			i.VerifiedLanes = []id.Lane{}
		}
		if _, err := tx.Exec(ctx, `
			UPDATE sending_identity SET email_address = $3, display_name = $4, reply_to = $5, sending_domain_id = $6,
				content_rewrite_domain = $7, utm_code = $8, default_mta_config_id = $9, active = $10,
				revision = revision + 1, revised_at = $11, revised_by = $12
			WHERE tenant_id = $1 AND id = $2`,
			tenant, identity, i.Address, i.DisplayName, sqldb.Null(i.ReplyTo), i.Domain,
			i.ContentHost, sqldb.Null(i.UTMCode), sqldb.Null(i.DefaultLane), i.Active, now.UnixMicro(), revision.By(ctx)); err != nil {
			return err
		}
		i.Revision++
		if f.EmailTypes == nil {
			return nil
		}
		return saveTypes(ctx, tx, i)
	})
	if sqldb.IsUniqueViolation(err) {
		return Identity{}, ErrDuplicateIdentity.Because(err)
	}
	if err != nil {
		return Identity{}, fmt.Errorf("update a sending identity: %w", err)
	}
	return i, nil
}

// saveTypes replaces the identity's email types.
func saveTypes(ctx context.Context, tx *sqldb.DB, i Identity) error {
	if _, err := tx.Exec(ctx, `DELETE FROM identity_email_type WHERE tenant_id = $1 AND identity_id = $2`, i.Tenant, i.ID); err != nil {
		return err
	}
	if len(i.EmailTypes) == 0 {
		return nil
	}
	t := tx.Table("email_type_id UUID")
	for _, typ := range i.EmailTypes {
		t.Add(typ)
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO identity_email_type (tenant_id, email_type_id, identity_id)
		SELECT h.tenant_id, v.email_type_id, `+tx.Param(2, "UUID")+` FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 3), t.Args(i.Tenant, i.ID)...)
	return err
}

// DeleteIdentity deletes an identity that is not in use.
func DeleteIdentity(ctx context.Context, db *sqldb.DB, tenant id.Tenant, identity id.Identity, who usage.Finder) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		i, err := IdentityByID(ctx, tx, tenant, identity)
		if err != nil {
			return err
		}
		if err := IdentityRevisions.Check(ctx, tx, tenant, identity); err != nil {
			return err
		}
		holders, err := who.Find(ctx, tx, tenant, usage.Subject{Kind: usage.Identity, ID: i.ID.String(), Key: i.Address})
		if err != nil {
			return fmt.Errorf("find the uses of a sending identity: %w", err)
		}
		if holders.Any() {
			return ErrIdentityInUse.With(map[string]any{"usage": holders.With("broadcasts", "sequences")})
		}
		if _, err := tx.Exec(ctx, `DELETE FROM sending_identity WHERE tenant_id = $1 AND id = $2`, tenant, identity); err != nil {
			return fmt.Errorf("delete a sending identity: %w", err)
		}
		return nil
	})
}

// LaneVerified records that an MTA config accepted a test mail of the identity.
func LaneVerified(ctx context.Context, db *sqldb.DB, tenant id.Tenant, identity id.Identity, config id.Lane, now time.Time) error {
	_, err := db.Exec(ctx, `
		INSERT INTO identity_lane (tenant_id, identity_id, mta_config_id, verified_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (tenant_id, identity_id, mta_config_id) DO UPDATE SET verified_at = excluded.verified_at`,
		tenant, identity, config, now.UnixMicro())
	if err != nil {
		return fmt.Errorf("store a verified lane: %w", err)
	}
	return nil
}

// RemoveLane deletes an MTA config that is not in use, and removes it from every identity.
func RemoveLane(ctx context.Context, db *sqldb.DB, tenant id.Tenant, config id.Lane, who usage.Finder, now time.Time) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		if err := lane.Revisions.Check(ctx, tx, tenant, config); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `
			UPDATE sending_identity SET default_mta_config_id = NULL, revision = revision + 1, revised_at = $3, revised_by = $4
			WHERE tenant_id = $1 AND default_mta_config_id = $2`, tenant, config, now.UnixMicro(), revision.By(ctx)); err != nil {
			return fmt.Errorf("clear default lanes: %w", err)
		}
		if _, err := tx.Exec(ctx, `DELETE FROM identity_lane WHERE tenant_id = $1 AND mta_config_id = $2`, tenant, config); err != nil {
			return fmt.Errorf("delete verified lanes: %w", err)
		}
		return lane.Delete(ctx, tx, tenant, config, who)
	})
}

const identityColumns = `i.id, i.email_address, i.display_name, i.reply_to, i.sending_domain_id,
	CASE WHEN d.tracking_status = 'live' THEN d.tracking_host END,
	i.content_rewrite_domain, i.utm_code, i.default_mta_config_id, i.active, i.created_at, i.revision`

const identityTables = ` FROM sending_identity AS i
	JOIN sending_domain AS d ON d.tenant_id = i.tenant_id AND d.id = i.sending_domain_id `

func scanIdentity(tenant id.Tenant) func(func(...any) error) (Identity, error) {
	return func(scan func(...any) error) (Identity, error) {
		i := Identity{Tenant: tenant, EmailTypes: []id.EmailType{}, VerifiedLanes: []id.Lane{}}
		var replyTo, utm sql.NullString
		var created int64
		err := scan(&i.ID, &i.Address, &i.DisplayName, &replyTo, &i.Domain, &i.TrackingHost,
			&i.ContentHost, &utm, &i.DefaultLane, &i.Active, &created, &i.Revision)
		i.ReplyTo, i.UTMCode = replyTo.String, utm.String
		i.CreatedAt = sqldb.Time(created)
		return i, err
	}
}
