package sender

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// PauseReason is why a domain is paused.
type PauseReason string

// The reasons.
const (
	PausedForComplaints PauseReason = "complaint_rate"
	PausedForBounces    PauseReason = "bounce_rate"
	PausedForDNS        PauseReason = "dns_lost"
	PausedByOperator    PauseReason = "operator"
)

// ErrDNSLost refuses to resume a domain whose DNS records are missing.
var ErrDNSLost = fault.New(fault.Conflict, "PAUSE_CAUSE_ACTIVE", "the domain's DNS records are missing or wrong")

// Pause is the reason of a pause, with the measured rate.
type Pause struct {
	Reason     PauseReason `json:"reason"`
	Domain     string      `json:"domain"`
	Rate       float64     `json:"rate,omitempty"` // these are set if a rate was too high
	Count      int         `json:"count,omitempty"`
	Deliveries int         `json:"deliveries,omitempty"`
	Hours      int         `json:"window_hours,omitempty"`
}

// PauseDomain pauses a domain, and reports whether it was not paused before.
func PauseDomain(ctx context.Context, db *sqldb.DB, tenant id.Tenant, domain id.Domain, why Pause, now time.Time) (paused bool, err error) {
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		n, err := tx.Exec(ctx, `
			UPDATE sending_domain SET paused = true, pause_reason = $3, revision = revision + 1, revised_at = $4, revised_by = $5
			WHERE tenant_id = $1 AND id = $2 AND NOT paused`,
			tenant, domain, why.Reason, now.UnixMicro(), revision.By(ctx))
		if err != nil || n == 0 {
			return err
		}
		paused = true
		return journal.Append(ctx, tx, journal.Entry{Tenant: tenant, Type: journal.DomainPaused, Name: domain.String(), At: now, Data: why})
	})
	if err != nil {
		return false, fmt.Errorf("pause a sending domain: %w", err)
	}
	return paused, nil
}

// ResumeDomain resumes a paused domain. Its rates are computed from now on, since those of the last
// day would pause it again at once. A domain that is not paused does not change.
func ResumeDomain(ctx context.Context, db *sqldb.DB, tenant id.Tenant, domain id.Domain, now time.Time) (Domain, error) {
	var d Domain
	err := db.InTx(ctx, func(tx *sqldb.DB) (err error) {
		if d, err = lockDomain(ctx, tx, tenant, domain); err != nil {
			return err
		}
		if err := DomainRevisions.Check(ctx, tx, tenant, domain); err != nil {
			return err
		}
		if d.Status == Failed && PauseReason(d.PauseReason) == PausedForDNS {
			return ErrDNSLost.Sayf("DNS records of %s are missing or wrong; publish them and verify the domain, which ends the pause", d.Name)
		}
		if _, err = tx.Exec(ctx, `
			UPDATE sending_domain SET paused = false, pause_reason = NULL, judged_from = $3, revision = revision + 1, revised_at = $3, revised_by = $4
			WHERE tenant_id = $1 AND id = $2 AND paused`,
			tenant, domain, now.UnixMicro(), revision.By(ctx)); err != nil {
			return fmt.Errorf("resume a sending domain: %w", err)
		}
		d, err = DomainByID(ctx, tx, tenant, domain)
		return err
	})
	return d, err
}

// NamedDomain returns the domain with a name given by an operator, or ErrDomainNotFound.
func NamedDomain(ctx context.Context, db *sqldb.DB, tenant id.Tenant, domain string) (Domain, error) {
	name, err := address.Hostname(domain)
	if err != nil {
		return Domain{}, fault.Input(fault.Field{Path: "domain", Message: err.Error()})
	}
	return DomainByName(ctx, db, tenant, name)
}

// PausedTenants returns the tenants that have a paused domain.
func PausedTenants(ctx context.Context, db *sqldb.DB) (map[id.Tenant]bool, error) {
	rows, err := db.Query(ctx, `/* all tenants: one watch looks after every send */ SELECT DISTINCT tenant_id FROM sending_domain WHERE paused`)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (t id.Tenant, err error) {
		err = scan(&t)
		return t, err
	})
	if err != nil {
		return nil, fmt.Errorf("find tenants with paused domains: %w", err)
	}
	set := make(map[id.Tenant]bool, len(list))
	for _, t := range list {
		set[t] = true
	}
	return set, nil
}
