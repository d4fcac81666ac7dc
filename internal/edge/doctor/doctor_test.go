package doctor_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/edge/doctor"
	"github.com/packetboat/packetboat/internal/mail/dnstest"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/senders/hold"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/senders/traffic"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// clinic is an installation on loopback, with a name server, a proxy with a certificate, and a mail
// server.
type clinic struct {
	*testing.T
	doctor.Installation
	db   *sqldb.DB
	box  *secret.Box
	zone *dnstest.Server
}

const password = "anchor-lantern-19"

// certificate returns a certificate for names, by an authority of its own, which is returned too.
func certificate(t *testing.T, end time.Time, names ...string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, DNSNames: names, NotBefore: time.Now().Add(-240 * time.Hour), NotAfter: end,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, pool
}

// mailServer answers connections with a banner and returns its port.
func mailServer(t *testing.T, banner string) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, banner+"\r\n")
			_, _ = io.Copy(io.Discard, c)
			_ = c.Close()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

// newClinic returns a healthy installation at mail.boat.example on a database.
func newClinic(t *testing.T, address string) *clinic {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sqldb.Open(t.Context(), address, sqldb.Options{MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	key := make([]byte, secret.KeyBytes)
	_, _ = rand.Read(key)
	box, err := secret.NewBox(key)
	if err != nil {
		t.Fatal(err)
	}
	cert, pool := certificate(t, time.Now().Add(60*24*time.Hour), "mail.boat.example", "track.boat.example", "go.acme.example")
	nonce := sender.NewNonce(box)
	proxy := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, nonce.Answer(r.URL.Query().Get("challenge")))
	}))
	proxy.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	proxy.StartTLS()
	t.Cleanup(proxy.Close)
	_, port, _ := net.SplitHostPort(proxy.Listener.Addr().String())
	c := &clinic{T: t, db: db, box: box, zone: dnstest.New(t,
		"mail.boat.example. 60 IN A 127.0.0.1", "track.boat.example. 60 IN A 127.0.0.1", "mx.boat.example. 60 IN A 127.0.0.1",
		`spf.boat.example. 60 IN TXT "v=spf1 ip4:127.0.0.1 -all"`,
		"1.0.0.127.in-addr.arpa. 60 IN PTR out.boat.example.", "out.boat.example. 60 IN A 127.0.0.1",
		"probe.example. 60 IN MX 10 mx.probe.example.", "mx.probe.example. 60 IN A 127.0.0.1")}
	c.Installation = doctor.Installation{
		DatabaseURL: address, DataDir: dir, SecretKey: key, BaseURL: &url.URL{Scheme: "https", Host: "mail.boat.example:" + port},
		Listen: "127.0.0.1:0", Hosts: sender.Hosts{MX: "mx.boat.example", SPF: "spf.boat.example", Track: "mail.boat.example"},
		DNSResolver: c.zone.Addr, MXPort: mailServer(t, "220 ready"), ProbeDomain: "probe.example", AllowPrivate: true, RootCAs: pool, Now: time.Now,
		Touch: func(context.Context, *sqldb.DB) error { return nil },
		Fingerprint: func(context.Context, *sqldb.DB) (string, error) {
			return base64.StdEncoding.EncodeToString(box.Derive("test")), nil
		},
		KeyFingerprint: func(b *secret.Box) string { return base64.StdEncoding.EncodeToString(b.Derive("test")) },
	}
	return c
}

// tenant creates a tenant with a domain whose records are published.
func (c *clinic) tenant() (tenant.Tenant, sender.Domain) {
	c.Helper()
	t, err := tenant.Create(c.Context(), c.db, "acme", "Acme", "", time.Now())
	if err != nil {
		c.Fatal(err)
	}
	d, err := sender.CreateDomain(c.Context(), c.db, c.box, t.ID, sender.DomainDraft{Domain: "acme.example"}, time.Now())
	if err != nil {
		c.Fatal(err)
	}
	for _, r := range d.Records(c.Hosts, lane.ReturnPath{}) {
		value := r.Value
		switch r.Type {
		case "TXT":
			value = `"` + value[:min(200, len(value))] + `" "` + value[min(200, len(value)):] + `"`
		case "MX":
			value = "10 " + value + "."
		case "CNAME":
			value += "."
		}
		c.zone.Add(c, r.Host+". 60 IN "+r.Type+" "+value)
	}
	return t, d
}

