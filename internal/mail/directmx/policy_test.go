package directmx_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/mail/dane"
	"github.com/packetboat/packetboat/internal/mail/directmx"
	"github.com/packetboat/packetboat/internal/mail/dnstest"
	"github.com/packetboat/packetboat/internal/mail/mtasts"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
)

// policies are the MTA-STS policies of domains.
type policies map[string]mtasts.Policy

func (p policies) Policy(_ context.Context, domain string) (mtasts.Policy, bool, error) {
	found, ok := p[domain]
	return found, ok, nil
}

// keypair writes a self-signed certificate for a name and its key to a file.
func keypair(t *testing.T, name string) (file string, cert *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "pair.pem")
	both := slices.Concat(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
	if err := os.WriteFile(file, both, 0o600); err != nil {
		t.Fatal(err)
	}
	if cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return file, cert
}

// attempt is one delivery to a.test, whose server is mx.a.test.
type attempt struct {
	server   *sink.Server
	policy   mtasts.Policy
	trusted  *x509.Certificate
	tlsa     string // "": none
	insecure bool   // DNSSEC does not prove the MX records
	bogus    bool   // nor does it allow to look up the TLSA records
}

// try returns whether the mail was delivered, whether it was encrypted, the error, and what was reported.
func (a attempt) try(t *testing.T) (delivered, encrypted bool, reported []string, err error) {
	t.Helper()
	zone := dnstest.New(t, "a.test. 60 IN MX 5 gone.a.test.", "a.test. 60 IN MX 10 mx.a.test.", "mx.a.test. 60 IN A 127.0.0.1")
	r := newRouter(zone, a.server.Port(), true)
	r.Report = func(p directmx.PolicyType, result string) { reported = append(reported, string(p)+" "+result) }
	r.Policies = policies{"a.test": a.policy}
	r.RootCAs = x509.NewCertPool()
	if a.trusted != nil {
		r.RootCAs.AddCert(a.trusted)
	}
	name := fmt.Sprintf("_%d._tcp.mx.a.test", a.server.Port())
	if a.tlsa != "" {
		zone.Add(t, name+". 60 IN TLSA "+a.tlsa)
	}
	if a.tlsa != "" || a.bogus {
		r.DANE = &dane.Client{Server: zone.Addr}
		zone.Authenticate("mx.a.test")
		zone.Authenticate(name)
		if !a.insecure {
			zone.Authenticate("a.test")
		}
	}
	if a.bogus {
		zone.Fail(name, dns.RcodeServerFailure)
	}
	route, err := r.Route(t.Context(), "a.test")
	if err != nil {
		t.Fatal(err)
	}
	before := a.server.Stats().Messages
	conn, err := r.Dial(t.Context(), route, loopback(smtpclient.Opportunistic))
	if err == nil {
		defer conn.Quit()
		o, failed := conn.Send(t.Context(), smtpclient.Envelope{From: "a@example.net", To: "b@a.test"}, []byte("Subject: x\r\n\r\ny\r\n"))
		if failed != nil || !o.Accepted {
			t.Fatalf("Send = %+v, %v", o, failed)
		}
		encrypted = o.TLS
	}
	return a.server.Stats().Messages > before, encrypted, reported, err
}

