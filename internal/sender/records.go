package sender

import (
	"cmp"
	"net/netip"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/address"
)

// Record is a DNS record for a domain's owner to publish.
type Record struct {
	Purpose  string
	Type     string
	Host     string
	Value    string
	Priority int // of MX records
	Required bool
	// Omitted says why the record has no value to publish; empty: it has one.
	Omitted string
}

// Hosts are the installation's own hosts, which the DNS records of sending
// domains point at. An empty one is not known; the records that need it have no
// value then.
type Hosts struct {
	MX    string // takes bounces
	SPF   string // publishes which servers may send
	Track string // answers tracked links
}

// Or returns h with what is not set taken from the host of the base URL, unless
// that host is an address, loopback or a single label: DNS records cannot name those.
func (h Hosts) Or(baseHost string) Hosts {
	name, err := address.Hostname(baseHost)
	if _, ip := netip.ParseAddr(baseHost); err != nil || ip == nil || strings.HasSuffix(name, ".localhost") {
		return h
	}
	return Hosts{cmp.Or(h.MX, name), cmp.Or(h.SPF, name), cmp.Or(h.Track, name)}
}

// Records returns what the domain's owner publishes so that it can be verified,
// and what cannot be published because a host is missing.
func (d Domain) Records(hosts Hosts) []Record {
	list := []Record{
		{Purpose: "dkim", Type: "TXT", Host: d.DKIMSelector + "._domainkey." + d.Name, Value: d.DKIMRecord, Required: true},
		{Purpose: "return_path", Type: "MX", Host: d.ReturnPathHost, Value: hosts.MX, Priority: 10, Required: true, Omitted: omitted(hosts.MX, "MX_HOST")},
		{Purpose: "return_path_spf", Type: "TXT", Host: d.ReturnPathHost, Value: "v=spf1 include:" + hosts.SPF + " -all", Required: true, Omitted: omitted(hosts.SPF, "SPF_HOST")},
		{Purpose: "dmarc", Type: "TXT", Host: "_dmarc." + d.Name, Value: "v=DMARC1; p=none;"},
	}
	// A host that the operator chose may lie elsewhere, or in no DNS at all.
	if strings.HasSuffix(d.TrackingHost, "."+d.Name) {
		list = append(list, Record{Purpose: "tracking", Type: "CNAME", Host: d.TrackingHost, Value: hosts.Track, Required: true, Omitted: omitted(hosts.Track, "TRACK_HOST")})
	}
	return list
}

// omitted returns why a record that names host is left out, or "".
func omitted(host, option string) string {
	if host != "" {
		return ""
	}
	return "this installation's base URL has no name in the DNS; the operator can set PACKETBOAT_" + option
}
