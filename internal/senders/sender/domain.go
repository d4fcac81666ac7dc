package sender

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// Status is the verification status of a domain or its tracking host.
type Status string

// The statuses; Live is for tracking, Verified for domains.
const (
	Pending  Status = "pending"
	Verified Status = "verified"
	Live     Status = "live"
	Failed   Status = "failed"
)

// The values of verified_by.
const (
	ByOperator = "operator"
	ByDNS      = "dns"
)

var (
	// ErrDomainNotFound reports a sending domain that does not exist.
	ErrDomainNotFound = fault.New(fault.NotFound, "NOT_FOUND", "no such sending domain")
	// ErrDuplicateDomain reports that the tenant has the domain already.
	ErrDuplicateDomain = fault.New(fault.Conflict, "DUPLICATE_DOMAIN", "the domain is already there")
	// ErrDomainInUse reports that identities send from the domain.
	ErrDomainInUse = fault.New(fault.Conflict, "IN_USE", "sending identities still use the domain")
	// ErrTooManyDomains reports that the tenant has the maximum number of them.
	ErrTooManyDomains = fault.New(fault.Invalid, "LIMIT_EXCEEDED", "a tenant may have 500 sending domains")
)

// MaxDomains is how many sending domains a tenant may have.
const MaxDomains = 500

// Domain is a domain that a tenant sends from.
type Domain struct {
	ID             id.Domain
	Tenant         id.Tenant
	Name           string
	Status         Status
	DKIMSelector   string
	DKIMRecord     string // TXT record for the tenant to publish
	ReturnPathHost string
	TrackingHost   string // with a port if the operator set one
	TrackingStatus Status
	TrackingLive   bool
	DMARCPolicy    string
	Paused         bool
	PauseReason    string
	VerifiedBy     string
	VerifiedAt     *time.Time
	LastCheckedAt  *time.Time
	NextCheckAt    time.Time
	FailingSince   *time.Time // since when required records are missing or wrong
	JudgedFrom     *time.Time // when it was last resumed: earlier traffic is not considered
	WarmDays       int        // how many days of good mail it has behind it, at most WarmDays
	CreatedAt      time.Time
	Revision       int64     // increases with each change by users, and with pauses and new keys
	Keys           []DKIMKey // those besides the current RSA key

	trackingFailingSince *time.Time
	checks               int
	findings             map[string]finding // by Record.key
}

// DomainDraft is the input for a new domain. Empty subdomains mean the defaults.
type DomainDraft struct {
	Domain              string
	TrackingSubdomain   string // default "go"
	ReturnPathSubdomain string // default "bounce"
}

// Check validates the draft.
func (d DomainDraft) Check() error {
	_, err := d.domain()
	return err
}

// domain returns the domain that the draft describes.
func (d DomainDraft) domain() (Domain, error) {
	var p fault.Problems
	name, err := address.Hostname(d.Domain)
	if err != nil {
		p.Add("domain", err.Error())
		name = "example.invalid" // so that the other fields are validated too
	}
	sub := func(path, given, byDefault string) string {
		if given == "" {
			given = byDefault
		}
		host, err := address.Hostname(given + "." + name)
		if err != nil {
			p.Add(path, err.Error())
		}
		return host
	}
	dom := Domain{
		Name:           name,
		TrackingHost:   sub("tracking_subdomain", d.TrackingSubdomain, "go"),
		ReturnPathHost: sub("return_path_subdomain", d.ReturnPathSubdomain, "bounce"),
		Revision:       1,
		Status:         Pending, TrackingStatus: Pending, DKIMSelector: rsaSelector(1),
	}
	if !p.Any() && dom.TrackingHost == dom.ReturnPathHost {
		p.Add("tracking_subdomain", "must differ from return_path_subdomain")
	}
	return dom, p.Err()
}

// NewDomain is a domain that is not stored yet.
type NewDomain struct {
	Domain
	keys newKeys
}

// PrepareDomain validates a draft and generates the domain's DKIM keys, which takes too long for a
// transaction.
func PrepareDomain(box *secret.Box, tenant id.Tenant, draft DomainDraft, now time.Time) (NewDomain, error) {
	d, err := draft.domain()
	if err != nil {
		return NewDomain{}, err
	}
	d.ID, d.Tenant, d.CreatedAt = id.New[id.Domain](), tenant, sqldb.Time(now.UnixMicro())
	d.NextCheckAt = d.CreatedAt.Add(firstChecks[0])
	keys, err := generateKeys(box, tenant, d.ID)
	if err != nil {
		return NewDomain{}, err
	}
	d.DKIMRecord = keys.rsaRecord
	d.Keys = []DKIMKey{{Selector: edSelector(1), Algorithm: Ed25519, Record: keys.edRecord, State: KeyOffered, CreatedAt: d.CreatedAt}}
	return NewDomain{d, keys}, nil
}

