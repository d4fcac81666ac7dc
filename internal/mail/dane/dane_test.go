package dane_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/packetboat/packetboat/internal/mail/dane"
	"github.com/packetboat/packetboat/internal/mail/dnstest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// certify returns a certificate for a name; its issuer is parent, or itself.
func certify(t *testing.T, name string, parent *x509.Certificate, parentKey *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: noon.Add(-time.Hour), NotAfter: noon.Add(time.Hour), IsCA: parent == nil, BasicConstraintsValid: true,
	}
	if parent == nil {
		parent, parentKey = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return c, key
}

func digest(algorithm string, data []byte) string {
	switch algorithm {
	case "256":
		sum := sha256.Sum256(data)
		return hex.EncodeToString(sum[:])
	case "512":
		sum := sha512.Sum512(data)
		return hex.EncodeToString(sum[:])
	}
	return hex.EncodeToString(data)
}

func TestCertificatesAreConfirmedByTLSARecords(t *testing.T) {
	t.Parallel()
	ca, caKey := certify(t, "Test CA", nil, nil)
	leaf, _ := certify(t, "mx.a.test", ca, caKey)
	other, _ := certify(t, "mx.a.test", nil, nil)
	key := func(c *x509.Certificate) []byte { return c.RawSubjectPublicKeyInfo }
	chain := []*x509.Certificate{leaf, ca}
	for _, tt := range []struct {
		name    string
		records []string // without owner and type
		chain   []*x509.Certificate
		names   []string
		at      time.Time
		usable  bool
		want    bool
	}{
		{"key of the server", []string{"3 1 1 " + digest("256", key(leaf))}, chain, nil, noon, true, true},
		{"key of the server, expired, another name", []string{"3 1 1 " + digest("256", key(leaf))}, chain, []string{"b.test"}, noon.Add(9 * time.Hour), true, true},
		{"certificate of the server", []string{"3 0 2 " + digest("512", leaf.Raw)}, chain, nil, noon, true, true},
		{"complete certificate", []string{"3 0 0 " + digest("", leaf.Raw)}, chain, nil, noon, true, true},
		{"another key", []string{"3 1 1 " + digest("256", key(other))}, chain, nil, noon, true, false},
		{"two keys, of which one is used", []string{"3 1 1 " + digest("256", key(other)), "3 1 1 " + digest("256", key(leaf))}, chain, nil, noon, true, true},
		{"authority", []string{"2 1 1 " + digest("256", key(ca))}, chain, []string{"mx.a.test"}, noon, true, true},
		{"authority, the name of the domain", []string{"2 0 1 " + digest("256", ca.Raw)}, chain, []string{"b.test", "mx.a.test"}, noon, true, true},
		{"authority, another name", []string{"2 1 1 " + digest("256", key(ca))}, chain, []string{"b.test"}, noon, true, false},
		{"authority, expired", []string{"2 1 1 " + digest("256", key(ca))}, chain, []string{"mx.a.test"}, noon.Add(9 * time.Hour), true, false},
		{"authority that is not in the chain", []string{"2 1 1 " + digest("256", key(ca))}, chain[:1], []string{"mx.a.test"}, noon, true, false},
		{"authority that the record holds", []string{"2 0 0 " + digest("", ca.Raw)}, chain[:1], []string{"mx.a.test"}, noon, true, true},
		{"another authority", []string{"2 1 1 " + digest("256", key(other))}, []*x509.Certificate{leaf, other, ca}, []string{"mx.a.test"}, noon, true, false},
		{"usages of the web", []string{"0 1 1 " + digest("256", key(ca)), "1 1 1 " + digest("256", key(leaf))}, chain, []string{"mx.a.test"}, noon, false, false},
		{"a digest that is too short", []string{"3 1 1 abcd"}, chain, nil, noon, false, false},
		{"unknown matching", []string{"3 1 9 abcd"}, chain, nil, noon, false, false},
		{"unknown selector", []string{"3 7 0 abcd"}, chain, nil, noon, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			zone := dnstest.New(t, "mx.a.test. 60 IN A 127.0.0.1")
			for _, r := range tt.records {
				zone.Add(t, "_25._tcp.mx.a.test. 60 IN TLSA "+r)
			}
			zone.Authenticate("mx.a.test")
			zone.Authenticate("_25._tcp.mx.a.test")
			c := dane.Client{Server: zone.Addr}
			records, err := c.TLSA(t.Context(), "mx.a.test", 25)
			if err != nil || !records.Present || records.Usable() != tt.usable {
				t.Fatalf("TLSA = %+v, %v", records, err)
			}
			if err := records.Verify(tls.ConnectionState{PeerCertificates: tt.chain}, tt.names, tt.at); (err == nil) != tt.want {
				t.Errorf("Verify = %v", err)
			}
		})
	}
}

func TestOnlyProvenRecordsCount(t *testing.T) {
	t.Parallel()
	zone := dnstest.New(t,
		"both.test. 60 IN A 127.0.0.1", "_25._tcp.both.test. 60 IN TLSA 3 1 0 ab",
		"v6.test. 60 IN AAAA ::1", "_25._tcp.v6.test. 60 IN TLSA 3 1 0 ab",
		"address.test. 60 IN A 127.0.0.1", "_25._tcp.address.test. 60 IN TLSA 3 1 0 ab",
		"record.test. 60 IN A 127.0.0.1", "_25._tcp.record.test. 60 IN TLSA 3 1 0 ab",
		"none.test. 60 IN A 127.0.0.1",
		"bogus.test. 60 IN A 127.0.0.1",
	)
	for _, name := range []string{"both.test", "_25._tcp.both.test", "v6.test", "_25._tcp.v6.test", "address.test", "_25._tcp.record.test", "none.test", "_25._tcp.none.test", "bogus.test"} {
		zone.Authenticate(name)
	}
	zone.Fail("_25._tcp.bogus.test", dns.RcodeServerFailure)
	c := dane.Client{Server: zone.Addr}
	for host, want := range map[string]bool{"both.test": true, "v6.test": true, "address.test": false, "record.test": false, "none.test": false, "nowhere.test": false} {
		if r, err := c.TLSA(t.Context(), host, 25); err != nil || r.Present != want || r.Usable() != want {
			t.Errorf("TLSA of %s: %+v, %v", host, r, err)
		}
	}
	if r, err := c.TLSA(t.Context(), "bogus.test", 25); err == nil {
		t.Errorf("records with a wrong signature: %+v", r)
	}
}

func TestMX(t *testing.T) {
	t.Parallel()
	zone := dnstest.New(t, "a.test. 60 IN MX 1 MX1.a.test.", "a.test. 60 IN MX 2 mx2.a.test.", "b.test. 60 IN MX 1 mx.b.test.")
	zone.Authenticate("a.test")
	c := dane.Client{Server: zone.Addr}
	hosts, secure, err := c.MX(t.Context(), "a.test")
	slices.Sort(hosts)
	if fmt.Sprint(hosts, secure, err) != "[mx1.a.test mx2.a.test] true <nil>" {
		t.Errorf("MX = %v, %t, %v", hosts, secure, err)
	}
	if hosts, secure, err = c.MX(t.Context(), "b.test"); len(hosts) != 1 || secure || err != nil {
		t.Errorf("MX without DNSSEC = %v, %t, %v", hosts, secure, err)
	}
}
