package dane

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// FuzzAnswers reads answers of name servers. Unless a record holds a certificate whole, records made without knowing
// the server's certificate do not confirm it.
func FuzzAnswers(f *testing.F) {
	for _, text := range []string{
		"_25._tcp.mx.example. 60 IN TLSA 3 1 1 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		"_25._tcp.mx.example. 60 IN TLSA 2 0 0 3000",
		"_25._tcp.mx.example. 60 IN TLSA 3 1 2 00",
		"example. 60 IN MX 10 MX.Example.",
		"example. 60 IN MX 0 .",
	} {
		rr, err := dns.NewRR(text)
		if err != nil {
			f.Fatal(err)
		}
		wire, err := (&dns.Msg{MsgHdr: dns.MsgHdr{Response: true, AuthenticatedData: true}, Answer: []dns.RR{rr}}).Pack()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(wire)
		f.Add(wire[:len(wire)-3])
	}
	server := tls.ConnectionState{PeerCertificates: []*x509.Certificate{{Raw: []byte("certificate"), RawSubjectPublicKeyInfo: []byte("key")}}}
	f.Fuzz(func(t *testing.T, wire []byte) {
		var reply dns.Msg
		if reply.Unpack(wire) != nil {
			return
		}
		a := read(&reply, dns.TypeTLSA)
		if len(a.records) > maxRecords {
			t.Errorf("%d records", len(a.records))
		}
		r := a.tlsa()
		if r.Usable() && !r.Present || r.Present != (len(a.records) > 0) {
			t.Errorf("%d records: %+v", len(a.records), r)
		}
		whole := false
		for _, one := range r.usable {
			whole = whole || one.matching == full
			if len(one.data) == 0 {
				t.Error("a record without data is used")
			}
		}
		if err := r.Verify(server, []string{"mx.example"}, time.Unix(0, 0)); !whole && !errors.Is(err, ErrMismatch) {
			t.Errorf("confirmed: %v", err)
		}
		if err := r.Verify(tls.ConnectionState{}, nil, time.Unix(0, 0)); !errors.Is(err, ErrMismatch) {
			t.Errorf("no certificate is confirmed: %v", err)
		}
		if mx := read(&reply, dns.TypeMX); len(mx.hosts()) != len(mx.records) {
			t.Error("records were lost")
		}
	})
}
