package notify

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/packetboat/packetboat/internal/campaign/webhook"
)

// Metrics are the engine's metrics. A nil *Metrics counts nothing.
type Metrics struct {
	attempts *prometheus.CounterVec
	seconds  prometheus.Histogram
	requests prometheus.Gauge
}

// NewMetrics adds the metrics to a registry.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "packetboat_webhook_attempts_total",
			Help: "Attempts to deliver an event to a webhook endpoint, by result: success, refused (an answer other than 2xx), error (no answer).",
		}, []string{"result"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "packetboat_webhook_attempt_seconds", Help: "Time until the answer of a webhook endpoint, or until the attempt failed.",
			Buckets: []float64{.005, .02, .1, .5, 2, 5, 15},
		}),
		requests: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "packetboat_webhook_requests_in_flight", Help: "Requests to webhook endpoints that wait for their answer.",
		}),
	}
	r.MustRegister(m.attempts, m.seconds, m.requests)
	return m
}

// attempted counts an attempt whose result was stored.
func (m *Metrics) attempted(a webhook.Attempt, stored bool) {
	if m == nil || !stored {
		return
	}
	result := "refused"
	switch {
	case a.Success():
		result = "success"
	case a.Code == 0:
		result = "error"
	}
	m.attempts.WithLabelValues(result).Inc()
	m.seconds.Observe(a.Took.Seconds())
}

func (m *Metrics) inFlight(n int) {
	if m != nil {
		m.requests.Set(float64(n))
	}
}
