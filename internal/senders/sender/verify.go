package sender

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/poll"
	"github.com/packetboat/packetboat/internal/mail/dnscheck"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// How long a verified domain keeps its status although its records are missing or wrong, and a
// tracking host although it cannot be reached. The links of a mail that is sent meanwhile do not
// work, so the latter is shorter.
const (
	dnsGrace      = 72 * time.Hour
	trackingGrace = 2 * time.Hour
)

// When domains are checked.
var (
	// firstChecks are the intervals after a domain was created, and from each check to the next one.
	firstChecks = []time.Duration{time.Minute, time.Minute, 3 * time.Minute, 5 * time.Minute, 20 * time.Minute}
	// checkInterval is the interval after that.
	checkInterval = time.Hour
)

const (
	checkWithin  = 40 * time.Second // all queries of a check
	claimFor     = 3 * time.Minute  // after which another process may check a claimed domain
	claimAtOnce  = 32
	checksAtOnce = 8
	queriesEach  = 4 // records of a domain that are looked up concurrently
)

// Verifier checks the DNS records and the tracking hosts of sending domains: on demand, and each
// domain every hour (Run). Any number of processes may run one: each claims the domains that it
// checks, and claims of a process that died expire.
//
// A pending domain is verified by the first check that finds all required records. A verified one
// fails when they have been missing or wrong for 72 hours: it is paused, and with it the sends from
// it. A later check that finds them lifts that pause. Answers that do not come change nothing, and
// nothing changes what the operator has verified.
type Verifier struct {
	DB       *sqldb.DB
	DNS      dnscheck.DNS
	Hosts    Hosts   // complete: see Hosts.Or
	Tracking *Pinger // asks tracking hosts whether they lead to this installation
	Limits   *ratelimit.Limiter
	Log      *slog.Logger
	Now      func() time.Time
}

// tickEvery is the interval in which domains that are due are looked for.
const tickEvery = 10 * time.Second

// Run checks domains that are due until ctx ends.
func (v *Verifier) Run(ctx context.Context) error {
	return poll.Loop{Poll: v.Tick, Every: tickEvery, Log: v.Log, Failed: "check sending domains failed"}.Run(ctx)
}

// dueDomain is a domain that is to be checked.
type dueDomain struct {
	tenant id.Tenant
	domain id.Domain
	at     int64
}

// Tick checks some of the domains that are due, those that have waited longest first, and reports
// whether there may be more. The failure of one does not prevent the others.
func (v *Verifier) Tick(ctx context.Context) (more bool, err error) {
	list, more, err := v.claim(ctx)
	if err != nil {
		return false, err
	}
	errs := make([]error, len(list))
	inParallel(len(list), checksAtOnce, func(i int) {
		_, errs[i] = v.Verify(ctx, list[i].tenant, list[i].domain)
		if errors.Is(errs[i], ErrDomainNotFound) { // deleted meanwhile
			errs[i] = nil
		}
	})
	if ctx.Err() != nil { // the claims expire
		return false, nil
	}
	return more, errors.Join(errs...)
}

// claim claims domains that are due.
func (v *Verifier) claim(ctx context.Context) (list []dueDomain, more bool, err error) {
	now := v.Now()
	rows, err := v.DB.Query(ctx, `/* all tenants: any process checks the domains of all */
		SELECT tenant_id, id, next_check_at FROM sending_domain WHERE next_check_at <= $1 ORDER BY next_check_at LIMIT $2`, now.UnixMicro(), claimAtOnce)
	due, err := sqldb.Collect(rows, err, func(scan func(...any) error) (d dueDomain, err error) {
		err = scan(&d.tenant, &d.domain, &d.at)
		return d, err
	})
	if err != nil {
		return nil, false, fmt.Errorf("find sending domains to check: %w", err)
	}
	for _, d := range due {
		n, err := v.DB.Exec(ctx, `UPDATE sending_domain SET next_check_at = $3 WHERE tenant_id = $1 AND id = $2 AND next_check_at = $4`,
			d.tenant, d.domain, now.Add(claimFor).UnixMicro(), d.at)
		if err != nil {
			return nil, false, fmt.Errorf("claim a sending domain: %w", err)
		}
		if n > 0 {
			list = append(list, d)
		}
	}
	return list, len(due) == claimAtOnce, nil
}

