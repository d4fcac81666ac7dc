package watch

import (
	"context"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/senders/hold"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/senders/traffic"
)

// When warnings are given. A rate counts by the lower bound of its estimate (traffic.AtLeast), so that a
// few events among a few messages do not suffice.
const (
	warnProviderComplaints = 0.001
	warnRefusals           = 0.20
	minAttempts            = 200 // at the provider, for a warning about refusals or complaints
	warnAuth               = 0.05
	minAuth                = 20 // attempts at the provider
	authWindow             = 30 * time.Minute

	warnUnknown = 0.08
	minNew      = 100 // recipients of a new list

	warnThroughput = 0.05
	paceWindow     = 5 * time.Minute
	paceWindows    = 12 // in the hour before
	minPace        = 20 // messages in the median window
)

// warnings are the warnings that were found, by domain.
type warnings map[traffic.Domain][]sender.Warning

func (all warnings) add(d traffic.Domain, w sender.Warning) { all[d] = append(all[d], w) }

// addRate adds a warning if its rate is too high.
func (all warnings) addRate(d traffic.Domain, w sender.Warning) {
	if traffic.AtLeast(w.Count, w.Of) >= w.Threshold {
		all.add(d, w)
	}
}

// warn stores the warnings about all domains, and logs those that begin, get worse or end.
func (e *Engine) warn(ctx context.Context, now time.Time) error {
	resumed, err := sender.Resumed(ctx, e.DB, now.Add(-domainWindow))
	if err != nil {
		return err
	}
	known, err := sender.AllWarnings(ctx, e.DB)
	if err != nil {
		return err
	}
	found := warnings{}
	for _, find := range []func() error{
		func() error { return e.warnOfRates(ctx, found, resumed, now) },
		func() error { return e.warnOfProviders(ctx, found, resumed, now) },
		func() error { return e.warnOfNewLists(ctx, found, resumed, now) },
		func() error { return e.warnOfThroughput(ctx, found, known, now) },
	} {
		if err := find(); err != nil {
			return err // the warnings stay as they were
		}
	}
	changes, err := sender.SaveWarnings(ctx, e.DB, known, found, resumed, now)
	for _, c := range changes {
		e.logWarning(c)
	}
	return err
}

// warningTexts are the messages of the log about warnings that begin.
var warningTexts = map[sender.Metric]string{
	sender.Complaints:   "complaint rate of domain is high",
	sender.HardBounces:  "hard bounce rate of domain is high",
	sender.Refusals:     "rate of domain at a provider is high",
	sender.AuthFailures: "rate of domain at a provider is high",
	sender.UnknownUsers: "many recipients of a new list are unknown",
	sender.Throughput:   "throughput of domain collapsed",
}

func (e *Engine) logWarning(c sender.WarningChange) {
	args := []any{"tenant", c.Domain.Tenant, "domain", c.Domain.Domain, "metric", string(c.Metric), "rate", c.Rate(), "count", c.Count, "of", c.Of, "window", c.Window}
	if c.Provider != "" {
		args = append(args, "provider", c.Provider)
	}
	if !c.Broadcast.IsZero() {
		args = append(args, "broadcast", c.Broadcast)
	}
	switch {
	case c.Ended:
		e.Log.Info("warning about domain ended", append(args, "since", c.Since)...)
	case c.Provider != "":
		e.Log.Warn("rate of domain at a provider is high", args...)
	default:
		e.Log.Warn(warningTexts[c.Metric], args...)
	}
}

// warnOfProviders finds domains with too many complaints, refusals or failures of authentication at single
// providers.
func (e *Engine) warnOfProviders(ctx context.Context, found warnings, resumed map[traffic.Domain]time.Time, now time.Time) error {
	recent := func(window time.Duration) (map[traffic.DomainProvider]traffic.ProviderCounts, error) {
		since := now.Add(-window)
		all, err := traffic.ByDomainAndProvider(ctx, e.DB, since)
		if err != nil {
			return nil, err
		}
		for k := range all {
			if resumed[k.Domain].After(since) {
				delete(all, k)
			}
		}
		for d, at := range resumed {
			if !at.After(since) {
				continue
			}
			later, err := traffic.OfDomainByProvider(ctx, e.DB, d, at)
			if err != nil {
				return nil, err
			}
			for provider, c := range later {
				all[traffic.DomainProvider{Domain: d, Provider: provider}] = c
			}
		}
		return all, nil
	}
	long, err := recent(domainWindow)
	if err != nil {
		return err
	}
	short, err := recent(authWindow)
	if err != nil {
		return err
	}
	for k, c := range long {
		if c.Delivered >= minAttempts {
			found.addRate(k.Domain, sender.Warning{Metric: sender.Complaints, Provider: k.Provider, Count: c.Complained, Of: c.Delivered, Threshold: warnProviderComplaints, Window: domainWindow})
		}
		if c.Attempts() >= minAttempts {
			found.addRate(k.Domain, sender.Warning{Metric: sender.Refusals, Provider: k.Provider, Count: c.Spam, Of: c.Attempts(), Threshold: warnRefusals, Window: domainWindow})
		}
	}
	for k, c := range short {
		if c.Attempts() >= minAuth {
			found.addRate(k.Domain, sender.Warning{Metric: sender.AuthFailures, Provider: k.Provider, Count: c.Auth, Of: c.Attempts(), Threshold: warnAuth, Window: authWindow})
		}
	}
	return nil
}

