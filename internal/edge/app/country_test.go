package app

import (
	"net/http/httptest"
	"net/netip"
	"testing"
)

// The header is believed only in requests that come from a trusted proxy.
func TestTheCountryOfAClientComesFromTheProxy(t *testing.T) {
	t.Parallel()
	s := &Server{Config: Config{CountryHeader: "CF-IPCountry", TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}}
	for _, tt := range []struct{ peer, header, want string }{
		{"10.1.2.3:4567", "nl", "NL"},
		{"10.1.2.3:4567", "T1", ""},
		{"10.1.2.3:4567", "", ""},
		{"192.0.2.1:4567", "NL", ""},
	} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/_q/page", nil)
		r.RemoteAddr = tt.peer
		r.Header.Set("CF-IPCountry", tt.header)
		if got := s.country(r); got != tt.want {
			t.Errorf("%s from %s: country %q, want %q", tt.header, tt.peer, got, tt.want)
		}
	}
}