func TestPoliciesOfDomains(t *testing.T) {
	t.Parallel()
	right, cert := keypair(t, "mx.a.test")
	wrong, other := keypair(t, "other.test")
	plain := sink.Start(t, sink.Options{})
	valid, invalid := sink.Start(t, sink.Options{STARTTLS: true, Keypair: right}), sink.Start(t, sink.Options{STARTTLS: true, Keypair: wrong})
	broken := sink.Start(t, sink.Options{Offer: []string{"STARTTLS"}})
	enforce := mtasts.Policy{Mode: mtasts.Enforce, Hosts: []string{"*.a.test"}}
	elsewhere := mtasts.Policy{Mode: mtasts.Enforce, Hosts: []string{"mx.b.test"}}
	testing := mtasts.Policy{Mode: mtasts.Testing, Hosts: []string{"*.a.test"}}
	testingElsewhere := mtasts.Policy{Mode: mtasts.Testing, Hosts: []string{"mx.b.test"}}
	key := func(c *x509.Certificate) string {
		sum := sha256.Sum256(c.RawSubjectPublicKeyInfo)
		return "3 1 1 " + hex.EncodeToString(sum[:])
	}
	for _, tt := range []struct {
		name      string
		attempt   attempt
		delivered bool
		reported  []string
	}{
		{"no policy", attempt{server: plain}, true, []string{"no-policy-found starttls-not-supported"}},
		{"no policy, encrypted", attempt{server: invalid}, true, []string{"no-policy-found success"}},

		{"enforced", attempt{server: valid, policy: enforce, trusted: cert}, true, []string{"sts success"}},
		{"enforced, not trusted", attempt{server: valid, policy: enforce}, false, []string{"sts certificate-not-trusted"}},
		{"enforced, another name", attempt{server: invalid, policy: enforce, trusted: other}, false, []string{"sts certificate-host-mismatch"}},
		{"enforced, no STARTTLS", attempt{server: plain, policy: enforce}, false, []string{"sts starttls-not-supported"}},
		{"enforced, broken STARTTLS", attempt{server: broken, policy: enforce}, false, []string{"sts starttls-not-supported"}},
		{"enforced, not listed", attempt{server: valid, policy: elsewhere, trusted: cert}, false, []string{"sts validation-failure"}},

		{"tested", attempt{server: valid, policy: testing, trusted: cert}, true, []string{"sts success"}},
		{"tested, not trusted", attempt{server: valid, policy: testing}, true, []string{"sts certificate-not-trusted"}},
		{"tested, no STARTTLS", attempt{server: plain, policy: testing}, true, []string{"sts starttls-not-supported"}},
		{"tested, not listed", attempt{server: valid, policy: testingElsewhere, trusted: cert}, true, []string{"sts validation-failure"}},

		{"TLSA", attempt{server: invalid, tlsa: key(other)}, true, []string{"tlsa success"}},
		{"TLSA of another key", attempt{server: valid, trusted: cert, tlsa: key(other)}, false, []string{"tlsa validation-failure"}},
		{"TLSA, no STARTTLS", attempt{server: plain, tlsa: key(cert)}, false, []string{"tlsa starttls-not-supported"}},
		{"TLSA that cannot be used", attempt{server: invalid, tlsa: "0 0 1 abcd"}, true, []string{"tlsa tlsa-invalid", "tlsa success"}},
		{"TLSA that cannot be used, no STARTTLS", attempt{server: plain, tlsa: "0 0 1 abcd"}, false, []string{"tlsa tlsa-invalid", "tlsa starttls-not-supported"}},
		{"TLSA that cannot be looked up", attempt{server: valid, trusted: cert, bogus: true}, false, []string{"tlsa dnssec-invalid"}},
		{"TLSA behind insecure MX records", attempt{server: plain, tlsa: key(other), insecure: true}, true, []string{"no-policy-found starttls-not-supported"}},
		{"TLSA before MTA-STS", attempt{server: invalid, policy: elsewhere, tlsa: key(other)}, true, []string{"tlsa success"}},
		{"TLSA fails, MTA-STS does not", attempt{server: valid, policy: enforce, trusted: cert, tlsa: key(other)}, false, []string{"tlsa validation-failure"}},
		{"unusable TLSA and MTA-STS", attempt{server: invalid, policy: enforce, trusted: other, tlsa: "0 0 1 abcd"}, false, []string{"tlsa tlsa-invalid", "sts certificate-host-mismatch"}},
	} {
		delivered, encrypted, reported, err := tt.attempt.try(t)
		if delivered != tt.delivered || delivered == (err != nil) || !slices.Equal(reported, tt.reported) {
			t.Errorf("%s: delivered %t, %v, reported %q; want %t, %q", tt.name, delivered, err, reported, tt.delivered, tt.reported)
		}
		if !delivered && !errors.Is(err, directmx.ErrPolicy) {
			t.Errorf("%s: %v is not about a policy", tt.name, err)
		}
		if want := tt.attempt.server != plain; delivered && encrypted != want {
			t.Errorf("%s: encrypted %t", tt.name, encrypted)
		}
	}
}

// Connections are shared by domains only if the same was verified for both.
func TestSecurityDistinguishesPolicies(t *testing.T) {
	t.Parallel()
	enforce := func(hosts ...string) directmx.Route {
		return directmx.Route{Policy: mtasts.Policy{Mode: mtasts.Enforce, Hosts: hosts}}
	}
	all := []string{
		directmx.Route{}.Security(), enforce("a.test").Security(), enforce("b.test").Security(), enforce("a.test", "b.test").Security(),
		directmx.Route{Domain: "a.test", Proven: true}.Security(), directmx.Route{Domain: "b.test", Proven: true}.Security(),
	}
	slices.Sort(all)
	if len(slices.Compact(all)) != 6 {
		t.Errorf("routes with different policies share connections: %q", all)
	}
	if a, b := enforce("a.test"), enforce("a.test"); a.Security() != b.Security() {
		t.Error("routes with the same policy share no connections")
	}
	if a := (directmx.Route{Policy: mtasts.Policy{Mode: mtasts.Testing, Hosts: []string{"a.test"}}}); a.Security() != "" {
		t.Error("a policy that is tested separates connections")
	}
}
