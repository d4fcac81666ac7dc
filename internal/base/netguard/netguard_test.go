package netguard_test

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/packetboat/packetboat/internal/base/netguard"
)

func TestGuard(t *testing.T) {
	t.Parallel()
	const (
		never   = "never"
		private = "if private addresses are allowed"
		always  = "always"
	)
	for addr, want := range map[string]string{
		"192.0.2.1": always, "8.8.8.8": always, "2001:db8::1": always, "2606:4700::1111": always,
		"127.0.0.1": private, "127.8.8.8": private, "::1": private, "10.1.2.3": private, "172.16.0.1": private,
		"172.32.0.1": always, "192.168.1.1": private, "100.64.0.1": private, "198.18.0.1": private,
		"fc00::1": private, "fd12::1": private, "fec0::1": private, "::ffff:10.0.0.1": private, "::ffff:127.0.0.1": private,
		"64:ff9b::10.0.0.1": private, "64:ff9b::8.8.8.8": always, "2002:7f00:1::": private, "::127.0.0.1": private,
		"0.0.0.0": never, "0.1.2.3": never, "::": never, "169.254.169.254": never, "169.254.0.1": never,
		"::ffff:169.254.169.254": never, "64:ff9b::169.254.169.254": never, "2002:a9fe:a9fe::": never,
		"fe80::1": never, "fe80::1%eth0": never, "fd00:ec2::254": never, "fd20:ce::254": never,
		"168.63.129.16": never, "100.100.100.200": never, "192.0.0.192": never,
		"224.0.0.1": never, "255.255.255.255": never, "240.0.0.1": never, "ff02::1": never,
	} {
		ip := netip.MustParseAddr(addr)
		for _, allow := range []bool{false, true} {
			g := netguard.Guard{AllowPrivate: allow}
			ok := want == always || want == private && allow
			for how, err := range map[string]error{
				"Allow":     g.Allow(ip),
				"Control":   g.Control("tcp", netip.AddrPortFrom(ip, 25).String(), nil),
				"CheckHost": netguard.CheckHost(addr, allow),
			} {
				if (err == nil) != ok || err != nil && !errors.Is(err, netguard.ErrRefusedAddress) {
					t.Errorf("%s(%s) with AllowPrivate %v: %v; want %s", how, addr, allow, err, want)
				}
			}
		}
	}
	if (netguard.Guard{AllowPrivate: true}).Control("tcp", "not an address", nil) == nil {
		t.Error("Control let through what it cannot read")
	}
}

func TestCheckHost(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]struct{ public, private bool }{
		"smtp.example.net":         {true, true},
		"SMTP.Example.NET.":        {true, true},
		"relay":                    {true, true},
		"1.example":                {true, true},
		"_x.example":               {true, true},
		"[2001:db8::1]":            {true, true},
		"[::1]":                    {false, true},
		"localhost":                {false, true},
		"LOCALHOST.":               {false, true},
		"mail.localhost":           {false, true},
		"metadata.google.internal": {},
		"metadata":                 {},
		"instance-data":            {},
		"":                         {},
		".":                        {},
		"a..b":                     {},
		"-a.example":               {},
		"a b":                      {},
		"a/b":                      {},
		"a:25":                     {},
		"user@host":                {},
		"a\r\nb":                   {},
		"127.1":                    {},
		"2130706433":               {},
		"0x7f000001":               {},
		"0177.0.0.1":               {},
		"10.0.0.256":               {},
		"bücher.example":           {},
	} {
		for _, allow := range []bool{false, true} {
			ok := want.public
			if allow {
				ok = want.private
			}
			if err := netguard.CheckHost(host, allow); (err == nil) != ok {
				t.Errorf("CheckHost(%q, %v) = %v, want ok %v", host, allow, err, ok)
			}
		}
	}
}

func FuzzCheckHost(f *testing.F) {
	for _, s := range []string{"localhost", "127.0.0.1", "[::1]", "fe80::1%x", "0x", "a..b", "", "[", "[]", "metadata.internal"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, host string) {
		if netguard.CheckHost(host, false) == nil && netguard.CheckHost(host, true) != nil {
			t.Errorf("%q is allowed only where less is", host)
		}
	})
}
