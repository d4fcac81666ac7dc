package maildomain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/base/cache"
	"github.com/packetboat/packetboat/internal/mail/mtasts"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// How long MTA-STS policies are used before something is looked up again.
const (
	checkPolicy   = time.Hour       // the id of a policy in the DNS
	retryPolicy   = 5 * time.Minute // after a failure (RFC 8461 section 3.3)
	refreshPolicy = 24 * time.Hour  // the policy itself
)

// Policies finds the MTA-STS policies of recipients' domains. It stores them for as long as they
// allow, for all processes together, so that mail stays protected while a policy cannot be fetched
// (RFC 8461 section 5.1).
type Policies struct {
	DB      *sqldb.DB
	Fetcher *mtasts.Fetcher
	Log     *slog.Logger
	Now     func() time.Time
	Failed  func(result string) // is called if a policy cannot be fetched; may be nil

	limit sync.Once
	known cache.Cache[string, mtasts.Policy]
}

// maxKnownPolicies is the number of domains whose policies, or that they have none, are kept in memory.
const maxKnownPolicies = 1 << 16

// storedPolicy is a row.
type storedPolicy struct {
	mtasts.Policy
	fetched time.Time
}

func (p storedPolicy) valid(now time.Time) bool {
	return p.ID != "" && now.Before(p.fetched.Add(p.MaxAge))
}

// Policy returns the policy of a domain, or false if it has none. An error means that the database
// could not be read.
func (p *Policies) Policy(ctx context.Context, domain string) (mtasts.Policy, bool, error) {
	p.limit.Do(func() { p.known.Max = maxKnownPolicies })
	now := p.Now()
	if known, ok := p.known.Get(domain, now); ok {
		return known, known.Mode != "", nil
	}
	stored, err := p.load(ctx, domain)
	if err != nil {
		return mtasts.Policy{}, false, err
	}
	current, keep := p.current(ctx, domain, stored, now)
	if ctx.Err() == nil {
		p.known.Put(domain, current, now, keep)
	}
	return current, current.Mode != "", nil
}

// current returns the policy that applies now, which has no mode if there is none, and for how long it
// need not be looked up again.
func (p *Policies) current(ctx context.Context, domain string, stored storedPolicy, now time.Time) (mtasts.Policy, time.Duration) {
	kept := mtasts.Policy{}
	if stored.valid(now) && stored.Mode != mtasts.None {
		kept = stored.Policy
	}
	name, err := p.Fetcher.ID(ctx, domain)
	switch {
	case err != nil:
		return kept, retryPolicy
	case name == "":
		return kept, checkPolicy
	case stored.valid(now) && name == stored.ID && now.Before(stored.fetched.Add(refreshPolicy)):
		return kept, min(checkPolicy, stored.fetched.Add(stored.MaxAge).Sub(now))
	}
	fresh, err := p.Fetcher.Fetch(ctx, domain)
	if err != nil {
		p.failed(domain, err)
		return kept, retryPolicy
	}
	fresh.ID = name
	if err := p.store(ctx, domain, storedPolicy{fresh, now}); err != nil {
		p.Log.Error("store MTA-STS policy failed", "err", err)
	}
	if fresh.Mode == mtasts.None {
		return mtasts.Policy{}, checkPolicy
	}
	return fresh, max(retryPolicy, min(checkPolicy, fresh.MaxAge))
}

// failed reports a policy that could not be fetched, by the name of RFC 8460 section 4.3.2.
func (p *Policies) failed(domain string, err error) {
	result := "sts-policy-fetch-error"
	if errors.Is(err, mtasts.ErrInvalid) {
		result = "sts-policy-invalid"
	}
	if p.Failed != nil {
		p.Failed(result)
	}
	p.Log.Debug("fetch MTA-STS policy failed", "domain", domain, "err", err)
}

func (p *Policies) load(ctx context.Context, domain string) (s storedPolicy, err error) {
	var age int64
	var hosts string
	err = p.DB.QueryRow(ctx, `SELECT policy_id, mode, max_age, hosts, fetched_at FROM mail_domain_policy WHERE domain = $1`, domain).
		Scan(&s.ID, &s.Mode, &age, &hosts, sqldb.ToTime(&s.fetched))
	if errors.Is(err, sqldb.ErrNoRows) {
		return storedPolicy{}, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(hosts), &s.Hosts)
	}
	if err != nil {
		return storedPolicy{}, fmt.Errorf("read the MTA-STS policy of a domain: %w", err)
	}
	s.MaxAge = time.Duration(age) * time.Second
	return s, nil
}

// store stores a policy, and deletes those that have expired.
func (p *Policies) store(ctx context.Context, domain string, s storedPolicy) error {
	hosts, err := json.Marshal(s.Hosts)
	if err != nil {
		return err
	}
	return p.DB.InTx(ctx, func(tx *sqldb.DB) error {
		if _, err := tx.Exec(ctx, `DELETE FROM mail_domain_policy WHERE expires_at < $1`, s.fetched.UnixMicro()); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `
			INSERT INTO mail_domain_policy (domain, policy_id, mode, max_age, hosts, fetched_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (domain) DO UPDATE SET policy_id = excluded.policy_id, mode = excluded.mode, max_age = excluded.max_age,
				hosts = excluded.hosts, fetched_at = excluded.fetched_at, expires_at = excluded.expires_at`,
			domain, s.ID, s.Mode, int64(s.MaxAge/time.Second), string(hosts), s.fetched.UnixMicro(), s.fetched.Add(s.MaxAge).UnixMicro())
		return err
	})
}
