package inbound

import "github.com/prometheus/client_golang/prometheus"

// Metrics counts reports.
type Metrics struct{ reports *prometheus.CounterVec }

// NewMetrics registers the counters.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	m := &Metrics{prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "packetboat_inbound_total",
		Help: "Mail and hooks received about sent messages, by kind and by effect.",
	}, []string{"kind", "effect"})}
	registry.MustRegister(m.reports)
	return m
}

func (m *Metrics) count(kind, effect string) {
	if m != nil {
		m.reports.WithLabelValues(kind, effect).Inc()
	}
}
