package sender

import (
	"cmp"
	"net/netip"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/address"
)

// Record is a DNS record for the owner of a domain to publish.
type Record struct {
	Purpose  string
	Type     string
	Host     string
	Value    string
	Priority int // of MX records
	Required bool
	// Omitted is why the record has no value, or "".
	Omitted string
}

// Hosts are the installation's hosts, which DNS records of sending domains refer to. If one is
// empty, the records that need it have no value.
type Hosts struct {
	MX    string // receives bounces
	SPF   string // has the SPF record of the sending servers
	Track string // serves tracked links
}

// Or returns h with unset hosts replaced by that of the base URL, unless that is an IP address, a
// loopback name or a single label, which DNS records cannot refer to.
func (h Hosts) Or(baseHost string) Hosts {
	name, err := address.Hostname(baseHost)
	if _, ip := netip.ParseAddr(baseHost); err != nil || ip == nil || strings.HasSuffix(name, ".localhost") {
		return h
	}
	return Hosts{cmp.Or(h.MX, name), cmp.Or(h.SPF, name), cmp.Or(h.Track, name)}
}

// Records returns the DNS records for the domain, including those without a value because a host is
// missing.
func (d Domain) Records(hosts Hosts) []Record {
	list := []Record{
		{Purpose: "dkim", Type: "TXT", Host: d.DKIMSelector + "._domainkey." + d.Name, Value: d.DKIMRecord, Required: true},
		{Purpose: "return_path", Type: "MX", Host: d.ReturnPathHost, Value: hosts.MX, Priority: 10, Required: true, Omitted: omitted(hosts.MX, "MX_HOST")},
		{Purpose: "return_path_spf", Type: "TXT", Host: d.ReturnPathHost, Value: "v=spf1 include:" + hosts.SPF + " -all", Required: true, Omitted: omitted(hosts.SPF, "SPF_HOST")},
		{Purpose: "dmarc", Type: "TXT", Host: "_dmarc." + d.Name, Value: "v=DMARC1; p=none;"},
	}
	// A host set by the operator may be outside the domain, or not in the DNS.
	if strings.HasSuffix(d.TrackingHost, "."+d.Name) {
		list = append(list, Record{Purpose: "tracking", Type: "CNAME", Host: d.TrackingHost, Value: hosts.Track, Required: true, Omitted: omitted(hosts.Track, "TRACK_HOST")})
	}
	return list
}

// omitted returns why a record that refers to host has no value, or "".
func omitted(host, option string) string {
	if host != "" {
		return ""
	}
	return "this installation's base URL has no name in the DNS; the operator can set PACKETBOAT_" + option
}
