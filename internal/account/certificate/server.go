package certificate

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"slices"
	"time"

	"golang.org/x/crypto/acme"

	"github.com/packetboat/packetboat/internal/base/cache"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// How long certificates are cached. A renewed one is used after keepFound at the latest, and the first
// one of a host after keepMissing.
const (
	keepFound   = 10 * time.Minute
	keepMissing = 15 * time.Second
	readTimeout = 5 * time.Second
)

// ErrNoCertificate is the error for a client that names a host without a certificate.
var ErrNoCertificate = errors.New("there is no certificate for this host")

// Server serves certificates and answers challenges, in any process.
type Server struct {
	DB      *sqldb.DB
	Box     *secret.Box
	Default string // host of clients that name none
	Log     *slog.Logger
	Now     func() time.Time

	kept cache.Cache[string, *tls.Certificate] // bounded; nil: there is none
}

// TLS returns the settings of a listener.
func (s *Server) TLS() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, GetCertificate: s.certificate,
		NextProtos: []string{"h2", "http/1.1", acme.ALPNProto},
	}
}

// certificate returns the certificate for a client: that of the host it names, or of a challenge.
func (s *Server) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	ctx, cancel := context.WithTimeout(hello.Context(), readTimeout)
	defer cancel()
	host, err := address.Hostname(hello.ServerName)
	if err != nil {
		if hello.ServerName != "" {
			return nil, ErrNoCertificate
		}
		host = s.Default
	}
	if slices.Equal(hello.SupportedProtos, []string{acme.ALPNProto}) { // RFC 8737 section 3
		return s.challenge(ctx, host)
	}
	cert, err := s.Of(ctx, host)
	if err == nil && cert == nil {
		err = ErrNoCertificate
	}
	return cert, err
}

// Of returns the certificate of a host, or nil if there is none.
func (s *Server) Of(ctx context.Context, host string) (*tls.Certificate, error) {
	now := s.Now()
	if cert, ok := s.kept.Get(host, now); ok {
		return cert, nil
	}
	cert, err := load(ctx, s.DB, s.Box, host)
	if err != nil {
		s.Log.Error("read certificate failed", "host", host, "err", err)
		return nil, err
	}
	keep := keepFound
	if cert == nil {
		keep = keepMissing
	}
	s.kept.Put(host, cert, now, keep)
	return cert, nil
}

// challenge returns the certificate that answers a TLS-ALPN-01 challenge of a host.
func (s *Server) challenge(ctx context.Context, host string) (*tls.Certificate, error) {
	var answer string
	err := s.DB.QueryRow(ctx, `SELECT answer FROM acme_challenge WHERE host = $1 AND expires_at > $2 ORDER BY created_at DESC LIMIT 1`,
		host, s.Now().UnixMicro()).Scan(&answer)
	if errors.Is(err, sqldb.ErrNoRows) {
		return nil, ErrNoCertificate
	}
	if err != nil {
		return nil, fmt.Errorf("read the answer to a challenge: %w", err)
	}
	return answerCertificate(host, answer, s.Now())
}

// acmeIdentifier is the extension with the hash of a key authorization (RFC 8737 section 3).
var acmeIdentifier = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 1, 31}

// answerCertificate returns a self-signed certificate with the hash of a key authorization.
func answerCertificate(host, answer string, now time.Time) (*tls.Certificate, error) {
	hash := sha256.Sum256([]byte(answer))
	value, err := asn1.Marshal(hash[:])
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ACME challenge"}, DNSNames: []string{host},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtraExtensions: []pkix.Extension{{Id: acmeIdentifier, Critical: true, Value: value}},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("make the certificate of a challenge: %w", err)
	}
	return &tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, nil
}

// Routes adds the answers to HTTP-01 challenges.
func (s *Server) Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /.well-known/acme-challenge/{token}", func(w http.ResponseWriter, r *http.Request) {
		var answer string
		token := r.PathValue("token")
		err := error(sqldb.ErrNoRows)
		if len(token) <= maxChallengeIn {
			err = s.DB.QueryRow(r.Context(), `SELECT answer FROM acme_challenge WHERE token = $1 AND expires_at > $2`, token, s.Now().UnixMicro()).Scan(&answer)
		}
		switch {
		case errors.Is(err, sqldb.ErrNoRows):
			http.NotFound(w, r)
		case err != nil:
			s.Log.Error("read challenge failed", "err", err)
			http.Error(w, "try again later", http.StatusServiceUnavailable)
		default:
			w.Header().Set("Content-Type", "application/octet-stream")
			w.Header().Set("Cache-Control", "no-store")
			_, _ = io.WriteString(w, answer)
		}
	})
}
