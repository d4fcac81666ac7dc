package certificate_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/letsencrypt/pebble/v2/ca"
	pebbledb "github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"

	"github.com/packetboat/packetboat/internal/account/certificate"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/mail/dnstest"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestMain(m *testing.M) {
	_ = os.Setenv("PEBBLE_VA_NOSLEEP", "1") // the authority validates at once
	os.Exit(m.Run())
}

// authority is Pebble, the ACME server for tests of Let's Encrypt.
type authority struct {
	*httptest.Server
	roots *x509.CertPool
}

// validity is that of the authority's certificates.
const validity = 90 * 24 * time.Hour

// oneAtATime serves one request after the other: Pebble changes an account after it has stored it, which is
// a race with a second registration of the same key.
func oneAtATime(h http.Handler) http.Handler {
	var mu sync.Mutex
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		h.ServeHTTP(w, r)
	})
}

// newAuthority starts one that connects to hosts at these ports.
func newAuthority(t *testing.T, resolver string, httpPort, tlsPort int) authority {
	t.Helper()
	logger, store := log.New(io.Discard, "", 0), pebbledb.NewMemoryStore()
	issuing := ca.New(logger, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {Description: "default", ValidityPeriod: uint64(validity.Seconds())}})
	front := wfe.New(logger, store, va.New(logger, httpPort, tlsPort, true, resolver, store), issuing, []string{"ca.example"}, true, false, 0, 0)
	a := authority{httptest.NewTLSServer(oneAtATime(front.Handler())), x509.NewCertPool()}
	t.Cleanup(a.Close)
	root, err := x509.ParseCertificate(issuing.GetRootCert(0).DER)
	if err != nil {
		t.Fatal(err)
	}
	a.roots.AddCert(root)
	return a
}

// node is one process of an installation.
type node struct {
	*certificate.Server
	https, http int // ports
}

// house is an installation of two nodes with a clock.
type house struct {
	*testing.T
	db    *sqldb.DB
	box   *secret.Box
	zone  *dnstest.Server
	first *node // the authority connects to the second one

	mu     sync.Mutex
	now    time.Time
	hosts  []string
	denied map[string]bool
}