// Save stores the domain, or returns ErrDuplicateDomain or ErrTooManyDomains.
func (d NewDomain) Save(ctx context.Context, db *sqldb.DB) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		var count int
		if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM sending_domain WHERE tenant_id = $1`, d.Tenant).Scan(&count); err != nil {
			return fmt.Errorf("count sending domains: %w", err)
		}
		if count >= MaxDomains {
			return ErrTooManyDomains
		}
		n, err := tx.Exec(ctx, `
			INSERT INTO sending_domain (tenant_id, id, domain, status, dkim_selector, dkim_key, dkim_record, return_path_host,
				tracking_host, tracking_status, paused, created_at, next_check_at, revised_by)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, false, $11, $12, $13)
			ON CONFLICT (tenant_id, domain) DO NOTHING`,
			d.Tenant, d.ID, d.Name, d.Status, d.DKIMSelector, d.keys.rsaSealed, d.DKIMRecord, d.ReturnPathHost,
			d.TrackingHost, d.TrackingStatus, d.CreatedAt.UnixMicro(), d.NextCheckAt.UnixMicro(), revision.By(ctx))
		if err != nil {
			return fmt.Errorf("create a sending domain: %w", err)
		}
		if n == 0 {
			return ErrDuplicateDomain
		}
		return saveKey(ctx, tx, d.Tenant, d.ID, d.Keys[0], d.keys.edSealed)
	})
}

// CreateDomain creates a sending domain with its DKIM key.
func CreateDomain(ctx context.Context, db *sqldb.DB, box *secret.Box, tenant id.Tenant, draft DomainDraft, now time.Time) (Domain, error) {
	d, err := PrepareDomain(box, tenant, draft, now)
	if err != nil {
		return Domain{}, err
	}
	return d.Domain, d.Save(ctx, db)
}

// CheckTrackingHost validates a tracking host that an operator gives: host or host:port.
func CheckTrackingHost(path, host string) error {
	if _, err := hostPort(host); err != nil {
		return fault.Input(fault.Field{Path: path, Message: err.Error()})
	}
	return nil
}

// ForceVerify marks a domain as verified on behalf of the operator and, if a tracking host (host or
// host:port) is given, tracking as live on it. Later checks do not change that.
func ForceVerify(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, domain, trackingHost string, now time.Time) (Domain, error) {
	name, err := address.Hostname(domain)
	if err != nil {
		return Domain{}, fault.Input(fault.Field{Path: "domain", Message: err.Error()})
	}
	host := ""
	if trackingHost != "" {
		if host, err = hostPort(trackingHost); err != nil {
			return Domain{}, fault.Input(fault.Field{Path: "tracking_host", Message: err.Error()})
		}
	}
	var d Domain
	err = tx.InTx(ctx, func(tx *sqldb.DB) error {
		before, err := scanDomain(tenant)(tx.QueryRow(ctx, `
			SELECT `+domainColumns+` FROM sending_domain WHERE tenant_id = $1 AND domain = $2`+tx.ForUpdate(), tenant, name).Scan)
		if err != nil {
			return notFoundFault(err, ErrDomainNotFound)
		}
		d, err = scanDomain(tenant)(tx.QueryRow(ctx, `
			UPDATE sending_domain SET status = $3, verified_by = $4, verified_at = $5, failing_since = NULL, tracking_failing_since = NULL,
				paused = CASE WHEN pause_reason = 'dns_lost' THEN false ELSE paused END,
				pause_reason = CASE WHEN pause_reason = 'dns_lost' THEN NULL ELSE pause_reason END,
				tracking_host = CASE WHEN $6 = '' THEN tracking_host ELSE $6 END,
				tracking_status = CASE WHEN $6 = '' THEN tracking_status ELSE $7 END,
				revision = revision + 1, revised_at = $5, revised_by = $8
			WHERE tenant_id = $1 AND domain = $2 RETURNING `+domainColumns,
			tenant, name, Verified, ByOperator, now.UnixMicro(), host, Live, revision.By(ctx)).Scan)
		if err != nil {
			return err
		}
		if d.Keys, err = keysOf(ctx, tx, tenant, d.ID); err != nil {
			return err
		}
		if d.TrackingLive {
			if err := keepTrackedHost(ctx, tx, tenant, d.TrackingHost, now); err != nil {
				return err
			}
		}
		if before.Status == Verified {
			return nil
		}
		return journal.Append(ctx, tx, journal.Entry{Tenant: tenant, Type: journal.DomainVerified, Name: d.ID.String(), At: now})
	})
	return d, err
}

// DeleteDomain deletes a domain that no identity uses.
func DeleteDomain(ctx context.Context, db *sqldb.DB, tenant id.Tenant, domain id.Domain) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		if _, err := scanDomain(tenant)(tx.QueryRow(ctx, `
			SELECT `+domainColumns+` FROM sending_domain WHERE tenant_id = $1 AND id = $2`+tx.ForUpdate(), tenant, domain).Scan); err != nil {
			return notFoundFault(err, ErrDomainNotFound)
		}
		if err := DomainRevisions.Check(ctx, tx, tenant, domain); err != nil {
			return err
		}
		var users int
		if err := tx.QueryRow(ctx, `
			SELECT COUNT(*) FROM sending_identity WHERE tenant_id = $1 AND sending_domain_id = $2`, tenant, domain).Scan(&users); err != nil {
			return fmt.Errorf("count a domain's identities: %w", err)
		}
		if users > 0 {
			return ErrDomainInUse.With(map[string]any{"usage": map[string]int{"sending_identities": users}})
		}
		if _, err := tx.Exec(ctx, `DELETE FROM sending_domain_key WHERE tenant_id = $1 AND domain_id = $2`, tenant, domain); err != nil {
			return fmt.Errorf("delete a domain's keys: %w", err)
		}
		_, err := tx.Exec(ctx, `DELETE FROM sending_domain WHERE tenant_id = $1 AND id = $2`, tenant, domain)
		if err != nil {
			return fmt.Errorf("delete a sending domain: %w", err)
		}
		return nil
	})
}

const domainColumns = `id, domain, status, dkim_selector, dkim_record, return_path_host, tracking_host, tracking_status,
	dmarc_policy, paused, pause_reason, verified_by, verified_at, last_checked_at, judged_from, created_at,
	next_check_at, failing_since, tracking_failing_since, checks, findings, revision, warm_days`

// Domains returns the tenant's sending domains by name.
func Domains(ctx context.Context, db *sqldb.DB, tenant id.Tenant) ([]Domain, error) {
	rows, err := db.Query(ctx, `SELECT `+domainColumns+` FROM sending_domain WHERE tenant_id = $1 ORDER BY domain`, tenant)
	list, err := sqldb.Collect(rows, err, scanDomain(tenant))
	if err != nil {
		return nil, fmt.Errorf("list sending domains: %w", err)
	}
	return list, loadKeys(ctx, db, tenant, list)
}

// ReturnPathTenants returns the tenants with a sending domain whose return path is at host. Several may
// have declared the same domain.
func ReturnPathTenants(ctx context.Context, db *sqldb.DB, host string) ([]id.Tenant, error) {
	rows, err := db.Query(ctx, `
		SELECT DISTINCT tenant_id FROM sending_domain WHERE return_path_host = $1
		/* all tenants: the host of an address determines the tenant */ ORDER BY tenant_id`, host)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (t id.Tenant, err error) {
		err = scan(&t)
		return t, err
	})
	if err != nil {
		return nil, fmt.Errorf("find tenants of a return path: %w", err)
	}
	return list, nil
}

// DomainByID returns one domain, or ErrDomainNotFound.
func DomainByID(ctx context.Context, db *sqldb.DB, tenant id.Tenant, domain id.Domain) (Domain, error) {
	d, err := scanDomain(tenant)(db.QueryRow(ctx, `
		SELECT `+domainColumns+` FROM sending_domain WHERE tenant_id = $1 AND id = $2`, tenant, domain).Scan)
	if err != nil {
		return Domain{}, notFoundFault(err, ErrDomainNotFound)
	}
	d.Keys, err = keysOf(ctx, db, tenant, d.ID)
	return d, err
}

// DomainByName returns the domain with a name in canonical spelling, or
// ErrDomainNotFound.
func DomainByName(ctx context.Context, db *sqldb.DB, tenant id.Tenant, name string) (Domain, error) {
	d, err := scanDomain(tenant)(db.QueryRow(ctx, `
		SELECT `+domainColumns+` FROM sending_domain WHERE tenant_id = $1 AND domain = $2`, tenant, name).Scan)
	if err != nil {
		return Domain{}, notFoundFault(err, ErrDomainNotFound)
	}
	d.Keys, err = keysOf(ctx, db, tenant, d.ID)
	return d, err
}

func scanDomain(tenant id.Tenant) func(func(...any) error) (Domain, error) {
	return func(scan func(...any) error) (Domain, error) {
		d := Domain{Tenant: tenant}
		var policy, reason, by sql.NullString
		var verified, checked, judged, failing, trackingFailing sql.NullInt64
		var created, next int64
		var findings []byte
		err := scan(&d.ID, &d.Name, &d.Status, &d.DKIMSelector, &d.DKIMRecord, &d.ReturnPathHost, &d.TrackingHost, &d.TrackingStatus,
			&policy, &d.Paused, &reason, &by, &verified, &checked, &judged, &created,
			&next, &failing, &trackingFailing, &d.checks, &findings, &d.Revision, &d.WarmDays)
		if err != nil {
			return d, err
		}
		d.TrackingLive = d.TrackingStatus == Live
		d.DMARCPolicy, d.PauseReason, d.VerifiedBy = policy.String, reason.String, by.String
		d.VerifiedAt, d.LastCheckedAt, d.JudgedFrom = sqldb.NullTime(verified), sqldb.NullTime(checked), sqldb.NullTime(judged)
		d.CreatedAt, d.NextCheckAt = sqldb.Time(created), sqldb.Time(next)
		d.FailingSince, d.trackingFailingSince = sqldb.NullTime(failing), sqldb.NullTime(trackingFailing)
		if err := json.Unmarshal(findings, &d.findings); err != nil {
			return d, fmt.Errorf("read the findings of domain %s: %w", d.Name, err)
		}
		return d, nil
	}
}