func (c *clinic) lane(t id.Tenant, f lane.Fields) {
	c.Helper()
	f.Name = new("lane " + string(*f.Type))
	if _, err := lane.Create(c.Context(), c.db, c.box, t, f, lane.Rules{AllowPrivate: true}, time.Now()); err != nil {
		c.Fatal(err)
	}
}

// find returns the worst finding about a subject, which may be the beginning of it.
func find(r doctor.Report, check, subject string) doctor.Finding {
	rank := map[doctor.Status]int{"": 0, doctor.OK: 1, doctor.Skipped: 2, doctor.Warning: 3, doctor.Error: 4}
	var worst doctor.Finding
	for _, f := range r.Findings {
		if f.Check == check && strings.HasPrefix(f.Subject, subject) && rank[f.Status] > rank[worst.Status] {
			worst = f
		}
	}
	return worst
}

// expect checks the worst finding of a check: its status and a part of its text.
func (c *clinic) expect(r doctor.Report, check, subject string, status doctor.Status, text string) {
	c.Helper()
	f := find(r, check, subject)
	if f.Status != status || !strings.Contains(f.Detail, text) {
		c.Errorf("%s %s is %q: %q; want %s: %q", check, subject, f.Status, f.Detail, status, text)
	}
	if (f.Status == doctor.Error || f.Status == doctor.Warning) && f.Advice == "" {
		c.Errorf("%s %s has no advice", check, subject)
	}
}

func TestAHealthyInstallationHasNoErrors(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		c := newClinic(t, address)
		tn, _ := c.tenant()
		c.lane(tn.ID, lane.Fields{Type: new(lane.DirectMX), IPs: &[]lane.SourceFields{{IP: "127.0.0.1", HELO: "out.boat.example"}}})
		r := doctor.Examine(t.Context(), c.Installation)
		for _, f := range r.Findings {
			if f.Status == doctor.Error {
				t.Errorf("%+v", f)
			}
		}
		if disk := find(r, "data directory", ""); !strings.HasPrefix(disk.Detail, "a durable write took") { // the machine may be busy
			c.expect(r, "data directory", "", doctor.OK, "")
		}
		c.expect(r, "secret key", "", doctor.OK, "")
		c.expect(r, "database", "", find(r, "database", "").Status, "") // fsync may be off on the test's server
		c.expect(r, "host", "https://", doctor.OK, "leads to this installation")
		c.expect(r, "host", "spf.boat.example", doctor.OK, "v=spf1")
		c.expect(r, "host", "mx.boat.example", doctor.Warning, "only addresses that others cannot reach")
		c.expect(r, "certificate", "mail.boat.example", doctor.OK, "valid until")
		c.expect(r, "source address", "127.0.0.1", doctor.OK, "")
		c.expect(r, "port 25", "mx.probe.example", doctor.OK, "possible")
		c.expect(r, "clock", "", doctor.OK, "")
		c.expect(r, "state", "", doctor.OK, "1 tenants")
		c.expect(r, "name server", "", doctor.OK, "")
	})
}