func (h *house) clock() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *house) wait(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

func port(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

func (h *house) node() *node {
	h.Helper()
	n := &node{Server: &certificate.Server{DB: h.db, Box: h.box, Default: "mail.boat.example", Log: slog.New(slog.DiscardHandler), Now: h.clock}}
	mux := http.NewServeMux()
	n.Routes(mux)
	plain := httptest.NewServer(mux)
	h.Cleanup(plain.Close)
	l, err := tls.Listen("tcp", "127.0.0.1:0", n.TLS())
	if err != nil {
		h.Fatal(err)
	}
	secure := &http.Server{Handler: mux, ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: time.Minute}
	go func() { _ = secure.Serve(l) }()
	h.Cleanup(func() { _ = secure.Close() })
	n.http, n.https = port(plain.Listener), port(l)
	return n
}

func newHouse(t *testing.T, db *sqldb.DB, hosts ...string) *house {
	t.Helper()
	box, err := secret.NewBox(slices.Repeat([]byte{7}, secret.KeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	h := &house{T: t, db: db, box: box, zone: dnstest.New(t), now: time.Now(), hosts: hosts, denied: map[string]bool{}}
	for _, host := range hosts {
		h.zone.Add(t, host+". 60 IN A 127.0.0.1")
	}
	h.first = h.node()
	return h
}

// issue returns an Issuer that uses an authority.
func (h *house) issue(directory string, client *http.Client) *certificate.Issuer {
	return &certificate.Issuer{
		DB: h.db, Box: h.box, Directory: directory, Email: "operator@boat.example", HTTP: client, Log: slog.New(slog.DiscardHandler), Now: h.clock,
		Hosts:  func(context.Context) ([]string, error) { return h.hosts, nil },
		Serves: func(_ context.Context, host string) (bool, error) { return !h.denied[host], nil },
	}
}

func (h *house) tick(i *certificate.Issuer) {
	h.Helper()
	for more := true; more; {
		var err error
		if more, err = i.Tick(h.Context()); err != nil {
			h.Fatal(err)
		}
	}
}

// served returns the certificate that a node serves for a host, which must be valid.
func (h *house) served(n *node, host string, roots *x509.CertPool) (*x509.Certificate, error) {
	h.Helper()
	d := tls.Dialer{Config: &tls.Config{ServerName: host, RootCAs: roots, MinVersion: tls.VersionTLS12}}
	c, err := d.DialContext(h.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", n.https))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.(*tls.Conn).ConnectionState().PeerCertificates[0], nil
}

func (h *house) failing() map[string]int {
	h.Helper()
	list, err := certificate.Failing(h.Context(), h.db, 100)
	if err != nil {
		h.Fatal(err)
	}
	out := map[string]int{}
	for _, s := range list {
		if s.Problem == "" {
			h.Errorf("%s fails without a problem", s.Host)
		}
		h.Logf("%s: %s", s.Host, s.Problem)
		out[s.Host] = s.Failures
	}
	return out
}

// closedPort returns a port without a listener.
func closedPort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return port(l)
}

// A certificate is obtained by the leader, though the authority connects to another node, and every node
// serves it.
func TestCertificatesAreObtainedAndRenewed(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db, "mail.boat.example", "go.acme.example")
		second := h.node()
		a := newAuthority(t, h.zone.Addr, closedPort(t), second.https)
		h.hosts = []string{"mail.boat.example", "go.acme.example", "gone.acme.example"}
		h.denied["gone.acme.example"] = true
		if _, err := h.served(h.first, "go.acme.example", a.roots); err == nil {
			t.Error("there is a certificate before one was requested")
		}
		h.wait(time.Minute)
		i := h.issue(a.URL+"/dir", a.Client())
		h.tick(i)
		before := map[string]string{}
		for _, host := range []string{"mail.boat.example", "go.acme.example"} {
			for _, n := range []*node{h.first, second} {
				c, err := h.served(n, host, a.roots)
				if err != nil {
					t.Fatalf("%s: %v, %v", host, err, h.failing())
				}
				before[host] = c.SerialNumber.String()
			}
		}
		if c, err := h.served(second, "", a.roots); err == nil || c != nil { // no name to verify
			t.Error("a client that names no host got a certificate that it can verify")
		}
		for _, host := range []string{"gone.acme.example", "other.example", "127.0.0.1", "MAIL.boat.example.."} {
			if _, err := h.served(second, host, a.roots); err == nil {
				t.Errorf("%s is served", host)
			}
		}
		var sealed string
		if err := db.QueryRow(t.Context(), `SELECT sealed FROM tls_certificate WHERE host = 'go.acme.example'`).Scan(&sealed); err != nil || strings.Contains(sealed, "PRIVATE") {
			t.Errorf("the stored certificate is %q, %v", sealed, err)
		}
		var challenges, accounts int
		err := errors.Join(db.QueryRow(t.Context(), `SELECT COUNT(*) FROM acme_challenge`).Scan(&challenges), db.QueryRow(t.Context(), `SELECT COUNT(*) FROM acme_account`).Scan(&accounts))
		if err != nil || challenges != 0 || accounts != 1 {
			t.Errorf("%d challenges and %d accounts remain, %v", challenges, accounts, err)
		}

		h.wait(validity/3*2 - 2*time.Hour) // before two thirds of its time
		h.tick(h.issue(a.URL+"/dir", a.Client()))
		if c, err := h.served(second, "go.acme.example", a.roots); err != nil || c.SerialNumber.String() != before["go.acme.example"] {
			t.Errorf("renewed too early, %v", err)
		}
		h.wait(3 * time.Hour)
		h.tick(h.issue(a.URL+"/dir", a.Client())) // another leader, with the same account
		h.wait(time.Hour)                         // nodes read it again
		for _, n := range []*node{h.first, second} {
			if c, err := h.served(n, "go.acme.example", a.roots); err != nil || c.SerialNumber.String() == before["go.acme.example"] {
				t.Errorf("not renewed, %v", err)
			}
		}
	})
}

// Where one kind of challenge cannot work, the other is tried after a while.
func TestTheOtherChallengeIsTried(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db, "go.acme.example")
		a := newAuthority(t, h.zone.Addr, h.first.http, closedPort(t))
		i := h.issue(a.URL+"/dir", a.Client())
		h.tick(i)
		if got := h.failing(); !maps.Equal(got, map[string]int{"go.acme.example": 1}) {
			t.Fatalf("failing %v", got)
		}
		h.tick(i) // not yet
		if got := h.failing(); got["go.acme.example"] != 1 {
			t.Errorf("tried again at once: %v", got)
		}
		h.wait(16 * time.Minute)
		h.tick(i)
		if got := h.failing(); len(got) != 0 {
			t.Fatalf("failing %v", got)
		}
		if _, err := h.served(h.first, "go.acme.example", a.roots); err != nil {
			t.Error(err)
		}
	})
}

// Requests are bounded, and repeated ever less often, whatever the authority does.
func TestRequestsAreBounded(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		for n := range 100 {
			h.hosts = append(h.hosts, fmt.Sprintf("go.n%d.example", n))
		}
		down := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "down", http.StatusForbidden) }))
		t.Cleanup(down.Close)
		i := h.issue(down.URL, down.Client())
		tried := func() int {
			sum := 0
			for _, n := range h.failing() {
				sum += n
			}
			return sum
		}
		h.tick(i)
		if got := tried(); got != 60 {
			t.Errorf("%d requests within an hour, want 60", got)
		}
		h.wait(59 * time.Minute)
		h.tick(i)
		if got := tried(); got != 60 {
			t.Errorf("%d requests within an hour, want 60", got)
		}
		h.hosts = h.hosts[:1]
		if _, err := db.Exec(t.Context(), `DELETE FROM tls_certificate WHERE host <> $1`, h.hosts[0]); err != nil {
			t.Fatal(err)
		}
		h.wait(2 * time.Minute)
		for range 14 * 24 { // a fortnight
			h.tick(i)
			h.wait(time.Hour)
		}
		if got := tried(); got < 14 || got > 25 {
			t.Errorf("%d requests for one host within a fortnight", got)
		}
	})
}

// Two leaders that overlap request each certificate once.
func TestOverlappingLeaders(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		hosts := []string{"a.boat.example", "b.boat.example", "c.boat.example"}
		h := newHouse(t, db, hosts...)
		a := newAuthority(t, h.zone.Addr, h.first.http, h.first.https)
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if _, err := h.issue(a.URL+"/dir", a.Client()).Tick(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		h.tick(h.issue(a.URL+"/dir", a.Client()))
		for _, host := range hosts {
			if _, err := h.served(h.first, host, a.roots); err != nil {
				t.Errorf("%s: %v %v", host, err, h.failing())
			}
		}
	})
}
