package inbound

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/maildomain"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/senders/traffic"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// reported collects what reports mean for the health of lanes and sending domains.
type reported struct {
	counts []reportedCount
	latest time.Time // of the reports
}

type reportedCount struct {
	lane     id.Lane
	identity id.Identity
	domain   string // of the recipient's address
	traffic.Counts
}

// add adds the counts that a report of a time means for the lane and the domain of its message.
func (r *reported) add(m outbox.Record, at time.Time, c traffic.Counts) {
	r.counts = append(r.counts, reportedCount{m.Lane, m.Identity, address.Domain(m.Email), c})
	if at.After(r.latest) {
		r.latest = at
	}
}

// store adds the counts to the traffic. Other transactions wait for the rows, so it is the last step of its
// transaction.
func (r *reported) store(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, providers *maildomain.Providers) error {
	if len(r.counts) == 0 {
		return nil
	}
	identities := make([]id.Identity, len(r.counts))
	for i, c := range r.counts {
		identities[i] = c.identity
	}
	domains, err := sender.DomainsOf(ctx, tx, tenant, identities)
	if err != nil {
		return err
	}
	recipients := make([]string, len(r.counts))
	for i, c := range r.counts {
		recipients[i] = c.domain
	}
	known, err := providers.Within(ctx, tx, recipients...)
	if err != nil {
		return err
	}
	sums, byProvider := map[traffic.Key]traffic.Counts{}, map[traffic.ProviderKey]traffic.ProviderCounts{}
	for _, c := range r.counts {
		key := traffic.Key{Tenant: tenant, Lane: c.lane, Domain: domains[c.identity]}
		sums[key] = sums[key].Plus(c.Counts)
		to := traffic.ProviderKey{Key: key, Provider: lane.WarmupProvider(string(known[c.domain].Provider.Or(c.domain)))}
		byProvider[to] = byProvider[to].Plus(traffic.ProviderCounts{Counts: c.Counts})
	}
	if err := traffic.AddByProvider(ctx, tx, r.latest, byProvider); err != nil {
		return err
	}
	return traffic.Add(ctx, tx, r.latest, sums)
}
