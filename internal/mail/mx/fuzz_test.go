package mx_test

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/mail/mx"
)

// fixedRecords answers every look-up with the same records.
type fixedRecords []*net.MX

func (r fixedRecords) LookupMX(context.Context, string) ([]*net.MX, error) { return r, nil }
func (fixedRecords) LookupHost(context.Context, string) ([]string, error) {
	return nil, &net.DNSError{IsNotFound: true}
}

// FuzzRecords reads what the DNS of strangers' domains answers: one host a line, with preferences by turns.
func FuzzRecords(f *testing.F) {
	f.Add("example.com", "mx1.example.com.\nMX2.Example.com")
	f.Add("example.com", ".")
	f.Add("example.com", ".\nmx.example.com")
	f.Add("yahoo.co.jp", "..\n\n.")
	f.Add("x.invalid", "aspmx.l.google.com")
	f.Add("example.com", "mx\xed.example.com\nmx.example.com") // would become longer in lower case
	f.Fuzz(func(t *testing.T, domain, hosts string) {
		var list fixedRecords
		for i, h := range strings.Split(hosts, "\n") {
			list = append(list, &net.MX{Host: h, Pref: uint16(i * 7 % 3)})
		}
		s, err := mx.LookupServers(t.Context(), list, domain)
		if err != nil {
			t.Fatal(err)
		}
		if usable := len(s.Hosts) > 0; usable == (s.Null || s.Missing) || s.Null && s.Missing {
			t.Errorf("hosts %v, null %v, missing %v", s.Hosts, s.Null, s.Missing)
		}
		if !slices.IsSortedFunc(s.Hosts, func(a, b mx.Host) int { return int(a.Preference) - int(b.Preference) }) {
			t.Errorf("hosts are not in the order of preference: %v", s.Hosts)
		}
		for _, h := range s.Hosts {
			if h.Name == "" || h.Name == mx.Null || h.Name != strings.ToLower(h.Name) || len(h.Name) > 255 {
				t.Errorf("host %q", h.Name)
			}
		}
		if !s.Missing && !slices.Contains(mx.Providers(), s.Provider) {
			t.Errorf("provider %q", s.Provider)
		}
		if shuffled := s.Shuffled(); len(shuffled) != len(s.Hosts) {
			t.Errorf("%d of %d hosts", len(shuffled), len(s.Hosts))
		}
		if a, err := mx.Lookup(t.Context(), list, domain); err != nil || (a.Record == "") != s.Missing || (a.Record == mx.Null) != s.Null {
			t.Errorf("%+v, %v", a, err)
		}
	})
}
