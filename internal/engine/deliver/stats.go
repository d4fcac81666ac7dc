package deliver

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/outage"
	"github.com/packetboat/packetboat/internal/senders/traffic"
)

// writeStatsEvery is how often the counts of lanes and domains are written.
const writeStatsEvery = 5 * time.Second

// deleteLimitsEvery is how often unused limits are deleted.
const deleteLimitsEvery = time.Minute

// stats collects counts between two writes.
type stats struct {
	mu      sync.Mutex
	new     map[traffic.Key]traffic.Counts
	answers map[outage.Key]outage.Traffic

	byProvider map[traffic.ProviderKey]traffic.ProviderCounts
}

func (t *stats) add(k traffic.Key, c traffic.Counts) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.new == nil {
		t.new = map[traffic.Key]traffic.Counts{}
	}
	t.new[k] = t.new[k].Plus(c)
}

// addAnswers counts answers about recipients of a provider.
func (t *stats) addAnswers(k outage.Key, n outage.Traffic) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.answers == nil {
		t.answers = map[outage.Key]outage.Traffic{}
	}
	t.answers[k] = t.answers[k].Plus(n)
}

// addByProvider counts messages to a provider.
func (t *stats) addByProvider(k traffic.ProviderKey, c traffic.ProviderCounts) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byProvider == nil {
		t.byProvider = map[traffic.ProviderKey]traffic.ProviderCounts{}
	}
	t.byProvider[k] = t.byProvider[k].Plus(c)
}

// result counts the result of an attempt, which was refused for a reason unless that is empty.
func (t *stats) result(j *job, r outbox.Result, why reply.Reason) {
	if r.State != outbox.Queued && j.directory != "" {
		n := outage.Traffic{Answered: 1}
		if r.Guard != nil {
			n.Unknown = 1
		}
		t.addAnswers(outage.KeyAt(j.directory, r.At), n)
	}
	var c traffic.Counts
	switch {
	case r.State == outbox.Delivered || r.State == outbox.Sent:
		c.Delivered = 1
	case r.State == outbox.Bounced && r.BounceType == string(reply.Hard):
		c.Hard = 1
	case r.State == outbox.Bounced && r.BounceType == string(reply.Block):
		c.Block = 1
	case r.State == outbox.Queued && r.Answered:
		c.Deferred = 1
	default:
		return
	}
	key := traffic.Key{Tenant: j.item.Tenant, Lane: j.lane.config.ID, Domain: j.sender.Domain.ID}
	t.add(key, c)
	if j.provider == "" {
		return
	}
	to, n := traffic.ProviderKey{Key: key, Provider: j.provider}, traffic.ProviderCounts{Counts: c}
	if j.dest != nil {
		to.Source = j.dest.key.Source
	}
	switch why {
	case reply.SpamContent, reply.ReputationBlock:
		n.Spam = 1
	case reply.AuthFailure:
		n.Auth = 1
	}
	t.addByProvider(to, n)
}

// connection counts an attempt to connect.
func (t *stats) connection(s *laneSettings, reached bool) {
	c := traffic.Counts{Tries: 1}
	if !reached {
		c.Unreached = 1
	}
	t.add(traffic.Key{Tenant: s.config.Tenant, Lane: s.config.ID}, c)
}

// keepStats writes counts, sends' speeds and waits periodically, and deletes unused limits.
func (e *Engine) keepStats(ctx context.Context) {
	tick, sweep := time.NewTicker(writeStatsEvery), time.NewTicker(deleteLimitsEvery)
	defer tick.Stop()
	defer sweep.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			e.writeStats(ctx)
			e.observe(ctx)
		case <-sweep.C:
			if err := e.pacer.Sweep(ctx); err != nil && ctx.Err() == nil {
				e.Log.Error("remove old limits failed", "err", err)
			}
		}
	}
}

// writeStats writes the counts. If that fails, they are added to the next ones.
func (e *Engine) writeStats(ctx context.Context) {
	e.stats.mu.Lock()
	counts, answers, byProvider := e.stats.new, e.stats.answers, e.stats.byProvider
	e.stats.new, e.stats.answers, e.stats.byProvider = nil, nil, nil
	e.stats.mu.Unlock()
	if err := outage.Count(ctx, e.DB, answers, e.Now()); err != nil {
		e.Log.Error("write answers of providers failed, will retry", "err", err)
		for k, n := range answers {
			e.stats.addAnswers(k, n)
		}
	}
	if err := traffic.AddByProvider(ctx, e.DB, e.Now(), byProvider); err != nil {
		e.Log.Error("write traffic by provider failed, will retry", "err", err)
		for k, c := range byProvider {
			e.stats.addByProvider(k, c)
		}
	}
	if len(counts) == 0 {
		return
	}
	if err := traffic.Add(ctx, e.DB, e.Now(), counts); err != nil {
		e.Log.Error("write traffic failed, will retry", "err", err)
		for k, c := range counts {
			e.stats.add(k, c)
		}
	}
}

// Metrics counts results.
type Metrics struct {
	Attempts  *prometheus.CounterVec // by lane and the state of the message after the attempt
	Uncertain prometheus.Counter     // attempts without a final answer
}

// NewMetrics registers the engine's metrics.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		Attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "packetboat_delivery_results_total",
			Help: "Results of attempts, by lane and the state of the message after it; queued means deferred.",
		}, []string{"lane", "state"}),
		Uncertain: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "packetboat_uncertain_total",
			Help: "Attempts without a final answer; their messages are sent once more.",
		}),
	}
	r.MustRegister(m.Attempts, m.Uncertain)
	return m
}

func (m *Metrics) attempt(r outbox.Result) {
	if r.Uncertain {
		m.Uncertain.Inc()
	}
	m.Attempts.WithLabelValues(r.Item.Lane.String(), string(r.State)).Inc()
}
