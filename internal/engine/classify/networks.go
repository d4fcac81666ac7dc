package classify

import "net/netip"

// The networks used by rules, as published by their owners in November 2026. Only ranges without
// recipients' browsers count as data centres: whole clouds also carry recipients.
var (
	// scannerNetworks are used by mail security vendors to fetch links.
	scannerNetworks = prefixes(
		"64.235.144.0/20",  // Barracuda Networks
		"209.222.80.0/21",  // Barracuda Networks
		"67.231.144.0/20",  // Proofpoint
		"148.163.128.0/19", // Proofpoint
		"205.220.160.0/19", // Proofpoint
		"91.220.42.0/24",   // Mimecast
		"146.101.78.0/24",  // Mimecast
		"207.211.30.0/24",  // Mimecast
		"185.58.84.0/22",   // Mimecast
		"150.70.0.0/16",    // Trend Micro
	)
	// googleNetworks are used by Gmail's image proxy.
	googleNetworks = prefixes("66.102.0.0/20", "66.249.64.0/19", "64.233.160.0/19", "72.14.192.0/18", "74.125.0.0/16", "209.85.128.0/17", "2607:f8b0::/32", "2a00:1450::/32")
	// relayNetworks are egress addresses of iCloud Private Relay.
	relayNetworks = prefixes("172.224.224.0/19", "104.28.0.0/16", "146.75.128.0/17", "140.248.0.0/17", "2a02:26f7::/32", "2606:54c0::/32", "2a09:bac0::/29")
)

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, p := range list {
		out[i] = netip.MustParsePrefix(p)
	}
	return out
}

// inDataCentre is rule R3.
func inDataCentre(ip string) bool { return inNetworks(ip, scannerNetworks) }

func inNetworks(ip string, networks []netip.Prefix) bool {
	a, err := netip.ParseAddr(ip)
	if err != nil {
		return false
	}
	a = a.Unmap()
	for _, p := range networks {
		if p.Contains(a) {
			return true
		}
	}
	return false
}