func TestWhatIsMissingIsFound(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		c := newClinic(t, address)
		tn, d := c.tenant()
		c.lane(tn.ID, lane.Fields{Type: new(lane.DirectMX), IPs: &[]lane.SourceFields{{IP: "127.0.0.1", HELO: "out.boat.example"}}})
		c.lane(tn.ID, lane.Fields{Type: new(lane.SMTP), Host: new("127.0.0.1"), Port: new(mailServer(t, "554 go away")), TLS: new(smtpclient.None), Auth: new(smtpclient.AuthNone)})
		unknown := sender.Warning{Metric: sender.UnknownUsers, Broadcast: id.New[id.Broadcast](), Count: 120, Of: 1000, Threshold: 0.08, Window: 24 * time.Hour}
		if _, err := sender.SaveWarnings(t.Context(), c.db, nil, map[traffic.Domain][]sender.Warning{{Tenant: tn.ID, Domain: d.ID}: {unknown}}, nil, time.Now()); err != nil {
			t.Fatal(err)
		}
		c.zone.Remove("mx.boat.example")
		c.zone.Remove("spf.boat.example")
		c.zone.Remove("1.0.0.127.in-addr.arpa")
		c.zone.Remove(d.ReturnPathHost)
		c.zone.Fail("track.boat.example", dns.RcodeServerFailure)
		c.Hosts.Track = "track.boat.example"
		c.MXPort = mailServer(t, "554 your address is blocked")
		c.InboundListen = "127.0.0.1:0"
		c.Fingerprint = func(context.Context, *sqldb.DB) (string, error) { return "another", nil }
		c.Touch = func(context.Context, *sqldb.DB) error { return errors.New("read-only") }
		if err := hold.Set(t.Context(), c.db, time.Now()); err != nil {
			t.Fatal(err)
		}
		r := doctor.Examine(t.Context(), c.Installation)
		if r.Status != doctor.Error || r.Errors == 0 {
			t.Errorf("status %s, %d errors", r.Status, r.Errors)
		}
		c.expect(r, "host", "mx.boat.example", doctor.Error, "no address")
		c.expect(r, "host", "spf.boat.example", doctor.Error, "no SPF record")
		c.expect(r, "host", "track.boat.example", doctor.Warning, "could not be looked up")
		c.expect(r, "source address", "127.0.0.1", doctor.Error, "")
		c.expect(r, "port 25", "mx.probe.example", doctor.Error, "did not accept")
		c.expect(r, "relay", "acme/", doctor.Error, "554")
		c.expect(r, "sending domain", "acme/acme.example", doctor.Warning, "")
		c.expect(r, "inbound mail", "", doctor.Warning, "")
		c.expect(r, "state", "", doctor.Warning, "held")
		if !slices.ContainsFunc(r.Findings, func(f doctor.Finding) bool {
			return f.Check == "sending domain" && f.Status == doctor.Warning && strings.Contains(f.Detail, "12 % of the first recipients") && f.Advice != ""
		}) {
			t.Errorf("the warning about the domain is missing: %+v", r.Findings)
		}
		var text strings.Builder
		if err := r.Write(&text); err != nil || !strings.Contains(text.String(), "another secret key") || !strings.Contains(text.String(), "read-only") ||
			!strings.Contains(text.String(), "the MX record bounce.acme.example is missing") {
			t.Errorf("%v\n%s", err, text.String())
		}
	})
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	c := newClinic(t, dbtest.OneAddress(t))
	for _, tt := range []struct {
		name, host string
		end        time.Duration
		status     doctor.Status
		text       string
	}{
		{"good", "mail.boat.example", 40 * 24 * time.Hour, doctor.OK, "valid until"},
		{"soon", "mail.boat.example", 10 * 24 * time.Hour, doctor.Warning, "expires"},
		{"now", "mail.boat.example", 24 * time.Hour, doctor.Error, "expires"},
		{"over", "mail.boat.example", -time.Hour, doctor.Error, "expired"},
		{"of another host", "other.boat.example", 40 * 24 * time.Hour, doctor.Error, "not valid"},
	} {
		cert, pool := certificate(t, time.Now().Add(tt.end), tt.host)
		l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				_ = conn.(*tls.Conn).Handshake()
				_ = conn.Close()
			}
		}()
		i := c.Installation
		i.BaseURL, i.RootCAs, i.Hosts.Track = &url.URL{Scheme: "https", Host: fmt.Sprintf("mail.boat.example:%d", l.Addr().(*net.TCPAddr).Port)}, pool, ""
		r := doctor.Examine(t.Context(), i)
		_ = l.Close()
		c.expect(r, "certificate", "mail.boat.example", tt.status, tt.text)
	}
}

