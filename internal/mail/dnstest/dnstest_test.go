package dnstest_test

import (
	"net"
	"slices"
	"testing"

	"github.com/miekg/dns"

	"github.com/packetboat/packetboat/internal/mail/dnstest"
)

func TestTheServerAnswersAResolver(t *testing.T) {
	t.Parallel()
	s := dnstest.New(t,
		"example.org. 60 IN MX 10 mx.example.org.",
		"go.example.org. 60 IN CNAME track.example.net.",
		"track.example.net. 60 IN A 192.0.2.1",
		`example.org. 60 IN TXT "v=spf1 " "-all"`,
	)
	r, ctx := s.Resolver(), t.Context()
	if mx, err := r.LookupMX(ctx, "example.org."); err != nil || len(mx) != 1 || mx[0].Host != "mx.example.org." {
		t.Errorf("MX: %v, %v", mx, err)
	}
	if txt, err := r.LookupTXT(ctx, "EXAMPLE.org."); err != nil || !slices.Equal(txt, []string{"v=spf1 -all"}) {
		t.Errorf("TXT: %q, %v", txt, err)
	}
	if hosts, err := r.LookupHost(ctx, "go.example.org."); err != nil || !slices.Equal(hosts, []string{"192.0.2.1"}) {
		t.Errorf("CNAME: %q, %v", hosts, err)
	}
	_, err := r.LookupTXT(ctx, "missing.example.org.")
	if e, ok := err.(*net.DNSError); !ok || !e.IsNotFound {
		t.Errorf("missing name: %v", err)
	}
	s.Fail("example.org", dns.RcodeServerFailure)
	_, err = r.LookupMX(ctx, "example.org.")
	if e, ok := err.(*net.DNSError); !ok || e.IsNotFound || !e.IsTemporary {
		t.Errorf("server failure: %v", err)
	}
	s.Remove("example.org")
	s.Add(t, "example.org. 60 IN MX 0 .")
	if mx, err := r.LookupMX(ctx, "example.org."); err != nil || len(mx) != 1 || mx[0].Host != "." {
		t.Errorf("changed MX: %v, %v", mx, err)
	}
	if n := s.Queries("MX", "example.org"); n < 3 {
		t.Errorf("%d queries for MX, want at least 3", n)
	}
}