// inParallel calls f for 0 to n-1, at most so many at once.
func inParallel(n, most int, f func(i int)) {
	var all sync.WaitGroup
	turns := make(chan struct{}, most)
	for i := range n {
		turns <- struct{}{}
		all.Go(func() {
			defer func() { <-turns }()
			f(i)
		})
	}
	all.Wait()
}

// onDemand limits the checks that users request, for each domain.
var onDemand = ratelimit.Rule{Name: "domain check", Max: 20, Window: time.Minute}

// ErrCheckedTooOften reports that a domain was checked too often. Its details are a fault.Wait.
var ErrCheckedTooOften = fault.New(fault.Limited, "RATE_LIMITED", "the domain was checked 20 times within a minute; try again later")

// VerifyOnDemand is Verify for a user's request, or ErrCheckedTooOften.
func (v *Verifier) VerifyOnDemand(ctx context.Context, tenant id.Tenant, domain id.Domain) (Domain, error) {
	if _, err := DomainByID(ctx, v.DB, tenant, domain); err != nil {
		return Domain{}, err
	}
	state, err := v.Limits.Acquire(ctx, onDemand, tenant.String()+" "+domain.String(), v.Now())
	if err != nil {
		return Domain{}, err
	}
	if !state.Allowed {
		return Domain{}, ErrCheckedTooOften.With(fault.Wait{Seconds: int(state.Reset/time.Second) + 1})
	}
	return v.Verify(ctx, tenant, domain)
}

// observation is the result of one check.
type observation struct {
	records  []Record // as they were to be published
	needed   int      // how many of them, and of those without a value, the domain is verified with
	findings []dnscheck.Finding
	tracking reachability
}

// Verify checks a domain now and returns it with the results.
func (v *Verifier) Verify(ctx context.Context, tenant id.Tenant, domain id.Domain) (Domain, error) {
	d, err := DomainByID(ctx, v.DB, tenant, domain)
	if err != nil {
		return Domain{}, err
	}
	seen, err := v.observe(ctx, d)
	if err != nil {
		return Domain{}, err
	}
	if err := ctx.Err(); err != nil {
		return Domain{}, err
	}
	var before Domain
	err = v.DB.InTx(ctx, func(tx *sqldb.DB) error {
		var err error
		if before, err = lockDomain(ctx, tx, tenant, domain); err != nil {
			return err
		}
		d = before
		d.Keys, d.findings = slices.Clone(before.Keys), maps.Clone(before.findings)
		return v.apply(ctx, tx, &d, seen)
	})
	if err != nil {
		return Domain{}, err
	}
	v.report(before, d)
	return d, nil
}

// observe asks the DNS and the tracking host.
func (v *Verifier) observe(ctx context.Context, d Domain) (o observation, err error) {
	bounces, err := ReturnPathOf(ctx, v.DB, d.Tenant)
	if err != nil {
		return o, err
	}
	ctx, cancel := context.WithTimeout(ctx, checkWithin)
	defer cancel()
	for _, r := range d.Records(v.Hosts, bounces) {
		if r.neededBy(d.DKIMSelector) {
			o.needed++
		}
		if r.Omitted == "" {
			o.records = append(o.records, r)
		}
	}
	o.findings = make([]dnscheck.Finding, len(o.records))
	inParallel(len(o.records)+1, queriesEach, func(i int) {
		if i == len(o.records) {
			o.tracking = v.Tracking.Reach(ctx, d.TrackingHost)
			return
		}
		r := o.records[i]
		o.findings[i] = dnscheck.Check(ctx, v.DNS, dnscheck.Record{Kind: r.kind(), Domain: d.Name, Host: r.Host, Value: r.Value, Beside: r.beside})
	})
	return o, nil
}

