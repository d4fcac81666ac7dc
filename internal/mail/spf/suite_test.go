package spf_test

import (
	"context"
	"encoding/json"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/mail/spf"
)

// zone is the DNS of a part of the suite: by name, records of a type and a value, or TIMEOUT alone.
type zone map[string][][]string

func (z zone) lookup(name, kind string) ([]string, error) {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	for range 10 {
		var found []string
		alias := ""
		for _, r := range z[name] {
			switch r[0] {
			case "TIMEOUT":
				if len(found) == 0 {
					return nil, &net.DNSError{Err: "timeout", Name: name, IsTimeout: true, IsTemporary: true}
				}
			case "CNAME":
				alias = strings.ToLower(r[1])
			case kind:
				found = append(found, r[1])
			}
		}
		if len(found) > 0 {
			return found, nil
		}
		if alias == "" {
			return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
		}
		name = alias
	}
	return nil, &net.DNSError{Err: "a loop of aliases", Name: name, IsTemporary: true}
}

func (z zone) LookupTXT(_ context.Context, name string) ([]string, error) {
	return z.lookup(name, "TXT")
}

func (z zone) LookupMX(_ context.Context, name string) ([]*net.MX, error) {
	list, err := z.lookup(name, "MX")
	var out []*net.MX
	for _, text := range list {
		preference, host, _ := strings.Cut(text, " ")
		n, _ := strconv.Atoi(preference)
		out = append(out, &net.MX{Pref: uint16(n), Host: host})
	}
	return out, err
}

func (z zone) LookupNetIP(_ context.Context, network, host string) ([]netip.Addr, error) {
	list, err := z.lookup(host, map[string]string{"ip4": "A", "ip6": "AAAA"}[network])
	var out []netip.Addr
	for _, text := range list {
		out = append(out, netip.MustParseAddr(text))
	}
	return out, err
}

func (z zone) LookupAddr(_ context.Context, addr string) ([]string, error) {
	ip := netip.MustParseAddr(addr)
	labels := strings.Split(ip.String(), ".")
	suffix := ".in-addr.arpa"
	if ip.Is6() {
		labels, suffix = strings.Split(strings.ReplaceAll(ip.StringExpanded(), ":", ""), ""), ".ip6.arpa"
	}
	slices.Reverse(labels)
	return z.lookup(strings.Join(labels, ".")+suffix, "PTR")
}

// TestSuite runs the test suite of openspf.org for RFC 7208, whose licence is beside it.
func TestSuite(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/rfc7208.json")
	if err != nil {
		t.Fatal(err)
	}
	var suite []struct {
		Description string
		Zone        zone
		Tests       []struct {
			Name, Helo, Host, MailFrom string
			Result                     []string
		}
	}
	if err := json.Unmarshal(text, &suite); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, part := range suite {
		for _, tt := range part.Tests {
			n++
			o := spf.Check(t.Context(), part.Zone, netip.MustParseAddr(tt.Host), tt.MailFrom, tt.Helo)
			if !slices.Contains(tt.Result, string(o.Result)) {
				t.Errorf("%s: %s: %+v, want %s", part.Description, tt.Name, o, tt.Result)
			}
		}
	}
	if n < 200 {
		t.Errorf("the suite has %d tests", n)
	}
}
