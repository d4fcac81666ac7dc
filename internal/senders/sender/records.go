package sender

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/mail/dnscheck"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/sqldb"
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
	// Relay is whether a relay needs the record for the bounces that it receives. Several such records
	// may have the same purpose and host.
	Relay bool

	// The results of the last check.
	Status    dnscheck.Status // Missing if it was never checked
	Found     string          // the values in the DNS, one per line; empty: none
	Problem   string          // what is wrong, or worth knowing; may be empty
	CheckedAt *time.Time      // when the DNS last answered; nil: never

	selector string   // of keys
	beside   []string // of MX records of a relay: the servers of the others
}

// key identifies a record among the findings of a domain.
func (r Record) key() string {
	if r.Relay { // the records of another relay must not get its findings
		return strings.Join([]string{r.Purpose, r.Host, r.Type, r.Value}, " ")
	}
	return r.Purpose + " " + r.Host
}

// neededBy reports whether a domain that signs with the key of the selector is verified only with the
// record.
func (r Record) neededBy(selector string) bool {
	return r.Required && r.Purpose != PurposeTracking && (r.Purpose != PurposeDKIM || r.selector == selector)
}

// kind is how the record is compared with the DNS.
func (r Record) kind() dnscheck.Kind {
	switch r.Purpose {
	case PurposeReturnPath:
		switch r.Type {
		case "CNAME":
			return dnscheck.CNAME
		case "TXT":
			return dnscheck.TXT
		}
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

// FollowReturnPath calls change in its transaction. If the records of the tenant's return paths differ afterwards, its
// domains become due for a check.
func FollowReturnPath(ctx context.Context, tx *sqldb.DB, t id.Tenant, now time.Time, change func() error) error {
	before, err := ReturnPathOf(ctx, tx, t)
	if err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	after, err := ReturnPathOf(ctx, tx, t)
	if err != nil || slices.Equal(before.Records, after.Records) {
		return err
	}
	if _, err := tx.Exec(ctx, `UPDATE sending_domain SET next_check_at = $2 WHERE tenant_id = $1 AND next_check_at > $2`, t, now.UnixMicro()); err != nil {
		return fmt.Errorf("check the domains of a tenant soon: %w", err)
	}
	return nil
}

// ReturnPathOf returns where the bounces of a tenant's mail come back to.
func ReturnPathOf(ctx context.Context, db *sqldb.DB, t id.Tenant) (lane.ReturnPath, error) {
	lanes, err := lane.List(ctx, db, t)
	if err != nil || !slices.ContainsFunc(lanes, func(c lane.Config) bool { return len(c.ReturnPath) > 0 }) {
		return lane.ReturnPath{}, err
	}
	account, err := tenant.ByID(ctx, db, t)
	if err != nil {
		return lane.ReturnPath{}, err
	}
	return lane.ReturnPathOf(lanes, account.Settings.DefaultLane), nil
}

// Records returns the DNS records for the domain, including those without a value because a host is
// missing, with the results of the last check. Those of the return path refer to hosts, unless bounces
// come back to a relay that has records for the domain.
func (d Domain) Records(hosts Hosts, bounces lane.ReturnPath) []Record {
	keyHost := func(selector string) string { return selector + "._domainkey." + d.Name }
	list := []Record{
		{Purpose: PurposeDKIM, Type: "TXT", Host: keyHost(d.DKIMSelector), Value: d.DKIMRecord, Required: true, selector: d.DKIMSelector},
	}
	list = append(list, d.returnPath(hosts, bounces)...)
	list = append(list, Record{Purpose: PurposeDMARC, Type: "TXT", Host: "_dmarc." + d.Name, Value: "v=DMARC1; p=none;"})
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

// BouncesAtRelay reports whether bounces of mail from the domain come back to a relay.
func (d Domain) BouncesAtRelay(bounces lane.ReturnPath) bool {
	return slices.ContainsFunc(bounces.Records, func(r lane.ReturnPathRecord) bool { return r.For(d.Name) })
}

// returnPath returns the records of the return path.
func (d Domain) returnPath(hosts Hosts, bounces lane.ReturnPath) []Record {
	var list []Record
	for _, r := range bounces.Records {
		if !r.For(d.Name) {
			continue
		}
		record := Record{
			Purpose: PurposeReturnPath, Type: r.Type, Host: cmp.Or(r.Host, d.ReturnPathHost), Value: r.Value, Priority: r.Priority, Required: true, Relay: true,
			Note: "For the relay of the MTA config " + bounces.Lane + ", to which bounces come back.",
		}
		if r.IsSPF() {
			record.Purpose = PurposeReturnPathSPF
		}
		list = append(list, record)
	}
	for i := range list {
		for _, other := range list {
			if r := &list[i]; r.Type == "MX" && other.Type == "MX" && other.Host == r.Host && other.Value != r.Value {
				r.beside = append(r.beside, other.Value)
			}
		}
	}
	if len(list) > 0 {
		return list
	}
	return []Record{
		{Purpose: PurposeReturnPath, Type: "MX", Host: d.ReturnPathHost, Value: hosts.MX, Priority: 10, Required: true, Omitted: omitted(hosts.MX, "MX_HOST")},
		{Purpose: PurposeReturnPathSPF, Type: "TXT", Host: d.ReturnPathHost, Value: "v=spf1 include:" + hosts.SPF + " -all", Required: true, Omitted: omitted(hosts.SPF, "SPF_HOST")},
	}
}

// omitted returns why a record that refers to host has no value, or "".
func omitted(host, option string) string {
	if host != "" {
		return ""
	}
	return "this installation's base URL has no name in the DNS; the operator can set PACKETBOAT_" + option
}
