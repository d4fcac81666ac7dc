package sender

import (
	"cmp"
	"net/netip"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/mail/dnscheck"
)

// The purposes of DNS records.
const (
	PurposeDKIM          = "dkim"
	PurposeDKIMEd25519   = "dkim_ed25519"
	PurposeReturnPath    = "return_path"
	PurposeReturnPathSPF = "return_path_spf"
	PurposeDMARC         = "dmarc"
	PurposeTracking      = "tracking"
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
	// Note is what the record is for if that is not clear from its purpose, or "".
	Note string

	// The results of the last check.
	Status    dnscheck.Status // Missing if it was never checked
	Found     string          // the values in the DNS, one per line; empty: none
	Problem   string          // what is wrong, or worth knowing; may be empty
	CheckedAt *time.Time      // when the DNS last answered; nil: never

	selector string // of keys
}

// key identifies a record among the findings of a domain.
func (r Record) key() string { return r.Purpose + " " + r.Host }

// kind is how the record is compared with the DNS.
func (r Record) kind() dnscheck.Kind {
	switch r.Purpose {
	case PurposeReturnPath:
		return dnscheck.MX
	case PurposeReturnPathSPF:
		return dnscheck.SPF
	case PurposeDMARC:
		return dnscheck.DMARC
	case PurposeTracking:
		return dnscheck.CNAME
	}
	return dnscheck.DKIM
}

// finding is what the DNS had for a record at the last check.
type finding struct {
	Status    dnscheck.Status `json:"status,omitempty"`
	Found     string          `json:"found,omitempty"`
	Problem   string          `json:"problem,omitempty"`
	CheckedAt int64           `json:"checked_at,omitempty"` // Unix microseconds
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
// missing, with the results of the last check.
func (d Domain) Records(hosts Hosts) []Record {
	keyHost := func(selector string) string { return selector + "._domainkey." + d.Name }
	list := []Record{
		{Purpose: PurposeDKIM, Type: "TXT", Host: keyHost(d.DKIMSelector), Value: d.DKIMRecord, Required: true, selector: d.DKIMSelector},
		{Purpose: PurposeReturnPath, Type: "MX", Host: d.ReturnPathHost, Value: hosts.MX, Priority: 10, Required: true, Omitted: omitted(hosts.MX, "MX_HOST")},
		{Purpose: PurposeReturnPathSPF, Type: "TXT", Host: d.ReturnPathHost, Value: "v=spf1 include:" + hosts.SPF + " -all", Required: true, Omitted: omitted(hosts.SPF, "SPF_HOST")},
		{Purpose: PurposeDMARC, Type: "TXT", Host: "_dmarc." + d.Name, Value: "v=DMARC1; p=none;"},
	}
	// A host set by the operator may be outside the domain, or not in the DNS.
	if strings.HasSuffix(d.TrackingHost, "."+d.Name) {
		list = append(list, Record{Purpose: PurposeTracking, Type: "CNAME", Host: d.TrackingHost, Value: hosts.Track, Required: true, Omitted: omitted(hosts.Track, "TRACK_HOST")})
	}
	for _, k := range d.Keys {
		r := Record{Purpose: PurposeDKIM, Type: "TXT", Host: keyHost(k.Selector), Value: k.Record, selector: k.Selector}
		if k.Algorithm == Ed25519 {
			r.Purpose = PurposeDKIMEd25519
		}
		switch k.State {
		case KeyNext:
			r.Note = "The next key: mail is signed with it once this record is found."
		case KeyOffered:
			r.Note = "Optional: mail gets a second signature once this record is found."
		case KeyRetired:
			r.Note = "Replaced: keep this record until " + k.RetireAt.Format(time.RFC3339) + ", then delete it."
		}
		list = append(list, r)
	}
	for i := range list {
		r := &list[i]
		f := d.findings[r.key()]
		r.Status, r.Found, r.Problem = cmp.Or(f.Status, dnscheck.Missing), f.Found, f.Problem
		if f.CheckedAt != 0 {
			at := time.UnixMicro(f.CheckedAt).UTC()
			r.CheckedAt = &at
		}
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
