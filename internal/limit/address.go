package limit

import "net/netip"

// subnet is the part of an IPv6 address that belongs to one site: whoever has
// one address of a /64 has all of them (RFC 6177).
const subnet = 64

// Address returns what an address is counted as: an IPv4 address as itself, an
// IPv6 address as its /64. An IPv4 address written in IPv6 is an IPv4 address.
func Address(ip netip.Addr) string {
	ip = ip.Unmap().WithZone("")
	if !ip.Is6() {
		return ip.String()
	}
	p, err := ip.Prefix(subnet)
	if err != nil {
		return ip.String()
	}
	return p.String()
}
