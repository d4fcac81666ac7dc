package app

import (
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/packetboat/packetboat/internal/sqldb"
)

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
