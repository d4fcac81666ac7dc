package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/edge/doctor"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Doctor examines the installation. The configuration was read from a file, unless its name is empty;
// probe is the domain whose mail server is connected to, to see whether the network permits it.
func Doctor(ctx context.Context, cfg Config, file, probe string) doctor.Report {
	i := doctor.Installation{
		DatabaseURL: cfg.DatabaseURL, DataDir: cfg.DataDir, SecretKey: cfg.SecretKey, ConfigFile: file,
		BaseURL: cfg.BaseURL, Loopback: cfg.LoopbackBaseURL(), Listen: cfg.Listen, TLSListen: cfg.TLSListen, AdminListen: cfg.AdminListen,
		InboundListen: cfg.InboundListen, InboundTLSCert: cfg.InboundTLSCert, InboundTLSKey: cfg.InboundTLSKey,
		Hosts: cfg.RecordHosts(), DNSResolver: cfg.DNSResolver, MXPort: cfg.MXPort, ProbeDomain: probe, SESEndpoint: cfg.SESEndpoint,
		AllowPrivate: cfg.AllowPrivateRelays || cfg.LoopbackBaseURL(),
		Secrets:      []string{cfg.Bootstrap.AdminPassword, cfg.Bootstrap.APIKey},
		Now:          time.Now,
		Touch:        func(ctx context.Context, db *sqldb.DB) error { return touch(ctx, db, time.Now()) },
		Fingerprint:  storedFingerprint, KeyFingerprint: fingerprint,
	}
	if cfg.SystemRelay != nil {
		i.SystemRelay = &cfg.SystemRelay.Client
	}
	return doctor.Examine(ctx, i)
}

// storedFingerprint returns the fingerprint of the secret key that the database was created with, or "".
func storedFingerprint(ctx context.Context, db *sqldb.DB) (string, error) {
	var begun string
	err := db.QueryRow(ctx, `SELECT fingerprint FROM secret_key WHERE name = 'main'`).Scan(&begun)
	if errors.Is(err, sqldb.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("check the secret key: %w", err)
	}
	return begun, nil
}
