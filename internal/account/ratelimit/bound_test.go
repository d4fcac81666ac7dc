package ratelimit

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

// A flood of keys neither grows without bound nor frees a key that is full.
func TestAFloodOfKeysLeavesFullWindowsInPlace(t *testing.T) {
	t.Parallel()
	l := New(nil)
	l.most = 200
	r := Rule{Name: "login", Max: 5, Window: time.Minute}
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	take := func(key string) bool {
		s, err := l.Acquire(t.Context(), r, key, now)
		if err != nil {
			t.Fatal(err)
		}
		return s.Allowed
	}
	for range 5 {
		take("guesser")
	}
	for i := range 20_000 {
		take(fmt.Sprint("flood", i))
		if len(l.windows) > l.most {
			t.Fatalf("%d windows are kept, want at most %d", len(l.windows), l.most)
		}
	}
	if take("guesser") {
		t.Error("the guesser's window was forgotten")
	}
}

func TestIPv6AddressesCountByTheirSubnet(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"192.0.2.7":                "192.0.2.7",
		"::ffff:192.0.2.7":         "192.0.2.7",
		"2001:db8:1:2:3:4:5:6":     "2001:db8:1:2::/64",
		"2001:db8:1:2::1":          "2001:db8:1:2::/64",
		"fe80::1%eth0":             "fe80::/64",
		"2001:db8:1:3:3:4:5:6%wan": "2001:db8:1:3::/64",
	} {
		if got := Address(netip.MustParseAddr(in)); got != want {
			t.Errorf("Address(%s) = %s, want %s", in, got, want)
		}
	}
	if got := Address(netip.Addr{}); got != (netip.Addr{}).String() {
		t.Errorf("Address of none = %s", got)
	}
}
