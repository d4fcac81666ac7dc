package app

import (
	"context"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/visitor"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/outage"
	"github.com/packetboat/packetboat/internal/senders/hold"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// scrape is the time limit for measuring the database.
const scrape = 3 * time.Second

// newRegistry returns a registry with metrics of the process and the database; the parts of the
// program add their own.
func newRegistry(db *sqldb.DB) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		&backlog{db, prometheus.NewDesc("packetboat_messages_waiting", "Messages of open sends that have still to leave.", nil, nil),
			prometheus.NewDesc("packetboat_messages_deferred", "Of those, messages that were tried and are to be tried again.", nil, nil),
			prometheus.NewDesc("packetboat_queue_age_seconds", "How long the message that is due longest has been due.", nil, nil),
			prometheus.NewDesc("packetboat_journal_lag", "Journal entries that the slowest follower has still to read.", nil, nil),
			prometheus.NewDesc("packetboat_sends_held", "1 while all sends of the installation are held, else 0.", nil, nil),
			prometheus.NewDesc("packetboat_outages", "Outages of mailbox providers' directories about which the operator has not decided.", nil, nil),
			prometheus.NewDesc("packetboat_bounces_held", "Bounces that are held because of outages.", nil, nil),
			prometheus.NewDesc("packetboat_webhook_queue_age_seconds", "How long the webhook delivery that is due longest has been due.", nil, nil),
			prometheus.NewDesc("packetboat_visitor_requests_waiting", "Requests of websites that are to be applied; at most 100000.", nil, nil),
			prometheus.NewDesc("packetboat_domain_warnings", "Warnings about sending domains that have not ended, by metric.", []string{"metric"}, nil)},
	)
	return r
}

// backlog measures the database when metrics are collected. Every node of an installation reports
// the same values.
type backlog struct {
	db                          *sqldb.DB
	waiting, deferred, age, lag *prometheus.Desc
	held, outages, bounces      *prometheus.Desc
	webhooks, visitors          *prometheus.Desc
	warnings                    *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (b *backlog) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{b.waiting, b.deferred, b.age, b.lag, b.held, b.outages, b.bounces, b.webhooks, b.visitors, b.warnings} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (b *backlog) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrape)
	defer cancel()
	gauge := func(d *prometheus.Desc, v float64, err error) {
		if err != nil {
			to <- prometheus.NewInvalidMetric(d, err)
			return
		}
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v)
	}
	q, err := outbox.LoadBacklog(ctx, b.db, time.Now())
	gauge(b.waiting, float64(q.Waiting), err)
	gauge(b.deferred, float64(q.Deferred), err)
	gauge(b.age, q.Overdue.Seconds(), err)
	lag, err := journal.Lag(ctx, b.db)
	gauge(b.lag, float64(lag), err)
	since, err := hold.Since(ctx, b.db)
	held := 0.0
	if since != nil {
		held = 1
	}
	gauge(b.held, held, err)
	outages, bounces, err := outage.Open(ctx, b.db)
	gauge(b.outages, float64(outages), err)
	gauge(b.bounces, float64(bounces), err)
	overdue, err := webhook.Overdue(ctx, b.db, time.Now())
	gauge(b.webhooks, overdue.Seconds(), err)
	requests, err := visitor.Waiting(ctx, b.db)
	gauge(b.visitors, float64(requests), err)
	warnings, err := sender.CountWarnings(ctx, b.db)
	if err != nil {
		to <- prometheus.NewInvalidMetric(b.warnings, err)
		return
	}
	for _, m := range sender.Metrics() {
		to <- prometheus.MustNewConstMetric(b.warnings, prometheus.GaugeValue, float64(warnings[m]), string(m))
	}
}

// hitMetrics adds the metrics of the queue of opens and clicks.
func hitMetrics(r prometheus.Registerer, q *track.Queue) {
	r.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "packetboat_hits_waiting", Help: "Opens and clicks that this process has still to write.",
		}, func() float64 { return float64(q.Len()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "packetboat_hits_lost_total", Help: "Opens and clicks that were not kept: the database took no writes for too long.",
		}, func() float64 { return float64(q.Lost()) }),
	)
}

// requestTimes returns a function that records the duration of requests by operation.
func requestTimes(r prometheus.Registerer) func(operation string, status int, took time.Duration) {
	times := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "packetboat_request_duration_seconds",
		Help:    "Time that requests take, by operation and class of status; without an operation: none was found.",
		Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
	}, []string{"operation", "status"})
	r.MustRegister(times)
	return func(operation string, status int, took time.Duration) {
		if status == 0 {
			status = http.StatusOK
		}
		times.WithLabelValues(operation, strconv.Itoa(status/100)+"xx").Observe(took.Seconds())
	}
}

// disk measures the file system of a directory when metrics are collected.
type disk struct {
	dir  string
	free *prometheus.Desc
}

// newDisk measures the directory of the SQLite database or, with PostgreSQL, the data directory.
func newDisk(db *sqldb.DB, dataDir string) *disk {
	dir := dataDir
	if db.File() != "" {
		dir = filepath.Dir(db.File())
	}
	return &disk{dir, prometheus.NewDesc("packetboat_data_dir_free_bytes", "Space that is free for this process on the file system of the data directory.", nil, nil)}
}

// Describe implements prometheus.Collector.
func (d *disk) Describe(to chan<- *prometheus.Desc) { to <- d.free }

// Collect implements prometheus.Collector. Without a data directory, as with PostgreSQL and a
// secret key from the environment, there is no metric.
func (d *disk) Collect(to chan<- prometheus.Metric) {
	if free, err := freeBytes(d.dir); err == nil {
		to <- prometheus.MustNewConstMetric(d.free, prometheus.GaugeValue, float64(free))
	}
}
