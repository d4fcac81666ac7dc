package classify

import (
	"net/netip"
	"slices"
)

// networkKind is what a rule concludes from a network.
type networkKind int

const (
	unlisted       networkKind = iota
	scannerNetwork             // no recipient browses from it: rule R3
	cloudNetwork               // programs, and some recipients: signals N2 and N2b
	relayNetwork               // egress of a privacy relay, through which recipients browse: rule P3
	peopleNetwork              // an operator's exception from the others
)

// network describes the operator of addresses. The zero value is a network that is in no list.
type network struct {
	kind   networkKind
	name   string // shown as evidence
	vendor string // of mail security or mailboxes, as in gateways; may be empty
}

// networks finds the longest listed prefix of an address.
type networks struct {
	of   map[netip.Prefix]network
	bits [2][]int // the lengths of prefixes, longest first: of IPv4, of IPv6
}

func (n *networks) add(p netip.Prefix, is network) {
	if n.of == nil {
		n.of = map[netip.Prefix]network{}
	}
	n.of[p] = is
	lengths := &n.bits[family(p.Addr())]
	if at, found := slices.BinarySearchFunc(*lengths, p.Bits(), func(have, want int) int { return want - have }); !found {
		*lengths = slices.Insert(*lengths, at, p.Bits())
	}
}

// find returns the network of an address.
func (n *networks) find(ip string) network {
	a, err := netip.ParseAddr(ip)
	if err != nil {
		return network{}
	}
	a = a.Unmap().WithZone("")
	for _, bits := range n.bits[family(a)] {
		if p, err := a.Prefix(bits); err == nil {
			if is, ok := n.of[p]; ok {
				return is
			}
		}
	}
	return network{}
}

func family(a netip.Addr) int {
	if a.Is4() {
		return 0
	}
	return 1
}

// Vendors, as names of networks' and gateways' operators in rule N2b.
const (
	vendorBarracuda  = "barracuda"
	vendorProofpoint = "proofpoint"
	vendorMimecast   = "mimecast"
	vendorTrendMicro = "trendmicro"
	vendorCisco      = "cisco"
	vendorSymantec   = "symantec"
	vendorForcepoint = "forcepoint"
	vendorSophos     = "sophos"
	vendorMicrosoft  = "microsoft"
	vendorGoogle     = "google"
	vendorAmazon     = "amazon"
	vendorApple      = "apple"
)

// bundledNetworks are the networks used by rules, as published by their owners in November 2026. Only
// ranges without recipients' browsers are scanners: whole clouds also carry recipients.
var bundledNetworks = []struct {
	is       network
	prefixes []string
}{
	{network{scannerNetwork, "Barracuda Networks", vendorBarracuda}, []string{"64.235.144.0/20", "209.222.80.0/21"}},
	{network{scannerNetwork, "Proofpoint", vendorProofpoint}, []string{"67.231.144.0/20", "148.163.128.0/19", "205.220.160.0/19"}},
	{network{scannerNetwork, "Mimecast", vendorMimecast}, []string{"91.220.42.0/24", "146.101.78.0/24", "207.211.30.0/24", "185.58.84.0/22"}},
	{network{scannerNetwork, "Trend Micro", vendorTrendMicro}, []string{"150.70.0.0/16"}},
	{network{cloudNetwork, "Cisco", vendorCisco}, []string{"68.232.128.0/19", "216.71.128.0/19", "184.94.240.0/20", "208.90.56.0/21"}},
	{network{cloudNetwork, "Symantec", vendorSymantec}, []string{"67.219.240.0/20", "85.158.136.0/21", "95.131.104.0/21", "103.9.96.0/22", "117.120.16.0/21", "193.109.254.0/23", "194.106.220.0/23", "195.245.230.0/23", "216.82.240.0/20"}},
	{network{cloudNetwork, "Forcepoint", vendorForcepoint}, []string{"85.115.32.0/19", "86.111.216.0/21", "116.50.56.0/21", "208.87.232.0/21", "192.107.192.0/20"}},
	{network{cloudNetwork, "Sophos", vendorSophos}, []string{"198.154.180.0/23"}},
	{network{cloudNetwork, "Microsoft", vendorMicrosoft}, []string{
		"13.64.0.0/11", "13.96.0.0/13", "13.104.0.0/14", "20.33.0.0/16", "20.34.0.0/15", "20.36.0.0/14", "20.40.0.0/13", "20.48.0.0/12",
		"20.64.0.0/10", "20.160.0.0/12", "20.176.0.0/14", "20.184.0.0/13", "20.192.0.0/10", "23.96.0.0/13", "40.64.0.0/10", "51.103.0.0/16",
		"51.104.0.0/15", "51.107.0.0/16", "51.116.0.0/16", "51.120.0.0/16", "51.124.0.0/16", "51.132.0.0/16", "51.136.0.0/15", "51.138.0.0/16",
		"51.140.0.0/14", "51.144.0.0/15", "52.96.0.0/12", "52.112.0.0/14", "52.120.0.0/14", "52.136.0.0/13", "52.146.0.0/15", "52.148.0.0/14",
		"52.152.0.0/13", "52.160.0.0/11", "52.224.0.0/11", "65.52.0.0/14", "104.40.0.0/13", "104.47.0.0/17", "104.208.0.0/13", "137.116.0.0/15",
		"137.135.0.0/16", "138.91.0.0/16", "157.54.0.0/15", "157.56.0.0/14", "168.61.0.0/16", "168.62.0.0/15", "191.232.0.0/13",
		"2603:1000::/24", "2a01:110::/31", "2a01:111::/32", "2620:1ec::/36",
	}},
	{network{cloudNetwork, "Google", vendorGoogle}, []string{
		"66.102.0.0/20", "66.249.64.0/19", "64.233.160.0/19", "72.14.192.0/18", "74.125.0.0/16", "209.85.128.0/17", "2607:f8b0::/32", "2a00:1450::/32",
		"34.64.0.0/10", "34.128.0.0/10", "35.184.0.0/13", "35.192.0.0/11", "35.224.0.0/12", "35.240.0.0/13", "104.154.0.0/15", "104.196.0.0/14",
		"130.211.0.0/16", "146.148.0.0/17", "2600:1900::/28",
	}},
	{network{cloudNetwork, "Amazon", vendorAmazon}, []string{
		"3.0.0.0/9", "3.128.0.0/9", "13.32.0.0/12", "13.48.0.0/13", "13.56.0.0/14", "18.128.0.0/9", "34.192.0.0/10", "35.152.0.0/13", "44.192.0.0/10",
		"50.16.0.0/14", "52.0.0.0/10", "52.64.0.0/12", "54.64.0.0/10", "54.144.0.0/12", "54.160.0.0/11", "54.192.0.0/10", "2600:1f00::/24", "2a05:d000::/25",
	}},
	{network{relayNetwork, "iCloud Private Relay", vendorApple}, []string{
		"172.224.224.0/19", "104.28.0.0/16", "146.75.128.0/17", "140.248.0.0/17", "2a02:26f7::/32", "2606:54c0::/32", "2a09:bac0::/29",
	}},
}

// bundled is the bundled networks alone.
var bundled = &Lists{networks: bundledTable()}

func bundledTable() networks {
	var n networks
	for _, list := range bundledNetworks {
		for _, p := range list.prefixes {
			n.add(netip.MustParsePrefix(p), list.is)
		}
	}
	return n
}