// Look checks a domain as Verify does, but stores nothing: it returns the domain's records with what the
// DNS has now, and why the tracking host does not lead here, or "".
func (v *Verifier) Look(ctx context.Context, d Domain) (records []Record, unreached string, err error) {
	o, err := v.observe(ctx, d)
	if err != nil {
		return nil, "", err
	}
	for i := range o.records {
		f := o.findings[i]
		o.records[i].Status, o.records[i].Found, o.records[i].Problem = f.Status, f.Found, f.Problem
	}
	if !o.tracking.reached {
		unreached = cmp.Or(o.tracking.problem, "it does not lead to this installation")
	}
	return o.records, unreached, nil
}

// apply stores an observation of a locked domain, and what follows from it.
func (v *Verifier) apply(ctx context.Context, tx *sqldb.DB, d *Domain, o observation) error {
	now := v.Now()
	published, absent := map[string]bool{}, map[string]bool{}
	kept := map[string]finding{}
	for i, r := range o.records {
		f := o.findings[i]
		switch f.Status {
		case dnscheck.Unknown: // what was known before remains
			before := d.findings[r.key()]
			before.Problem = f.Problem
			kept[r.key()] = before
			continue
		case dnscheck.OK:
			published[r.selector] = r.selector != ""
		default:
			absent[r.selector] = r.selector != ""
		}
		kept[r.key()] = finding{Status: f.Status, Found: f.Found, Problem: f.Problem, CheckedAt: now.UnixMicro()}
		if r.Purpose == PurposeDMARC {
			d.DMARCPolicy = string(f.Policy)
		}
	}
	d.findings = kept
	entries := d.decide(d.judge(o, now), now)
	d.checks++
	d.LastCheckedAt = new(sqldb.Time(now.UnixMicro()))
	d.NextCheckAt = sqldb.Time(now.Add(d.nextCheck()).UnixMicro())
	if d.pointed(o) {
		if err := keepTrackedHost(ctx, tx, d.Tenant, d.TrackingHost, now); err != nil {
			return err
		}
	}
	findings, err := json.Marshal(d.findings)
	if err != nil {
		return fmt.Errorf("encode findings: %w", err)
	}
	if _, err := tx.Exec(ctx, `
		UPDATE sending_domain SET status = $3, verified_by = $4, verified_at = $5, failing_since = $6, tracking_status = $7,
			tracking_failing_since = $8, dmarc_policy = $9, paused = $10, pause_reason = $11, last_checked_at = $12, next_check_at = $13,
			checks = $14, findings = $15,
			revision = CASE WHEN paused = $10 THEN revision ELSE revision + 1 END,
			revised_at = CASE WHEN paused = $10 THEN revised_at ELSE $12 END,
			revised_by = CASE WHEN paused = $10 THEN revised_by ELSE NULL END
		WHERE tenant_id = $1 AND id = $2`,
		d.Tenant, d.ID, d.Status, sqldb.Null(d.VerifiedBy), sqldb.NullMicros(d.VerifiedAt), sqldb.NullMicros(d.FailingSince), d.TrackingStatus,
		sqldb.NullMicros(d.trackingFailingSince), sqldb.Null(d.DMARCPolicy), d.Paused, sqldb.Null(d.PauseReason), now.UnixMicro(), d.NextCheckAt.UnixMicro(),
		d.checks, string(findings)); err != nil {
		return fmt.Errorf("store the check of a sending domain: %w", err)
	}
	if _, err := updateKeys(ctx, tx, d, published, absent, now); err != nil {
		return err
	}
	return journal.Append(ctx, tx, entries...)
}

// nextCheck returns the interval to the next check.
func (d *Domain) nextCheck() time.Duration {
	if d.checks < len(firstChecks) {
		return firstChecks[d.checks]
	}
	return checkInterval - rand.N(checkInterval/20) // domains that were created together do not stay so
}