func TestADatabaseThatSortsByALanguage(t *testing.T) {
	t.Parallel()
	address := dbtest.LanguagePostgres(t)
	db, err := sqldb.Open(t.Context(), address, sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Migrate(t.Context())
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	r := doctor.Examine(t.Context(), newClinic(t, address).Installation)
	if !slices.ContainsFunc(r.Findings, func(f doctor.Finding) bool {
		return f.Status == doctor.Warning && strings.Contains(f.Detail, "sorts texts by the rules of a language") && f.Advice != ""
	}) {
		t.Errorf("no finding says so: %v", r.Findings)
	}
}

// Without the database, everything else is examined, and no secret is shown.
func TestWithoutADatabase(t *testing.T) {
	t.Parallel()
	c := newClinic(t, dbtest.OneAddress(t))
	c.DatabaseURL = "postgres://boat:" + password + "@127.0.0.1:1/" + password
	c.SystemRelay = &smtpclient.Config{Host: "127.0.0.1", Port: 1, TLS: smtpclient.None, Password: password}
	r := doctor.Examine(t.Context(), c.Installation)
	c.expect(r, "database", "PostgreSQL", doctor.Error, "cannot be opened")
	c.expect(r, "host", "https://", doctor.OK, "")
	c.expect(r, "state", "", doctor.Skipped, "")
	c.expect(r, "relay", "127.0.0.1:1", doctor.Error, "")
	text, err := json.Marshal(r)
	if err != nil || strings.Contains(string(text), password) || strings.Contains(string(text), base64.StdEncoding.EncodeToString(c.SecretKey)) {
		t.Errorf("%v, a secret is shown: %s", err, text)
	}
}

func TestWithoutAnything(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := &clinic{T: t}
	r := doctor.Examine(t.Context(), doctor.Installation{
		DatabaseURL: "sqlite:packetboat.db", DataDir: filepath.Join(dir, "data"), BaseURL: &url.URL{Scheme: "http", Host: "127.0.0.1:1"}, Loopback: true,
		Listen: "127.0.0.1:0", DNSResolver: "127.0.0.1:1", Now: time.Now,
	})
	c.expect(r, "data directory", "", doctor.Warning, "does not exist")
	c.expect(r, "name server", "", doctor.Error, "does not answer")
	c.expect(r, "database", "", doctor.Warning, "no database yet")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("the examination left %v, %v", entries, err)
	}
}

func TestFilesThatOthersMayRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key := base64.StdEncoding.EncodeToString(make([]byte, secret.KeyBytes))
	for name, text := range map[string]string{"secret.key": key, "packetboat.toml": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	c := &clinic{T: t}
	r := doctor.Examine(t.Context(), doctor.Installation{
		DatabaseURL: "sqlite:packetboat.db", DataDir: dir, ConfigFile: filepath.Join(dir, "packetboat.toml"), BaseURL: &url.URL{Scheme: "http", Host: "127.0.0.1:1"}, Loopback: true,
		Listen: "127.0.0.1:0", DNSResolver: "127.0.0.1:1", Now: time.Now,
	})
	c.expect(r, "data directory", "", doctor.Warning, "0755")
	c.expect(r, "configuration file", "", doctor.Warning, "0644")
	c.expect(r, "secret key", "", doctor.Error, "guessed")
	if r.Warnings < 3 {
		t.Errorf("%+v", r)
	}
}

func TestAPortOfAnotherProgram(t *testing.T) {
	t.Parallel()
	c := newClinic(t, dbtest.OneAddress(t))
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	same := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"status":"ok"}`) }))
	t.Cleanup(same.Close)
	c.Listen, c.AdminListen = same.Listener.Addr().String(), other.Listener.Addr().String()
	r := doctor.Examine(t.Context(), c.Installation)
	c.expect(r, "listener", c.Listen, doctor.OK, "packetboat listens")
	c.expect(r, "listener", c.AdminListen, doctor.Error, "another program")
}
