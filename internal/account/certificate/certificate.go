// Package certificate obtains certificates for the installation's hosts from an authority that speaks
// ACME (RFC 8555), and serves them.
//
// Certificates, the key of the account at the authority and the answers to its challenges are rows that
// all processes read, so any of them can answer a challenge and serve any host. Private keys are
// sealed. One process at a time, the leader, runs the Issuer. Certificates are requested only for hosts
// that Issuer.Hosts lists, never because a client names a host: otherwise anyone could use up what the
// authority allows.
package certificate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// LetsEncrypt is the directory of Let's Encrypt.
const LetsEncrypt = "https://acme-v02.api.letsencrypt.org/directory"

// place is where a certificate's key is sealed for.
func place(host string) string { return "tls_certificate:" + host }

// issued is a certificate with its key.
type issued struct {
	pem  []byte // the key, then the chain
	leaf *x509.Certificate
}

// store stores a certificate, and when to replace it.
func (c issued) store(ctx context.Context, db *sqldb.DB, box *secret.Box, host string, now time.Time) error {
	_, err := db.Exec(ctx, `
		UPDATE tls_certificate SET sealed = $2, not_after = $3, next_try_at = $4, failures = 0, problem = NULL
		WHERE host = $1`,
		host, box.Seal(c.pem, place(host)), c.leaf.NotAfter.UnixMicro(), c.renewal(now).UnixMicro())
	if err != nil {
		return fmt.Errorf("store a certificate: %w", err)
	}
	return nil
}

// renewal is when a certificate is replaced: after two thirds of its time.
func (c issued) renewal(now time.Time) time.Time {
	at := c.leaf.NotBefore.Add(c.leaf.NotAfter.Sub(c.leaf.NotBefore) / 3 * 2)
	if soonest := now.Add(time.Minute); at.Before(soonest) {
		return soonest
	}
	return at
}

// load returns the certificate of a host, or nil if there is none.
func load(ctx context.Context, db *sqldb.DB, box *secret.Box, host string) (*tls.Certificate, error) {
	var sealed string
	err := db.QueryRow(ctx, `SELECT COALESCE(sealed, '') FROM tls_certificate WHERE host = $1`, host).Scan(&sealed)
	if errors.Is(err, sqldb.ErrNoRows) || err == nil && sealed == "" {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read a certificate: %w", err)
	}
	text, err := box.Open(sealed, place(host))
	if err != nil {
		return nil, fmt.Errorf("open the certificate of %s: %w", host, err)
	}
	return parse(text)
}

// parse reads a key and a chain in PEM.
func parse(text []byte) (*tls.Certificate, error) {
	cert, err := tls.X509KeyPair(text, text)
	if err != nil {
		return nil, fmt.Errorf("parse a certificate: %w", err)
	}
	return &cert, nil
}

// encode returns a key and a chain in PEM.
func encode(key []byte, chain [][]byte) []byte {
	out := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})
	for _, c := range chain {
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c})...)
	}
	return out
}

// State is what is known about the certificate of a host.
type State struct {
	Host     string
	NotAfter *time.Time // nil: there is none
	Failures int        // since the last success
	Problem  string     // of the last attempt; empty: it succeeded
	NextTry  time.Time
}

// Failing returns hosts whose last attempt failed, the oldest first, at most limit.
func Failing(ctx context.Context, db *sqldb.DB, limit int) ([]State, error) {
	rows, err := db.Query(ctx, `
		SELECT host, not_after, failures, COALESCE(problem, ''), next_try_at FROM tls_certificate
		WHERE failures > 0 ORDER BY created_at, host LIMIT $1`, limit)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (s State, err error) {
		err = scan(&s.Host, sqldb.ToNullTime(&s.NotAfter), &s.Failures, &s.Problem, sqldb.ToTime(&s.NextTry))
		return s, err
	})
	if err != nil {
		return nil, fmt.Errorf("read failing certificates: %w", err)
	}
	return list, nil
}