// judgment is what a check says about a domain as a whole.
type judgment struct {
	complete bool // all required records are right
	reached  bool // the tracking host leads here
}

// judge updates since when the domain and its tracking host fail.
func (d *Domain) judge(o observation, now time.Time) judgment {
	at := sqldb.Time(now.UnixMicro())
	right, wrong := 0, 0
	tracking := dnscheck.OK // of a host outside the domain, which has no record
	for i, r := range o.records {
		s := o.findings[i].Status
		switch {
		case r.Purpose == PurposeTracking:
			tracking = s
		case !r.neededBy(d.DKIMSelector):
		case s == dnscheck.OK:
			right++
		case s == dnscheck.Unknown:
		default:
			wrong++
		}
	}
	complete := right == o.needed // fewer if the key was replaced during the check
	switch {
	case complete:
		d.FailingSince = nil
	case wrong > 0 && d.FailingSince == nil:
		d.FailingSince = &at
	}
	o.tracking.record = tracking
	switch o.tracking.result() {
	case dnscheck.OK:
		d.trackingFailingSince = nil
	case dnscheck.Unknown:
	default:
		if d.trackingFailingSince == nil {
			d.trackingFailingSince = &at
		}
	}
	if f, ok := d.findings[PurposeTracking+" "+d.TrackingHost]; ok && tracking == dnscheck.OK {
		f.Problem = joinProblems(f.Problem, o.tracking.problem)
		d.findings[PurposeTracking+" "+d.TrackingHost] = f
	}
	return judgment{complete: complete, reached: o.tracking.result() == dnscheck.OK}
}

func joinProblems(a, b string) string { return strings.Trim(a+"; "+b, "; ") }

// decide changes the statuses by what judge found, and returns the entries for the journal.
func (d *Domain) decide(j judgment, now time.Time) (entries []journal.Entry) {
	at := sqldb.Time(now.UnixMicro())
	entry := func(t journal.Type, data any) {
		entries = append(entries, journal.Entry{Tenant: d.Tenant, Type: t, Name: d.ID.String(), At: now, Data: data})
	}
	if d.VerifiedBy == ByOperator {
		d.FailingSince, d.trackingFailingSince = nil, nil
		if j.reached {
			d.TrackingStatus, d.TrackingLive = Live, true
		}
		return nil
	}
	switch {
	case j.complete && d.Status != Verified:
		d.Status, d.VerifiedBy, d.VerifiedAt = Verified, ByDNS, &at
		entry(journal.DomainVerified, nil)
		if d.Paused && PauseReason(d.PauseReason) == PausedForDNS {
			d.Paused, d.PauseReason = false, ""
		}
	case d.Status == Verified && d.FailingSince != nil && now.Sub(*d.FailingSince) >= dnsGrace:
		d.Status = Failed
		entry(journal.DomainFailed, Pause{Reason: PausedForDNS, Domain: d.Name})
		if !d.Paused {
			d.Paused, d.PauseReason = true, string(PausedForDNS)
			entry(journal.DomainPaused, Pause{Reason: PausedForDNS, Domain: d.Name})
		}
	}
	switch {
	case j.reached:
		d.TrackingStatus = Live
	case d.TrackingStatus == Live && d.trackingFailingSince != nil && now.Sub(*d.trackingFailingSince) >= trackingGrace:
		d.TrackingStatus = Failed
	}
	d.TrackingLive = d.TrackingStatus == Live
	return entries
}

// pointed reports whether the DNS leads the tracking host to this installation.
func (d *Domain) pointed(o observation) bool {
	for i, r := range o.records {
		if r.Purpose == PurposeTracking && r.Host == d.TrackingHost {
			return o.findings[i].Status == dnscheck.OK
		}
	}
	return false
}

