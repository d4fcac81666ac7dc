package deliver

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/packetboat/packetboat/internal/outbox"
)

// Metrics count what an operator decides on.
type Metrics struct {
	Attempts  *prometheus.CounterVec // by lane and the state the message is in after it
	Uncertain prometheus.Counter     // attempts of which nobody knows the end
}

// NewMetrics registers the engine's metrics.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		Attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "packetboat_delivery_results_total",
			Help: "Messages by lane and the state their last attempt left them in; queued means deferred.",
		}, []string{"lane", "state"}),
		Uncertain: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "packetboat_uncertain_total",
			Help: "Messages whose attempt broke off before the answer, and which are sent once more.",
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
