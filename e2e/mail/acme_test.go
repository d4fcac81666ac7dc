package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/letsencrypt/pebble/v2/ca"
	pebbledb "github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/mail/dnstest"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// The program obtains a certificate for its own host from an ACME authority, and serves https with it.
func TestTheProgramObtainsItsCertificate(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		zone := dnstest.New(t, "mail.boat.example. 60 IN A 127.0.0.1")
		l, err := net.Listen("tcp", "127.0.0.1:0") // a free port, which the authority must know
		if err != nil {
			t.Fatal(err)
		}
		at := l.Addr().(*net.TCPAddr)
		_ = l.Close()
		logger, store := log.New(io.Discard, "", 0), pebbledb.NewMemoryStore()
		issuing := ca.New(logger, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {Description: "default"}})
		front := wfe.New(logger, store, va.New(logger, 1, at.Port, true, zone.Addr, store), issuing, []string{"ca.example"}, true, false, 0, 0)
		authority := httptest.NewTLSServer(front.Handler())
		t.Cleanup(authority.Close)
		trusted := filepath.Join(t.TempDir(), "ca.pem")
		if err := os.WriteFile(trusted, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Certificate().Raw}), 0o600); err != nil {
			t.Fatal(err)
		}
		p := &harness.Program{Env: []string{
			"PACKETBOAT_BASE_URL=https://mail.boat.example", "PACKETBOAT_ACME=true", "PACKETBOAT_TLS_LISTEN=" + at.String(),
			"PACKETBOAT_ACME_DIRECTORY=" + authority.URL + "/dir", "PACKETBOAT_DNS_RESOLVER=" + zone.Addr, "SSL_CERT_FILE=" + trusted,
		}}
		e2etest.Begin(t, p, address)

		roots := x509.NewCertPool()
		root, err := x509.ParseCertificate(issuing.GetRootCert(0).DER)
		if err != nil {
			t.Fatal(err)
		}
		roots.AddCert(root)
		client := &http.Client{Transport: &http.Transport{
			ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				var d net.Dialer
				return d.DialContext(ctx, network, at.String())
			},
		}}
		t.Cleanup(client.CloseIdleConnections)
		var response *http.Response
		for deadline := time.Now().Add(e2etest.Patience); ; time.Sleep(100 * time.Millisecond) { // the program is another process
			response, err = client.Get("https://mail.boat.example/_q/ping?challenge=x")
			if err == nil || time.Now().After(deadline) {
				break
			}
		}
		if err != nil {
			t.Fatalf("no certificate: %v", err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK || len(body) < 64 || response.ProtoMajor != 2 {
			t.Errorf("GET by https: %s %s %q, %v", response.Proto, response.Status, body, err)
		}
		r := runDoctor(t, p)
		if !r.has("listener", "ok", "packetboat listens on it (PACKETBOAT_TLS_LISTEN)") || strings.Contains(r.text, "was not obtained") {
			t.Errorf("doctor: %s", r.text)
		}
	})
}
