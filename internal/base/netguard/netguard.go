// Package netguard prevents connections to addresses that tenants must not reach through this
// program: SMTP relays and webhook endpoints are hosts that tenants choose.
//
// CheckHost checks the spelling of a host when it is saved. What a name resolves to can change at any
// time, so Guard.Control checks the address of each connection after the name was resolved.
package netguard

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"syscall"
)

// ErrRefusedAddress is wrapped by the errors of a Guard.
var ErrRefusedAddress = errors.New("connections to this address are not allowed")

// Guard prevents connections to addresses that are not public, which a tenant's host name may
// resolve to. Link-local, multicast and cloud metadata addresses are always refused, loopback and
// private ones unless AllowPrivate is set.
type Guard struct{ AllowPrivate bool }

// Control is for net.Dialer.Control. It checks the address after the name was resolved, so that a
// name which resolves to another address the second time is checked, too.
func (g Guard) Control(_, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", ErrRefusedAddress, address)
	}
	return g.Allow(ap.Addr())
}

// Allow returns an error that wraps ErrRefusedAddress unless ip may be
// connected to.
func (g Guard) Allow(ip netip.Addr) error {
	for ip := range embeddedAddresses(ip) {
		switch {
		case !ip.IsValid() || ip.IsUnspecified() || ip.IsLinkLocalUnicast() || ip.IsMulticast() || within(never, ip):
			return fmt.Errorf("%w: %s", ErrRefusedAddress, ip)
		case !g.AllowPrivate && (ip.IsLoopback() || ip.IsPrivate() || within(private, ip)):
			return fmt.Errorf("%w: %s is private", ErrRefusedAddress, ip)
		}
	}
	return nil
}

// CheckHost checks a host when it is saved, as far as its spelling allows: whether it is a host name
// or an address, and whether the Guard would refuse the address or a well-known name. The addresses
// that a name resolves to are checked at each connection.
func CheckHost(host string, allowPrivate bool) error {
	g := Guard{AllowPrivate: allowPrivate}
	bare := strings.TrimSuffix(strings.ToLower(host), ".")
	if strings.HasPrefix(bare, "[") && strings.HasSuffix(bare, "]") {
		bare = bare[1 : len(bare)-1]
	}
	if ip, err := netip.ParseAddr(bare); err == nil {
		return g.Allow(ip)
	}
	labels := strings.Split(bare, ".")
	if len(bare) > 253 || !allLabels(labels) {
		return errors.New("not a host name or an address")
	}
	switch last := labels[len(labels)-1]; {
	case numeric(last):
		// Some resolvers read 127.1 or 0x7f000001 as addresses.
		return errors.New("not a host name or an address")
	case bare == "metadata" || bare == "instance-data" || strings.HasPrefix(bare, "metadata.") && last == "internal":
		return fmt.Errorf("%w: %s", ErrRefusedAddress, bare)
	case IsLoopback(bare) && !allowPrivate:
		return fmt.Errorf("%w: %s is private", ErrRefusedAddress, bare)
	}
	return nil
}

// IsLoopback reports whether host is the name or an address of this machine.
func IsLoopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// allLabels reports whether each label is one of a host name; underscores
// occur in practice.
func allLabels(labels []string) bool {
	for _, l := range labels {
		if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' {
			return false
		}
		for _, c := range []byte(l) {
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
				return false
			}
		}
	}
	return true
}

// numeric reports whether a resolver may read label as a number.
func numeric(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// embeddedAddresses yields ip and every IPv4 address embedded in it: mapped, compatible, NAT64 (RFC 6052) and
// 6to4 (RFC 3056).
func embeddedAddresses(ip netip.Addr) func(yield func(netip.Addr) bool) {
	return func(yield func(netip.Addr) bool) {
		ip = ip.Unmap().WithZone("")
		if !yield(ip) || !ip.Is6() {
			return
		}
		b := ip.As16()
		v4 := func(at int) netip.Addr { return netip.AddrFrom4([4]byte(b[at : at+4])) }
		switch {
		case nat64.Contains(ip), compatible.Contains(ip) && !ip.IsLoopback():
			yield(v4(12))
		case sixToFour.Contains(ip):
			yield(v4(2))
		}
	}
}

var (
	nat64      = netip.MustParsePrefix("64:ff9b::/96")
	compatible = netip.MustParsePrefix("::/96")
	sixToFour  = netip.MustParsePrefix("2002::/16")
)

// never are networks that are always refused: this network, reserved ones, and metadata services of
// clouds outside link-local space.
var never = prefixes("0.0.0.0/8", "240.0.0.0/4",
	"168.63.129.16/32",   // Azure
	"100.100.100.200/32", // Alibaba
	"192.0.0.192/32",     // Oracle
	"fd00:ec2::/32",      // AWS
	"fd20:ce::254/128",   // Google
)

// private are networks that netip does not count as private but that are not public: carrier NAT,
// protocol assignments, benchmarks, local NAT64, site-local.
var private = prefixes("100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15", "64:ff9b:1::/48", "fec0::/10")

func prefixes(list ...string) []netip.Prefix {
	var ps []netip.Prefix
	for _, s := range list {
		ps = append(ps, netip.MustParsePrefix(s))
	}
	return ps
}

func within(ps []netip.Prefix, ip netip.Addr) bool {
	for _, p := range ps {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}