// report logs what a check has changed.
func (v *Verifier) report(before, after Domain) {
	log := v.Log.With("tenant", after.Tenant, "domain", after.Name)
	switch {
	case before.Status != after.Status && after.Status == Failed:
		log.Warn("sending domain failed: its DNS records are missing or wrong", "since", after.FailingSince, "paused", after.Paused)
	case before.Status != after.Status:
		log.Info("sending domain verified", "was", string(before.Status))
	case before.FailingSince != nil && after.FailingSince != nil && after.Status == Verified && !warned(before):
		log.Warn("DNS records of a sending domain are missing or wrong; it fails after 72 hours", "since", after.FailingSince)
	}
	if before.TrackingStatus != after.TrackingStatus {
		log.Info("tracking host changed", "host", after.TrackingHost, "status", string(after.TrackingStatus), "was", string(before.TrackingStatus))
	}
	if before.DKIMSelector != after.DKIMSelector {
		log.Info("mail is signed with the next DKIM key", "selector", after.DKIMSelector, "was", before.DKIMSelector)
	}
}

// warned reports whether a check after the first failed one has warned already.
func warned(d Domain) bool {
	return d.LastCheckedAt != nil && d.FailingSince != nil && d.LastCheckedAt.After(*d.FailingSince)
}

// keepTrackedHost records that a tracking host leads here.
func keepTrackedHost(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, host string, now time.Time) error {
	name, _, _ := strings.Cut(host, ":")
	if _, err := tx.Exec(ctx, `INSERT INTO tracked_host (tenant_id, host, since) VALUES ($1, $2, $3) ON CONFLICT (tenant_id, host) DO NOTHING`,
		tenant, name, now.UnixMicro()); err != nil {
		return fmt.Errorf("record a tracking host: %w", err)
	}
	return nil
}

// ServesHost reports whether a host leads to this installation for recipients: a tracking host whose
// DNS record was once found, or the host of a sending identity's pages below its verified domain.
func ServesHost(ctx context.Context, db *sqldb.DB, host string) (bool, error) {
	var serves bool
	err := db.QueryRow(ctx, `/* all tenants: a host determines the tenant */
		SELECT EXISTS (SELECT 1 FROM tracked_host WHERE host = $1)`, host).Scan(&serves)
	if err != nil || serves {
		return serves, wrapHost(err)
	}
	rows, err := db.Query(ctx, `/* all tenants: a host determines the tenant */
		SELECT d.domain FROM sending_identity AS i JOIN sending_domain AS d ON d.tenant_id = i.tenant_id AND d.id = i.sending_domain_id
		WHERE i.content_rewrite_domain = $1 AND d.status = 'verified' AND i.active`, host)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var domain string
		err := scan(&domain)
		serves = serves || strings.HasSuffix(host, "."+domain)
		return err
	})
	return serves, wrapHost(err)
}

// ServedHosts returns the hosts that lead recipients here, as ServesHost knows them.
func ServedHosts(ctx context.Context, db *sqldb.DB) ([]string, error) {
	var list []string
	rows, err := db.Query(ctx, `/* all tenants: certificates are those of the installation */ SELECT DISTINCT host FROM tracked_host`)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var host string
		err := scan(&host)
		list = append(list, host)
		return err
	})
	if err != nil {
		return nil, wrapHost(err)
	}
	rows, err = db.Query(ctx, `/* all tenants: certificates are those of the installation */
		SELECT DISTINCT i.content_rewrite_domain, d.domain FROM sending_identity AS i JOIN sending_domain AS d ON d.tenant_id = i.tenant_id AND d.id = i.sending_domain_id
		WHERE i.content_rewrite_domain IS NOT NULL AND d.status = 'verified' AND i.active`)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var host, domain string
		err := scan(&host, &domain)
		if strings.HasSuffix(host, "."+domain) {
			list = append(list, host)
		}
		return err
	})
	slices.Sort(list)
	return slices.Compact(list), wrapHost(err)
}

func wrapHost(err error) error {
	if err != nil {
		return fmt.Errorf("look up a served host: %w", err)
	}
	return nil
}