// warnOfNewLists finds broadcasts to new lists with too many unknown recipients. A new list is the
// recipients, among the first thousand of a broadcast, who had no mail of the account before. Broadcasts
// that began before their domain was resumed are not considered.
func (e *Engine) warnOfNewLists(ctx context.Context, found warnings, resumed map[traffic.Domain]time.Time, now time.Time) error {
	sends, err := outbox.BouncingSends(ctx, e.DB, outbox.KindBroadcast, int(minNew*warnUnknown), now.Add(-domainWindow))
	if err != nil {
		return err
	}
	for _, s := range sends {
		source, ok := s.Source.Broadcast()
		if !ok {
			continue
		}
		people, err := outbox.FirstMails(ctx, e.DB, s.Tenant, s.Send)
		if err != nil {
			return err
		}
		byDomain, err := e.domainsOf(ctx, s.Tenant, people)
		if err != nil {
			return err
		}
		for d, n := range byDomain {
			if n.New >= minNew && !resumed[d].After(s.OpenedAt) {
				found.addRate(d, sender.Warning{
					Metric: sender.UnknownUsers, Broadcast: source, Count: n.Unknown, Of: n.New, Threshold: warnUnknown, Window: domainWindow,
				})
			}
		}
	}
	return nil
}

// domainsOf adds up the numbers of identities by domain.
func (e *Engine) domainsOf(ctx context.Context, tenant id.Tenant, people map[id.Identity]outbox.NewRecipients) (map[traffic.Domain]outbox.NewRecipients, error) {
	if len(people) == 0 {
		return nil, nil
	}
	identities := make([]id.Identity, 0, len(people))
	for i := range people {
		identities = append(identities, i)
	}
	domains, err := sender.DomainsOf(ctx, e.DB, tenant, identities)
	if err != nil {
		return nil, err
	}
	sums := map[traffic.Domain]outbox.NewRecipients{}
	for i, n := range people {
		if d, ok := domains[i]; ok {
			key := traffic.Domain{Tenant: tenant, Domain: d}
			sums[key] = outbox.NewRecipients{New: sums[key].New + n.New, Unknown: sums[key].Unknown + n.Unknown}
		}
	}
	return sums, nil
}

// warnOfThroughput finds domains from which hardly any messages leave though some have been due for a
// while and no limit keeps them back. The measure is the median of the five-minute windows of the hour
// before; as long as the warning lasts, that of when it began.
func (e *Engine) warnOfThroughput(ctx context.Context, found, known warnings, now time.Time) error {
	if since, err := hold.Since(ctx, e.DB); err != nil || since != nil {
		return err
	}
	stuck, err := outbox.StuckSends(ctx, e.DB, now.Add(-paceWindow), now)
	if err != nil || len(stuck) == 0 {
		return err
	}
	windows, err := traffic.Windows(ctx, e.DB, now.Truncate(traffic.Width).Add(-(paceWindows+1)*paceWindow), paceWindow, paceWindows+1)
	if err != nil {
		return err
	}
	waiting := map[traffic.Domain]bool{}
	for _, s := range stuck {
		domains, err := sender.DomainsOf(ctx, e.DB, s.Tenant, []id.Identity{s.Identity})
		if err != nil {
			return err
		}
		if d, ok := domains[s.Identity]; ok {
			waiting[traffic.Domain{Tenant: s.Tenant, Domain: d}] = true
		}
	}
	for d := range waiting {
		sent := windows[d]
		if sent == nil {
			sent = make([]int, paceWindows+1)
		}
		w := sender.Warning{Metric: sender.Throughput, Count: sent[paceWindows], Of: median(sent[:paceWindows]), Threshold: warnThroughput, Window: paceWindow}
		for _, before := range known[d] {
			if before.Metric == sender.Throughput {
				w.Of = before.Of
			}
		}
		if w.Of >= minPace && w.Rate() < w.Threshold {
			found.add(d, w)
		}
	}
	return nil
}

// median returns the median of numbers; of an even count the lower one in the middle.
func median(list []int) int {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[(len(sorted)-1)/2]
}
